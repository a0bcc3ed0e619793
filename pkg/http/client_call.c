#include "client_internal.h"
#include <stdlib.h>

#define MAX_HEADER_BYTES ((size_t)256 << 10)
#define MAX_KEPT_HEADER 512
#define MAX_RETRY_AFTER_S 60

static void call_on_guard(void *self);

struct http_call *call_new(struct http_client *client, const struct http_request *request, struct err *err)
{
    struct http_call *call = mem_zalloc(sizeof *call);
    call->client = client;
    call->content_type = STRBUF_INIT(MAX_KEPT_HEADER);
    call->content_encoding = STRBUF_INIT(MAX_KEPT_HEADER);
    call->retry_after = STRBUF_INIT(MAX_KEPT_HEADER);
    call->fd = CURL_SOCKET_BAD;
    loop_timer_init(&call->guard, client->loop, call_on_guard, call);
    if (call_take_request(call, request, err)) {
        call->response = STRBUF_INIT(call->max_body);
        return call;
    }
    call_free(call);
    return NULL;
}

void call_free(struct http_call *call)
{
    loop_timer_done(&call->guard);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    curl_slist_free_all(call->connect_to);
    free(call->method);
    free(call->url);
    free((char *)(uintptr_t)call->body.ptr);
    strbuf_done(&call->content_type);
    strbuf_done(&call->content_encoding);
    strbuf_done(&call->retry_after);
    strbuf_done(&call->response);
    free(call);
}

/* ---- limits ---- */

/* When the next limit is reached; false: there is none. */
static bool next_deadline(const struct http_call *call, struct mono_time *ret)
{
    int64_t first = call->total_deadline.ns ? call->total_deadline.ns : INT64_MAX;
    if (!call->header_done && call->header_deadline.ns)
        first = min_i64(first, call->header_deadline.ns);
    if (call->header_done && call->idle_timeout_ms > 0)
        first = min_i64(first, mono_add_ms(call->last_progress, call->idle_timeout_ms).ns);
    ret->ns = first;
    return first != INT64_MAX;
}

void call_guard_set(struct http_call *call)
{
    struct mono_time deadline;
    if (!next_deadline(call, &deadline))
        return;
    struct mono_time now = loop_mono(call->client->loop);
    loop_timer_set(&call->guard, mono_ms_between(now, deadline) + 1);
}

static const char *passed_limit(const struct http_call *call, struct mono_time now)
{
    if (call->total_deadline.ns && !mono_before(now, call->total_deadline))
        return call->easy ? "the request took too long as a whole" : "no free connection in time";
    return call->header_done ? "nothing came for too long" : "no response header in time";
}

/* No byte of the request has left, so nobody can have executed it. */
static bool not_sent(const struct http_call *call)
{
    long sent = 0;
    if (call->easy)
        curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &sent);
    return sent == 0 && !call->any_response_byte;
}

static void guard_act(struct http_call *call)
{
    if (call->early_code != CURLE_OK) {
        call_ended(call, call->early_code);
        return;
    }
    struct mono_time deadline;
    struct mono_time now = loop_mono(call->client->loop);
    if (!next_deadline(call, &deadline))
        return;
    if (mono_before(now, deadline)) {
        call_guard_set(call); /* data came since the timer was set */
        return;
    }
    struct err err = ERR_INIT;
    err_set(&err, ERR_TRANSIENT, "timed out: %s", passed_limit(call, now));
    call_finish(call, not_sent(call) ? HTTP_REFUSED : HTTP_TIMED_OUT, &err);
}

static void call_on_guard(void *self)
{
    struct http_call *call = self;
    struct http_client *client = call->client;
    client_enter(client);
    guard_act(call);
    client_leave(client);
}

/* ---- what libcurl tells ---- */

/* The user is not to be called: it cancelled this call or freed the client. */
static bool silenced(const struct http_call *call)
{
    return call->cancelled || call->client->dead;
}

static size_t call_fail(struct http_call *call, enum http_outcome outcome)
{
    call->failed = true;
    call->failure = outcome;
    return SIZE_MAX; /* never the count libcurl wants to see */
}

static bool is_idempotent(const char *method)
{
    /* PATCH: merge and strategic patches state the wanted result. */
    static const char *const methods[] = { "GET", "HEAD", "PUT", "PATCH", "DELETE" };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(method, methods[i]) == 0)
            return true;
    }
    return false;
}

static long new_connections(const struct http_call *call)
{
    long count = 0;
    curl_easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &count);
    return count;
}

/* Whether the first sending of a repeated request was executed is unknown. */
static int fence(struct http_call *call)
{
    bool repeats = call->retried || call->requests_begun > 0;
    err_set(&call->err, ERR_TRANSIENT, "not sent%s: fenced", repeats ? " again" : "");
    call_fail(call, repeats ? HTTP_BROKEN : HTTP_FENCED);
    return CURL_PREREQFUNC_ABORT;
}

/* NET-4. libcurl begins a request a second time when a reused connection died under the
 * first, whatever the method and on whatever connection comes next. Only what may be
 * repeated is let through, once, and only on a new connection. */
int call_on_request(void *self, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    (void)remote_ip, (void)local_ip, (void)remote_port, (void)local_port;
    struct http_call *call = self;
    if (silenced(call))
        return CURL_PREREQFUNC_ABORT;
    if (call->may_send && !call->may_send(call->self))
        return fence(call);
    if (call->requests_begun++ == 0)
        return CURL_PREREQFUNC_OK;
    if (!call->retried && is_idempotent(call->method) && new_connections(call) > 0) {
        call->retried = true;
        return CURL_PREREQFUNC_OK;
    }
    call->stale = true;
    return CURL_PREREQFUNC_ABORT;
}

static void take_header_line(struct http_call *call, struct str line)
{
    struct str name, value;
    if (!str_cut(line, ':', &name, &value))
        return;
    const struct {
        struct str name;
        struct strbuf *into;
    } kept[] = {
        { STR("Content-Type"), &call->content_type },
        { STR("Content-Encoding"), &call->content_encoding },
        { STR("Retry-After"), &call->retry_after },
    };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (!str_eq_nocase(name, kept[i].name))
            continue;
        strbuf_clear(kept[i].into);
        strbuf_add(kept[i].into, str_trim(value));
    }
}

static size_t header_end(struct http_call *call, size_t len)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return len; /* "100 Continue" and its like: the answer is still to come */
    call->header_done = true;
    call->status = (int)status;
    call->last_progress = loop_mono(call->client->loop);
    if (call->idle_timeout_ms > 0)
        call_guard_set(call);
    if (call->on_header && !call->on_header(call->self, call->status, strbuf_str(&call->content_type),
                                            strbuf_str(&call->content_encoding))) {
        if (!silenced(call))
            err_set(&call->err, ERR_INVALID, "response header refused");
        return call_fail(call, HTTP_ABORTED);
    }
    return silenced(call) ? SIZE_MAX : len;
}

size_t call_on_header(char *data, size_t size, size_t count, void *self)
{
    struct http_call *call = self;
    struct str line = { .ptr = data, .len = size * count };
    if (silenced(call))
        return SIZE_MAX;
    call->any_response_byte = true;
    if (call->header_done)
        return line.len; /* a trailer */
    call->header_bytes += line.len;
    if (call->header_bytes > MAX_HEADER_BYTES) {
        err_set(&call->err, ERR_TRANSIENT, "response header is longer than %zu bytes", MAX_HEADER_BYTES);
        return call_fail(call, HTTP_BROKEN);
    }
    if (str_empty(str_trim(line)))
        return header_end(call, line.len);
    take_header_line(call, line);
    return line.len;
}

static size_t collect(struct http_call *call, struct str chunk)
{
    struct str encoding = strbuf_str(&call->content_encoding);
    if (!call->on_header && !str_empty(encoding) && !str_eq_nocase(encoding, STR("identity"))) {
        err_set(&call->err, ERR_TRANSIENT, "response is encoded as " STR_FMT ", which nobody asked for",
                STR_ARG(encoding));
        return call_fail(call, HTTP_BROKEN);
    }
    strbuf_add(&call->response, chunk);
    if (!call->response.overflow)
        return chunk.len;
    err_set(&call->err, ERR_INVALID, "response body is larger than %zu bytes", call->max_body);
    return call_fail(call, HTTP_TOO_LARGE);
}

size_t call_on_body(char *data, size_t size, size_t count, void *self)
{
    struct http_call *call = self;
    struct str chunk = { .ptr = data, .len = size * count };
    if (silenced(call))
        return SIZE_MAX;
    call->last_progress = loop_mono(call->client->loop);
    if (!call->on_data)
        return collect(call, chunk);
    if (!call->on_data(call->self, chunk, &call->err))
        return call_fail(call, HTTP_ABORTED);
    return silenced(call) ? SIZE_MAX : chunk.len;
}

/* ---- the end ---- */

/* NET-4: an idle connection that the server had closed, noticed only when used. */
static bool died_idle(const struct http_call *call, CURLcode code)
{
    if (call->stale)
        return true;
    bool broken = code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR;
    return broken && !call->any_response_byte && call->requests_begun > 0 && new_connections(call) == 0;
}

static bool retry(struct http_call *call)
{
    CURLM *multi = call->engine->multi;
    call->retried = true;
    call->stale = false;
    call->requests_begun = 0;
    call->curl_text[0] = '\0';
    curl_multi_remove_handle(multi, call->easy);
    curl_easy_setopt(call->easy, CURLOPT_FRESH_CONNECT, 1L);
    return curl_multi_add_handle(multi, call->easy) == CURLM_OK;
}

static enum http_outcome outcome_of(const struct http_call *call, CURLcode code)
{
    if (call->failed)
        return call->failure;
    if (code == CURLE_OK) /* also when the connection closed inside the header */
        return call->header_done ? HTTP_COMPLETE : HTTP_BROKEN;
    if (not_sent(call))
        return HTTP_REFUSED;
    return code == CURLE_OPERATION_TIMEDOUT ? HTTP_TIMED_OUT : HTTP_BROKEN;
}

void call_ended(struct http_call *call, CURLcode code)
{
    if (code != CURLE_OK && !call->failed && !call->retried && call->early_code == CURLE_OK &&
        is_idempotent(call->method) && died_idle(call, code) && retry(call))
        return;
    enum http_outcome outcome = outcome_of(call, code);
    if (outcome != HTTP_COMPLETE && call->err.kind == ERR_NONE) {
        const char *text = call->curl_text[0] ? call->curl_text : curl_easy_strerror(code);
        if (code == CURLE_OK)
            text = "the connection was closed inside the response header";
        if (call->stale)
            text = "the reused connection was closed before an answer came";
        err_set(&call->err, ERR_TRANSIENT, "%s", text);
    }
    call_finish(call, outcome, &call->err);
}

static int64_t retry_after_ms(const struct http_call *call)
{
    struct str text = strbuf_str(&call->retry_after);
    if (str_empty(text) || call->retry_after.overflow)
        return -1;
    bool digits = true;
    for (size_t i = 0; i < text.len; i++)
        digits &= text.ptr[i] >= '0' && text.ptr[i] <= '9';
    int64_t seconds = MAX_RETRY_AFTER_S;
    if (digits) {
        if (!str_to_i64(text, &seconds))
            seconds = MAX_RETRY_AFTER_S; /* too long a number is a long time */
    } else {
        time_t date = curl_getdate(strbuf_cstr(&call->retry_after), NULL);
        if (date < 0)
            return -1;
        seconds = date - loop_wall(call->client->loop).us / US_PER_S;
    }
    return max_i64(0, min_i64(seconds, MAX_RETRY_AFTER_S)) * 1000;
}

void call_finish(struct http_call *call, enum http_outcome outcome, const struct err *reason)
{
    struct engine *engine = call->engine;
    struct http_result result = {
        .outcome = outcome,
        .status = call->status,
        .any_response_byte = call->any_response_byte,
        .retry_after_ms = retry_after_ms(call),
        .content_type = strbuf_str(&call->content_type),
        .body = strbuf_str(&call->response),
    };
    if (outcome != HTTP_COMPLETE)
        result.err = *reason;
    if (call->easy) {
        curl_multi_remove_handle(engine->multi, call->easy);
        engine->running_count--;
        TAILQ_REMOVE(&engine->running, call, link);
    } else {
        TAILQ_REMOVE(&engine->waiting, call, link);
    }
    loop_timer_cancel(&call->guard);
    if (call->done)
        call->done(call->self, &result);
    call_free(call);
}
