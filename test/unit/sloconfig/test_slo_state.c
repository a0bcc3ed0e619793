#include "sloconfig/slo_state.h"
#include "support.h"

#define GRACE_MS 1000
#define BURST_ON "{\"clusterStrategy\":{\"policy\":\"auto\"}}"
#define QOS_ON "{\"clusterStrategy\":{\"lsClass\":{}}}"

static const struct slo_status *see(struct slo_policy *policy, const char *burst, const char *qos)
{
    struct slo_input in = { .source = SOURCE_PRESENT };
    in.values[SLO_CPU_BURST] = (struct slo_value){ burst != NULL, str_c(burst) };
    in.values[SLO_QOS] = (struct slo_value){ qos != NULL, str_c(qos) };
    return slo_policy_observe(policy, &in);
}

static const struct slo_status *see_nothing(struct slo_policy *policy, int64_t at_ms)
{
    struct slo_input in = { .source = SOURCE_ABSENT, .now = mono_add_ms((struct mono_time){ 0 }, at_ms) };
    return slo_policy_observe(policy, &in);
}

static void assert_burst(const struct slo_status *status, const char *want)
{
    assert_non_null(status->in_force[SLO_CPU_BURST]);
    struct str got = json_str(json_get(status->in_force[SLO_CPU_BURST]->cluster, STR("policy")));
    assert_true(str_eq(got, str_c(want)));
}

static void isolation_3_14_nothing_is_known_at_first(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    struct slo_input in = { .source = SOURCE_UNKNOWN };
    const struct slo_status *status = slo_policy_observe(policy, &in);
    assert_true(status->holding);
    assert_null(status->in_force[SLO_QOS]);
    assert_int_equal(status->recheck_after_ms, -1);
}

static void isolation_3_14_missing_keys_are_defaults(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    const struct slo_status *status = see(policy, NULL, NULL);
    assert_false(status->holding);
    for (size_t i = 0; i < SLO_KEY_COUNT; i++)
        assert_non_null(status->in_force[i]);
    assert_burst(status, "none");
    assert_int_equal(status->event_count, 0);
}

static void isolation_3_14_a_bad_key_keeps_what_it_said_and_the_others_follow(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    see(policy, BURST_ON, NULL);
    const struct slo_status *status = see(policy, "{", QOS_ON);
    assert_burst(status, "auto");
    assert_true(status->rejected[SLO_CPU_BURST]);
    assert_false(status->rejected[SLO_QOS]);
    assert_int_equal(json_count(status->in_force[SLO_QOS]->cluster), 1);
    assert_int_equal(status->event_count, 1);
    assert_string_equal(status->events[0].reason, "SLOCfgUnmarshalFailed");
    assert_true(status->events[0].warning);
    assert_int_equal(status->event_keys[0], SLO_CPU_BURST);
    assert_true(status->news[SLO_CPU_BURST] && status->news[SLO_QOS] && !status->news[SLO_SYSTEM]);
}

static void isolation_3_14_one_event_for_each_bad_key_and_once(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    assert_int_equal(see(policy, "{", "null")->event_count, 2);
    assert_int_equal(see(policy, "{", "null")->event_count, 0);
    assert_int_equal(see(policy, "{", "")->event_count, 1);
}

static void isolation_3_14_a_key_that_is_removed_returns_to_its_default(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    see(policy, BURST_ON, NULL);
    assert_burst(see(policy, NULL, NULL), "none");
}

static void cold_start_a_bad_key_is_not_known(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    const struct slo_status *status = see(policy, "{", QOS_ON);
    assert_null(status->in_force[SLO_CPU_BURST]);
    assert_non_null(status->in_force[SLO_QOS]);
    assert_burst(see(policy, BURST_ON, QOS_ON), "auto");
}

static void generation_grows_only_with_news(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    uint64_t first = see(policy, NULL, NULL)->generation;
    assert_int_equal(see(policy, "{\"clusterStrategy\":{\"policy\":\"none\"}}", NULL)->generation, first);
    assert_int_equal(see(policy, "{", NULL)->generation, first);
    uint64_t second = see(policy, BURST_ON, NULL)->generation;
    assert_true(second > first);
    assert_int_equal(see(policy, BURST_ON, NULL)->generation, second);
}

static void missing_stays_for_the_grace_period_then_defaults(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    see(policy, BURST_ON, NULL);
    const struct slo_status *status = see_nothing(policy, 5000);
    assert_burst(status, "auto");
    assert_int_equal(status->recheck_after_ms, GRACE_MS);
    status = see_nothing(policy, 5400);
    assert_int_equal(status->recheck_after_ms, 600);
    status = see_nothing(policy, 6000);
    assert_burst(status, "none");
    assert_int_equal(status->recheck_after_ms, -1);
    assert_burst(see(policy, BURST_ON, NULL), "auto");
}

static void missing_at_start_holds_for_the_grace_period(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    assert_true(see_nothing(policy, 0)->holding);
    assert_false(see_nothing(policy, GRACE_MS)->holding);
    assert_burst(see_nothing(policy, GRACE_MS), "none");
}

static void partly_an_entry_that_is_skipped_is_told(void **state)
{
    (void)state;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(GRACE_MS);
    const struct slo_status *status =
        see(policy,
            "{\"nodeStrategies\":[{\"nodeSelector\":{\"matchExpressions\":[{\"key\":\"a\","
            "\"operator\":\"Is\"}]}}]}",
            NULL);
    assert_int_equal(status->event_count, 1);
    assert_string_equal(status->events[0].reason, "SLOCfgPartlyApplied");
    assert_false(status->rejected[SLO_CPU_BURST]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isolation_3_14_nothing_is_known_at_first),
        cmocka_unit_test(isolation_3_14_missing_keys_are_defaults),
        cmocka_unit_test(isolation_3_14_a_bad_key_keeps_what_it_said_and_the_others_follow),
        cmocka_unit_test(isolation_3_14_one_event_for_each_bad_key_and_once),
        cmocka_unit_test(isolation_3_14_a_key_that_is_removed_returns_to_its_default),
        cmocka_unit_test(cold_start_a_bad_key_is_not_known),
        cmocka_unit_test(generation_grows_only_with_news),
        cmocka_unit_test(missing_stays_for_the_grace_period_then_defaults),
        cmocka_unit_test(missing_at_start_holds_for_the_grace_period),
        cmocka_unit_test(partly_an_entry_that_is_skipped_is_told),
    };
    return cmocka_run_group_tests_name("sloconfig/slo_state", tests, NULL, NULL);
}
