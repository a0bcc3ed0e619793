/* Whether it is written now. Planned are mid-cpu 15000 and mid-memory 30G throughout. */
#include "support.h"

#define MAPS(cpu_, memory_)                                                                                  \
    ",\"kubernetes.io/mid-cpu\":\"" cpu_ "\",\"kubernetes.io/mid-memory\":\"" memory_ "\""
#define RIGHT MAPS("15k", "30G")

static const struct row {
    const char *name;
    const char *capacity;
    const char *allocatable;
    const char *threshold;
    bool write;
    bool send;
    const char *patch; /* inside "status" */
} rows[] = {
    { "send: equal values are never sent", RIGHT, RIGHT, "0.1", false, false, NULL },
    { "send: equal by value in another spelling", MAPS("15000", "30000000000"), MAPS("15e3", "30000M"), "0.1",
      false, false, NULL },
    { "send: new keys go at once", "", "", "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"},"
      "\"allocatable\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"}" },
    { "send: difference equal to the threshold waits", MAPS("12500", "30G"), MAPS("12500", "30G"), "0.2",
      true, false, NULL },
    { "send: difference above the threshold goes", MAPS("12499", "30G"), MAPS("12499", "30G"), "0.2", true,
      true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"},\"allocatable\":{\"kubernetes.io/"
      "mid-cpu\":\"15k\"}" },
    { "send: decrease equal to the threshold waits", MAPS("20k", "30G"), MAPS("20k", "30G"), "0.25", true,
      false, NULL },
    { "send: decrease above the threshold goes", MAPS("20001", "30G"), MAPS("20001", "30G"), "0.25", true,
      true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"},\"allocatable\":{\"kubernetes.io/"
      "mid-cpu\":\"15k\"}" },
    { "send: any change from zero goes", MAPS("0", "30G"), MAPS("0", "30G"), "1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"},\"allocatable\":{\"kubernetes.io/"
      "mid-cpu\":\"15k\"}" },
    { "send: thresholds above one hold back doublings", MAPS("5k", "30G"), MAPS("5k", "30G"), "2", true,
      false, NULL },
    { "send: a huge threshold holds back everything present", MAPS("1", "1"), MAPS("1", "1"), "1e30", true,
      false, NULL },
    { "send: removal from capacity alone is put back", "", RIGHT, "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"}" },
    { "send: removal from allocatable alone is put back", RIGHT, "", "0.1", true, true,
      "\"allocatable\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"}" },
    { "send: a change of capacity alone is put right", MAPS("40k", "30G"), RIGHT, "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"}" },
    { "send: one key that triggers takes every differing key along", MAPS("1", "29999999999"),
      MAPS("1", "29999999999"), "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"},"
      "\"allocatable\":{\"kubernetes.io/mid-cpu\":\"15k\",\"kubernetes.io/mid-memory\":\"29296875Ki\"}" },
    { "send: unreadable values are replaced at once", MAPS("x", "30G"), RIGHT, "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"}" },
    { "send: fractions within the threshold wait", MAPS("14999500m", "30G"), RIGHT, "0.1", true, false,
      NULL },
    { "send: absurd values are replaced at once", MAPS("1e300", "30G"), RIGHT, "0.1", true, true,
      "\"capacity\":{\"kubernetes.io/mid-cpu\":\"15k\"}" },
};

static void send__row(void **state)
{
    const struct row *row = *state;
    void *made;
    assert_int_equal(case_setup(&made), 0);
    struct plan_case *c = made;
    c->strategy.resource_diff_threshold = decimal(row->threshold);
    case_node(c, row->capacity, row->allocatable, "");
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_planned(case_memory(c), 30000000000);
    assert_int_equal(c->plan.write, row->write);
    assert_int_equal(c->plan.send, row->send);
    assert_int_equal(c->plan.wait_ms >= 0, row->write && !row->send);
    CLEANUP(strbuf_done) struct strbuf patch = STRBUF_INIT(4096);
    assert_int_equal(noderesource_patch(&c->plan, &patch), row->send);
    if (row->patch) {
        struct str want = arena_strf(&c->arena, "{\"status\":{%s}}", row->patch);
        assert_string_equal(strbuf_cstr(&patch), want.ptr);
    } else {
        assert_int_equal(patch.len, 0);
    }
    assert_int_equal(case_teardown(&made), 0);
}

/* --- time --------------------------------------------------------------------------------------- */

#define SMALL MAPS("14900", "30G")

static void time__small_difference_waits_for_the_threshold(void **state)
{
    struct plan_case *c = *state;
    case_node(c, SMALL, SMALL, "");
    node_history_written(&c->history, MONO_S(900));
    case_plan(c);
    assert_true(c->plan.write && !c->plan.send);
    assert_int_equal(c->plan.wait_ms, 200001);
    assert_int_equal(c->plan.recheck_after_ms, 200001);
    c->in.mono = MONO_S(1200);
    assert_false(case_plan(c)->send); /* strictly greater */
    c->in.mono = mono_add_ms(c->in.mono, 1);
    assert_true(case_plan(c)->send);
    assert_true(c->plan.increase && !c->plan.withdrawal);
}

static void time__equal_values_are_not_sent_even_then(void **state)
{
    struct plan_case *c = *state;
    case_node(c, RIGHT, RIGHT, "");
    node_history_written(&c->history, MONO_S(0));
    c->in.mono = MONO_S(100000);
    case_plan(c);
    assert_false(c->plan.write || c->plan.send);
    assert_int_equal(c->plan.wait_ms, -1);
}

static void time__a_restart_rewrites_nothing_that_is_near_enough(void **state)
{
    struct plan_case *c = *state;
    case_node(c, SMALL, SMALL, "");
    node_history_observe(&c->history, STR("node-1"), c->in.mono);
    case_plan(c);
    assert_true(c->plan.write && !c->plan.send);
    assert_true(c->plan.wait_ms >= 300000 && c->plan.wait_ms <= 450001);
    struct noderesource_input unseen = c->in;
    unseen.history = NULL;
    struct noderesource_plan plan;
    noderesource_plan_make(&unseen, &c->arena, &plan);
    assert_int_equal(plan.wait_ms, c->plan.wait_ms);
}

static void time__the_earliest_deadline_is_the_timer(void **state)
{
    struct plan_case *c = *state;
    case_node(c, SMALL, SMALL, "");
    c->strategy.update_time_threshold_s = number(100000);
    node_history_written(&c->history, c->in.mono);
    case_plan(c);
    assert_int_equal(c->plan.recheck_after_ms, 14 * 60 * 1000 + 1);
}

/* --- directions ------------------------------------------------------------------------------------ */

static void direction__lowering_one_key_and_raising_another_is_both(void **state)
{
    struct plan_case *c = *state;
    case_node(c, MAPS("90k", "1G"), MAPS("90k", "1G"), "");
    case_plan(c);
    assert_true(c->plan.withdrawal && c->plan.increase);
}

static void direction__new_keys_only_raise(void **state)
{
    struct plan_case *c = *state;
    case_plan(c);
    assert_true(c->plan.increase && !c->plan.withdrawal);
}

static void direction__what_waits_has_none(void **state)
{
    struct plan_case *c = *state;
    case_node(c, SMALL, SMALL, "");
    case_plan(c);
    assert_false(c->plan.increase || c->plan.withdrawal);
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        CASE(time__small_difference_waits_for_the_threshold),
        CASE(time__equal_values_are_not_sent_even_then),
        CASE(time__a_restart_rewrites_nothing_that_is_near_enough),
        CASE(time__the_earliest_deadline_is_the_timer),
        CASE(direction__lowering_one_key_and_raising_another_is_both),
        CASE(direction__new_keys_only_raise),
        CASE(direction__what_waits_has_none),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, send__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("noderesource/send", tests, NULL, NULL);
}
