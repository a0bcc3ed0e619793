#include "base/duration.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static const struct parse_row {
    const char *name;
    struct str text;
    bool ok;
    int64_t want_ns;
} parse_rows[] = {
    { "t_87 duration: 5m0s", STR_INIT("5m0s"), true, 5 * MINUTE },
    { "t_87 duration: a fraction of an hour", STR_INIT("1.5h"), true, 90 * MINUTE },
    { "t_87 duration: a fraction without a whole part", STR_INIT(".5s"), true, SECOND / 2 },
    { "t_87 duration: 0 needs no unit", STR_INIT("0"), true, 0 },
    { "t_87 duration: 5 needs a unit", STR_INIT("5"), false, 0 },
    { "t_87 duration: days are no unit", STR_INIT("1d"), false, 0 },
    { "t_87 duration: empty", STR_INIT(""), false, 0 },
    { "t_87 duration: ns", STR_INIT("7ns"), true, 7 },
    { "t_87 duration: us", STR_INIT("7us"), true, 7000 },
    { "t_87 duration: micro sign", STR_INIT("7\xC2\xB5s"), true, 7000 },
    { "t_87 duration: Greek mu", STR_INIT("7\xCE\xBCs"), true, 7000 },
    { "t_87 duration: ms", STR_INIT("7ms"), true, 7000000 },
    { "t_87 duration: s", STR_INIT("7s"), true, 7 * SECOND },
    { "t_87 duration: m", STR_INIT("7m"), true, 7 * MINUTE },
    { "t_87 duration: h", STR_INIT("7h"), true, 7 * HOUR },
    { "duration: signs", STR_INIT("-1h30m"), true, -90 * MINUTE },
    { "duration: plus", STR_INIT("+3s"), true, 3 * SECOND },
    { "duration: signed zero", STR_INIT("-0"), true, 0 },
    { "duration: a whole part with a bare point", STR_INIT("2.s"), true, 2 * SECOND },
    { "duration: units in any order, repeated", STR_INIT("1s1h1s"), true, HOUR + 2 * SECOND },
    { "duration: every unit", STR_INIT("1h2m3s4ms5us6ns"), true, HOUR + 2 * MINUTE + 3 * SECOND + 4005006 },
    { "duration: below a nanosecond is cut off", STR_INIT("1.9ns"), true, 1 },
    { "duration: a third of an hour rounds as in Go", STR_INIT("0.3333333333333333333h"), true, 20 * MINUTE },
    { "duration: endless digits of a fraction", STR_INIT("0.10000000000000000000000000000000009s"), true,
      SECOND / 10 },
    { "duration: largest", STR_INIT("9223372036854775807ns"), true, INT64_MAX },
    { "duration: smallest", STR_INIT("-9223372036854775808ns"), true, INT64_MIN },
    { "duration: smallest, written out", STR_INIT("-2562047h47m16.854775808s"), true, INT64_MIN },
    { "duration: one too large", STR_INIT("9223372036854775808ns"), false, 0 },
    { "duration: one too small", STR_INIT("-9223372036854775809ns"), false, 0 },
    { "duration: too large by the sum", STR_INIT("2562047h47m16.854775808s"), false, 0 },
    { "duration: too large by the unit", STR_INIT("2562048h"), false, 0 },
    { "duration: wraps around twice", STR_INIT("2562047h2562047h2562047h2562047h2562047h"), false, 0 },
    { "duration: too many digits", STR_INIT("99999999999999999999ns"), false, 0 },
    { "duration: sign alone", STR_INIT("-"), false, 0 },
    { "duration: unit alone", STR_INIT("s"), false, 0 },
    { "duration: point alone", STR_INIT(".s"), false, 0 },
    { "duration: two points", STR_INIT("1..5s"), false, 0 },
    { "duration: blanks", STR_INIT("1h 30m"), false, 0 },
    { "duration: leading blank", STR_INIT(" 1s"), false, 0 },
    { "duration: trailing digits", STR_INIT("1h30"), false, 0 },
    { "duration: sign inside", STR_INIT("1h-30m"), false, 0 },
    { "duration: capital unit", STR_INIT("1H"), false, 0 },
    { "duration: 00 is not 0", STR_INIT("00"), false, 0 },
    { "duration: embedded nul", STR_INIT("1s\0"), false, 0 },
    { "duration: half a micro sign", STR_INIT("1\xC2s"), false, 0 },
};

static void parse_row(void **state)
{
    const struct parse_row *row = *state;
    struct err err = ERR_INIT;
    int64_t got = 4711;
    assert_int_equal(duration_parse(row->text, &got, &err), row->ok);
    assert_int_equal(got, row->ok ? row->want_ns : 4711);
    assert_int_equal(err.kind, row->ok ? ERR_NONE : ERR_INVALID);
}

static const struct format_row {
    const char *name;
    int64_t ns;
    const char *want;
} format_rows[] = {
    { "format: zero", 0, "0s" },
    { "format: nanoseconds", 1, "1ns" },
    { "format: up to the next unit", 999, "999ns" },
    { "format: microseconds", 1000, "1\xC2\xB5s" },
    { "format: fraction of a microsecond", 1100, "1.1\xC2\xB5s" },
    { "format: milliseconds", 100000000, "100ms" },
    { "format: fraction of a millisecond", 2200001, "2.200001ms" },
    { "format: one second", SECOND, "1s" },
    { "format: t_87 1.5s", SECOND * 3 / 2, "1.5s" },
    { "format: t_87 5m0s", 5 * MINUTE, "5m0s" },
    { "format: t_87 1h0m0s", HOUR, "1h0m0s" },
    { "format: minutes beside hours", HOUR + 30 * MINUTE, "1h30m0s" },
    { "format: seconds with a zero inside", MINUTE + SECOND + 50000000, "1m1.05s" },
    { "format: nine digits", 4 * MINUTE + 5 * SECOND + 1, "4m5.000000001s" },
    { "format: negative", -90 * SECOND, "-1m30s" },
    { "format: negative nanosecond", -1, "-1ns" },
    { "format: largest", INT64_MAX, "2562047h47m16.854775807s" },
    { "format: smallest", INT64_MIN, "-2562047h47m16.854775808s" },
};

static void format_row(void **state)
{
    const struct format_row *row = *state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    duration_format(&out, row->ns);
    assert_string_equal(strbuf_cstr(&out), row->want);
    int64_t again;
    assert_true(duration_parse(strbuf_str(&out), &again, NULL));
    assert_int_equal(again, row->ns);
}

static void the_error_quotes_the_text(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    int64_t ns;
    assert_false(duration_parse(STR("1d"), &ns, &err));
    assert_string_equal(err.text, "\"1d\" is not a duration such as 30s or 1h30m");
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(parse_rows) + ARRAY_LEN(format_rows) + 1];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(parse_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ parse_rows[i].name, parse_row, NULL, NULL, (void *)&parse_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(format_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ format_rows[i].name, format_row, NULL, NULL, (void *)&format_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(the_error_quotes_the_text);
    return cmocka_run_group_tests_name("base/duration", tests, NULL, NULL);
}
