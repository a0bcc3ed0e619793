#include "quantity/quantity.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SI QUANTITY_DECIMAL_SI
#define BIN QUANTITY_BINARY_SI

static struct quantity read(const char *text)
{
    struct quantity q;
    struct err err = ERR_INIT;
    if (!quantity_parse(str_c(text), &q, &err))
        fail_msg("%s", err.text);
    return q;
}

static void assert_written(struct quantity q, const char *want)
{
    struct strbuf out = STRBUF_INIT(64);
    quantity_write(&out, q);
    assert_string_equal(strbuf_cstr(&out), want);
    strbuf_done(&out);
}

static const struct constructed {
    const char *name;
    bool milli;
    int64_t number;
    enum quantity_format format;
    const char *want;
} constructed[] = {
    { "quantity_from_milli: 1500 binary", true, 1500, BIN, "1500m" },
    { "quantity_from_milli: 2000500 binary", true, 2000500, BIN, "2000500m" },
    { "quantity_from_milli: 512*1024*1000 binary", true, INT64_C(512) * 1024 * 1000, BIN, "512Ki" },
    { "quantity_from_milli: 0", true, 0, SI, "0" },
    { "quantity_from_milli: 4000", true, 4000, SI, "4" },
    { "quantity_from_milli: INT64_MIN", true, INT64_MIN, SI, "-9223372036854775808m" },
    { "quantity_from_i64: 0 binary", false, 0, BIN, "0" },
    { "quantity_from_i64: 1000 binary", false, 1000, BIN, "1k" },
    { "quantity_from_i64: 2048 binary", false, 2048, BIN, "2Ki" },
    { "quantity_from_i64: -2048 binary", false, -2048, BIN, "-2Ki" },
    { "quantity_from_i64: 10000", false, 10000, SI, "10k" },
    { "quantity_from_i64: INT64_MIN binary", false, INT64_MIN, BIN, "-9223372036854775808" },
    { "quantity_from_i64: INT64_MAX binary", false, INT64_MAX, BIN, "9223372036854775807" },
};

static void quantity_constructed(void **state)
{
    const struct constructed *row = *state;
    struct quantity q = row->milli ? quantity_from_milli(row->number, row->format)
                                   : quantity_from_i64(row->number, row->format);
    assert_written(q, row->want);
    assert_int_equal(q.format, row->format);
    assert_int_equal(row->milli ? quantity_milli_ceil(q) : quantity_ceil(q), row->number);
}

static const struct arithmetic {
    const char *name;
    const char *a;
    char op;
    const char *b;
    const char *want;
} arithmetic[] = {
    { "quantity_add: 1Gi + 1 stays binary and prints plainly", "1Gi", '+', "1", "1073741825" },
    { "quantity_add: a sum that becomes round uses the suffix again", "1073741823", '+', "1", "1073741824" },
    { "quantity_add: binary format comes from the first operand", "1Ki", '+', "1024", "2Ki" },
    { "quantity_add: decimal format comes from the first operand", "1024", '+', "1Ki", "2048" },
    { "quantity_add: zero takes over the other format", "0", '+', "2Ki", "2Ki" },
    { "quantity_add: adding zero keeps the format", "2Ki", '+', "0", "2Ki" },
    { "quantity_add: zero takes over the exponent format", "0", '+', "1e4", "10e3" },
    { "quantity_add: milli and whole", "1500m", '+', "500m", "2" },
    { "quantity_add: far apart scales stay exact", "1E", '+', "1n", "1000000000000000000000000001n" },
    { "quantity_add: beyond int64 stays exact", "9223372036854775807", '+', "1", "9223372036854775808" },
    { "quantity_add: binary beyond the cap prints as decimal", "7Ei", '+', "7Ei", "16140901064495857664" },
    { "quantity_add: an inexact sum saturates", "1e30", '+', "1n", "10e999" },
    { "quantity_add: an inexact negative sum saturates downward", "1n", '+', "-1e30", "-10e999" },
    { "quantity_add: infinity stays", "1e5000", '+', "-5", "10e999" },
    { "quantity_add: opposite infinities give the negative one", "1e5000", '+', "-1e5000", "-10e999" },
    { "quantity_sub: below zero", "1500m", '-', "2", "-500m" },
    { "quantity_sub: to zero", "1", '-', "1000m", "0" },
    { "quantity_sub: from zero takes over the format", "0", '-', "2Ki", "-2Ki" },
    { "quantity_sub: cancelling top digits stays exact", "999999999999999999999999999999999999", '-',
      "999999999999999999999999999999999998", "1" },
    { "quantity_sub: infinity from infinity is the safe side", "1e5000", '-', "1e5000", "-10e999" },
};

static void quantity_arithmetic(void **state)
{
    const struct arithmetic *row = *state;
    struct quantity a = read(row->a), b = read(row->b);
    assert_written(row->op == '+' ? quantity_add(a, b) : quantity_sub(a, b), row->want);
}

static const struct comparison {
    const char *name;
    const char *a;
    const char *b;
    int want;
} comparisons[] = {
    { "qty_2_cmp: 1 equals 1000m", "1", "1000m", 0 },
    { "qty_2_cmp: 1Gi equals 1073741824", "1Gi", "1073741824", 0 },
    { "qty_2_cmp: zeros are equal in any format", "0", "-0Gi", 0 },
    { "qty_2_cmp: 1e3 equals 1k", "1e3", "1k", 0 },
    { "qty_2_cmp: 999m is less than 1", "999m", "1", -1 },
    { "qty_2_cmp: negative is less than positive", "-1E", "1n", -1 },
    { "qty_2_cmp: more negative is less", "-2", "-1", -1 },
    { "qty_2_cmp: 1n is more than 0", "1n", "0", 1 },
    { "qty_2_cmp: beyond int64 by one", "9223372036854775808", "9223372036854775807", 1 },
    { "qty_2_cmp: huge exponents do not saturate", "1e400", "1e401", -1 },
    { "qty_2_cmp: equal with 35 places between the mantissas", "999999999999999999999999999999999999", "1e36",
      -1 },
    { "qty_1_cmp: infinity exceeds the largest finite", "1e5000", "999e997", 1 },
    { "qty_1_cmp: infinities of one sign are equal", "1e5000", "1e6000", 0 },
    { "qty_1_cmp: negative infinity is least", "-1e5000", "-9e998", -1 },
};

static void quantity_comparison(void **state)
{
    const struct comparison *row = *state;
    struct quantity a = read(row->a), b = read(row->b);
    assert_int_equal(quantity_cmp(a, b), row->want);
    assert_int_equal(quantity_cmp(b, a), -row->want);
}

static void quantity_sub__difference_has_value_minus_one(void **state)
{
    (void)state;
    struct quantity difference = quantity_sub(read("1500m"), read("2"));
    assert_int_equal(quantity_ceil(difference), -1);
    assert_int_equal(quantity_milli_ceil(difference), -500);
    assert_int_equal(quantity_sign(difference), -1);
}

static void qty_3_integer_views_round_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(quantity_ceil(read("22.2")), 23);
    assert_int_equal(quantity_ceil(read("-22.2")), -23);
    assert_int_equal(quantity_milli_ceil(read("1u")), 1);
    assert_int_equal(quantity_milli_ceil(read("-1u")), -1);
}

static void qty_1_saturated_views_clamp_and_say_so(void **state)
{
    (void)state;
    struct quantity up = read("1e5000"), down = quantity_neg(up);
    assert_int_equal(quantity_ceil(up), INT64_MAX);
    assert_int_equal(quantity_milli_ceil(up), INT64_MAX);
    assert_int_equal(quantity_ceil(down), INT64_MIN);
    assert_int_equal(quantity_milli_ceil(down), INT64_MIN);
    assert_false(quantity_fits(up, false) || quantity_fits(down, true));
    assert_false(quantity_is_integer(up));
    assert_int_equal(quantity_sign(up), 1);
    assert_int_equal(quantity_sign(down), -1);
}

static void quantity_is_integer__tells_whole_from_fraction(void **state)
{
    (void)state;
    assert_true(quantity_is_integer(read("2000m")));
    assert_true(quantity_is_integer(read("0.5Ki")));
    assert_true(quantity_is_integer(read("1e400")));
    assert_true(quantity_is_integer(QUANTITY_ZERO));
    assert_false(quantity_is_integer(read("1n")));
    assert_false(quantity_is_integer(read("1.1Ki")));
}

static void quantity__structs_built_by_hand_are_put_in_order(void **state)
{
    (void)state;
    struct quantity unreduced = { .mantissa = 1500000, .scale = -6 };
    assert_written(unreduced, "1500m");
    assert_int_equal(quantity_cmp(unreduced, read("1.5")), 0);
    struct quantity too_fine = { .mantissa = -1, .scale = INT32_MIN };
    assert_written(too_fine, "-1n");
    struct quantity too_large = { .mantissa = 1, .scale = INT32_MAX };
    assert_written(too_large, "10e999");
    struct quantity smallest = { .mantissa = (__int128)((unsigned __int128)1 << 127) };
    assert_written(smallest, "-10e999");
    assert_written(quantity_neg(smallest), "10e999");
    assert_int_equal(quantity_sign(quantity_add(smallest, too_large)), -1);
    struct quantity zero = { .scale = INT32_MAX };
    assert_written(zero, "0");
    assert_int_equal(quantity_ceil(zero), 0);
}

#define COUNT (ARRAY_LEN(constructed) + ARRAY_LEN(arithmetic) + ARRAY_LEN(comparisons))

int main(void)
{
    const struct CMUnitTest single[] = {
        cmocka_unit_test(quantity_sub__difference_has_value_minus_one),
        cmocka_unit_test(qty_3_integer_views_round_away_from_zero),
        cmocka_unit_test(qty_1_saturated_views_clamp_and_say_so),
        cmocka_unit_test(quantity_is_integer__tells_whole_from_fraction),
        cmocka_unit_test(quantity__structs_built_by_hand_are_put_in_order),
    };
    struct CMUnitTest tests[COUNT + ARRAY_LEN(single)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(constructed); i++)
        tests[count++] = (struct CMUnitTest){ constructed[i].name, quantity_constructed, NULL, NULL,
                                              (void *)&constructed[i] };
    for (size_t i = 0; i < ARRAY_LEN(arithmetic); i++)
        tests[count++] = (struct CMUnitTest){ arithmetic[i].name, quantity_arithmetic, NULL, NULL,
                                              (void *)&arithmetic[i] };
    for (size_t i = 0; i < ARRAY_LEN(comparisons); i++)
        tests[count++] = (struct CMUnitTest){ comparisons[i].name, quantity_comparison, NULL, NULL,
                                              (void *)&comparisons[i] };
    for (size_t i = 0; i < ARRAY_LEN(single); i++)
        tests[count++] = single[i];
    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
