/* What only a real API server can show: that it and its etcd may go and come back, that the
 * rights of rbac.yaml are the ones needed, and who leads when somebody dies. hack/envtest
 * keeps the server (KOORD_TEST_CLUSTER_DIR); without one everything here is skipped. */
#include <signal.h>

#include "audit.h"
#include "manager.h"
#include "objects.h"

#define NODES 20
#define LEASE_PATH "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/koordinator-manager"

static void need_cluster(struct e2e *e2e)
{
    if (!audit_cluster_dir())
        e2e_skip(e2e, "it needs a server of hack/envtest");
    e2e_serve(e2e);
}

static void envtest(struct e2e *e2e, const char *command, const char *program)
{
    const char *const arguments[] = { command, audit_cluster_dir(), program, NULL };
    struct str output;
    if (e2e_run(e2e, "envtest", E2E_ENVTEST, arguments, &output) != 0)
        fail_msg("hack/envtest %s %s: " STR_FMT, command, program, STR_ARG(output));
}

/* Everything in place, and nothing left to do. */
static void start(struct e2e *e2e)
{
    need_cluster(e2e);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_settle(e2e);
}

/* --- the server and its store ------------------------------------------------------------- */

/* Nothing changed meanwhile, so nothing is written; then everything does, once. */
static void nothing_is_lost_or_repeated(struct e2e *e2e, int64_t mark)
{
    EVENTUALLY(e2e, e2e_ready(e2e));
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES && e2e_interval_count(e2e, 30) == NODES);
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 2 * NODES);
}

static void outage(struct e2e *e2e, const char *how, const char *program)
{
    start(e2e);
    int64_t mark = e2e_mark(e2e);
    if (how)
        envtest(e2e, how, program);
    envtest(e2e, "restart", program);
    nothing_is_lost_or_repeated(e2e, mark);
}

static void a_server_that_restarts_costs_nothing(struct e2e *e2e)
{
    outage(e2e, NULL, "kube-apiserver");
}

static void a_killed_server_costs_nothing(struct e2e *e2e)
{
    outage(e2e, "kill", "kube-apiserver");
}

static void an_etcd_that_restarts_costs_nothing(struct e2e *e2e)
{
    outage(e2e, NULL, "etcd");
}

static void a_killed_etcd_costs_nothing(struct e2e *e2e)
{
    outage(e2e, "kill", "etcd");
}

/* An edit is half done when the server dies under it. */
static void edited_under(struct e2e *e2e, const char *program)
{
    start(e2e);
    e2e_stop(e2e->manager);
    e2e_manage(e2e, "--rest-config-qps", "20", "--rest-config-burst", "1");
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_writes(e2e, mark).count >= 5);
    envtest(e2e, "kill", program);
    envtest(e2e, "restart", program);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES && e2e_interval_count(e2e, 30) == NODES);
    e2e_settle(e2e);
    e2e_assert_no_repeat(e2e_writes(e2e, mark));
}

static void a_server_killed_in_the_middle_of_an_edit_gets_the_rest(struct e2e *e2e)
{
    edited_under(e2e, "kube-apiserver");
}

static void an_etcd_killed_in_the_middle_of_an_edit_gets_the_rest(struct e2e *e2e)
{
    edited_under(e2e, "etcd");
}

/* Its versions are in no server's memory any more when it wakes: lists, not watches. */
static void a_manager_that_slept_through_it_all_catches_up(struct e2e *e2e)
{
    start(e2e);
    int64_t mark = e2e_mark(e2e);
    program_signal(e2e->manager, SIGSTOP);
    envtest(e2e, "kill", "kube-apiserver");
    envtest(e2e, "restart", "kube-apiserver");
    e2e_delete(e2e, "/api/v1/nodes/node-000");
    e2e_report(e2e, "node-001", &(struct e2e_report){ .cpu_reclaimable_milli = 2000 });
    envtest(e2e, "restart", "kube-apiserver");
    program_signal(e2e->manager, SIGCONT);
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "node-000"));
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-001", 2000, 10 * GIB));
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 2);
}

/* --- rights --------------------------------------------------------------------------------- */

/* With election and every controller, through a Node's life and a broken edit. */
static void its_rights_are_enough(struct e2e *e2e)
{
    need_cluster(e2e);
    if (!e2e->manager_kubeconfig)
        e2e_skip(e2e, "it needs a user of its own for the manager");
    e2e_add_nodes(e2e, 2);
    e2e_add_pod(e2e, "web", "node-000", 1000, GIB);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--enable-leader-election=true", "--controllers=*", "--noderesource-plugins=*");
    e2e_report_all(e2e, 2);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-001", 4000, 10 * GIB));
    e2e_set_policy(e2e, "{'enable':true,'degradeTimeMinutes':0}");
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgInvalid") == 1);
    e2e_delete(e2e, "/api/v1/nodes/node-001");
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "node-001"));
    assert_int_equal(e2e_stop(e2e->manager), 0);
    struct e2e_requests all = e2e_requests(e2e, 0);
    assert_true(all.count > 20);
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].code != 403)
            continue;
        e2e_print_requests((struct e2e_requests){ &all.items[i], 1 });
        fail_msg("a right is missing");
    }
}

/* --- the lead -------------------------------------------------------------------------------- */

#define ELECTED                                                                                              \
    "--enable-leader-election=true", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", \
        "--leader-elect-retry-period=500ms"

static bool leads(struct e2e *e2e)
{
    return e2e_metric(e2e, "leader_election_master_status{name=\"koordinator-manager\"}") > 0;
}

static int64_t transitions(struct e2e *e2e)
{
    int64_t count = -1;
    const struct json *lease = e2e_get(e2e, LEASE_PATH);
    return json_i64(json_path(lease, "spec", "leaseTransitions", NULL), &count) ? count : -1;
}

static void the_lead_goes_on(struct e2e *e2e, bool politely)
{
    need_cluster(e2e);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, ELECTED);
    struct program *first = e2e->manager;
    EVENTUALLY(e2e, leads(e2e));
    e2e_manage(e2e, ELECTED);
    EVENTUALLY(e2e, e2e_ready(e2e));
    assert_false(leads(e2e));
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    int64_t before = transitions(e2e);
    if (politely)
        assert_int_equal(e2e_stop(first), 0);
    else
        e2e_kill(first);
    EVENTUALLY(e2e, leads(e2e));
    assert_int_equal(transitions(e2e), before + 1);
    e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
    e2e_assert_no_repeat(e2e_writes(e2e, 0));
}

static void a_leader_that_stops_hands_over(struct e2e *e2e)
{
    the_lead_goes_on(e2e, true);
}

static void a_leader_that_dies_is_followed(struct e2e *e2e)
{
    the_lead_goes_on(e2e, false);
}

static const struct e2e_test tests[] = {
    E2E_TEST("a server that restarts costs nothing", a_server_that_restarts_costs_nothing),
    E2E_TEST("a killed server costs nothing", a_killed_server_costs_nothing),
    E2E_TEST("an etcd that restarts costs nothing", an_etcd_that_restarts_costs_nothing),
    E2E_TEST("a killed etcd costs nothing", a_killed_etcd_costs_nothing),
    E2E_TEST("a server killed in the middle of an edit gets the rest",
             a_server_killed_in_the_middle_of_an_edit_gets_the_rest),
    E2E_TEST("an etcd killed in the middle of an edit gets the rest",
             an_etcd_killed_in_the_middle_of_an_edit_gets_the_rest),
    E2E_TEST("a manager that slept through it all catches up",
             a_manager_that_slept_through_it_all_catches_up),
    E2E_TEST("its rights are enough", its_rights_are_enough),
    E2E_TEST("a leader that stops hands over", a_leader_that_stops_hands_over),
    E2E_TEST("a leader that dies is followed", a_leader_that_dies_is_followed),
};

int main(void)
{
    return e2e_main("e2e/real", tests, ARRAY_LEN(tests));
}
