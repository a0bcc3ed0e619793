#include "test/apiserver/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define JSON_TYPE "application/json"

static void pump(struct as_request *request);

static void on_timer(void *self)
{
    struct as_request *request = self;
    if (request->after_delay) {
        void (*go)(struct as_request *) = request->after_delay;
        request->after_delay = NULL;
        go(request);
    } else {
        pump(request);
    }
}

void as_request_delay(struct as_request *request, int64_t delay_ms, void (*go)(struct as_request *request))
{
    request->after_delay = go;
    loop_timer_set(&request->timer, delay_ms);
}

struct as_request *as_request_new(struct apiserver *server, struct http_exchange *exchange)
{
    struct as_request *request = mem_zalloc(sizeof *request);
    request->server = server;
    request->exchange = exchange;
    request->method = http_exchange_method(exchange);
    request->path = http_exchange_path(exchange);
    request->query = http_exchange_query(exchange);
    request->accept = http_exchange_header(exchange, "Accept");
    request->content_type = http_exchange_header(exchange, "Content-Type");
    request->body = http_exchange_body(exchange);
    request->pending = STRBUF_INIT(SIZE_MAX);
    loop_timer_init(&request->timer, server->loop, on_timer, request);
    request->next = server->requests;
    if (request->next)
        request->next->previous = request;
    server->requests = request;
    return request;
}

static void log_progress(struct as_request *request, int code, bool done, const char *phase)
{
    struct as_request_log *log = request->server->log;
    struct apiserver_request *entry = as_request_log_find(log, request->log_id);
    if (!entry)
        return;
    if (code)
        entry->code = code;
    entry->bytes = request->passed;
    entry->is_done = done;
    if (done || phase)
        as_request_log_write(log, entry, phase);
}

static void request_end(struct as_request *request)
{
    log_progress(request, 0, true, request->is_stream ? "end" : NULL);
    if (request->wait_rv)
        request->server->waiting--;
    if (request->previous)
        request->previous->next = request->next;
    else
        request->server->requests = request->next;
    if (request->next)
        request->next->previous = request->previous;
    loop_timer_done(&request->timer);
    strbuf_done(&request->pending);
    arena_done(&request->arena);
    free(request);
}

void as_request_drop(struct as_request *request)
{
    request->is_closing = true; /* the abort may report back */
    http_exchange_abort(request->exchange);
    request_end(request);
}

static bool has_byte_fault(const struct as_request *request)
{
    const struct apiserver_fault *fault = &request->fault;
    return fault->cut_after.set || fault->stall_after.set || fault->dribble_bytes > 0;
}

static const char *type_of(const struct as_request *request, const char *content_type)
{
    return request->fault.content_type.len ? request->fault.content_type.ptr : content_type;
}

/* The peer went away in the middle of a stream; the exchange is gone already. */
static void on_closed(void *self)
{
    struct as_request *request = self;
    if (request->is_closing)
        return;
    if (!request->is_ended && request->closed)
        request->closed(request->closed_self);
    request_end(request);
}

void as_answer(struct as_request *request, int status, const char *content_type, struct str body)
{
    if (has_byte_fault(request)) {
        as_stream_start(request, status, content_type, NULL, NULL);
        as_stream_send(request, body);
        as_stream_end(request);
        return;
    }
    request->passed = (int64_t)body.len;
    log_progress(request, status, false, NULL);
    http_exchange_reply(request->exchange, status, type_of(request, content_type), body);
    request_end(request);
}

void as_answer_json(struct as_request *request, int status, const struct json *value)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    json_write(&text, value);
    strbuf_addc(&text, '\n');
    as_answer(request, status, JSON_TYPE, strbuf_str(&text));
}

void as_answer_error(struct as_request *request, const struct api_error *error)
{
    if (error->retry_after_s) {
        char seconds[24];
        snprintf(seconds, sizeof seconds, "%" PRId64, error->retry_after_s);
        http_exchange_set_header(request->exchange, "Retry-After", seconds);
    }
    as_answer_json(request, error->code, api_status_json(&request->arena, error));
}

void as_stream_start(struct as_request *request, int status, const char *content_type,
                     void (*closed)(void *self), void *self)
{
    request->is_stream = true;
    request->closed = closed;
    request->closed_self = self;
    request->stream_status = status;
    request->stream_type = type_of(request, content_type);
    if (request->fault.cut_after.set && request->fault.cut_after.value == 0) {
        loop_timer_set(&request->timer, 0);
        return;
    }
    request->header_sent = true;
    log_progress(request, status, false, "start");
    http_exchange_stream_start(request->exchange, status, request->stream_type, on_closed, request);
}

static void pass(struct as_request *request, struct str bytes)
{
    request->passed += (int64_t)bytes.len;
    http_exchange_stream_send(request->exchange, bytes);
}

void as_stream_send(struct as_request *request, struct str chunk)
{
    if (str_empty(chunk))
        return;
    if (!has_byte_fault(request)) {
        pass(request, chunk);
        return;
    }
    strbuf_add(&request->pending, chunk);
    if (!loop_timer_armed(&request->timer))
        loop_timer_set(&request->timer, 0);
}

size_t as_stream_backlog(const struct as_request *request)
{
    size_t pending = request->pending.len - request->pending_sent;
    return pending + (request->header_sent ? http_exchange_stream_backlog(request->exchange) : 0);
}

void as_stream_end(struct as_request *request)
{
    request->is_ended = true;
    if (has_byte_fault(request)) {
        if (!loop_timer_armed(&request->timer))
            loop_timer_set(&request->timer, 0);
        return;
    }
    http_exchange_stream_end(request->exchange);
    request_end(request);
}

void as_stream_abort(struct as_request *request)
{
    as_request_drop(request);
}

/* A fault ends the stream: tell whoever feeds it, unless it is through already. */
static void cut(struct as_request *request)
{
    if (!request->is_ended && request->closed)
        request->closed(request->closed_self);
    as_request_drop(request);
}

/* How many pending bytes may go now. */
static size_t allowance(const struct as_request *request)
{
    const struct apiserver_fault *fault = &request->fault;
    int64_t left = (int64_t)(request->pending.len - request->pending_sent);
    if (fault->cut_after.set)
        left = min_i64(left, fault->cut_after.value - request->passed);
    if (fault->stall_after.set)
        left = min_i64(left, fault->stall_after.value - request->passed);
    if (fault->dribble_bytes > 0)
        left = min_i64(left, fault->dribble_bytes);
    return (size_t)max_i64(0, left);
}

/* Moves pending bytes as the fault allows; runs from the timer only. */
static void pump(struct as_request *request)
{
    const struct apiserver_fault *fault = &request->fault;
    if (!request->header_sent) {
        cut(request);
        return;
    }
    size_t n = allowance(request);
    pass(request, str_slice(strbuf_str(&request->pending), request->pending_sent, n));
    request->pending_sent += n;
    bool drained = request->pending_sent == request->pending.len;
    if (fault->cut_after.set && request->passed >= fault->cut_after.value) {
        /* What was allowed must reach the peer before the connection goes. */
        if (http_exchange_stream_backlog(request->exchange) == 0)
            cut(request);
        else
            loop_timer_set(&request->timer, 1);
        return;
    }
    if (fault->stall_after.set && request->passed >= fault->stall_after.value)
        return;
    if (!drained) {
        loop_timer_set(&request->timer, fault->dribble_interval_ms);
        return;
    }
    strbuf_clear(&request->pending);
    request->pending_sent = 0;
    if (request->is_ended) {
        http_exchange_stream_end(request->exchange);
        request_end(request);
    }
}

void as_request_wait(struct as_request *request, int64_t rv, void (*done)(struct as_request *request))
{
    request->wait_rv = rv;
    request->server->waiting++;
    request->wait_done = done;
    request->wait_until = mono_add_ms(loop_mono(request->server->loop), request->server->freshness_wait_ms);
    as_requests_check_waits(request->server);
}

static void wait_over(struct as_request *request, bool reached)
{
    int64_t asked = request->wait_rv;
    request->wait_rv = 0;
    request->server->waiting--;
    if (reached) {
        request->wait_done(request);
        return;
    }
    struct api_error error = API_ERROR_INIT;
    (void)api_fail_version_too_large(
        &error, &request->arena, arena_strf(&request->arena, "%" PRId64, asked),
        arena_strf(&request->arena, "%" PRId64, as_store_rv(request->server->store)));
    as_answer_error(request, &error);
}

static struct as_request *find_over(struct apiserver *server, struct mono_time now)
{
    for (struct as_request *request = server->requests; request; request = request->next)
        if (request->wait_rv &&
            (as_store_rv(server->store) >= request->wait_rv || !mono_before(now, request->wait_until)))
            return request;
    return NULL;
}

void as_requests_check_waits(struct apiserver *server)
{
    if (!server->waiting)
        return;
    struct mono_time now = loop_mono(server->loop);
    int64_t next_ms = -1;
    for (const struct as_request *request = server->requests; request; request = request->next) {
        if (!request->wait_rv)
            continue;
        int64_t ms = as_store_rv(server->store) >= request->wait_rv
                         ? 0
                         : mono_ms_between(now, request->wait_until) + 1;
        next_ms = next_ms < 0 ? ms : min_i64(next_ms, ms);
    }
    if (next_ms >= 0)
        loop_timer_set(&server->waiter_timer, next_ms);
}

void as_requests_finish_waits(struct apiserver *server)
{
    struct mono_time now = loop_mono(server->loop);
    struct as_request *request;
    while ((request = find_over(server, now)))
        wait_over(request, as_store_rv(server->store) >= request->wait_rv);
    as_requests_check_waits(server);
}
