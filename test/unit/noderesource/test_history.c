#include "support.h"

static void history__time_threshold_starts_at_first_sight(void **state)
{
    (void)state;
    struct node_history history = { 0 };
    node_history_observe(&history, STR("node-1"), MONO_S(100));
    assert_true(history.seen);
    assert_int_equal(history.threshold_from.ns, MONO_S(100).ns);
    node_history_observe(&history, STR("node-1"), MONO_S(900));
    assert_int_equal(history.threshold_from.ns, MONO_S(100).ns);
}

/* A restart must not turn into a wave: nodes fall due over half a threshold, none early. */
static void history__first_due_times_are_spread(void **state)
{
    (void)state;
    int64_t first = INT64_MAX, last = 0;
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d", i);
        struct node_history history = { 0 };
        node_history_observe(&history, str_c(name), MONO_S(0));
        int64_t due = node_history_due(&history, 300).ns;
        first = min_i64(first, due);
        last = max_i64(last, due);
    }
    assert_true(first >= MONO_S(300).ns && first < MONO_S(310).ns);
    assert_true(last > MONO_S(440).ns && last < MONO_S(450).ns);
}

static void history__after_a_write_the_threshold_is_exact(void **state)
{
    (void)state;
    struct node_history history = { 0 };
    node_history_observe(&history, STR("node-1"), MONO_S(0));
    node_history_written(&history, MONO_S(50));
    assert_int_equal(node_history_due(&history, 300).ns, MONO_S(350).ns);
}

static void history__absurd_thresholds_do_not_overflow(void **state)
{
    (void)state;
    struct node_history history = { .seen = true, .spread = 65535, .threshold_from = MONO_S(1000000) };
    assert_true(node_history_due(&history, INT64_MAX).ns > MONO_S(1000000).ns);
    assert_int_equal(node_history_due(&history, INT64_MIN).ns, MONO_S(1000000).ns);
}

static void history__remembers_the_newest_report_only(void **state)
{
    (void)state;
    struct node_history history = { 0 };
    struct noderesource_plan plan = { .report = { true, { 500 } } };
    node_history_planned(&history, &plan);
    plan.report.value.us = 400;
    node_history_planned(&history, &plan);
    assert_int_equal(history.report.value.us, 500);
    plan.report = (struct opt_time){ 0 };
    node_history_planned(&history, &plan);
    assert_true(history.report.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history__time_threshold_starts_at_first_sight),
        cmocka_unit_test(history__first_due_times_are_spread),
        cmocka_unit_test(history__after_a_write_the_threshold_is_exact),
        cmocka_unit_test(history__absurd_thresholds_do_not_overflow),
        cmocka_unit_test(history__remembers_the_newest_report_only),
    };
    return cmocka_run_group_tests_name("noderesource/history", tests, NULL, NULL);
}
