#include "kube/client.h"

#include <stdlib.h>

#include <utlist.h>

#include "kube/answer.h"
#include "kube/auth.h"
#include "kube/impersonate.h"

#define MAX_URL_BYTES ((size_t)64 << 10)
#define MAX_REFUSED_BYTES ((size_t)64 << 10)
#define SHORT_MS (30 * 1000)
#define LIST_SILENCE_MS (60 * 1000)
#define WATCH_HEADER_MS (30 * 1000)
#define WATCH_GRACE_S 30
#define OWN_HEADERS 3

struct kube_client {
    struct loop *loop;
    struct http_client *http;
    struct kube_auth *auth;
    char *server;
    struct arena arena; /* of what never changes */
    struct impersonation impersonation;
    struct kube_call *calls;
    struct metric *requests, *durations;
};

/* One request of a user; a repetition after a 401 is a second http_call of the same. */
struct kube_call {
    struct kube_call *prev, *next;
    struct kube_client *client;
    struct http_call *http;

    enum kube_verb verb;
    const char *method;
    char *url;
    char *body; /* NULL: none */
    size_t body_len;
    int64_t request_timeout_ms;
    int64_t timeout_s;
    bool (*may_send)(void *self);
    void *may_send_self;

    bool streaming;
    struct kube_stream stream; /* of a short request: done and self only */

    /* The attempt. */
    struct mono_time started;
    uint64_t credential;
    bool retried;
    bool good; /* the body belongs to stream.on_data */
    bool counted;
    struct strbuf refused; /* body of a stream's answer that is not good */
    struct strbuf content_encoding;
};

static bool attempt(struct kube_call *call, struct err *err);

static void free_call(struct kube_call *call)
{
    strbuf_done(&call->refused);
    strbuf_done(&call->content_encoding);
    free(call->url);
    free(call->body);
    free(call);
}

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

static bool on_header(void *self, int status, struct str content_type, struct str content_encoding)
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

static bool on_data(void *self, struct str chunk, struct err *err)
{
    struct kube_call *call = self;
    if (call->good)
        return call->stream.on_data(call->stream.self, chunk, err); /* the call may be gone after it */
    strbuf_add(&call->refused, str_slice(chunk, 0, MAX_REFUSED_BYTES - call->refused.len));
    return call->refused.len < MAX_REFUSED_BYTES;
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

/* Credentials that were replaced meanwhile get one more try (AUT-2). */
static bool try_again(struct kube_call *call, struct err *err)
{
    struct kube_client *client = call->client;
    if (call->retried || !kube_auth_refresh(client->auth, call->credential, loop_mono(client->loop)))
        return false;
    call->retried = true;
    return attempt(call, err);
}

static void on_done(void *self, const struct http_result *result)
{
    struct kube_call *call = self;
    struct kube_client *client = call->client;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_response response;
    call->http = NULL;
    count_once(call, result->status);
    observe(call);
    read_answer(call, &arena, result, &response);
    if (response.failure == KUBE_UNAUTHORIZED) {
        if (try_again(call, NULL))
            return;
        const char *trouble = kube_auth_trouble(client->auth);
        if (*trouble)
            err_wrap(&response.err, "%s", trouble);
    }
    DL_DELETE(client->calls, call);
    call->stream.done(call->stream.self, &response); /* the client may be gone after it */
    free_call(call);
}

/* --- requests --------------------------------------------------------------------- */

static bool is_segment(struct str text)
{
    if (str_eq(text, STR(".")) || str_eq(text, STR("..")))
        return false;
    return str_find_byte(text, '/') < 0 && str_find_byte(text, '%') < 0 && str_find_byte(text, '\0') < 0;
}

/* An empty name would turn a delete of one object into one of the whole collection. */
static bool check_request(const struct kube_request *request, struct err *err)
{
    bool names_one =
        request->verb != KUBE_LIST && request->verb != KUBE_WATCH && request->verb != KUBE_CREATE;
    bool in_one_ns = names_one || request->verb == KUBE_CREATE;
    if (names_one == str_empty(request->name))
        return err_set(err, ERR_INVALID, "%s of %s: %s", kube_request_method(request), request->kind->plural,
                       names_one ? "no name" : "a name");
    if (in_one_ns && request->kind->namespaced && str_empty(request->ns))
        return err_set(err, ERR_INVALID, "%s of %s: no namespace", kube_request_method(request),
                       request->kind->plural);
    if (!is_segment(request->name) || !is_segment(request->ns))
        return err_set(err, ERR_INVALID, "name or namespace cannot be part of a path");
    return true;
}

static void add_limits(const struct kube_call *call, struct http_request *request)
{
    int64_t asked_ms = call->request_timeout_ms;
    if (call->verb == KUBE_WATCH) {
        request->fresh_connection = true;
        request->header_timeout_ms = WATCH_HEADER_MS;
        request->total_timeout_ms = call->timeout_s > 0 ? (call->timeout_s + WATCH_GRACE_S) * 1000 : -1;
    } else if (call->streaming) {
        /* A large list may take minutes as long as it keeps coming. */
        request->idle_timeout_ms = asked_ms > 0 ? asked_ms : LIST_SILENCE_MS;
        request->header_timeout_ms = request->idle_timeout_ms;
        request->total_timeout_ms = -1;
    } else {
        request->total_timeout_ms = asked_ms > 0 ? asked_ms : SHORT_MS;
    }
}

static size_t add_headers(struct kube_call *call, struct http_header *headers)
{
    const struct kube_client *client = call->client;
    struct str credentials = kube_auth_header(client->auth, loop_mono(client->loop));
    struct str type =
        call->verb == KUBE_PATCH_MERGE ? STR("application/merge-patch+json") : STR("application/json");
    const struct http_header own[OWN_HEADERS] = {
        { STR("Accept"), STR("application/json") },
        { STR("Content-Type"), call->body ? type : STR_NULL },
        { STR("Authorization"), credentials },
    };
    size_t count = 0;
    for (size_t i = 0; i < OWN_HEADERS; i++) {
        if (!str_empty(own[i].value))
            headers[count++] = own[i];
    }
    for (size_t i = 0; i < client->impersonation.count; i++)
        headers[count++] = client->impersonation.headers[i];
    call->credential = kube_auth_generation(client->auth);
    return count;
}

static bool may_send(void *self)
{
    const struct kube_call *call = self;
    return call->may_send(call->may_send_self);
}

static bool attempt(struct kube_call *call, struct err *err)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    struct http_header *headers =
        arena_array(&scratch, struct http_header, OWN_HEADERS + call->client->impersonation.count);
    struct http_request request = {
        .method = call->method,
        .url = str_c(call->url),
        .headers = headers,
        .header_count = add_headers(call, headers),
        .body = { .ptr = call->body, .len = call->body_len },
        .may_send = call->may_send ? may_send : NULL,
        .on_header = on_header,
        .on_data = call->streaming ? on_data : NULL,
        .done = on_done,
        .self = call,
    };
    add_limits(call, &request);
    call->started = loop_mono(call->client->loop);
    call->counted = false;
    strbuf_clear(&call->refused);
    call->http = http_send(call->client->http, &request, err);
    return call->http != NULL;
}

static struct kube_call *start(struct kube_client *client, const struct kube_request *request,
                               const struct kube_stream *stream, bool streaming, struct err *err)
{
    if (!check_request(request, err))
        return NULL;
    CLEANUP(strbuf_done) struct strbuf url = STRBUF_INIT(MAX_URL_BYTES);
    strbuf_add(&url, str_c(client->server));
    kube_request_target(request, &url);
    if (url.overflow) {
        err_set(err, ERR_INVALID, "URL is longer than %zu bytes", MAX_URL_BYTES);
        return NULL;
    }
    struct kube_call *call = mem_zalloc(sizeof *call);
    *call = (struct kube_call){
        .client = client,
        .verb = request->verb,
        .method = kube_request_method(request),
        .url = str_dup_c(strbuf_str(&url)),
        .body = str_empty(request->body) ? NULL : str_dup_c(request->body),
        .body_len = request->body.len,
        .request_timeout_ms = request->request_timeout_ms,
        .timeout_s = request->timeout_s,
        .may_send = request->may_send,
        .may_send_self = request->may_send_self,
        .streaming = streaming,
        .stream = *stream,
        .refused = STRBUF_INIT(MAX_REFUSED_BYTES),
        .content_encoding = STRBUF_INIT(1024),
    };
    if (!attempt(call, err)) {
        free_call(call);
        return NULL;
    }
    DL_APPEND(client->calls, call);
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

void kube_cancel(struct kube_call *call)
{
    if (call->http)
        http_cancel(call->http);
    DL_DELETE(call->client->calls, call);
    free_call(call);
}

/* --- the client ------------------------------------------------------------------- */

static void register_metrics(struct kube_client *client, struct metric_registry *registry)
{
    static const double seconds[] = { 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60 };
    if (!registry)
        return;
    client->requests = metric_counter(registry, "rest_client_requests_total",
                                      "Requests to the API server by code, method and host.", "code",
                                      "method", "host", NULL);
    client->durations = metric_histogram(registry, "rest_client_request_duration_seconds",
                                         "Latency of requests to the API server, watches excluded.", seconds,
                                         ARRAY_LEN(seconds), "verb", "host", NULL);
}

static bool check_config(const struct kube_config *config, struct err *err)
{
    if (!str_starts_with(config->server, STR("https://")) && !str_starts_with(config->server, STR("http://")))
        return err_set(err, ERR_INVALID, "server is neither https:// nor http://");
    struct impersonation made;
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    return impersonation_make(&scratch, config, &made, err);
}

/* What was checked before, in memory of our own. */
static void keep_impersonation(struct kube_client *client, const struct kube_config *config)
{
    struct impersonation *kept = &client->impersonation;
    if (!impersonation_make(&client->arena, config, kept, NULL))
        return;
    struct http_header *headers = arena_array(&client->arena, struct http_header, kept->count);
    for (size_t i = 0; i < kept->count; i++) {
        headers[i] = (struct http_header){ .name = arena_str(&client->arena, kept->headers[i].name),
                                           .value = arena_str(&client->arena, kept->headers[i].value) };
    }
    kept->headers = headers;
}

struct kube_client *kube_client_new(struct loop *loop, const struct kube_client_options *options,
                                    struct err *err)
{
    const struct kube_config *config = options->config;
    if (!check_config(config, err))
        return NULL;
    struct http_client_options http = {
        .ca_pem = config->ca_pem,
        .client_cert_pem = config->client_cert_pem,
        .client_key_pem = config->client_key_pem,
        .insecure_skip_verify = config->insecure_skip_tls_verify,
        .tls_server_name = config->tls_server_name,
        .proxy_url = config->proxy_url,
        .user_agent = str_c(options->user_agent),
    };
    struct http_client *transport = http_client_new(loop, &http, err);
    if (!transport) {
        err_wrap(err, "connection to " STR_FMT, STR_ARG(config->server));
        return NULL;
    }
    struct kube_client *client = mem_zalloc(sizeof *client);
    client->loop = loop;
    client->http = transport;
    client->auth = kube_auth_new(config, loop_mono(loop));
    client->server = str_dup_c(config->server);
    keep_impersonation(client, config);
    register_metrics(client, options->metrics);
    return client;
}

void kube_client_free(struct kube_client *client)
{
    if (!client)
        return;
    struct kube_call *call, *next;
    DL_FOREACH_SAFE(client->calls, call, next)
    {
        kube_cancel(call);
    }
    http_client_free(client->http);
    kube_auth_free(client->auth);
    free(client->server);
    arena_done(&client->arena);
    free(client);
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}
