#include "server_internal.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#define BACKLOG 128
#define ACCEPT_PAUSE_MS 100

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
                      int peer_len, void *self)
{
    (void)listener, (void)peer, (void)peer_len;
    struct http_server *server = self;
    if (server->conn_count >= server->max_connections)
        close(fd);
    else
        conn_new(server, fd);
}

/* Out of descriptors, usually: the waiting connection would wake the loop for ever. */
static void on_accept_error(struct evconnlistener *listener, void *self)
{
    struct http_server *server = self;
    evconnlistener_disable(listener);
    loop_timer_set(&server->accept_again, ACCEPT_PAUSE_MS);
}

static void on_accept_again(void *self)
{
    struct http_server *server = self;
    evconnlistener_enable(server->listener);
}

/* ---- address ---- */

struct address {
    char host[256]; /* empty: every interface */
    char port[8];
};

static bool address_parse(const char *text, struct address *ret, struct err *err)
{
    struct str all = str_c(text);
    size_t colon = all.len;
    while (colon > 0 && all.ptr[colon - 1] != ':')
        colon--;
    int64_t port;
    struct str port_text = str_slice(all, colon, all.len);
    if (colon == 0 || !str_to_i64(port_text, &port) || port < 0 || port > 65535)
        return err_set(err, ERR_INVALID, "address \"%s\": a port from 0 to 65535 is missing",
                       text ? text : "");
    struct str host = str_slice(all, 0, colon - 1);
    bool brackets = str_starts_with(host, STR("[")) && str_ends_with(host, STR("]"));
    if (brackets)
        host = str_slice(host, 1, host.len - 2);
    if (host.len >= sizeof ret->host || (!brackets && str_find_byte(host, ':') >= 0))
        return err_set(err, ERR_INVALID, "address \"%s\": malformed host", text);
    if (host.len)
        memcpy(ret->host, host.ptr, host.len);
    snprintf(ret->port, sizeof ret->port, "%d", (int)port);
    return true;
}

static int listen_on(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* Inherited by what is accepted. Without it every TLS answer waits 40 ms for an ACK. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int open_listener(const char *text, struct err *err)
{
    struct address address = { 0 };
    if (!address_parse(text, &address, err))
        return -1;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo *found;
    /* "::" takes IPv4 as well; where IPv6 is switched off the next try does it. */
    const char *tries[] = { address.host[0] ? address.host : "::", address.host[0] ? NULL : "0.0.0.0" };
    int fd = -1;
    for (size_t i = 0; i < ARRAY_LEN(tries) && tries[i] && fd < 0; i++) {
        int code = getaddrinfo(tries[i], address.port, &hints, &found);
        if (code != 0) {
            err_set(err, ERR_INVALID, "address \"%s\": %s", text, gai_strerror(code));
            continue;
        }
        fd = listen_on(found);
        if (fd < 0)
            err_errno(err, "listen on %s", text);
        freeaddrinfo(found);
    }
    return fd;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = { 0 };
    socklen_t len = sizeof name;
    if (getsockname(fd, &name.any, &len) < 0)
        return 0;
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

/* ---- life ---- */

static bool server_listen(struct http_server *server, const char *address, struct err *err)
{
    struct err listen_err = ERR_INIT; /* a first failed try may be followed by a good one */
    int fd = open_listener(address, &listen_err);
    if (fd < 0)
        return err_set(err, listen_err.kind, "%s", listen_err.text);
    server->port = port_of(fd);
    const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
    server->listener = evconnlistener_new(loop_event_base(server->loop), on_accept, server, flags, 0, fd);
    if (!server->listener) {
        close(fd);
        return err_set(err, ERR_FATAL, "libevent gives no listener");
    }
    evconnlistener_set_error_cb(server->listener, on_accept_error);
    return true;
}

static bool server_start(struct http_server *server, const struct http_server_options *options,
                         struct err *err)
{
    if (str_empty(options->tls_cert_pem) != str_empty(options->tls_key_pem))
        return err_set(err, ERR_INVALID, "server certificate and key belong together: one is missing");
    if (!str_empty(options->tls_cert_pem)) {
        server->tls = server_tls_new(options, err);
        if (!server->tls)
            return false;
    }
    return server_listen(server, options->address, err);
}

struct http_server *http_server_new(struct loop *loop, const struct http_server_options *options,
                                    struct err *err)
{
    struct http_server *server = mem_zalloc(sizeof *server);
    server->loop = loop;
    server->max_header_bytes = options->max_header_bytes ? options->max_header_bytes : 16 << 10;
    server->max_body_bytes = options->max_body_bytes ? options->max_body_bytes : 1 << 20;
    server->timeout_ms = (options->timeout_s > 0 ? options->timeout_s : 10) * 1000;
    server->max_connections = options->max_connections ? options->max_connections : 64;
    server->handle = options->handle;
    server->self = options->self;
    TAILQ_INIT(&server->conns);
    TAILQ_INIT(&server->exchanges);
    loop_timer_init(&server->accept_again, loop, on_accept_again, server);
    if (server_start(server, options, err))
        return server;
    http_server_free(server);
    return NULL;
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    if (server->listener)
        evconnlistener_free(server->listener);
    while (!TAILQ_EMPTY(&server->conns))
        conn_close(TAILQ_FIRST(&server->conns), false);
    while (!TAILQ_EMPTY(&server->exchanges))
        exchange_drop(TAILQ_FIRST(&server->exchanges));
    loop_timer_done(&server->accept_again);
    SSL_CTX_free(server->tls);
    free(server);
}

int http_server_port(const struct http_server *server)
{
    return server->port;
}
