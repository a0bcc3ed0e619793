#include "lease_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/"

static void write_object(const struct lease_slot *slot, struct strbuf *out)
{
    strbuf_addf(
        out,
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"" LEASE_NAME
        "\",\"namespace\":\"%s\",\"uid\":\"00000000-0000-4000-8000-%012lld\",\"resourceVersion\":\"%lld\"},"
        "\"spec\":",
        slot->ns, (long long)slot->uid, (long long)slot->rv);
    json_write(out, slot->spec);
    strbuf_addc(out, '}');
}

/* --- changes ------------------------------------------------------------------------- */

static void tell(struct http_exchange *exchange, const struct lease_slot *slot, const char *type)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(16 * 1024);
    strbuf_addf(&out, "{\"type\":\"%s\",\"object\":", type);
    write_object(slot, &out);
    strbuf_add(&out, STR("}\n"));
    http_exchange_stream_send(exchange, strbuf_str(&out));
}

static void changed(struct lease_server *server, struct lease_slot *slot, const char *type)
{
    slot->rv = ++server->last_rv;
    for (size_t i = 0; i < LEASE_WATCHES; i++) {
        struct lease_watch *watch = &server->watches[i];
        if (watch->exchange && watch->slot == slot)
            tell(watch->exchange, slot, type);
    }
}

static void set_spec(struct lease_server *server, struct lease_slot *slot, const struct json *patch)
{
    bool existed = slot->exists;
    slot->spec = json_merge_patch(&server->arena, existed ? slot->spec : NULL, patch);
    slot->exists = true;
    if (!existed)
        slot->uid = ++server->last_uid;
    changed(server, slot, existed ? "MODIFIED" : "ADDED");
}

static const struct json *parse(struct lease_server *server, struct str text)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (!json_parse(&server->arena, arena_str(&server->arena, text), NULL, &root, &err))
        fail_msg("%s: " STR_FMT, err.text, STR_ARG(text));
    return root;
}

void lease_server_put(struct lease_server *server, const char *ns, const char *spec)
{
    struct str text = arena_str(&server->arena, str_c(spec));
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            ((char *)(uintptr_t)text.ptr)[i] = '"';
    }
    set_spec(server, lease_slot(server, ns), parse(server, text));
}

void lease_server_delete(struct lease_server *server, const char *ns)
{
    struct lease_slot *slot = lease_slot(server, ns);
    slot->exists = false;
    changed(server, slot, "DELETED");
}

struct lease_slot *lease_slot(struct lease_server *server, const char *ns)
{
    return &server->slots[strcmp(ns, LEASE_NS) == 0 ? 0 : 1];
}

struct str lease_slot_text(const struct lease_slot *slot, const char *field)
{
    return slot->exists ? json_str(json_get(slot->spec, str_c(field))) : STR_NULL;
}

int64_t lease_slot_number(const struct lease_slot *slot, const char *field)
{
    int64_t value = 0;
    return slot->exists && json_i64(json_get(slot->spec, str_c(field)), &value) ? value : 0;
}

/* --- answers --------------------------------------------------------------------------- */

static void reply(struct http_exchange *exchange, int code, struct str body)
{
    http_exchange_reply(exchange, code, "application/json", body);
}

static void reply_status(struct http_exchange *exchange, int code, const char *reason)
{
    char body[256];
    snprintf(body, sizeof body, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%d}",
             reason, code);
    reply(exchange, code, str_c(body));
}

static void reply_object(struct http_exchange *exchange, int code, const struct lease_slot *slot)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(16 * 1024);
    write_object(slot, &out);
    reply(exchange, code, strbuf_str(&out));
}

/* True: answered already, or never to be. */
static bool indulge(struct lease_server *server, enum lease_mood mood, struct http_exchange *exchange)
{
    switch (mood) {
    case MOOD_GOOD:
        return false;
    case MOOD_SILENT:
        assert_true(server->unanswered_count < 64);
        server->unanswered[server->unanswered_count++] = exchange;
        return true;
    case MOOD_FAILING:
        reply_status(exchange, 500, "InternalError");
        return true;
    case MOOD_BUSY:
        http_exchange_set_header(exchange, "Retry-After", "60");
        reply_status(exchange, 429, "TooManyRequests");
        return true;
    case MOOD_HTML:
        http_exchange_reply(exchange, 200, "application/json", STR("<html>maintenance</html>"));
        return true;
    case MOOD_REFUSING:
        reply_status(exchange, 403, "Forbidden");
        return true;
    }
    return false;
}

static void serve_get(struct lease_slot *slot, struct http_exchange *exchange)
{
    if (slot->exists)
        reply_object(exchange, 200, slot);
    else
        reply_status(exchange, 404, "NotFound");
}

static void serve_create(struct lease_server *server, struct lease_slot *slot, struct http_exchange *exchange)
{
    if (slot->exists) {
        reply_status(exchange, 409, "AlreadyExists");
        return;
    }
    const struct json *body = parse(server, http_exchange_body(exchange));
    set_spec(server, slot, json_get(body, STR("spec")));
    reply_object(exchange, 201, slot);
}

static void serve_patch(struct lease_server *server, struct lease_slot *slot, struct http_exchange *exchange)
{
    const struct json *body = parse(server, http_exchange_body(exchange));
    int64_t rv = 0;
    assert_true(str_eq(http_exchange_header(exchange, "Content-Type"), STR("application/merge-patch+json")));
    assert_true(str_to_i64(json_str(json_path(body, "metadata", "resourceVersion", NULL)), &rv));
    if (!slot->exists) {
        reply_status(exchange, 404, "NotFound");
    } else if (rv != slot->rv) {
        reply_status(exchange, 409, "Conflict");
    } else {
        set_spec(server, slot, json_get(body, STR("spec")));
        reply_object(exchange, 200, slot);
    }
}

static void serve_list(struct lease_server *server, const struct lease_slot *slot,
                       struct http_exchange *exchange)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(16 * 1024);
    strbuf_addf(&out,
                "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"LeaseList\",\"metadata\":{"
                "\"resourceVersion\":\"%lld\"},\"items\":[",
                (long long)max_i64(1, server->last_rv));
    if (slot->exists)
        write_object(slot, &out);
    strbuf_add(&out, STR("]}"));
    reply(exchange, 200, strbuf_str(&out));
}

static void on_closed(void *self)
{
    struct lease_watch *watch = self;
    watch->exchange = NULL;
}

static int64_t since(struct str query)
{
    struct str part;
    int64_t rv = 0;
    while (query.len) {
        str_cut(query, '&', &part, &query);
        if (str_starts_with(part, STR("resourceVersion=")))
            assert_true(str_to_i64(str_slice(part, 16, part.len), &rv));
    }
    return rv;
}

static void serve_watch(struct lease_server *server, struct lease_slot *slot, struct http_exchange *exchange)
{
    struct lease_watch *watch = server->watches;
    while (watch->exchange)
        watch++;
    assert_true(watch < server->watches + LEASE_WATCHES);
    int64_t rv = since(http_exchange_query(exchange));
    *watch = (struct lease_watch){ exchange, slot };
    http_exchange_stream_start(exchange, 200, "application/json", on_closed, watch);
    if (slot->rv > rv)
        tell(exchange, slot, slot->exists ? "MODIFIED" : "DELETED");
}

static bool has(struct str text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what));
}

static void serve_collection(struct lease_server *server, struct lease_slot *slot,
                             struct http_exchange *exchange)
{
    struct str query = http_exchange_query(exchange);
    assert_true(has(query, "fieldSelector=metadata.name%3D" LEASE_NAME));
    if (indulge(server, server->watching, exchange))
        return;
    if (has(query, "watch="))
        serve_watch(server, slot, exchange);
    else
        serve_list(server, slot, exchange);
}

static void serve_lease(struct lease_server *server, struct lease_slot *slot, bool named,
                        struct http_exchange *exchange)
{
    struct str method = http_exchange_method(exchange);
    bool read = str_eq(method, STR("GET")), create = str_eq(method, STR("POST"));
    if (slot == &server->slots[1]) {
        assert_true(read && named); /* we never write there */
        server->foreign_gets++;
        if (!indulge(server, server->foreign, exchange))
            serve_get(slot, exchange);
    } else if (read && !named) {
        serve_collection(server, slot, exchange);
    } else if (read) {
        server->gets++;
        if (!indulge(server, server->reads, exchange))
            serve_get(slot, exchange);
    } else {
        server->creates += create;
        server->patches += !create;
        server->last_body = arena_str(&server->arena, http_exchange_body(exchange));
        server->agent = arena_str(&server->arena, http_exchange_header(exchange, "User-Agent"));
        if (!indulge(server, server->writes, exchange))
            (create ? serve_create : serve_patch)(server, slot, exchange);
    }
}

static void handle(void *self, struct http_exchange *exchange)
{
    struct lease_server *server = self;
    struct str path = http_exchange_path(exchange), ns, rest;
    loop_stop(server->loop);
    if (str_starts_with(path, STR(EVENTS))) {
        server->events++;
        server->last_event = arena_str(&server->arena, http_exchange_body(exchange));
        reply(exchange, 201, STR("{}"));
        return;
    }
    assert_true(str_starts_with(path, STR(LEASES)));
    str_cut(str_slice(path, strlen(LEASES), path.len), '/', &ns, &rest);
    bool named = str_eq(rest, STR("leases/" LEASE_NAME));
    assert_true(named || str_eq(rest, STR("leases")));
    for (size_t i = 0; i < ARRAY_LEN(server->slots); i++) {
        if (str_eq(ns, str_c(server->slots[i].ns)))
            serve_lease(server, &server->slots[i], named, exchange);
    }
}

/* --- life ------------------------------------------------------------------------------ */

void lease_server_init(struct lease_server *server, struct loop *loop)
{
    struct err err = ERR_INIT;
    *server = (struct lease_server){
        .loop = loop,
        .slots = { { .ns = LEASE_NS }, { .ns = LEASE_FOREIGN_NS } },
    };
    struct http_server_options options = { .address = "127.0.0.1:0", .handle = handle, .self = server };
    server->http = http_server_new(loop, &options, &err);
    assert_string_equal(err.text, "");
}

void lease_server_done(struct lease_server *server)
{
    http_server_free(server->http);
    arena_done(&server->arena);
}
