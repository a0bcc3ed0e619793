/* The golden table of quantity texts: what each reads as, what it is written as. Rows
 * come from running the Go library; where that overflows, ours clamps and reports. */
#include "quantity/quantity.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

#define SI QUANTITY_DECIMAL_SI
#define BIN QUANTITY_BINARY_SI
#define EXP QUANTITY_DECIMAL_EXPONENT

enum clamped { CLAMPED_NONE, CLAMPED_MILLI, CLAMPED_BOTH };

#define ROW(text_, canonical_, format_, value_, milli_, ...)                                                 \
    {                                                                                                        \
        .name = "quantity_golden: " text_, .input = STR_INIT(text_), .canonical = (canonical_),              \
        .format = (format_), .value = (value_), .milli = (milli_)__VA_OPT__(, ) __VA_ARGS__                  \
    }

static const struct golden {
    const char *name;
    struct str input;
    const char *canonical;
    enum quantity_format format;
    int64_t value;
    int64_t milli;
    enum clamped clamped;
    bool saturated;
} golden[] = {
    ROW("0", "0", SI, 0, 0),
    ROW("0.0", "0", SI, 0, 0),
    ROW("00", "0", SI, 0, 0),
    ROW("+1", "1", SI, 1, 1000),
    ROW("007", "7", SI, 7, 7000),
    ROW("1.5", "1500m", SI, 2, 1500),
    ROW("1.500", "1500m", SI, 2, 1500),
    ROW("1.50", "1500m", SI, 2, 1500),
    ROW("1.", "1", SI, 1, 1000),
    ROW("1.G", "1G", SI, 1000000000, 1000000000000),
    ROW(".5", "500m", SI, 1, 500),
    ROW("1e3", "1e3", EXP, 1000, 1000000),
    ROW("1E3", "1e3", EXP, 1000, 1000000),
    ROW("1e+3", "1e3", EXP, 1000, 1000000),
    ROW("1e-3", "1e-3", EXP, 1, 1),
    ROW("12e6", "12e6", EXP, 12000000, 12000000000),
    ROW("1e1", "10", EXP, 10, 10000),
    ROW("1e2", "100", EXP, 100, 100000),
    ROW("1e5", "100e3", EXP, 100000, 100000000),
    ROW("1000", "1k", SI, 1000, 1000000),
    ROW("1000m", "1", SI, 1, 1000),
    ROW("1500m", "1500m", SI, 2, 1500),
    ROW("100m", "100m", SI, 1, 100),
    ROW("0.1m", "100u", SI, 1, 1),
    ROW("0.1n", "1n", SI, 1, 1),
    ROW("0.0000000001", "1n", SI, 1, 1),
    ROW("1Ki", "1Ki", BIN, 1024, 1024000),
    ROW("1024", "1024", SI, 1024, 1024000),
    ROW("1024Ki", "1Mi", BIN, 1048576, 1048576000),
    ROW("1.5Gi", "1536Mi", BIN, 1610612736, 1610612736000),
    ROW("0.5Ki", "512", BIN, 512, 512000),
    ROW("0.5Mi", "512Ki", BIN, 524288, 524288000),
    ROW("0.5Gi", "512Mi", BIN, 536870912, 536870912000),
    ROW("1.1Ki", "1126400m", BIN, 1127, 1126400),
    ROW("1.1Mi", "1153433600m", BIN, 1153434, 1153433600),
    ROW("-1.5", "-1500m", SI, -2, -1500),
    ROW("-1500m", "-1500m", SI, -2, -1500),
    ROW("-1.2", "-1200m", SI, -2, -1200),
    ROW("1k", "1k", SI, 1000, 1000000),
    ROW("100u", "100u", SI, 1, 1),
    ROW("1n", "1n", SI, 1, 1),
    ROW("1000n", "1u", SI, 1, 1),
    ROW("0.1Ki", "102400m", BIN, 103, 102400),
    ROW("5e-1", "500e-3", EXP, 1, 500),
    ROW("0.5", "500m", SI, 1, 500),
    ROW("2.5e3", "2500", EXP, 2500, 2500000),
    ROW("0Gi", "0", BIN, 0, 0),
    ROW("-0", "0", SI, 0, 0),
    ROW("0e3", "0", EXP, 0, 0),
    ROW("1073741824", "1073741824", SI, 1073741824, 1073741824000),
    ROW("3.14159265358979Gi", "3373259426130501263n", BIN, 3373259427, 3373259426131),
    ROW("0.9", "900m", SI, 1, 900),
    ROW("2147483648Mi", "2Pi", BIN, 2251799813685248, 2251799813685248000),
    ROW("1.0Gi", "1Gi", BIN, 1073741824, 1073741824000),
    ROW("01Gi", "1Gi", BIN, 1073741824, 1073741824000),

    /* Here upstream overflows or turns the sign; these rows clamp, and say so. */
    /* upstream: milli 0 */
    ROW("1E", "1E", SI, 1000000000000000000, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: milli -9223372036854775808 */
    ROW("1Ei", "1Ei", BIN, 1152921504606846976, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: value 1, milli 1 */
    ROW("-0.1n", "-1n", SI, -1, -1),
    /* upstream: milli -1000 */
    ROW("8Ei", "9223372036854775807", BIN, INT64_MAX, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: milli -9223372036854775808 */
    ROW("7Ei", "7Ei", BIN, 8070450532247928832, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: milli -1000 */
    ROW("9Ei", "9223372036854775807", BIN, INT64_MAX, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: value 0, milli 0 */
    ROW("100E", "100E", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: text 1, value 0, milli 0 */
    ROW("1000E", "1000E", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: milli -1000 */
    ROW("9223372036854775807", "9223372036854775807", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_MILLI),
    /* upstream: value -9223372036854775808, milli 0 */
    ROW("9223372036854775808", "9223372036854775808", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: value 0, milli 0 */
    ROW("-9223372036854775808", "-9223372036854775808", SI, INT64_MIN, INT64_MIN, .clamped = CLAMPED_MILLI),
    /* upstream: value -4362896299872285998, milli 8982045596877734992 */
    ROW("123456789012345678901234567890", "123456789012345678901234567890", SI, INT64_MAX, INT64_MAX,
        .clamped = CLAMPED_BOTH),
    /* upstream: value 0, milli 0 */
    ROW("1e400", "10e399", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: text 10e1215752190, value 0, milli 0 */
    ROW("1e99999999999", "10e999", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH, .saturated = true),
    /* upstream: value 0, milli 0 */
    ROW("1e21", "1e21", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: value 0, milli 0 */
    ROW("1E21", "1e21", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: value 3875820019684211736, milli 2003764205205896640 */
    ROW("999999999999999999k", "999999999999999999k", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    /* upstream: milli -9223372036854775808 */
    ROW("1125899906842624Ki", "1Ei", BIN, 1152921504606846976, INT64_MAX, .clamped = CLAMPED_MILLI),

    /* Beyond the table. */
    ROW("976.5625Ki", "1M", BIN, 1000000, 1000000000),
    ROW("1500Ki", "1500Ki", BIN, 1536000, 1536000000),
    ROW("-9Ei", "-9223372036854775807", BIN, -INT64_MAX, INT64_MIN, .clamped = CLAMPED_MILLI),
    ROW("9223372036854775807.5", "9223372036854775807500m", SI, INT64_MAX, INT64_MAX,
        .clamped = CLAMPED_BOTH),
    ROW("-9223372036854775808.5", "-9223372036854775808500m", SI, INT64_MIN, INT64_MIN,
        .clamped = CLAMPED_BOTH),
    ROW("0.0001Ki", "102400u", SI, 1, 103),
    ROW("-0.0001Ki", "-102400u", SI, -1, -103),
    ROW("0.0000000000000000000000000000000000000001Ei", "1n", SI, 1, 1),
    ROW("0.99999999999999999999999999999999Ki", "1Ki", BIN, 1024, 1024000),
    ROW("1.00000000000000000000000000000000000000001", "1000000001n", SI, 2, 1001),
    ROW("1.00000000000000000000000000000000000000000", "1", SI, 1, 1000),
    ROW("0.00000000000000000000000000000000000000001e41", "1", EXP, 1, 1000),
    ROW("1000000000000000000000000000000000000000000e-42", "1", EXP, 1, 1000),
    ROW("1e-99999999999999999999999", "1e-9", EXP, 1, 1),
    ROW("-1e-10", "-1e-9", EXP, -1, -1),
    ROW("0e99999999999999999999999", "0", EXP, 0, 0),
    ROW("1e0000000000000000000000003", "1e3", EXP, 1000, 1000000),
    ROW("1e0", "1", EXP, 1, 1000),
    ROW("1e-0", "1", EXP, 1, 1000),
    ROW("1e999", "1e999", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    ROW("10e999", "10e999", EXP, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH, .saturated = true),
    ROW("-1e1000", "-10e999", EXP, INT64_MIN, INT64_MIN, .clamped = CLAMPED_BOTH, .saturated = true),
    ROW("999999999999999999999999999999999999", "999999999999999999999999999999999999", SI, INT64_MAX,
        INT64_MAX, .clamped = CLAMPED_BOTH),
    ROW("1000000000000000000000000000000000001", "10e999", SI, INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH,
        .saturated = true),
    ROW("1000000000000000000000000000000000000000000000000", "1000000000000000000000000000000E", SI,
        INT64_MAX, INT64_MAX, .clamped = CLAMPED_BOTH),
    ROW("1000000000000000000000000000000000000000000000000000000000000000", "1e63", SI, INT64_MAX, INT64_MAX,
        .clamped = CLAMPED_BOTH),
    ROW("999999999999999999999999999999999999999999Ei", "9223372036854775807", BIN, INT64_MAX, INT64_MAX,
        .clamped = CLAMPED_MILLI),
};

static void assert_written(struct quantity q, const char *want)
{
    struct strbuf out = STRBUF_INIT(64);
    quantity_write(&out, q);
    assert_false(out.overflow);
    assert_string_equal(strbuf_cstr(&out), want);
    strbuf_done(&out);
}

static void quantity_golden(void **state)
{
    const struct golden *row = *state;
    struct quantity q;
    struct err err = ERR_INIT;
    assert_true(quantity_parse(row->input, &q, &err));
    assert_written(q, row->canonical);
    assert_int_equal(q.format, row->format);
    assert_int_equal(quantity_ceil(q), row->value);
    assert_int_equal(quantity_milli_ceil(q), row->milli);
    assert_int_equal(quantity_fits(q, false), row->clamped != CLAMPED_BOTH);
    assert_int_equal(quantity_fits(q, true), row->clamped == CLAMPED_NONE);
    assert_int_equal(q.saturated, row->saturated);
}

#undef ROW
#define ROW(text)                                                                                            \
    {                                                                                                        \
        "quantity_refused: \"" text "\"", STR_INIT(text)                                                     \
    }

static const struct refused {
    const char *name;
    struct str input;
} refused[] = {
    ROW(""),
    ROW("..5"),
    ROW("1..5"),
    ROW("1e"),
    ROW("1Ee3"),
    ROW("1K"),
    ROW("1Gi "),
    ROW("1 Gi"),
    ROW("1mi"),
    ROW("1MI"),
    ROW("1kI"),
    ROW("1m5"),
    ROW("0x10"),
    ROW("1_000"),
    ROW("1,5"),
    ROW("\u0661"),
    ROW("1Mi5"),
    ROW("1Mi-"),
    ROW("1Mi-3"),
    /* Upstream reads these as 0. */
    ROW("."),
    ROW("-"),
    ROW("+"),
    ROW("-."),
    ROW("Ki"),
    ROW(".Gi"),
    /* Beyond the table. */
    ROW(" 1"),
    ROW("--1"),
    ROW("+-1"),
    ROW("1e+"),
    ROW("1e-"),
    ROW("1e+-3"),
    ROW("1e3.5"),
    ROW("1e3Ki"),
    ROW("1i"),
    ROW("1ki"),
    ROW("1gi"),
    ROW("1g"),
    ROW("1KI"),
    ROW("e3"),
    ROW("NaN"),
    ROW("Inf"),
    ROW("1\0"),
    ROW("1e3 "),
    ROW("1-"),
    ROW("1.5.5"),
    ROW("1mm"),
};

static void quantity_refused(void **state)
{
    const struct refused *row = *state;
    struct quantity q = { .mantissa = 42 };
    struct err err = ERR_INIT;
    assert_false(quantity_parse(row->input, &q, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_non_null(strstr(err.text, "quantity"));
    assert_true(q.mantissa == 42);
}

#undef ROW
#define ROW(label, type_, text_, canonical_, format_)                                                        \
    {                                                                                                        \
        "quantity_json: " label, { .type = (type_), .text = STR_INIT(text_) }, canonical_, format_           \
    }

static const struct json_form {
    const char *name;
    struct json_event event;
    const char *canonical; /* NULL: refused */
    enum quantity_format format;
} json_forms[] = {
    ROW("number 1", JSON_EV_NUMBER, "1", "1", SI),
    ROW("number 1.5", JSON_EV_NUMBER, "1.5", "1500m", SI),
    ROW("number 1e3", JSON_EV_NUMBER, "1e3", "1e3", EXP),
    ROW("number 1.0", JSON_EV_NUMBER, "1.0", "1", SI),
    ROW("number -2.5E+3", JSON_EV_NUMBER, "-2.5E+3", "-2500", EXP),
    ROW("blanks at the ends of a string", JSON_EV_STRING, " 1Gi ", "1Gi", BIN),
    ROW("blank inside a string", JSON_EV_STRING, "1 Gi", NULL, SI),
    ROW("empty string", JSON_EV_STRING, "", NULL, SI),
    ROW("null is zero", JSON_EV_NULL, "", "0", SI),
    ROW("true", JSON_EV_BOOL, "", NULL, SI),
    ROW("object", JSON_EV_OBJECT_START, "", NULL, SI),
    ROW("array", JSON_EV_ARRAY_START, "", NULL, SI),
};

static void quantity_json(void **state)
{
    const struct json_form *row = *state;
    struct quantity q;
    struct err err = ERR_INIT;
    bool accepted = quantity_from_event(&row->event, &q, &err);
    assert_int_equal(accepted, row->canonical != NULL);
    if (!accepted) {
        assert_int_equal(err.kind, ERR_INVALID);
        return;
    }
    assert_written(q, row->canonical);
    assert_int_equal(q.format, row->format);
}

static void quantity_parse__long_text_takes_linear_time_and_saturates(void **state)
{
    (void)state;
    enum { LENGTH = 1000000 };
    char *text = mem_alloc(LENGTH);
    memset(text, '9', LENGTH);
    struct quantity q;
    assert_true(quantity_parse((struct str){ .ptr = text, .len = LENGTH }, &q, NULL));
    assert_true(q.saturated);
    text[0] = '.';
    assert_true(quantity_parse((struct str){ .ptr = text, .len = LENGTH }, &q, NULL));
    assert_written(q, "1");
    free(text);
}

static void quantity_refused__error_shows_the_text(void **state)
{
    (void)state;
    struct quantity q;
    struct err err = ERR_INIT;
    assert_false(quantity_parse(STR("12 parsecs"), &q, &err));
    assert_string_equal(err.text, "quantity \"12 parsecs\": unknown suffix");
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(golden) + ARRAY_LEN(refused) + ARRAY_LEN(json_forms) + 2];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(golden); i++)
        tests[count++] =
            (struct CMUnitTest){ golden[i].name, quantity_golden, NULL, NULL, (void *)&golden[i] };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        tests[count++] =
            (struct CMUnitTest){ refused[i].name, quantity_refused, NULL, NULL, (void *)&refused[i] };
    for (size_t i = 0; i < ARRAY_LEN(json_forms); i++)
        tests[count++] =
            (struct CMUnitTest){ json_forms[i].name, quantity_json, NULL, NULL, (void *)&json_forms[i] };
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(quantity_parse__long_text_takes_linear_time_and_saturates);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(quantity_refused__error_shows_the_text);
    return cmocka_run_group_tests_name("quantity/parse", tests, NULL, NULL);
}
