#include "trees.h"
#include "base/file.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/validate.h"
#include "yaml/yaml.h"

static struct arena arena;
static struct api_resource *ours, *upstream;

static struct api_resource *load(const char *path)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1048576);
    struct err err = ERR_INIT;
    const struct json *crd;
    struct api_resource *resources = NULL;
    size_t count, storage;
    if (!file_read(path, &text, &err) || !kyaml_parse(&arena, strbuf_str(&text), NULL, &crd, &err) ||
        !api_crd_read(&arena, crd, &resources, &count, &storage, &err))
        print_error("%s: %s\n", path, err.text);
    return resources;
}

static int setup(void **state)
{
    (void)state;
    arena = ARENA_INIT;
    ours = load(KOORD_TESTDATA "/../../crds/slo.koordinator.sh_nodemetrics.yaml");
    upstream = load(KOORD_TESTDATA "/crds-upstream/slo.koordinator.sh_nodemetrics.yaml");
    return ours && upstream ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const char report[] =
    "{'apiVersion':'slo.koordinator.sh/v1alpha1','kind':'NodeMetric','metadata':{'name':'node-1'},'spec':{"
    "'metricCollectPolicy':{'aggregateDurationSeconds':300,'reportIntervalSeconds':60,'nodeAggregatePolicy':{"
    "'durations':['5m0s','10m0s','30m0s']},'nodeMemoryCollectPolicy':'usageWithoutPageCache'}},'status':{"
    "'updateTime':'2026-07-24T08:00:00Z','nodeMetric':{'nodeUsage':{'resources':{'cpu':'6200m','memory':'"
    "21474836480'},"
    "'devices':[{'minor':0,'type':'gpu','resources':{'koordinator.sh/"
    "gpu-core':'50'}}]},'systemUsage':{'resources':{"
    "'cpu':'700m','memory':3221225472}},'aggregatedNodeUsages':[{'duration':'5m0s','usage':{'avg':{'"
    "resources':{"
    "'cpu':'6100m','memory':'21Gi'}},'p95':{'resources':{'cpu':'9','memory':'22Gi'}}}}],'"
    "aggregatedSystemUsages':[{"
    "'duration':'5m0s','usage':{'avg':{'resources':{'cpu':'1'}}}}],'numaUsages':[{'numaNodeID':0,'nodeUsage':"
    "{"
    "'resources':{'cpu':'1'}},'systemUsage':{'resources':{'cpu':'1m'}}}]},'podsMetric':[{'name':'web-0',"
    "'namespace':'default','priority':'koord-prod','qos':'LS','podUsage':{'resources':{'cpu':'5','memory':'"
    "16Gi'}},"
    "'extensions':{'any':{'thing':[1]}}}],'hostApplicationMetric':[{'name':'nginx','priority':'koord-prod','"
    "qos':'LS',"
    "'usage':{'resources':{'cpu':'250m','memory':'512Mi'}}}],'prodReclaimableMetric':{'resource':{'resources'"
    ":{"
    "'cpu':'8','memory':'30Gi'}}},'prodPeakMetric':{'resource':{'resources':{'cpu':'9'}}}}}";

/* Decoding a report loses and changes nothing, and it is valid. */
static void a_full_report_passes_unchanged(void **state)
{
    (void)state;
    struct api_error error = API_ERROR_INIT;
    const struct json *object;
    const struct api_resource *const crds[2] = { ours, upstream };
    for (size_t i = 0; i < 2; i++) {
        assert_true(api_object_decode(&arena, crds[i], tree(&arena, report), API_FIELDS_STRICT, NULL, &object,
                                      &error));
        assert_tree(&arena, object, report);
        bool valid = api_object_validate(&arena, crds[i], object, NULL, &error);
        assert_text(error.message, "");
        assert_true(valid);
    }
}

static const struct json *decode_spec(const struct api_resource *resource, const char *spec)
{
    struct api_error error = API_ERROR_INIT;
    const struct json *object;
    struct str text = arena_strf(&arena,
                                 "{'apiVersion':'slo.koordinator.sh/v1alpha1','kind':'NodeMetric',"
                                 "'metadata':{'name':'n'},'spec':%s}",
                                 spec);
    assert_true(api_object_decode(&arena, resource, tree(&arena, text.ptr), API_FIELDS_IGNORE, NULL, &object,
                                  &error));
    return object;
}

static void predict_policy_is_ours(void **state)
{
    (void)state;
    static const char spec[] =
        "{'predictPolicy':{'resourceDiffThresholdPercent':5,'coldStartPeriodSeconds':300}}";
    assert_tree(&arena, json_get(decode_spec(ours, spec), STR("spec")), spec);
    assert_tree(&arena, json_get(decode_spec(upstream, spec), STR("spec")), "{}");
}

static void check_spec(const char *spec, const char *want)
{
    struct api_error error = API_ERROR_INIT;
    assert_false(api_object_validate(&arena, ours, decode_spec(ours, spec), NULL, &error));
    assert_text(error.message, want);
}

static void an_unknown_memory_policy_is_refused(void **state)
{
    (void)state;
    check_spec(
        "{'metricCollectPolicy':{'nodeMemoryCollectPolicy':'x'}}",
        "NodeMetric.slo.koordinator.sh \"n\" is invalid: spec.metricCollectPolicy.nodeMemoryCollectPolicy: "
        "Unsupported value: \"x\": supported values: \"usageWithHotPageCache\", \"usageWithoutPageCache\", "
        "\"usageWithPageCache\"");
}

static void a_negative_prediction_threshold_is_refused(void **state)
{
    (void)state;
    check_spec(
        "{'predictPolicy':{'resourceDiffThresholdPercent':-1}}",
        "NodeMetric.slo.koordinator.sh \"n\" is invalid: spec.predictPolicy.resourceDiffThresholdPercent: "
        "Invalid value: -1: spec.predictPolicy.resourceDiffThresholdPercent in body should be greater than "
        "or "
        "equal to 0");
}

static void amounts_must_be_quantities(void **state)
{
    (void)state;
    struct api_error error = API_ERROR_INIT;
    const struct json *object = json_merge_patch(
        &arena, tree(&arena, report),
        tree(&arena, "{'status':{'prodReclaimableMetric':{'resource':{'resources':{'cpu':'many'}}}}}"));
    assert_false(api_object_validate(&arena, ours, object, NULL, &error));
    assert_cause(&arena, &error,
                 "status.prodReclaimableMetric.resource.resources.cpu: Invalid value: \"many\"");
}

static void the_kind_is_as_upstream_has_it(void **state)
{
    (void)state;
    const struct api_resource *const crds[2] = { ours, upstream };
    for (size_t i = 0; i < 2; i++) {
        assert_false(crds[i]->namespaced);
        assert_true(crds[i]->has_status);
        assert_text(crds[i]->version, "v1alpha1");
        assert_text(crds[i]->plural, "nodemetrics");
        assert_int_equal(crds[i]->column_count, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_report_passes_unchanged),
        cmocka_unit_test(predict_policy_is_ours),
        cmocka_unit_test(an_unknown_memory_policy_is_refused),
        cmocka_unit_test(a_negative_prediction_threshold_is_refused),
        cmocka_unit_test(amounts_must_be_quantities),
        cmocka_unit_test(the_kind_is_as_upstream_has_it),
    };
    return cmocka_run_group_tests_name("crds/nodemetric", tests, setup, teardown);
}
