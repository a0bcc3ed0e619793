#include "yaml/scalar.h"
#include "yaml/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct row {
    const char *text;
    const char *want; /* as JSON; NULL: an error */
} rows[] = {
    { "~", "null" },
    { "null", "null" },
    { "Null", "null" },
    { "NULL", "null" },
    { "nULL", "\"nULL\"" },
    { "true", "true" },
    { "True", "true" },
    { "TRUE", "true" },
    { "false", "false" },
    { "FALSE", "false" },
    { "yes", "\"yes\"" },
    { "No", "\"No\"" },
    { "on", "\"on\"" },
    { "off", "\"off\"" },
    { "y", "\"y\"" },
    { "0", "0" },
    { "12", "12" },
    { "+12", "12" },
    { "-12", "-12" },
    { "-0", "-0" },
    { "9223372036854775808", "9223372036854775808" },
    { "123456789012345678901234567890", "123456789012345678901234567890" },
    { "0644", "420" },
    { "-010", "-8" },
    { "00", "0" },
    { "089", "89" },
    { "01777777777777777777777", "18446744073709551615" },
    { "02000000000000000000000", "2000000000000000000000" },
    { "0o17", "15" },
    { "0o18", "\"0o18\"" },
    { "0o", "\"0o\"" },
    { "0x1F", "31" },
    { "-0x10", "-16" },
    { "0xffffffffffffffff", "18446744073709551615" },
    { "0x10000000000000000", "\"0x10000000000000000\"" },
    { "0xg", "\"0xg\"" },
    { "0x", "\"0x\"" },
    { "1.5", "1.5" },
    { "1.50", "1.50" },
    { "-1.0", "-1.0" },
    { ".5", "0.5" },
    { "+.5", "0.5" },
    { "-.5", "-0.5" },
    { "1.", "1" },
    { "1.e3", "1e3" },
    { "007.25", "7.25" },
    { "00.5", "0.5" },
    { "1e3", "1e3" },
    { "1E+400", "1E+400" },
    { "-2.5e-3", "-2.5e-3" },
    { ".", "\".\"" },
    { "+", "\"+\"" },
    { "1e", "\"1e\"" },
    { "1e+", "\"1e+\"" },
    { "e5", "\"e5\"" },
    { ".e5", "\".e5\"" },
    { "1.2.3", "\"1.2.3\"" },
    { "1_000", "\"1_000\"" },
    { "0b11", "\"0b11\"" },
    { "100m", "\"100m\"" },
    { "2Gi", "\"2Gi\"" },
    { "2026-07-24", "\"2026-07-24\"" },
    { "12:30:45", "\"12:30:45\"" },
    { "2026-07-24T08:00:00Z", "\"2026-07-24T08:00:00Z\"" },
    { ".inf", NULL },
    { "-.Inf", NULL },
    { "+.INF", NULL },
    { ".nan", NULL },
    { "-.nan", "\"-.nan\"" },
    { "inf", "\"inf\"" },
    { "a b", "\"a b\"" },
};

static void plain_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1024);
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    if (!row->want) {
        assert_false(kyaml_parse(&arena, str_c(row->text), NULL, &root, &err));
        assert_non_null(strstr(err.text, "line 1, column 1: infinity"));
    } else {
        assert_true(kyaml_parse(&arena, str_c(row->text), NULL, &root, &err));
        json_write(&out, root);
        assert_string_equal(strbuf_cstr(&out), row->want);
        /* Whatever became a number is one for a JSON reader as well. */
        assert_true(json_parse(&arena, strbuf_str(&out), NULL, &root, &err));
    }
    strbuf_done(&out);
    arena_done(&arena);
}

static void quoted_texts_are_strings(void **state)
{
    (void)state;
    static const char *const quotes[] = { "'%s'", "\"%s\"", "!!str %s" };
    for (size_t q = 0; q < ARRAY_LEN(quotes); q++) {
        struct arena arena = ARENA_INIT;
        struct err err = ERR_INIT;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct json *root = NULL;
            struct strbuf text = STRBUF_INIT(1024);
            strbuf_add(&text, str_slice(str_c(quotes[q]), 0, strlen(quotes[q]) - (q < 2 ? 3 : 2)));
            strbuf_add(&text, str_c(rows[i].text));
            strbuf_add(&text, q == 0 ? STR("'") : q == 1 ? STR("\"") : STR(""));
            assert_true(kyaml_parse(&arena, strbuf_str(&text), NULL, &root, &err));
            assert_true(json_is(root, JSON_STRING));
            assert_true(str_eq(root->text, str_c(rows[i].text)));
            strbuf_done(&text);
        }
        arena_done(&arena);
    }
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 1];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].text, plain_row, NULL, NULL, (void *)&rows[i] };
    tests[ARRAY_LEN(rows)] = (struct CMUnitTest)cmocka_unit_test(quoted_texts_are_strings);
    return cmocka_run_group_tests_name("yaml/scalar", tests, NULL, NULL);
}
