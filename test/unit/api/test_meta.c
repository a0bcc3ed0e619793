#include "support.h"
#include "api/meta.h"

struct row {
    const char *name;
    const char *text;
    int64_t want; /* in millionths of the unit, where it fits */
    int extreme;  /* 1, -1: clamped to +-10^36 billionths */
};

static const struct row rows[] = {
    { "amount: whole", "2", 2000000, 0 },
    { "amount: milli", "250m", 250000, 0 },
    { "amount: micro", "7u", 7, 0 },
    { "amount: negative", "-1500m", -1500000, 0 },
    { "amount: binary", "1Ki", 1024000000, 0 },
    { "amount: exponent", "1e3", 1000000000, 0 },
    { "amount: 0", "0", 0, 0 },
    { "amount: 10^27 units are the limit", "1e27", 0, 1 },
    { "amount: beyond the limit is clamped", "1e30", 0, 1 },
    { "amount: saturated is clamped", "1e300", 0, 1 },
    { "amount: negative saturated is clamped", "-1e300", 0, -1 },
};

static void amount__row(void **state)
{
    const struct row *row = *state;
    struct quantity quantity;
    assert_true(quantity_parse(str_c(row->text), &quantity, NULL));
    __int128 want = row->extreme ? API_NANO_MAX * row->extreme : (__int128)row->want * 1000;
    assert_true(api_nano_from_quantity(quantity) == want);
}

static void amount__billionths_are_exact(void **state)
{
    (void)state;
    struct quantity quantity;
    assert_true(quantity_parse(STR("1234567890n"), &quantity, NULL));
    assert_true(api_nano_from_quantity(quantity) == 1234567890);
}

static void amount__sums_are_clamped(void **state)
{
    (void)state;
    assert_true(api_nano_add(API_NANO_MAX, API_NANO_MAX) == API_NANO_MAX);
    assert_true(api_nano_add(-API_NANO_MAX, -API_NANO_MAX) == -API_NANO_MAX);
    assert_true(api_nano_add(API_NANO_MAX, -API_NANO_MAX) == 0);
}

static struct opt_quantity parsed(const char *text)
{
    struct opt_quantity quantity = { .set = true };
    assert_true(quantity_parse(str_c(text), &quantity.value, NULL));
    return quantity;
}

static void take__negative_is_absent_and_told(void **state)
{
    struct fixture *fixture = *state;
    struct json_report report = fixture_report(fixture);
    struct opt_quantity quantity = parsed("-2");
    __int128 nano = 77;
    assert_false(api_take_amount(&quantity, &nano, &report, "a[%d].b", 3));
    assert_true(nano == 77);
    assert_int_equal(fixture->reports, 1);
    assert_string_equal(fixture->path, "a[3].b");
    assert_string_equal(fixture->value, "-2");
    assert_false(api_take_amount(&quantity, &nano, NULL, "quiet"));
}

static void take__out_of_reach_is_clamped_and_told(void **state)
{
    struct fixture *fixture = *state;
    struct json_report report = fixture_report(fixture);
    struct opt_quantity quantity = parsed("1e300");
    __int128 nano = 0;
    assert_true(api_take_amount(&quantity, &nano, &report, "x"));
    assert_true(nano == API_NANO_MAX);
    assert_int_equal(fixture->reports, 1);
}

static void take__absent_is_silent(void **state)
{
    struct fixture *fixture = *state;
    struct json_report report = fixture_report(fixture);
    __int128 nano = 0;
    assert_false(api_take_amount(&(struct opt_quantity){ 0 }, &nano, &report, "x"));
    assert_int_equal(fixture->reports, 0);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(amount__billionths_are_exact),
        cmocka_unit_test(amount__sums_are_clamped),
        FIXED(take__negative_is_absent_and_told),
        FIXED(take__out_of_reach_is_clamped_and_told),
        FIXED(take__absent_is_silent),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, amount__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("api/meta", tests, NULL, NULL);
}
