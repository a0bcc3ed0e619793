#include "noderesource/mid.h"
#include "support.h"

/* --- rows ------------------------------------------------------------------------------ */

#define CPU_ANY .unit_nano = 1000000, .has_usage = true
#define CPU CPU_ANY, .threshold_percent = 100
#define BYTES .unit_nano = 1000000000, .threshold_percent = 100, .has_usage = true
#define NODE100 CPU, .capacity = CORES(100), .allocatable = CORES(100), .lendable = CORES(100)

static const struct row {
    const char *name;
    struct mid_input in;
    int64_t mid;
    enum mid_bound bound;
    bool saturated;
} rows[] = {
    { "dynamic: prediction is lent",
      { NODE100, .reclaimable = CORES(15) },
      15000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: usage bounds the prediction",
      { NODE100, .reclaimable = CORES(80), .usage = CORES(70) },
      30000,
      MID_BOUND_UNUSED,
      false },
    { "dynamic: the threshold caps the sum",
      { CPU_ANY, .capacity = CORES(100), .allocatable = CORES(100), .reclaimable = CORES(15),
        .threshold_percent = 10, .prod_allocated = CORES(20), .unallocated_percent = 10 },
      10000,
      MID_BOUND_CAP,
      false },
    { "dynamic: unallocated share comes on top",
      { NODE100, .reclaimable = CORES(15), .prod_allocated = CORES(20), .unallocated_percent = 10 },
      23000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: missing usage means nothing is unused",
      { .unit_nano = 1000000,
        .threshold_percent = 100,
        .capacity = CORES(100),
        .allocatable = CORES(100),
        .reclaimable = CORES(15),
        .unallocated_percent = 10 },
      10000,
      MID_BOUND_UNUSED,
      false },
    { "dynamic: the largest reservation counts",
      { CPU, .capacity = CORES(100), .allocatable = CORES(95), .system_usage = CORES(4),
        .host_used = CORES(3), .reserved_by_annotation = CORES(6), .unallocated_percent = 100 },
      93000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: more Prod than capacity leaves nothing unallocated",
      { NODE100, .prod_allocated = CORES(120), .unallocated_percent = 100 },
      0,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: usage above capacity lends nothing",
      { NODE100, .usage = CORES(130), .reclaimable = CORES(10) },
      0,
      MID_BOUND_UNUSED,
      false },
    { "dynamic: 29 percent of 100000 is 29000",
      { CPU_ANY, .capacity = CORES(100), .reclaimable = CORES(50), .threshold_percent = 29 },
      29000,
      MID_BOUND_CAP,
      false },
    { "dynamic: 57 percent of 100000 is 57000",
      { CPU_ANY, .capacity = CORES(100), .reclaimable = CORES(60), .threshold_percent = 57 },
      57000,
      MID_BOUND_CAP,
      false },
    { "dynamic: percents truncate",
      { CPU_ANY, .capacity = MILLI(199), .reclaimable = CORES(1), .threshold_percent = 1 },
      1,
      MID_BOUND_CAP,
      false },
    { "dynamic: nanocores round up",
      { NODE100, .reclaimable = 1234567890 },
      1235,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: negative prediction counts 0",
      { NODE100, .reclaimable = -CORES(5) },
      0,
      MID_BOUND_RECLAIMABLE,
      false },
    { "dynamic: negative terms raise nothing",
      { NODE100, .reclaimable = CORES(15), .usage = -CORES(90), .system_usage = -CORES(9),
        .host_used = -CORES(9), .prod_allocated = -CORES(9), .reserved_by_annotation = -CORES(9),
        .unallocated_percent = 100 },
      100000,
      MID_BOUND_CAP,
      false },
    { "dynamic: no capacity lends nothing", { CPU, .reclaimable = CORES(15) }, 0, MID_BOUND_UNUSED, false },
    { "dynamic: absurd amounts are clamped and said",
      { BYTES, .capacity = API_NANO_MAX, .allocatable = API_NANO_MAX, .reclaimable = API_NANO_MAX },
      INT64_MAX,
      MID_BOUND_RECLAIMABLE,
      true },

    { "static: share of capacity",
      { NODE100, .mode = MID_STATIC, .static_percent = 20, .usage = CORES(100) },
      20000,
      MID_BOUND_STATIC,
      false },
    { "static: the threshold caps it",
      { CPU_ANY, .mode = MID_STATIC, .capacity = CORES(100), .static_percent = 120, .threshold_percent = 50 },
      50000,
      MID_BOUND_CAP,
      false },
    { "static: negative percent is nothing",
      { NODE100, .mode = MID_STATIC, .static_percent = -5 },
      0,
      MID_BOUND_STATIC,
      false },
    { "static: a huge percent saturates before the cap",
      { BYTES, .mode = MID_STATIC, .capacity = CORES(1000000), .static_percent = INT64_MAX },
      1000000,
      MID_BOUND_CAP,
      true },

    { "reclaimable: prediction below the share",
      { NODE100, .mode = MID_RECLAIMABLE, .reclaimable = CORES(15) },
      15000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "reclaimable: share of what is lendable",
      { CPU_ANY, .mode = MID_RECLAIMABLE, .capacity = CORES(100), .allocatable = CORES(90),
        .lendable = CORES(80), .reclaimable = CORES(50), .threshold_percent = 45 },
      36000,
      MID_BOUND_CAP,
      false },
    { "reclaimable: usage, system, host, reservation play no part",
      { NODE100, .mode = MID_RECLAIMABLE, .reclaimable = CORES(15), .usage = CORES(100),
        .system_usage = CORES(100), .host_used = CORES(100), .reserved_by_annotation = CORES(100),
        .prod_allocated = CORES(100), .unallocated_percent = 100 },
      15000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "reclaimable: negative prediction counts 0",
      { NODE100, .mode = MID_RECLAIMABLE, .reclaimable = -CORES(15) },
      0,
      MID_BOUND_RECLAIMABLE,
      false },

    { "mixed: unallocated stands outside the cap",
      { CPU_ANY, .mode = MID_MIXED, .lendable = CORES(100), .reclaimable = CORES(50),
        .prod_allocated = CORES(70), .threshold_percent = 10 },
      40000,
      MID_BOUND_CAP,
      false },
    { "mixed: the sum never exceeds allocatable",
      { NODE100, .mode = MID_MIXED, .reclaimable = CORES(50), .prod_allocated = CORES(20) },
      100000,
      MID_BOUND_ALLOCATABLE,
      false },
    { "mixed: overcommitted Prod leaves the prediction",
      { NODE100, .mode = MID_MIXED, .reclaimable = CORES(5), .prod_allocated = CORES(120) },
      5000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "mixed: no prediction leaves the unallocated",
      { NODE100, .mode = MID_MIXED, .reclaimable = -1, .prod_allocated = CORES(20) },
      80000,
      MID_BOUND_RECLAIMABLE,
      false },
    { "mixed: a fraction requested is not lent",
      { NODE100, .mode = MID_MIXED, .prod_allocated = CORES(1) + 1 },
      98999,
      MID_BOUND_RECLAIMABLE,
      false },
    { "mixed: absurd amounts are clamped and said",
      { BYTES, .mode = MID_MIXED, .lendable = API_NANO_MAX, .reclaimable = API_NANO_MAX },
      INT64_MAX,
      MID_BOUND_ALLOCATABLE,
      true },
};

static void mid__row(void **state)
{
    const struct row *row = *state;
    struct mid_result got = mid_calculate(&row->in);
    assert_int_equal(got.mid, row->mid);
    assert_string_equal(mid_bound_name(got.bound), mid_bound_name(row->bound));
    assert_int_equal(got.saturated, row->saturated);
}

/* --- percent, names ---------------------------------------------------------------------- */

static void percent__is_exact_and_truncates_toward_zero(void **state)
{
    (void)state;
    bool saturated = false;
    for (int64_t percent = 0; percent <= 100; percent++)
        assert_int_equal(exact_percent_of(100000, percent, &saturated), percent * 1000);
    assert_int_equal(exact_percent_of(199, 1, &saturated), 1);
    assert_int_equal(exact_percent_of(-199, 1, &saturated), -1);
    assert_int_equal(exact_percent_of(199, -1, &saturated), -1);
    assert_int_equal(exact_percent_of(INT64_MAX, 100, &saturated), INT64_MAX);
    assert_false(saturated);
    assert_true(exact_percent_of(INT64_MAX, 101, &saturated) == INT64_MAX);
    assert_true(saturated);
    saturated = false;
    assert_true(exact_percent_of(INT64_MAX, INT64_MIN, &saturated) == INT64_MIN);
    assert_true(saturated);
}

static void mode__names(void **state)
{
    (void)state;
    bool known;
    assert_int_equal(mid_mode_from_name(STR(""), &known), MID_DYNAMIC);
    assert_true(known);
    for (int mode = MID_DYNAMIC; mode <= MID_MIXED; mode++) {
        assert_int_equal(mid_mode_from_name(str_c(mid_mode_name((enum mid_mode)mode)), &known), mode);
        assert_true(known);
    }
    assert_int_equal(mid_mode_from_name(STR("Static"), &known), MID_DYNAMIC);
    assert_false(known);
}

static void terms__fit_the_mode(void **state)
{
    (void)state;
    static const size_t counts[] = {
        [MID_DYNAMIC] = 18, [MID_STATIC] = 6, [MID_RECLAIMABLE] = 6, [MID_MIXED] = 8
    };
    for (int mode = MID_DYNAMIC; mode <= MID_MIXED; mode++) {
        struct mid_input in = { NODE100, .mode = (enum mid_mode)mode, .reclaimable = CORES(15) };
        struct mid_result result = mid_calculate(&in);
        struct noderesource_term terms[NODERESOURCE_TERMS_MAX];
        size_t count = mid_terms(&in, &result, true, terms);
        assert_int_equal(count, counts[mode]);
        assert_string_equal(terms[count - 1].name, "mid");
        assert_int_equal(terms[count - 1].value, result.mid);
    }
}

static void terms__static_percent_is_named_after_its_field(void **state)
{
    (void)state;
    struct mid_input in = { NODE100, .mode = MID_STATIC, .static_percent = 20 };
    struct mid_result result = mid_calculate(&in);
    struct noderesource_term terms[NODERESOURCE_TERMS_MAX];
    mid_terms(&in, &result, true, terms);
    assert_string_equal(terms[1].name, "midStaticCPUReservedPercent");
    assert_int_equal(terms[1].value, 20);
    mid_terms(&in, &result, false, terms);
    assert_string_equal(terms[1].name, "midStaticMemoryReservedPercent");
}

/* --- properties ---------------------------------------------------------------------------- */

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Mostly sane, now and then absurd or negative. */
static __int128 random_amount(uint64_t *seed)
{
    uint64_t kind = next(seed) % 16;
    if (kind == 0)
        return API_NANO_MAX - (__int128)(next(seed) % 1000);
    if (kind == 1)
        return -(__int128)(next(seed) % 1000000000000);
    if (kind == 2)
        return (__int128)(next(seed) % 3);
    return (__int128)(next(seed) % 200000000000);
}

static int64_t random_percent(uint64_t *seed)
{
    return (int64_t)(next(seed) % 32 == 0 ? next(seed) >> 1 : next(seed) % 130);
}

static struct mid_input random_input(uint64_t *seed)
{
    return (struct mid_input){
        .mode = (enum mid_mode)(next(seed) % 4),
        .unit_nano = next(seed) % 2 ? 1000000 : 1000000000,
        .capacity = random_amount(seed),
        .allocatable = random_amount(seed),
        .lendable = random_amount(seed),
        .has_usage = next(seed) % 8 != 0,
        .usage = random_amount(seed),
        .system_usage = random_amount(seed),
        .host_used = random_amount(seed),
        .reserved_by_annotation = random_amount(seed),
        .prod_allocated = random_amount(seed),
        .reclaimable = random_amount(seed),
        .threshold_percent = random_percent(seed),
        .unallocated_percent = random_percent(seed),
        .static_percent = random_percent(seed),
    };
}

enum { ROUNDS = 200000 };

static void property__never_negative_never_above_the_modes_bound(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (int i = 0; i < ROUNDS; i++) {
        struct mid_input in = random_input(&seed);
        struct mid_result got = mid_calculate(&in);
        assert_true(got.mid >= 0);
        assert_true(got.mid <= (in.mode == MID_MIXED ? got.allocatable : got.cap));
    }
}

/* What changes one input must move the result one way only, or not at all. */
static void check_monotone(__int128 *input, const struct mid_input *in, uint64_t *seed, int direction)
{
    struct mid_result before = mid_calculate(in);
    *input += (__int128)(next(seed) % 50000000000);
    struct mid_result after = mid_calculate(in);
    assert_true(direction > 0 ? after.mid >= before.mid : after.mid <= before.mid);
}

static void property__more_usage_never_lends_more(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < ROUNDS; i++) {
        struct mid_input in = random_input(&seed);
        check_monotone(&in.usage, &in, &seed, -1);
        check_monotone(&in.system_usage, &in, &seed, -1);
        check_monotone(&in.host_used, &in, &seed, -1);
        check_monotone(&in.reserved_by_annotation, &in, &seed, -1);
    }
}

static void property__more_prod_requests_never_lend_more(void **state)
{
    (void)state;
    uint64_t seed = 43;
    for (int i = 0; i < ROUNDS; i++) {
        struct mid_input in = random_input(&seed);
        check_monotone(&in.prod_allocated, &in, &seed, -1);
    }
}

static void property__more_reclaimable_never_lends_less(void **state)
{
    (void)state;
    uint64_t seed = 44;
    for (int i = 0; i < ROUNDS; i++) {
        struct mid_input in = random_input(&seed);
        check_monotone(&in.reclaimable, &in, &seed, 1);
    }
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(percent__is_exact_and_truncates_toward_zero),
        cmocka_unit_test(mode__names),
        cmocka_unit_test(terms__fit_the_mode),
        cmocka_unit_test(terms__static_percent_is_named_after_its_field),
        cmocka_unit_test(property__never_negative_never_above_the_modes_bound),
        cmocka_unit_test(property__more_usage_never_lends_more),
        cmocka_unit_test(property__more_prod_requests_never_lend_more),
        cmocka_unit_test(property__more_reclaimable_never_lends_less),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, mid__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("noderesource/mid", tests, NULL, NULL);
}
