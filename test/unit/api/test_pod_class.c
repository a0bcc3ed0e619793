#include "support.h"
#include "api/pod.h"

struct row {
    const char *name;
    const char *json; /* members after metadata.name, from inside metadata */
    enum priority_class priority;
    enum qos_class qos;
};

#define LABELS(labels_) ",\"labels\":{" labels_ "}}"
#define PRIO(value_) "\"koordinator.sh/priority-class\":\"" value_ "\""
#define QOS(value_) "\"koordinator.sh/qosClass\":\"" value_ "\""
#define KUBE(class_) ",\"status\":{\"qosClass\":\"" class_ "\"}"
#define NUMBER(value_) ",\"spec\":{\"priority\":" value_ "}"
#define SPEC(containers_) "},\"spec\":{\"containers\":[" containers_ "]}"

static const struct row rows[] = {
    { "priority: label prod", LABELS(PRIO("koord-prod")), PRIORITY_PROD, QOS_BE },
    { "priority: label mid", LABELS(PRIO("koord-mid")), PRIORITY_MID, QOS_BE },
    { "priority: label batch", LABELS(PRIO("koord-batch")), PRIORITY_BATCH, QOS_BE },
    { "priority: label free", LABELS(PRIO("koord-free")), PRIORITY_FREE, QOS_BE },
    { "priority: label beats the number", LABELS(PRIO("koord-mid")) NUMBER("9500"), PRIORITY_MID, QOS_BE },
    { "priority: unknown label hides the number", LABELS(PRIO("gold")) NUMBER("5500"), PRIORITY_PROD,
      QOS_LS },
    { "priority: empty label hides the number", LABELS(PRIO("")) NUMBER("7500"), PRIORITY_BATCH, QOS_BE },
    { "priority: band 9000", "}" NUMBER("9000"), PRIORITY_PROD, QOS_BE },
    { "priority: band 9999", "}" NUMBER("9999"), PRIORITY_PROD, QOS_BE },
    { "priority: 10000 is no band", "}" NUMBER("10000"), PRIORITY_BATCH, QOS_BE },
    { "priority: band 7000", "}" NUMBER("7000"), PRIORITY_MID, QOS_BE },
    { "priority: 8000 is no band", "}" NUMBER("8000"), PRIORITY_BATCH, QOS_BE },
    { "priority: band 5999", "}" NUMBER("5999"), PRIORITY_BATCH, QOS_BE },
    { "priority: band 3500", "}" NUMBER("3500"), PRIORITY_FREE, QOS_BE },
    { "priority: negative is no band", "}" NUMBER("-1"), PRIORITY_BATCH, QOS_BE },
    { "priority: none falls back to LSE", LABELS(QOS("LSE")), PRIORITY_PROD, QOS_LSE },
    { "priority: none falls back to SYSTEM", LABELS(QOS("SYSTEM")), PRIORITY_PROD, QOS_SYSTEM },
    { "priority: none falls back to BE", LABELS(QOS("BE")) KUBE("Guaranteed"), PRIORITY_BATCH, QOS_BE },
    { "qos: unknown label falls back to Kubernetes", LABELS(QOS("ls")) KUBE("Guaranteed"), PRIORITY_PROD,
      QOS_LSR },
    { "qos: burstable is LS", "}" KUBE("Burstable"), PRIORITY_PROD, QOS_LS },
    { "qos: best effort is BE", "}" KUBE("BestEffort"), PRIORITY_BATCH, QOS_BE },
    { "qos: computed guaranteed", SPEC("{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}"),
      PRIORITY_PROD, QOS_LSR },
    { "qos: computed guaranteed needs both limits", SPEC("{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}"),
      PRIORITY_PROD, QOS_LS },
    { "qos: computed guaranteed needs requests equal to limits",
      SPEC("{\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1\"},\"limits\":{\"cpu\":\"1\","
           "\"memory\":\"1\"}}}"),
      PRIORITY_PROD, QOS_LS },
    { "qos: one container without limits makes it burstable",
      SPEC("{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1\"}}},{}"), PRIORITY_PROD, QOS_LS },
    { "qos: zero requests are none", SPEC("{\"resources\":{\"requests\":{\"cpu\":\"0\"}}}"), PRIORITY_BATCH,
      QOS_BE },
    { "qos: computed from pod-level resources",
      "},\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1\"}},\"containers\":[{}]}",
      PRIORITY_PROD, QOS_LSR },
    { "qos: other resources do not count",
      SPEC("{\"resources\":{\"requests\":{\"kubernetes.io/batch-cpu\":\"1k\"}}}"), PRIORITY_BATCH, QOS_BE },
};

static void class__row(void **state)
{
    const struct row *row = *state;
    void *made;
    fixture_setup(&made);
    struct fixture *fixture = made;
    bool unknown_label = strstr(row->json, "gold") != NULL;
    struct str json = arena_strf(&fixture->arena, "{\"metadata\":{\"name\":\"p\"%s%s}", row->json,
                                 unknown_label ? KUBE("Burstable") : "");
    const struct kube_object *object = fixture_object(fixture, &pod_kind, json.ptr);
    assert_non_null(object);
    assert_int_equal(pod_of(object)->priority, row->priority);
    assert_int_equal(pod_of(object)->qos, row->qos);
    kube_object_unref(object);
    assert_int_equal(fixture_teardown(&made), 0);
}

static void class__names_go_both_ways(void **state)
{
    (void)state;
    for (int i = PRIORITY_FREE; i <= PRIORITY_PROD; i++) {
        bool known;
        assert_int_equal(priority_class_from_name(str_c(priority_class_name((enum priority_class)i)), &known),
                         i);
        assert_true(known);
    }
    bool known = true;
    assert_int_equal(priority_class_from_name(STR("koord-Prod"), &known), PRIORITY_PROD);
    assert_false(known);
}

int main(void)
{
    struct CMUnitTest tests[1 + ARRAY_LEN(rows)];
    tests[0] = (struct CMUnitTest)cmocka_unit_test(class__names_go_both_ways);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i + 1] =
            (struct CMUnitTest){ rows[i].name, class__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("api/pod_class", tests, NULL, NULL);
}
