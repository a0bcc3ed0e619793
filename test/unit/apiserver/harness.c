#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GUARD_MS 20000

static void on_guard(void *self)
{
    struct harness *h = self;
    h->timed_out = true;
    loop_stop(h->loop);
}

void harness_start(struct harness *h, const struct apiserver_options *options)
{
    struct err err = ERR_INIT;
    struct apiserver_options copy = options ? *options : APISERVER_OPTIONS_INIT;
    copy.control = true;
    if (!copy.seed)
        copy.seed = 7;
    *h = (struct harness){ 0 };
    h->loop = loop_new(&err);
    assert_non_null(h->loop);
    h->server = apiserver_new(h->loop, &copy, &err);
    if (!h->server)
        fail_msg("%s", err.text);
    struct http_client_options client = { .user_agent = STR("harness/1") };
    h->client = http_client_new(h->loop, &client, &err);
    assert_non_null(h->client);
    loop_timer_init(&h->guard, h->loop, on_guard, h);
}

void harness_stop(struct harness *h)
{
    http_client_free(h->client);
    apiserver_free(h->server);
    harness_settle(h); /* libevent lets go of closed connections in its next turn only */
    loop_timer_done(&h->guard);
    loop_free(h->loop);
    arena_done(&h->arena);
}

struct wait {
    struct harness *harness;
    bool (*over)(void *self);
    void *self;
    struct loop_timer timer;
};

static void check_over(void *self)
{
    struct wait *wait = self;
    if (wait->over(wait->self))
        loop_stop(wait->harness->loop);
    else
        loop_timer_set(&wait->timer, 1);
}

void harness_until(struct harness *h, bool (*over)(void *self), void *self)
{
    struct wait wait = { .harness = h, .over = over, .self = self };
    struct err err = ERR_INIT;
    loop_timer_init(&wait.timer, h->loop, check_over, &wait);
    loop_timer_set(&wait.timer, 0);
    loop_timer_set(&h->guard, GUARD_MS);
    assert_true(loop_run(h->loop, &err));
    loop_timer_done(&wait.timer);
    loop_timer_cancel(&h->guard);
    assert_false(h->timed_out);
}

static bool count_down(void *self)
{
    int *left = self;
    return (*left)-- == 0;
}

void harness_settle(struct harness *h)
{
    int turns = 20;
    harness_until(h, count_down, &turns);
}

/* ---- requests ---- */

struct pending {
    struct harness *harness;
    struct reply reply;
    bool done;
};

static void on_done(void *self, const struct http_result *result)
{
    struct pending *pending = self;
    struct arena *arena = &pending->harness->arena;
    pending->done = true;
    pending->reply = (struct reply){
        .outcome = result->outcome,
        .status = result->status,
        .text = arena_str(arena, result->body),
        .content_type = arena_str(arena, result->content_type),
        .retry_after_ms = result->retry_after_ms,
    };
    if (!json_parse(arena, pending->reply.text, NULL, &pending->reply.json, NULL))
        pending->reply.json = NULL;
}

static bool is_done(void *self)
{
    return ((struct pending *)self)->done;
}

static struct str url_of(struct harness *h, const char *path)
{
    return arena_strf(&h->arena, "%s://127.0.0.1:%d%s", h->scheme ? h->scheme : "http",
                      apiserver_port(h->server), path);
}

static size_t headers_of(struct harness *h, const char *content_type, struct http_header *headers)
{
    size_t count = 0;
    headers[count++] =
        (struct http_header){ STR("Accept"), str_c(h->accept ? h->accept : "application/json") };
    if (content_type)
        headers[count++] = (struct http_header){ STR("Content-Type"), str_c(content_type) };
    if (h->token)
        headers[count++] =
            (struct http_header){ STR("Authorization"), arena_strf(&h->arena, "Bearer %s", h->token) };
    return count;
}

struct reply ask(struct harness *h, const char *method, const char *path, const char *content_type,
                 const char *body)
{
    struct err err = ERR_INIT;
    struct http_header headers[3];
    struct pending pending = { .harness = h };
    struct http_request request = {
        .method = method,
        .url = url_of(h, path),
        .headers = headers,
        .header_count = headers_of(h, content_type, headers),
        .body = str_c(body),
        .done = on_done,
        .self = &pending,
    };
    assert_non_null(http_send(h->client, &request, &err));
    harness_until(h, is_done, &pending);
    return pending.reply;
}

struct reply get(struct harness *h, const char *path)
{
    return ask(h, "GET", path, NULL, NULL);
}

struct reply post(struct harness *h, const char *path, const char *body)
{
    return ask(h, "POST", path, "application/json", body);
}

struct reply put(struct harness *h, const char *path, const char *body)
{
    return ask(h, "PUT", path, "application/json", body);
}

struct reply del(struct harness *h, const char *path, const char *body)
{
    return ask(h, "DELETE", path, body ? "application/json" : NULL, body);
}

struct reply merge(struct harness *h, const char *path, const char *body)
{
    return ask(h, "PATCH", path, "application/merge-patch+json", body);
}

/* ---- reading ---- */

static const struct json *step(const struct json *value, struct str part)
{
    struct str name, index;
    if (!str_cut(part, '[', &name, &index))
        return json_get(value, part);
    if (name.len)
        value = json_get(value, name);
    int64_t i;
    if (!str_to_i64(str_slice(index, 0, index.len - 1), &i) || !json_is(value, JSON_ARRAY) ||
        (size_t)i >= json_count(value))
        return NULL;
    return value->array.items[i];
}

const char *at(struct harness *h, const struct json *root, const char *path)
{
    struct str rest = str_c(path);
    while (root && rest.len) {
        struct str part;
        str_cut(rest, '.', &part, &rest);
        root = step(root, part);
    }
    if (json_is(root, JSON_STRING) || json_is(root, JSON_NUMBER))
        return arena_str(&h->arena, root->text).ptr;
    if (json_is(root, JSON_BOOL))
        return root->boolean ? "true" : "false";
    return root ? json_type_name(root->type) : "";
}

void assert_at(struct harness *h, const struct json *root, const char *path, const char *want)
{
    assert_string_equal(at(h, root, path), want);
}

void assert_status(struct harness *h, struct reply reply, int code, const char *reason)
{
    assert_int_equal(reply.status, code);
    assert_at(h, reply.json, "kind", "Status");
    assert_at(h, reply.json, "reason", reason);
    assert_at(h, reply.json, "code", arena_strf(&h->arena, "%d", code).ptr);
}

int64_t rv_of(struct harness *h, const struct json *object)
{
    int64_t rv;
    assert_true(str_to_i64(str_c(at(h, object, "metadata.resourceVersion")), &rv));
    return rv;
}

static void put_object(struct harness *h, struct str text)
{
    struct err err = ERR_INIT;
    if (!apiserver_put(h->server, text, &err))
        fail_msg("%s", err.text);
}

void add_config_map(struct harness *h, const char *name, const char *value)
{
    put_object(
        h,
        arena_strf(&h->arena,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"labels\":"
                   "{\"value\":\"%s\"}},\"data\":{\"key\":\"%s\"}}",
                   name, value, value));
}

void add_node(struct harness *h, const char *name)
{
    put_object(h, arena_strf(&h->arena,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"},"
                             "\"status\":{\"capacity\":{\"cpu\":\"8\"}}}",
                             name));
}

void add_pod(struct harness *h, const char *name, const char *node)
{
    put_object(h,
               arena_strf(&h->arena,
                          "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},\"spec\":"
                          "{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
                          name, node));
}

/* ---- streams ---- */

static bool on_event(void *self, const struct json_event *event, struct err *err)
{
    struct stream *stream = self;
    struct json_sink sink = json_builder_sink(stream->builder);
    if (!sink.event(sink.self, event, err))
        return false;
    const struct json *root = json_builder_root(stream->builder);
    if (root) {
        assert_true(stream->count < ARRAY_LEN(stream->events));
        stream->events[stream->count++] = root;
        json_builder_reset(stream->builder);
    }
    return true;
}

static bool on_header(void *self, int status, struct str content_type, struct str content_encoding)
{
    struct stream *stream = self;
    (void)content_type, (void)content_encoding;
    stream->status = status;
    return true;
}

static bool on_data(void *self, struct str chunk, struct err *err)
{
    struct stream *stream = self;
    stream->bytes += chunk.len;
    return json_parser_feed(stream->parser, chunk, err);
}

static void on_end(void *self, const struct http_result *result)
{
    struct stream *stream = self;
    stream->ended = true;
    stream->outcome = result->outcome;
    stream->call = NULL;
}

static bool has_header(void *self)
{
    const struct stream *stream = self;
    return stream->status || stream->ended;
}

void stream_open(struct harness *h, struct stream *stream, const char *path)
{
    struct err err = ERR_INIT;
    struct http_header headers[3];
    *stream = (struct stream){ .harness = h };
    stream->builder = json_builder_new(&h->arena);
    struct json_sink sink = { on_event, stream };
    stream->parser = json_parser_new(NULL, true, sink);
    struct http_request request = {
        .method = "GET",
        .url = url_of(h, path),
        .headers = headers,
        .header_count = headers_of(h, NULL, headers),
        .total_timeout_ms = -1,
        .fresh_connection = true,
        .on_header = on_header,
        .on_data = on_data,
        .done = on_end,
        .self = stream,
    };
    stream->call = http_send(h->client, &request, &err);
    assert_non_null(stream->call);
    harness_until(h, has_header, stream);
}

void stream_close(struct stream *stream)
{
    if (stream->call)
        http_cancel(stream->call);
    json_parser_free(stream->parser);
    stream->call = NULL;
}

struct stream_wait {
    const struct stream *stream;
    size_t count;
};

static bool has_events(void *self)
{
    const struct stream_wait *wait = self;
    return wait->stream->count >= wait->count || wait->stream->ended;
}

void stream_need(struct stream *stream, size_t count)
{
    struct stream_wait wait = { stream, count };
    harness_until(stream->harness, has_events, &wait);
    assert_true(stream->count >= count);
}

static bool has_ended(void *self)
{
    return ((const struct stream *)self)->ended;
}

void stream_need_end(struct stream *stream)
{
    harness_until(stream->harness, has_ended, stream);
}

void assert_event(struct stream *stream, size_t index, const char *type, const char *name)
{
    stream_need(stream, index + 1);
    assert_at(stream->harness, stream->events[index], "type", type);
    if (name)
        assert_at(stream->harness, stream->events[index], "object.metadata.name", name);
}
