#include "test/apiserver/faults.h"

#include <stdlib.h>

#include "json/decode.h"

static void copy_texts(struct arena *arena, struct apiserver_fault *fault)
{
    struct str *texts[] = { &fault->method,  &fault->path,         &fault->reason,
                            &fault->message, &fault->content_type, &fault->body };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i]->len)
            *texts[i] = arena_str(arena, *texts[i]);
}

static void row_free(struct as_fault_row *row)
{
    if (row->has_path)
        regfree(&row->path);
    arena_done(&row->arena);
    free(row);
}

bool as_faults_add(struct as_faults *faults, const struct apiserver_fault *fault, int64_t *ret_id,
                   struct err *err)
{
    struct as_fault_row *row = mem_zalloc(sizeof *row);
    row->fault = *fault;
    copy_texts(&row->arena, &row->fault);
    if (row->fault.count == 0)
        row->fault.count = 1;
    if (fault->path.len) {
        int code = regcomp(&row->path, row->fault.path.ptr, REG_EXTENDED | REG_NOSUB);
        if (code) {
            char text[128];
            regerror(code, &row->path, text, sizeof text);
            row_free(row);
            return err_set(err, ERR_INVALID, "fault path: %s", text);
        }
        row->has_path = true;
    }
    row->id = ++faults->next_id;
    struct as_fault_row **end = &faults->rows;
    while (*end)
        end = &(*end)->next;
    *end = row;
    *ret_id = row->id;
    return true;
}

void as_faults_clear(struct as_faults *faults)
{
    while (faults->rows) {
        struct as_fault_row *next = faults->rows->next;
        row_free(faults->rows);
        faults->rows = next;
    }
}

bool as_faults_remove(struct as_faults *faults, int64_t id)
{
    for (struct as_fault_row **at = &faults->rows; *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            struct as_fault_row *row = *at;
            *at = row->next;
            row_free(row);
            return true;
        }
    }
    return false;
}

static bool row_matches(const struct as_fault_row *row, struct str method, const char *target)
{
    if (row->fault.method.len && !str_eq(row->fault.method, method))
        return false;
    return !row->has_path || regexec(&row->path, target, 0, NULL, 0) == 0;
}

bool as_faults_match(struct as_faults *faults, struct arena *arena, struct str method, struct str path,
                     struct str query, struct apiserver_fault *ret)
{
    if (!faults->rows)
        return false;
    const char *target =
        arena_strf(arena, STR_FMT "%s" STR_FMT, STR_ARG(path), query.len ? "?" : "", STR_ARG(query)).ptr;
    for (struct as_fault_row *row = faults->rows; row; row = row->next) {
        if ((row->fault.count >= 0 && row->hits >= row->fault.count) || !row_matches(row, method, target))
            continue;
        if (row->seen++ < row->fault.skip)
            continue;
        row->hits++;
        *ret = row->fault;
        copy_texts(arena, ret);
        return true;
    }
    return false;
}

static const struct json_field fault_fields[] = {
    JSON_FIELD_STR(struct apiserver_fault, method, "method"),
    JSON_FIELD_STR(struct apiserver_fault, path, "path"),
    JSON_FIELD_I64(struct apiserver_fault, skip, "skip"),
    JSON_FIELD_I64(struct apiserver_fault, count, "count"),
    JSON_FIELD_I64(struct apiserver_fault, delay_ms, "delayMs"),
    JSON_FIELD_BOOL(struct apiserver_fault, hang, "hang"),
    JSON_FIELD_OPT_I64(struct apiserver_fault, code, "code"),
    JSON_FIELD_STR(struct apiserver_fault, reason, "reason"),
    JSON_FIELD_STR(struct apiserver_fault, message, "message"),
    JSON_FIELD_BOOL(struct apiserver_fault, no_status, "noStatus"),
    JSON_FIELD_OPT_I64(struct apiserver_fault, retry_after_s, "retryAfter"),
    JSON_FIELD_STR(struct apiserver_fault, content_type, "contentType"),
    JSON_FIELD_STR(struct apiserver_fault, body, "body"),
    JSON_FIELD_OPT_I64(struct apiserver_fault, cut_after, "cutAfter"),
    JSON_FIELD_OPT_I64(struct apiserver_fault, stall_after, "stallAfter"),
    JSON_FIELD_I64(struct apiserver_fault, dribble_bytes, "dribbleBytes"),
    JSON_FIELD_I64(struct apiserver_fault, dribble_interval_ms, "dribbleIntervalMs"),
    JSON_FIELD_OPT_I64(struct apiserver_fault, error_code, "errorCode"),
    JSON_FIELD_I64(struct apiserver_fault, error_after, "errorAfter"),
    JSON_FIELD_BOOL(struct apiserver_fault, drop_bookmarks, "dropBookmarks"),
    JSON_FIELD_BOOL(struct apiserver_fault, duplicate_events, "duplicateEvents"),
};
static const struct json_table fault_table = JSON_TABLE(struct apiserver_fault, fault_fields);

struct mismatch {
    struct arena *arena;
    struct str text;
};

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct mismatch *mismatch = self;
    mismatch->text =
        arena_strf(mismatch->arena, STR_FMT ": " STR_FMT ": %s", STR_ARG(path), STR_ARG(value), message);
}

/* A misspelt fault would make a test pass for the wrong reason. */
static bool check_names(const struct json *tree, struct err *err)
{
    for (size_t i = 0; i < json_count(tree); i++) {
        bool known = false;
        for (size_t f = 0; f < ARRAY_LEN(fault_fields); f++)
            known |= str_eq(tree->object.members[i].key, str_c(fault_fields[f].name));
        if (!known)
            return err_set(err, ERR_INVALID, "unknown fault field " STR_FMT,
                           STR_ARG(tree->object.members[i].key));
    }
    return true;
}

bool as_fault_from_json(struct arena *arena, struct str text, struct apiserver_fault *ret, struct err *err)
{
    struct mismatch mismatch = { .arena = arena };
    struct json_decode_options options = { .report = { on_mismatch, &mismatch } };
    const struct json *tree;
    *ret = (struct apiserver_fault){ 0 };
    if (!json_parse(arena, text, NULL, &tree, err))
        return false;
    if (!json_is(tree, JSON_OBJECT))
        return err_set(err, ERR_INVALID, "a fault is a JSON object");
    if (!check_names(tree, err) || !json_decode_tree(arena, tree, &fault_table, ret, &options, err))
        return false;
    if (mismatch.text.len)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(mismatch.text));
    return true;
}

const struct json *as_faults_json(struct arena *arena, const struct as_faults *faults)
{
    struct json *list = json_new(arena, JSON_ARRAY);
    for (const struct as_fault_row *row = faults->rows; row; row = row->next) {
        struct json *item = json_new(arena, JSON_OBJECT);
        json_set(arena, item, STR("id"), json_new_i64(arena, row->id));
        json_set(arena, item, STR("method"), json_new_str(arena, row->fault.method));
        json_set(arena, item, STR("path"), json_new_str(arena, row->fault.path));
        json_set(arena, item, STR("seen"), json_new_i64(arena, row->seen));
        json_set(arena, item, STR("hits"), json_new_i64(arena, row->hits));
        json_push(arena, list, item);
    }
    return list;
}
