/* The policy and its edits: what it says is what nodes and NodeMetrics get. */
#include <stdio.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

/* --- 100 nodes ------------------------------------------------------------------------ */

#define MANY 100

/* Nodes that differ in size, load and prediction, the same in every run. */
static void add_fleet(struct e2e *e2e)
{
    for (size_t i = 0; i < MANY; i++) {
        int64_t n = (int64_t)i;
        struct e2e_node node = { .name = e2e_node_name(e2e, i),
                                 .labels = i % 3 ? "'pool':'general'" : "'pool':'compute'",
                                 .cpu_milli = 8000 + n % 7 * 4001,
                                 .memory_bytes = (32 + n % 5 * 16) * GIB + n,
                                 .reserved_percent = n % 4 };
        e2e_add_node(e2e, &node);
        e2e_add_pod(e2e, arena_strf(&e2e->arena, "web-%zu", i).ptr, node.name, node.cpu_milli / 2,
                    node.memory_bytes / 2);
    }
}

static void report_fleet(struct e2e *e2e)
{
    for (size_t i = 0; i < MANY; i++) {
        int64_t n = (int64_t)i;
        struct e2e_report report = { .cpu_used_milli = 1000 + n * 37,
                                     .memory_used_bytes = 4 * GIB + n * 12345678,
                                     .cpu_reclaimable_milli = 500 + n * 101 % 6000,
                                     .memory_reclaimable_bytes = 2 * GIB + n * 98765432 };
        e2e_report(e2e, e2e_node_name(e2e, i), &report);
    }
}

static int64_t planned(const struct json *row, const char *resource)
{
    const struct json *entry = json_get(json_get(row, STR("resources")), str_c(resource));
    if (!json_is(json_get(entry, STR("planned")), JSON_STRING))
        return -1;
    return e2e_amount(json_str(json_get(entry, STR("planned"))));
}

static bool node_is_as_planned(struct e2e *e2e, const struct json *row)
{
    struct str name = json_str(json_get(row, STR("name")));
    const char *node = arena_str(&e2e->arena, name).ptr;
    return e2e_mid_is(e2e, node, planned(row, "kubernetes.io/mid-cpu"),
                      planned(row, "kubernetes.io/mid-memory"));
}

/* Every node and NodeMetric is what koordctl says it should be. */
static bool all_as_planned(struct e2e *e2e)
{
    const struct json *nodes = json_get(e2e_plan(e2e, 0), STR("nodes"));
    for (size_t i = 0; i < json_count(nodes); i++) {
        const struct json *row = nodes->array.items[i];
        if (!str_eq(json_str(json_path(row, "nodeMetric", "action", NULL)), STR("none")))
            return false;
        if (json_count(json_get(row, STR("resources"))) > 0 && !node_is_as_planned(e2e, row))
            return false;
    }
    return json_count(nodes) >= MANY;
}

/* From the edit's arrival at the server to the arrival of the last write it caused. */
static void print_latency(struct e2e *e2e, const char *what, int64_t mark)
{
    if (!e2e_has_log(e2e))
        return;
    struct e2e_requests writes = e2e_writes(e2e, mark);
    if (writes.count == 0)
        return;
    struct wall_time edited = e2e_request_time(e2e, mark);
    struct wall_time last = writes.items[writes.count - 1].time;
    printf("measured: %s: %zu writes on %d nodes, the last %lld ms after the edit\n", what, writes.count,
           MANY, (long long)((last.us - edited.us) / 1000));
}

static void a_hundred_nodes_get_what_the_plan_says(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_manage(e2e);
    add_fleet(e2e);
    e2e_set_policy(e2e, "{'enable':false,'metricReportIntervalSeconds':60}");
    EVENTUALLY(e2e, e2e_interval_count(e2e, 60) == MANY);
    assert_int_equal(e2e_nodemetric_count(e2e), MANY);
    report_fleet(e2e);
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, -1, -1), MANY + 1); /* and the fence */

    e2e_set_policy(e2e,
                   "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':40,"
                   "'midMemoryThresholdPercent':45,'midUnallocatedPercent':20,'nodeConfigs':[{'name':'c',"
                   "'nodeSelector':{'matchLabels':{'pool':'compute'}},'midReclaimMode':'mixed'}]}");
    int64_t edit = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    EVENTUALLY(e2e, e2e_interval_count(e2e, 30) == MANY);
    e2e_settle(e2e);
    print_latency(e2e, "colocation switched on", edit);
    assert_true(all_as_planned(e2e));
    assert_int_equal(e2e_mid_count(e2e, -1, -1), 2); /* the fences */

    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':31,'midCPUThresholdPercent':10,"
                        "'midMemoryThresholdPercent':10}");
    edit = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    EVENTUALLY(e2e, e2e_interval_count(e2e, 31) == MANY);
    e2e_settle(e2e);
    print_latency(e2e, "thresholds lowered", edit);
    if (e2e_has_log(e2e))
        e2e_assert_no_repeat(e2e_writes(e2e, edit));
}

/* --- edits ----------------------------------------------------------------------------- */

static void start_two_pools(struct e2e *e2e, const char *policy)
{
    e2e_serve(e2e);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "gold", .labels = "'pool':'gold'" });
    e2e_add_node(e2e, &(struct e2e_node){ .name = "plain" });
    e2e_set_policy(e2e, "%s", policy);
    e2e_manage(e2e);
    e2e_report(e2e, "gold", &(struct e2e_report){ 0 });
    e2e_report(e2e, "plain", &(struct e2e_report){ 0 });
}

static bool interval_is(struct e2e *e2e, const char *node, int64_t seconds)
{
    int64_t value = 0;
    return json_i64(json_path(e2e_nodemetric(e2e, node), "spec", "metricCollectPolicy",
                              "reportIntervalSeconds", NULL),
                    &value) &&
           value == seconds;
}

static void an_edit_changes_specs_and_capacity_without_restart(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    e2e_set_policy(e2e,
                   "{'enable':true,'metricReportIntervalSeconds':45,'metricAggregateDurationSeconds':120,"
                   "'metricAggregatePolicy':{'durations':['1m','90s']},"
                   "'metricMemoryCollectPolicy':'usageWithPageCache','midCPUThresholdPercent':10,"
                   "'midMemoryThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 1600, 64 * GIB / 10));
    EVENTUALLY(e2e, interval_is(e2e, "plain", 45));
    const struct json *spec = json_path(e2e_nodemetric(e2e, "plain"), "spec", "metricCollectPolicy", NULL);
    struct str want = e2e_json(e2e, "{'aggregateDurationSeconds':120,'reportIntervalSeconds':45,"
                                    "'nodeAggregatePolicy':{'durations':['1m0s','1m30s']},"
                                    "'nodeMemoryCollectPolicy':'usageWithPageCache'}");
    const struct json *wanted;
    assert_true(json_parse(&e2e->arena, want, NULL, &wanted, NULL));
    assert_true(json_equal(spec, wanted));
}

static void the_default_spec_is_upstreams(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':false}");
    struct str want = e2e_json(e2e, "{'metricCollectPolicy':{'aggregateDurationSeconds':300,"
                                    "'reportIntervalSeconds':60,'nodeAggregatePolicy':"
                                    "{'durations':['5m0s','10m0s','30m0s']},"
                                    "'nodeMemoryCollectPolicy':'usageWithoutPageCache'}}");
    const struct json *wanted;
    assert_true(json_parse(&e2e->arena, want, NULL, &wanted, NULL));
    assert_true(json_equal(json_get(e2e_nodemetric(e2e, "plain"), STR("spec")), wanted));
}

static void a_node_config_entry_rules_its_pool_only(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "gold", 4000, 10 * GIB));
    e2e_set_policy(e2e, "{'enable':true,'nodeConfigs':[{'name':'g','nodeSelector':{'matchExpressions':"
                        "[{'key':'pool','operator':'In','values':['gold','silver']}]},"
                        "'midCPUThresholdPercent':20,'metricReportIntervalSeconds':15}]}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "gold", 3200, 10 * GIB));
    EVENTUALLY(e2e, interval_is(e2e, "gold", 15));
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    assert_true(interval_is(e2e, "plain", 60));
}

static void a_label_moves_a_node_into_another_pool(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true,'nodeConfigs':[{'nodeSelector':{'matchLabels':{'pool':'gold'}},"
                         "'midCPUThresholdPercent':20}]}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "gold", 3200, 10 * GIB));
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    e2e_patch(e2e, "/api/v1/nodes/plain", "{'metadata':{'labels':{'pool':'gold'}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 3200, 10 * GIB));
}

static void an_annotation_overrides_and_stops_to(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    e2e_patch(e2e, "/api/v1/nodes/plain",
              "{'metadata':{'annotations':{'node.koordinator.sh/colocation-strategy':"
              "'{\\'midCPUThresholdPercent\\':5,\\'metricReportIntervalSeconds\\':20}'}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 800, 10 * GIB));
    EVENTUALLY(e2e, interval_is(e2e, "plain", 20));
    e2e_patch(e2e, "/api/v1/nodes/plain",
              "{'metadata':{'annotations':{'node.koordinator.sh/colocation-strategy':null}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    EVENTUALLY(e2e, interval_is(e2e, "plain", 60));
}

static void a_bad_annotation_is_ignored_whole_and_told(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    e2e_patch(e2e, "/api/v1/nodes/plain",
              "{'metadata':{'annotations':{'node.koordinator.sh/colocation-strategy':"
              "'{\\'midCPUThresholdPercent\\':5,\\'midMemoryThresholdPercent\\':-1}'}}}");
    EVENTUALLY(e2e, e2e_event_count(e2e, "Node", "plain", "NodeOverrideInvalid") == 1);
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
}

static void a_ratio_label_sets_a_static_share(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true,'midReclaimMode':'static','midStaticCPUReservedPercent':10,"
                         "'midStaticMemoryReservedPercent':25}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 1600, 16 * GIB));
    e2e_patch(e2e, "/api/v1/nodes/plain",
              "{'metadata':{'labels':{'node.koordinator.sh/mid-static-cpu-reserved-ratio':'0.29'}}}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4640, 16 * GIB)); /* exactly 29 % */
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "gold", 1600, 16 * GIB));
}

static void a_pod_of_prod_takes_its_requests_from_what_is_lent(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true,'midReclaimMode':'mixed'}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 16000, 64 * GIB)); /* all of it stands idle */
    e2e_add_pod(e2e, "web", "plain", 13000, 60 * GIB);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000 + 3000, 10 * GIB + 4 * GIB));
    e2e_delete(e2e, "/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 16000, 64 * GIB));
}

/* --- off ------------------------------------------------------------------------------- */

static void disabling_removes_the_keys_from_both_maps(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
    e2e_set_policy(e2e, "{'enable':false}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, -1, -1) == 2);
    const struct json *node = e2e_get(e2e, "/api/v1/nodes/plain");
    assert_int_equal(e2e_resource(node, "capacity", "cpu"), 16);
    assert_int_equal(e2e_resource(node, "allocatable", "pods"), 110);
    assert_int_equal(e2e_nodemetric_count(e2e), 2); /* it stays, with the default spec */
}

static void an_entry_can_disable_its_pool(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
    e2e_set_policy(e2e, "{'enable':true,'nodeConfigs':[{'nodeSelector':{'matchLabels':{'pool':'gold'}},"
                        "'enable':false}]}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "gold", -1, -1));
    e2e_settle(e2e);
    assert_true(e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
}

static void a_deleted_configmap_is_believed_after_the_grace(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "plain" });
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e, "--config-missing-grace", "2s");
    e2e_report(e2e, "plain", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
    e2e_delete_policy(e2e);
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgMissing") == 1);
    assert_true(e2e_metric(e2e, "koord_manager_config_state{state=\"holding\"}") == 1 ||
                e2e_metric(e2e, "koord_manager_config_state{state=\"default\"}") == 1);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", -1, -1));
    assert_true(e2e_metric(e2e, "koord_manager_config_state{state=\"default\"}") == 1);
    EVENTUALLY(e2e,
               e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgDefaulted") == 1);
    e2e_set_policy(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "plain", 4000, 10 * GIB));
}

static void a_deleted_configmap_that_comes_back_in_time_changes_nothing(struct e2e *e2e)
{
    start_two_pools(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
    e2e_settle(e2e);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_delete_policy(e2e);
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgMissing") == 1);
    e2e_set_policy(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_config_state{state=\"accepted\"}") == 1);
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), 2);
    if (e2e_has_log(e2e))
        e2e_assert_writes(e2e, mark, 0);
}

static void without_a_configmap_a_start_changes_nothing_during_the_grace(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "lent" });
    e2e_patch(e2e, "/api/v1/nodes/lent/status",
              "{'status':{'capacity':{'kubernetes.io/mid-cpu':'4k','kubernetes.io/mid-memory':'10Gi'},"
              "'allocatable':{'kubernetes.io/mid-cpu':'4k','kubernetes.io/mid-memory':'10Gi'}}}");
    e2e_manage(e2e, "--config-missing-grace", "3s");
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", "slo-controller-config", "ColocationCfgMissing") == 1);
    EVENTUALLY(e2e, e2e_metric(e2e, "controller_runtime_reconcile_total{controller=\"noderesource\","
                                    "result=\"success\"}") >= 1);
    assert_true(e2e_mid_is(e2e, "lent", 4000, 10 * GIB) ||
                e2e_metric(e2e, "koord_manager_config_state{state=\"default\"}") == 1);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "lent", -1, -1)); /* absent means disabled */
    assert_true(e2e_metric(e2e, "koord_manager_config_state{state=\"default\"}") == 1);
}

static const struct e2e_test tests[] = {
    E2E_TEST("a hundred nodes get what the plan says", a_hundred_nodes_get_what_the_plan_says),
    E2E_TEST("an edit changes specs and capacity without restart",
             an_edit_changes_specs_and_capacity_without_restart),
    E2E_TEST("the default spec is upstream's", the_default_spec_is_upstreams),
    E2E_TEST("a nodeConfigs entry rules its pool only", a_node_config_entry_rules_its_pool_only),
    E2E_TEST("a label moves a node into another pool", a_label_moves_a_node_into_another_pool),
    E2E_TEST("an annotation overrides, and stops to", an_annotation_overrides_and_stops_to),
    E2E_TEST("a bad annotation is ignored whole, and told", a_bad_annotation_is_ignored_whole_and_told),
    E2E_TEST("a ratio label sets a static share, exactly", a_ratio_label_sets_a_static_share),
    E2E_TEST("a Prod pod takes its requests from what is lent",
             a_pod_of_prod_takes_its_requests_from_what_is_lent),
    E2E_TEST("disabling removes the keys from both maps", disabling_removes_the_keys_from_both_maps),
    E2E_TEST("an entry can disable its pool", an_entry_can_disable_its_pool),
    E2E_TEST("a deleted ConfigMap is believed after the grace",
             a_deleted_configmap_is_believed_after_the_grace),
    E2E_TEST("a deleted ConfigMap that comes back in time changes nothing",
             a_deleted_configmap_that_comes_back_in_time_changes_nothing),
    E2E_TEST("without a ConfigMap a start changes nothing during the grace",
             without_a_configmap_a_start_changes_nothing_during_the_grace),
};

int main(void)
{
    return e2e_main("e2e/policy", tests, ARRAY_LEN(tests));
}
