#pragma once
/* The environment's proxy, as kubectl understands it. Pure: the variables are arguments. */
#include "base/arena.h"
#include "base/err.h"

/* Whether `no_proxy` names the server, a URL that kubeconfig_check_server accepted. Entries
 * are separated by commas:
 *     *                    everything
 *     example.com          that host and every one below it
 *     .example.com         only those below; *.example.com is the same
 *     10.0.0.1, ::1        that address
 *     10.0.0.0/8           the addresses of the network
 * each but the first and the last with an optional :port. localhost and the loopback
 * addresses need no entry. */
bool proxy_is_bypassed(struct str no_proxy, struct str server);

/* A variable's value as a proxy-url; without a scheme it is http. Empty stays empty. The
 * error does not quote it: there may be a password inside. */
bool proxy_from_variable(struct arena *arena, struct str value, struct str *ret, struct err *err) MUST_CHECK;
/* http, https or socks5, and something behind it. */
bool proxy_is_usable(struct str url);
