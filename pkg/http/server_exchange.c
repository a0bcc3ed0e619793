#include "server_internal.h"
#include <stdlib.h>
#include <time.h>

/* ---- life ---- */

struct http_exchange *exchange_new(struct conn *conn)
{
    struct http_exchange *exchange = mem_zalloc(sizeof *exchange);
    exchange->server = conn->server;
    exchange->conn = conn;
    exchange->body = evbuffer_new();
    TAILQ_INSERT_TAIL(&conn->server->exchanges, exchange, link);
    return exchange;
}

void exchange_free(struct http_exchange *exchange)
{
    if (exchange->conn)
        exchange->conn->exchange = NULL;
    TAILQ_REMOVE(&exchange->server->exchanges, exchange, link);
    loop_timer_done(&exchange->closed_later);
    evbuffer_free(exchange->body);
    arena_done(&exchange->arena);
    free(exchange);
}

void exchange_drop(struct http_exchange *exchange)
{
    exchange->conn = NULL;
    if (exchange->streaming && exchange->closed)
        exchange->closed(exchange->closed_self);
    exchange_free(exchange);
}

void exchange_orphan(struct http_exchange *exchange)
{
    exchange->conn = NULL;
    /* A handler that has not answered yet keeps its exchange and learns nothing. */
    if (!exchange->handed || exchange->streaming)
        exchange_drop(exchange);
}

static void exchange_on_closed_later(void *self)
{
    exchange_drop(self);
}

/* ---- the request ---- */

struct str http_exchange_method(const struct http_exchange *exchange)
{
    return exchange->head.method;
}

struct str http_exchange_path(const struct http_exchange *exchange)
{
    return exchange->head.path;
}

struct str http_exchange_query(const struct http_exchange *exchange)
{
    return exchange->head.query;
}

struct str http_exchange_body(const struct http_exchange *exchange)
{
    size_t len = evbuffer_get_length(exchange->body);
    return (struct str){ .ptr = len ? (char *)evbuffer_pullup(exchange->body, -1) : "", .len = len };
}

struct str http_exchange_header(const struct http_exchange *exchange, const char *name)
{
    return http_head_field(&exchange->head, str_c(name));
}

struct str http_exchange_peer_subject(const struct http_exchange *exchange)
{
    return exchange->peer_subject;
}

/* ---- the head of an answer ---- */

static const char *status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].status == status)
            return texts[i].text;
    }
    return "Unknown";
}

static void write_start(struct evbuffer *out, int status, const char *content_type, struct wall_time now)
{
    char date[64];
    time_t seconds = now.us / US_PER_S;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, status_text(status), date);
    if (content_type)
        evbuffer_add_printf(out, "Content-Type: %s\r\n", content_type);
}

void exchange_write_refusal(struct evbuffer *out, int status, struct wall_time now)
{
    const char *text = status_text(status);
    write_start(out, status, "text/plain; charset=utf-8", now);
    evbuffer_add_printf(out, "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n", strlen(text) + 1, text);
}

static bool is_clean(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static struct answer_header *find_header(const struct http_exchange *exchange, struct str name)
{
    struct answer_header *header = exchange->headers;
    while (header && !str_eq_nocase(header->name, name))
        header = header->next;
    return header;
}

void http_exchange_set_header(struct http_exchange *exchange, const char *name, const char *value)
{
    struct str name_text = str_c(name), value_text = str_c(value);
    if (str_empty(name_text) || !is_clean(name_text) || !is_clean(value_text))
        return;
    struct answer_header *header = find_header(exchange, name_text);
    if (!header) {
        header = arena_new(&exchange->arena, struct answer_header);
        header->name = arena_str(&exchange->arena, name_text);
        header->next = exchange->headers;
        exchange->headers = header;
    }
    header->value = arena_str(&exchange->arena, value_text);
}

/* The headers the handler set, but for those that frame the message. */
static void write_own_headers(struct evbuffer *out, struct http_exchange *exchange)
{
    static const struct str framing[] = { STR_INIT("Content-Length"), STR_INIT("Transfer-Encoding"),
                                          STR_INIT("Connection") };
    for (const struct answer_header *header = exchange->headers; header; header = header->next) {
        bool skip = false;
        for (size_t i = 0; i < ARRAY_LEN(framing); i++)
            skip |= str_eq_nocase(header->name, framing[i]);
        if (!skip)
            evbuffer_add_printf(out, STR_FMT ": " STR_FMT "\r\n", STR_ARG(header->name),
                                STR_ARG(header->value));
    }
}

static void write_head_end(struct evbuffer *out, struct http_exchange *exchange)
{
    struct answer_header *connection = find_header(exchange, STR("Connection"));
    if (connection && str_eq_nocase(connection->value, STR("close")))
        exchange->conn->close_after = true;
    if (exchange->conn->close_after)
        evbuffer_add_printf(out, "Connection: close\r\n");
    else if (exchange->head.minor == 0)
        evbuffer_add_printf(out, "Connection: keep-alive\r\n");
    evbuffer_add(out, "\r\n", 2);
}

static bool has_no_body(const struct http_exchange *exchange, int status)
{
    return status == 204 || status == 304 || str_eq(exchange->head.method, STR("HEAD"));
}

/* ---- one complete answer ---- */

/* The exchange ends, its connection goes on. */
static void finish(struct http_exchange *exchange)
{
    struct conn *conn = exchange->conn;
    exchange_free(exchange);
    conn_answered(conn);
}

void http_exchange_reply(struct http_exchange *exchange, int status, const char *content_type,
                         struct str body)
{
    if (!exchange->conn) {
        exchange_free(exchange);
        return;
    }
    struct evbuffer *out = evbuffer_new();
    write_start(out, status, content_type, loop_wall(exchange->server->loop));
    write_own_headers(out, exchange);
    if (status != 204 && status != 304)
        evbuffer_add_printf(out, "Content-Length: %zu\r\n", body.len);
    write_head_end(out, exchange);
    if (!has_no_body(exchange, status))
        evbuffer_add(out, body.ptr, body.len);
    conn_write(exchange->conn, out);
    evbuffer_free(out);
    finish(exchange);
}

/* ---- streams ---- */

static void stream_frame(struct http_exchange *exchange, struct evbuffer *out)
{
    const struct answer_header *length = find_header(exchange, STR("Content-Length"));
    exchange->has_length = length && str_to_i64(length->value, &exchange->length_left);
    exchange->chunked = !exchange->has_length && exchange->head.minor > 0;
    if (exchange->has_length)
        evbuffer_add_printf(out, "Content-Length: " STR_FMT "\r\n", STR_ARG(length->value));
    else if (exchange->chunked)
        evbuffer_add_printf(out, "Transfer-Encoding: chunked\r\n");
    else
        exchange->conn->close_after = true; /* the end of the connection is the end of the body */
}

void http_exchange_stream_start(struct http_exchange *exchange, int status, const char *content_type,
                                void (*closed)(void *self), void *self)
{
    exchange->streaming = true;
    exchange->closed = closed;
    exchange->closed_self = self;
    if (!exchange->conn) {
        loop_timer_init(&exchange->closed_later, exchange->server->loop, exchange_on_closed_later, exchange);
        loop_timer_set(&exchange->closed_later, 0);
        return;
    }
    struct evbuffer *out = evbuffer_new();
    write_start(out, status, content_type, loop_wall(exchange->server->loop));
    write_own_headers(out, exchange);
    exchange->bodyless = has_no_body(exchange, status);
    if (!exchange->bodyless)
        stream_frame(exchange, out);
    write_head_end(out, exchange);
    conn_write(exchange->conn, out);
    evbuffer_free(out);
}

void http_exchange_stream_send(struct http_exchange *exchange, struct str chunk)
{
    if (!exchange->conn || exchange->bodyless)
        return;
    if (exchange->has_length) {
        chunk = str_slice(chunk, 0, (size_t)max_i64(exchange->length_left, 0));
        exchange->length_left -= (int64_t)chunk.len;
    }
    if (str_empty(chunk))
        return; /* an empty chunk would be the end */
    struct evbuffer *out = evbuffer_new();
    if (exchange->chunked)
        evbuffer_add_printf(out, "%zx\r\n", chunk.len);
    evbuffer_add(out, chunk.ptr, chunk.len);
    if (exchange->chunked)
        evbuffer_add(out, "\r\n", 2);
    conn_write(exchange->conn, out);
    evbuffer_free(out);
}

size_t http_exchange_stream_backlog(const struct http_exchange *exchange)
{
    return exchange->conn ? evbuffer_get_length(bufferevent_get_output(exchange->conn->bev)) : 0;
}

void http_exchange_stream_end(struct http_exchange *exchange)
{
    if (!exchange->conn) {
        exchange_free(exchange);
        return;
    }
    if (exchange->has_length && exchange->length_left > 0) {
        http_exchange_abort(exchange); /* shorter than promised: no proper end exists */
        return;
    }
    if (exchange->chunked) {
        struct evbuffer *out = evbuffer_new();
        evbuffer_add(out, "0\r\n\r\n", 5);
        conn_write(exchange->conn, out);
        evbuffer_free(out);
    }
    finish(exchange);
}

void http_exchange_abort(struct http_exchange *exchange)
{
    struct conn *conn = exchange->conn;
    exchange_free(exchange);
    if (conn)
        conn_close(conn, true);
}
