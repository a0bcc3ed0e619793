/* One NodeSLO per Node, rendered from the policy, whatever people and caches do. */
#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODESLO_PATH "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
#define CRD_PATH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeslos.slo.koordinator.sh"
#define NAME "slo-controller-config"

static const struct json *spec_of(struct e2e *e2e, const char *node)
{
    return json_get(e2e_get(e2e, NODESLO_PATH "/%s", node), STR("spec"));
}

static bool burst_is(struct e2e *e2e, const char *node, const char *policy)
{
    return str_eq(json_str(json_path(spec_of(e2e, node), "cpuBurstStrategy", "policy", NULL)), str_c(policy));
}

static bool bandwidth_is(struct e2e *e2e, const char *node, const char *bandwidth)
{
    const struct json *value = json_path(spec_of(e2e, node), "systemStrategy", "totalNetworkBandwidth", NULL);
    return str_eq(json_str(value), str_c(bandwidth));
}

static void set_burst(struct e2e *e2e, const char *text)
{
    struct str quoted = e2e_json(e2e, "{'data':{'cpu-burst-config':'%s'}}", text);
    struct rest_answer answer =
        e2e_call(e2e, "PATCH", "application/merge-patch+json", quoted, E2E_CONFIGMAP_PATH);
    assert_int_equal(answer.code, 200);
}

#define BURST(policy) "{\\\"clusterStrategy\\\":{\\\"policy\\\":\\\"" policy "\\\"}}"

static void start(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 2);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--controllers=*");
    EVENTUALLY(e2e, burst_is(e2e, "node-000", "none") && burst_is(e2e, "node-001", "none"));
    e2e_settle(e2e);
}

static void every_node_has_one_with_the_defaults(struct e2e *e2e)
{
    start(e2e);
    const struct json *spec = spec_of(e2e, "node-000");
    assert_true(bandwidth_is(e2e, "node-000", "0"));
    assert_int_equal(json_count(json_get(spec, STR("resourceUsedThresholdWithBE"))), 5);
    assert_int_equal(json_count(json_get(spec, STR("cpuBurstStrategy"))), 5);
    assert_null(json_get(spec, STR("hostApplications")));
}

static void it_follows_the_policy_with_the_smallest_patch(struct e2e *e2e)
{
    start(e2e);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    set_burst(e2e, BURST("auto"));
    EVENTUALLY(e2e, burst_is(e2e, "node-000", "auto") && burst_is(e2e, "node-001", "auto"));
    e2e_settle(e2e);
    if (!e2e_has_log(e2e))
        return;
    struct e2e_requests patches = e2e_select(e2e, e2e_writes(e2e, mark), "PATCH", NODESLO_PATH "/*");
    assert_int_equal(patches.count, 2);
    assert_string_equal(arena_str(&e2e->arena, patches.items[0].body).ptr,
                        "{\"spec\":{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}}");
}

static void a_bad_key_is_told_and_changes_nothing(struct e2e *e2e)
{
    start(e2e);
    set_burst(e2e, BURST("auto"));
    EVENTUALLY(e2e, burst_is(e2e, "node-000", "auto") && burst_is(e2e, "node-001", "auto"));
    set_burst(e2e, "{");
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", NAME, "SLOCfgUnmarshalFailed") == 1);
    e2e_settle(e2e);
    assert_true(burst_is(e2e, "node-000", "auto"));
}

static void one_deleted_or_edited_by_hand_is_put_right(struct e2e *e2e)
{
    start(e2e);
    e2e_delete(e2e, NODESLO_PATH "/node-000");
    EVENTUALLY(e2e, burst_is(e2e, "node-000", "none"));
    e2e_patch(e2e, NODESLO_PATH "/node-001",
              "{'spec':{'cpuBurstStrategy':{'policy':'mine'},'extensions':{'a':1}}}");
    EVENTUALLY(e2e, burst_is(e2e, "node-001", "none"));
    assert_non_null(json_path(spec_of(e2e, "node-001"), "extensions", "a", NULL));
}

static void it_goes_with_its_node(struct e2e *e2e)
{
    start(e2e);
    e2e_delete(e2e, "/api/v1/nodes/node-001");
    EVENTUALLY(e2e, !e2e_get(e2e, NODESLO_PATH "/node-001"));
    assert_non_null(e2e_get(e2e, NODESLO_PATH "/node-000"));
}

static void a_node_says_its_bandwidth(struct e2e *e2e)
{
    start(e2e);
    e2e_patch(e2e, "/api/v1/nodes/node-000",
              "{'metadata':{'annotations':{'node.koordinator.sh/network-bandwidth':'99M'}}}");
    EVENTUALLY(e2e, bandwidth_is(e2e, "node-000", "99M"));
    e2e_patch(e2e, "/api/v1/nodes/node-000",
              "{'metadata':{'annotations':{'node.koordinator.sh/network-bandwidth':'fast'}}}");
    EVENTUALLY(e2e, bandwidth_is(e2e, "node-000", "0"));
    EVENTUALLY(e2e, e2e_event_count(e2e, "Node", "node-000", "NodeOverrideInvalid") == 1);
}

static void a_restart_writes_nothing(struct e2e *e2e)
{
    start(e2e);
    assert_int_equal(e2e_stop(e2e->manager), 0);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_manage(e2e, "--controllers=nodeslo");
    EVENTUALLY(e2e, e2e_ready(e2e));
    set_burst(e2e, BURST("auto"));
    EVENTUALLY(e2e, burst_is(e2e, "node-000", "auto") && burst_is(e2e, "node-001", "auto"));
    if (e2e_has_log(e2e))
        assert_int_equal(e2e_select(e2e, e2e_writes(e2e, mark), NULL, NODESLO_PATH "*").count +
                             e2e_select(e2e, e2e_writes(e2e, mark), NULL, NODESLO_PATH "/*").count,
                         2);
}

static void without_its_crd_the_rest_works(struct e2e *e2e)
{
    e2e_need_control(e2e);
    e2e_serve(e2e);
    e2e_delete(e2e, CRD_PATH);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--controllers=*");
    EVENTUALLY(e2e, e2e_nodemetric(e2e, "node-000"));
    EVENTUALLY(e2e, e2e_ready(e2e));
}

static const struct e2e_test tests[] = {
    E2E_TEST("every Node has one, with the defaults", every_node_has_one_with_the_defaults),
    E2E_TEST("it follows the policy with the smallest patch", it_follows_the_policy_with_the_smallest_patch),
    E2E_TEST("a bad key is told and changes nothing", a_bad_key_is_told_and_changes_nothing),
    E2E_TEST("one deleted or edited by hand is put right", one_deleted_or_edited_by_hand_is_put_right),
    E2E_TEST("it goes with its Node", it_goes_with_its_node),
    E2E_TEST("a Node says its bandwidth", a_node_says_its_bandwidth),
    E2E_TEST("a restart writes nothing", a_restart_writes_nothing),
    E2E_TEST("without its CRD the rest works", without_its_crd_the_rest_works),
};

int main(void)
{
    return e2e_main("e2e/nodeslo", tests, ARRAY_LEN(tests));
}
