#include "fake_kube.h"

#include <utlist.h>

/* --- the loop ---------------------------------------------------------------------- */

struct fake_timer {
    struct fake_timer *prev, *next;
    struct loop_timer *timer;
    bool armed;
    struct mono_time due;
};

struct loop *fake_loop_new(void)
{
    struct loop *loop = mem_zalloc(sizeof *loop);
    loop->now = at_ms(1000 * 1000);
    loop->wall.us = INT64_C(1800000000) * US_PER_S;
    return loop;
}

void fake_loop_free(struct loop *loop)
{
    assert_null(loop->timers);
    free(loop);
}

struct mono_time loop_mono(const struct loop *loop)
{
    return loop->now;
}

struct wall_time loop_wall(const struct loop *loop)
{
    return loop->wall;
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, void (*fire)(void *self), void *self)
{
    struct fake_timer *fake = mem_zalloc(sizeof *fake);
    fake->timer = timer;
    *timer = (struct loop_timer){ .loop = loop, .fire = fire, .self = self, .event = fake };
    DL_APPEND(loop->timers, fake);
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    struct fake_timer *fake = timer->event;
    fake->armed = true;
    fake->due = mono_add_ms(timer->loop->now, max_i64(delay_ms, 0));
}

void loop_timer_cancel(struct loop_timer *timer)
{
    struct fake_timer *fake = timer->event;
    fake->armed = false;
}

bool loop_timer_armed(const struct loop_timer *timer)
{
    const struct fake_timer *fake = timer->event;
    return fake->armed;
}

void loop_timer_done(struct loop_timer *timer)
{
    struct fake_timer *fake = timer->event;
    DL_DELETE(timer->loop->timers, fake);
    free(fake);
    timer->event = NULL;
}

static struct fake_timer *earliest(struct loop *loop)
{
    struct fake_timer *best = NULL, *fake;
    DL_FOREACH(loop->timers, fake)
    {
        if (fake->armed && (!best || mono_before(fake->due, best->due)))
            best = fake;
    }
    return best;
}

static void advance(struct loop *loop, struct mono_time to)
{
    if (!mono_before(loop->now, to))
        return;
    loop->wall.us += (to.ns - loop->now.ns) / 1000;
    loop->now = to;
}

void fake_loop_pass(struct loop *loop, int64_t ms)
{
    struct mono_time end = mono_add_ms(loop->now, ms);
    int fired = 0;
    struct fake_timer *next;
    while ((next = earliest(loop)) && !mono_before(end, next->due)) {
        advance(loop, next->due);
        next->armed = false;
        next->timer->fire(next->timer->self);
        if (++fired == 1000000)
            fail_msg("a timer that never rests");
    }
    advance(loop, end);
}

void fake_loop_settle(struct loop *loop)
{
    fake_loop_pass(loop, 0);
}

int64_t fake_loop_next(struct loop *loop, int64_t most_ms)
{
    const struct fake_timer *next = earliest(loop);
    int64_t wait = next ? max_i64(0, (next->due.ns - loop->now.ns + NS_PER_MS - 1) / NS_PER_MS) : most_ms;
    wait = min_i64(wait, most_ms);
    fake_loop_pass(loop, wait);
    return wait;
}

/* --- the server -------------------------------------------------------------------- */

struct kube_client *fake_client_new(struct loop *loop)
{
    struct kube_client *client = mem_zalloc(sizeof *client);
    client->loop = loop;
    return client;
}

void fake_client_free(struct kube_client *client)
{
    assert_null(client->calls);
    free(client);
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}

static struct kube_call *start(struct kube_client *client, const struct kube_request *request,
                               const struct kube_stream *stream, bool streaming, struct err *err)
{
    if (client->refuse) {
        err_set(err, ERR_INVALID, "cannot be built");
        return NULL;
    }
    struct kube_call *call = mem_zalloc(sizeof *call);
    call->client = client;
    call->request = *request;
    call->request.ns = arena_str(&call->arena, request->ns);
    call->request.name = arena_str(&call->arena, request->name);
    call->request.body = arena_str(&call->arena, request->body);
    call->request.continue_token = arena_str(&call->arena, request->continue_token);
    call->request.resource_version = arena_str(&call->arena, request->resource_version);
    call->streaming = streaming;
    call->stream = *stream;
    CLEANUP(strbuf_done) struct strbuf target = STRBUF_INIT(sizeof call->target);
    kube_request_target(request, &target);
    snprintf(call->target, sizeof call->target, "%s %s", kube_request_method(request), strbuf_cstr(&target));
    DL_APPEND(client->calls, call);
    client->call_count++;
    client->sent++;
    return call;
}

struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request, kube_done_fn done,
                            void *self, struct err *err)
{
    struct kube_stream stream = { .done = done, .self = self };
    return start(client, request, &stream, false, err);
}

struct kube_call *kube_send_stream(struct kube_client *client, const struct kube_request *request,
                                   const struct kube_stream *stream, struct err *err)
{
    return start(client, request, stream, true, err);
}

static void forget(struct kube_call *call)
{
    DL_DELETE(call->client->calls, call);
    call->client->call_count--;
}

static void free_call(struct kube_call *call)
{
    arena_done(&call->arena);
    free(call);
}

void kube_cancel(struct kube_call *call)
{
    forget(call);
    free_call(call);
}

struct kube_call *fake_call(struct kube_client *client)
{
    if (!client->calls)
        fail_msg("no request is under way");
    return client->calls;
}

static void finish(struct kube_call *call, const struct kube_response *response)
{
    forget(call);
    call->stream.done(call->stream.self, response);
    free_call(call);
}

void fake_answer_after(struct kube_call *call, int code, const char *body, int64_t retry_after_ms)
{
    struct arena arena = ARENA_INIT;
    struct api_status status = { 0 };
    bool said = json_decode(&arena, str_c(body), &api_status_table, &status, NULL, NULL);
    struct kube_response response = { .code = code,
                                      .failure = kube_classify(code, said ? &status : NULL,
                                                               call->request.verb == KUBE_CREATE),
                                      .retry_after_ms = retry_after_ms,
                                      .body = str_c(body) };
    if (response.failure != KUBE_OK)
        err_set(&response.err, kube_failure_err_kind(response.failure), "HTTP %d", code);
    finish(call, &response);
    arena_done(&arena);
}

void fake_answer(struct kube_call *call, int code, const char *body)
{
    fake_answer_after(call, code, body, -1);
}

void fake_fail(struct kube_call *call, enum kube_failure failure)
{
    struct kube_response response = { .failure = failure, .retry_after_ms = -1 };
    err_set(&response.err, kube_failure_err_kind(failure), "%s", kube_failure_name(failure));
    finish(call, &response);
}

void fake_open(struct kube_call *call)
{
    assert_true(call->streaming);
    if (call->stream.on_open)
        call->stream.on_open(call->stream.self);
}

bool fake_data(struct kube_call *call, const char *bytes)
{
    struct err err = ERR_INIT;
    if (call->stream.on_data(call->stream.self, str_c(bytes), &err))
        return true;
    assert_int_not_equal(err.kind, ERR_NONE);
    struct kube_response response = {
        .code = 200, .failure = KUBE_PROTOCOL, .retry_after_ms = -1, .err = err
    };
    finish(call, &response);
    return false;
}

void fake_end(struct kube_call *call)
{
    struct kube_response response = { .code = 200, .retry_after_ms = -1 };
    finish(call, &response);
}

void fake_list(struct kube_call *call, const char *bytes)
{
    assert_int_equal(call->request.verb, KUBE_LIST);
    fake_open(call);
    if (fake_data(call, bytes))
        fake_end(call);
}
