#include "support.h"
#include "api/meta.h"

static struct api_status decode(struct fixture *fixture, const char *json)
{
    struct api_status status = { 0 };
    assert_true(json_decode(&fixture->arena, str_c(json), &api_status_table, &status, NULL, &fixture->err));
    return status;
}

/* err_3 message, causes and retryAfterSeconds are what an operator needs. */
static void err_3_status_keeps_what_operators_need(void **state)
{
    struct api_status status = decode(
        *state,
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"too many\",\"reason\":\"TooManyRequests\","
        "\"details\":{\"name\":\"x\",\"retryAfterSeconds\":7,\"causes\":[{\"reason\":\"FieldValueInvalid\","
        "\"field\":\"spec.x\",\"message\":\"bad\"},null,{\"reason\":\"Two\"}]},\"code\":429}");
    assert_str(status.status, "Failure");
    assert_str(status.reason, "TooManyRequests");
    assert_str(status.message, "too many");
    assert_int_equal(status.code, 429);
    assert_int_equal(status.retry_after_s, 7);
    assert_int_equal(status.causes.count, 2);
    const struct api_cause *causes = status.causes.items;
    assert_str(causes[0].field, "spec.x");
    assert_str(causes[0].message, "bad");
    assert_str(causes[1].reason, "Two");
}

static void status__carries_the_continue_token_of_an_expired_list(void **state)
{
    struct api_status status = decode(
        *state,
        "{\"details\":{\"retryAfterSeconds\":1},\"metadata\":{\"continue\":\"abc\"},\"reason\":\"Expired\"}");
    assert_str(status.continue_token, "abc");
    assert_str(status.reason, "Expired");
    assert_int_equal(status.retry_after_s, 1);
}

static void status__null_parts_wipe_nothing_else(void **state)
{
    struct api_status status =
        decode(*state, "{\"reason\":\"Conflict\",\"message\":\"m\",\"details\":null,\"metadata\":null}");
    assert_str(status.reason, "Conflict");
    assert_str(status.message, "m");
    status = decode(*state, "{\"reason\":\"Conflict\",\"details\":{},\"metadata\":{},\"code\":409}");
    assert_str(status.reason, "Conflict");
    assert_int_equal(status.code, 409);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(err_3_status_keeps_what_operators_need),
        FIXED(status__carries_the_continue_token_of_an_expired_list),
        FIXED(status__null_parts_wipe_nothing_else),
    };
    return cmocka_run_group_tests_name("api/status", tests, NULL, NULL);
}
