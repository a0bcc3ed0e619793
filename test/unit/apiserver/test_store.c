#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "test/apiserver/snapshot.h"
#include "test/apiserver/store.h"

struct fixture {
    struct as_store *store;
    struct as_bucket *bucket;
    struct arena arena;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    f->store = as_store_new(8);
    f->bucket = as_store_bucket(f->store, STR(""), STR("things"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    as_store_free(f->store);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static int64_t put(struct fixture *f, const char *key, const char *value)
{
    const struct json *tree;
    struct str namespace, name;
    str_cut(str_c(key), '/', &namespace, &name);
    struct str text = arena_strf(&f->arena,
                                 "{\"metadata\":{\"namespace\":\"" STR_FMT "\",\"name\":\"" STR_FMT
                                 "\",\"resourceVersion\":\"999\"},\"value\":\"%s\"}",
                                 STR_ARG(namespace), STR_ARG(name), value);
    assert_true(json_parse(&f->arena, text, NULL, &tree, NULL));
    return as_bucket_put(f->bucket, tree)->rv;
}

/* "ns/name=value ns/name=value" as it stood at `rv`. */
static struct str show(struct fixture *f, int64_t rv, const char *prefix)
{
    struct as_snapshot snapshot;
    struct as_snapshot_query query = { .rv = rv, .prefix = str_c(prefix) };
    struct str next;
    size_t remaining;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    as_snapshot_take(&snapshot, &f->arena, f->bucket, &query, &next, &remaining);
    for (size_t i = 0; i < snapshot.count; i++) {
        const struct json *tree = as_object_tree(&f->arena, snapshot.objects[i], NULL, 1);
        struct str value = json_str(json_get(tree, STR("value")));
        strbuf_addf(&out, "%s" STR_FMT "=" STR_FMT, i ? " " : "", STR_ARG(snapshot.objects[i]->key),
                    STR_ARG(value));
    }
    as_snapshot_done(&snapshot);
    return arena_str(&f->arena, strbuf_str(&out));
}

static void assert_shows(struct fixture *f, int64_t rv, const char *want)
{
    assert_string_equal(show(f, rv, "").ptr, want);
}

static void store__versions_grow_by_one_over_all_buckets(void **state)
{
    struct fixture *f = *state;
    int64_t first = put(f, "a/x", "1");
    assert_int_equal(put(f, "a/y", "1"), first + 1);
    assert_true(as_bucket_delete(f->bucket, STR("a/x")));
    assert_int_equal(as_store_rv(f->store), first + 2);
}

static void store__deleting_nothing_is_no_change(void **state)
{
    struct fixture *f = *state;
    assert_false(as_bucket_delete(f->bucket, STR("a/x")));
    assert_int_equal(f->bucket->window_count, 0);
}

static void store__stamps_the_version_into_the_text(void **state)
{
    struct fixture *f = *state;
    put(f, "a/x", "1");
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    struct as_type_meta type = { STR("v1"), STR("Thing") };
    as_object_write(&out, as_bucket_get(f->bucket, STR("a"), STR("x")), &type, 42);
    assert_string_equal(strbuf_cstr(&out),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"resourceVersion\":"
                        "\"42\",\"namespace\":\"a\",\"name\":\"x\"},\"value\":\"1\"}");
}

static void store__metadata_only_text_leaves_the_rest_out(void **state)
{
    struct fixture *f = *state;
    put(f, "a/x", "1");
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    as_object_write_metadata(&out, as_bucket_get(f->bucket, STR("a"), STR("x")), 42);
    assert_string_equal(strbuf_cstr(&out),
                        "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"
                        "{\"resourceVersion\":\"42\",\"namespace\":\"a\",\"name\":\"x\"}}");
}

static void store__window_forgets_the_oldest_and_raises_the_floor(void **state)
{
    struct fixture *f = *state;
    int64_t first = put(f, "a/x", "0");
    for (int i = 0; i < 8; i++)
        put(f, "a/x", "1");
    assert_int_equal(f->bucket->window_count, 8);
    assert_int_equal(f->bucket->floor, first);
    assert_int_equal(as_bucket_change(f->bucket, 0)->rv, first + 1);
    assert_int_equal(as_bucket_changes_after(f->bucket, first + 3), 3);
    assert_int_equal(as_bucket_changes_after(f->bucket, first + 100), 8);
}

static void store__compaction_forgets_everything(void **state)
{
    struct fixture *f = *state;
    put(f, "a/x", "0");
    as_store_compact(f->store);
    assert_int_equal(f->bucket->floor, as_store_rv(f->store));
    assert_int_equal(f->bucket->window_count, 0);
    assert_shows(f, as_store_rv(f->store), "a/x=0");
}

static void snapshot__undoes_changes_additions_and_deletions(void **state)
{
    struct fixture *f = *state;
    put(f, "a/x", "1");
    int64_t then = put(f, "a/y", "1");
    put(f, "a/x", "2");
    put(f, "a/x", "3");
    as_bucket_delete(f->bucket, STR("a/y"));
    put(f, "a/w", "1");
    put(f, "a/z", "1");
    assert_shows(f, then, "a/x=1 a/y=1");
    assert_shows(f, then + 1, "a/x=2 a/y=1");
    assert_shows(f, as_store_rv(f->store), "a/w=1 a/x=3 a/z=1");
}

static void snapshot__shows_what_was_deleted_and_made_again(void **state)
{
    struct fixture *f = *state;
    int64_t then = put(f, "a/x", "old");
    as_bucket_delete(f->bucket, STR("a/x"));
    put(f, "a/x", "new");
    assert_shows(f, then, "a/x=old");
    assert_shows(f, then + 1, "");
}

static void snapshot__orders_namespaces_as_etcd_does(void **state)
{
    struct fixture *f = *state;
    put(f, "a/x", "1");
    put(f, "a-b/x", "1");
    put(f, "b/x", "1");
    assert_shows(f, as_store_rv(f->store), "a-b/x=1 a/x=1 b/x=1");
    assert_string_equal(show(f, as_store_rv(f->store), "a/").ptr, "a/x=1");
}

static void snapshot__pages_name_the_next_key_and_count_the_rest(void **state)
{
    struct fixture *f = *state;
    const char *const keys[] = { "a/1", "a/2", "a/3", "b/1" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        put(f, keys[i], "v");
    struct as_snapshot page;
    struct as_snapshot_query query = { .rv = as_store_rv(f->store), .prefix = STR("a/"), .limit = 2 };
    struct str next;
    size_t remaining;
    as_snapshot_take(&page, &f->arena, f->bucket, &query, &next, &remaining);
    assert_int_equal(page.count, 2);
    assert_string_equal(next.ptr, "a/3");
    assert_int_equal(remaining, 1);
    as_snapshot_done(&page);
    query.from = next;
    as_snapshot_take(&page, &f->arena, f->bucket, &query, &next, &remaining);
    assert_int_equal(page.count, 1);
    assert_true(str_empty(next));
    as_snapshot_done(&page);
}

static void store__restored_objects_are_no_changes(void **state)
{
    struct fixture *f = *state;
    const struct json *tree;
    assert_true(json_parse(&f->arena, STR("{\"metadata\":{\"name\":\"x\"}}"), NULL, &tree, NULL));
    as_bucket_restore(f->bucket, tree, 70);
    assert_int_equal(f->bucket->window_count, 0);
    assert_int_equal(as_store_rv(f->store), 70);
    assert_int_equal(as_bucket_get(f->bucket, STR_NULL, STR("x"))->rv, 70);
    as_bucket_forget(f->bucket, STR("x"), 71);
    assert_null(as_bucket_get(f->bucket, STR_NULL, STR("x")));
    assert_int_equal(as_store_rv(f->store), 71);
}

static void count_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    int *count = self;
    (void)bucket;
    /* Writing while being told must not disturb what one is told. */
    if (++*count == 1)
        as_bucket_delete(bucket, change->after->key);
    assert_true(change->rv > 0);
}

static void store__observers_may_write(void **state)
{
    struct fixture *f = *state;
    int count = 0;
    as_store_observe(f->store, count_change, &count);
    put(f, "a/x", "1");
    assert_int_equal(count, 2);
    assert_null(as_bucket_get(f->bucket, STR("a"), STR("x")));
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(store__versions_grow_by_one_over_all_buckets),
        TEST(store__deleting_nothing_is_no_change),
        TEST(store__stamps_the_version_into_the_text),
        TEST(store__metadata_only_text_leaves_the_rest_out),
        TEST(store__window_forgets_the_oldest_and_raises_the_floor),
        TEST(store__compaction_forgets_everything),
        TEST(store__restored_objects_are_no_changes),
        TEST(store__observers_may_write),
        TEST(snapshot__undoes_changes_additions_and_deletions),
        TEST(snapshot__shows_what_was_deleted_and_made_again),
        TEST(snapshot__orders_namespaces_as_etcd_does),
        TEST(snapshot__pages_name_the_next_key_and_count_the_rest),
    };
    return cmocka_run_group_tests_name("apiserver/store", tests, NULL, NULL);
}
