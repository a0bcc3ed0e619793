#include "base/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

static void cmp_is_bytewise_and_prefixes_sort_first(void **state)
{
    (void)state;
    assert_int_equal(str_cmp(STR("a"), STR("a")), 0);
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_true(str_cmp(STR_NULL, STR("a")) < 0);
    assert_int_equal(str_cmp(STR_NULL, STR("")), 0);
    assert_true(str_cmp(STR("\xFF"), STR("a")) > 0);
}

static void eq_nocase_folds_ascii_only(void **state)
{
    (void)state;
    assert_true(str_eq_nocase(STR("Content-Type"), STR("content-tYPE")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    assert_false(str_eq_nocase(STR("@"), STR("`")));
    assert_false(str_eq_nocase(STR("\xC3\x84"), STR("\xC3\xA4")));
    assert_true(str_eq_nocase(STR_NULL, STR("")));
}

static void starts_and_ends(void **state)
{
    (void)state;
    assert_true(str_starts_with(STR("abc"), STR("ab")));
    assert_true(str_starts_with(STR_NULL, STR_NULL));
    assert_false(str_starts_with(STR("a"), STR("ab")));
    assert_true(str_ends_with(STR("abc"), STR("bc")));
    assert_true(str_ends_with(STR("abc"), STR("")));
    assert_false(str_ends_with(STR("c"), STR("bc")));
}

static void trim_takes_blanks_off_both_ends(void **state)
{
    (void)state;
    assert_true(str_eq(str_trim(STR(" \t\r\na b\n ")), STR("a b")));
    assert_true(str_empty(str_trim(STR(" \n"))));
    assert_true(str_empty(str_trim(STR_NULL)));
    assert_true(str_eq(str_trim(STR("\v")), STR("\v")));
}

static void slice_is_clamped(void **state)
{
    (void)state;
    assert_true(str_eq(str_slice(STR("hello"), 1, 3), STR("ell")));
    assert_true(str_eq(str_slice(STR("hello"), 3, SIZE_MAX), STR("lo")));
    assert_true(str_empty(str_slice(STR("hello"), 9, 2)));
    assert_true(str_empty(str_slice(STR_NULL, 1, 1)));
}

static void find_byte(void **state)
{
    (void)state;
    assert_int_equal(str_find_byte(STR("a=b=c"), '='), 1);
    assert_int_equal(str_find_byte(STR("abc"), '='), -1);
    assert_int_equal(str_find_byte(STR_NULL, 'x'), -1);
    assert_int_equal(str_find_byte(STR("a\0b"), '\0'), 1);
}

static void cut_splits_at_the_first_separator(void **state)
{
    (void)state;
    struct str before, after;
    assert_true(str_cut(STR("a=b=c"), '=', &before, &after));
    assert_true(str_eq(before, STR("a")) && str_eq(after, STR("b=c")));
    assert_true(str_cut(STR("a="), '=', &before, &after));
    assert_true(str_eq(before, STR("a")) && str_empty(after));
    assert_false(str_cut(STR("abc"), '=', &before, &after));
    assert_true(str_eq(before, STR("abc")) && str_empty(after));
}

static void cut_may_write_into_its_input(void **state)
{
    (void)state;
    struct str rest = STR("a,b,c"), item;
    str_cut(rest, ',', &item, &rest);
    assert_true(str_eq(item, STR("a")) && str_eq(rest, STR("b,c")));
}

static const struct number_row {
    const char *name;
    struct str text;
    bool ok;
    int64_t want;
} number_rows[] = {
    { "to_i64: zero", STR_INIT("0"), true, 0 },
    { "to_i64: minus zero", STR_INIT("-0"), true, 0 },
    { "to_i64: plus sign", STR_INIT("+17"), true, 17 },
    { "to_i64: leading zeros", STR_INIT("0017"), true, 17 },
    { "to_i64: largest", STR_INIT("9223372036854775807"), true, INT64_MAX },
    { "to_i64: smallest", STR_INIT("-9223372036854775808"), true, INT64_MIN },
    { "to_i64: one too large", STR_INIT("9223372036854775808"), false, 0 },
    { "to_i64: one too small", STR_INIT("-9223372036854775809"), false, 0 },
    { "to_i64: far too large", STR_INIT("99999999999999999999999"), false, 0 },
    { "to_i64: empty", STR_INIT(""), false, 0 },
    { "to_i64: sign only", STR_INIT("-"), false, 0 },
    { "to_i64: two signs", STR_INIT("+-1"), false, 0 },
    { "to_i64: leading blank", STR_INIT(" 1"), false, 0 },
    { "to_i64: trailing letter", STR_INIT("1k"), false, 0 },
    { "to_i64: fraction", STR_INIT("1.0"), false, 0 },
    { "to_i64: hexadecimal", STR_INIT("0x10"), false, 0 },
    { "to_i64: embedded nul", STR_INIT("1\0002"), false, 0 },
};

static void to_i64_row(void **state)
{
    const struct number_row *row = *state;
    int64_t got = 4711;
    assert_int_equal(str_to_i64(row->text, &got), row->ok);
    assert_int_equal(got, row->ok ? row->want : 4711);
}

static const struct utf8_row {
    const char *name;
    struct str text;
    size_t want; /* of the first character; 0 when invalid */
} utf8_rows[] = {
    { "utf8: ascii", STR_INIT("a"), 1 },
    { "utf8: nul", STR_INIT("\0"), 1 },
    { "utf8: two bytes", STR_INIT("\xC2\x80"), 2 },
    { "utf8: three bytes", STR_INIT("\xE0\xA0\x80"), 3 },
    { "utf8: last before the surrogates", STR_INIT("\xED\x9F\xBF"), 3 },
    { "utf8: first after the surrogates", STR_INIT("\xEE\x80\x80"), 3 },
    { "utf8: four bytes", STR_INIT("\xF0\x90\x80\x80"), 4 },
    { "utf8: largest", STR_INIT("\xF4\x8F\xBF\xBF"), 4 },
    { "utf8: beyond the largest", STR_INIT("\xF4\x90\x80\x80"), 0 },
    { "utf8: F5 starts nothing", STR_INIT("\xF5\x80\x80\x80"), 0 },
    { "utf8: overlong nul", STR_INIT("\xC0\x80"), 0 },
    { "utf8: overlong slash", STR_INIT("\xC1\xAF"), 0 },
    { "utf8: overlong in three", STR_INIT("\xE0\x9F\xBF"), 0 },
    { "utf8: overlong in four", STR_INIT("\xF0\x8F\xBF\xBF"), 0 },
    { "utf8: first surrogate", STR_INIT("\xED\xA0\x80"), 0 },
    { "utf8: last surrogate", STR_INIT("\xED\xBF\xBF"), 0 },
    { "utf8: lone continuation", STR_INIT("\x80"), 0 },
    { "utf8: FF", STR_INIT("\xFF"), 0 },
    { "utf8: cut after one of two", STR_INIT("\xC2"), 0 },
    { "utf8: cut after two of three", STR_INIT("\xE2\x82"), 0 },
    { "utf8: cut after three of four", STR_INIT("\xF0\x9F\x98"), 0 },
    { "utf8: letter instead of continuation", STR_INIT("\xE2\x82z"), 0 },
};

static void utf8_row(void **state)
{
    const struct utf8_row *row = *state;
    assert_int_equal(str_utf8_len(row->text), row->want);
    assert_int_equal(str_is_utf8(row->text), row->want != 0);
}

static void utf8_of_whole_texts(void **state)
{
    (void)state;
    assert_true(str_is_utf8(STR_NULL));
    assert_int_equal(str_utf8_len(STR_NULL), 0);
    assert_true(str_is_utf8(STR("gr\xC3\xBC\xC3\x9F dich \xF0\x9F\x98\x80")));
    assert_false(str_is_utf8(STR("fine until here \xC3")));
}

static void hash_has_the_published_values(void **state)
{
    (void)state;
    assert_true(str_hash(STR("")) == UINT64_C(0xcbf29ce484222325));
    assert_true(str_hash(STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(str_hash(STR("foobar")) == UINT64_C(0x85944171f73967e8));
}

static void dup_c_ends_with_nul(void **state)
{
    (void)state;
    char *copy = str_dup_c(str_slice(STR("hello"), 0, 4)), *empty = str_dup_c(STR_NULL);
    assert_string_equal(copy, "hell");
    assert_string_equal(empty, "");
    free(copy);
    free(empty);
}

static void str_c_of_null_is_empty(void **state)
{
    (void)state;
    assert_true(str_empty(str_c(NULL)));
    assert_int_equal(str_c("abc").len, 3);
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(cmp_is_bytewise_and_prefixes_sort_first),
        cmocka_unit_test(eq_nocase_folds_ascii_only),
        cmocka_unit_test(starts_and_ends),
        cmocka_unit_test(trim_takes_blanks_off_both_ends),
        cmocka_unit_test(slice_is_clamped),
        cmocka_unit_test(find_byte),
        cmocka_unit_test(cut_splits_at_the_first_separator),
        cmocka_unit_test(cut_may_write_into_its_input),
        cmocka_unit_test(utf8_of_whole_texts),
        cmocka_unit_test(hash_has_the_published_values),
        cmocka_unit_test(dup_c_ends_with_nul),
        cmocka_unit_test(str_c_of_null_is_empty),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(number_rows) + ARRAY_LEN(utf8_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(number_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ number_rows[i].name, to_i64_row, NULL, NULL, (void *)&number_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(utf8_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ utf8_rows[i].name, utf8_row, NULL, NULL, (void *)&utf8_rows[i] };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
