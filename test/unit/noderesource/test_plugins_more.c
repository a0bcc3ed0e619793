/* Ratios, devices and zones: what is sent, and when. The values are in testdata/plan. */
#include "support.h"

#define RATIO "\"node.koordinator.sh/cpu-normalization-ratio\":"

static void use(struct plan_case *c, const char *plugins)
{
    assert_true(noderesource_plugins_parse(str_c(plugins), &c->plugins, NULL));
}

static void assert_meta(const struct plan_case *c, const char *want)
{
    CLEANUP(strbuf_done) struct strbuf patch = STRBUF_INIT(4096);
    assert_int_equal(noderesource_meta_patch(&c->plan, &patch), want != NULL);
    if (want)
        assert_string_equal(strbuf_cstr(&patch), want);
    assert_int_equal(c->plan.send_meta, want != NULL);
}

/* --- ratios ------------------------------------------------------------------------------ */

static const struct ratio_row {
    const char *name;
    const char *annotation; /* what stands there; NULL: nothing */
    bool send;              /* with 1.00 planned */
} ratio_rows[] = {
    { "normalization: nothing there", NULL, true },
    { "normalization: the same", "1.00", false },
    { "normalization: a hundredth off is no news", "1.01", false },
    { "normalization: more than a hundredth off", "1.011", true },
    { "normalization: a hundredth below is no news", "0.99", false },
    { "normalization: unreadable", "one", true },
    { "normalization: empty", "", true },
};

static void normalization__row(void **state)
{
    const struct ratio_row *row = *state;
    void *made = NULL;
    assert_int_equal(case_setup(&made), 0);
    struct plan_case *c = made;
    struct ratio_strategy off = { 0 };
    use(c, "CPUNormalization");
    c->in.normalization = &off;
    if (row->annotation)
        case_node(c, "", "", arena_strf(&c->arena, RATIO "\"%s\"", row->annotation).ptr);
    case_plan(c);
    assert_int_equal(c->plan.meta_count, 1);
    assert_meta(
        c, row->send
               ? "{\"metadata\":{\"annotations\":{\"node.koordinator.sh/cpu-normalization-ratio\":\"1.00\"}}}"
               : NULL);
    assert_int_equal(case_teardown(&made), 0);
}

static void amplification__is_taken_back_with_null(void **state)
{
    struct plan_case *c = *state;
    struct ratio_strategy off = { 0 };
    use(c, "ResourceAmplification");
    c->in.amplification = &off;
    case_node(c, "", "", "\"node.koordinator.sh/resource-amplification-ratio\":\"{}\"");
    case_plan(c);
    assert_meta(
        c, "{\"metadata\":{\"annotations\":{\"node.koordinator.sh/resource-amplification-ratio\":null}}}");
}

static void ratios__unknown_configuration_keeps(void **state)
{
    struct plan_case *c = *state;
    use(c, "CPUNormalization,ResourceAmplification");
    case_node(c, "", "", RATIO "\"1.50\",\"node.koordinator.sh/resource-amplification-ratio\":\"{}\"");
    case_plan(c);
    assert_int_equal(c->plan.meta_count, 2);
    assert_meta(c, NULL);
}

static void ratios__hold_without_a_policy(void **state)
{
    struct plan_case *c = *state;
    struct ratio_strategy off = { 0 };
    use(c, "CPUNormalization,ResourceAmplification");
    c->in.strategy = NULL;
    c->in.normalization = c->in.amplification = &off;
    assert_int_equal(case_plan(c)->meta_count, 0);
}

/* --- devices ----------------------------------------------------------------------------- */

#define OLD_GPU ",\"koordinator.sh/gpu\":\"100\""

static void devices__not_known_is_not_absent(void **state)
{
    struct plan_case *c = *state;
    use(c, "GPUDeviceResource,RDMADeviceResource");
    case_node(c, OLD_GPU, OLD_GPU, "");
    assert_int_equal(case_plan(c)->count, 0);
    c->in.device_known = true;
    case_plan(c);
    assert_int_equal(c->plan.count, 1);
    assert_true(c->plan.withdrawal);
    assert_patch(c, "{\"status\":{\"capacity\":{\"koordinator.sh/gpu\":null},"
                    "\"allocatable\":{\"koordinator.sh/gpu\":null}}}");
}

static void devices__labels_and_amounts_are_sent(void **state)
{
    struct plan_case *c = *state;
    use(c, "GPUDeviceResource,RDMADeviceResource");
    const struct kube_object *device = case_object(
        c, &device_kind,
        STR("{\"metadata\":{\"name\":\"node-1\",\"labels\":{\"node.koordinator.sh/gpu-model\":\"A100\"}},"
            "\"spec\":{\"devices\":[{\"type\":\"gpu\",\"health\":true,\"resources\":{\"koordinator.sh/"
            "gpu-core\":"
            "\"100\"}},{\"type\":\"rdma\",\"health\":true}]}}"));
    c->in.device = device_of(device);
    c->in.device_known = true;
    case_plan(c);
    assert_meta(c, "{\"metadata\":{\"labels\":{\"node.koordinator.sh/gpu-model\":\"A100\"}}}");
    assert_patch(
        c, "{\"status\":{\"capacity\":{\"koordinator.sh/gpu\":\"100\",\"koordinator.sh/gpu-core\":\"100\","
           "\"koordinator.sh/rdma\":\"100\"},\"allocatable\":{\"koordinator.sh/gpu\":\"100\","
           "\"koordinator.sh/gpu-core\":\"100\",\"koordinator.sh/rdma\":\"100\"}}}");
    kube_object_unref(device);
}

/* --- zones ------------------------------------------------------------------------------- */

#define SYSTEM                                                                                               \
    CASE_REPORT ",\"nodeMetric\":{\"systemUsage\":{\"resources\":{\"cpu\":\"0\",\"memory\":\"0\"}}}"
#define AMOUNT(name_, v_)                                                                                    \
    "{\"name\":\"" name_ "\",\"capacity\":\"" v_ "\",\"allocatable\":\"" v_ "\",\"available\":\"" v_ "\"}"
#define NODE_CPU "{\"name\":\"cpu\",\"allocatable\":\"10\"}"
#define TOPOLOGY(resources_)                                                                                 \
    STR("{\"metadata\":{\"name\":\"node-1\",\"resourceVersion\":\"7\"},\"zones\":[{\"name\":\"node-0\","     \
        "\"type\":"                                                                                          \
        "\"Node\",\"resources\":[" resources_ "]}]}")

static const struct kube_object *plan_zones(struct plan_case *c, struct str topology)
{
    const struct kube_object *object = case_object(c, &nrt_kind, topology);
    use(c, "BatchResource");
    case_metric(c, SYSTEM);
    c->strategy.cpu_reclaim_percent = number(100);
    c->in.topology = nrt_of(object);
    c->history = (struct node_history){ .seen = true, .threshold_from = MONO_S(1000) };
    case_plan(c);
    return object;
}

static void zones__are_inserted_in_order_against_a_version(void **state)
{
    struct plan_case *c = *state;
    const struct kube_object *nrt = plan_zones(c, TOPOLOGY(NODE_CPU "," AMOUNT("z", "1")));
    assert_true(c->plan.send_zones);
    assert_string_equal(c->plan.zones_patch.ptr,
                        "{\"metadata\":{\"resourceVersion\":\"7\"},\"zones\":[{\"name\":\"node-0\",\"type\":"
                        "\"Node\",\"resources\":[" NODE_CPU
                        "," AMOUNT("kubernetes.io/batch-cpu", "10k") "," AMOUNT(
                            "kubernetes.io/batch-memory", "0") "," AMOUNT("z", "1") "]}]}");
    kube_object_unref(nrt);
}

static void zones__equal_ones_are_not_written(void **state)
{
    struct plan_case *c = *state;
    const struct kube_object *nrt =
        plan_zones(c, TOPOLOGY(NODE_CPU "," AMOUNT("kubernetes.io/batch-cpu",
                                                   "10000") "," AMOUNT("kubernetes.io/batch-memory", "0")));
    assert_int_equal(c->plan.zone_count, 1);
    assert_true(c->plan.zones_patch.len == 0 && !c->plan.send_zones);
    kube_object_unref(nrt);
}

static void zones__small_differences_wait(void **state)
{
    struct plan_case *c = *state;
    const struct kube_object *nrt =
        plan_zones(c, TOPOLOGY(NODE_CPU "," AMOUNT("kubernetes.io/batch-cpu",
                                                   "9900") "," AMOUNT("kubernetes.io/batch-memory", "0")));
    assert_true(c->plan.zones_patch.len > 0 && !c->plan.send_zones);
    assert_true(c->plan.recheck_after_ms > 0 && c->plan.recheck_after_ms <= 300 * 1000 + 1);
    c->in.mono = MONO_S(1400);
    case_plan(c);
    assert_true(c->plan.send_zones);
    kube_object_unref(nrt);
}

static void zones__writing_twice_is_boring(void **state)
{
    struct plan_case *c = *state;
    const struct kube_object *nrt = plan_zones(c, TOPOLOGY(NODE_CPU));
    const struct json *patch = NULL;
    assert_true(json_parse(&c->arena, c->plan.zones_patch, NULL, &patch, NULL));
    struct json *next = json_copy(&c->arena, patch);
    struct json *meta = json_copy(&c->arena, json_get(patch, STR("metadata")));
    json_set(&c->arena, meta, STR("name"), json_new_str(&c->arena, STR("node-1")));
    json_set(&c->arena, next, STR("metadata"), meta);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(4096);
    json_write(&text, next);
    const struct kube_object *after = plan_zones(c, strbuf_str(&text));
    assert_true(c->plan.zones_patch.len == 0);
    kube_object_unref(nrt);
    kube_object_unref(after);
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        CASE(amplification__is_taken_back_with_null), CASE(ratios__unknown_configuration_keeps),
        CASE(ratios__hold_without_a_policy),          CASE(devices__not_known_is_not_absent),
        CASE(devices__labels_and_amounts_are_sent),   CASE(zones__are_inserted_in_order_against_a_version),
        CASE(zones__equal_ones_are_not_written),      CASE(zones__small_differences_wait),
        CASE(zones__writing_twice_is_boring),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(ratio_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(ratio_rows); i++)
        tests[count++] = (struct CMUnitTest){ ratio_rows[i].name, normalization__row, NULL, NULL,
                                              (void *)(uintptr_t)&ratio_rows[i] };
    return cmocka_run_group_tests_name("noderesource/plugins_more", tests, NULL, NULL);
}
