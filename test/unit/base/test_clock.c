#include "base/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void monotonic_time_does_not_run_backwards(void **state)
{
    (void)state;
    struct mono_time first = mono_now(), second = mono_now();
    assert_false(mono_before(second, first));
    assert_true(mono_ms_between(first, second) >= 0);
}

static void wall_time_is_later_than_this_file(void **state)
{
    (void)state;
    assert_true(wall_now().us > INT64_C(1700000000) * US_PER_S);
}

static void milliseconds_add_and_subtract(void **state)
{
    (void)state;
    struct mono_time start = { .ns = 5 };
    struct mono_time later = mono_add_ms(start, 1500);
    assert_int_equal(later.ns, 1500000005);
    assert_int_equal(mono_ms_between(start, later), 1500);
    assert_int_equal(mono_ms_between(later, start), -1500);
    assert_true(mono_before(start, later));
    assert_false(mono_before(start, start));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_does_not_run_backwards),
        cmocka_unit_test(wall_time_is_later_than_this_file),
        cmocka_unit_test(milliseconds_add_and_subtract),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
