#include "http_fixture.h"
#include <stdlib.h>
#include <string.h>

#define OK_KEEP "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct reply *get(struct reply *reply, struct fixture *fixture, struct script *script)
{
    reply_init(reply, fixture);
    reply_get(reply, script_url(script));
    return reply;
}

static void get_ok(struct fixture *fixture, struct script *script)
{
    struct reply reply;
    get(&reply, fixture, script);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_body(&reply, "ok");
    reply_done(&reply);
}

/* ---- idle connections that are dead ---- */

static struct step second_closes(int connection, int request)
{
    if (connection == 0 && request == 1)
        return (struct step){ NULL, STEP_CLOSE };
    return (struct step){ OK_KEEP, STEP_KEEP };
}

static struct step second_resets(int connection, int request)
{
    if (connection == 0 && request == 1)
        return (struct step){ NULL, STEP_RESET };
    return (struct step){ OK_KEEP, STEP_KEEP };
}

static struct step only_first_answers(int connection, int request)
{
    if (connection == 0 && request == 0)
        return (struct step){ OK_KEEP, STEP_KEEP };
    return (struct step){ NULL, STEP_CLOSE };
}

static struct step always_ok(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ OK_KEEP, STEP_KEEP };
}

static struct step never_answers(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ NULL, STEP_CLOSE };
}

static void net_4_get_on_a_closed_idle_connection_is_repeated(void **state)
{
    struct script *script = script_new(*state, second_closes);
    get_ok(*state, script);
    get_ok(*state, script);
    assert_int_equal(script_requests(script), 3);
    assert_int_equal(script_connections(script), 2);
    script_free(script);
}

static void net_4_get_on_a_reset_idle_connection_is_repeated(void **state)
{
    struct script *script = script_new(*state, second_resets);
    get_ok(*state, script);
    get_ok(*state, script);
    assert_int_equal(script_requests(script), 3);
    script_free(script);
}

static void net_4_patch_is_repeated_with_its_body(void **state)
{
    struct script *script = script_new(*state, second_closes);
    get_ok(*state, script);
    struct reply reply;
    reply_init(&reply, *state);
    const struct http_header type = { STR("Content-Type"), STR("application/merge-patch+json") };
    reply_send(&reply, (struct http_request){ .method = "PATCH",
                                              .url = str_c(script_url(script)),
                                              .headers = &type,
                                              .header_count = 1,
                                              .body = STR("{\"x\":1}") });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(script_requests(script), 3);
    assert_non_null(strstr(script_received(script), "\r\n\r\n{\"x\":1}"));
    reply_done(&reply);
    script_free(script);
}

static void net_4_post_is_never_repeated(void **state)
{
    struct script *script = script_new(*state, second_closes);
    get_ok(*state, script);
    struct reply reply;
    reply_init(&reply, *state);
    reply_send(&reply,
               (struct http_request){ .method = "POST", .url = str_c(script_url(script)), .body = STR("x") });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(script_requests(script), 2);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    reply_done(&reply);
    script_free(script);
}

static void net_4_is_repeated_only_once(void **state)
{
    struct script *script = script_new(*state, only_first_answers);
    get_ok(*state, script);
    struct reply reply;
    get(&reply, *state, script);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(script_requests(script), 3);
    reply_done(&reply);
    script_free(script);
}

static void net_4_a_new_connection_is_no_reason_to_repeat(void **state)
{
    struct script *script = script_new(*state, never_answers);
    struct reply reply;
    get(&reply, *state, script);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_false(reply.any_response_byte);
    assert_int_equal(script_requests(script), 1);
    reply_done(&reply);
    script_free(script);
}

static void an_idle_connection_known_to_be_closed_is_not_used(void **state)
{
    struct script *script = script_new(*state, always_ok);
    get_ok(*state, script);
    script_close_idle(script);
    struct reply reply;
    reply_init(&reply, *state);
    reply_send(&reply,
               (struct http_request){ .method = "POST", .url = str_c(script_url(script)), .body = STR("x") });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(script_requests(script), 2);
    assert_int_equal(script_connections(script), 2);
    reply_done(&reply);
    script_free(script);
}

static void a_fresh_connection_is_new_and_not_kept(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = script_new(fixture, always_ok);
    get_ok(fixture, script);
    for (int i = 0; i < 3; i++) {
        struct reply reply;
        reply_init(&reply, fixture);
        reply_send(&reply,
                   (struct http_request){ .url = str_c(script_url(script)), .fresh_connection = true });
        reply_wait(&reply);
        assert_int_equal(reply.outcome, HTTP_COMPLETE);
        reply_done(&reply);
    }
    get_ok(fixture, script);
    assert_int_equal(script_connections(script), 4); /* the pooled one was used twice */
    script_free(script);
}

/* ---- odd answers, one per row ---- */

static const struct row {
    const char *name;
    struct step step;
    enum http_outcome outcome;
    int status;
    const char *body;
} rows[] = {
    { "a body without length ends with the connection",
      { "HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\nabc", STEP_CLOSE },
      HTTP_COMPLETE,
      200,
      "abc" },
    { "a body cut before its length is broken",
      { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", STEP_CLOSE },
      HTTP_BROKEN,
      200,
      "abc" },
    { "a chunked body without end is broken",
      { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", STEP_CLOSE },
      HTTP_BROKEN,
      200,
      "abc" },
    { "a malformed chunk is broken",
      { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", STEP_CLOSE },
      HTTP_BROKEN,
      200,
      "" },
    { "something other than HTTP is broken", { "SSH-2.0-OpenSSH\r\n", STEP_CLOSE }, HTTP_BROKEN, 0, "" },
    { "a header without end is broken", { "HTTP/1.1 200 OK\r\nA: b\r\n", STEP_CLOSE }, HTTP_BROKEN, 0, "" },
    { "100 Continue is not the answer",
      { "HTTP/1.1 100 Continue\r\nContent-Type: no/no\r\n\r\n" OK_KEEP, STEP_KEEP },
      HTTP_COMPLETE,
      200,
      "ok" },
    { "a trailer is no header",
      { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Type: x/y\r\n\r\n",
        STEP_KEEP },
      HTTP_COMPLETE,
      200,
      "ok" },
    { "a redirect is not followed",
      { "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", STEP_KEEP },
      HTTP_COMPLETE,
      302,
      "" },
    { "neg_3 an encoding nobody asked for is broken",
      { "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", STEP_KEEP },
      HTTP_BROKEN,
      200,
      "" },
    { "identity is no encoding",
      { "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc", STEP_KEEP },
      HTTP_COMPLETE,
      200,
      "abc" },
};

static struct step row_step;

static struct step answer_row(int connection, int request)
{
    (void)connection, (void)request;
    return row_step;
}

static int row_setup(void **state)
{
    const struct row *row = *state;
    row_step = row->step;
    fixture_setup(state);
    ((struct fixture *)*state)->row = row;
    return 0;
}

static void client__odd_answer(void **state)
{
    struct fixture *fixture = *state;
    const struct row *row = fixture->row;
    struct script *script = script_new(fixture, answer_row);
    struct reply reply;
    get(&reply, fixture, script);
    assert_int_equal(reply.outcome, row->outcome);
    assert_int_equal(reply.status, row->status);
    assert_body(&reply, row->body);
    assert_int_equal(reply.err.kind, row->outcome == HTTP_COMPLETE ? ERR_NONE : ERR_TRANSIENT);
    assert_int_equal(script_requests(script), 1);
    reply_done(&reply);
    script_free(script);
}

/* ---- Retry-After, one per row ---- */

static const struct retry_row {
    const char *name;
    const char *value;
    int64_t want;
} retry_rows[] = {
    { "err_5 seconds", "7", 7000 },
    { "err_5 zero", "0", 0 },
    { "err_5 more than a minute is a minute", "120", 60000 },
    { "err_5 a number beyond 64 bits is a minute", "99999999999999999999999", 60000 },
    { "err_5 a date in the past is now", "Wed, 21 Oct 2015 07:28:00 GMT", 0 },
    { "err_5 a date far ahead is a minute", "Fri, 31 Dec 2100 23:59:59 GMT", 60000 },
    { "err_5 a negative number is bad", "-5", -1 },
    { "err_5 a word is bad", "soon", -1 },
    { "err_5 empty is bad", "", -1 },
};

static const struct retry_row *retry_row;
static char retry_text[256];

static struct step answer_retry(int connection, int request)
{
    (void)connection, (void)request;
    snprintf(retry_text, sizeof retry_text,
             "HTTP/1.1 503 Service Unavailable\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n",
             retry_row->value);
    return (struct step){ retry_text, STEP_KEEP };
}

static int retry_setup(void **state)
{
    retry_row = *state;
    return fixture_setup(state);
}

static void client__retry_after(void **state)
{
    struct script *script = script_new(*state, answer_retry);
    struct reply reply;
    get(&reply, *state, script);
    assert_int_equal(reply.status, 503);
    assert_int_equal(reply.retry_after_ms, retry_row->want);
    reply_done(&reply);
    script_free(script);
}

/* ---- what is sent ---- */

static void only_what_was_asked_for_is_sent(void **state)
{
    struct script *script = script_new(*state, always_ok);
    get_ok(*state, script);
    const char *received = script_received(script);
    assert_non_null(strstr(received, "GET / HTTP/1.1\r\n"));
    assert_non_null(strstr(received, "User-Agent: test/1\r\n"));
    assert_null(strstr(received, "Accept-Encoding"));
    assert_null(strstr(received, "Cookie"));
    assert_null(strstr(received, "Authorization"));
    assert_null(strstr(received, "Expect"));
    assert_null(strstr(received, "Content-Type"));
    script_free(script);
}

static struct step sets_cookie(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok", STEP_KEEP };
}

static void net_8_cookies_are_forgotten(void **state)
{
    struct script *script = script_new(*state, sets_cookie);
    get_ok(*state, script);
    get_ok(*state, script);
    assert_null(strstr(script_received(script), "Cookie"));
    script_free(script);
}

static void net_8_the_environments_proxy_is_ignored(void **state)
{
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    struct script *script = script_new(*state, always_ok);
    get_ok(*state, script);
    unsetenv("http_proxy");
    script_free(script);
}

static void a_configured_proxy_gets_the_whole_url(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = script_new(fixture, always_ok);
    fixture_client(fixture, (struct http_client_options){ .proxy_url = str_c(script_url(script)) });
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, "http://api.example:8080/x");
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_non_null(strstr(script_received(script), "GET http://api.example:8080/x HTTP/1.1\r\n"));
    reply_done(&reply);
    script_free(script);
}

static void dot_segments_stay_in_the_path(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = script_new(fixture, always_ok);
    struct reply reply;
    reply_init(&reply, fixture);
    char url[128];
    snprintf(url, sizeof url, "%sa/../b%%2Fc", script_url(script));
    reply_get(&reply, url);
    assert_non_null(strstr(script_received(script), "GET /a/../b%2Fc HTTP/1.1\r\n"));
    reply_done(&reply);
    script_free(script);
}

static struct step answers_gzip(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
                          STEP_KEEP };
}

static void neg_2_a_stream_is_told_its_encoding_and_gets_it_raw(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = script_new(fixture, answers_gzip);
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(script_url(script)) });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_string_equal(strbuf_cstr(&reply.encoding), "gzip");
    assert_body(&reply, "abc");
    reply_done(&reply);
    script_free(script);
}

static char long_header[400000];

static struct step answers_long_header(int connection, int request)
{
    (void)connection, (void)request;
    size_t used = (size_t)snprintf(long_header, sizeof long_header, "HTTP/1.1 200 OK\r\n");
    while (used < 300000)
        used += (size_t)snprintf(long_header + used, sizeof long_header - used, "X-Fill: %0500d\r\n", 1);
    snprintf(long_header + used, sizeof long_header - used, "Content-Length: 0\r\n\r\n");
    return (struct step){ long_header, STEP_KEEP };
}

static void an_endless_header_is_broken(void **state)
{
    struct script *script = script_new(*state, answers_long_header);
    struct reply reply;
    get(&reply, *state, script);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(reply.status, 0);
    reply_done(&reply);
    script_free(script);
}

static struct step never_speaks(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ NULL, STEP_KEEP };
}

static void a_tls_handshake_that_hangs_is_refused_in_time(void **state)
{
    struct fixture *fixture = *state;
    struct script *script = script_new(fixture, never_speaks);
    char url[128];
    snprintf(url, sizeof url, "https%s", script_url(script) + strlen("http"));
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = str_c(url), .connect_timeout_ms = 50 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_REFUSED);
    assert_int_equal(script_requests(script), 0);
    reply_done(&reply);
    script_free(script);
}

static void a_name_that_does_not_resolve_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = STR("http://no-such-host.invalid/"),
                                              .connect_timeout_ms = 5000 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_REFUSED);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    reply_done(&reply);
}

#define TEST(name)                                                                                           \
    {                                                                                                        \
        "client__" #name, name, fixture_setup, fixture_teardown, NULL                                        \
    }

static const struct CMUnitTest fixed[] = {
    TEST(net_4_get_on_a_closed_idle_connection_is_repeated),
    TEST(net_4_get_on_a_reset_idle_connection_is_repeated),
    TEST(net_4_patch_is_repeated_with_its_body),
    TEST(net_4_post_is_never_repeated),
    TEST(net_4_is_repeated_only_once),
    TEST(net_4_a_new_connection_is_no_reason_to_repeat),
    TEST(an_idle_connection_known_to_be_closed_is_not_used),
    TEST(a_fresh_connection_is_new_and_not_kept),
    TEST(only_what_was_asked_for_is_sent),
    TEST(net_8_cookies_are_forgotten),
    TEST(net_8_the_environments_proxy_is_ignored),
    TEST(a_configured_proxy_gets_the_whole_url),
    TEST(dot_segments_stay_in_the_path),
    TEST(neg_2_a_stream_is_told_its_encoding_and_gets_it_raw),
    TEST(an_endless_header_is_broken),
    TEST(a_tls_handshake_that_hangs_is_refused_in_time),
    TEST(a_name_that_does_not_resolve_is_refused),
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows) + ARRAY_LEN(retry_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, client__odd_answer, row_setup, fixture_teardown,
                                              (void *)(uintptr_t)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(retry_rows); i++)
        tests[count++] = (struct CMUnitTest){ retry_rows[i].name, client__retry_after, retry_setup,
                                              fixture_teardown, (void *)(uintptr_t)&retry_rows[i] };
    return cmocka_run_group_tests_name("http/client faults", tests, NULL, NULL);
}
