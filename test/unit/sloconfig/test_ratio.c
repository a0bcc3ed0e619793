#include "sloconfig/ratio.h"
#include "support.h"

static const struct row {
    const char *name;
    const char *text;
    int64_t want; /* -1: refused */
} rows[] = {
    { "ratio_3_6: 0.29 is 29", "0.29", 29 },
    { "ratio_3_6: 0.57 is 57", "0.57", 57 },
    { "ratio_3_6: 0.58 is 58", "0.58", 58 },
    { "ratio_3_6: 0.7 is 70", "0.7", 70 },
    { "ratio_3_6: 1.1 is 110", "1.1", 110 },
    { "ratio_3_6: 0.295 is cut to 29", "0.295", 29 },
    { "ratio_3_6: 0.299999999999999999999 is cut to 29", "0.299999999999999999999", 29 },
    { "ratio_3_6: 0 is 0", "0", 0 },
    { "ratio_3_6: 0.009 is 0", "0.009", 0 },
    { "ratio_3_6: 1 is 100", "1", 100 },
    { "ratio_3_6: 00.5 is 50", "00.5", 50 },
    { "ratio_3_6: .5 is 50", ".5", 50 },
    { "ratio_3_6: 5. is 500", "5.", 500 },
    { "ratio_3_6: +0.5 is 50", "+0.5", 50 },
    { "ratio_3_6: -0 is 0", "-0", 0 },
    { "ratio_3_6: 5e-1 is 50", "5e-1", 50 },
    { "ratio_3_6: 0.05E+1 is 50", "0.05E+1", 50 },
    { "ratio_3_6: 125e-3 is 12", "125e-3", 12 },
    { "ratio_3_6: 1e-99999999999999999999 is 0", "1e-99999999999999999999", 0 },
    { "ratio_3_6: 0e99999 is 0", "0e99999", 0 },
    { "ratio_3_6: the largest", "92233720368547758.07", INT64_MAX },
    { "ratio_3_6: one more is refused", "92233720368547758.08", -1 },
    { "ratio_3_6: 1e400 is refused", "1e400", -1 },
    { "ratio_3_6: empty is refused", "", -1 },
    { "ratio_3_6: a point is refused", ".", -1 },
    { "ratio_3_6: negative is refused", "-0.5", -1 },
    { "ratio_3_6: inf is refused", "inf", -1 },
    { "ratio_3_6: nan is refused", "NaN", -1 },
    { "ratio_3_6: hex is refused", "0x1p-2", -1 },
    { "ratio_3_6: percent sign is refused", "50%", -1 },
    { "ratio_3_6: blanks are refused", " 0.5", -1 },
    { "ratio_3_6: two points are refused", "0.5.1", -1 },
    { "ratio_3_6: underscores are refused", "1_0", -1 },
    { "ratio_3_6: a bare exponent is refused", "1e", -1 },
    { "ratio_3_6: a suffix is refused", "500m", -1 },
};

static void ratio__row(void **state)
{
    const struct row *row = *state;
    struct err err = ERR_INIT;
    int64_t got = -1;
    assert_int_equal(ratio_to_percent(str_c(row->text), &got, &err), row->want >= 0);
    assert_int_equal(got, row->want);
    assert_int_equal(err.kind == ERR_INVALID, row->want < 0);
}

int main(void)
{
    TEST_ROWS(tests, rows, ratio__row);
    return cmocka_run_group_tests_name("sloconfig/ratio", tests, NULL, NULL);
}
