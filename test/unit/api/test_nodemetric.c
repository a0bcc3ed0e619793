#include "support.h"
#include "api/nodemetric.h"

static const struct nodemetric *metric_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &nodemetric_kind, json);
    assert_non_null(object);
    return nodemetric_of(object);
}

#define META "\"metadata\":{\"name\":\"node-1\",\"generation\":3}"

static void metric__keeps_the_report(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META ",\"status\":{\"updateTime\":\"2026-07-24T08:00:00Z\","
        "\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"6200m\",\"memory\":\"21474836480\"}},"
        "\"systemUsage\":{\"resources\":{\"cpu\":\"700m\",\"memory\":\"3Gi\"}},"
        "\"aggregatedNodeUsages\":[{\"duration\":\"5m0s\",\"usage\":{\"avg\":{\"resources\":{\"cpu\":\"1\"}}}"
        "}]},"
        "\"podsMetric\":[{\"name\":\"web-0\",\"podUsage\":{\"resources\":{\"cpu\":\"5\"}}}],"
        "\"hostApplicationMetric\":[{\"name\":\"a\",\"priority\":\"koord-prod\",\"usage\":{\"resources\":{"
        "\"cpu\":\"250m\",\"memory\":\"1Mi\"}}},"
        "{\"name\":\"b\",\"priority\":\"koord-prod\",\"usage\":{\"resources\":{\"cpu\":\"250m\"}}},"
        "{\"name\":\"c\",\"priority\":\"koord-mid\",\"usage\":{\"resources\":{\"cpu\":\"1\"}}},"
        "{\"name\":\"d\",\"priority\":\"koord-batch\",\"usage\":{\"resources\":{\"cpu\":\"7\"}}},"
        "{\"name\":\"e\",\"usage\":{\"resources\":{\"cpu\":\"7\"}}}],"
        "\"prodReclaimableMetric\":{\"resource\":{\"resources\":{\"cpu\":\"8\",\"memory\":\"30Gi\"}}}}}");
    assert_int_equal(metric->generation, 3);
    assert_true(metric->update_time.set);
    assert_int_equal(metric->update_time.value.us, INT64_C(1784880000) * US_PER_S);
    assert_true(metric->has_node_metric);
    assert_true(metric->node_usage.cpu_nano == (__int128)6200 * 1000000);
    assert_true(metric->system_usage.memory_nano == (__int128)3221225472 * API_NANO_PER_UNIT);
    assert_true(metric->host_prod.cpu_nano == (__int128)500 * 1000000);
    assert_true(metric->host_prod.memory_nano == (__int128)1048576 * API_NANO_PER_UNIT);
    assert_true(metric->host_mid.cpu_nano == API_NANO_PER_UNIT);
    assert_true(metric->has_reclaimable);
    assert_true(metric->reclaimable.cpu_nano == (__int128)8 * API_NANO_PER_UNIT);
    assert_int_equal(fixture->reports, 0);
    kube_object_unref(&metric->object);
}

static void metric__never_reported_has_no_time(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META ",\"status\":{\"updateTime\":null,\"nodeMetric\":null,\"prodReclaimableMetric\":{}}}");
    assert_false(metric->update_time.set);
    assert_false(metric->has_node_metric);
    assert_false(metric->has_reclaimable);
    kube_object_unref(&metric->object);
}

static void metric__unreadable_time_is_told_and_absent(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric =
        metric_from(fixture, "{" META ",\"status\":{\"updateTime\":\"yesterday\"}}");
    assert_false(metric->update_time.set);
    assert_int_equal(fixture->reports, 1);
    assert_string_equal(fixture->path, "status.updateTime");
    kube_object_unref(&metric->object);
}

/* A missing half must stay visible: usage of memory alone proves nothing unused. */
static void metric__missing_half_of_usage_stays_missing(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META
        ",\"status\":{\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"-1\",\"memory\":\"1\"}}}}}");
    assert_false(metric->node_usage.has_cpu);
    assert_true(metric->node_usage.has_memory);
    assert_string_equal(fixture->path, "status.nodeMetric.nodeUsage.resources.cpu");
    kube_object_unref(&metric->object);
}

static void metric__negative_reclaimable_is_kept_and_told(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META ",\"status\":{\"prodReclaimableMetric\":{\"resource\":{\"resources\":{\"cpu\":\"-2\"}}}}}");
    assert_true(metric->reclaimable.has_cpu);
    assert_true(metric->reclaimable.cpu_nano == (__int128)-2 * API_NANO_PER_UNIT);
    assert_false(metric->reclaimable.has_memory);
    assert_int_equal(fixture->reports, 1);
    kube_object_unref(&metric->object);
}

static void metric__unknown_host_application_class_counts_as_prod(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric =
        metric_from(fixture, "{" META ",\"status\":{\"hostApplicationMetric\":[{\"priority\":\"gold\","
                             "\"usage\":{\"resources\":{\"cpu\":\"1\"}}},"
                             "{\"priority\":\"koord-prod\",\"usage\":{\"resources\":{\"cpu\":\"-1\"}}}]}}");
    assert_true(metric->host_prod.cpu_nano == API_NANO_PER_UNIT);
    assert_int_equal(fixture->reports, 2);
    assert_string_equal(fixture->path, "status.hostApplicationMetric[1].usage.resources.cpu");
    kube_object_unref(&metric->object);
}

static void metric__spec_is_kept_in_one_spelling(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META
        ",\"spec\":{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":300,\"reportIntervalSeconds\":60,"
        "\"nodeAggregatePolicy\":{\"durations\":[\"300s\",\"10m\",\"30m0s\"]},"
        "\"nodeMemoryCollectPolicy\":\"usageWithoutPageCache\"},"
        "\"predictPolicy\":{\"coldStartPeriodSeconds\":7}}}");
    const struct nodemetric_spec *spec = &metric->spec;
    assert_int_equal(spec->aggregate_duration_s.value, 300);
    assert_int_equal(spec->report_interval_s.value, 60);
    assert_str(istr_str(spec->durations), "[\"5m0s\",\"10m0s\",\"30m0s\"]");
    assert_str(istr_str(spec->memory_collect_policy), "usageWithoutPageCache");
    assert_true(spec->has_predict_policy);
    assert_false(spec->predict_diff_percent.set);
    assert_int_equal(spec->predict_cold_start_s.value, 7);
    kube_object_unref(&metric->object);
}

static void metric__empty_spec_has_nothing_set(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture, "{" META ",\"spec\":{\"metricCollectPolicy\":{\"aggregateDurationSeconds\":\"300\"}}}");
    assert_false(metric->spec.aggregate_duration_s.set);
    assert_null(metric->spec.durations);
    assert_null(metric->spec.memory_collect_policy);
    assert_false(metric->spec.has_predict_policy);
    assert_int_equal(fixture->reports, 1);
    kube_object_unref(&metric->object);
}

static void ref_17_rows_without_usage_change_nothing_we_keep(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *a =
        metric_from(fixture, "{" META ",\"status\":{\"updateTime\":\"2026-07-24T08:00:00Z\"}}");
    const struct nodemetric *b = metric_from(
        fixture, "{" META ",\"status\":{\"updateTime\":\"2026-07-24T10:00:00+02:00\",\"podsMetric\":[{}]}}");
    const struct nodemetric *c =
        metric_from(fixture, "{" META ",\"status\":{\"updateTime\":\"2026-07-24T08:00:01Z\"}}");
    assert_true(nodemetric_kind.same(&a->object, &b->object));
    assert_false(nodemetric_kind.same(&a->object, &c->object));
    kube_object_unref(&a->object);
    kube_object_unref(&b->object);
    kube_object_unref(&c->object);
}

#define ROW(name_, rest_) "{\"name\":\"" name_ "\",\"namespace\":\"default\"" rest_ "}"
#define USAGE(cpu_) ",\"podUsage\":{\"resources\":{\"cpu\":\"" cpu_ "\"}}"

static const struct pod_metric *row_of(const struct nodemetric *metric, const char *ns, const char *name)
{
    ptrdiff_t at = nodemetric_find_pod(metric, pod_id_of(str_c(ns), str_c(name)));
    return at < 0 ? NULL : &metric->pods[at];
}

static void metric__pods_are_found_by_namespace_and_name(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric = metric_from(
        fixture,
        "{" META ",\"status\":{\"podsMetric\":[" ROW("b", USAGE("2")) "," ROW(
            "a", ",\"priority\":\"koord-batch\",\"podUsage\":{\"resources\":{\"cpu\":\"1\",\"memory\":"
                 "\"1n\"}}") "," ROW("c", "") "," ROW("b", USAGE("1") ",\"priority\":\"koord-free\"") "]}}");
    assert_int_equal(metric->pod_count, 2);
    const struct pod_metric *a = row_of(metric, "default", "a"), *b = row_of(metric, "default", "b");
    assert_non_null(a);
    assert_int_equal(a->cpu_nano, API_NANO_PER_UNIT);
    assert_int_equal(a->memory_milli, 1);
    assert_true(a->lent && a->has_cpu && a->has_memory);
    assert_non_null(b);
    assert_int_equal(b->cpu_nano, 2 * API_NANO_PER_UNIT);
    assert_false(b->lent || b->has_memory);
    assert_null(row_of(metric, "default", "c"));
    assert_null(row_of(metric, "", "a"));
    kube_object_unref(&metric->object);
}

static void metric__negative_pod_usage_is_told_and_no_usage(void **state)
{
    struct fixture *fixture = *state;
    const struct nodemetric *metric =
        metric_from(fixture, "{" META ",\"status\":{\"podsMetric\":[" ROW("a", USAGE("-1")) "]}}");
    assert_int_equal(metric->pod_count, 0);
    assert_string_equal(fixture->path, "status.podsMetric[0].podUsage.resources.cpu");
    kube_object_unref(&metric->object);
}

static void ref_17_pod_usage_is_something_we_keep(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {
        "{" META ",\"status\":{\"podsMetric\":[" ROW("a", USAGE("1")) "," ROW("b", USAGE("2")) "]}}",
        "{" META ",\"status\":{\"podsMetric\":[" ROW("b", USAGE("2000m")) "," ROW("a", USAGE("1")) "]}}",
        "{" META ",\"status\":{\"podsMetric\":[" ROW("a", USAGE("1")) "," ROW("b", USAGE("3")) "]}}",
    };
    const struct nodemetric *made[ARRAY_LEN(texts)];
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        made[i] = metric_from(fixture, texts[i]);
    assert_true(nodemetric_kind.same(&made[0]->object, &made[1]->object));
    assert_false(nodemetric_kind.same(&made[0]->object, &made[2]->object));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        kube_object_unref(&made[i]->object);
}

/* 16 bytes stand for the name; one bit of difference anywhere must show. */
static void pod_id__tells_names_apart(void **state)
{
    (void)state;
    static const char *const names[] = { "",         "a",         "b",     "ab",   "aaaaaaa",
                                         "aaaaaaaa", "aaaaaaaaa", "web-0", "web-1" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        for (size_t j = 0; j < ARRAY_LEN(names); j++) {
            struct pod_id x = pod_id_of(STR("default"), str_c(names[i]));
            struct pod_id y = pod_id_of(STR("default"), str_c(names[j]));
            struct pod_id z = pod_id_of(str_c(names[i]), str_c(names[j]));
            struct pod_id w = pod_id_of(str_c(names[j]), str_c(names[i]));
            assert_int_equal(pod_id_order(x, y) == 0, i == j);
            assert_int_equal(pod_id_order(z, w) == 0, i == j);
            assert_int_equal(pod_id_order(x, y), -pod_id_order(y, x));
        }
    }
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(metric__keeps_the_report),
        FIXED(metric__never_reported_has_no_time),
        FIXED(metric__unreadable_time_is_told_and_absent),
        FIXED(metric__missing_half_of_usage_stays_missing),
        FIXED(metric__negative_reclaimable_is_kept_and_told),
        FIXED(metric__unknown_host_application_class_counts_as_prod),
        FIXED(metric__spec_is_kept_in_one_spelling),
        FIXED(metric__empty_spec_has_nothing_set),
        FIXED(ref_17_rows_without_usage_change_nothing_we_keep),
        FIXED(ref_17_pod_usage_is_something_we_keep),
        FIXED(metric__pods_are_found_by_namespace_and_name),
        FIXED(metric__negative_pod_usage_is_told_and_no_usage),
        cmocka_unit_test(pod_id__tells_names_apart),
    };
    return cmocka_run_group_tests_name("api/nodemetric", tests, NULL, NULL);
}
