/* Several managers, one writer. Each candidate has a token of its own, so that the server's
 * request log tells who asked for what. */
#include <signal.h>
#include <stdio.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"
#include "test_tls.h"

#define NS "kube-system"
#define LEASE_PATH "/apis/coordination.k8s.io/v1/namespaces/%s/leases"
#define LEASE_NAME "koordinator-manager"
#define MASTER "leader_election_master_status{name=\"" LEASE_NAME "\"}"
#define LEASE_MS 3000 /* of SHORT */
#define SHORT                                                                                                \
    "--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s",                            \
        "--leader-elect-retry-period", "500ms"

struct candidate {
    const char *user;
    struct program *program;
    const char *metrics_url, *health_url;
};

/* --- candidates ---------------------------------------------------------------------- */

/* Over HTTPS, because no client sends a token in the clear. */
static void serve(struct e2e *e2e)
{
    struct test_ca ca = { 0 };
    struct test_pair pair = { 0 };
    test_ca_init(&ca, "e2e-ca");
    test_pair_init(&pair, &ca, "apiserver", "DNS:localhost,IP:127.0.0.1");
    e2e->credentials.ca_file = e2e_write_file(e2e, "ca.pem", str_c(ca.pem));
    const char *cert = e2e_write_file(e2e, "server.pem", str_c(pair.cert_pem));
    const char *key = e2e_write_file(e2e, "server.key", str_c(pair.key_pem));
    const char *tokens =
        e2e_write_file(e2e, "tokens", STR("t-test,test,1\nt-alpha,alpha,2\nt-beta,beta,3\n"));
    test_pair_done(&pair);
    test_ca_done(&ca);
    e2e_need_control(e2e);
    e2e_serve(e2e, "--tls-cert", cert, "--tls-key", key, "--token-file", tokens);
    e2e->credentials.token = "t-test";
}

#define start(e2e, candidate, user, ...)                                                                     \
    start_with((e2e), (candidate), (user),                                                                   \
               (const char *const[]){ NULL, "--enable-leader-election", ##__VA_ARGS__, NULL })

static void start_with(struct e2e *e2e, struct candidate *candidate, const char *user,
                       const char *const *flags)
{
    struct str kubeconfig = arena_strf(
        &e2e->arena,
        "{apiVersion: v1, kind: Config, current-context: t, contexts: [{name: t, context: {cluster: t, user: "
        "t}}],"
        " clusters: [{name: t, cluster: {server: '%s', certificate-authority: '%s'}}],"
        " users: [{name: t, user: {token: t-%s}}]}\n",
        e2e->url, e2e->credentials.ca_file, user);
    e2e->kubeconfig = e2e_write_file(e2e, arena_strf(&e2e->arena, "%s.kubeconfig", user).ptr, kubeconfig);
    e2e_manage_with(e2e, flags);
    *candidate = (struct candidate){ user, e2e->manager, e2e->metrics_url, e2e->health_url };
}

/* What e2e_metric and the like ask. */
static void look_at(struct e2e *e2e, const struct candidate *candidate)
{
    e2e->manager = candidate->program;
    e2e->metrics_url = candidate->metrics_url;
    e2e->health_url = candidate->health_url;
}

static double metric_of(struct e2e *e2e, const struct candidate *candidate, const char *series)
{
    look_at(e2e, candidate);
    return e2e_metric(e2e, series);
}

static bool leads(struct e2e *e2e, const struct candidate *candidate)
{
    return metric_of(e2e, candidate, MASTER) > 0;
}

static bool is_ready(struct e2e *e2e, const struct candidate *candidate)
{
    look_at(e2e, candidate);
    return e2e_ready(e2e);
}

/* One leads, the other has filled its caches. */
static void start_two(struct e2e *e2e, struct candidate *leader, struct candidate *standby)
{
    start(e2e, leader, "alpha", SHORT);
    EVENTUALLY(e2e, leads(e2e, leader));
    start(e2e, standby, "beta", SHORT);
    EVENTUALLY(e2e, is_ready(e2e, standby));
}

/* --- what they did ---------------------------------------------------------------------- */

static const struct json *lease(struct e2e *e2e, const char *ns)
{
    return e2e_get(e2e, LEASE_PATH "/" LEASE_NAME, ns);
}

static struct str lease_text(const struct json *object, const char *field)
{
    return json_str(json_path(object, "spec", field, NULL));
}

/* Every request of this candidate that changes anything: Leases and Events, too. */
static struct e2e_requests writes_of(struct e2e *e2e, const struct candidate *candidate, int64_t since)
{
    struct e2e_requests all = e2e_requests(e2e, since), writes = { 0 };
    writes.items = all.items;
    for (size_t i = 0; i < all.count; i++) {
        if (str_eq(all.items[i].user, str_c(candidate->user)) && !str_eq(all.items[i].method, STR("GET")))
            writes.items[writes.count++] = all.items[i];
    }
    return writes;
}

static struct e2e_requests nodemetrics_by(struct e2e *e2e, const struct candidate *candidate, int64_t since)
{
    return e2e_select(e2e, writes_of(e2e, candidate, since), "POST", NODEMETRIC_PATH);
}

static size_t lists_by(struct e2e *e2e, const struct candidate *candidate, int64_t since)
{
    struct e2e_requests all = e2e_select(e2e, e2e_requests(e2e, since), "GET", "/api/v1/nodes");
    size_t count = 0;
    for (size_t i = 0; i < all.count; i++) {
        struct str query = all.items[i].query;
        count += str_eq(all.items[i].user, str_c(candidate->user)) &&
                 !(query.len && memmem(query.ptr, query.len, "watch=", 6));
    }
    return count;
}

static void assert_silent(struct e2e *e2e, const struct candidate *candidate, int64_t since)
{
    struct e2e_requests writes = writes_of(e2e, candidate, since);
    if (writes.count == 0)
        return;
    e2e_print_requests(writes);
    fail_msg("%s wrote %zu times", candidate->user, writes.count);
}

static int64_t now_us(void)
{
    return wall_now().us;
}

/* From `since_us` until the successor's first write about a Node. */
static int64_t takeover_ms(struct e2e *e2e, const struct candidate *successor, int64_t mark, int64_t since_us)
{
    struct e2e_requests writes = { 0 };
    EVENTUALLY(e2e, (writes = nodemetrics_by(e2e, successor, mark)).count > 0);
    return (writes.items[0].time.us - since_us) / 1000;
}

/* --- tests -------------------------------------------------------------------------------- */

static void only_the_leader_writes(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    start_two(e2e, &leader, &standby);
    e2e_add_nodes(e2e, 3);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_report_all(e2e, 3);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 3);

    EVENTUALLY(e2e, metric_of(e2e, &standby, "koord_manager_informer_objects{kind=\"Node\"}") >= 3);
    assert_true(is_ready(e2e, &leader) && is_ready(e2e, &standby));
    assert_false(leads(e2e, &standby));
    assert_silent(e2e, &standby, 0);
    assert_true(writes_of(e2e, &leader, 0).count >= 3);
    assert_true(str_starts_with(lease_text(lease(e2e, NS), "renewTime"), STR("20")));
    EVENTUALLY(e2e, e2e_event_count(e2e, "Lease", LEASE_NAME, "LeaderElection") == 1);
}

static void sigterm_hands_over_within_three_seconds(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    e2e_set_policy(e2e, "{'enable':true}");
    start_two(e2e, &leader, &standby);
    int64_t mark = e2e_mark(e2e), started = now_us();
    program_expect_end(leader.program);
    program_signal(leader.program, SIGTERM);
    e2e_add_nodes(e2e, 2);
    int64_t ms = takeover_ms(e2e, &standby, mark, started);
    print_message("the other wrote %lld ms after SIGTERM\n", (long long)ms);
    assert_in_range(ms, 0, 3000);
    assert_int_equal(program_wait(leader.program, 30000), 0);
    assert_int_equal(lists_by(e2e, &standby, mark), 0); /* its caches were warm */
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == 2);
    EVENTUALLY(e2e, e2e_event_count(e2e, "Lease", LEASE_NAME, "LeaderElection") == 3);
}

static void sigkill_costs_the_lease_and_two_seconds_at_most(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    e2e_set_policy(e2e, "{'enable':true}");
    start_two(e2e, &leader, &standby);
    int64_t mark = e2e_mark(e2e), started = now_us();
    e2e_kill(leader.program);
    e2e_add_nodes(e2e, 2);
    int64_t ms = takeover_ms(e2e, &standby, mark, started);
    print_message("the other wrote %lld ms after SIGKILL of a leader with a lease of %d ms\n", (long long)ms,
                  LEASE_MS);
    assert_in_range(ms, 0, LEASE_MS + 2000);
    assert_int_equal(lists_by(e2e, &standby, mark), 0);
}

/* Stopped in the middle of more work than it may do at once. */
static void a_stopped_leader_writes_nothing_when_it_wakes(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    e2e_set_policy(e2e, "{'enable':true}");
    start(e2e, &leader, "alpha", SHORT, "--rest-config-qps", "10", "--rest-config-burst", "1");
    EVENTUALLY(e2e, leads(e2e, &leader));
    start(e2e, &standby, "beta", SHORT);
    EVENTUALLY(e2e, is_ready(e2e, &standby));
    e2e_add_nodes(e2e, 60);
    EVENTUALLY(e2e, nodemetrics_by(e2e, &leader, 0).count >= 5);
    program_signal(leader.program, SIGSTOP);
    assert_true(e2e_nodemetric_count(e2e) < 60);
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == 60);
    assert_true(leads(e2e, &standby));

    int64_t mark = e2e_mark(e2e);
    program_expect_end(leader.program);
    program_signal(leader.program, SIGCONT);
    assert_int_equal(program_wait(leader.program, 30000), 1);
    assert_true(program_logged(leader.program, "lost the lease"));
    assert_silent(e2e, &leader, mark);
    e2e_assert_no_repeat(e2e_select(e2e, e2e_writes(e2e, 0), "POST", NODEMETRIC_PATH));
}

static void a_stolen_lease_ends_the_leader(struct e2e *e2e)
{
    struct candidate leader;
    serve(e2e);
    start(e2e, &leader, "alpha", SHORT);
    EVENTUALLY(e2e, leads(e2e, &leader));
    program_expect_end(leader.program);
    e2e_patch(e2e, arena_strf(&e2e->arena, LEASE_PATH "/" LEASE_NAME, NS).ptr,
              "{'spec':{'holderIdentity':'thief'}}");
    assert_int_equal(program_wait(leader.program, 30000), 1);
    assert_true(str_eq(lease_text(lease(e2e, NS), "holderIdentity"), STR("thief")));
}

static void a_server_that_is_gone_ends_the_leader(struct e2e *e2e)
{
    struct candidate leader;
    serve(e2e);
    start(e2e, &leader, "alpha", SHORT);
    EVENTUALLY(e2e, leads(e2e, &leader));
    program_expect_end(leader.program);
    e2e_fault(e2e, "{'path':'/leases','count':-1,'code':503}");
    assert_int_equal(program_wait(leader.program, 30000), 1);
}

static bool recreated(struct e2e *e2e, struct str uid)
{
    const struct json *now = lease(e2e, NS);
    return now && !str_eq(e2e_uid(now), uid);
}

static void a_deleted_lease_is_made_again_by_its_holder(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    start_two(e2e, &leader, &standby);
    const struct json *before = lease(e2e, NS);
    e2e_delete(e2e, LEASE_PATH "/" LEASE_NAME, NS);
    EVENTUALLY(e2e, recreated(e2e, e2e_uid(before)));
    const struct json *after = lease(e2e, NS);
    assert_true(str_eq(lease_text(after, "holderIdentity"), lease_text(before, "holderIdentity")));
    assert_true(str_eq(lease_text(after, "acquireTime"), lease_text(before, "acquireTime")));
    struct str rv = e2e_rv(after);
    EVENTUALLY(e2e, !str_eq(e2e_rv(lease(e2e, NS)), rv)); /* and it is renewed */
    assert_true(leads(e2e, &leader));
    assert_silent(e2e, &standby, 0);
}

/* --- somebody else ---------------------------------------------------------------------------- */

#define FOREIGN_NS "koordinator-system"

static void put_foreign(struct e2e *e2e, int64_t duration_s)
{
    e2e_call(e2e, "POST", NULL,
             STR("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" FOREIGN_NS "\"}}"),
             "/api/v1/namespaces");
    struct str body =
        e2e_json(e2e,
                 "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'%s'},"
                 "'spec':{'holderIdentity':'upstream','leaseDurationSeconds':%lld,"
                 "'renewTime':'2026-07-24T08:00:00.000000Z'}}",
                 LEASE_NAME, (long long)duration_s);
    assert_int_equal(e2e_call(e2e, "POST", NULL, body, LEASE_PATH, FOREIGN_NS).code, 201);
}

/* Renews, and tells how often the candidate has looked. */
static size_t renew_foreign(struct e2e *e2e, int64_t *transitions)
{
    e2e_patch(e2e, arena_strf(&e2e->arena, LEASE_PATH "/" LEASE_NAME, FOREIGN_NS).ptr,
              "{'spec':{'leaseTransitions':%lld}}", (long long)++*transitions);
    const char *path = arena_strf(&e2e->arena, LEASE_PATH "/" LEASE_NAME, FOREIGN_NS).ptr;
    return e2e_select(e2e, e2e_requests(e2e, 0), "GET", path).count;
}

static void a_foreign_lease_that_is_renewed_is_respected(struct e2e *e2e)
{
    struct candidate candidate;
    int64_t transitions = 0;
    serve(e2e);
    put_foreign(e2e, 2);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_add_nodes(e2e, 1);
    start(e2e, &candidate, "alpha", SHORT);
    EVENTUALLY(e2e, renew_foreign(e2e, &transitions) >= 10); /* 5 s, longer than it lasts */
    assert_null(lease(e2e, NS));
    assert_silent(e2e, &candidate, 0);
    assert_true(is_ready(e2e, &candidate));
    assert_true(metric_of(e2e, &candidate, "koord_manager_foreign_lease_active") > 0);
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == 1); /* nobody renews it any more */
}

static void a_foreign_lease_can_be_ignored(struct e2e *e2e)
{
    struct candidate candidate;
    serve(e2e);
    put_foreign(e2e, 3600);
    start(e2e, &candidate, "alpha", SHORT, "--ignore-foreign-lease");
    EVENTUALLY(e2e, leads(e2e, &candidate));
}

/* --- the rest ------------------------------------------------------------------------------------ */

static void what_was_wrong_before_it_led_is_told(struct e2e *e2e)
{
    struct candidate candidate;
    serve(e2e);
    put_foreign(e2e, 2); /* keeps it waiting with full caches */
    e2e_set_policy(e2e, "{'enable':true,'degradeTimeMinutes':0}");
    start(e2e, &candidate, "alpha", SHORT);
    EVENTUALLY(e2e, is_ready(e2e, &candidate));
    EVENTUALLY(e2e, leads(e2e, &candidate));
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgInvalid") == 1);
}

static void sigterm_does_not_wait_for_a_lease_that_nobody_answers(struct e2e *e2e)
{
    struct candidate leader;
    serve(e2e);
    start(e2e, &leader, "alpha");
    EVENTUALLY(e2e, leads(e2e, &leader));
    e2e_fault(e2e, "{'path':'/leases','count':-1,'hang':true}");
    struct mono_time before = mono_now();
    assert_int_equal(e2e_stop(leader.program), 0);
    int64_t ms = mono_ms_between(before, mono_now());
    print_message("gone %lld ms after SIGTERM\n", (long long)ms);
    assert_in_range(ms, 0, 5000);
}

static void a_standby_leaves_with_0(struct e2e *e2e)
{
    struct candidate leader, standby;
    serve(e2e);
    start_two(e2e, &leader, &standby);
    assert_int_equal(e2e_stop(standby.program), 0);
    assert_true(leads(e2e, &leader));
}

static void unusable_flags_are_refused(struct e2e *e2e)
{
    static const char *const bad[] = {
        "--leader-elect-resource-lock=endpoints", "--leader-elect-resource-name=",
        "--leader-elect-lease-duration=10s",      "--leader-elect-lease-duration=2h",
        "--leader-elect-retry-period=0s",         "--leader-elect-renew-deadline=1s",
        "--leader-elect-lease-duration=15500ms"
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *const arguments[] = { bad[i], NULL };
        struct str output;
        if (e2e_run(e2e, "koord-manager", E2E_MANAGER, arguments, &output) != 2)
            fail_msg("%s: " STR_FMT, bad[i], STR_ARG(output));
    }
}

static const struct e2e_test tests[] = {
    E2E_TEST("only the leader writes", only_the_leader_writes),
    E2E_TEST("sigterm hands over within three seconds", sigterm_hands_over_within_three_seconds),
    E2E_TEST("sigkill costs the lease and two seconds at most",
             sigkill_costs_the_lease_and_two_seconds_at_most),
    E2E_TEST("t_71 a stopped leader writes nothing when it wakes",
             a_stopped_leader_writes_nothing_when_it_wakes),
    E2E_TEST("t_67 a stolen lease ends the leader", a_stolen_lease_ends_the_leader),
    E2E_TEST("t_70 a server that is gone ends the leader", a_server_that_is_gone_ends_the_leader),
    E2E_TEST("t_68 a deleted lease is made again by its holder", a_deleted_lease_is_made_again_by_its_holder),
    E2E_TEST("a foreign lease that is renewed is respected", a_foreign_lease_that_is_renewed_is_respected),
    E2E_TEST("a foreign lease can be ignored", a_foreign_lease_can_be_ignored),
    E2E_TEST("what was wrong before it led is told", what_was_wrong_before_it_led_is_told),
    E2E_TEST("t_69 sigterm does not wait for a lease that nobody answers",
             sigterm_does_not_wait_for_a_lease_that_nobody_answers),
    E2E_TEST("a standby leaves with 0", a_standby_leaves_with_0),
    E2E_TEST("unusable flags are refused", unusable_flags_are_refused),
};

int main(void)
{
    return e2e_main("e2e/leader", tests, ARRAY_LEN(tests));
}
