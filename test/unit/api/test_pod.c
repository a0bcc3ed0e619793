#include "support.h"
#include "api/pod.h"
#include <stdio.h>

struct row {
    const char *name;
    const char *spec; /* members of spec */
    int64_t cpu_milli;
    int64_t memory_bytes;
};

#define C(requests_) "{\"resources\":{\"requests\":{" requests_ "}}}"
#define SIDECAR(requests_) "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{" requests_ "}}}"

static const struct row rows[] = {
    { "request: none", "", 0, 0 },
    { "request: containers add up",
      "\"containers\":[" C("\"cpu\":\"1\",\"memory\":\"1Gi\"") "," C("\"cpu\":\"500m\"") "]", 1500,
      1073741824 },
    { "request: largest init step wins",
      "\"containers\":[" C("\"cpu\":\"1\"") "],\"initContainers\":[" C("\"cpu\":\"3\"") "," C(
          "\"cpu\":\"2\",\"memory\":\"5\"") "]",
      3000, 5 },
    { "request: containers beat smaller init steps",
      "\"containers\":[" C("\"cpu\":\"4\"") "],\"initContainers\":[" C("\"cpu\":\"3\"") "]", 4000, 0 },
    { "request: restartable init containers run beside the containers",
      "\"containers\":[" C("\"cpu\":\"1\"") "],\"initContainers\":[" SIDECAR("\"cpu\":\"2\"") "]", 3000, 0 },
    { "request: init step runs beside the sidecars before it",
      "\"containers\":[" C("\"cpu\":\"1\"") "],\"initContainers\":[" SIDECAR("\"cpu\":\"2\"") "," C(
          "\"cpu\":\"5\"") "]",
      7000, 0 },
    { "request: init step runs without the sidecars after it",
      "\"containers\":[" C("\"cpu\":\"1\"") "],\"initContainers\":[" C("\"cpu\":\"5\"") "," SIDECAR(
          "\"cpu\":\"2\"") "]",
      5000, 0 },
    { "request: sidecars accumulate",
      "\"initContainers\":[" SIDECAR("\"cpu\":\"1\"") "," SIDECAR("\"cpu\":\"2\"") "," C("\"cpu\":\"1\"") "]",
      4000, 0 },
    { "request: overhead comes on top",
      "\"containers\":[" C("\"cpu\":\"1\"") "],\"overhead\":{\"cpu\":\"250m\",\"memory\":\"120Mi\"}", 1250,
      125829120 },
    { "request: of the whole pod replaces the sum of that resource",
      "\"containers\":[" C("\"cpu\":\"1\",\"memory\":\"7\"") "],\"resources\":{\"requests\":{\"cpu\":\"3\"}},"
                                                             "\"overhead\":{\"cpu\":\"1\"}",
      4000, 7 },
    { "request: pod-level limit counts when nothing else does",
      "\"containers\":[" C(
          "\"memory\":\"7\"") "],\"resources\":{\"limits\":{\"cpu\":\"3\",\"memory\":\"9\"}}",
      3000, 7 },
    { "request: a limit without request is one",
      "\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1k\"},\"requests\":{\"cpu\":"
      "\"1\"}}}]",
      1000, 1000 },
    { "request: negative counts 0", "\"containers\":[" C("\"cpu\":\"-4\"") "," C("\"cpu\":\"1\"") "]", 1000,
      0 },
    { "request: unreadable counts 0", "\"containers\":[" C("\"cpu\":\"x\"") "," C("\"cpu\":\"1\"") "]", 1000,
      0 },
    { "request: bare numbers are quantities", "\"containers\":[" C("\"cpu\":1.5,\"memory\":128") "]", 1500,
      128 },
    { "request: of mid resources is not cpu", "\"containers\":[" C("\"kubernetes.io/mid-cpu\":\"4k\"") "]", 0,
      0 },
    { "request: null containers are skipped",
      "\"containers\":[null," C("\"cpu\":\"1\"") "],\"initContainers\":null", 1000, 0 },
};

static const struct pod *pod_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &pod_kind, json);
    assert_non_null(object);
    return pod_of(object);
}

static void request__row(void **state)
{
    const struct row *row = *state;
    void *made;
    fixture_setup(&made);
    struct fixture *fixture = made;
    struct str json = arena_strf(&fixture->arena, "{\"metadata\":{\"name\":\"p\"},\"spec\":{%s}}", row->spec);
    const struct pod *pod = pod_from(fixture, json.ptr);
    assert_int_equal(pod->cpu_request_nano, row->cpu_milli * 1000000);
    assert_int_equal(pod->memory_request_milli, row->memory_bytes * 1000);
    kube_object_unref(&pod->object);
    assert_int_equal(fixture_teardown(&made), 0);
}

static void request__absurd_is_clamped_and_told(void **state)
{
    struct fixture *fixture = *state;
    const struct pod *pod =
        pod_from(fixture, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" C(
                              "\"cpu\":\"1\"") "," C("\"cpu\":\"1e99\",\"memory\":\"9E\"") "]}}");
    assert_true(pod->cpu_request_nano == INT64_MAX);
    assert_true(pod->memory_request_milli == INT64_MAX);
    assert_string_equal(fixture->path, "spec.containers[1].resources.requests.cpu");
    kube_object_unref(&pod->object);
}

static void request__is_rounded_up_where_it_is_finer_than_kept(void **state)
{
    struct fixture *fixture = *state;
    const struct pod *pod = pod_from(fixture, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" C(
                                                  "\"cpu\":\"1n\",\"memory\":\"1u\"") "]}}");
    assert_int_equal(pod->cpu_request_nano, 1);
    assert_int_equal(pod->memory_request_milli, 1);
    kube_object_unref(&pod->object);
}

static void pod__is_indexed_by_its_node(void **state)
{
    struct fixture *fixture = *state;
    const struct pod *bound =
        pod_from(fixture, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"x\"},\"spec\":{\"nodeName\":\"n1\"},"
                          "\"status\":{\"phase\":\"Running\"}}");
    const struct pod *loose =
        pod_from(fixture, "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"nodeName\":\"\"}}");
    assert_str(istr_str(pod_kind.index(&bound->object)), "n1");
    assert_null(pod_kind.index(&loose->object));
    assert_int_equal(bound->phase, POD_RUNNING);
    assert_int_equal(loose->phase, POD_PENDING);
    kube_object_unref(&bound->object);
    kube_object_unref(&loose->object);
}

static void pod__finished_ones_are_not_asked_for(void **state)
{
    (void)state;
    assert_string_equal(pod_kind.field_selector, "status.phase!=Succeeded,status.phase!=Failed");
}

static void ref_17_pod_conditions_change_nothing_we_keep(void **state)
{
    struct fixture *fixture = *state;
    const struct pod *a = pod_from(
        fixture, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" C("\"cpu\":\"1\"") "]}}");
    const struct pod *b = pod_from(
        fixture, "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"2\"},\"spec\":{\"containers\":[" C(
                     "\"cpu\":\"1000m\"") "]},\"status\":{\"conditions\":[]}}");
    const struct pod *c = pod_from(fixture, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" C(
                                                "\"cpu\":\"1\"") "]},\"status\":{\"phase\":\"Running\"}}");
    assert_true(pod_kind.same(&a->object, &b->object));
    assert_false(pod_kind.same(&a->object, &c->object));
    kube_object_unref(&a->object);
    kube_object_unref(&b->object);
    kube_object_unref(&c->object);
}

/* The store is designed for hundreds of thousands of these. */
static void pod__stays_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct pod) <= 80);
}

#define BOUND(text_) "\"annotations\":{\"scheduling.koordinator.sh/resource-status\":\"" text_ "\"}"

static const struct numa_row {
    const char *name;
    const char *metadata;
    uint32_t nodes;
    size_t reports;
} numa_rows[] = {
    { "numa: no annotation", "\"labels\":{}", 0, 0 },
    { "numa: two nodes", BOUND("{\\\"numaNodeResources\\\":[{\\\"node\\\":0},{\\\"node\\\":3}]}"), 9, 0 },
    { "numa: a node left out is node 0", BOUND("{\\\"numaNodeResources\\\":[{}]}"), 1, 0 },
    { "numa: ids out of reach bind to none",
      BOUND("{\\\"numaNodeResources\\\":[{\\\"node\\\":32},{\\\"node\\\":-1},{\\\"node\\\":\\\"1\\\"}]}"), 0,
      0 },
    { "numa: no list", BOUND("{\\\"cpuset\\\":\\\"0-3\\\"}"), 0, 0 },
    { "numa: no JSON is told", BOUND("{"), 0, 1 },
};

static void numa__row(void **state)
{
    const struct numa_row *row = *state;
    void *made = NULL;
    assert_int_equal(fixture_setup(&made), 0);
    struct fixture *fixture = made;
    char json[512];
    snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",%s}}",
             row->metadata);
    const struct pod *pod = pod_from(fixture, json);
    assert_int_equal(pod->numa_nodes, row->nodes);
    assert_int_equal(fixture->reports, row->reports);
    kube_object_unref(&pod->object);
    assert_int_equal(fixture_teardown(&made), 0);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        FIXED(request__absurd_is_clamped_and_told),
        FIXED(request__is_rounded_up_where_it_is_finer_than_kept),
        FIXED(pod__is_indexed_by_its_node),
        cmocka_unit_test(pod__finished_ones_are_not_asked_for),
        FIXED(ref_17_pod_conditions_change_nothing_we_keep),
        cmocka_unit_test(pod__stays_small),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows) + ARRAY_LEN(numa_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, request__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(numa_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ numa_rows[i].name, numa__row, NULL, NULL, (void *)(uintptr_t)&numa_rows[i] };
    return cmocka_run_group_tests_name("api/pod", tests, NULL, NULL);
}
