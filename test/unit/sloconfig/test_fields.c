#include "support.h"

static const struct row {
    const char *name;
    const char *json; /* one strategy */
    bool controller;
    bool admission;
} rows[] = {
    { "fields_3_3: metricAggregateDurationSeconds -1 is below", "{\"metricAggregateDurationSeconds\":-1}", 0,
      0 },
    { "fields_3_3: metricAggregateDurationSeconds 0 is below", "{\"metricAggregateDurationSeconds\":0}", 0,
      0 },
    { "fields_3_3: metricAggregateDurationSeconds 1", "{\"metricAggregateDurationSeconds\":1}", 1, 1 },
    { "fields_3_3: metricReportIntervalSeconds 0 is below", "{\"metricReportIntervalSeconds\":0}", 0, 0 },
    { "fields_3_3: metricReportIntervalSeconds 1", "{\"metricReportIntervalSeconds\":1}", 1, 1 },
    { "fields_3_3: metricReportIntervalSeconds has no top",
      "{\"metricReportIntervalSeconds\":9223372036854775807}", 1, 1 },
    { "fields_3_3: durations have no range", "{\"metricAggregatePolicy\":{\"durations\":[\"0\",\"-5m\"]}}", 1,
      1 },
    { "fields_3_3: metricMemoryCollectPolicy empty", "{\"metricMemoryCollectPolicy\":\"\"}", 0, 0 },
    { "fields_3_3: metricMemoryCollectPolicy outside the CRD's enum",
      "{\"metricMemoryCollectPolicy\":\"usage\"}", 0, 0 },
    { "fields_3_3: metricMemoryCollectPolicy is case-sensitive",
      "{\"metricMemoryCollectPolicy\":\"UsageWithPageCache\"}", 0, 0 },
    { "fields_3_3: metricMemoryCollectPolicy usageWithPageCache",
      "{\"metricMemoryCollectPolicy\":\"usageWithPageCache\"}", 1, 1 },
    { "fields_3_3: metricMemoryCollectPolicy usageWithoutPageCache",
      "{\"metricMemoryCollectPolicy\":\"usageWithoutPageCache\"}", 1, 1 },
    { "fields_3_3: metricMemoryCollectPolicy usageWithHotPageCache",
      "{\"metricMemoryCollectPolicy\":\"usageWithHotPageCache\"}", 1, 1 },
    { "fields_3_3: cpuReclaimThresholdPercent -1 is below", "{\"cpuReclaimThresholdPercent\":-1}", 0, 0 },
    { "fields_3_3: cpuReclaimThresholdPercent 0", "{\"cpuReclaimThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: cpuReclaimThresholdPercent may exceed 100", "{\"cpuReclaimThresholdPercent\":250}", 1, 1 },
    { "fields_3_3: memoryReclaimThresholdPercent -1 is below", "{\"memoryReclaimThresholdPercent\":-1}", 0,
      0 },
    { "fields_3_3: memoryReclaimThresholdPercent 0", "{\"memoryReclaimThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: memoryReclaimThresholdPercent may exceed 100", "{\"memoryReclaimThresholdPercent\":101}",
      1, 1 },
    { "fields_3_3: cpuCalculatePolicy has no range", "{\"cpuCalculatePolicy\":\"anything\"}", 1, 1 },
    { "fields_3_3: memoryCalculatePolicy has no range", "{\"memoryCalculatePolicy\":\"\"}", 1, 1 },
    { "fields_3_3: degradeTimeMinutes 0 is below", "{\"degradeTimeMinutes\":0}", 0, 0 },
    { "fields_3_3: degradeTimeMinutes 1", "{\"degradeTimeMinutes\":1}", 1, 1 },
    { "fields_3_3: updateTimeThresholdSeconds 0 is below", "{\"updateTimeThresholdSeconds\":0}", 0, 0 },
    { "fields_3_3: updateTimeThresholdSeconds 1", "{\"updateTimeThresholdSeconds\":1}", 1, 1 },
    { "fields_3_3: resourceDiffThreshold -0.1 is below", "{\"resourceDiffThreshold\":-0.1}", 0, 0 },
    { "fields_3_3: resourceDiffThreshold 0 is not above 0", "{\"resourceDiffThreshold\":0}", 0, 0 },
    { "fields_3_3: resourceDiffThreshold 0.0 is not above 0", "{\"resourceDiffThreshold\":0.0}", 0, 0 },
    { "fields_3_3: resourceDiffThreshold 0.0001", "{\"resourceDiffThreshold\":0.0001}", 1, 1 },
    { "fields_3_3: resourceDiffThreshold 1", "{\"resourceDiffThreshold\":1}", 1, 1 },
    { "fields_3_3: resourceDiffThreshold 1.01 only admission refuses", "{\"resourceDiffThreshold\":1.01}", 1,
      0 },
    { "fields_3_3: resourceDiffThreshold 1e40 only admission refuses", "{\"resourceDiffThreshold\":1e40}", 1,
      0 },
    { "fields_3_3: resourceDiffThreshold with an exponent", "{\"resourceDiffThreshold\":5e-1}", 1, 1 },
    { "fields_3_3: midReclaimMode has no range", "{\"midReclaimMode\":\"anything\"}", 1, 1 },
    { "fields_3_3: midCPUThresholdPercent -1 is below", "{\"midCPUThresholdPercent\":-1}", 0, 0 },
    { "fields_3_3: midCPUThresholdPercent 0", "{\"midCPUThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: midCPUThresholdPercent 100", "{\"midCPUThresholdPercent\":100}", 1, 1 },
    { "fields_3_3: midCPUThresholdPercent 101 is above", "{\"midCPUThresholdPercent\":101}", 0, 0 },
    { "fields_3_3: midMemoryThresholdPercent -1 is below", "{\"midMemoryThresholdPercent\":-1}", 0, 0 },
    { "fields_3_3: midMemoryThresholdPercent 0", "{\"midMemoryThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: midMemoryThresholdPercent 100", "{\"midMemoryThresholdPercent\":100}", 1, 1 },
    { "fields_3_3: midMemoryThresholdPercent 101 is above", "{\"midMemoryThresholdPercent\":101}", 0, 0 },
    { "fields_3_3: midUnallocatedPercent -1 is below", "{\"midUnallocatedPercent\":-1}", 0, 0 },
    { "fields_3_3: midUnallocatedPercent 0", "{\"midUnallocatedPercent\":0}", 1, 1 },
    { "fields_3_3: midUnallocatedPercent 100", "{\"midUnallocatedPercent\":100}", 1, 1 },
    { "fields_3_3: midUnallocatedPercent 101 is above", "{\"midUnallocatedPercent\":101}", 0, 0 },
    { "fields_3_3: midStaticCPUReservedPercent -1 is below", "{\"midStaticCPUReservedPercent\":-1}", 0, 0 },
    { "fields_3_3: midStaticCPUReservedPercent 0", "{\"midStaticCPUReservedPercent\":0}", 1, 1 },
    { "fields_3_3: midStaticCPUReservedPercent 100", "{\"midStaticCPUReservedPercent\":100}", 1, 1 },
    { "fields_3_3: midStaticCPUReservedPercent 101 only admission refuses",
      "{\"midStaticCPUReservedPercent\":101}", 1, 0 },
    { "fields_3_3: midStaticMemoryReservedPercent -1 is below", "{\"midStaticMemoryReservedPercent\":-1}", 0,
      0 },
    { "fields_3_3: midStaticMemoryReservedPercent 0", "{\"midStaticMemoryReservedPercent\":0}", 1, 1 },
    { "fields_3_3: midStaticMemoryReservedPercent 100", "{\"midStaticMemoryReservedPercent\":100}", 1, 1 },
    { "fields_3_3: midStaticMemoryReservedPercent 101 only admission refuses",
      "{\"midStaticMemoryReservedPercent\":101}", 1, 0 },
    { "fields_3_3: batchCPUThresholdPercent -1 is below", "{\"batchCPUThresholdPercent\":-1}", 0, 0 },
    { "fields_3_3: batchCPUThresholdPercent 0", "{\"batchCPUThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: batchCPUThresholdPercent may exceed 100", "{\"batchCPUThresholdPercent\":101}", 1, 1 },
    { "fields_3_3: batchMemoryThresholdPercent -1 is below", "{\"batchMemoryThresholdPercent\":-1}", 0, 0 },
    { "fields_3_3: batchMemoryThresholdPercent 0", "{\"batchMemoryThresholdPercent\":0}", 1, 1 },
    { "fields_3_3: batchMemoryThresholdPercent may exceed 100", "{\"batchMemoryThresholdPercent\":101}", 1,
      1 },
    { "fields: predict resourceDiffThresholdPercent -1 is below",
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":-1}}", 0, 0 },
    { "fields: predict resourceDiffThresholdPercent 0",
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":0}}", 1, 1 },
    { "fields: predict resourceDiffThresholdPercent may exceed 100",
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":150}}", 1, 1 },
    { "fields: predict coldStartPeriodSeconds -1 is below",
      "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":-1}}", 0, 0 },
    { "fields: predict coldStartPeriodSeconds 0", "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":0}}", 1,
      1 },
    { "fields: everything unset", "{}", 1, 1 },
};

static void read_row(struct arena *arena, const char *json, struct strategy *ret)
{
    struct err err = ERR_INIT;
    if (!strategy_from_json(must_parse(arena, str_c(json)), arena, ret, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static bool in_range(const struct strategy *strategy, enum rule_level level, struct arena *arena)
{
    bool ok = true;
    for (size_t i = 0; i < strategy_field_count; i++) {
        struct str rule = STR_NULL;
        bool field_ok = strategy_field_in_range(&strategy_fields[i], strategy, level, arena, &rule);
        assert_int_equal(!field_ok, str_starts_with(rule, STR("must be ")));
        ok = ok && field_ok;
    }
    return ok;
}

static void range__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct strategy strategy;
    read_row(&arena, row->json, &strategy);
    assert_int_equal(in_range(&strategy, LEVEL_CONTROLLER, &arena), row->controller);
    assert_int_equal(in_range(&strategy, LEVEL_ADMISSION, &arena), row->admission);
}

static void defaults__are_those_of_3_3(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct strategy strategy;
    strategy_defaults(&strategy, &arena);
    assert_string_equal(
        as_text(&arena, strategy_to_json(&strategy, &arena)),
        "{\"enable\":false,\"metricAggregateDurationSeconds\":300,\"metricReportIntervalSeconds\":60,"
        "\"metricAggregatePolicy\":{\"durations\":[\"5m0s\",\"10m0s\",\"30m0s\"]},"
        "\"metricMemoryCollectPolicy\":\"usageWithoutPageCache\",\"cpuReclaimThresholdPercent\":60,"
        "\"cpuCalculatePolicy\":\"usage\",\"memoryReclaimThresholdPercent\":65,\"memoryCalculatePolicy\":"
        "\"usage\","
        "\"degradeTimeMinutes\":15,\"updateTimeThresholdSeconds\":300,\"resourceDiffThreshold\":0.1,"
        "\"midCPUThresholdPercent\":100,\"midMemoryThresholdPercent\":100,\"midUnallocatedPercent\":0,"
        "\"midStaticCPUReservedPercent\":0,\"midStaticMemoryReservedPercent\":0}");
}

static void defaults__are_in_range_at_both_levels(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct strategy strategy;
    strategy_defaults(&strategy, &arena);
    assert_true(in_range(&strategy, LEVEL_CONTROLLER, &arena));
    assert_true(in_range(&strategy, LEVEL_ADMISSION, &arena));
}

static void table__admission_is_never_looser(void **state)
{
    (void)state;
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_range *c = &strategy_fields[i].range[LEVEL_CONTROLLER];
        const struct strategy_range *a = &strategy_fields[i].range[LEVEL_ADMISSION];
        assert_true(!c->has_min || (a->has_min && a->min >= c->min));
        assert_true(!c->has_max || (a->has_max && a->max <= c->max));
        assert_non_null(strategy_fields[i].description);
    }
}

static const struct merge_row {
    const char *name;
    const char *base;
    const char *over;
    const char *want;
} merge_rows[] = {
    { "merge_3_4: scalars replace", "{\"enable\":true,\"degradeTimeMinutes\":5}",
      "{\"degradeTimeMinutes\":7}", "{\"enable\":true,\"degradeTimeMinutes\":7}" },
    { "merge_3_4: false and 0 are values", "{\"enable\":true,\"midUnallocatedPercent\":5}",
      "{\"enable\":false,\"midUnallocatedPercent\":0}", "{\"enable\":false,\"midUnallocatedPercent\":0}" },
    { "merge_3_4: null does not replace", "{\"degradeTimeMinutes\":5}", "{\"degradeTimeMinutes\":null}",
      "{\"degradeTimeMinutes\":5}" },
    { "merge_3_4: an empty policy does replace", "{\"cpuCalculatePolicy\":\"maxUsageRequest\"}",
      "{\"cpuCalculatePolicy\":\"\"}", "{\"cpuCalculatePolicy\":\"\"}" },
    { "merge_3_4: nested objects merge by field", "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":60}}",
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":5}}",
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":5,\"coldStartPeriodSeconds\":60}}" },
    { "merge_3_4: an empty nested object still counts as given", "{}", "{\"nodePredictPolicy\":{}}",
      "{\"nodePredictPolicy\":{}}" },
    { "merge_3_4: maps merge by key", "{\"extensions\":{\"a\":1,\"b\":{\"x\":1}}}",
      "{\"extensions\":{\"b\":{\"y\":2},\"c\":null}}",
      "{\"extensions\":{\"a\":1,\"b\":{\"y\":2},\"c\":null}}" },
    { "merge_3_4: arrays replace", "{\"metricAggregatePolicy\":{\"durations\":[\"1m\",\"2m\",\"3m\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"9m\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"9m0s\"]}}" },
    { "merge_3_4: an empty list replaces", "{\"metricAggregatePolicy\":{\"durations\":[\"1m\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[]}}", "{\"metricAggregatePolicy\":{\"durations\":[]}}" },
    { "merge_3_4: a decimal keeps its text", "{\"resourceDiffThreshold\":0.1}",
      "{\"resourceDiffThreshold\":0.250}", "{\"resourceDiffThreshold\":0.250}" },
};

static void merge__row(void **state)
{
    const struct merge_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct strategy base, over;
    read_row(&arena, row->base, &base);
    read_row(&arena, row->over, &over);
    strategy_merge(&base, &over, &arena);
    assert_string_equal(as_text(&arena, strategy_to_json(&base, &arena)), row->want);
}

static const struct equal_row {
    const char *name;
    const char *a;
    const char *b;
    bool want;
} equal_rows[] = {
    { "equal: same", "{\"enable\":true}", "{\"ENABLE\":true}", true },
    { "equal: unset is not false", "{}", "{\"enable\":false}", false },
    { "equal: numbers", "{\"degradeTimeMinutes\":5}", "{\"degradeTimeMinutes\":6}", false },
    { "equal: decimals by value", "{\"resourceDiffThreshold\":0.10}", "{\"resourceDiffThreshold\":1e-1}",
      true },
    { "equal: texts", "{\"midReclaimMode\":\"static\"}", "{\"midReclaimMode\":\"mixed\"}", false },
    { "equal: durations in canonical form", "{\"metricAggregatePolicy\":{\"durations\":[\"300s\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"5m\"]}}", true },
    { "equal: an empty predict policy is not none", "{\"nodePredictPolicy\":{}}", "{}", false },
    { "equal: extensions", "{\"extensions\":{\"a\":1}}", "{\"extensions\":{\"a\":2}}", false },
};

static void equal__row(void **state)
{
    const struct equal_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct strategy a, b;
    read_row(&arena, row->a, &a);
    read_row(&arena, row->b, &b);
    assert_int_equal(strategy_equal(&a, &b), row->want);
    assert_int_equal(strategy_equal(&b, &a), row->want);
}

int main(void)
{
    TEST_ROWS(ranges, rows, range__row);
    TEST_ROWS(merges, merge_rows, merge__row);
    TEST_ROWS(equals, equal_rows, equal__row);
    const struct CMUnitTest whole[] = {
        cmocka_unit_test(defaults__are_those_of_3_3),
        cmocka_unit_test(defaults__are_in_range_at_both_levels),
        cmocka_unit_test(table__admission_is_never_looser),
    };
    return cmocka_run_group_tests_name("sloconfig/ranges", ranges, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/merge", merges, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/equal", equals, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/fields", whole, NULL, NULL);
}
