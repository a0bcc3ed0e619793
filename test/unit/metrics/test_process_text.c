#include "metrics/process_text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Fields 3 to 24 of a made-up process: utime 150, stime 50, start 4200, 1 MiB, 17 pages. */
#define FIELDS "S 1 1 1 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 4200 1048576 17"
#define BEHIND " 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static const struct row {
    const char *name;
    struct str text;
    bool ok;
} rows[] = {
    { "stat: usual", STR_INIT("1234 (manager) " FIELDS BEHIND), true },
    { "stat: name with a blank", STR_INIT("1234 (two words) " FIELDS BEHIND), true },
    { "stat: name with parentheses", STR_INIT("1234 (a) S 9 (b) " FIELDS BEHIND), true },
    { "stat: nothing behind what we read", STR_INIT("1234 (m) " FIELDS), true },
    { "stat: ends early", STR_INIT("1234 (m) S 1 1 1 0 -1 4194560 100 0 0 0 150 50"), false },
    { "stat: no name", STR_INIT("1234 m " FIELDS), false },
    { "stat: letters for a number", STR_INIT("1234 (m) S 1 1 1 0 -1 0 0 0 0 0 x 50 0 0 20 0 1 0 4200 1 17"),
      false },
    { "stat: empty", STR_INIT(""), false },
};

static void stat_row(void **state)
{
    const struct row *row = *state;
    struct metrics_process_stat got = { 0 };
    struct err err = ERR_INIT;
    assert_int_equal(metrics_process_stat_parse(row->text, &got, &err), row->ok);
    assert_int_equal(err.kind, row->ok ? ERR_NONE : ERR_INVALID);
    assert_int_equal(got.cpu_ticks, row->ok ? 200 : 0);
    assert_int_equal(got.start_ticks, row->ok ? 4200 : 0);
    assert_int_equal(got.virtual_bytes, row->ok ? 1048576 : 0);
    assert_int_equal(got.resident_pages, row->ok ? 17 : 0);
}

static void boot_time_is_found_among_the_lines(void **state)
{
    (void)state;
    int64_t boot_s = 0;
    assert_true(
        metrics_process_boot_parse(STR("cpu 1 2 3\nctxt 5\nbtime 1784880000\nprocesses 9\n"), &boot_s, NULL));
    assert_int_equal(boot_s, 1784880000);
}

static void boot_time_missing_or_odd_is_an_error(void **state)
{
    (void)state;
    int64_t boot_s = 7;
    struct err err = ERR_INIT;
    assert_false(metrics_process_boot_parse(STR("cpu 1 2 3\nxbtime 5\n"), &boot_s, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_false(metrics_process_boot_parse(STR("btime soon\n"), &boot_s, NULL));
    assert_false(metrics_process_boot_parse(STR(""), &boot_s, NULL));
    assert_int_equal(boot_s, 7);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 2];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, stat_row, NULL, NULL, (void *)&rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(boot_time_is_found_among_the_lines);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(boot_time_missing_or_odd_is_an_error);
    return cmocka_run_group_tests_name("metrics/process_text", tests, NULL, NULL);
}
