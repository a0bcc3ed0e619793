/* Properties over quantities from a fixed pseudo-random sequence. */
#include "quantity/quantity.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROUNDS = 20000 };

struct random {
    uint64_t state;
};

/* splitmix64 */
static uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t random_below(struct random *random, uint64_t limit)
{
    return random_next(random) % limit;
}

static void random_digits(struct random *random, struct strbuf *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        strbuf_addc(out, (char)('0' + (random_below(random, 3) ? random_below(random, 10) : 0)));
}

static void random_text(struct random *random, struct strbuf *out)
{
    static const char *const suffixes[] = { "",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                            "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    strbuf_clear(out);
    if (random_below(random, 3) == 0)
        strbuf_addc(out, '-');
    random_digits(random, out, 1 + random_below(random, random_below(random, 8) ? 12 : 40));
    if (random_below(random, 2)) {
        strbuf_addc(out, '.');
        random_digits(random, out, random_below(random, 14));
    }
    if (random_below(random, 4) == 0)
        strbuf_addf(out, "e%d", (int)random_below(random, 60) - 30);
    else
        strbuf_add(out, str_c(suffixes[random_below(random, ARRAY_LEN(suffixes))]));
}

static struct quantity random_quantity(struct random *random)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    struct quantity q = QUANTITY_ZERO;
    random_text(random, &text);
    assert_true(quantity_parse(strbuf_str(&text), &q, NULL));
    q.format = (uint8_t)random_below(random, 3);
    return q;
}

static void qty_5_written_text_reads_back_equal_and_is_canonical(void **state)
{
    (void)state;
    struct random random = { 1 };
    CLEANUP(strbuf_done) struct strbuf first = STRBUF_INIT(45);
    CLEANUP(strbuf_done) struct strbuf second = STRBUF_INIT(45);
    for (int i = 0; i < ROUNDS; i++) {
        struct quantity q = random_quantity(&random), again;
        strbuf_clear(&first);
        strbuf_clear(&second);
        quantity_write(&first, q);
        assert_false(first.overflow);
        assert_true(quantity_parse(strbuf_str(&first), &again, NULL));
        assert_int_equal(quantity_cmp(q, again), 0);
        assert_int_equal(q.saturated, again.saturated);
        quantity_write(&second, again);
        assert_string_equal(strbuf_cstr(&first), strbuf_cstr(&second));
    }
}

static void quantity_cmp__is_a_total_order(void **state)
{
    (void)state;
    struct random random = { 2 };
    for (int i = 0; i < ROUNDS; i++) {
        struct quantity a = random_quantity(&random), b = random_quantity(&random),
                        c = random_quantity(&random);
        assert_int_equal(quantity_cmp(a, a), 0);
        assert_int_equal(quantity_cmp(a, b), -quantity_cmp(b, a));
        if (quantity_cmp(a, b) <= 0 && quantity_cmp(b, c) <= 0)
            assert_true(quantity_cmp(a, c) <= 0);
        if (quantity_cmp(a, b) >= 0 && quantity_cmp(b, c) >= 0)
            assert_true(quantity_cmp(a, c) >= 0);
    }
}

static void quantity_add__commutes_and_respects_order(void **state)
{
    (void)state;
    struct random random = { 3 };
    for (int i = 0; i < ROUNDS; i++) {
        struct quantity a = random_quantity(&random), b = random_quantity(&random);
        struct quantity sum = quantity_add(a, b);
        assert_int_equal(quantity_cmp(sum, quantity_add(b, a)), 0);
        if (!sum.saturated) {
            assert_int_equal(quantity_cmp(sum, a), quantity_sign(b));
            assert_int_equal(quantity_cmp(quantity_sub(sum, b), a), 0);
        }
    }
}

static void quantity_sub__sign_agrees_with_comparison(void **state)
{
    (void)state;
    struct random random = { 4 };
    for (int i = 0; i < ROUNDS; i++) {
        struct quantity a = random_quantity(&random), b = random_quantity(&random);
        if (!a.saturated && !b.saturated)
            assert_int_equal(quantity_sign(quantity_sub(a, b)), quantity_cmp(a, b));
    }
}

static void qty_3_integer_view_is_the_nearest_integer_away_from_zero(void **state)
{
    (void)state;
    struct random random = { 5 };
    for (int i = 0; i < ROUNDS; i++) {
        struct quantity q = random_quantity(&random);
        if (!quantity_fits(q, false) || quantity_ceil(q) == INT64_MIN)
            continue;
        int sign = quantity_sign(q);
        struct quantity view = quantity_from_i64(quantity_ceil(q), QUANTITY_DECIMAL_SI);
        struct quantity inner = quantity_from_i64(quantity_ceil(q) - sign, QUANTITY_DECIMAL_SI);
        assert_true(quantity_cmp(view, q) * sign >= 0);
        assert_true(sign == 0 || quantity_cmp(q, inner) * sign > 0);
        assert_int_equal(quantity_cmp(view, q) == 0, quantity_is_integer(q));
    }
}

static void qty_4_whole_numbers_are_written_without_fraction(void **state)
{
    (void)state;
    struct random random = { 6 };
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(45);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t number = (int64_t)(random_next(&random) >> random_below(&random, 64));
        strbuf_clear(&out);
        quantity_write(&out, quantity_from_i64(number, (enum quantity_format)random_below(&random, 2)));
        assert_int_equal(str_find_byte(strbuf_str(&out), '.'), -1);
        assert_int_equal(str_find_byte(strbuf_str(&out), 'm'), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qty_5_written_text_reads_back_equal_and_is_canonical),
        cmocka_unit_test(quantity_cmp__is_a_total_order),
        cmocka_unit_test(quantity_add__commutes_and_respects_order),
        cmocka_unit_test(quantity_sub__sign_agrees_with_comparison),
        cmocka_unit_test(qty_3_integer_view_is_the_nearest_integer_away_from_zero),
        cmocka_unit_test(qty_4_whole_numbers_are_written_without_fraction),
    };
    return cmocka_run_group_tests_name("quantity/write", tests, NULL, NULL);
}
