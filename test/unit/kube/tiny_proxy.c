#include "tiny_proxy.h"

#include <netinet/in.h>
#include <stdlib.h>

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

struct pipe_pair {
    struct pipe_pair *next;
    struct tiny_proxy *proxy;
    struct bufferevent *client;
    struct bufferevent *server; /* NULL: not connected yet */
    bool greeted;
};

struct tiny_proxy {
    struct event_base *base;
    struct evconnlistener *listener;
    enum tiny_proxy_kind kind;
    int target_port;
    SSL_CTX *tls;
    struct pipe_pair *pairs;
    struct strbuf asked;
};

static void relay(struct bufferevent *from, void *self)
{
    struct pipe_pair *pair = self;
    struct bufferevent *to = from == pair->client ? pair->server : pair->client;
    if (to)
        evbuffer_add_buffer(bufferevent_get_output(to), bufferevent_get_input(from));
}

/* Everything is freed at the end; here the other side only hears of it. */
static void on_event(struct bufferevent *from, short what, void *self)
{
    struct pipe_pair *pair = self;
    struct bufferevent *to = from == pair->client ? pair->server : pair->client;
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    bufferevent_disable(from, EV_READ | EV_WRITE);
    evutil_socket_t fd = to ? bufferevent_getfd(to) : -1;
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
}

static void connect_target(struct pipe_pair *pair)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)pair->proxy->target_port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    pair->server = bufferevent_socket_new(pair->proxy->base, -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(pair->server, relay, NULL, on_event, pair);
    bufferevent_socket_connect(pair->server, (struct sockaddr *)&at, sizeof at);
    bufferevent_enable(pair->server, EV_READ | EV_WRITE);
    bufferevent_setcb(pair->client, relay, NULL, on_event, pair);
}

static void answer(struct pipe_pair *pair, const void *bytes, size_t len)
{
    evbuffer_add(bufferevent_get_output(pair->client), bytes, len);
}

static void read_http(struct bufferevent *from, void *self)
{
    struct pipe_pair *pair = self;
    struct evbuffer *in = bufferevent_get_input(from);
    struct str text = { .ptr = (const char *)evbuffer_pullup(in, -1), .len = evbuffer_get_length(in) };
    if (!text.ptr || !memmem(text.ptr, text.len, "\r\n\r\n", 4))
        return;
    strbuf_add(&pair->proxy->asked, text);
    connect_target(pair);
    if (str_starts_with(text, STR("CONNECT "))) {
        static const char established[] = "HTTP/1.1 200 OK\r\n\r\n";
        evbuffer_drain(in, text.len);
        answer(pair, established, sizeof established - 1);
    } else {
        relay(from, pair);
    }
}

/* Version 5, no authentication; then one request for a host by name or IPv4 address. */
static void read_socks(struct bufferevent *from, void *self)
{
    struct pipe_pair *pair = self;
    struct evbuffer *in = bufferevent_get_input(from);
    size_t len = evbuffer_get_length(in);
    const unsigned char *bytes = evbuffer_pullup(in, -1);
    if (!pair->greeted) {
        if (len < 2 || len < 2U + bytes[1])
            return;
        pair->greeted = true;
        evbuffer_drain(in, 2U + bytes[1]);
        answer(pair, "\5\0", 2);
        return;
    }
    if (len < 5 || len < (bytes[3] == 3 ? 7U + bytes[4] : 10U))
        return;
    struct strbuf *asked = &pair->proxy->asked;
    size_t at = bytes[3] == 3 ? 5U + bytes[4] : 8;
    if (bytes[3] == 3)
        strbuf_add(asked, (struct str){ .ptr = (const char *)bytes + 5, .len = bytes[4] });
    else
        strbuf_addf(asked, "%d.%d.%d.%d", bytes[4], bytes[5], bytes[6], bytes[7]);
    strbuf_addf(asked, ":%d\n", bytes[at] << 8 | bytes[at + 1]);
    evbuffer_drain(in, at + 2);
    answer(pair, "\5\0\0\1\0\0\0\0\0\0", 10);
    connect_target(pair);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int len,
                      void *self)
{
    (void)listener, (void)address, (void)len;
    struct tiny_proxy *proxy = self;
    struct pipe_pair *pair = mem_zalloc(sizeof *pair);
    *pair = (struct pipe_pair){ .next = proxy->pairs, .proxy = proxy };
    proxy->pairs = pair;
    pair->client = proxy->tls
                       ? bufferevent_openssl_socket_new(proxy->base, fd, SSL_new(proxy->tls),
                                                        BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE)
                       : bufferevent_socket_new(proxy->base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(pair->client, proxy->kind == TINY_PROXY_HTTP ? read_http : read_socks, NULL, on_event,
                      pair);
    bufferevent_enable(pair->client, EV_READ | EV_WRITE);
}

static SSL_CTX *tls_new(const struct test_pair *pair)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    BIO *cert = BIO_new_mem_buf(pair->cert_pem, -1), *key = BIO_new_mem_buf(pair->key_pem, -1);
    X509 *x509 = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    if (!x509 || !pkey || SSL_CTX_use_certificate(tls, x509) != 1 || SSL_CTX_use_PrivateKey(tls, pkey) != 1)
        abort();
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(cert);
    BIO_free(key);
    return tls;
}

struct tiny_proxy *tiny_proxy_new(struct loop *loop, enum tiny_proxy_kind kind, int target_port,
                                  const struct test_pair *pair)
{
    struct tiny_proxy *proxy = mem_zalloc(sizeof *proxy);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    *proxy = (struct tiny_proxy){ .base = loop_event_base(loop),
                                  .kind = kind,
                                  .target_port = target_port,
                                  .tls = pair ? tls_new(pair) : NULL,
                                  .asked = STRBUF_INIT(1 << 20) };
    proxy->listener = evconnlistener_new_bind(proxy->base, on_accept, proxy, LEV_OPT_CLOSE_ON_FREE, 16,
                                              (struct sockaddr *)&at, sizeof at);
    if (!proxy->listener)
        abort();
    return proxy;
}

void tiny_proxy_free(struct tiny_proxy *proxy)
{
    while (proxy->pairs) {
        struct pipe_pair *pair = proxy->pairs;
        proxy->pairs = pair->next;
        bufferevent_free(pair->client);
        if (pair->server)
            bufferevent_free(pair->server);
        free(pair);
    }
    evconnlistener_free(proxy->listener);
    SSL_CTX_free(proxy->tls);
    strbuf_done(&proxy->asked);
    free(proxy);
}

int tiny_proxy_port(const struct tiny_proxy *proxy)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    if (getsockname(evconnlistener_get_fd(proxy->listener), (struct sockaddr *)&at, &len) < 0)
        abort();
    return ntohs(at.sin_port);
}

const char *tiny_proxy_asked(const struct tiny_proxy *proxy)
{
    return strbuf_cstr(&proxy->asked);
}
