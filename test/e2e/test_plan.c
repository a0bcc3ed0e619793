/* koordctl plan against a running cluster. */
#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODES 8

static void fill_cluster(struct e2e *e2e)
{
    for (size_t i = 0; i < NODES; i++) {
        int64_t n = (int64_t)i;
        e2e_add_node(e2e,
                     &(struct e2e_node){ .name = e2e_node_name(e2e, i),
                                         .labels = i % 2 ? "'pool':'gold'" : NULL,
                                         .annotations = i == 3 ? "'node.koordinator.sh/reservation':"
                                                                 "'{\\'resources\\':{\\'cpu\\':\\'3\\'}}'"
                                                               : NULL,
                                         .cpu_milli = 8000 + n * 1500,
                                         .memory_bytes = (32 + n) * GIB,
                                         .reserved_percent = n });
        e2e_add_pod(e2e, arena_strf(&e2e->arena, "web-%zu", i).ptr, e2e_node_name(e2e, i), 2000 + n * 100,
                    8 * GIB);
    }
}

static void report_cluster(struct e2e *e2e)
{
    for (size_t i = 0; i + 1 < NODES; i++) /* the last one never reports */
        e2e_report(e2e, e2e_node_name(e2e, i),
                   &(struct e2e_report){ .cpu_reclaimable_milli = 1000 + (int64_t)i * 333 });
}

#define POLICY                                                                                               \
    "{'enable':true,'midCPUThresholdPercent':35,'midUnallocatedPercent':15,'nodeConfigs':[{'nodeSelector':"  \
    "{'matchLabels':{'pool':'gold'}},'midReclaimMode':'mixed'}]}"

static const char *save(struct e2e *e2e, const char *name, const char *path)
{
    struct rest_answer answer = e2e_call(e2e, "GET", NULL, STR_NULL, "%s", path);
    assert_int_equal(answer.code, 200);
    return e2e_write_file(e2e, name, answer.body);
}

static const char *now(struct e2e *e2e)
{
    const struct json *status = json_get(e2e_nodemetric(e2e, "node-000"), STR("status"));
    return arena_str(&e2e->arena, json_str(json_get(status, STR("updateTime")))).ptr;
}

static void live_and_offline_say_the_same(struct e2e *e2e)
{
    e2e_serve(e2e);
    fill_cluster(e2e);
    e2e_set_policy(e2e, POLICY);
    e2e_manage(e2e);
    report_cluster(e2e);
    e2e_settle(e2e);
    e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':5,'metricReportIntervalSeconds':30}");
    e2e_settle(e2e);
    e2e_stop(e2e->manager);
    const char *time = now(e2e);
    const struct json *live = e2e_plan(e2e, 0, "--now", time);
    const struct json *offline =
        e2e_plan(e2e, 0, "--now", time, "-f", save(e2e, "nodes.json", "/api/v1/nodes"), "-f",
                 save(e2e, "metrics.json", NODEMETRIC_PATH), "-f", save(e2e, "pods.json", "/api/v1/pods"),
                 "-f", save(e2e, "configmap.json", E2E_CONFIGMAP_PATH));
    assert_true(json_count(json_get(live, STR("nodes"))) >= NODES);
    assert_true(json_equal(live, offline));
}

static void it_reads_and_never_writes(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    fill_cluster(e2e);
    e2e_set_policy(e2e, POLICY);
    int64_t mark = e2e_mark(e2e);
    const struct json *plan = e2e_plan(e2e, 0);
    assert_int_equal(json_count(json_get(plan, STR("nodes"))), NODES);
    struct rest_answer log =
        e2e_call(e2e, "GET", NULL, STR_NULL, "/-/control/requests?since=%lld", (long long)mark);
    assert_non_null(memmem(log.body.ptr, log.body.len, "koordctl/", 9));
    assert_null(memmem(log.body.ptr, log.body.len, "\"POST\"", 6));
    assert_null(memmem(log.body.ptr, log.body.len, "\"PATCH\"", 7));
    assert_null(memmem(log.body.ptr, log.body.len, "\"PUT\"", 5));
    assert_null(memmem(log.body.ptr, log.body.len, "\"DELETE\"", 8));
}

static const struct json *row_of(const struct json *plan, struct str name)
{
    const struct json *nodes = json_get(plan, STR("nodes"));
    for (size_t i = 0; i < json_count(nodes); i++)
        if (str_eq(json_str(json_get(nodes->array.items[i], STR("name"))), name))
            return nodes->array.items[i];
    return NULL;
}

static int64_t planned(const struct json *row, const char *resource)
{
    const struct json *value =
        json_get(json_get(json_get(row, STR("resources")), str_c(resource)), STR("planned"));
    return json_is(value, JSON_STRING) ? e2e_amount(json_str(value)) : -1;
}

static bool proposal_came_true(struct e2e *e2e, const struct json *proposal)
{
    for (size_t i = 0; i < NODES; i++) {
        const char *name = e2e_node_name(e2e, i);
        const struct json *row = row_of(proposal, str_c(name));
        if (!e2e_mid_is(e2e, name, planned(row, "kubernetes.io/mid-cpu"),
                        planned(row, "kubernetes.io/mid-memory")))
            return false;
        if (!json_equal(json_get(e2e_nodemetric(e2e, name), STR("spec")),
                        json_path(row, "nodeMetric", "spec", NULL)))
            return false;
    }
    return true;
}

/* What it says an edit will do is what the edit then does. */
static void a_proposal_comes_true_when_it_is_applied(struct e2e *e2e)
{
    static const char proposed[] =
        "{\"enable\":true,\"metricReportIntervalSeconds\":20,\"midReclaimMode\":\"mixed\","
        "\"midMemoryThresholdPercent\":5,\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":60}}";
    e2e_serve(e2e);
    fill_cluster(e2e);
    e2e_set_policy(e2e, POLICY);
    e2e_manage(e2e);
    report_cluster(e2e);
    e2e_settle(e2e);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    strbuf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                          "\"slo-controller-config\"},\"data\":{\"colocation-config\":"));
    json_write_str(&text, STR(proposed));
    strbuf_add(&text, STR("}}"));
    const char *file = e2e_write_file(e2e, "proposed.json", strbuf_str(&text));
    const struct json *proposal = e2e_plan(e2e, 0, "--config", file);
    assert_false(proposal_came_true(e2e, proposal));
    e2e_set_policy_text(e2e, STR(proposed));
    EVENTUALLY(e2e, proposal_came_true(e2e, proposal));
}

static void a_rejected_policy_is_a_plan_that_ends_with_1(struct e2e *e2e)
{
    e2e_serve(e2e);
    fill_cluster(e2e);
    e2e_set_policy(e2e, "{'enable':true,'degradeTimeMinutes':0}");
    const struct json *plan = e2e_plan(e2e, 1);
    assert_true(str_eq(json_str(json_path(plan, "config", "state", NULL)), STR("rejected")));
    assert_true(json_count(json_path(plan, "config", "errors", NULL)) >= 1);
    assert_true(json_is(json_path(plan, "config", "clusterStrategy", NULL), JSON_NULL));
    const struct json *row = row_of(plan, STR("node-000"));
    assert_true(str_eq(json_str(json_path(row, "nodeMetric", "action", NULL)), STR("none")));
}

static void without_a_server_it_ends_with_2(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    e2e_kill(e2e->server);
    const char *const flags[] = { "plan", "--kubeconfig", e2e->kubeconfig, NULL };
    struct str output;
    assert_int_equal(e2e_run(e2e, "koordctl", E2E_KOORDCTL, flags, &output), 2);
    assert_non_null(memmem(output.ptr, output.len, "koordctl", 8));
}

static const struct e2e_test tests[] = {
    E2E_TEST("live and offline say the same", live_and_offline_say_the_same),
    E2E_TEST("it reads and never writes", it_reads_and_never_writes),
    E2E_TEST("a proposal comes true when it is applied", a_proposal_comes_true_when_it_is_applied),
    E2E_TEST("a rejected policy is a plan that ends with 1", a_rejected_policy_is_a_plan_that_ends_with_1),
    E2E_TEST("without a server it ends with 2", without_a_server_it_ends_with_2),
};

int main(void)
{
    return e2e_main("e2e/plan", tests, ARRAY_LEN(tests));
}
