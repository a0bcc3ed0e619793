/* What comes back, and whom it is told. */
#include "client_internal.h"

#include <utlist.h>

#include "kube/answer.h"

/* --- metrics ---------------------------------------------------------------------- */

static struct str host_of(const struct kube_client *client)
{
    struct str server = str_c(client->server), host, path;
    server = str_slice(server, str_starts_with(server, STR("https://")) ? 8 : 7, server.len);
    str_cut(server, '/', &host, &path);
    return host;
}

static void count_once(struct kube_call *call, int code)
{
    if (call->counted)
        return;
    call->counted = true;
    struct kube_client *client = call->client;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(32);
    if (code)
        strbuf_addf(&text, "%d", code);
    else
        strbuf_add(&text, STR("<error>"));
    metric_add(client->requests, 1, strbuf_str(&text), str_c(call->method), host_of(client));
}

/* A watch lasts as long as it was asked to; that is no latency (TEL-2). */
static void observe(const struct kube_call *call)
{
    if (call->verb == KUBE_WATCH)
        return;
    const struct kube_client *client = call->client;
    int64_t ms = mono_ms_between(call->started, loop_mono(client->loop));
    metric_observe(client->durations, (double)ms / 1000, str_c(call->method), host_of(client));
}

/* --- answers ---------------------------------------------------------------------- */

bool kube_call_on_header(void *self, int status, struct str content_type, struct str content_encoding)
{
    struct kube_call *call = self;
    strbuf_clear(&call->content_encoding);
    strbuf_add(&call->content_encoding, content_encoding);
    if (!call->streaming)
        return true;
    bool plain = str_empty(content_encoding) || str_eq_nocase(content_encoding, STR("identity"));
    call->good = status == 200 && plain && kube_is_json(content_type);
    if (!call->good)
        return true;
    count_once(call, status);
    if (call->stream.on_open)
        call->stream.on_open(call->stream.self); /* the call may be gone after it */
    return true;
}

bool kube_call_on_data(void *self, struct str chunk, struct err *err)
{
    struct kube_call *call = self;
    if (call->good)
        return call->stream.on_data(call->stream.self, chunk, err); /* the call may be gone after it */
    strbuf_add(&call->refused, str_slice(chunk, 0, CALL_MAX_REFUSED_BYTES - call->refused.len));
    return call->refused.len < CALL_MAX_REFUSED_BYTES;
}

static enum kube_failure transport_failure(enum http_outcome outcome)
{
    static const enum kube_failure failures[] = {
        [HTTP_COMPLETE] = KUBE_OK,         [HTTP_REFUSED] = KUBE_UNREACHABLE, [HTTP_BROKEN] = KUBE_TRANSPORT,
        [HTTP_TIMED_OUT] = KUBE_TRANSPORT, [HTTP_TOO_LARGE] = KUBE_PROTOCOL,  [HTTP_ABORTED] = KUBE_PROTOCOL,
        [HTTP_FENCED] = KUBE_FENCED,
    };
    return failures[outcome];
}

static void fail_transport(const struct http_result *result, struct kube_response *ret)
{
    enum kube_failure failure = transport_failure(result->outcome);
    *ret = (struct kube_response){ .code = result->status, .failure = failure, .retry_after_ms = -1 };
    err_set(&ret->err, kube_failure_err_kind(failure), "%s", result->err.text);
}

static void read_answer(struct kube_call *call, struct arena *arena, const struct http_result *result,
                        struct kube_response *ret)
{
    bool cut_by_us = call->streaming && !call->good && result->outcome == HTTP_ABORTED;
    /* A code that says failure says it even when the rest of the answer was lost. */
    bool known = result->outcome == HTTP_COMPLETE || cut_by_us || result->status >= 400;
    if (!known) {
        fail_transport(result, ret);
        return;
    }
    if (call->good) {
        *ret = (struct kube_response){ .code = result->status, .retry_after_ms = -1 };
        return;
    }
    struct kube_answer answer = {
        .code = result->status,
        .content_type = result->content_type,
        .content_encoding = strbuf_str(&call->content_encoding),
        .retry_after_ms = result->retry_after_ms,
        .body = call->streaming ? strbuf_str(&call->refused) : result->body,
        .verb = call->verb,
    };
    kube_answer_read(arena, &answer, ret);
}

static void tell(struct kube_call *call, const struct kube_response *response)
{
    struct kube_stream stream = call->stream;
    DL_DELETE(call->client->calls, call);
    stream.done(stream.self, response); /* the client may be gone after it */
    kube_call_free(call);
}

void kube_call_end(struct kube_call *call, int code, enum kube_failure failure, const struct err *reason)
{
    struct kube_response response = { .code = code, .failure = failure, .retry_after_ms = -1 };
    if (reason)
        err_set(&response.err, kube_failure_err_kind(failure), "%s", reason->text);
    tell(call, &response);
}

void kube_call_on_done(void *self, const struct http_result *result)
{
    struct kube_call *call = self;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_response response;
    call->http = NULL;
    count_once(call, result->status);
    observe(call);
    read_answer(call, &arena, result, &response);
    if (response.failure == KUBE_UNAUTHORIZED) {
        if (kube_call_try_again(call, &response.err))
            return;
        const char *trouble = kube_client_trouble(call->client);
        if (*trouble)
            err_wrap(&response.err, "%s", trouble);
    }
    tell(call, &response);
}
