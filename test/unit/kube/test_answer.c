/* T-85: what answers mean. Each row is a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "kube/answer.h"

#define JSON "application/json"
#define STATUS(code, reason, more)                                                                           \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"reason\":\"" reason \
    "\",\"message\":\"the message\",\"code\":" code more "}"

static const struct row {
    const char *name;
    int code;
    const char *type;
    const char *body;
    const char *encoding;
    enum kube_verb verb;
    int64_t retry_after_ms; /* of the header; 0 here: none */

    enum kube_failure want;
    int64_t want_retry_ms; /* 0 here: none */
    const char *want_text;
} rows[] = {
    { .name = "200 with an object", .code = 200, .type = JSON, .body = "{\"kind\":\"Node\"}" },
    { .name = "201 with an object", .code = 201, .type = JSON, .body = "{}", .verb = KUBE_CREATE },
    { .name = "202 without a body", .code = 202, .verb = KUBE_DELETE },
    { .name = "204 without a body", .code = 204, .verb = KUBE_PATCH_MERGE },
    { .name = "delete answers the object",
      .code = 200,
      .type = JSON,
      .body = "{\"kind\":\"Pod\"}",
      .verb = KUBE_DELETE },
    { .name = "delete answers Success",
      .code = 200,
      .type = JSON,
      .body = "{\"kind\":\"Status\",\"status\":\"Success\"}",
      .verb = KUBE_DELETE },
    { .name = "delete answers nothing", .code = 200, .verb = KUBE_DELETE },
    { .name = "JSON with a charset", .code = 200, .type = "Application/JSON; charset=utf-8", .body = "{}" },
    { .name = "an object whose status is a text is no Status",
      .code = 200,
      .type = JSON,
      .body = "{\"kind\":\"Odd\",\"status\":\"Failure\",\"reason\":\"Conflict\"}" },

    { .name = "ERR-4 a 200 that carries a Failure",
      .code = 200,
      .type = JSON,
      .body = STATUS("409", "Conflict", ""),
      .want = KUBE_CONFLICT,
      .want_text = "the message" },
    { .name = "ERR-4 a 200 that carries a Failure without a reason",
      .code = 200,
      .type = JSON,
      .body = "{\"kind\":\"Status\",\"status\":\"Failure\"}",
      .want = KUBE_SERVER },

    { .name = "T-12 HTML with 200",
      .code = 200,
      .type = "text/html",
      .body = "<html>",
      .want = KUBE_PROTOCOL,
      .want_text = "Content-Type is not JSON but text/html" },
    { .name = "T-12 protobuf with 200",
      .code = 200,
      .type = "application/vnd.kubernetes.protobuf",
      .body = "k8s",
      .want = KUBE_PROTOCOL },
    { .name = "T-12 no Content-Type",
      .code = 200,
      .body = "{}",
      .want = KUBE_PROTOCOL,
      .want_text = "no Content-Type" },
    { .name = "T-12 an empty 200", .code = 200, .type = JSON, .want = KUBE_PROTOCOL, .want_text = "empty" },
    { .name = "T-12 an empty 201", .code = 201, .type = JSON, .verb = KUBE_CREATE, .want = KUBE_PROTOCOL },
    { .name = "T-12 brotli",
      .code = 200,
      .type = JSON,
      .body = "\x0b",
      .encoding = "br",
      .want = KUBE_PROTOCOL,
      .want_text = "encoding br" },
    { .name = "JSON cut short",
      .code = 200,
      .type = JSON,
      .body = "{\"a\":",
      .want = KUBE_PROTOCOL,
      .want_text = "bad JSON" },
    { .name = "two documents", .code = 200, .type = JSON, .body = "{}{}", .want = KUBE_PROTOCOL },
    { .name = "a redirect", .code = 301, .want = KUBE_PROTOCOL },

    { .name = "ERR-1 the reason beats the code",
      .code = 500,
      .type = JSON,
      .body = STATUS("500", "NotFound", ""),
      .want = KUBE_NOT_FOUND },
    { .name = "ERR-1 an unknown reason leaves the code",
      .code = 409,
      .type = JSON,
      .body = STATUS("409", "Strange", ""),
      .want = KUBE_CONFLICT },
    { .name = "ERR-1 AlreadyExists",
      .code = 409,
      .type = JSON,
      .body = STATUS("409", "AlreadyExists", ""),
      .want = KUBE_ALREADY_EXISTS },
    { .name = "ERR-1 Expired",
      .code = 410,
      .type = JSON,
      .body = STATUS("410", "Expired", ""),
      .want = KUBE_EXPIRED },
    { .name = "ERR-1 429 with any reason",
      .code = 429,
      .type = JSON,
      .body = STATUS("429", "Strange", ""),
      .want = KUBE_THROTTLED },
    { .name = "Invalid",
      .code = 422,
      .type = JSON,
      .body = STATUS("422", "Invalid", ""),
      .want = KUBE_INVALID,
      .want_text = "HTTP 422: the message" },
    { .name = "Forbidden",
      .code = 403,
      .type = JSON,
      .body = STATUS("403", "Forbidden", ""),
      .want = KUBE_FORBIDDEN },
    { .name = "Unauthorized",
      .code = 401,
      .type = JSON,
      .body = STATUS("401", "Unauthorized", ""),
      .want = KUBE_UNAUTHORIZED },
    { .name = "resourceVersion from the future",
      .code = 504,
      .type = JSON,
      .body = STATUS("504", "Timeout",
                     ",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too "
                     "large resource "
                     "version\"}],\"retryAfterSeconds\":1}"),
      .want = KUBE_TOO_LARGE_RV,
      .want_retry_ms = 1000 },

    { .name = "ERR-2 a proxy's HTML with 500",
      .code = 500,
      .type = "text/html",
      .body = "<h1>Bad\r\nGateway</h1>",
      .want = KUBE_SERVER,
      .want_text = "HTTP 500: <h1>Bad  Gateway</h1>" },
    { .name = "ERR-2 plain text with 403",
      .code = 403,
      .type = "text/plain",
      .body = "no",
      .want = KUBE_FORBIDDEN },
    { .name = "ERR-2 nothing with 404", .code = 404, .want = KUBE_NOT_FOUND, .want_text = "HTTP 404" },
    { .name = "ERR-2 409 on create", .code = 409, .verb = KUBE_CREATE, .want = KUBE_ALREADY_EXISTS },
    { .name = "ERR-2 409 on patch", .code = 409, .verb = KUBE_PATCH_MERGE, .want = KUBE_CONFLICT },
    { .name = "ERR-2 an unlisted 5xx", .code = 599, .want = KUBE_SERVER },
    { .name = "ERR-2 bytes that are no text",
      .code = 400,
      .type = "text/plain",
      .body = "a\x01\xff"
              "b\x7f\xc3\xa4",
      .want = KUBE_INVALID,
      .want_text = "HTTP 400: a  b \xc3\xa4" },
    { .name = "ERR-2 broken JSON with 403", .code = 403, .type = JSON, .body = "{", .want = KUBE_FORBIDDEN },
    { .name = "an encoded failure is told by its code",
      .code = 403,
      .type = JSON,
      .body = "\x1f\x8b",
      .encoding = "gzip",
      .want = KUBE_FORBIDDEN,
      .want_text = "HTTP 403" },

    { .name = "ERR-5 the header beats the Status",
      .code = 429,
      .type = JSON,
      .body = STATUS("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":9}"),
      .retry_after_ms = 2000,
      .want = KUBE_THROTTLED,
      .want_retry_ms = 2000 },
    { .name = "ERR-5 the Status where there is no header",
      .code = 429,
      .type = JSON,
      .body = STATUS("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":9}"),
      .want = KUBE_THROTTLED,
      .want_retry_ms = 9000 },
    { .name = "ERR-5 the Status is clamped",
      .code = 500,
      .type = JSON,
      .body = STATUS("500", "InternalError", ",\"details\":{\"retryAfterSeconds\":9223372036854775807}"),
      .want = KUBE_SERVER,
      .want_retry_ms = 60000 },
    { .name = "ERR-5 a negative one is none",
      .code = 429,
      .type = JSON,
      .body = STATUS("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":-1}"),
      .want = KUBE_THROTTLED },
    { .name = "Retry-After of a success means nothing",
      .code = 200,
      .type = JSON,
      .body = "{}",
      .retry_after_ms = 1000 },
};

static void answer__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_answer answer = {
        .code = row->code,
        .content_type = str_c(row->type),
        .content_encoding = str_c(row->encoding),
        .retry_after_ms = row->retry_after_ms ? row->retry_after_ms : -1,
        .body = str_c(row->body),
        .verb = row->verb,
    };
    struct kube_response response;
    kube_answer_read(&arena, &answer, &response);
    assert_string_equal(kube_failure_name(response.failure), kube_failure_name(row->want));
    assert_int_equal(response.code, row->code);
    assert_int_equal(response.retry_after_ms, row->want_retry_ms ? row->want_retry_ms : -1);
    assert_int_equal(response.err.kind, kube_failure_err_kind(row->want));
    assert_true(str_eq(response.body, str_c(row->body)));
    if (row->want_text && !strstr(response.err.text, row->want_text))
        fail_msg("\"%s\" does not say \"%s\"", response.err.text, row->want_text);
    if (row->want == KUBE_OK)
        assert_string_equal(response.err.text, "");
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, answer__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("kube/answer", tests, NULL, NULL);
}
