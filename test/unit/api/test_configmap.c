#include "support.h"
#include "api/configmap.h"

static const struct configmap *configmap_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &configmap_kind, json);
    assert_non_null(object);
    return configmap_of(object);
}

static void configmap__values_are_found_by_key(void **state)
{
    struct fixture *fixture = *state;
    const struct configmap *configmap =
        configmap_from(fixture, "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\"},\"data\":{\"b\":\"2\","
                                "\"a\":\"\",\"b\":\"3\",\"c\":5}}");
    bool found;
    assert_int_equal(configmap->count, 2);
    assert_str(configmap_value(configmap, STR("a"), &found), "");
    assert_true(found);
    assert_str(configmap_value(configmap, STR("b"), &found), "3");
    (void)configmap_value(configmap, STR("c"), &found);
    assert_false(found);
    assert_string_equal(fixture->path, "data.c");
    kube_object_unref(&configmap->object);
}

static void configmap__without_data_has_none(void **state)
{
    struct fixture *fixture = *state;
    const struct configmap *configmap =
        configmap_from(fixture, "{\"metadata\":{\"name\":\"c\"},\"binaryData\":{\"x\":\"AA==\"}}");
    bool found;
    assert_int_equal(configmap->count, 0);
    (void)configmap_value(configmap, STR("x"), &found);
    assert_false(found);
    kube_object_unref(&configmap->object);
}

static void ref_17_only_data_makes_a_configmap_differ(void **state)
{
    struct fixture *fixture = *state;
    const struct configmap *a = configmap_from(
        fixture,
        "{\"metadata\":{\"name\":\"c\",\"labels\":{\"x\":\"y\"}},\"data\":{\"a\":\"1\",\"b\":\"2\"}}");
    const struct configmap *b =
        configmap_from(fixture, "{\"metadata\":{\"name\":\"c\"},\"data\":{\"b\":\"2\",\"a\":\"1\"}}");
    const struct configmap *c =
        configmap_from(fixture, "{\"metadata\":{\"name\":\"c\"},\"data\":{\"b\":\"2\",\"a\":\"0\"}}");
    assert_true(configmap_kind.same(&a->object, &b->object));
    assert_false(configmap_kind.same(&a->object, &c->object));
    kube_object_unref(&a->object);
    kube_object_unref(&b->object);
    kube_object_unref(&c->object);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(configmap__values_are_found_by_key),
        FIXED(configmap__without_data_has_none),
        FIXED(ref_17_only_data_makes_a_configmap_differ),
    };
    return cmocka_run_group_tests_name("api/configmap", tests, NULL, NULL);
}
