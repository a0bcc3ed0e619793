#pragma once
/* A proxy for tests, in the same loop: HTTP with CONNECT or whole URLs, plain or over TLS,
 * and SOCKS5. Whatever host is asked for, it goes to one port on 127.0.0.1. */
#include "base/strbuf.h"
#include "loop/loop.h"
#include "test_tls.h"

struct tiny_proxy;

enum tiny_proxy_kind { TINY_PROXY_HTTP, TINY_PROXY_SOCKS5 };

/* `pair` NULL: plain. */
struct tiny_proxy *tiny_proxy_new(struct loop *loop, enum tiny_proxy_kind kind, int target_port,
                                  const struct test_pair *pair);
void tiny_proxy_free(struct tiny_proxy *proxy);
int tiny_proxy_port(const struct tiny_proxy *proxy);
/* What was asked: the HTTP requests' heads, or "host:port" a line for SOCKS5. */
const char *tiny_proxy_asked(const struct tiny_proxy *proxy);
