#include "kube/expectations.h"

#include <stdlib.h>

#include "base/arena.h"
#include "kube/runtime.h"

#define uthash_fatal(message) abort()
#include <uthash.h>

#define PATIENCE_MS (10 * 1000)
#define FIRST_RECHECK_MS 20

struct expectation {
    UT_hash_handle hh;
    const struct kube_kind *kind;
    enum write_verb verb;
    struct mono_time since;
    char *ns;
    char *name;
    char *rv;  /* of the written object */
    char *uid; /* of the object that was deleted */
    size_t key_len;
    char key[];
};

struct expectations {
    struct expectation *all;
};

struct expectations *expectations_new(void)
{
    return mem_zalloc(sizeof(struct expectations));
}

static void forget(struct expectations *expected, struct expectation *one)
{
    HASH_DELETE(hh, expected->all, one);
    free(one->ns);
    free(one->name);
    free(one->rv);
    free(one->uid);
    free(one);
}

void expectations_free(struct expectations *expected)
{
    if (!expected)
        return;
    struct expectation *one, *next;
    HASH_ITER(hh, expected->all, one, next)
    {
        forget(expected, one);
    }
    free(expected);
}

static struct expectation *find(const struct expectations *expected, struct str key)
{
    struct expectation *one;
    HASH_FIND(hh, expected->all, key.ptr, key.len, one);
    return one;
}

/* The answer to a write is the whole object; only its metadata matters here. */
struct written_object {
    struct meta meta;
};
static const struct json_field written_fields[] = {
    JSON_FIELD_OBJECT(struct written_object, meta, "metadata", &meta_table),
};
static const struct json_table written_table = JSON_TABLE(struct written_object, written_fields);

void expectations_set(struct expectations *expected, struct str key, const struct write *write,
                      struct str body, struct mono_time now)
{
    struct expectation *old = find(expected, key);
    if (old)
        forget(expected, old);
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct written_object object = { 0 };
    bool gone = write->verb == WRITE_DELETE;
    if (!gone &&
        (!json_decode(&arena, body, &written_table, &object, NULL, NULL) || str_empty(object.meta.rv)))
        return;
    if (gone && str_empty(write->uid))
        return;
    struct expectation *one = mem_zalloc(sizeof *one + key.len);
    one->kind = write->kind;
    one->verb = write->verb;
    one->since = now;
    one->ns = str_dup_c(write->ns);
    one->name = str_dup_c(write->name);
    one->rv = str_dup_c(object.meta.rv);
    one->uid = str_dup_c(write->uid);
    one->key_len = key.len;
    memcpy(one->key, key.ptr, key.len);
    HASH_ADD_KEYPTR(hh, expected->all, one->key, one->key_len, one);
}

const struct kube_kind *expectations_kind(const struct expectations *expected, struct str key)
{
    const struct expectation *one = find(expected, key);
    return one ? one->kind : NULL;
}

static bool has_uid(const struct kube_object *object, struct str uid)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(512);
    kube_object_uid(object, &text);
    return str_eq(strbuf_str(&text), uid);
}

/* What was patched stood in the cache; if it no longer does, somebody deleted it later. */
static bool shown(const struct expectation *one, const struct kube_object *object)
{
    if (!object)
        return one->verb != WRITE_CREATE;
    if (one->verb == WRITE_DELETE)
        return !has_uid(object, str_c(one->uid));
    enum rv_order order = rv_compare(kube_object_rv(object), str_c(one->rv));
    return order == RV_EQUAL || order == RV_GREATER;
}

bool expectations_met(struct expectations *expected, struct str key, const struct store *store,
                      struct mono_time now)
{
    struct expectation *one = find(expected, key);
    if (!one)
        return true;
    if (!shown(one, store_get(store, str_c(one->ns), str_c(one->name))) &&
        mono_ms_between(one->since, now) < PATIENCE_MS)
        return false;
    forget(expected, one);
    return true;
}

int64_t expectations_recheck_ms(const struct expectations *expected, struct str key, struct mono_time now)
{
    const struct expectation *one = find(expected, key);
    if (!one)
        return 1;
    int64_t age = mono_ms_between(one->since, now);
    return max_i64(1, min_i64(max_i64(FIRST_RECHECK_MS, age), PATIENCE_MS - age));
}

size_t expectations_count(const struct expectations *expected)
{
    return HASH_COUNT(expected->all);
}
