/* Sending, and the client itself. */
#include "client_internal.h"

#include <stdlib.h>

#include <utlist.h>

#define MAX_URL_BYTES ((size_t)64 << 10)
#define SHORT_MS (30 * 1000)
#define LIST_SILENCE_MS (60 * 1000)
#define WATCH_HEADER_MS (30 * 1000)
#define WATCH_GRACE_S 30
#define OWN_HEADERS 3

void kube_call_free(struct kube_call *call)
{
    kube_call_wait_done(call);
    transport_release(call->line);
    strbuf_done(&call->refused);
    strbuf_done(&call->content_encoding);
    free(call->url);
    free(call->body);
    free(call);
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

int64_t kube_call_patience_ms(const struct kube_call *call)
{
    if (call->streaming)
        return 0;
    return call->request_timeout_ms > 0 ? call->request_timeout_ms : SHORT_MS;
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
        request->total_timeout_ms = max_i64(1, kube_call_patience_ms(call) - call->waited_ms);
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
    call->credential = kube_client_credential(client);
    return count;
}

static bool may_send(void *self)
{
    const struct kube_call *call = self;
    return call->may_send(call->may_send_self);
}

bool kube_call_attempt(struct kube_call *call, struct err *err)
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
        .on_header = kube_call_on_header,
        .on_data = call->streaming ? kube_call_on_data : NULL,
        .done = kube_call_on_done,
        .self = call,
    };
    add_limits(call, &request);
    call->started = loop_mono(call->client->loop);
    call->counted = false;
    strbuf_clear(&call->refused);
    transport_release(call->line);
    call->line = transport_hold(call->client->transport);
    call->http = http_send(transport_http(call->line), &request, err);
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
        .refused = STRBUF_INIT(CALL_MAX_REFUSED_BYTES),
        .content_encoding = STRBUF_INIT(1024),
    };
    if (!kube_client_may_send(client)) {
        kube_call_wait(call, NULL);
    } else if (!kube_call_attempt(call, err)) {
        kube_call_free(call);
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
    kube_call_free(call);
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
    struct transport_options transport = { .config = config,
                                           .user_agent = options->user_agent,
                                           .metrics = options->metrics };
    struct kube_client *client = mem_zalloc(sizeof *client);
    client->loop = loop;
    kube_client_move_init(client, &transport);
    client->transport = transport_new(loop, &transport, err);
    if (!client->transport) {
        err_wrap(err, "connection to " STR_FMT, STR_ARG(config->server));
        loop_timer_done(&client->mover);
        free(client);
        return NULL;
    }
    client->auth = kube_auth_new(config, loop_mono(loop));
    client->server = str_dup_c(config->server);
    keep_impersonation(client, config);
    register_metrics(client, options->metrics);
    kube_client_wait_init(client, options);
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
    if (client->gone)
        *client->gone = true;
    loop_timer_done(&client->mover);
    exec_plugin_free(client->plugin);
    transport_free(client->transport);
    kube_auth_free(client->auth);
    free(client->server);
    arena_done(&client->arena);
    free(client);
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}
