/* What the manager asked the server for, from the server's own log. */
#include <fnmatch.h>
#include <stdio.h>

#include "base/rfc3339.h"
#include "audit.h"
#include "cluster.h"

#define FENCE_MARK "/fence-"

static struct str text_of(const struct json *entry, const char *key)
{
    return json_str(json_get(entry, str_c(key)));
}

static void read_entry(struct e2e *e2e, struct str line, struct e2e_request *ret)
{
    const struct json *entry;
    struct err err = ERR_INIT;
    if (!json_parse(&e2e->arena, line, NULL, &entry, &err))
        fail_msg("request log: %s", err.text);
    *ret = (struct e2e_request){ .method = text_of(entry, "method"),
                                 .path = text_of(entry, "path"),
                                 .query = text_of(entry, "query"),
                                 .user = text_of(entry, "user"),
                                 .agent = text_of(entry, "userAgent"),
                                 .content_type = text_of(entry, "contentType"),
                                 .body = text_of(entry, "body") };
    if (!json_i64(json_get(entry, STR("id")), &ret->id) ||
        !json_i64(json_get(entry, STR("code")), &ret->code) ||
        !rfc3339_parse(text_of(entry, "time"), &ret->time, &err))
        fail_msg("request log: " STR_FMT, STR_ARG(line));
}

static void append(struct e2e *e2e, struct e2e_requests *list, const struct e2e_request *request)
{
    size_t size = sizeof *list->items;
    list->items = arena_grow(&e2e->arena, list->items, list->count * size, (list->count + 1) * size);
    list->items[list->count++] = *request;
}

static struct e2e_requests read_log(struct e2e *e2e, int64_t since)
{
    if (e2e->real) {
        e2e_need_log(e2e);
        return audit_read(e2e, since);
    }
    struct rest_answer answer =
        e2e_call(e2e, "GET", NULL, STR_NULL, "/-/control/requests?since=%lld", (long long)since);
    assert_int_equal(answer.code, 200);
    struct e2e_requests all = { 0 };
    struct str rest = answer.body, line;
    while (rest.len) {
        struct e2e_request request;
        str_cut(rest, '\n', &line, &rest);
        if (str_empty(line))
            continue;
        read_entry(e2e, line, &request);
        append(e2e, &all, &request);
    }
    return all;
}

struct e2e_requests e2e_requests(struct e2e *e2e, int64_t since)
{
    struct e2e_requests all = read_log(e2e, since), ours = { 0 };
    for (size_t i = 0; i < all.count; i++)
        if (str_starts_with(all.items[i].agent, STR(E2E_AGENT)))
            append(e2e, &ours, &all.items[i]);
    return ours;
}

int64_t e2e_mark(struct e2e *e2e)
{
    struct e2e_requests all = read_log(e2e, 0);
    return all.count ? all.items[all.count - 1].id : 0;
}

struct wall_time e2e_request_time(struct e2e *e2e, int64_t id)
{
    struct e2e_requests all = read_log(e2e, id - 1);
    assert_true(all.count > 0 && all.items[0].id == id);
    return all.items[0].time;
}

static bool contains(struct str text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what));
}

/* A create names its object in the body only. */
static bool about_fence(const struct e2e_request *request)
{
    return contains(request->path, FENCE_MARK) ||
           (str_eq(request->method, STR("POST")) && contains(request->body, "\"name\":\"fence-"));
}

struct e2e_requests e2e_writes(struct e2e *e2e, int64_t since)
{
    struct e2e_requests all = e2e_requests(e2e, since), writes = { 0 };
    for (size_t i = 0; i < all.count; i++) {
        const struct e2e_request *request = &all.items[i];
        if (!str_eq(request->method, STR("GET")) && !str_ends_with(request->path, STR("/events")) &&
            !contains(request->path, "/leases") && !about_fence(request))
            append(e2e, &writes, request);
    }
    return writes;
}

struct e2e_requests e2e_select(struct e2e *e2e, struct e2e_requests all, const char *method,
                               const char *pattern)
{
    struct e2e_requests chosen = { 0 };
    for (size_t i = 0; i < all.count; i++) {
        const char *path = arena_str(&e2e->arena, all.items[i].path).ptr;
        if ((!method || str_eq(all.items[i].method, str_c(method))) &&
            fnmatch(pattern, path, FNM_PATHNAME) == 0)
            append(e2e, &chosen, &all.items[i]);
    }
    return chosen;
}

bool e2e_succeeded(const struct e2e_request *request)
{
    return request->code >= 200 && request->code < 300;
}

static bool same_write(const struct e2e_request *a, const struct e2e_request *b)
{
    return str_eq(a->method, b->method) && str_eq(a->path, b->path) && str_eq(a->body, b->body);
}

void e2e_assert_no_repeat(struct e2e_requests writes)
{
    for (size_t i = 0; i < writes.count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!e2e_succeeded(&writes.items[i]) || !e2e_succeeded(&writes.items[j]) ||
                !same_write(&writes.items[i], &writes.items[j]))
                continue;
            e2e_print_requests(writes);
            fail_msg("requests %lld and %lld wrote the same", (long long)writes.items[j].id,
                     (long long)writes.items[i].id);
        }
    }
}

void e2e_assert_writes(struct e2e *e2e, int64_t since, size_t count)
{
    struct e2e_requests writes = e2e_writes(e2e, since);
    if (writes.count == count)
        return;
    e2e_print_requests(writes);
    fail_msg("%zu writes, not %zu", writes.count, count);
}

void e2e_print_requests(struct e2e_requests requests)
{
    for (size_t i = 0; i < requests.count; i++) {
        const struct e2e_request *request = &requests.items[i];
        printf("#%lld " STR_FMT " " STR_FMT " %lld " STR_FMT "\n", (long long)request->id,
               STR_ARG(request->method), STR_ARG(request->path), (long long)request->code,
               STR_ARG(str_slice(request->body, 0, 400)));
    }
}
