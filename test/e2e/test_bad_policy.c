/* A bad ConfigMap never wins: it is told about, and the last good policy stays. */
#include <stdlib.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODES 3
#define NAME "slo-controller-config"

static double state(struct e2e *e2e, const char *name)
{
    return e2e_metric(e2e, arena_strf(&e2e->arena, "koord_manager_config_state{state=\"%s\"}", name).ptr);
}

static double warnings(struct e2e *e2e, const char *reason)
{
    return e2e_metric(
        e2e, arena_strf(&e2e->arena, "koord_manager_config_warnings_total{reason=\"%s\"}", reason).ptr);
}

static void start(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_settle(e2e);
}

struct badness {
    struct str text;
    const char *reason;
    const char *told; /* stands in the log: key, path, value or rule */
};

/* Refused while a good one is in force. */
static void stays_out(struct e2e *e2e, const struct badness *bad)
{
    start(e2e);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_set_policy_text(e2e, bad->text);
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", NAME, bad->reason) == 1);
    assert_true(state(e2e, "rejected") == 1);
    assert_true(warnings(e2e, bad->reason) == 1);
    assert_true(program_logged(e2e->manager, bad->reason));
    assert_true(program_logged(e2e->manager, bad->told));
    assert_true(program_logged(e2e->manager, "the last good policy stays in force"));
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 200);
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), NODES);
    if (e2e_has_log(e2e))
        e2e_assert_writes(e2e, mark, 0);
    /* The next good one is in force at once. */
    e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
    assert_true(state(e2e, "accepted") == 1);
    assert_true(e2e_metric(e2e, "koord_manager_config_findings") == 0);
}

static void broken_syntax(struct e2e *e2e)
{
    stays_out(e2e, &(struct badness){ STR("{\"enable\":true,"), "ColocationCfgUnmarshalFailed",
                                      "colocation-config" });
}

static void a_wrong_type(struct e2e *e2e)
{
    stays_out(e2e, &(struct badness){ STR("{\"enable\":true,\"midCPUThresholdPercent\":\"ten\"}"),
                                      "ColocationCfgUnmarshalFailed", "midCPUThresholdPercent" });
}

static void a_value_out_of_range(struct e2e *e2e)
{
    stays_out(e2e, &(struct badness){ STR("{\"enable\":true,\"degradeTimeMinutes\":0}"),
                                      "ColocationCfgInvalid", "degradeTimeMinutes" });
}

static void the_literal_null(struct e2e *e2e)
{
    stays_out(e2e, &(struct badness){ STR("null"), "ColocationCfgUnmarshalFailed", "colocation-config" });
}

static void a_megabyte_of_garbage(struct e2e *e2e)
{
    size_t size = 900 * 1000;
    char *text = arena_alloc(&e2e->arena, size);
    for (size_t i = 0; i < size; i++)
        text[i] = "[{\"a\":\\9"[i % 8];
    stays_out(e2e, &(struct badness){ (struct str){ text, size }, "ColocationCfgUnmarshalFailed",
                                      "colocation-config" });
}

/* A server keeps no more than 1 MiB; the request is refused and nothing has changed. */
static void ten_megabytes_do_not_even_arrive(struct e2e *e2e)
{
    start(e2e);
    size_t size = (size_t)10 * 1024 * 1024;
    char *text = arena_alloc(&e2e->arena, size);
    memset(text, 'x', size);
    struct rest_answer answer = e2e_try_policy_text(e2e, (struct str){ text, size });
    assert_true(answer.code == 413 || answer.code == 422 || answer.code == 400);
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), NODES);
    assert_true(state(e2e, "accepted") == 1);
}

static void one_bad_entry_falls_back_and_the_rest_is_in_force(struct e2e *e2e)
{
    start(e2e);
    e2e_set_policy(e2e,
                   "{'enable':true,'midCPUThresholdPercent':10,'nodeConfigs':[{'name':'bad','nodeSelector':"
                   "{'matchLabels':{'koord-e2e':'true'}},'midMemoryThresholdPercent':300}]}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", NAME, "ColocationCfgPartlyApplied") == 1);
    assert_true(e2e_metric(e2e, "koord_manager_config_findings") >= 1);
    assert_true(state(e2e, "accepted") == 1);
}

/* --- cold start ------------------------------------------------------------------------ */

/* Nodes that lend and have no NodeMetric, and one that is left over: a manager that knows
 * no policy may neither create nor remove anything. */
static void cold_start(struct e2e *e2e, const char *policy)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, NODES);
    e2e_patch(e2e, "/api/v1/nodes/node-000/status",
              "{'status':{'capacity':{'kubernetes.io/mid-cpu':'4k','kubernetes.io/mid-memory':'10Gi'},"
              "'allocatable':{'kubernetes.io/mid-cpu':'4k','kubernetes.io/mid-memory':'10Gi'}}}");
    e2e_set_policy(e2e, "%s", policy);
    e2e_manage(e2e);
    EVENTUALLY(e2e, state(e2e, "rejected") == 1);
    EVENTUALLY(e2e, e2e_metric(e2e, "controller_runtime_reconcile_total{controller=\"noderesource\",result="
                                    "\"success\"}") >= NODES &&
                        e2e_metric(e2e, "controller_runtime_reconcile_total{controller=\"nodemetric\",result="
                                        "\"success\"}") >= NODES);
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 200);
    assert_int_equal(e2e_nodemetric_count(e2e), 0);
    assert_true(e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    if (e2e_has_log(e2e))
        e2e_assert_writes(e2e, 0, 0);
}

static void a_cold_start_with_a_bad_key_holds_until_a_good_one(struct e2e *e2e)
{
    cold_start(e2e, "{'enable':true,'degradeTimeMinutes':-5}");
    EVENTUALLY(e2e, e2e_event_count(e2e, "ConfigMap", NAME, "ColocationCfgInvalid") == 1);
    assert_true(program_logged(e2e->manager, "no good policy is known, nothing is changed"));
    e2e_set_policy(e2e, "{'enable':true}");
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == NODES);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", -1, -1)); /* it has never reported */
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 200);
}

/* Upstream's wedge: defaults after a bad start equal what is in memory. */
static void a_first_good_one_equal_to_the_defaults_queues_every_node(struct e2e *e2e)
{
    cold_start(e2e, "{'enable':tru");
    e2e_set_policy(e2e, "{}");
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, -1, -1) == NODES);
}

static void an_empty_key_after_a_bad_start_counts_as_the_defaults(struct e2e *e2e)
{
    cold_start(e2e, "null");
    e2e_set_policy_text(e2e, STR(""));
    EVENTUALLY(e2e, state(e2e, "default") == 1);
    EVENTUALLY(e2e, e2e_nodemetric_count(e2e) == NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, -1, -1) == NODES);
}

static const struct e2e_test tests[] = {
    E2E_TEST("broken syntax stays out", broken_syntax),
    E2E_TEST("a wrong type stays out", a_wrong_type),
    E2E_TEST("a value out of range stays out", a_value_out_of_range),
    E2E_TEST("the literal null stays out", the_literal_null),
    E2E_TEST("900 kB of garbage stay out", a_megabyte_of_garbage),
    E2E_TEST("10 MB do not even arrive", ten_megabytes_do_not_even_arrive),
    E2E_TEST("one bad entry falls back, and the rest is in force",
             one_bad_entry_falls_back_and_the_rest_is_in_force),
    E2E_TEST("a cold start with a bad key holds until a good one comes",
             a_cold_start_with_a_bad_key_holds_until_a_good_one),
    E2E_TEST("a first good one equal to the defaults queues every node",
             a_first_good_one_equal_to_the_defaults_queues_every_node),
    E2E_TEST("an empty key after a bad start counts as the defaults",
             an_empty_key_after_a_bad_start_counts_as_the_defaults),
};

int main(void)
{
    return e2e_main("e2e/bad_policy", tests, ARRAY_LEN(tests));
}
