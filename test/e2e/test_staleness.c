/* Capacity rests on reports: old ones, missing ones and ones from the future. */
#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define POLICY "{'enable':true,'degradeTimeMinutes':1,'metricReportIntervalSeconds':10}"

static void start(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 2);
    e2e_set_policy(e2e, POLICY);
    e2e_manage(e2e);
    e2e_report_all(e2e, 2);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
}

/* No event tells of it: the clock alone does. */
static void a_report_that_grows_old_is_withdrawn_by_timer(struct e2e *e2e)
{
    start(e2e);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = 55 });
    e2e_settle(e2e);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1));
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodes_degraded") == 1);
    assert_true(e2e_mid_is(e2e, "node-001", 4000, 10 * GIB));
    if (e2e_has_log(e2e))
        e2e_assert_writes(e2e, mark, 1);
    /* A new report brings it back. */
    e2e_report(e2e, "node-000", &(struct e2e_report){ .cpu_reclaimable_milli = 3000 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 3000, 10 * GIB));
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodes_degraded") == 0);
}

static void a_report_without_its_time_is_none(struct e2e *e2e)
{
    start(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .without_time = true });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1));
    e2e_report(e2e, "node-000", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
}

static void a_node_that_never_reported_lends_nothing(struct e2e *e2e)
{
    start(e2e);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "mute" });
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "mute", -1, -1));
    e2e_report(e2e, "mute", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "mute", 4000, 10 * GIB));
}

static void a_clock_a_little_ahead_counts_as_now(struct e2e *e2e)
{
    start(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = -40, .cpu_reclaimable_milli = 3000 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 3000, 10 * GIB));
    assert_true(e2e_metric(e2e, "koord_manager_nodes_clock_skewed") == 1);
}

static void a_clock_far_ahead_counts_as_stale(struct e2e *e2e)
{
    start(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = -3600 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1));
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodes_degraded") == 1);
    /* The clock is put right: the next report is older than that one and still counts. */
    e2e_report(e2e, "node-000", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
}

static void an_older_report_never_raises(struct e2e *e2e)
{
    start(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = 20, .cpu_reclaimable_milli = 9000 });
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = 20, .cpu_reclaimable_milli = 1000 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 1000, 10 * GIB)); /* lowering is never doubted */
}

static void a_deleted_nodemetric_takes_the_capacity_with_it(struct e2e *e2e)
{
    start(e2e);
    e2e_delete(e2e, NODEMETRIC_PATH "/node-000");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1));
    EVENTUALLY(e2e, e2e_nodemetric(e2e, "node-000"));
    e2e_report(e2e, "node-000", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
}

static void static_mode_rests_on_reports_too(struct e2e *e2e)
{
    start(e2e);
    e2e_set_policy(e2e, "{'enable':true,'degradeTimeMinutes':1,'midReclaimMode':'static',"
                        "'midStaticCPUReservedPercent':50,'midStaticMemoryReservedPercent':25}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 8000, 16 * GIB) == 2);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .age_s = 57 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1));
}

/* What the server lets through of odd reports: nothing of it may raise capacity. */
static void absurd_amounts_lend_nothing(struct e2e *e2e)
{
    start(e2e);
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000/status",
              "{'status':{'prodReclaimableMetric':{'resource':{'resources':{'cpu':'-5','memory':'-1Gi'}}}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 0, 0));
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000/status",
              "{'status':{'prodReclaimableMetric':{'resource':{'resources':{'cpu':'9E','memory':'9E'}}}}}");
    /* No more than what stands unused. */
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 14000, 56 * GIB));
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000/status",
              "{'status':{'nodeMetric':{'nodeUsage':{'resources':{'cpu':'8E','memory':'8E'}}}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 0, 0));
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000/status", "{'status':{'nodeMetric':null}}");
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "node-000", 0, 0)); /* usage unknown: nothing counts as unused */
    assert_true(e2e_mid_is(e2e, "node-001", 4000, 10 * GIB));
}

static void a_node_without_status_is_left_alone(struct e2e *e2e)
{
    start(e2e);
    e2e_settle(e2e); /* its fence is such a node */
    e2e_report(e2e, "fence-1", &(struct e2e_report){ 0 });
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "fence-1", -1, -1));
    e2e_patch(
        e2e, "/api/v1/nodes/fence-1/status",
        "{'status':{'capacity':{'cpu':'16','memory':'64Gi'},'allocatable':{'cpu':'16','memory':'64Gi'}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "fence-1", 4000, 10 * GIB));
}

static const struct e2e_test tests[] = {
    E2E_TEST("a report that grows old is withdrawn by timer, once",
             a_report_that_grows_old_is_withdrawn_by_timer),
    E2E_TEST("a report without its time is none", a_report_without_its_time_is_none),
    E2E_TEST("a node that never reported lends nothing", a_node_that_never_reported_lends_nothing),
    E2E_TEST("a clock a little ahead counts as now", a_clock_a_little_ahead_counts_as_now),
    E2E_TEST("a clock far ahead counts as stale", a_clock_far_ahead_counts_as_stale),
    E2E_TEST("an older report never raises", an_older_report_never_raises),
    E2E_TEST("a deleted NodeMetric takes the capacity with it",
             a_deleted_nodemetric_takes_the_capacity_with_it),
    E2E_TEST("static mode rests on reports, too", static_mode_rests_on_reports_too),
    E2E_TEST("absurd amounts lend nothing", absurd_amounts_lend_nothing),
    E2E_TEST("a node without status is left alone", a_node_without_status_is_left_alone),
};

int main(void)
{
    return e2e_main("e2e/staleness", tests, ARRAY_LEN(tests));
}
