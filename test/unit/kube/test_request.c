#include "core_support.h"
#include "api/node.h"
#include "api/nodemetric.h"
#include "api/pod.h"
#include "kube/request.h"

/* --- targets ----------------------------------------------------------------------- */

struct target_row {
    const char *name;
    struct kube_request request;
    const char *method;
    const char *target;
};

static const struct target_row target_rows[] = {
    { "get of a cluster-scoped object",
      { .verb = KUBE_GET, .kind = &node_kind, .name = STR_INIT("node-1") },
      "GET",
      "/api/v1/nodes/node-1" },
    { "patch of a subresource",
      { .verb = KUBE_PATCH_MERGE, .kind = &node_kind, .name = STR_INIT("n"), .subresource = "status" },
      "PATCH",
      "/api/v1/nodes/n/status" },
    { "named group",
      { .verb = KUBE_DELETE, .kind = &nodemetric_kind, .name = STR_INIT("n") },
      "DELETE",
      "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n" },
    { "create goes to the collection",
      { .verb = KUBE_CREATE, .kind = &thing_kind, .ns = STR_INIT("a") },
      "POST",
      "/apis/test.example/v1/namespaces/a/things" },
    { "update",
      { .verb = KUBE_UPDATE, .kind = &thing_kind, .ns = STR_INIT("a"), .name = STR_INIT("b") },
      "PUT",
      "/apis/test.example/v1/namespaces/a/things/b" },
    { "list of all namespaces leaves the namespace out",
      { .verb = KUBE_LIST, .kind = &thing_kind },
      "GET",
      "/apis/test.example/v1/things" },
    { "a namespace means nothing to a cluster-scoped kind",
      { .verb = KUBE_LIST, .kind = &nodemetric_kind, .ns = STR_INIT("a") },
      "GET",
      "/apis/slo.koordinator.sh/v1alpha1/nodemetrics" },
    { "every segment is encoded on its own",
      { .verb = KUBE_GET, .kind = &thing_kind, .ns = STR_INIT("a/b"), .name = STR_INIT("x%2F?#:\xC3\xA9") },
      "GET",
      "/apis/test.example/v1/namespaces/a%2Fb/things/x%252F%3F%23%3A%C3%A9" },
    { "lst_11 limit", /* first list */
      { .verb = KUBE_LIST, .kind = &thing_kind, .limit = 500 },
      "GET",
      "/apis/test.example/v1/things?limit=500" },
    { "t_42_lst_1 token goes back byte for byte",
      { .verb = KUBE_LIST, .kind = &thing_kind, .limit = 5, .continue_token = STR_INIT("a+b/c==") },
      "GET",
      "/apis/test.example/v1/things?limit=5&continue=a%2Bb%2Fc%3D%3D" },
    { "t_42_lst_2 a token stands without resourceVersion and match",
      { .verb = KUBE_LIST,
        .kind = &thing_kind,
        .continue_token = STR_INIT("t"),
        .has_resource_version = true,
        .resource_version = STR_INIT("7"),
        .resource_version_match = "NotOlderThan" },
      "GET",
      "/apis/test.example/v1/things?continue=t" },
    { "relist names its match",
      { .verb = KUBE_LIST,
        .kind = &thing_kind,
        .has_resource_version = true,
        .resource_version = STR_INIT("7"),
        .resource_version_match = "NotOlderThan" },
      "GET",
      "/apis/test.example/v1/things?resourceVersion=7&resourceVersionMatch=NotOlderThan" },
    { "watch",
      { .verb = KUBE_WATCH,
        .kind = &thing_kind,
        .bookmarks = true,
        .timeout_s = 321,
        .has_resource_version = true,
        .resource_version = STR_INIT("12") },
      "GET",
      "/apis/test.example/v1/"
      "things?watch=true&allowWatchBookmarks=true&timeoutSeconds=321&resourceVersion=12" },
    { "an empty resourceVersion is said, too",
      { .verb = KUBE_WATCH, .kind = &thing_kind, .has_resource_version = true },
      "GET",
      "/apis/test.example/v1/things?watch=true&resourceVersion=" },
    { "the kind's own field selector",
      { .verb = KUBE_LIST, .kind = &pod_kind },
      "GET",
      "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed" },
    { "both field selectors hold",
      { .verb = KUBE_WATCH, .kind = &pod_kind, .field_selector = STR_INIT("metadata.name=a b") },
      "GET",
      "/api/v1/"
      "pods?watch=true&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed%2Cmetadata.name%"
      "3Da%20b" },
    { "the request's field selector alone",
      { .verb = KUBE_LIST, .kind = &thing_kind, .field_selector = STR_INIT("metadata.name=x") },
      "GET",
      "/apis/test.example/v1/things?fieldSelector=metadata.name%3Dx" },
    { "a single get takes no field selector",
      { .verb = KUBE_GET, .kind = &pod_kind, .ns = STR_INIT("a"), .name = STR_INIT("p") },
      "GET",
      "/api/v1/namespaces/a/pods/p" },
};

static void target__row(void **state)
{
    const struct target_row *row = *state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64 * 1024);
    kube_request_target(&row->request, &out);
    assert_false(out.overflow);
    assert_string_equal(strbuf_cstr(&out), row->target);
    assert_string_equal(kube_request_method(&row->request), row->method);
}

static void t_42_a_token_of_4_kb_passes(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf token = STRBUF_INIT(8192), out = STRBUF_INIT(64 * 1024);
    for (int i = 0; i < 4096; i++)
        strbuf_addc(&token, "aZ9-"[i % 4]);
    struct kube_request request = { .verb = KUBE_LIST,
                                    .kind = &thing_kind,
                                    .continue_token = strbuf_str(&token) };
    kube_request_target(&request, &out);
    assert_false(out.overflow);
    assert_true(str_ends_with(strbuf_str(&out), strbuf_str(&token)));
}

static void long_names_are_not_cut(void **state)
{
    (void)state;
    char name[253], ns[63];
    memset(name, 'n', sizeof name);
    memset(ns, 's', sizeof ns);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64 * 1024);
    struct kube_request request = { .verb = KUBE_PATCH_MERGE,
                                    .kind = &thing_kind,
                                    .ns = { ns, sizeof ns },
                                    .name = { name, sizeof name },
                                    .subresource = "status" };
    kube_request_target(&request, &out);
    assert_int_equal(out.len, strlen("/apis/test.example/v1/namespaces//things//status") + 253 + 63);
}

/* --- classification ---------------------------------------------------------------- */

struct class_row {
    const char *name;
    int code;
    const char *body; /* NULL: no Status */
    bool is_create;
    enum kube_failure want;
};

#define FAILURE(reason_) "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason_ "\"}"
#define TOO_LARGE "Too large resource version: 9, current: 5"

static const struct class_row class_rows[] = {
    { "t_85 200", 200, NULL, false, KUBE_OK },
    { "t_85 201", 201, NULL, true, KUBE_OK },
    { "t_85 202", 202, NULL, false, KUBE_OK },
    { "t_85 204", 204, NULL, false, KUBE_OK },
    { "t_85 delete answering Success", 200, "{\"kind\":\"Status\",\"status\":\"Success\"}", false, KUBE_OK },
    { "t_85 an Event's reason is no failure", 201,
      "{\"kind\":\"Event\",\"reason\":\"Expired\",\"message\":\"gone\"}", true, KUBE_OK },
    { "t_85_err_4 200 with Failure", 200, FAILURE("Forbidden"), false, KUBE_FORBIDDEN },
    { "t_85_err_4 200 with a Failure nobody knows", 200, FAILURE("Odd"), false, KUBE_SERVER },
    { "t_85_err_4 200 with Failure and code 410", 200, "{\"status\":\"Failure\",\"code\":410}", false,
      KUBE_EXPIRED },
    { "400", 400, FAILURE("BadRequest"), false, KUBE_INVALID },
    { "t_85 400 without Status", 400, NULL, false, KUBE_INVALID },
    { "401", 401, FAILURE("Unauthorized"), false, KUBE_UNAUTHORIZED },
    { "t_85 401 without Status", 401, NULL, false, KUBE_UNAUTHORIZED },
    { "403", 403, FAILURE("Forbidden"), false, KUBE_FORBIDDEN },
    { "t_85 403 without Status", 403, NULL, false, KUBE_FORBIDDEN },
    { "404", 404, FAILURE("NotFound"), false, KUBE_NOT_FOUND },
    { "t_85 404 without Status", 404, NULL, false, KUBE_NOT_FOUND },
    { "405", 405, FAILURE("MethodNotAllowed"), false, KUBE_INVALID },
    { "406", 406, FAILURE("NotAcceptable"), false, KUBE_INVALID },
    { "408 without Status", 408, NULL, false, KUBE_UNAVAILABLE },
    { "t_84 409 Conflict", 409, FAILURE("Conflict"), false, KUBE_CONFLICT },
    { "t_84 409 Conflict on create is no AlreadyExists", 409, FAILURE("Conflict"), true, KUBE_CONFLICT },
    { "t_84 409 AlreadyExists", 409, FAILURE("AlreadyExists"), true, KUBE_ALREADY_EXISTS },
    { "t_85_err_2 409 without Status on create", 409, NULL, true, KUBE_ALREADY_EXISTS },
    { "t_85_err_2 409 without Status elsewhere", 409, NULL, false, KUBE_CONFLICT },
    { "410 Expired", 410, FAILURE("Expired"), false, KUBE_EXPIRED },
    { "410 Gone", 410, FAILURE("Gone"), false, KUBE_EXPIRED },
    { "t_85 410 without Status", 410, NULL, false, KUBE_EXPIRED },
    { "410 with a reason nobody knows", 410, FAILURE("Odd"), false, KUBE_EXPIRED },
    { "413", 413, FAILURE("RequestEntityTooLarge"), false, KUBE_INVALID },
    { "t_84 415", 415, FAILURE("UnsupportedMediaType"), false, KUBE_INVALID },
    { "t_84 422", 422, FAILURE("Invalid"), false, KUBE_INVALID },
    { "t_84 422 of a failed test operation, without reason", 422, FAILURE(""), false, KUBE_INVALID },
    { "t_28 429", 429, FAILURE("TooManyRequests"), false, KUBE_THROTTLED },
    { "t_28 429 without Status", 429, NULL, false, KUBE_THROTTLED },
    { "err_1 429 by code, whatever the reason", 429, FAILURE("ServiceUnavailable"), false, KUBE_THROTTLED },
    { "err_1 throttled by reason, whatever the code", 503, FAILURE("TooManyRequests"), false,
      KUBE_THROTTLED },
    { "t_29 500 InternalError", 500, FAILURE("InternalError"), false, KUBE_SERVER },
    { "t_29 500 ServerTimeout", 500, FAILURE("ServerTimeout"), false, KUBE_UNAVAILABLE },
    { "t_85 500 without Status", 500, NULL, false, KUBE_SERVER },
    { "t_29 502 without Status", 502, NULL, false, KUBE_UNAVAILABLE },
    { "t_29 503 ServiceUnavailable", 503, FAILURE("ServiceUnavailable"), false, KUBE_UNAVAILABLE },
    { "t_85 503 without Status", 503, NULL, false, KUBE_UNAVAILABLE },
    { "t_29 504 Timeout", 504, FAILURE("Timeout"), false, KUBE_UNAVAILABLE },
    { "t_85 504 without Status", 504, NULL, false, KUBE_UNAVAILABLE },
    { "t_85 599", 599, NULL, false, KUBE_SERVER },
    { "a redirect is no API server's answer", 302, NULL, false, KUBE_PROTOCOL },
    { "no answer at all", 0, NULL, false, KUBE_PROTOCOL },
    { "err_1 reason before code", 500, FAILURE("Expired"), false, KUBE_EXPIRED },
    { "err_1 unknown reason falls back to the Status's code", 500,
      "{\"status\":\"Failure\",\"reason\":\"Odd\",\"code\":403}", false, KUBE_FORBIDDEN },
    { "an absurd code in the Status is ignored", 503, "{\"status\":\"Failure\",\"code\":99999999999}", false,
      KUBE_UNAVAILABLE },
    { "a code of success in a failure's Status is ignored", 503, "{\"status\":\"Failure\",\"code\":200}",
      false, KUBE_UNAVAILABLE },
    { "a failure without the word Failure keeps its reason", 500,
      "{\"reason\":\"Expired\",\"message\":\"too old\"}", false, KUBE_EXPIRED },
    { "t_39 too large by cause", 504,
      "{\"status\":\"Failure\",\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":"
      "\"ResourceVersionTooLarge\"}]}}",
      false, KUBE_TOO_LARGE_RV },
    { "t_39 too large by the cause's message", 504,
      "{\"status\":\"Failure\",\"reason\":\"Timeout\",\"details\":{\"causes\":[{},{\"message\":\"" TOO_LARGE
      "\"}]}}",
      false, KUBE_TOO_LARGE_RV },
    { "t_39 too large by message alone", 504,
      "{\"status\":\"Failure\",\"reason\":\"Timeout\",\"message\":\"" TOO_LARGE "\"}", false,
      KUBE_TOO_LARGE_RV },
    { "t_39 too large as 429", 429,
      "{\"status\":\"Failure\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":"
      "\"ResourceVersionTooLarge\"}]}}",
      false, KUBE_TOO_LARGE_RV },
};

static void class__row(void **state)
{
    const struct class_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_status status = { 0 };
    struct err err = ERR_INIT;
    if (row->body)
        assert_true(json_decode(&arena, str_c(row->body), &api_status_table, &status, NULL, &err));
    enum kube_failure got = kube_classify(row->code, row->body ? &status : NULL, row->is_create);
    assert_string_equal(kube_failure_name(got), kube_failure_name(row->want));
}

static void every_failure_has_a_name_and_says_whether_to_retry(void **state)
{
    (void)state;
    for (int i = 0; i < KUBE_FAILURE_COUNT; i++) {
        enum kube_failure failure = (enum kube_failure)i;
        assert_non_null(kube_failure_name(failure));
        assert_int_equal(kube_failure_err_kind(failure) == ERR_NONE, failure == KUBE_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(kube_failure_name(failure), kube_failure_name((enum kube_failure)j));
    }
    assert_int_equal(kube_failure_err_kind(KUBE_INVALID), ERR_INVALID);
    assert_int_equal(kube_failure_err_kind(KUBE_CONFLICT), ERR_CONFLICT);
    assert_int_equal(kube_failure_err_kind(KUBE_THROTTLED), ERR_TRANSIENT);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(target_rows) + ARRAY_LEN(class_rows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(target_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ target_rows[i].name, target__row, NULL, NULL, (void *)&target_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(class_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ class_rows[i].name, class__row, NULL, NULL, (void *)&class_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(t_42_a_token_of_4_kb_passes);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(long_names_are_not_cut);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_failure_has_a_name_and_says_whether_to_retry);
    return cmocka_run_group_tests_name("kube/request", tests, NULL, NULL);
}
