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

static void members_are_found_by_name(void **state)
{
    (void)state;
    const struct json *root = parse("{\"a\":{\"b\":{\"c\":\"x\"}},\"n\":5}");
    assert_true(str_eq(json_str(json_path(root, "a", "b", "c", NULL)), STR("x")));
    assert_ptr_equal(json_path(root, NULL), root);
    assert_null(json_path(root, "a", "z", "c", NULL));
    assert_null(json_path(root, "n", "b", NULL));
    assert_null(json_get(root, STR("A")));
}

static void without_a_value_every_question_has_an_answer(void **state)
{
    (void)state;
    int64_t number = 7;
    assert_null(json_get(NULL, STR("a")));
    assert_null(json_get_nocase(NULL, STR("a")));
    assert_null(json_path(NULL, "a", NULL));
    assert_false(json_is(NULL, JSON_NULL));
    assert_true(str_empty(json_str(NULL)));
    assert_false(json_i64(NULL, &number));
    assert_int_equal(number, 7);
    assert_false(json_bool(NULL));
    assert_int_equal(json_count(NULL), 0);
    assert_true(json_equal(NULL, NULL));
    assert_false(json_equal(NULL, parse("null")));
}

static void values_of_another_type_give_nothing(void **state)
{
    (void)state;
    const struct json *text = parse("\"5\""), *number = parse("5");
    int64_t out;
    assert_false(json_i64(text, &out));
    assert_true(str_empty(json_str(number)));
    assert_false(json_bool(parse("1")));
    assert_false(json_bool(parse("\"true\"")));
    assert_int_equal(json_count(text), 0);
    assert_null(json_get(parse("[1]"), STR("0")));
}

static void exact_names_win_over_other_cases(void **state)
{
    (void)state;
    const struct json *root = parse("{\"key\":1,\"KEY\":2,\"kEy\":3}");
    assert_true(str_eq(json_get_nocase(root, STR("key"))->text, STR("1")));
    assert_true(str_eq(json_get_nocase(root, STR("KEY"))->text, STR("2")));
    assert_true(str_eq(json_get_nocase(root, STR("Key"))->text, STR("3")));
    assert_null(json_get_nocase(root, STR("ke")));
}

static const struct number_row {
    const char *text;
    bool ok;
    int64_t want;
} numbers[] = {
    { "0", true, 0 },
    { "-0", true, 0 },
    { "9223372036854775807", true, INT64_MAX },
    { "-9223372036854775808", true, INT64_MIN },
    { "9223372036854775808", false, 0 },
    { "-9223372036854775809", false, 0 },
    { "1.0", false, 0 },
    { "1e2", false, 0 },
    { "1e400", false, 0 },
};

static void t_10_plain_integers_of_64_bits_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        int64_t got = 0;
        assert_int_equal(json_i64(parse(numbers[i].text), &got), numbers[i].ok);
        assert_int_equal(got, numbers[i].want);
    }
}

static const struct equal_row {
    const char *a, *b;
    bool want;
} equals[] = {
    { "{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [ true , null ] , \"a\" : 1 }", true },
    { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
    { "{\"a\":1}", "{\"a\":1.0}", false },
    { "{\"a\":1}", "{\"b\":1}", false },
    { "[1,2]", "[2,1]", false },
    { "[1]", "[1,1]", false },
    { "\"1\"", "1", false },
    { "true", "false", false },
    { "\"\\u0061\"", "\"a\"", true },
    { "{\"a\":{\"x\":1,\"y\":2},\"b\":3}", "{\"b\":3,\"a\":{\"y\":2,\"x\":1}}", true },
    { "{\"a\":{\"x\":1,\"y\":2},\"b\":3}", "{\"b\":3,\"a\":{\"y\":2,\"x\":2}}", false },
    { "{}", "[]", false },
};

static void equality_ignores_the_order_of_members_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(equals); i++) {
        assert_int_equal(json_equal(parse(equals[i].a), parse(equals[i].b)), equals[i].want);
        assert_int_equal(json_equal(parse(equals[i].b), parse(equals[i].a)), equals[i].want);
    }
}

static void large_objects_compare_in_any_order(void **state)
{
    (void)state;
    struct json *up = json_new(&arena, JSON_OBJECT), *down = json_new(&arena, JSON_OBJECT);
    for (int i = 0; i < 500; i++) {
        json_set(&arena, up, arena_strf(&arena, "k%d", i), json_new_i64(&arena, i));
        json_set(&arena, down, arena_strf(&arena, "k%d", 499 - i), json_new_i64(&arena, 499 - i));
    }
    assert_true(json_equal(up, down));
    json_set(&arena, down, STR("k250"), json_new_i64(&arena, -1));
    assert_false(json_equal(up, down));
}

static void types_have_names(void **state)
{
    (void)state;
    assert_string_equal(json_type_name(JSON_NULL), "null");
    assert_string_equal(json_type_name(JSON_OBJECT), "object");
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(members_are_found_by_name),
        TEST(without_a_value_every_question_has_an_answer),
        TEST(values_of_another_type_give_nothing),
        TEST(exact_names_win_over_other_cases),
        TEST(t_10_plain_integers_of_64_bits_and_nothing_else),
        TEST(equality_ignores_the_order_of_members_only),
        TEST(large_objects_compare_in_any_order),
        TEST(types_have_names),
    };
    return cmocka_run_group_tests_name("json/json", tests, NULL, NULL);
}
