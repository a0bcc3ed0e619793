#pragma once
/* A server and an HTTP client in one loop. Every call below runs the loop until it has
 * its answer, and fails the test when none comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/client.h"
#include "json/json.h"
#include "loop/loop.h"
#include "test/apiserver/apiserver.h"

struct harness {
    struct loop *loop;
    struct apiserver *server;
    struct http_client *client;
    struct arena arena; /* replies and events live here */
    const char *token;  /* sent as bearer token when set */
    const char *accept;
    const char *scheme; /* NULL: http */
    struct loop_timer guard;
    bool timed_out;
};

/* Options may be NULL; the control endpoint is always on. */
void harness_start(struct harness *h, const struct apiserver_options *options);
void harness_stop(struct harness *h);
/* Runs the loop until `over` says so. */
void harness_until(struct harness *h, bool (*over)(void *self), void *self);
/* Lets everything happen that is due. */
void harness_settle(struct harness *h);

struct reply {
    enum http_outcome outcome;
    int status;
    struct str text;
    struct str content_type;
    const struct json *json; /* NULL: no JSON */
    int64_t retry_after_ms;
};

struct reply get(struct harness *h, const char *path);
struct reply post(struct harness *h, const char *path, const char *body);
struct reply put(struct harness *h, const char *path, const char *body);
struct reply del(struct harness *h, const char *path, const char *body);
struct reply merge(struct harness *h, const char *path, const char *body);
struct reply ask(struct harness *h, const char *method, const char *path, const char *content_type,
                 const char *body);

/* "metadata.name"; numbers and booleans as text; "" when absent. "items[2].x" works. */
const char *at(struct harness *h, const struct json *root, const char *path);
void assert_at(struct harness *h, const struct json *root, const char *path, const char *want);
void assert_status(struct harness *h, struct reply reply, int code, const char *reason);
int64_t rv_of(struct harness *h, const struct json *object);

/* Objects with little in them. */
void add_config_map(struct harness *h, const char *name, const char *value);
void add_node(struct harness *h, const char *name);
void add_pod(struct harness *h, const char *name, const char *node);

/* A watch that collects what comes. */
struct stream {
    struct harness *harness;
    struct http_call *call;
    const struct json *events[256];
    size_t count;
    size_t bytes;
    int status;
    bool ended;
    enum http_outcome outcome;
    struct json_parser *parser;
    struct json_builder *builder;
};

/* Opens it and waits for the header. */
void stream_open(struct harness *h, struct stream *stream, const char *path);
void stream_close(struct stream *stream);
/* Waits for so many events in all. */
void stream_need(struct stream *stream, size_t count);
void stream_need_end(struct stream *stream);
void assert_event(struct stream *stream, size_t index, const char *type, const char *name);
