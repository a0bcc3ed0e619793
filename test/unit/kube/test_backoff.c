#include "core_support.h"
#include "kube/backoff.h"

/* --- random ------------------------------------------------------------------------ */

static void random__repeats_for_the_same_seed(void **state)
{
    (void)state;
    struct random a = { .state = 7 }, b = { .state = 7 }, c = { .state = 8 };
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t x = random_next(&a);
        assert_true(x == random_next(&b));
        differs |= x != random_next(&c);
    }
    assert_true(differs);
}

static void random__stays_within_and_reaches_both_ends(void **state)
{
    (void)state;
    struct random random = { .state = 1 };
    int seen[5] = { 0 };
    for (int i = 0; i < 1000; i++) {
        int64_t x = random_between(&random, -2, 2);
        assert_between(x, -2, 2);
        seen[x + 2]++;
    }
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_true(seen[i] > 100);
}

static void random__empty_range_is_its_low_end(void **state)
{
    (void)state;
    struct random random = { .state = 1 };
    assert_int_equal(random_between(&random, 5, 5), 5);
    assert_int_equal(random_between(&random, 5, 4), 5);
}

/* --- backoff ----------------------------------------------------------------------- */

#define BACKOFF ((struct backoff){ .start_ms = 800, .cap_ms = 30000 })

static void ref_1_each_wait_is_within_d_and_2d_up_to_the_cap(void **state)
{
    (void)state;
    static const int64_t steps[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000 };
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct random random = { .state = seed };
        struct backoff backoff = BACKOFF;
        int64_t last = 0;
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            int64_t wait = backoff_next(&backoff, &random);
            assert_between(wait, steps[i], min_i64(2 * steps[i] - 1, 30000));
            assert_true(wait >= last);
            last = wait;
        }
    }
}

static void ref_1_waits_are_spread(void **state)
{
    (void)state;
    int64_t low = INT64_MAX, high = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct random random = { .state = seed };
        struct backoff backoff = BACKOFF;
        int64_t wait = backoff_next(&backoff, &random);
        low = min_i64(low, wait);
        high = max_i64(high, wait);
    }
    assert_true(high - low > 600);
}

static void reset_starts_over(void **state)
{
    (void)state;
    struct random random = { .state = 3 };
    struct backoff backoff = BACKOFF;
    for (int i = 0; i < 10; i++)
        backoff_next(&backoff, &random);
    backoff_reset(&backoff);
    assert_between(backoff_next(&backoff, &random), 800, 1599);
}

/* --- token bucket ------------------------------------------------------------------ */

static void bucket__gives_its_burst_then_its_rate(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 10, 3, at_ms(0));
    for (int i = 0; i < 3; i++)
        assert_true(token_bucket_take(&bucket, at_ms(0)));
    assert_false(token_bucket_take(&bucket, at_ms(0)));
    assert_between(token_bucket_wait_ms(&bucket, at_ms(0)), 100, 101);
    assert_false(token_bucket_take(&bucket, at_ms(99)));
    assert_true(token_bucket_take(&bucket, at_ms(101)));
    assert_false(token_bucket_take(&bucket, at_ms(101)));
}

static void bucket__has_a_token_when_its_wait_is_over(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 7, 1, at_ms(0));
    int64_t now = 0;
    for (int i = 0; i < 1000; i++) {
        now += token_bucket_wait_ms(&bucket, at_ms(now));
        assert_true(token_bucket_take(&bucket, at_ms(now)));
    }
    assert_between(now, 999 * 1000 / 7, 999 * (1000 / 7 + 2));
}

static void bucket__saves_no_more_than_its_burst(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 1000, 5, at_ms(0));
    int given = 0;
    while (token_bucket_take(&bucket, at_ms(3600 * 1000)))
        given++;
    assert_int_equal(given, 5);
}

static void bucket__without_rate_has_no_limit(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 0, 0, at_ms(0));
    for (int i = 0; i < 10000; i++)
        assert_true(token_bucket_take(&bucket, at_ms(0)));
    assert_int_equal(token_bucket_wait_ms(&bucket, at_ms(0)), 0);
}

static void bucket__burst_below_one_still_gives(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 2, 0.5, at_ms(0));
    assert_true(token_bucket_take(&bucket, at_ms(0)));
    assert_false(token_bucket_take(&bucket, at_ms(0)));
    assert_true(token_bucket_take(&bucket, at_ms(501)));
}

static void bucket__a_clock_that_stands_or_steps_back_gives_nothing(void **state)
{
    (void)state;
    struct token_bucket bucket;
    token_bucket_init(&bucket, 1, 1, at_ms(1000));
    assert_true(token_bucket_take(&bucket, at_ms(1000)));
    assert_false(token_bucket_take(&bucket, at_ms(500)));
    assert_false(token_bucket_take(&bucket, at_ms(1000)));
    assert_true(token_bucket_take(&bucket, at_ms(2001)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random__repeats_for_the_same_seed),
        cmocka_unit_test(random__stays_within_and_reaches_both_ends),
        cmocka_unit_test(random__empty_range_is_its_low_end),
        cmocka_unit_test(ref_1_each_wait_is_within_d_and_2d_up_to_the_cap),
        cmocka_unit_test(ref_1_waits_are_spread),
        cmocka_unit_test(reset_starts_over),
        cmocka_unit_test(bucket__gives_its_burst_then_its_rate),
        cmocka_unit_test(bucket__has_a_token_when_its_wait_is_over),
        cmocka_unit_test(bucket__saves_no_more_than_its_burst),
        cmocka_unit_test(bucket__without_rate_has_no_limit),
        cmocka_unit_test(bucket__burst_below_one_still_gives),
        cmocka_unit_test(bucket__a_clock_that_stands_or_steps_back_gives_nothing),
    };
    return cmocka_run_group_tests_name("kube/backoff", tests, NULL, NULL);
}
