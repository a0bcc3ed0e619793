#include "base/rfc3339.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define AT(seconds, micro) (INT64_C(seconds) * US_PER_S + (micro))

static const struct parse_row {
    const char *name;
    struct str text;
    bool ok, ok_micro;
    int64_t want_us;
} parse_rows[] = {
    { "t_87 time: seconds and Z", STR_INIT("2026-07-24T08:00:00Z"), true, false, AT(1784880000, 0) },
    { "t_87 time: one digit", STR_INIT("2026-07-24T08:00:00.1Z"), true, false, AT(1784880000, 100000) },
    { "t_87 time: six digits", STR_INIT("2026-07-24T08:00:00.123456Z"), true, true, AT(1784880000, 123456) },
    { "t_87 time: six digits with an offset", STR_INIT("2026-07-24T08:00:00.123456+02:00"), true, true,
      AT(1784872800, 123456) },
    { "t_87 time: nine digits are cut off", STR_INIT("2026-07-24T08:00:00.123456789Z"), true, false,
      AT(1784880000, 123456) },
    { "t_87 time: hour 24", STR_INIT("2026-07-24T24:00:00Z"), false, false, 0 },
    { "t_87 time: second 60", STR_INIT("2016-12-31T23:59:60Z"), false, false, 0 },
    { "t_87 time: hour 24 in micro form", STR_INIT("2026-07-24T24:00:00.000000Z"), false, false, 0 },
    { "t_87 time: second 60 in micro form", STR_INIT("2016-12-31T23:59:60.000000Z"), false, false, 0 },
    { "time: western offset", STR_INIT("2026-07-24T08:00:00-01:30"), true, false, AT(1784885400, 0) },
    { "time: offset zero", STR_INIT("2026-07-24T08:00:00-00:00"), true, false, AT(1784880000, 0) },
    { "time: five digits", STR_INIT("2026-07-24T08:00:00.12345Z"), true, false, AT(1784880000, 123450) },
    { "time: seven digits", STR_INIT("2026-07-24T08:00:00.1234567Z"), true, false, AT(1784880000, 123456) },
    { "time: six zeros", STR_INIT("2026-07-24T08:00:00.000000Z"), true, true, AT(1784880000, 0) },
    { "time: thirty digits", STR_INIT("2026-07-24T08:00:00.999999999999999999999999999999Z"), true, false,
      AT(1784880000, 999999) },
    { "time: epoch", STR_INIT("1970-01-01T00:00:00Z"), true, false, 0 },
    { "time: before the epoch", STR_INIT("1969-12-31T23:59:59.999999Z"), true, true, -1 },
    { "time: leap day", STR_INIT("2024-02-29T12:00:00Z"), true, false, AT(1709208000, 0) },
    { "time: leap day of a fourth century", STR_INIT("2000-02-29T00:00:00Z"), true, false, AT(951782400, 0) },
    { "time: no leap day in 1900", STR_INIT("1900-02-29T00:00:00Z"), false, false, 0 },
    { "time: no leap day in 2023", STR_INIT("2023-02-29T00:00:00Z"), false, false, 0 },
    { "time: beyond 32 bits", STR_INIT("2106-02-07T06:28:16Z"), true, false, AT(4294967296, 0) },
    { "time: first", STR_INIT("0001-01-01T00:00:00Z"), true, false, AT(-62135596800, 0) },
    { "time: last", STR_INIT("9999-12-31T23:59:59.999999Z"), true, true, AT(253402300799, 999999) },
    { "time: an offset reaches before the first", STR_INIT("0001-01-01T00:00:00+00:01"), false, false, 0 },
    { "time: an offset reaches behind the last", STR_INIT("9999-12-31T23:59:59-00:01"), false, false, 0 },
    { "time: year 0", STR_INIT("0000-12-31T00:00:00Z"), false, false, 0 },
    { "time: year 0 moved into year 1", STR_INIT("0000-12-31T23:59:59-01:00"), false, false, 0 },
    { "time: five-digit year", STR_INIT("12026-07-24T08:00:00Z"), false, false, 0 },
    { "time: month 0", STR_INIT("2026-00-24T08:00:00Z"), false, false, 0 },
    { "time: month 13", STR_INIT("2026-13-24T08:00:00Z"), false, false, 0 },
    { "time: day 0", STR_INIT("2026-07-00T08:00:00Z"), false, false, 0 },
    { "time: June has 30 days", STR_INIT("2026-06-31T08:00:00Z"), false, false, 0 },
    { "time: minute 60", STR_INIT("2026-07-24T08:60:00Z"), false, false, 0 },
    { "time: offset hour 24", STR_INIT("2026-07-24T08:00:00+24:00"), false, false, 0 },
    { "time: offset minute 60", STR_INIT("2026-07-24T08:00:00+01:60"), false, false, 0 },
    { "time: offset without colon", STR_INIT("2026-07-24T08:00:00+0200"), false, false, 0 },
    { "time: no offset", STR_INIT("2026-07-24T08:00:00"), false, false, 0 },
    { "time: point without digits", STR_INIT("2026-07-24T08:00:00.Z"), false, false, 0 },
    { "time: comma", STR_INIT("2026-07-24T08:00:00,5Z"), false, false, 0 },
    { "time: small t", STR_INIT("2026-07-24t08:00:00Z"), false, false, 0 },
    { "time: small z", STR_INIT("2026-07-24T08:00:00z"), false, false, 0 },
    { "time: blank instead of T", STR_INIT("2026-07-24 08:00:00Z"), false, false, 0 },
    { "time: trailing text", STR_INIT("2026-07-24T08:00:00ZZ"), false, false, 0 },
    { "time: one-digit hour", STR_INIT("2026-07-24T8:00:00Z"), false, false, 0 },
    { "time: sign in a number", STR_INIT("2026-07-24T+8:00:00Z"), false, false, 0 },
    { "time: date only", STR_INIT("2026-07-24"), false, false, 0 },
    { "time: empty", STR_INIT(""), false, false, 0 },
};

static void parse_row(void **state)
{
    const struct parse_row *row = *state;
    struct err err = ERR_INIT, micro_err = ERR_INIT;
    struct wall_time got = { 4711 }, micro = { 4711 };
    assert_int_equal(rfc3339_parse(row->text, &got, &err), row->ok);
    assert_int_equal(got.us, row->ok ? row->want_us : 4711);
    assert_int_equal(err.kind, row->ok ? ERR_NONE : ERR_INVALID);

    assert_int_equal(rfc3339_parse_micro(row->text, &micro, &micro_err), row->ok_micro);
    assert_int_equal(micro.us, row->ok_micro ? row->want_us : 4711);
    assert_int_equal(micro_err.kind, row->ok_micro ? ERR_NONE : ERR_INVALID);
}

static const struct format_row {
    const char *name;
    int64_t us;
    const char *want, *want_micro;
} format_rows[] = {
    { "format: epoch", 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z" },
    { "format: t_87 always six digits", AT(1784880000, 100000), "2026-07-24T08:00:00Z",
      "2026-07-24T08:00:00.100000Z" },
    { "format: fractions are floored", AT(1784880000, 999999), "2026-07-24T08:00:00Z",
      "2026-07-24T08:00:00.999999Z" },
    { "format: floored before the epoch, too", -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z" },
    { "format: last day of a leap year", AT(1735689599, 0), "2024-12-31T23:59:59Z",
      "2024-12-31T23:59:59.000000Z" },
    { "format: leap day", AT(951782400, 0), "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z" },
    { "format: day after February 1900", AT(-2203891200, 0), "1900-03-01T00:00:00Z",
      "1900-03-01T00:00:00.000000Z" },
    { "format: first", AT(-62135596800, 0), "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z" },
    { "format: last", AT(253402300799, 999999), "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z" },
    { "format: earlier than the first", INT64_MIN, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z" },
    { "format: later than the last", INT64_MAX, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z" },
};

static void format_row(void **state)
{
    const struct format_row *row = *state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    rfc3339_format(&out, (struct wall_time){ row->us });
    assert_string_equal(strbuf_cstr(&out), row->want);
    strbuf_clear(&out);
    rfc3339_format_micro(&out, (struct wall_time){ row->us });
    assert_string_equal(strbuf_cstr(&out), row->want_micro);
}

static void every_day_of_four_centuries_survives(void **state)
{
    (void)state;
    const int64_t day_us = INT64_C(86400) * US_PER_S;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    for (int64_t day = -100000; day < 50000; day++) {
        struct wall_time time = { .us = day * day_us + 1 }, again;
        strbuf_clear(&out);
        rfc3339_format_micro(&out, time);
        assert_true(rfc3339_parse_micro(strbuf_str(&out), &again, NULL));
        assert_int_equal(again.us, time.us);
    }
}

static void the_error_quotes_the_text(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct wall_time time;
    assert_false(rfc3339_parse(STR("yesterday"), &time, &err));
    assert_string_equal(err.text, "\"yesterday\" is not a time such as 2026-07-24T08:00:00Z");
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(parse_rows) + ARRAY_LEN(format_rows) + 2];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(parse_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ parse_rows[i].name, parse_row, NULL, NULL, (void *)&parse_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(format_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ format_rows[i].name, format_row, NULL, NULL, (void *)&format_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_day_of_four_centuries_survives);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(the_error_quotes_the_text);
    return cmocka_run_group_tests_name("base/rfc3339", tests, NULL, NULL);
}
