#include "support.h"
#include "api/node.h"

static const char node_json[] =
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"node-1\",\"uid\":\"0f8fad5b-d9cb-469f-a165-70867728950e\","
    "\"resourceVersion\":\"9\",\"labels\":{\"zone\":\"b\",\"arch\":\"arm64\",\"empty\":\"\"},"
    "\"annotations\":{\"unknown\":{\"even\":[\"an object\"]},\"node.koordinator.sh/reservation\":\"{}\","
    "\"node.koordinator.sh/colocation-strategy\":\"\"}},"
    "\"spec\":{\"unschedulable\":true},"
    "\"status\":{\"capacity\":{\"cpu\":\"100\",\"memory\":\"210G\",\"pods\":\"110\",\"kubernetes.io/"
    "mid-cpu\":\"10k\"},"
    "\"allocatable\":{\"cpu\":\"99500m\",\"memory\":\"200G\",\"kubernetes.io/batch-memory\":\"1Gi\"},"
    "\"images\":[{\"names\":[\"x\"]}]}}";

static const struct node *node_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &node_kind, json);
    assert_non_null(object);
    return node_of(object);
}

static void node__keeps_amounts_exactly(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(fixture, node_json);
    assert_true(node->capacity.present && node->allocatable.present);
    assert_true(node->capacity.amounts.cpu_nano == (__int128)100 * API_NANO_PER_UNIT);
    assert_true(node->capacity.amounts.memory_nano == (__int128)210000000000 * API_NANO_PER_UNIT);
    assert_true(node->allocatable.amounts.cpu_nano == (__int128)99500 * 1000000);
    assert_true(node->capacity.owned[OWNED_MID_CPU].set);
    assert_true(node->capacity.owned[OWNED_MID_CPU].nano == (__int128)10000 * API_NANO_PER_UNIT);
    assert_false(node->allocatable.owned[OWNED_MID_CPU].set);
    assert_true(node->allocatable.owned[OWNED_BATCH_MEMORY].nano == (__int128)1073741824 * API_NANO_PER_UNIT);
    assert_int_equal(fixture->reports, 0);
    kube_object_unref(&node->object);
}

static void node__keeps_known_annotations_apart_from_absent_ones(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(fixture, node_json);
    assert_str(istr_str(node->reservation), "{}");
    assert_non_null(node->colocation_strategy);
    assert_int_equal(node->colocation_strategy->len, 0);
    assert_null(node->raw_allocatable);
    kube_object_unref(&node->object);
}

static void node__labels_are_sorted_and_found(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(fixture, node_json);
    struct labels labels = node_labels(node, &fixture->arena);
    assert_int_equal(labels.count, 3);
    assert_str(labels.items[0].key, "arch");
    assert_str(labels.items[1].key, "empty");
    assert_str(labels.items[2].key, "zone");
    bool found;
    assert_str(node_label(node, STR("zone"), &found), "b");
    assert_true(found);
    assert_str(node_label(node, STR("empty"), &found), "");
    assert_true(found);
    (void)node_label(node, STR("nope"), &found);
    assert_false(found);
    kube_object_unref(&node->object);
}

static void node__of_duplicate_labels_the_last_wins(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(
        fixture, "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"1\",\"b\":\"x\",\"a\":\"2\"}}}");
    bool found;
    assert_int_equal(node->label_count, 2);
    assert_str(node_label(node, STR("a"), &found), "2");
    kube_object_unref(&node->object);
}

static void node__without_status_has_no_resources(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(fixture, "{\"metadata\":{\"name\":\"n\"}}");
    bool found;
    assert_false(node->capacity.present);
    assert_false(node->allocatable.present);
    (void)node_label(node, STR("a"), &found);
    assert_false(found);
    assert_int_equal(node_labels(node, &fixture->arena).count, 0);
    kube_object_unref(&node->object);
}

static void node__unreadable_key_of_ours_still_stands_there(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = node_from(
        fixture, "{\"metadata\":{\"name\":\"n\"},\"status\":{\"capacity\":{\"cpu\":true,\"memory\":\"-5\","
                 "\"kubernetes.io/mid-cpu\":\"ten\"},\"allocatable\":{}}}");
    assert_true(node->capacity.present);
    assert_false(node->capacity.amounts.has_cpu);
    assert_false(node->capacity.amounts.has_memory);
    assert_true(node->capacity.owned[OWNED_MID_CPU].set);
    assert_false(node->capacity.owned[OWNED_MID_CPU].readable);
    assert_false(node->allocatable.present);
    assert_int_equal(fixture->reports, 3);
    assert_string_equal(fixture->path, "status.capacity.memory");
    assert_string_equal(fixture->value, "-5");
    kube_object_unref(&node->object);
}

static void node__wrong_identity_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    assert_null(fixture_object(fixture, &node_kind, "{\"metadata\":{\"name\":5}}"));
    assert_int_equal(fixture->err.kind, ERR_INVALID);
    assert_null(fixture_object(fixture, &node_kind, "{\"metadata\":{}}"));
    assert_null(fixture_object(fixture, &node_kind, "{}"));
    assert_null(fixture_object(fixture, &node_kind, "{\"metadata\":[]}"));
}

static void node__more_labels_than_16_bits_of_tail_can_address(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(strbuf_done) struct strbuf json = STRBUF_INIT(1 << 20);
    strbuf_addf(&json, "{\"metadata\":{\"name\":\"many\",\"labels\":{");
    for (int i = 0; i < 6000; i++)
        strbuf_addf(&json, "%s\"k%d\":\"v\"", i ? "," : "", i);
    strbuf_addf(&json, "}}}");
    const struct node *node = node_from(fixture, strbuf_cstr(&json));
    assert_str(kube_object_name(&node->object), "many");
    bool found;
    assert_str(node_label(node, STR("k5999"), &found), "v");
    kube_object_unref(&node->object);
}

struct same_row {
    const char *name;
    const char *json;
    bool same;
};

#define BASE_META "\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"2\",\"labels\":{\"a\":\"1\"}}"
static const struct same_row same_rows[] = {
    { "ref_17 heartbeat and images change nothing we keep",
      "{" BASE_META ",\"status\":{\"capacity\":{\"cpu\":\"1000m\"},\"allocatable\":{\"cpu\":\"1\"},"
      "\"conditions\":[{\"lastHeartbeatTime\":\"x\"}]}}",
      true },
    { "ref_17 label value",
      "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"2\"}},\"status\":{\"capacity\":{\"cpu\":\"1\"},"
      "\"allocatable\":{\"cpu\":\"1\"}}}",
      false },
    { "ref_17 more labels",
      "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"1\",\"b\":\"\"}},\"status\":{\"capacity\":{\"cpu\":"
      "\"1\"},"
      "\"allocatable\":{\"cpu\":\"1\"}}}",
      false },
    { "ref_17 capacity",
      "{" BASE_META ",\"status\":{\"capacity\":{\"cpu\":\"2\"},\"allocatable\":{\"cpu\":\"1\"}}}", false },
    { "ref_17 key of ours",
      "{" BASE_META ",\"status\":{\"capacity\":{\"cpu\":\"1\"},\"allocatable\":{\"cpu\":\"1\",\"kubernetes."
      "io/mid-cpu\":\"0\"}}}",
      false },
    { "ref_17 annotation",
      "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"1\"},\"annotations\":{\"node.koordinator.sh/"
      "raw-allocatable\":\"\"}},"
      "\"status\":{\"capacity\":{\"cpu\":\"1\"},\"allocatable\":{\"cpu\":\"1\"}}}",
      false },
};

static void same__row(void **state)
{
    const struct same_row *row = *state;
    void *made;
    fixture_setup(&made);
    struct fixture *fixture = made;
    const struct node *base = node_from(
        fixture, "{" BASE_META ",\"status\":{\"capacity\":{\"cpu\":\"1\"},\"allocatable\":{\"cpu\":\"1\"}}}");
    const struct node *other = node_from(fixture, row->json);
    assert_int_equal(node_kind.same(&base->object, &other->object), row->same);
    kube_object_unref(&base->object);
    kube_object_unref(&other->object);
    assert_int_equal(fixture_teardown(&made), 0);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        FIXED(node__keeps_amounts_exactly),
        FIXED(node__keeps_known_annotations_apart_from_absent_ones),
        FIXED(node__labels_are_sorted_and_found),
        FIXED(node__of_duplicate_labels_the_last_wins),
        FIXED(node__without_status_has_no_resources),
        FIXED(node__unreadable_key_of_ours_still_stands_there),
        FIXED(node__wrong_identity_is_an_error),
        FIXED(node__more_labels_than_16_bits_of_tail_can_address),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(same_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(same_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ same_rows[i].name, same__row, NULL, NULL, (void *)(uintptr_t)&same_rows[i] };
    return cmocka_run_group_tests_name("api/node", tests, NULL, NULL);
}
