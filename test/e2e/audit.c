#include "audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rfc3339.h"

#define LOG_MAX ((size_t)1024 * 1024 * 1024)

const char *audit_cluster_dir(void)
{
    const char *dir = getenv("KOORD_TEST_CLUSTER_DIR");
    return dir && *dir ? dir : NULL;
}

static const char *log_path(struct e2e *e2e)
{
    return arena_strf(&e2e->arena, "%s/audit.log", audit_cluster_dir()).ptr;
}

void audit_begin(struct e2e *e2e)
{
    struct stat seen;
    if (audit_cluster_dir())
        e2e->audit_offset = stat(log_path(e2e), &seen) == 0 ? (long)seen.st_size : 0;
}

static void read_rest(struct e2e *e2e, struct strbuf *text)
{
    char piece[64 * 1024];
    const char *path = log_path(e2e);
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, e2e->audit_offset, SEEK_SET) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    for (size_t len; (len = fread(piece, 1, sizeof piece, file)) > 0;)
        strbuf_add(text, (struct str){ piece, len });
    fclose(file);
}

static struct str method_of(struct str verb)
{
    static const struct {
        struct str verb, method;
    } rows[] = {
        { STR_INIT("create"), STR_INIT("POST") },
        { STR_INIT("update"), STR_INIT("PUT") },
        { STR_INIT("patch"), STR_INIT("PATCH") },
        { STR_INIT("delete"), STR_INIT("DELETE") },
        { STR_INIT("deletecollection"), STR_INIT("DELETE") },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].verb, verb))
            return rows[i].method;
    return STR("GET");
}

static struct str body_of(struct e2e *e2e, const struct json *entry)
{
    const struct json *body = json_get(entry, STR("requestObject"));
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)16 * 1024 * 1024);
    if (!body)
        return STR_NULL;
    json_write(&text, body);
    return arena_str(&e2e->arena, strbuf_str(&text));
}

static struct e2e_request read_entry(struct e2e *e2e, struct str line, int64_t id)
{
    const struct json *entry = NULL;
    struct err err = ERR_INIT;
    struct e2e_request request = { .id = id };
    if (!json_parse(&e2e->arena, arena_str(&e2e->arena, line), NULL, &entry, &err))
        fail_msg("audit log: %s", err.text);
    str_cut(json_str(json_get(entry, STR("requestURI"))), '?', &request.path, &request.query);
    request.method = method_of(json_str(json_get(entry, STR("verb"))));
    request.user = json_str(json_path(entry, "user", "username", NULL));
    request.agent = json_str(json_get(entry, STR("userAgent")));
    request.body = body_of(e2e, entry);
    struct str time = json_str(json_get(entry, STR("requestReceivedTimestamp")));
    if (!json_i64(json_path(entry, "responseStatus", "code", NULL), &request.code) ||
        !rfc3339_parse(time, &request.time, &err))
        fail_msg("audit log: " STR_FMT, STR_ARG(line));
    return request;
}

struct e2e_requests audit_read(struct e2e *e2e, int64_t since)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(LOG_MAX);
    struct e2e_requests all = { 0 };
    read_rest(e2e, &text);
    struct str rest = strbuf_str(&text), line;
    /* A line without an end is still being written. */
    for (int64_t id = 1; str_cut(rest, '\n', &line, &rest); id++) {
        if (id <= since)
            continue;
        size_t size = sizeof *all.items;
        all.items = arena_grow(&e2e->arena, all.items, all.count * size, (all.count + 1) * size);
        all.items[all.count++] = read_entry(e2e, line, id);
    }
    return all;
}
