/* Whether a report is believed: age, skew, gaps of the feed, order. */
#include "support.h"

#define MINUTE_US (INT64_C(60) * US_PER_S)
/* The report of CASE_STATUS, and its degradation deadline of 15 minutes. */
#define REPORT_US (CASE_NOW_US - MINUTE_US)
#define DEADLINE_US (REPORT_US + 15 * MINUTE_US)
#define OURS ",\"kubernetes.io/mid-cpu\":\"10k\",\"kubernetes.io/mid-memory\":\"1G\""

static void all_absent(struct plan_case *c, enum noderesource_reason reason)
{
    for (size_t i = 0; i < c->plan.count; i++) {
        assert_absent(&c->plan.entries[i]);
        assert_int_equal(c->plan.entries[i].reason, reason);
        assert_int_equal(c->plan.entries[i].term_count, 0);
    }
    assert_true(c->plan.degraded);
    assert_false(c->plan.report.set);
}

/* --- age ---------------------------------------------------------------------------------- */

static void age__at_the_deadline_is_fresh(void **state)
{
    struct plan_case *c = *state;
    c->in.now.us = DEADLINE_US;
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_false(c->plan.degraded);
    assert_int_equal(c->plan.recheck_after_ms, 1);
}

static void age__beyond_the_deadline_withdraws_in_every_mode(void **state)
{
    struct plan_case *c = *state;
    static const char *const modes[] = { "", "dynamic", "static", "reclaimable", "mixed" };
    case_node(c, OURS, OURS, "");
    c->in.now.us = DEADLINE_US + 1;
    c->strategy.mid_static_cpu_percent = number(50);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        c->strategy.mid_reclaim_mode = text(modes[i]);
        case_plan(c);
        all_absent(c, NODERESOURCE_STALE);
        assert_true(c->plan.send && c->plan.withdrawal);
    }
}

static void age__deadline_comes_by_timer(void **state)
{
    struct plan_case *c = *state;
    case_plan(c);
    assert_int_equal(c->plan.recheck_after_ms, 14 * 60 * 1000 + 1);
    c->in.now.us += c->plan.recheck_after_ms * 1000;
    case_plan(c);
    assert_true(c->plan.degraded);
}

static void age__absurd_degrade_time_never_degrades(void **state)
{
    struct plan_case *c = *state;
    c->strategy.degrade_minutes = number(INT64_MAX);
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_true(c->plan.recheck_after_ms > 0);
}

static void age__missing_metric_withdraws(void **state)
{
    struct plan_case *c = *state;
    case_no_metric(c);
    c->strategy.mid_reclaim_mode = text("static");
    case_plan(c);
    all_absent(c, NODERESOURCE_NO_METRIC);
    assert_int_equal(c->plan.recheck_after_ms, -1);
}

static void age__never_reported_withdraws(void **state)
{
    struct plan_case *c = *state;
    case_metric(c, CASE_USAGE "," CASE_PREDICTION);
    case_plan(c);
    all_absent(c, NODERESOURCE_NEVER_REPORTED);
}

/* --- skew --------------------------------------------------------------------------------- */

static void skew__ahead_within_degrade_time_counts_as_just_reported(void **state)
{
    struct plan_case *c = *state;
    c->in.now.us = REPORT_US - 15 * MINUTE_US;
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_true(c->plan.skewed);
    assert_false(c->plan.degraded);
}

static void skew__further_ahead_is_stale_until_time_catches_up(void **state)
{
    struct plan_case *c = *state;
    c->in.now.us = REPORT_US - 15 * MINUTE_US - 5 * US_PER_S;
    case_plan(c);
    all_absent(c, NODERESOURCE_FROM_FUTURE);
    assert_false(c->plan.skewed);
    assert_int_equal(c->plan.recheck_after_ms, 5001);
}

static void skew__a_report_at_now_is_not_skewed(void **state)
{
    struct plan_case *c = *state;
    c->in.now.us = REPORT_US;
    assert_false(case_plan(c)->skewed);
}

/* --- the feed ------------------------------------------------------------------------------- */

static void feed__down_keeps_what_age_would_withdraw(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->in.feed.live = false;
    c->in.now.us = DEADLINE_US + 60 * MINUTE_US;
    case_plan(c);
    assert_true(case_cpu(c)->keep);
    assert_planned(case_cpu(c), 10000);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_FEED_DOWN);
    assert_false(c->plan.write || c->plan.send || c->plan.degraded);
    assert_int_equal(c->plan.recheck_after_ms, -1);
}

static void feed__down_never_raises_from_a_stale_report(void **state)
{
    struct plan_case *c = *state;
    c->in.feed.live = false;
    c->in.now.us = DEADLINE_US + 1;
    case_plan(c);
    assert_true(case_cpu(c)->keep);
    assert_false(case_cpu(c)->planned.set);
    assert_false(c->plan.write);
}

static void feed__down_still_lowers_for_policy_and_pods(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->in.feed.live = false;
    c->in.now.us = DEADLINE_US + 1;
    c->strategy.mid_cpu_percent = number(5);
    case_plan(c);
    assert_planned(case_cpu(c), 5000);
    assert_true(case_cpu(c)->send && c->plan.withdrawal && !c->plan.increase);
    assert_true(case_memory(c)->keep);
}

static void feed__down_keeps_a_node_whose_metric_is_missing(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->in.feed.live = false;
    case_no_metric(c);
    case_plan(c);
    assert_true(case_cpu(c)->keep);
    assert_false(c->plan.write);
}

static void feed__down_does_not_hinder_a_fresh_report(void **state)
{
    struct plan_case *c = *state;
    c->in.feed.live = false;
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_CALCULATED);
}

static void after_gap(struct plan_case *c, int64_t gap_ms, int64_t back_ms)
{
    case_node(c, OURS, OURS, "");
    c->in.now.us = DEADLINE_US + 1;
    c->in.feed = (struct noderesource_feed){ .live = true, .gap_ms = gap_ms };
    c->in.feed.live_since = mono_add_ms(c->in.mono, -back_ms);
    case_plan(c);
}

static void feed__after_a_long_gap_one_interval_is_granted(void **state)
{
    struct plan_case *c = *state;
    after_gap(c, 60001, 20000);
    assert_true(case_cpu(c)->keep);
    assert_false(c->plan.degraded);
    assert_int_equal(c->plan.recheck_after_ms, 40001);
    c->in.mono = mono_add_ms(c->in.mono, c->plan.recheck_after_ms);
    case_plan(c);
    all_absent(c, NODERESOURCE_STALE);
}

static void feed__a_gap_of_one_interval_grants_nothing(void **state)
{
    struct plan_case *c = *state;
    after_gap(c, 60000, 0);
    all_absent(c, NODERESOURCE_STALE);
}

static void feed__grace_follows_the_nodes_own_interval(void **state)
{
    struct plan_case *c = *state;
    c->strategy.metric_report_interval_s = number(600);
    after_gap(c, 599999, 0);
    all_absent(c, NODERESOURCE_STALE);
    after_gap(c, 600001, 599000);
    assert_true(case_cpu(c)->keep);
}

/* --- order ------------------------------------------------------------------------------------ */

static void order__nothing_is_raised_from_an_older_report(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->history.report = (struct opt_time){ true, { REPORT_US + 1 } };
    case_plan(c);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_OLDER_REPORT);
    assert_true(case_cpu(c)->keep);
    assert_planned(case_cpu(c), 10000);
    assert_int_equal(case_term(case_cpu(c), "mid"), 15000);
    assert_false(c->plan.write);
}

static void order__an_older_report_may_lower(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->strategy.mid_cpu_percent = number(5);
    c->history.report = (struct opt_time){ true, { REPORT_US + 1 } };
    case_plan(c);
    assert_planned(case_cpu(c), 5000);
    assert_true(c->plan.send);
}

static void order__the_same_report_may_raise(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->history.report = (struct opt_time){ true, { REPORT_US } };
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_CALCULATED);
}

static void order__a_report_from_the_far_future_is_not_remembered(void **state)
{
    struct plan_case *c = *state;
    c->in.now.us = REPORT_US - 60 * MINUTE_US;
    node_history_planned(&c->history, case_plan(c));
    assert_false(c->history.report.set);
    c->in.now.us = CASE_NOW_US;
    node_history_planned(&c->history, case_plan(c));
    assert_int_equal(c->history.report.value.us, REPORT_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(age__at_the_deadline_is_fresh),
        CASE(age__beyond_the_deadline_withdraws_in_every_mode),
        CASE(age__deadline_comes_by_timer),
        CASE(age__absurd_degrade_time_never_degrades),
        CASE(age__missing_metric_withdraws),
        CASE(age__never_reported_withdraws),
        CASE(skew__ahead_within_degrade_time_counts_as_just_reported),
        CASE(skew__further_ahead_is_stale_until_time_catches_up),
        CASE(skew__a_report_at_now_is_not_skewed),
        CASE(feed__down_keeps_what_age_would_withdraw),
        CASE(feed__down_never_raises_from_a_stale_report),
        CASE(feed__down_still_lowers_for_policy_and_pods),
        CASE(feed__down_keeps_a_node_whose_metric_is_missing),
        CASE(feed__down_does_not_hinder_a_fresh_report),
        CASE(feed__after_a_long_gap_one_interval_is_granted),
        CASE(feed__a_gap_of_one_interval_grants_nothing),
        CASE(feed__grace_follows_the_nodes_own_interval),
        CASE(order__nothing_is_raised_from_an_older_report),
        CASE(order__an_older_report_may_lower),
        CASE(order__the_same_report_may_raise),
        CASE(order__a_report_from_the_far_future_is_not_remembered),
    };
    return cmocka_run_group_tests_name("noderesource/trust", tests, NULL, NULL);
}
