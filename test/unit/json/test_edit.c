#include "json/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct arena arena;

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *parse(const char *text)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    assert_true(json_parse(&arena, str_c(text), NULL, &root, &err));
    return root;
}

static void assert_compact(const struct json *value, const char *want)
{
    struct strbuf out = STRBUF_INIT(1u << 20);
    json_write(&out, value);
    assert_string_equal(strbuf_cstr(&out), want);
    strbuf_done(&out);
}

static void a_tree_built_by_hand(void **state)
{
    (void)state;
    struct json *root = json_new(&arena, JSON_OBJECT), *list = json_new(&arena, JSON_ARRAY);
    json_push(&arena, list, json_new_i64(&arena, INT64_MIN));
    json_push(&arena, list, json_new_number(&arena, STR("1.50")));
    json_push(&arena, list, json_new(&arena, JSON_NULL));
    json_set(&arena, root, STR("list"), list);
    json_set(&arena, root, STR("s"), json_new_str(&arena, STR("x\"y")));
    json_set(&arena, root, STR("t"), json_new_bool(&arena, true));
    assert_compact(root, "{\"list\":[-9223372036854775808,1.50,null],\"s\":\"x\\\"y\",\"t\":true}");
}

static void texts_and_keys_are_copied(void **state)
{
    (void)state;
    char key[] = "key", text[] = "text";
    struct json *root = json_new(&arena, JSON_OBJECT);
    json_set(&arena, root, str_c(key), json_new_str(&arena, str_c(text)));
    key[0] = text[0] = '?';
    assert_compact(root, "{\"key\":\"text\"}");
}

static void setting_again_keeps_the_place(void **state)
{
    (void)state;
    struct json *root = json_copy(&arena, parse("{\"a\":1,\"b\":2,\"c\":3}"));
    json_set(&arena, root, STR("b"), json_new_i64(&arena, 9));
    assert_compact(root, "{\"a\":1,\"b\":9,\"c\":3}");
}

static void members_can_be_removed(void **state)
{
    (void)state;
    struct json *root = json_copy(&arena, parse("{\"a\":1,\"b\":2,\"c\":3}"));
    json_remove(root, STR("b"));
    json_remove(root, STR("nothing"));
    assert_compact(root, "{\"a\":1,\"c\":3}");
    json_remove(root, STR("a"));
    json_remove(root, STR("c"));
    assert_compact(root, "{}");
    json_set(&arena, root, STR("d"), json_new_i64(&arena, 4));
    assert_compact(root, "{\"d\":4}");
}

/* Growing is where room is computed from the count: go through many counts, with other
 * allocations between, with removals, and from copies of every size. */
static void containers_grow_from_any_size(void **state)
{
    (void)state;
    for (size_t start = 0; start < 40; start++) {
        struct json *array = json_new(&arena, JSON_ARRAY), *object = json_new(&arena, JSON_OBJECT);
        for (size_t i = 0; i < start; i++) {
            json_push(&arena, array, json_new_i64(&arena, (int64_t)i));
            json_set(&arena, object, arena_strf(&arena, "k%zu", i), json_new_i64(&arena, (int64_t)i));
        }
        array = json_copy(&arena, array);
        object = json_copy(&arena, object);
        if (start > 2)
            json_remove(object, STR("k1"));
        for (size_t i = start; i < start + 40; i++) {
            json_push(&arena, array, json_new_i64(&arena, (int64_t)i));
            json_set(&arena, object, arena_strf(&arena, "k%zu", i), json_new_i64(&arena, (int64_t)i));
        }
        assert_int_equal(array->array.count, start + 40);
        assert_int_equal(object->object.count, start + 40 - (start > 2 ? 1 : 0));
        for (size_t i = 0; i < start + 40; i++) {
            int64_t number = -1;
            assert_true(json_i64(array->array.items[i], &number));
            assert_int_equal(number, i);
            if (i == 1 && start > 2)
                continue;
            assert_true(json_i64(json_get(object, arena_strf(&arena, "k%zu", i)), &number));
            assert_int_equal(number, i);
        }
    }
}

static void a_copy_leaves_the_original_alone(void **state)
{
    (void)state;
    const struct json *original = parse("{\"a\":[1],\"b\":2}"), *list = parse("[1,2,3]");
    struct json *copy = json_copy(&arena, original), *copied_list = json_copy(&arena, list);
    json_set(&arena, copy, STR("a"), json_new_i64(&arena, 0));
    json_set(&arena, copy, STR("c"), json_new_i64(&arena, 3));
    json_push(&arena, copied_list, json_new_i64(&arena, 4));
    assert_compact(original, "{\"a\":[1],\"b\":2}");
    assert_compact(copy, "{\"a\":0,\"b\":2,\"c\":3}");
    assert_compact(list, "[1,2,3]");
    assert_compact(copied_list, "[1,2,3,4]");
    assert_compact(json_copy(&arena, parse("\"s\"")), "\"s\"");
    assert_compact(json_copy(&arena, parse("{}")), "{}");
}

/* --- merge patch --- */

static const struct row {
    const char *name;
    const char *target; /* NULL: absent */
    const char *patch;
    const char *want;
} rows[] = {
    { "merge_replaces_a_member_in_place", "{\"a\":1,\"b\":2}", "{\"a\":3}", "{\"a\":3,\"b\":2}" },
    { "merge_adds_a_member", "{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}" },
    { "jsn_2_merge_null_removes", "{\"a\":1,\"b\":2}", "{\"a\":null,\"z\":null}", "{\"b\":2}" },
    { "merge_goes_into_objects", "{\"a\":{\"x\":1,\"y\":2},\"b\":3}", "{\"a\":{\"x\":null,\"z\":4}}",
      "{\"a\":{\"y\":2,\"z\":4},\"b\":3}" },
    { "merge_replaces_arrays_whole", "{\"a\":[1,{\"b\":2}]}", "{\"a\":[{\"b\":null}]}",
      "{\"a\":[{\"b\":null}]}" },
    { "merge_of_a_scalar_replaces", "{\"a\":1}", "[1]", "[1]" },
    { "merge_of_null_replaces", "{\"a\":1}", "null", "null" },
    { "merge_object_over_a_scalar", "5", "{\"a\":1}", "{\"a\":1}" },
    { "merge_strips_nulls_from_new_objects", "{\"a\":\"s\"}",
      "{\"a\":{\"b\":1,\"c\":null,\"d\":{\"e\":null}}}", "{\"a\":{\"b\":1,\"d\":{}}}" },
    { "merge_onto_nothing", NULL, "{\"a\":{\"b\":null},\"c\":1}", "{\"a\":{},\"c\":1}" },
    { "merge_an_empty_patch", "{\"a\":1}", "{}", "{\"a\":1}" },
    { "merge_keeps_a_null_in_the_target", "{\"a\":null}", "{\"b\":1}", "{\"a\":null,\"b\":1}" },
};

static void merge_row(void **state)
{
    const struct row *row = *state;
    const struct json *target = row->target ? parse(row->target) : NULL, *patch = parse(row->patch);
    assert_compact(json_merge_patch(&arena, target, patch), row->want);
    if (target)
        assert_true(json_equal(target, parse(row->target)));
    assert_true(json_equal(patch, parse(row->patch)));
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    static const struct CMUnitTest singles[] = {
        TEST(a_tree_built_by_hand),          TEST(texts_and_keys_are_copied),
        TEST(setting_again_keeps_the_place), TEST(members_can_be_removed),
        TEST(containers_grow_from_any_size), TEST(a_copy_leaves_the_original_alone),
    };
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(singles)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, merge_row, NULL, teardown, (void *)&rows[i] };
    memcpy(tests + ARRAY_LEN(rows), singles, sizeof singles);
    return cmocka_run_group_tests_name("json/edit", tests, NULL, NULL);
}
