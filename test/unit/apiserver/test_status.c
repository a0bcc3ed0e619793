#include "trees.h"
#include "test/apiserver/status.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena = ARENA_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct api_resource metrics = {
    .group = STR_INIT("slo.koordinator.sh"),
    .version = STR_INIT("v1alpha1"),
    .kind = STR_INIT("NodeMetric"),
    .plural = STR_INIT("nodemetrics"),
    .custom = true,
};

static void not_found(void **state)
{
    (void)state;
    struct api_error error;
    assert_false(api_fail_not_found(&error, &arena, &metrics, STR("n")));
    assert_tree(&arena, api_status_json(&arena, &error),
                "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
                "'message':'nodemetrics.slo.koordinator.sh \\'n\\' not found','reason':'NotFound',"
                "'details':{'name':'n','group':'slo.koordinator.sh','kind':'nodemetrics'},'code':404}");
}

static void no_resource_has_no_details(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_no_resource(&error, &arena);
    assert_null(json_get(api_status_json(&arena, &error), STR("details")));
    assert_text(error_label(&arena, &error), "404 NotFound");
}

static void exists(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_exists(&error, &arena, builtin("", "Node"), STR("n"));
    assert_text(error_label(&arena, &error), "409 AlreadyExists");
    assert_text(error.message, "nodes \"n\" already exists");
}

static void modified(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_modified(&error, &arena, builtin("", "Node"), STR("n"));
    assert_text(error_label(&arena, &error), "409 Conflict");
    assert_text(error.message,
                "Operation cannot be fulfilled on nodes \"n\": the object has been modified; please "
                "apply your changes to the latest version and try again");
}

static void invalid_with_one_cause(void **state)
{
    (void)state;
    struct api_error error;
    struct api_causes causes = API_CAUSES_INIT(&arena);
    struct api_path spec = API_FIELD(NULL, STR("spec")), items = API_FIELD(&spec, STR("items"));
    struct api_path first = API_INDEX(&items, 0), key = API_KEY(&first, STR("a/b"));
    api_cause_required(&causes, &key);
    api_fail_invalid(&error, &arena, &metrics, STR("n"), &causes);
    assert_tree(
        &arena, api_status_json(&arena, &error),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':"
        "'NodeMetric.slo.koordinator.sh \\'n\\' is invalid: spec.items[0][a/b]: Required value',"
        "'reason':'Invalid','details':{'name':'n','group':'slo.koordinator.sh','kind':'NodeMetric','causes':"
        "[{'reason':'FieldValueRequired','message':'Required "
        "value','field':'spec.items[0][a/b]'}]},'code':422}");
}

static void invalid_with_two_causes(void **state)
{
    (void)state;
    struct api_error error;
    struct api_causes causes = API_CAUSES_INIT(&arena);
    struct api_path spec = API_FIELD(NULL, STR("spec"));
    static const struct str supported[] = { STR_INIT("a"), STR_INIT("b") };
    api_cause_unsupported(&causes, &spec, STR("x"), supported, 2);
    api_cause_invalid(&causes, &spec, tree(&arena, "{'y':1}"), "must be %d", 5);
    api_fail_invalid(&error, &arena, builtin("", "Pod"), STR("p"), &causes);
    assert_text(error.message,
                "Pod \"p\" is invalid: [spec: Unsupported value: \"x\": supported values: \"a\", \"b\", "
                "spec: Invalid value: {\"y\":1}: must be 5]");
}

static void expired_carries_a_token(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_expired(&error, &arena, STR("tok"));
    assert_text(error_label(&arena, &error), "410 Expired");
    assert_text(json_str(json_path(api_status_json(&arena, &error), "metadata", "continue", NULL)), "tok");
}

static void version_too_large(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_version_too_large(&error, &arena, STR("9"), STR("5"));
    assert_tree(
        &arena, api_status_json(&arena, &error),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
        "'message':'Too large resource version: 9, current: 5','reason':'Timeout','details':{'causes':"
        "[{'reason':'ResourceVersionTooLarge','message':'Too large resource version'}],"
        "'retryAfterSeconds':1},'code':504}");
}

static void too_many(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_too_many(&error, &arena, 3, "storage is (re)initializing");
    assert_text(error_label(&arena, &error), "429 TooManyRequests");
    assert_int_equal(error.retry_after_s, 3);
}

static void plain_codes(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *want;
    } codes[] = { { 400, "400 BadRequest" },
                  { 401, "401 Unauthorized" },
                  { 403, "403 Forbidden" },
                  { 405, "405 MethodNotAllowed" },
                  { 406, "406 NotAcceptable" },
                  { 413, "413 RequestEntityTooLarge" },
                  { 415, "415 UnsupportedMediaType" },
                  { 500, "500 InternalError" },
                  { 503, "503 ServiceUnavailable" },
                  { 504, "504 Timeout" } };
    struct api_error error;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        assert_false(api_fail(&error, &arena, codes[i].code, "why"));
        assert_text(error_label(&arena, &error), codes[i].want);
    }
    api_fail_media_type(&error, &arena, "application/json");
    assert_int_equal(error.code, 415);
    api_fail_not_acceptable(&error, &arena);
    assert_int_equal(error.code, 406);
    api_fail_method(&error, &arena);
    assert_int_equal(error.code, 405);
    api_fail_gone(&error, &arena, "x");
    assert_text(error_label(&arena, &error), "410 Gone");
    assert_text(str_c(api_reason_of(799)), "");
}

static void forbidden(void **state)
{
    (void)state;
    struct api_error error;
    api_fail_forbidden(&error, &arena, builtin("", "Node"), STR("n"), "User \"%s\" cannot get", "u");
    assert_text(error_label(&arena, &error), "403 Forbidden");
    assert_text(error.message, "nodes \"n\" is forbidden: User \"u\" cannot get");
    api_fail_forbidden(&error, &arena, builtin("", "Node"), STR_NULL, "no");
    assert_text(error.message, "nodes is forbidden: no");
}

static void success(void **state)
{
    (void)state;
    assert_tree(&arena, api_status_success(&arena, builtin("", "Node"), STR("n"), STR("u")),
                "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success',"
                "'details':{'name':'n','kind':'nodes','uid':'u'}}");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(not_found),
        TEST(no_resource_has_no_details),
        TEST(exists),
        TEST(modified),
        TEST(invalid_with_one_cause),
        TEST(invalid_with_two_causes),
        TEST(expired_carries_a_token),
        TEST(version_too_large),
        TEST(too_many),
        TEST(plain_codes),
        TEST(forbidden),
        TEST(success),
    };
    return cmocka_run_group_tests_name("apiserver/status", tests, NULL, NULL);
}
