#pragma once
/* A small HTTP/1.1 server on libevent's bufferevents, plain or TLS. Handlers run in the
 * loop and answer at once or keep the exchange and answer later, whole or as a stream.
 * Limits on headers, bodies, connections, slow senders and slow readers are always on.
 *
 * Not on evhttp: as of libevent 2.1 that cannot cap connections, limits silence but not
 * dripping, ends long answers by its read timeout, and resets where 413 is due. */
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct http_server;
struct http_exchange;

struct http_server_options {
    const char *address; /* "127.0.0.1:0", ":8080", "[::1]:0"; ":0" binds IPv6 and IPv4 where both exist */
    struct str tls_cert_pem; /* empty: plain HTTP */
    struct str tls_key_pem;
    struct str tls_client_ca_pem; /* not empty: client certificates are asked for and, when sent, verified */
    size_t max_header_bytes;      /* 0: 16 KiB */
    size_t max_body_bytes;        /* 0: 1 MiB; larger gets 413 */
    int64_t timeout_s;            /* of a silent peer; 0: 10 */
    size_t max_connections;       /* 0: 64; SIZE_MAX: no limit */
    /* Called for every request. The exchange is the handler's until it is answered. */
    void (*handle)(void *self, struct http_exchange *exchange);
    void *self;
};

struct http_server *http_server_new(struct loop *loop, const struct http_server_options *options,
                                    struct err *err);
/* Closes every connection. Open streams hear `closed`; every exchange is gone after it.
 * NULL is fine. */
void http_server_free(struct http_server *server);
/* The port in use, also when 0 was asked for. */
int http_server_port(const struct http_server *server);

/* The request, borrowed for the life of the exchange. */
struct str http_exchange_method(const struct http_exchange *exchange);
/* Still percent-encoded, without query. */
struct str http_exchange_path(const struct http_exchange *exchange);
struct str http_exchange_query(const struct http_exchange *exchange); /* without "?", still encoded */
struct str http_exchange_body(const struct http_exchange *exchange);
/* Empty when absent. */
struct str http_exchange_header(const struct http_exchange *exchange, const char *name);
/* CN of a verified client certificate, else empty. */
struct str http_exchange_peer_subject(const struct http_exchange *exchange);

/* Replaces an earlier one of that name; with CR, LF or NUL inside it is left out. Of the
 * framing headers two count: "Connection: close", and Content-Length for a stream, which
 * is then sent as it is instead of in chunks. */
void http_exchange_set_header(struct http_exchange *exchange, const char *name, const char *value);
/* One complete answer; ends the exchange. HEAD gets no body. */
void http_exchange_reply(struct http_exchange *exchange, int status, const char *content_type,
                         struct str body);

/* A stream, chunked unless its length was set: start, any number of sends, end. `closed`
 * fires once when the peer goes away first; the exchange is gone after it or after end. */
void http_exchange_stream_start(struct http_exchange *exchange, int status, const char *content_type,
                                void (*closed)(void *self), void *self);
void http_exchange_stream_send(struct http_exchange *exchange, struct str chunk);
/* Bytes accepted by send but not yet by the kernel: for evicting slow readers. */
size_t http_exchange_stream_backlog(const struct http_exchange *exchange);
void http_exchange_stream_end(struct http_exchange *exchange);
/* Resets the connection, without a proper end: faults on purpose, hopeless readers. Ends
 * the exchange; `closed` does not fire. */
void http_exchange_abort(struct http_exchange *exchange);
