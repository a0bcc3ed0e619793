/* Either side goes away and comes back: nothing is lost, nothing is written twice. */
#include <signal.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODES 20

static void start(struct e2e *e2e)
{
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_settle(e2e);
}

static bool all_is_well(struct e2e *e2e)
{
    return e2e_mid_count(e2e, 4000, 10 * GIB) == NODES && e2e_interval_count(e2e, 45) == NODES;
}

/* --- the manager ------------------------------------------------------------------------- */

static void a_stopped_manager_comes_back_and_writes_nothing(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_log(e2e);
    start(e2e);
    assert_int_equal(e2e_stop(e2e->manager), 0);
    int64_t mark = e2e_mark(e2e);
    e2e_manage(e2e);
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
    assert_true(all_is_well(e2e));
}

/* Events about the policy, as sent. */
static size_t policy_events(struct e2e *e2e, int64_t mark)
{
    struct e2e_requests sent =
        e2e_select(e2e, e2e_requests(e2e, mark), "POST", "/apis/events.k8s.io/v1/namespaces/*/events");
    size_t count = 0;
    for (size_t i = 0; i < sent.count; i++)
        count += memmem(sent.items[i].body.ptr, sent.items[i].body.len, "ColocationCfg", 13) != NULL;
    return count;
}

static void a_killed_manager_comes_back_and_writes_nothing(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_log(e2e);
    start(e2e);
    e2e_kill(e2e->manager);
    int64_t mark = e2e_mark(e2e);
    e2e_manage(e2e);
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
    assert_int_equal(policy_events(e2e, mark), 0);
}

/* Small differences that the old one let wait must not become writes by a restart. */
static void a_restart_is_no_reason_to_write_small_differences(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_log(e2e);
    start(e2e);
    for (size_t i = 0; i < NODES; i++)
        e2e_report(e2e, e2e_node_name(e2e, i), &(struct e2e_report){ .cpu_reclaimable_milli = 4100 });
    e2e_settle(e2e);
    e2e_stop(e2e->manager);
    int64_t mark = e2e_mark(e2e);
    e2e_manage(e2e);
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
}

static void killed_in_the_middle_of_an_edit_the_next_one_finishes_it(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_log(e2e);
    start(e2e);
    e2e_stop(e2e->manager);
    e2e_manage(e2e, "--rest-config-qps", "20", "--rest-config-burst", "1");
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_writes(e2e, mark).count >= 5);
    e2e_kill(e2e->manager);
    assert_true(e2e_mid_count(e2e, 4000, 10 * GIB) > 0 || e2e_interval_count(e2e, 45) > 0);
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES && e2e_interval_count(e2e, 30) == NODES);
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, mark);
    e2e_assert_no_repeat(writes);
    assert_int_equal(writes.count, 2 * NODES);
}

static void what_changed_while_it_was_away_is_made_good(struct e2e *e2e)
{
    e2e_serve(e2e);
    start(e2e);
    e2e_stop(e2e->manager);
    e2e_delete(e2e, NODEMETRIC_PATH "/node-003");
    e2e_delete(e2e, "/api/v1/nodes/node-004");
    e2e_patch(e2e, "/api/v1/nodes/node-005/status", "{'status':{'capacity':{'kubernetes.io/mid-cpu':null}}}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_nodemetric(e2e, "node-003"));
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "node-004"));
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-005", 4000, 10 * GIB));
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-003", -1, -1)); /* nothing is reported there now */
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), NODES - 2);
}

/* --- the server ---------------------------------------------------------------------------- */

static bool all_watch_again(struct e2e *e2e, int64_t watches)
{
    return e2e_watches(e2e) == watches && e2e_ready(e2e);
}

static void a_killed_server_comes_back_and_nothing_is_lost_or_repeated(struct e2e *e2e)
{
    e2e_serve(e2e, "--data", e2e_path(e2e, "data"));
    start(e2e);
    struct str rv = e2e_rv(e2e_get(e2e, "/api/v1/nodes/node-000"));
    int64_t watches = e2e_watches(e2e);
    e2e_kill(e2e->server);
    EVENTUALLY(e2e, program_logged(e2e->manager, "list-watch in trouble"));
    assert_int_equal(e2e_health_code(e2e, "/healthz"), 200);
    e2e_serve_again(e2e);
    EVENTUALLY(e2e, all_watch_again(e2e, watches));
    e2e_settle(e2e);
    e2e_assert_writes(e2e, 0, 0); /* its log began anew */
    assert_true(all_is_well(e2e));
    assert_true(str_eq(rv, e2e_rv(e2e_get(e2e, "/api/v1/nodes/node-000"))));
    /* And it still works. */
    e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
}

static void a_server_killed_in_the_middle_of_an_edit_gets_the_rest(struct e2e *e2e)
{
    e2e_serve(e2e, "--data", e2e_path(e2e, "data"));
    start(e2e);
    e2e_stop(e2e->manager);
    e2e_manage(e2e, "--rest-config-qps", "20", "--rest-config-burst", "1");
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_writes(e2e, mark).count >= 5);
    e2e_kill(e2e->server);
    e2e_serve_again(e2e);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES && e2e_interval_count(e2e, 30) == NODES);
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, 0);
    e2e_assert_no_repeat(writes);
    assert_true(writes.count < 2 * NODES);
}

/* Another cluster behind the same address: versions start over, so a watch from where we
 * were would stay silent for long, and everything is created. */
static void an_empty_server_in_its_place_is_filled_again(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    start(e2e);
    int64_t watches = e2e_watches(e2e);
    e2e_kill(e2e->server);
    e2e_serve_again(e2e);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, all_is_well(e2e));
    EVENTUALLY(e2e, all_watch_again(e2e, watches));
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, 0);
    assert_int_equal(e2e_select(e2e, writes, "POST", NODEMETRIC_PATH).count, NODES);
    assert_int_equal(e2e_select(e2e, writes, "DELETE", NODEMETRIC_PATH "/*").count, 0);
    assert_true(program_logged(e2e->manager, "the server's history is behind what was seen"));
}

static void a_server_that_freezes_for_a_while_costs_nothing(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    start(e2e);
    int64_t mark = e2e_mark(e2e);
    program_signal(e2e->server, SIGSTOP);
    /* It is busy with nothing else meanwhile: answers for a thousand probes. */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(e2e_health_code(e2e, "/readyz"), 200);
    program_signal(e2e->server, SIGCONT);
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
    assert_true(all_is_well(e2e));
}

/* Reports grow stale while the server is away; that is not the nodes' fault. */
static void an_outage_withdraws_nothing(struct e2e *e2e)
{
    e2e_serve(e2e, "--data", e2e_path(e2e, "data"));
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':3,'degradeTimeMinutes':1}");
    e2e_manage(e2e);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    for (size_t i = 0; i < NODES; i++)
        e2e_report(e2e, e2e_node_name(e2e, i), &(struct e2e_report){ .age_s = 55 });
    struct mono_time reported = mono_now();
    int64_t watches = e2e_watches(e2e);
    e2e_kill(e2e->server);
    EVENTUALLY(e2e, mono_ms_between(reported, mono_now()) > 6 * 1000); /* all are stale now */
    e2e_serve_again(e2e);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, all_watch_again(e2e, watches));
    e2e_settle(e2e);
    e2e_assert_writes(e2e, 0, 0);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), NODES);
}

static void a_manager_that_starts_before_its_server_waits_for_it(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    e2e_kill(e2e->server);
    e2e_manage(e2e);
    EVENTUALLY(e2e, program_logged(e2e->manager, "list-watch in trouble"));
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 503);
    assert_int_equal(e2e_health_code(e2e, "/healthz"), 200);
    e2e_serve_again(e2e);
    EVENTUALLY(e2e, e2e_ready(e2e));
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_report_all(e2e, 1);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 1);
}

static const struct e2e_test tests[] = {
    E2E_TEST("a stopped manager comes back and writes nothing",
             a_stopped_manager_comes_back_and_writes_nothing),
    E2E_TEST("a killed manager comes back and writes nothing",
             a_killed_manager_comes_back_and_writes_nothing),
    E2E_TEST("a restart is no reason to write small differences",
             a_restart_is_no_reason_to_write_small_differences),
    E2E_TEST("killed in the middle of an edit, the next one finishes it",
             killed_in_the_middle_of_an_edit_the_next_one_finishes_it),
    E2E_TEST("what changed while it was away is made good", what_changed_while_it_was_away_is_made_good),
    E2E_TEST("a killed server comes back, and nothing is lost or repeated",
             a_killed_server_comes_back_and_nothing_is_lost_or_repeated),
    E2E_TEST("a server killed in the middle of an edit gets the rest",
             a_server_killed_in_the_middle_of_an_edit_gets_the_rest),
    E2E_TEST("an empty server in its place is filled again", an_empty_server_in_its_place_is_filled_again),
    E2E_TEST("a server that freezes for a while costs nothing",
             a_server_that_freezes_for_a_while_costs_nothing),
    E2E_TEST("an outage withdraws nothing", an_outage_withdraws_nothing),
    E2E_TEST("a manager that starts before its server waits for it",
             a_manager_that_starts_before_its_server_waits_for_it),
};

int main(void)
{
    return e2e_main("e2e/restart", tests, ARRAY_LEN(tests));
}
