#pragma once
/* Inside of the server. A connection reads one request at a time, hands it over as an
 * exchange, writes the answer and goes on. The exchange may outlive its connection (the
 * peer went away while the handler was thinking), never its server. */
#include "http/head.h"
#include "http/server.h"
#include "base/strbuf.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <openssl/ssl.h>
#include <sys/queue.h>

TAILQ_HEAD(conn_list, conn);
TAILQ_HEAD(exchange_list, http_exchange);

struct http_server {
    struct loop *loop;
    struct evconnlistener *listener;
    struct loop_timer accept_again; /* after the process ran out of descriptors */
    SSL_CTX *tls;                   /* NULL: plain */
    int port;
    size_t max_header_bytes;
    size_t max_body_bytes;
    int64_t timeout_ms;
    size_t max_connections;
    void (*handle)(void *self, struct http_exchange *exchange);
    void *self;
    struct conn_list conns;
    size_t conn_count;
    struct exchange_list exchanges;
};

enum conn_state {
    CONN_HEAD,   /* waiting for or reading a request head */
    CONN_BODY,   /* reading the request body */
    CONN_HANDED, /* the exchange is the handler's */
    CONN_FLUSH,  /* the answer is complete and being written */
    CONN_LINGER, /* our side is shut; what still comes is thrown away */
};

enum chunk_state { CHUNK_SIZE, CHUNK_DATA, CHUNK_DATA_END, CHUNK_TRAILER };

struct conn {
    TAILQ_ENTRY(conn) link;
    struct http_server *server;
    struct bufferevent *bev;
    struct loop_timer timer;
    enum conn_state state;
    bool request_begun; /* first byte of a head seen */
    bool close_after;   /* no further request on this connection */
    bool peer_done;     /* the peer shut its side; it may still read the answer */
    size_t scanned;     /* of a head, known not to hold its end */
    size_t unwritten;   /* output seen at the last write check */
    struct mono_time body_deadline;
    int64_t body_left;
    enum chunk_state chunk_state;
    size_t trailer_bytes;
    struct http_exchange *exchange; /* being read or handed over */
    char *peer_subject;
};

struct answer_header {
    struct answer_header *next;
    struct str name, value;
};

struct http_exchange {
    TAILQ_ENTRY(http_exchange) link;
    struct http_server *server;
    struct conn *conn; /* NULL: the peer is gone */
    struct arena arena;
    struct http_head head;
    struct evbuffer *body;
    struct str peer_subject;
    struct answer_header *headers;
    bool handed; /* the handler has it */
    bool streaming;
    bool chunked;
    bool bodyless;   /* HEAD, 204, 304: nothing after the head */
    bool has_length; /* the handler declared a Content-Length for the stream */
    int64_t length_left;
    void (*closed)(void *self);
    void *closed_self;
    struct loop_timer closed_later; /* for a stream started after the peer had gone */
};

/* server_tls.c */
SSL_CTX *server_tls_new(const struct http_server_options *options, struct err *err);
/* CN of the verified client certificate as a heap string, or NULL. */
char *server_tls_subject(SSL *ssl);

/* server_conn.c */
void conn_new(struct http_server *server, evutil_socket_t fd);
/* Closes at once; a stream on it hears `closed`. With `reset` the peer sees an error. */
void conn_close(struct conn *conn, bool reset);
/* The answer is in the output buffer, whole. */
void conn_answered(struct conn *conn);
/* Takes everything out of `data` and watches that the peer reads it. */
void conn_write(struct conn *conn, struct evbuffer *data);

/* server_body.c: moves what is there from input into the exchange's body. */
enum body_result { BODY_MORE, BODY_COMPLETE, BODY_MALFORMED, BODY_TOO_LARGE };
enum body_result conn_read_body(struct conn *conn, struct evbuffer *input);

/* server_exchange.c */
struct http_exchange *exchange_new(struct conn *conn);
void exchange_free(struct http_exchange *exchange);
/* The connection goes away under the exchange. */
void exchange_orphan(struct http_exchange *exchange);
/* The server goes away: tells a stream, frees the exchange. */
void exchange_drop(struct http_exchange *exchange);
/* A complete small answer in plain text, for requests no handler sees. */
void exchange_write_refusal(struct evbuffer *out, int status, struct wall_time now);
