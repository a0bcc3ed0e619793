#include "server_internal.h"
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define INPUT_HIGH_WATER ((size_t)64 << 10)
#define LINGER_MS 2000
#define SLOWEST_BODY_BYTES_PER_MS 1

static void conn_wait_head(struct conn *conn);

/* ---- opening and closing ---- */

static void conn_on_read(struct bufferevent *bev, void *self);
static void conn_on_write(struct bufferevent *bev, void *self);
static void conn_on_event(struct bufferevent *bev, short what, void *self);
static void conn_on_timer(void *self);

/* Deferred callbacks: with TLS a write may complete, or fail, inside the call that adds
 * the data, and nobody's callback shall run inside a call they made. */
static struct bufferevent *open_bev(struct http_server *server, evutil_socket_t fd)
{
    const int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
    struct event_base *base = loop_event_base(server->loop);
    if (!server->tls)
        return bufferevent_socket_new(base, fd, options);
    SSL *ssl = SSL_new(server->tls);
    if (!ssl)
        return NULL;
    struct bufferevent *bev =
        bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, options);
    if (bev)
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    return bev;
}

void conn_new(struct http_server *server, evutil_socket_t fd)
{
    struct bufferevent *bev = open_bev(server, fd);
    if (!bev) {
        close(fd);
        return;
    }
    struct conn *conn = mem_zalloc(sizeof *conn);
    conn->server = server;
    conn->bev = bev;
    TAILQ_INSERT_TAIL(&server->conns, conn, link);
    server->conn_count++;
    loop_timer_init(&conn->timer, server->loop, conn_on_timer, conn);
    bufferevent_setcb(bev, conn_on_read, conn_on_write, conn_on_event, conn);
    size_t high = server->max_header_bytes > INPUT_HIGH_WATER ? server->max_header_bytes : INPUT_HIGH_WATER;
    bufferevent_setwatermark(bev, EV_READ, 0, high + 4);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    conn_wait_head(conn);
}

/* What was sent before a reset shall reach the peer before it, as far as the kernel takes
 * it: a test that cuts a stream wants the part before the cut. */
static void push_output(struct conn *conn)
{
    struct evbuffer *output = bufferevent_get_output(conn->bev);
    size_t len = evbuffer_get_length(output);
    SSL *ssl = conn->server->tls ? bufferevent_openssl_get_ssl(conn->bev) : NULL;
    if (len > 0 && len <= INT32_MAX && ssl) {
        SSL_write(ssl, evbuffer_pullup(output, -1), (int)len);
        ERR_clear_error();
    } else if (!ssl) {
        evbuffer_unfreeze(output, 1); /* bufferevents keep it frozen */
        evbuffer_write(output, bufferevent_getfd(conn->bev));
    }
}

static void reset_socket(struct conn *conn)
{
    const struct linger linger = { .l_onoff = 1, .l_linger = 0 };
    push_output(conn);
    setsockopt(bufferevent_getfd(conn->bev), SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

void conn_close(struct conn *conn, bool reset)
{
    struct http_exchange *exchange = conn->exchange;
    TAILQ_REMOVE(&conn->server->conns, conn, link);
    conn->server->conn_count--;
    loop_timer_done(&conn->timer);
    if (reset)
        reset_socket(conn);
    bufferevent_free(conn->bev);
    free(conn->peer_subject);
    free(conn);
    if (exchange)
        exchange_orphan(exchange);
}

/* Says goodbye and waits for the peer to do the same: closing a socket with unread input
 * resets it, and the reset overtakes the answer. */
static void conn_linger(struct conn *conn)
{
    if (conn->peer_done) {
        conn_close(conn, false);
        return;
    }
    conn->state = CONN_LINGER;
    SSL *ssl = conn->server->tls ? bufferevent_openssl_get_ssl(conn->bev) : NULL;
    if (ssl)
        SSL_shutdown(ssl);
    shutdown(bufferevent_getfd(conn->bev), SHUT_WR);
    struct evbuffer *input = bufferevent_get_input(conn->bev);
    evbuffer_drain(input, evbuffer_get_length(input));
    loop_timer_set(&conn->timer, min_i64(LINGER_MS, conn->server->timeout_ms));
}

/* ---- writing ---- */

void conn_write(struct conn *conn, struct evbuffer *data)
{
    size_t added = evbuffer_get_length(data);
    bufferevent_write_buffer(conn->bev, data);
    if (loop_timer_armed(&conn->timer)) {
        conn->unwritten += added;
        return;
    }
    conn->unwritten = evbuffer_get_length(bufferevent_get_output(conn->bev));
    loop_timer_set(&conn->timer, conn->server->timeout_ms);
}

static void check_output(struct conn *conn)
{
    size_t left = evbuffer_get_length(bufferevent_get_output(conn->bev));
    if (left == 0)
        return;
    if (left >= conn->unwritten) {
        conn_close(conn, true); /* nothing went out for a whole period */
        return;
    }
    conn->unwritten = left;
    loop_timer_set(&conn->timer, conn->server->timeout_ms);
}

void conn_answered(struct conn *conn)
{
    conn->exchange = NULL;
    conn->state = CONN_FLUSH;
    /* An empty output has no write event to come. */
    if (evbuffer_get_length(bufferevent_get_output(conn->bev)) == 0)
        bufferevent_trigger(conn->bev, EV_WRITE, BEV_TRIG_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

static void conn_refuse(struct conn *conn, int status)
{
    if (conn->exchange)
        exchange_free(conn->exchange);
    loop_timer_cancel(&conn->timer);
    conn->close_after = true;
    struct evbuffer *out = evbuffer_new();
    exchange_write_refusal(out, status, loop_wall(conn->server->loop));
    conn_write(conn, out);
    evbuffer_free(out);
    conn_answered(conn);
}

/* ---- reading ---- */

static void conn_dispatch(struct conn *conn)
{
    struct http_server *server = conn->server;
    struct http_exchange *exchange = conn->exchange;
    loop_timer_cancel(&conn->timer);
    conn->state = CONN_HANDED;
    conn->close_after = !exchange->head.keep_alive;
    exchange->handed = true;
    if (conn->peer_subject)
        exchange->peer_subject = arena_str(&exchange->arena, str_c(conn->peer_subject));
    server->handle(server->self, exchange); /* may end exchange, connection and server */
}

static void conn_body(struct conn *conn)
{
    switch (conn_read_body(conn, bufferevent_get_input(conn->bev))) {
    case BODY_MORE: {
        int64_t left = mono_ms_between(loop_mono(conn->server->loop), conn->body_deadline);
        loop_timer_set(&conn->timer, min_i64(left, conn->server->timeout_ms));
        return;
    }
    case BODY_COMPLETE:
        conn_dispatch(conn);
        return;
    case BODY_MALFORMED:
        conn_refuse(conn, 400);
        return;
    case BODY_TOO_LARGE:
        conn_refuse(conn, 413);
        return;
    }
}

/* The head is in: decides what body to expect. */
static void conn_begin_body(struct conn *conn)
{
    struct http_server *server = conn->server;
    const struct http_head *head = &conn->exchange->head;
    if ((uint64_t)head->content_length > server->max_body_bytes) {
        conn_refuse(conn, 413);
        return;
    }
    conn->state = CONN_BODY;
    conn->body_left = head->chunked ? 0 : head->content_length;
    conn->chunk_state = CHUNK_SIZE;
    conn->trailer_bytes = 0;
    /* Silence is limited by the timer, dripping by this. */
    size_t expected = head->chunked ? server->max_body_bytes : (size_t)head->content_length;
    int64_t slowest_ms = (int64_t)(expected < INT32_MAX ? expected : INT32_MAX) / SLOWEST_BODY_BYTES_PER_MS;
    conn->body_deadline = mono_add_ms(loop_mono(server->loop), server->timeout_ms + slowest_ms);
    bool body = head->chunked || head->content_length > 0;
    if (head->expects_continue && body && evbuffer_get_length(bufferevent_get_input(conn->bev)) == 0)
        bufferevent_write(conn->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    conn_body(conn);
}

/* Everything up to and with the empty line; empty while it has not come. */
static struct str take_head(struct conn *conn, struct evbuffer *input, bool *ret_too_long)
{
    size_t there = evbuffer_get_length(input);
    struct evbuffer_ptr from, end;
    evbuffer_ptr_set(input, &from, conn->scanned > 3 ? conn->scanned - 3 : 0, EVBUFFER_PTR_SET);
    end = evbuffer_search(input, "\r\n\r\n", 4, &from);
    size_t len = end.pos < 0 ? there : (size_t)end.pos + 4;
    *ret_too_long = len > conn->server->max_header_bytes;
    conn->scanned = there;
    if (end.pos < 0 || *ret_too_long)
        return STR_NULL;
    conn->exchange = exchange_new(conn);
    char *text = arena_alloc(&conn->exchange->arena, len);
    evbuffer_remove(input, text, len);
    return (struct str){ .ptr = text, .len = len };
}

/* An empty line before a request is a leftover of the last one; senders differ. True when
 * something else has come. */
static bool skip_empty_lines(struct evbuffer *input)
{
    char start[2];
    for (;;) {
        ev_ssize_t count = evbuffer_copyout(input, start, sizeof start);
        if (count <= 0 || (count == 1 && start[0] == '\r'))
            return false;
        if (count == 1 || start[0] != '\r' || start[1] != '\n')
            return true;
        evbuffer_drain(input, sizeof start);
    }
}

static void conn_head(struct conn *conn)
{
    struct evbuffer *input = bufferevent_get_input(conn->bev);
    if (!conn->request_begun) {
        if (!skip_empty_lines(input))
            return;
        conn->request_begun = true;
        loop_timer_set(&conn->timer, conn->server->timeout_ms);
    }
    bool too_long;
    struct str text = take_head(conn, input, &too_long);
    if (too_long) {
        conn_refuse(conn, 431);
        return;
    }
    if (str_empty(text))
        return;
    int status = http_head_parse(&conn->exchange->arena, text, &conn->exchange->head);
    if (status != 0)
        conn_refuse(conn, status);
    else
        conn_begin_body(conn);
}

static void conn_wait_head(struct conn *conn)
{
    conn->state = CONN_HEAD;
    conn->request_begun = false;
    conn->scanned = 0;
    loop_timer_set(&conn->timer, conn->server->timeout_ms);
    conn_head(conn); /* the next request may be here already */
}

/* ---- events ---- */

static void conn_on_read(struct bufferevent *bev, void *self)
{
    struct conn *conn = self;
    struct evbuffer *input = bufferevent_get_input(bev);
    switch (conn->state) {
    case CONN_HEAD:
        conn_head(conn);
        return;
    case CONN_BODY:
        conn_body(conn);
        return;
    case CONN_HANDED: /* a next request waits its turn, up to the high water mark */
    case CONN_FLUSH:
        return;
    case CONN_LINGER:
        evbuffer_drain(input, evbuffer_get_length(input));
        return;
    }
}

static void conn_on_write(struct bufferevent *bev, void *self)
{
    struct conn *conn = self;
    if (conn->state != CONN_FLUSH || evbuffer_get_length(bufferevent_get_output(bev)) > 0)
        return;
    if (conn->close_after || conn->peer_done)
        conn_linger(conn);
    else
        conn_wait_head(conn);
}

static void conn_on_event(struct bufferevent *bev, short what, void *self)
{
    struct conn *conn = self;
    if (what & BEV_EVENT_CONNECTED) {
        conn->peer_subject = server_tls_subject(bufferevent_openssl_get_ssl(bev));
        return;
    }
    /* A peer that sends its request, shuts its side and reads on gets its answer. */
    if ((what & BEV_EVENT_EOF) && conn->state == CONN_FLUSH) {
        conn->peer_done = true;
        return;
    }
    conn_close(conn, false);
}

static void conn_on_timer(void *self)
{
    struct conn *conn = self;
    switch (conn->state) {
    case CONN_HEAD:
        if (!conn->request_begun) {
            conn_close(conn, false); /* idle, or a TLS handshake that does not end */
            return;
        }
        conn_refuse(conn, 408);
        return;
    case CONN_BODY:
        conn_refuse(conn, 408);
        return;
    case CONN_HANDED:
    case CONN_FLUSH:
        check_output(conn);
        return;
    case CONN_LINGER:
        conn_close(conn, false);
        return;
    }
}
