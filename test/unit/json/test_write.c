#include "json/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* --- strings --- */

static const struct row {
    const char *name;
    struct str text;
    const char *want;
} rows[] = {
    { "empty_string", STR_INIT(""), "\"\"" },
    { "plain_string", STR_INIT("a b/c<&>\x7f"), "\"a b/c<&>\x7f\"" },
    { "jsn_4_quote_and_backslash", STR_INIT("\"a\\\""), "\"\\\"a\\\\\\\"\"" },
    { "jsn_4_common_controls", STR_INIT("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"" },
    { "jsn_4_other_controls", STR_INIT("\x01\x1f\0z"), "\"\\u0001\\u001f\\u0000z\"" },
    { "utf8_stays", STR_INIT("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"),
      "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
    { "jsn_4_a_stray_byte_is_replaced",
      STR_INIT("a\xFF"
               "b"),
      "\"a\xEF\xBF\xBD"
      "b\"" },
    { "jsn_4_a_cut_sequence_is_replaced", STR_INIT("a\xE2\x82"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    { "jsn_4_an_overlong_form_is_replaced", STR_INIT("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    { "jsn_4_a_surrogate_is_replaced", STR_INIT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
};

static void string_row(void **state)
{
    const struct row *row = *state;
    struct strbuf out = STRBUF_INIT(1024);
    json_write_str(&out, row->text);
    assert_string_equal(strbuf_cstr(&out), row->want);
    strbuf_done(&out);
}

/* --- values --- */

static void assert_written(const char *text, const char *compact, const char *pretty)
{
    struct arena arena = ARENA_INIT;
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    struct strbuf out = STRBUF_INIT(1024);
    assert_true(json_parse(&arena, str_c(text), NULL, &root, &err));
    json_write(&out, root);
    assert_string_equal(strbuf_cstr(&out), compact);
    strbuf_clear(&out);
    json_write_pretty(&out, root);
    assert_string_equal(strbuf_cstr(&out), pretty);
    strbuf_done(&out);
    arena_done(&arena);
}

static void scalars_are_written_as_they_came(void **state)
{
    (void)state;
    assert_written(" 1.0 ", "1.0", "1.0");
    assert_written("-0", "-0", "-0");
    assert_written("1E400", "1E400", "1E400");
    assert_written("null", "null", "null");
    assert_written("true", "true", "true");
    assert_written("\"\\u0041\"", "\"A\"", "\"A\"");
}

static void containers_compact_and_pretty(void **state)
{
    (void)state;
    assert_written("[ ]", "[]", "[]");
    assert_written("{ }", "{}", "{}");
    assert_written("{\"a\" : [ 1 , {} , [ ] ] , \"b\" : { \"c\" : null } }",
                   "{\"a\":[1,{},[]],\"b\":{\"c\":null}}",
                   "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}");
}

static void what_does_not_fit_is_reported_by_the_buffer(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct json *array = json_new(&arena, JSON_ARRAY);
    for (int i = 0; i < 100; i++)
        json_push(&arena, array, json_new_i64(&arena, i));
    struct strbuf out = STRBUF_INIT(20);
    json_write(&out, array);
    assert_true(out.overflow);
    assert_true(out.len <= 20);
    strbuf_done(&out);
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 3];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, string_row, NULL, NULL, (void *)&rows[i] };
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(scalars_are_written_as_they_came),
        cmocka_unit_test(containers_compact_and_pretty),
        cmocka_unit_test(what_does_not_fit_is_reported_by_the_buffer),
    };
    memcpy(tests + ARRAY_LEN(rows), singles, sizeof singles);
    return cmocka_run_group_tests_name("json/write", tests, NULL, NULL);
}
