#include "nodemetric/spec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct intern *pool;
    const struct nodemetric *metric;
    struct nodemetric_plan plan;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    f->pool = intern_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    kube_object_unref(f->metric ? &f->metric->object : NULL);
    intern_free(f->pool);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static const struct nodemetric *metric(struct fixture *f, const char *spec)
{
    kube_object_unref(f->metric ? &f->metric->object : NULL);
    struct str json = arena_strf(&f->arena, "{\"metadata\":{\"name\":\"node-1\"},\"spec\":%s}", spec);
    void *decoded = arena_alloc(&f->arena, nodemetric_kind.table->size);
    assert_true(json_decode(&f->arena, json, nodemetric_kind.table, decoded, NULL, NULL));
    f->metric = nodemetric_of(nodemetric_kind.project(decoded, f->pool, NULL, NULL));
    assert_non_null(f->metric);
    return f->metric;
}

static struct opt_i64 number(int64_t value)
{
    return (struct opt_i64){ .set = true, .value = value };
}

static const char *text_of(struct fixture *f, struct strbuf *out)
{
    const char *text = arena_str(&f->arena, strbuf_str(out)).ptr;
    strbuf_done(out);
    return text;
}

static const char *spec_text(struct fixture *f)
{
    struct strbuf out = STRBUF_INIT(4096);
    nodemetric_spec_write(&out, &f->plan.spec);
    return text_of(f, &out);
}

static const char *patch_text(struct fixture *f, bool predict_pruned)
{
    struct strbuf out = STRBUF_INIT(4096);
    nodemetric_patch_write(&out, &f->metric->spec, &f->plan.spec, predict_pruned);
    return text_of(f, &out);
}

static void make(struct fixture *f, struct nodemetric_input in)
{
    in.metric = f->metric;
    nodemetric_plan_make(&in, &f->arena, &f->plan);
}

#define DEFAULTS                                                                                             \
    "{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":300,\"reportIntervalSeconds\":60,"               \
    "\"nodeAggregatePolicy\":{\"durations\":[\"5m0s\",\"10m0s\",\"30m0s\"]},"                                \
    "\"nodeMemoryCollectPolicy\":\"usageWithoutPageCache\"}}"

/* --- desired ----------------------------------------------------------------------------- */

static void spec__without_strategy_is_the_default(void **state)
{
    struct fixture *f = *state;
    make(f, (struct nodemetric_input){ .node_exists = true });
    assert_int_equal(f->plan.action, NODEMETRIC_CREATE);
    assert_true(f->plan.has_spec);
    assert_string_equal(spec_text(f), DEFAULTS);
}

static void spec__disabled_is_the_default_too(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = { .metric_report_interval_s = number(5), .has_predict_policy = true };
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(spec_text(f), DEFAULTS);
    strategy.enable = (struct opt_bool){ true, false };
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(spec_text(f), DEFAULTS);
}

static struct strategy full_strategy(struct fixture *f)
{
    struct json *durations = json_new(&f->arena, JSON_ARRAY);
    json_push(&f->arena, durations, json_new_str(&f->arena, STR("1m30s")));
    return (struct strategy){
        .enable = { true, true },
        .metric_aggregate_duration_s = number(120),
        .metric_report_interval_s = number(30),
        .metric_aggregate_durations = durations,
        .metric_memory_collect_policy = { true, STR("usageWithPageCache") },
        .has_predict_policy = true,
        .predict_diff_percent = number(7),
        .predict_cold_start_s = number(0),
    };
}

#define FULL                                                                                                 \
    "{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":120,\"reportIntervalSeconds\":30,"               \
    "\"nodeAggregatePolicy\":{\"durations\":[\"1m30s\"]},\"nodeMemoryCollectPolicy\":"                       \
    "\"usageWithPageCache\"},"                                                                               \
    "\"predictPolicy\":{\"resourceDiffThresholdPercent\":7,\"coldStartPeriodSeconds\":0}}"

static void spec__carries_the_strategy(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(spec_text(f), FULL);
}

static void spec__empty_predict_policy_is_sent_as_given(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = { .enable = { true, true }, .has_predict_policy = true };
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_non_null(strstr(spec_text(f), ",\"predictPolicy\":{}}"));
}

static void create__is_a_whole_object(void **state)
{
    struct fixture *f = *state;
    make(f, (struct nodemetric_input){ .node_exists = true });
    struct strbuf out = STRBUF_INIT(4096);
    nodemetric_create_write(&out, STR("node-1"), &f->plan.spec);
    assert_string_equal(text_of(f, &out),
                        "{\"apiVersion\":\"slo.koordinator.sh/v1alpha1\",\"kind\":\"NodeMetric\","
                        "\"metadata\":{\"name\":\"node-1\"},\"spec\":" DEFAULTS "}");
}

/* --- actions ------------------------------------------------------------------------------- */

static void action__nothing_when_it_is_right(void **state)
{
    struct fixture *f = *state;
    metric(f, "{\"metricCollectPolicy\":{\"nodeMemoryCollectPolicy\":\"usageWithoutPageCache\",\"other\":1,"
              "\"nodeAggregatePolicy\":{\"durations\":[\"300s\",\"10m\",\"0.5h\"]},"
              "\"reportIntervalSeconds\":60,\"aggregateDurationSeconds\":300},\"foreign\":{}}");
    make(f, (struct nodemetric_input){ .node_exists = true });
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
    assert_true(f->plan.has_spec);
}

static void action__update_for_each_field_that_differs(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    for (int field = 0; field < 6; field++) {
        metric(f, FULL);
        struct strategy changed = strategy;
        changed.metric_aggregate_duration_s.value += field == 0;
        changed.metric_report_interval_s.value += field == 1;
        if (field == 2)
            changed.metric_aggregate_durations = NULL;
        if (field == 3)
            changed.metric_memory_collect_policy.value = STR("usageWithHotPageCache");
        changed.predict_diff_percent.value += field == 4;
        if (field == 5)
            changed.has_predict_policy = false;
        make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
        assert_int_equal(f->plan.action, NODEMETRIC_NONE);
        make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &changed });
        assert_int_equal(f->plan.action, NODEMETRIC_UPDATE);
    }
}

static void action__delete_without_node(void **state)
{
    struct fixture *f = *state;
    make(f, (struct nodemetric_input){ .node_exists = false });
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
    metric(f, "{}");
    make(f, (struct nodemetric_input){ .node_exists = false });
    assert_int_equal(f->plan.action, NODEMETRIC_DELETE);
    assert_false(f->plan.has_spec);
}

static void action__hold_touches_nothing(void **state)
{
    struct fixture *f = *state;
    make(f, (struct nodemetric_input){ .node_exists = true, .hold = true });
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
    metric(f, "{}");
    for (int exists = 0; exists < 2; exists++) {
        make(f, (struct nodemetric_input){ .node_exists = exists, .hold = true });
        assert_int_equal(f->plan.action, NODEMETRIC_NONE);
        assert_false(f->plan.has_spec);
    }
}

static void action__without_a_policy_yet_creates_but_never_rewrites(void **state)
{
    struct fixture *f = *state;
    make(f, (struct nodemetric_input){ .node_exists = true, .keep_existing = true });
    assert_int_equal(f->plan.action, NODEMETRIC_CREATE);
    metric(f, "{\"metricCollectPolicy\":{\"reportIntervalSeconds\":7}}");
    make(f, (struct nodemetric_input){ .node_exists = true, .keep_existing = true });
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
    make(f, (struct nodemetric_input){ .node_exists = false, .keep_existing = true });
    assert_int_equal(f->plan.action, NODEMETRIC_DELETE);
}

static void action__names(void **state)
{
    (void)state;
    assert_string_equal(nodemetric_action_name(NODEMETRIC_NONE), "none");
    assert_string_equal(nodemetric_action_name(NODEMETRIC_CREATE), "create");
    assert_string_equal(nodemetric_action_name(NODEMETRIC_UPDATE), "update");
    assert_string_equal(nodemetric_action_name(NODEMETRIC_DELETE), "delete");
}

static void action__an_empty_list_of_durations_settles(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    strategy.metric_aggregate_durations = json_new(&f->arena, JSON_ARRAY);
    metric(f,
           "{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":120,\"reportIntervalSeconds\":30,"
           "\"nodeAggregatePolicy\":{\"durations\":[]},\"nodeMemoryCollectPolicy\":\"usageWithPageCache\"},"
           "\"predictPolicy\":{\"resourceDiffThresholdPercent\":7,\"coldStartPeriodSeconds\":0}}");
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
}

/* --- patches ------------------------------------------------------------------------------- */

static void patch__carries_only_what_differs(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    metric(f, FULL);
    strategy.metric_report_interval_s = number(45);
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(patch_text(f, false),
                        "{\"spec\":{\"metricCollectPolicy\":{\"reportIntervalSeconds\":45}}}");
}

static void patch__fills_an_empty_spec(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    metric(f, "{}");
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(patch_text(f, false), "{\"spec\":" FULL "}");
}

static void patch__null_removes_an_unset_predict_policy(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    metric(f, FULL);
    strategy.has_predict_policy = false;
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_string_equal(patch_text(f, false), "{\"spec\":{\"predictPolicy\":null}}");
}

static void patch__null_removes_an_unset_part_of_it(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    metric(f, FULL);
    strategy.predict_cold_start_s = (struct opt_i64){ 0 };
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_int_equal(f->plan.action, NODEMETRIC_UPDATE);
    assert_string_equal(patch_text(f, false),
                        "{\"spec\":{\"predictPolicy\":{\"coldStartPeriodSeconds\":null}}}");
}

/* --- a CRD that prunes ----------------------------------------------------------------------- */

static void pruned__leaves_predict_policy_out_of_everything(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    metric(f, "{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":120,\"reportIntervalSeconds\":30,"
              "\"nodeAggregatePolicy\":{\"durations\":[\"1m30s\"]},\"nodeMemoryCollectPolicy\":"
              "\"usageWithPageCache\"}}");
    struct nodemetric_input in = { .node_exists = true, .strategy = &strategy };
    make(f, in);
    assert_int_equal(f->plan.action, NODEMETRIC_UPDATE);
    assert_string_equal(
        patch_text(f, false),
        "{\"spec\":{\"predictPolicy\":{\"resourceDiffThresholdPercent\":7,\"coldStartPeriodSeconds\":0}}}");
    in.predict_pruned = true;
    make(f, in);
    assert_int_equal(f->plan.action, NODEMETRIC_NONE);
    assert_null(strstr(spec_text(f), "predictPolicy"));
    strategy.metric_report_interval_s = number(31);
    make(f, in);
    assert_string_equal(patch_text(f, true),
                        "{\"spec\":{\"metricCollectPolicy\":{\"reportIntervalSeconds\":31}}}");
}

static void pruned__is_noticed_in_the_answer(void **state)
{
    struct fixture *f = *state;
    struct strategy strategy = full_strategy(f);
    make(f, (struct nodemetric_input){ .node_exists = true, .strategy = &strategy });
    assert_true(nodemetric_predict_was_pruned(&f->plan.spec, &metric(f, "{}")->spec));
    assert_true(nodemetric_predict_was_pruned(
        &f->plan.spec, &metric(f, "{\"predictPolicy\":{\"resourceDiffThresholdPercent\":7}}")->spec));
    assert_false(nodemetric_predict_was_pruned(&f->plan.spec, &metric(f, FULL)->spec));
    make(f, (struct nodemetric_input){ .node_exists = true });
    assert_false(nodemetric_predict_was_pruned(&f->plan.spec, &metric(f, "{}")->spec));
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(spec__without_strategy_is_the_default),
        FIXED(spec__disabled_is_the_default_too),
        FIXED(spec__carries_the_strategy),
        FIXED(spec__empty_predict_policy_is_sent_as_given),
        FIXED(create__is_a_whole_object),
        FIXED(action__nothing_when_it_is_right),
        FIXED(action__update_for_each_field_that_differs),
        FIXED(action__delete_without_node),
        FIXED(action__hold_touches_nothing),
        FIXED(action__without_a_policy_yet_creates_but_never_rewrites),
        cmocka_unit_test(action__names),
        FIXED(action__an_empty_list_of_durations_settles),
        FIXED(patch__carries_only_what_differs),
        FIXED(patch__fills_an_empty_spec),
        FIXED(patch__null_removes_an_unset_predict_policy),
        FIXED(patch__null_removes_an_unset_part_of_it),
        FIXED(pruned__leaves_predict_policy_out_of_everything),
        FIXED(pruned__is_noticed_in_the_answer),
    };
    return cmocka_run_group_tests_name("nodemetric/spec", tests, NULL, NULL);
}
