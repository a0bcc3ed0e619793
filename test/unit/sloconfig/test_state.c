#include "sloconfig/state.h"
#include "support.h"

#define GOOD "{\"enable\":true}"
#define OTHER "{\"enable\":true,\"degradeTimeMinutes\":5}"
#define BAD_JSON "{\"enable\":"
#define BAD_RANGE "{\"degradeTimeMinutes\":0}"
#define PARTLY "{\"enable\":true,\"nodeConfigs\":[{\"nodeSelector\":{},\"degradeTimeMinutes\":0}]}"

struct fixture {
    struct colocation_policy *policy;
    const struct colocation_status *status;
    struct mono_time now;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    f->policy = colocation_policy_new(300 * 1000);
    f->status = colocation_policy_status(f->policy);
    f->now = (struct mono_time){ 77 * NS_PER_S };
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    colocation_policy_free(f->policy);
    free(f);
    return 0;
}

static void see(struct fixture *f, const char *value)
{
    struct colocation_input in = { SOURCE_PRESENT, str_c(value), f->now };
    f->status = colocation_policy_observe(f->policy, &in);
}

static void see_none(struct fixture *f, enum colocation_source source)
{
    struct colocation_input in = { source, STR_NULL, f->now };
    f->status = colocation_policy_observe(f->policy, &in);
}

static void pass_s(struct fixture *f, int64_t seconds)
{
    f->now = mono_add_ms(f->now, seconds * 1000);
}

/* "reason reason" of the events of the last call. */
static void assert_events(const struct fixture *f, const char *want)
{
    struct strbuf got = STRBUF_INIT(1024);
    for (size_t i = 0; i < f->status->event_count; i++)
        strbuf_addf(&got, "%s%s", i ? " " : "", f->status->events[i].reason);
    assert_string_equal(strbuf_cstr(&got), want);
    strbuf_done(&got);
}

static void assert_state(const struct fixture *f, const char *state, bool in_force, bool error,
                         uint64_t generation)
{
    assert_string_equal(colocation_state_name(f->status->state), state);
    assert_int_equal(f->status->in_force != NULL, in_force);
    assert_int_equal(f->status->error, error);
    assert_int_equal(f->status->generation, generation);
}

static void state__starts_holding_with_nothing(void **state)
{
    struct fixture *f = *state;
    assert_state(f, "holding", false, false, 0);
    see_none(f, SOURCE_UNKNOWN);
    assert_state(f, "holding", false, false, 0);
    assert_int_equal(f->status->recheck_after_ms, -1);
    assert_events(f, "");
}

static void state_3_5__a_good_key_is_taken(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    assert_state(f, "accepted", true, false, 1);
    assert_true(f->status->in_force->cluster.enable.value);
    assert_events(f, "ColocationCfgAccepted");
}

static void state_3_5__a_missing_key_is_the_defaults_at_once(void **state)
{
    struct fixture *f = *state;
    see(f, "");
    assert_state(f, "default", true, false, 1);
    assert_false(f->status->in_force->cluster.enable.value);
}

static void state_3_5__the_same_value_is_no_news(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see(f, GOOD);
    assert_state(f, "accepted", true, false, 1);
    assert_events(f, "");
}

static void state_3_5__a_change_without_effect_queues_nobody(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see(f, "{ \"Enable\": true }");
    assert_state(f, "accepted", true, false, 1);
}

static void state_3_5__an_edit_takes_effect_at_once(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see(f, OTHER);
    assert_state(f, "accepted", true, false, 2);
    assert_int_equal(f->status->in_force->cluster.degrade_minutes.value, 5);
}

static void state_3_5__a_json_error_keeps_the_last_good_one(void **state)
{
    struct fixture *f = *state;
    see(f, OTHER);
    see(f, BAD_JSON);
    assert_state(f, "rejected", true, true, 1);
    assert_int_equal(f->status->in_force->cluster.degrade_minutes.value, 5);
    assert_events(f, "ColocationCfgUnmarshalFailed");
    assert_true(f->status->events[0].warning);
    assert_int_equal(f->status->findings->rejected, 1);
    see(f, BAD_JSON);
    assert_events(f, "");
    assert_int_equal(f->status->findings->rejected, 1);
}

static void state_3_5__a_range_error_has_its_event_too(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see(f, BAD_RANGE);
    assert_state(f, "rejected", true, true, 1);
    assert_events(f, "ColocationCfgInvalid");
    assert_string_equal(
        f->status->events[0].message.ptr,
        "colocation-config.degradeTimeMinutes = 0: must be above 0 (ConfigParamInvalid); the last "
        "good policy stays in force");
}

static void state_3_5__a_bad_entry_is_told_and_the_rest_taken(void **state)
{
    struct fixture *f = *state;
    see(f, PARTLY);
    assert_state(f, "accepted", true, false, 1);
    assert_events(f, "ColocationCfgAccepted ColocationCfgPartlyApplied");
}

static void state_3_5__good_again_ends_the_error_and_queues_all(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see(f, BAD_JSON);
    see(f, GOOD);
    assert_state(f, "accepted", true, false, 2);
    assert_int_equal(f->status->findings->count, 0);
}

static void cold_start__a_bad_key_holds(void **state)
{
    struct fixture *f = *state;
    see(f, BAD_RANGE);
    assert_state(f, "rejected", false, true, 0);
    assert_events(f, "ColocationCfgInvalid");
    assert_true(
        str_ends_with(f->status->events[0].message, STR("no good policy is known, nothing is changed")));
    pass_s(f, 100000);
    see(f, BAD_RANGE);
    assert_state(f, "rejected", false, true, 0);
    assert_int_equal(f->status->recheck_after_ms, -1);
}

static void cold_start__a_first_good_one_equal_to_the_defaults_queues_all(void **state)
{
    struct fixture *f = *state;
    see(f, BAD_JSON);
    see(f, "{}");
    assert_state(f, "accepted", true, false, 1);
}

static void cold_start__bad_then_deleted_waits_the_grace(void **state)
{
    struct fixture *f = *state;
    see(f, BAD_JSON);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "holding", false, true, 0);
    pass_s(f, 300);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "default", true, true, 1);
}

static void absent__a_start_without_one_waits_the_grace(void **state)
{
    struct fixture *f = *state;
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "holding", false, true, 0);
    assert_events(f, "ColocationCfgMissing");
    assert_int_equal(f->status->recheck_after_ms, 300 * 1000);
    pass_s(f, 299);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "holding", false, true, 0);
    assert_int_equal(f->status->recheck_after_ms, 1000);
    assert_events(f, "");
    pass_s(f, 1);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "default", true, true, 1);
    assert_int_equal(f->status->recheck_after_ms, -1);
    assert_events(f, "ColocationCfgDefaulted");
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "default", true, true, 1);
    assert_events(f, "");
}

static void deleted__the_last_policy_stays_for_the_grace(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "holding", true, true, 1);
    assert_true(f->status->in_force->cluster.enable.value);
    assert_events(f, "ColocationCfgMissing");
    pass_s(f, 301);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "default", true, true, 2);
    assert_false(f->status->in_force->cluster.enable.value);
}

static void deleted__back_within_the_grace_is_as_before(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see_none(f, SOURCE_ABSENT);
    pass_s(f, 100);
    see(f, GOOD);
    assert_state(f, "accepted", true, false, 2);
    assert_int_equal(f->status->recheck_after_ms, -1);
    pass_s(f, 1000);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "holding", true, true, 2); /* a new grace */
    assert_int_equal(f->status->recheck_after_ms, 300 * 1000);
}

static void deleted__back_with_a_bad_key_keeps_the_last_good_one(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see_none(f, SOURCE_ABSENT);
    see(f, BAD_JSON);
    assert_state(f, "rejected", true, true, 1);
    pass_s(f, 1000);
    see(f, BAD_JSON);
    assert_true(f->status->in_force->cluster.enable.value);
}

static void unknown__losing_sight_is_not_absence(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    pass_s(f, 100000);
    see_none(f, SOURCE_UNKNOWN);
    assert_state(f, "accepted", true, false, 1);
    assert_events(f, "");
}

static void unknown__the_grace_does_not_end_unseen(void **state)
{
    struct fixture *f = *state;
    see(f, GOOD);
    see_none(f, SOURCE_ABSENT);
    pass_s(f, 1000);
    see_none(f, SOURCE_UNKNOWN);
    assert_state(f, "holding", true, true, 1);
    assert_int_equal(f->status->recheck_after_ms, -1);
    see_none(f, SOURCE_ABSENT);
    assert_state(f, "default", true, true, 2);
}

static void default__after_the_grace_a_good_one_is_taken(void **state)
{
    struct fixture *f = *state;
    see_none(f, SOURCE_ABSENT);
    pass_s(f, 300);
    see_none(f, SOURCE_ABSENT);
    see(f, "");
    assert_state(f, "default", true, false, 2); /* the error is over */
    see(f, GOOD);
    assert_state(f, "accepted", true, false, 3);
}

static void grace__zero_defaults_at_once(void **state)
{
    (void)state;
    CLEANUP(colocation_policy_freep) struct colocation_policy *policy = colocation_policy_new(0);
    struct colocation_input in = { .source = SOURCE_ABSENT };
    const struct colocation_status *status = colocation_policy_observe(policy, &in);
    assert_int_equal(status->state, COLOCATION_DEFAULT);
    assert_int_equal(status->generation, 1);
}

#define SCENARIO(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(state__starts_holding_with_nothing),
        SCENARIO(state_3_5__a_good_key_is_taken),
        SCENARIO(state_3_5__a_missing_key_is_the_defaults_at_once),
        SCENARIO(state_3_5__the_same_value_is_no_news),
        SCENARIO(state_3_5__a_change_without_effect_queues_nobody),
        SCENARIO(state_3_5__an_edit_takes_effect_at_once),
        SCENARIO(state_3_5__a_json_error_keeps_the_last_good_one),
        SCENARIO(state_3_5__a_range_error_has_its_event_too),
        SCENARIO(state_3_5__a_bad_entry_is_told_and_the_rest_taken),
        SCENARIO(state_3_5__good_again_ends_the_error_and_queues_all),
        SCENARIO(cold_start__a_bad_key_holds),
        SCENARIO(cold_start__a_first_good_one_equal_to_the_defaults_queues_all),
        SCENARIO(cold_start__bad_then_deleted_waits_the_grace),
        SCENARIO(absent__a_start_without_one_waits_the_grace),
        SCENARIO(deleted__the_last_policy_stays_for_the_grace),
        SCENARIO(deleted__back_within_the_grace_is_as_before),
        SCENARIO(deleted__back_with_a_bad_key_keeps_the_last_good_one),
        SCENARIO(unknown__losing_sight_is_not_absence),
        SCENARIO(unknown__the_grace_does_not_end_unseen),
        SCENARIO(default__after_the_grace_a_good_one_is_taken),
        cmocka_unit_test(grace__zero_defaults_at_once),
    };
    return cmocka_run_group_tests_name("sloconfig/state", tests, NULL, NULL);
}
