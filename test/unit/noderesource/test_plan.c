/* What is planned: configuration, pods, annotations, modes. */
#include "support.h"

static void worked_example(struct plan_case *c)
{
    case_node(c, "\"cpu\":\"100\",\"memory\":\"210G\"", "\"cpu\":\"100\",\"memory\":\"200G\"", "");
    case_pod(c, "koord-prod", "Running", "20", "40G");
    case_pod(c, "koord-batch", "Running", "10", "10G");
    c->strategy.mid_cpu_percent = number(10);
    c->strategy.mid_memory_percent = number(20);
    c->strategy.mid_unallocated_percent = number(10);
    case_plan(c);
}

static void plan__worked_example_gives_its_numbers(void **state)
{
    struct plan_case *c = *state;
    worked_example(c);
    assert_int_equal(c->plan.count, 2);
    assert_planned(case_cpu(c), 10000);
    assert_planned(case_memory(c), 42000000000);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_CALCULATED);
    assert_string_equal(case_cpu(c)->bound, "cap");
    assert_string_equal(case_memory(c)->bound, "cap");
}

static void plan__worked_example_explains_its_terms(void **state)
{
    struct plan_case *c = *state;
    worked_example(c);
    const struct noderesource_entry *cpu = case_cpu(c), *memory = case_memory(c);
    assert_int_equal(case_term(cpu, "C"), 100000);
    assert_int_equal(case_term(cpu, "part"), 15000);
    assert_int_equal(case_term(cpu, "unused"), 70000);
    assert_int_equal(case_term(cpu, "prodAlloc"), 20000);
    assert_int_equal(case_term(cpu, "nodeReserved"), 0);
    assert_int_equal(case_term(cpu, "unallocated"), 80000);
    assert_int_equal(case_term(cpu, "extra"), 8000);
    assert_int_equal(case_term(cpu, "cap"), 10000);
    assert_int_equal(case_term(cpu, "thresholdPercent"), 10);
    assert_int_equal(case_term(cpu, "mid"), 10000);
    assert_int_equal(case_term(memory, "kubeletRes"), 10000000000);
    assert_int_equal(case_term(memory, "nodeReserved"), 10000000000);
    assert_int_equal(case_term(memory, "unallocated"), 160000000000);
    assert_int_equal(case_term(memory, "extra"), 16000000000);
    assert_int_equal(case_term(memory, "cap"), 42000000000);
}

/* --- who counts ---------------------------------------------------------------------------- */

static void plan__only_running_and_pending_prod_pods_count(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_unallocated_percent = number(100);
    case_pod(c, "koord-prod", "Running", "10", "10G");
    case_pod(c, "koord-prod", "Pending", "5", "5G");
    case_pod(c, "koord-prod", "Succeeded", "40", "40G");
    case_pod(c, "koord-prod", "Failed", "40", "40G");
    case_pod(c, "koord-prod", "Unknown", "40", "40G");
    case_pod(c, "koord-mid", "Running", "40", "40G");
    case_pod(c, "koord-free", "Running", "40", "40G");
    case_plan(c);
    assert_int_equal(case_term(case_cpu(c), "prodAlloc"), 15000);
    assert_int_equal(case_term(case_memory(c), "prodAlloc"), 15000000000);
}

static void plan__host_applications_and_system_usage_are_reserved(void **state)
{
    struct plan_case *c = *state;
    case_metric(
        c, CASE_REPORT
        "," CASE_PREDICTION
        ",\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"30\",\"memory\":\"50G\"}},"
        "\"systemUsage\":{\"resources\":{\"cpu\":\"7\",\"memory\":\"1G\"}}},"
        "\"hostApplicationMetric\":[{\"priority\":\"koord-prod\",\"usage\":{\"resources\":{\"cpu\":\"2\"}}},"
        "{\"priority\":\"koord-mid\",\"usage\":{\"resources\":{\"cpu\":\"50\"}}}]");
    case_plan(c);
    assert_int_equal(case_term(case_cpu(c), "hostUsed"), 2000);
    assert_int_equal(case_term(case_cpu(c), "systemUsed"), 9000);
    assert_int_equal(case_term(case_cpu(c), "nodeReserved"), 9000);
}

/* --- annotations ------------------------------------------------------------------------------ */

static void plan__reservation_annotation_counts(void **state)
{
    struct plan_case *c = *state;
    case_node(
        c, "", "",
        "\"node.koordinator.sh/"
        "reservation\":\"{\\\"reservedCPUs\\\":\\\"0-3\\\",\\\"resources\\\":{\\\"memory\\\":\\\"7G\\\"}}\"");
    case_plan(c);
    assert_int_equal(case_term(case_cpu(c), "annoRes"), 4000);
    assert_int_equal(case_term(case_memory(c), "annoRes"), 7000000000);
    assert_int_equal(c->reports, 0);
}

static void plan__malformed_reservation_is_told_and_ignored_whole(void **state)
{
    struct plan_case *c = *state;
    case_node(
        c, "", "",
        "\"node.koordinator.sh/"
        "reservation\":\"{\\\"reservedCPUs\\\":\\\"0-x\\\",\\\"resources\\\":{\\\"memory\\\":\\\"7G\\\"}}\"");
    case_plan(c);
    assert_int_equal(case_term(case_memory(c), "annoRes"), 0);
    assert_int_equal(c->reports, 1);
    assert_string_equal(c->path, "metadata.annotations.node.koordinator.sh/reservation");
    c->in.report = NULL;
    case_plan(c);
    assert_int_equal(c->reports, 1);
}

static void plan__raw_allocatable_is_what_can_be_lent(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_reclaim_mode = text("mixed");
    c->strategy.mid_cpu_percent = number(20);
    case_node(
        c, "", "",
        "\"node.koordinator.sh/raw-allocatable\":\"{\\\"cpu\\\":\\\"60\\\",\\\"memory\\\":\\\"300G\\\"}\"");
    case_pod(c, "koord-prod", "Running", "50", "190G");
    case_plan(c);
    assert_int_equal(case_term(case_cpu(c), "A"), 60000);
    assert_int_equal(case_term(case_cpu(c), "cap"), 12000);
    assert_planned(case_cpu(c), 22000);
    assert_int_equal(case_term(case_memory(c), "A"), 200000000000);
    assert_planned(case_memory(c), 40000000000);
}

static void plan__malformed_raw_allocatable_is_told_and_ignored(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_reclaim_mode = text("reclaimable");
    case_node(c, "", "", "\"node.koordinator.sh/raw-allocatable\":\"60\"");
    case_plan(c);
    assert_int_equal(case_term(case_cpu(c), "A"), 100000);
    assert_int_equal(c->reports, 1);
}

/* --- modes ------------------------------------------------------------------------------------- */

static void plan__static_ignores_usage_and_prediction(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_reclaim_mode = text("static");
    c->strategy.mid_static_cpu_percent = number(29);
    c->strategy.mid_static_memory_percent = number(10);
    case_metric(c, CASE_REPORT);
    case_plan(c);
    assert_planned(case_cpu(c), 29000);
    assert_planned(case_memory(c), 20000000000);
    assert_int_equal(case_term(case_cpu(c), "midStaticCPUReservedPercent"), 29);
    assert_false(case_has_term(case_cpu(c), "prodAlloc"));
}

static void plan__unknown_mode_is_dynamic_and_said(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_reclaim_mode = text("turbo");
    case_plan(c);
    assert_true(c->plan.unknown_mode);
    assert_planned(case_cpu(c), 15000);
    c->strategy.mid_reclaim_mode = text("dynamic");
    assert_false(case_plan(c)->unknown_mode);
}

static void plan__missing_prediction_counts_zero_without_degradation(void **state)
{
    struct plan_case *c = *state;
    case_metric(c, CASE_REPORT "," CASE_USAGE);
    static const char *const modes[] = { "", "reclaimable" };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        c->strategy.mid_reclaim_mode = text(modes[i]);
        case_plan(c);
        assert_planned(case_cpu(c), 0);
        assert_false(c->plan.degraded);
    }
}

static void plan__negative_prediction_counts_zero(void **state)
{
    struct plan_case *c = *state;
    c->strategy.mid_reclaim_mode = text("mixed");
    case_metric(
        c, CASE_REPORT
        ",\"prodReclaimableMetric\":{\"resource\":{\"resources\":{\"cpu\":\"-3\",\"memory\":\"1G\"}}}");
    case_pod(c, "koord-prod", "Running", "90", "150G");
    case_plan(c);
    assert_planned(case_cpu(c), 10000);
    assert_planned(case_memory(c), 51000000000);
}

/* A fresh report without a body has crashed others. */
static void plan__fresh_report_without_node_metric_lends_by_prediction_nothing(void **state)
{
    struct plan_case *c = *state;
    case_metric(c, CASE_REPORT ",\"nodeMetric\":null," CASE_PREDICTION);
    case_plan(c);
    assert_planned(case_cpu(c), 0);
    assert_string_equal(case_cpu(c)->bound, "unused");
    assert_planned(case_memory(c), 0);
}

static void plan__half_a_usage_means_nothing_is_unused(void **state)
{
    struct plan_case *c = *state;
    case_metric(c, CASE_REPORT "," CASE_PREDICTION
                               ",\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"30\"}}}");
    case_plan(c);
    assert_planned(case_cpu(c), 0);
    assert_planned(case_memory(c), 0);
}

static void plan__missing_memory_capacity_counts_zero(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "\"cpu\":\"100\"", "\"cpu\":\"100\"", "");
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_planned(case_memory(c), 0);
}

static void plan__absurd_capacity_is_clamped_and_said(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "\"cpu\":\"1e40\",\"memory\":\"1e40\"", "\"cpu\":\"1e40\",\"memory\":\"1e40\"", "");
    case_plan(c);
    assert_true(c->plan.saturated);
    assert_true(case_cpu(c)->saturated);
    assert_planned(case_cpu(c), 15000);
}

/* --- configuration ------------------------------------------------------------------------------ */

#define OURS ",\"kubernetes.io/mid-cpu\":\"10k\",\"kubernetes.io/mid-memory\":\"1G\""

static void plan__disabled_node_loses_both_keys_in_both_maps(void **state)
{
    struct plan_case *c = *state;
    case_node(c, OURS, OURS, "");
    c->strategy.enable.value = false;
    case_plan(c);
    assert_absent(case_cpu(c));
    assert_absent(case_memory(c));
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_DISABLED);
    assert_int_equal(case_cpu(c)->term_count, 0);
    assert_true(c->plan.send && c->plan.withdrawal && !c->plan.increase && !c->plan.degraded);
    assert_patch(
        c, "{\"status\":{\"capacity\":{\"kubernetes.io/mid-cpu\":null,\"kubernetes.io/mid-memory\":null},"
           "\"allocatable\":{\"kubernetes.io/mid-cpu\":null,\"kubernetes.io/mid-memory\":null}}}");
}

static void plan__cluster_switch_beats_the_nodes_own(void **state)
{
    struct plan_case *c = *state;
    c->in.cluster_enabled = false;
    case_plan(c);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_DISABLED);
    assert_false(c->plan.write);
}

static void plan__disabled_needs_no_metric(void **state)
{
    struct plan_case *c = *state;
    case_no_metric(c);
    c->in.feed.live = false;
    c->strategy.enable = (struct opt_bool){ 0 };
    case_plan(c);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_DISABLED);
}

static void plan__rejected_configuration_holds_everything(void **state)
{
    struct plan_case *c = *state;
    case_node(c, ",\"kubernetes.io/mid-cpu\":\"7k\"", ",\"kubernetes.io/mid-cpu\":\"10k\"", "");
    c->in.strategy = NULL;
    c->in.cluster_enabled = false;
    case_plan(c);
    assert_true(case_cpu(c)->keep);
    assert_planned(case_cpu(c), 10000);
    assert_true(case_memory(c)->keep);
    assert_false(case_memory(c)->planned.set);
    assert_false(c->plan.write || c->plan.send);
    assert_int_equal(case_cpu(c)->reason, NODERESOURCE_CONFIG_REJECTED);
    assert_int_equal(c->plan.recheck_after_ms, -1);
}

static void plan__keys_of_inactive_plugins_are_left_alone(void **state)
{
    struct plan_case *c = *state;
    assert_true(noderesource_plugins_parse(STR(""), &c->plugins, NULL));
    assert_int_equal(case_plan(c)->count, 0);
    assert_true(noderesource_plugins_parse(STR("*,-MidResource"), &c->plugins, NULL));
    case_plan(c);
    for (size_t i = 0; i < c->plan.count; i++)
        assert_true(c->plan.entries[i].resource > OWNED_MID_MEMORY);
}

static const char *const bare_maps[][2] = { { "-", "" }, { "", "-" }, { "-", "-" } };

static void plan__node_without_capacity_or_allocatable_has_no_resources(void **state)
{
    struct plan_case *c = *state;
    for (size_t i = 0; i < ARRAY_LEN(bare_maps); i++) {
        case_node(c, bare_maps[i][0], bare_maps[i][1], "");
        case_plan(c);
        assert_int_equal(c->plan.count, 0);
        assert_false(c->plan.write || c->plan.send);
        assert_int_equal(c->plan.recheck_after_ms, -1);
    }
}

static void plan__unset_fields_read_as_defaults(void **state)
{
    struct plan_case *c = *state;
    c->strategy = (struct strategy){ .enable = { true, true } };
    case_plan(c);
    assert_planned(case_cpu(c), 15000);
    assert_int_equal(case_term(case_cpu(c), "thresholdPercent"), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(plan__worked_example_gives_its_numbers),
        CASE(plan__worked_example_explains_its_terms),
        CASE(plan__only_running_and_pending_prod_pods_count),
        CASE(plan__host_applications_and_system_usage_are_reserved),
        CASE(plan__reservation_annotation_counts),
        CASE(plan__malformed_reservation_is_told_and_ignored_whole),
        CASE(plan__raw_allocatable_is_what_can_be_lent),
        CASE(plan__malformed_raw_allocatable_is_told_and_ignored),
        CASE(plan__static_ignores_usage_and_prediction),
        CASE(plan__unknown_mode_is_dynamic_and_said),
        CASE(plan__missing_prediction_counts_zero_without_degradation),
        CASE(plan__negative_prediction_counts_zero),
        CASE(plan__fresh_report_without_node_metric_lends_by_prediction_nothing),
        CASE(plan__half_a_usage_means_nothing_is_unused),
        CASE(plan__missing_memory_capacity_counts_zero),
        CASE(plan__absurd_capacity_is_clamped_and_said),
        CASE(plan__disabled_node_loses_both_keys_in_both_maps),
        CASE(plan__cluster_switch_beats_the_nodes_own),
        CASE(plan__disabled_needs_no_metric),
        CASE(plan__rejected_configuration_holds_everything),
        CASE(plan__keys_of_inactive_plugins_are_left_alone),
        CASE(plan__node_without_capacity_or_allocatable_has_no_resources),
        CASE(plan__unset_fields_read_as_defaults),
    };
    return cmocka_run_group_tests_name("noderesource/plan", tests, NULL, NULL);
}
