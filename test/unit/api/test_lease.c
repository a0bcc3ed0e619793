#include "support.h"

#include "api/lease.h"
#include "base/rfc3339.h"

#define META                                                                                                 \
    "\"metadata\":{\"name\":\"koordinator-manager\",\"namespace\":\"kube-system\",\"uid\":\"u-1\","          \
    "\"resourceVersion\":\"7\"}"
#define LEASE(spec)                                                                                          \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\"," META ",\"spec\":{" spec "}}"

static struct kube_object *make(struct fixture *fixture, const char *json)
{
    struct kube_object *object = fixture_object(fixture, &lease_kind, json);
    if (!object)
        fail_msg("%s", fixture->err.text);
    return object;
}

static void assert_time(struct opt_time time, const char *want)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    assert_true(time.set);
    rfc3339_format_micro(&text, time.value);
    assert_string_equal(strbuf_cstr(&text), want);
}

static void lease__every_field(void **state)
{
    struct kube_object *object =
        make(*state, LEASE("\"holderIdentity\":\"host_1\",\"leaseDurationSeconds\":15,\"leaseTransitions\":3,"
                           "\"acquireTime\":\"2026-07-24T08:00:00.000001Z\","
                           "\"renewTime\":\"2026-07-24T08:00:02.500000Z\",\"preferredHolder\":\"host_2\","
                           "\"strategy\":\"OldestEmulationVersion\""));
    const struct lease *lease = lease_of(object);
    assert_str(kube_object_name(object), "koordinator-manager");
    assert_str(kube_object_namespace(object), "kube-system");
    assert_str(kube_object_rv(object), "7");
    assert_str(istr_str(lease->holder), "host_1");
    assert_str(istr_str(lease->preferred), "host_2");
    assert_int_equal(lease->duration_s, 15);
    assert_int_equal(lease->transitions, 3);
    assert_time(lease->acquire_time, "2026-07-24T08:00:00.000001Z");
    assert_time(lease->renew_time, "2026-07-24T08:00:02.500000Z");
    kube_object_unref(object);
}

static void assert_nothing_said(struct fixture *fixture, const char *json)
{
    struct kube_object *object = make(fixture, json);
    const struct lease *lease = lease_of(object);
    assert_null(lease->holder);
    assert_null(lease->preferred);
    assert_int_equal(lease->duration_s, 0);
    assert_int_equal(lease->transitions, 0);
    assert_false(lease->acquire_time.set);
    assert_false(lease->renew_time.set);
    kube_object_unref(object);
}

static void le_10_missing_fields_are_nothing(void **state)
{
    assert_nothing_said(*state, LEASE(""));
    assert_nothing_said(*state, "{" META "}");
    assert_nothing_said(*state, "{" META ",\"spec\":null}");
}

static void le_10_null_fields_are_nothing(void **state)
{
    assert_nothing_said(*state,
                        LEASE("\"holderIdentity\":null,\"leaseDurationSeconds\":null,\"renewTime\":null"));
}

static void an_empty_holder_is_nobody(void **state)
{
    assert_nothing_said(*state, LEASE("\"holderIdentity\":\"\",\"preferredHolder\":\"\""));
}

static void le_10_wrong_types_are_reported_and_nothing(void **state)
{
    struct fixture *fixture = *state;
    assert_nothing_said(fixture,
                        LEASE("\"holderIdentity\":7,\"leaseDurationSeconds\":\"15\",\"acquireTime\":{},"
                              "\"leaseTransitions\":1.5,\"renewTime\":\"yesterday\""));
    assert_int_equal(fixture->reports, 5);
}

static void le_10_absurd_numbers_are_kept_for_the_elector_to_judge(void **state)
{
    struct kube_object *object =
        make(*state, LEASE("\"leaseDurationSeconds\":-1,\"leaseTransitions\":9223372036854775807"));
    assert_int_equal(lease_of(object)->duration_s, -1);
    assert_int_equal(lease_of(object)->transitions, INT64_MAX);
    kube_object_unref(object);
}

static void t_68_times_of_any_precision_are_read(void **state)
{
    struct kube_object *object = make(
        *state,
        LEASE("\"acquireTime\":\"2026-07-24T08:00:00Z\",\"renewTime\":\"2026-07-24T08:00:00.123456789Z\""));
    assert_time(lease_of(object)->acquire_time, "2026-07-24T08:00:00.000000Z");
    assert_time(lease_of(object)->renew_time, "2026-07-24T08:00:00.123456Z");
    kube_object_unref(object);
}

static void a_lease_without_identity_is_none(void **state)
{
    struct fixture *fixture = *state;
    assert_null(fixture_object(fixture, &lease_kind, "{\"metadata\":{},\"spec\":{}}"));
    assert_string_not_equal(fixture->err.text, "");
}

static void decode__a_lease(void **state)
{
    struct fixture *fixture = *state;
    struct kube_object *object =
        lease_decode(fixture->pool, STR(LEASE("\"holderIdentity\":\"host_1\"")), &fixture->err);
    assert_non_null(object);
    assert_str(istr_str(lease_of(object)->holder), "host_1");
    kube_object_unref(object);
}

static void decode__anything_else_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {
        "", "<html>busy</html>", "{}", "[]", "null", "{\"metadata\":", META
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT;
        assert_null(lease_decode(fixture->pool, str_c(texts[i]), &err));
        assert_string_not_equal(err.text, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lease__every_field, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(le_10_missing_fields_are_nothing, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(le_10_null_fields_are_nothing, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_empty_holder_is_nobody, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(le_10_wrong_types_are_reported_and_nothing, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(le_10_absurd_numbers_are_kept_for_the_elector_to_judge, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(t_68_times_of_any_precision_are_read, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_lease_without_identity_is_none, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(decode__a_lease, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(decode__anything_else_is_an_error, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("api/lease", tests, NULL, NULL);
}
