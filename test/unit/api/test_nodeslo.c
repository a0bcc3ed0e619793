#include "support.h"
#include "api/nodeslo.h"

static const struct nodeslo *nodeslo_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &nodeslo_kind, json);
    assert_non_null(object);
    return nodeslo_of(object);
}

static void nodeslo__the_spec_is_kept_without_extensions(void **state)
{
    struct fixture *fixture = *state;
    const struct nodeslo *slo =
        nodeslo_from(fixture, "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"extensions\":{\"a\":[1]},"
                              "\"systemStrategy\":{\"b\":1.50},\"future\":\"\\u00e9\"}}");
    assert_str(istr_str(slo->spec), "{\"systemStrategy\":{\"b\":1.50},\"future\":\"\xc3\xa9\"}");
    kube_object_unref(&slo->object);
}

static void nodeslo__a_spec_that_is_no_object_is_none(void **state)
{
    struct fixture *fixture = *state;
    static const char *const odd[] = { "{\"metadata\":{\"name\":\"n\"}}",
                                       "{\"metadata\":{\"name\":\"n\"},\"spec\":null}",
                                       "{\"metadata\":{\"name\":\"n\"},\"spec\":[1]}" };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        const struct nodeslo *slo = nodeslo_from(fixture, odd[i]);
        assert_null(slo->spec);
        kube_object_unref(&slo->object);
    }
}

static void nodeslo__nodes_with_one_policy_share_its_text(void **state)
{
    struct fixture *fixture = *state;
    const struct nodeslo *a =
        nodeslo_from(fixture, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"systemStrategy\":{}}}");
    const struct nodeslo *b = nodeslo_from(fixture, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"y\"}},"
                                                    "\"spec\":{\"systemStrategy\":{},\"extensions\":1}}");
    const struct nodeslo *c =
        nodeslo_from(fixture, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"systemStrategy\":{\"x\":1}}}");
    assert_ptr_equal(a->spec, b->spec);
    assert_true(nodeslo_kind.same(&a->object, &b->object));
    assert_false(nodeslo_kind.same(&a->object, &c->object));
    kube_object_unref(&a->object);
    kube_object_unref(&b->object);
    kube_object_unref(&c->object);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(nodeslo__the_spec_is_kept_without_extensions),
        FIXED(nodeslo__a_spec_that_is_no_object_is_none),
        FIXED(nodeslo__nodes_with_one_policy_share_its_text),
    };
    return cmocka_run_group_tests_name("api/nodeslo", tests, NULL, NULL);
}
