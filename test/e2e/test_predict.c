/* nodePredictPolicy becomes spec.predictPolicy, where the CRD lets it. */
#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODES 10
#define CRD "nodemetrics.slo.koordinator.sh"
#define PREDICT "'nodePredictPolicy':{'resourceDiffThresholdPercent':7,'coldStartPeriodSeconds':600}"

static const struct json *predict_policy(struct e2e *e2e, const char *name)
{
    return json_path(e2e_nodemetric(e2e, name), "spec", "predictPolicy", NULL);
}

static bool predicts(struct e2e *e2e, const char *name, int64_t percent, int64_t seconds)
{
    int64_t got_percent = -1, got_seconds = -1;
    const struct json *policy = predict_policy(e2e, name);
    if (!json_i64(json_get(policy, STR("resourceDiffThresholdPercent")), &got_percent))
        got_percent = -1;
    if (!json_i64(json_get(policy, STR("coldStartPeriodSeconds")), &got_seconds))
        got_seconds = -1;
    return got_percent == percent && got_seconds == seconds;
}

static void it_appears_changes_and_goes(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_nodemetric(e2e, "node-000"));
    assert_null(predict_policy(e2e, "node-000")); /* unset: left out */
    e2e_set_policy(e2e, "{'enable':true," PREDICT "}");
    EVENTUALLY(e2e, predicts(e2e, "node-000", 7, 600));
    e2e_set_policy(e2e, "{'enable':true,'nodePredictPolicy':{'resourceDiffThresholdPercent':9}}");
    EVENTUALLY(e2e, predicts(e2e, "node-000", 9, -1));
    e2e_set_policy(e2e, "{'enable':true}");
    EVENTUALLY(e2e, !predict_policy(e2e, "node-000"));
}

static void one_pool_may_have_its_own(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "gold", .labels = "'pool':'gold'" });
    e2e_add_node(e2e, &(struct e2e_node){ .name = "plain" });
    e2e_set_policy(e2e, "{'enable':true," PREDICT
                        ",'nodeConfigs':[{'nodeSelector':{'matchLabels':{'pool':'gold'}},"
                        "'nodePredictPolicy':{'coldStartPeriodSeconds':60}}]}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, predicts(e2e, "gold", 7, 60));
    EVENTUALLY(e2e, predicts(e2e, "plain", 7, 600));
}

/* --- a CRD that does not know it --------------------------------------------------------- */

static void start_under_upstreams_crd(struct e2e *e2e)
{
    e2e_serve(e2e, "--crds", E2E_UPSTREAM_CRDS);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    e2e_settle(e2e);
}

static void a_crd_that_prunes_it_is_told_of_once_and_no_loop_follows(struct e2e *e2e)
{
    start_under_upstreams_crd(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45," PREDICT "}");
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodemetric_predict_policy_pruned") == 1);
    EVENTUALLY(e2e, e2e_event_count(e2e, "CustomResourceDefinition", CRD, "PredictPolicyPruned") == 1);
    e2e_settle(e2e);
    e2e_settle(e2e);
    struct e2e_requests tries = e2e_writes(e2e, mark);
    e2e_assert_no_repeat(tries);
    assert_in_range(tries.count, 1, NODES);
    assert_int_equal(program_count_logged(e2e->manager, "drops spec.predictPolicy"), 1);

    /* From here on it takes no part in any comparison, but the rest of the spec does. */
    mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30," PREDICT "}");
    EVENTUALLY(e2e, e2e_interval_count(e2e, 30) == NODES);
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, mark);
    assert_int_equal(writes.count, NODES);
    for (size_t i = 0; i < writes.count; i++)
        assert_null(memmem(writes.items[i].body.ptr, writes.items[i].body.len, "predictPolicy", 13));
    assert_int_equal(e2e_event_count(e2e, "CustomResourceDefinition", CRD, "PredictPolicyPruned"), 1);
}

static void a_crd_that_prunes_it_does_not_stop_creation(struct e2e *e2e)
{
    e2e_serve(e2e, "--crds", E2E_UPSTREAM_CRDS);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45," PREDICT "}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodemetric_predict_policy_pruned") == 1);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_settle(e2e);
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, 0);
    assert_int_equal(e2e_select(e2e, writes, "POST", NODEMETRIC_PATH).count, NODES);
    e2e_assert_no_repeat(writes);
}

/* What has reports must not be re-created or rewritten because of a field that cannot stay. */
static void under_such_a_crd_a_restart_tries_it_at_most_once_per_node(struct e2e *e2e)
{
    start_under_upstreams_crd(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45," PREDICT "}");
    EVENTUALLY(e2e, e2e_metric(e2e, "koord_manager_nodemetric_predict_policy_pruned") == 1);
    e2e_settle(e2e);
    struct str rv = e2e_rv(e2e_nodemetric(e2e, "node-003"));
    e2e_stop(e2e->manager);
    int64_t mark = e2e_mark(e2e);
    e2e_manage(e2e);
    e2e_settle(e2e);
    e2e_settle(e2e);
    struct e2e_requests writes = e2e_writes(e2e, mark);
    assert_true(writes.count <= NODES);
    e2e_assert_no_repeat(writes);
    print_message("measured: %zu tries on %d nodes after a restart\n", writes.count, NODES);
    assert_true(str_eq(rv, e2e_rv(e2e_nodemetric(e2e, "node-003")))); /* none changed anything */
}

static const struct e2e_test tests[] = {
    E2E_TEST("it appears, changes and goes", it_appears_changes_and_goes),
    E2E_TEST("one pool may have its own, merged field by field", one_pool_may_have_its_own),
    E2E_TEST("a CRD that prunes it is told of once, and no loop follows",
             a_crd_that_prunes_it_is_told_of_once_and_no_loop_follows),
    E2E_TEST("a CRD that prunes it does not stop creation", a_crd_that_prunes_it_does_not_stop_creation),
    E2E_TEST("under such a CRD a restart tries it at most once per node",
             under_such_a_crd_a_restart_tries_it_at_most_once_per_node),
};

int main(void)
{
    return e2e_main("e2e/predict", tests, ARRAY_LEN(tests));
}
