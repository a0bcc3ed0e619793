#include "kube_fixture.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET_THING .verb = KUBE_GET, .kind = &thing_kind, .ns = STR("ns"), .name = STR("name")
#define WATCH_THINGS .verb = KUBE_WATCH, .kind = &thing_kind, .timeout_s = 300
#define LIST_THINGS .verb = KUBE_LIST, .kind = &thing_kind
#define UNAUTHORIZED                                                                                         \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Unauthorized\",\"message\":\"who?\",\"code\":" \
    "401}"
#define EXPIRED                                                                                              \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"message\":\"too "                  \
    "old\",\"code\":410}"

/* The answer to one GET, short or as a stream. */
static struct kube_response get(struct kube_fixture *fixture, struct got *got)
{
    got_init(got, fixture);
    got_send(got, (struct kube_request){ GET_THING });
    got_wait(got);
    return got->response;
}

/* --- what is sent ----------------------------------------------------------------- */

static void client__get_carries_the_headers_and_no_content_type(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_int_equal(got.response.code, 200);
    assert_string_equal(strbuf_cstr(&got.body), "{}");
    const struct asked *asked = &fixture->asked[0];
    assert_string_equal(asked->method, "GET");
    assert_string_equal(asked->target, "/apis/things.example/v1/namespaces/ns/things/name");
    assert_string_equal(asked->accept, "application/json");
    assert_string_equal(asked->accept_encoding, ""); /* NEG-1 */
    assert_string_equal(asked->content_type, "");
    assert_string_equal(asked->authorization, "Bearer t0ken");
    assert_string_equal(asked->user_agent, "test/1 (linux)");
    assert_string_equal(asked->impersonate, "");
    got_done(&got);
}

static void client__wrt_1_each_write_has_one_content_type(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct {
        enum kube_verb verb;
        const char *method;
        const char *type;
    } rows[] = {
        { KUBE_CREATE, "POST", "application/json" },
        { KUBE_UPDATE, "PUT", "application/json" },
        { KUBE_PATCH_MERGE, "PATCH", "application/merge-patch+json" },
        { KUBE_DELETE, "DELETE", "application/json" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct got got;
        got_init(&got, fixture);
        got_send(&got, (struct kube_request){ .verb = rows[i].verb,
                                              .kind = &thing_kind,
                                              .ns = STR("ns"),
                                              .name = rows[i].verb == KUBE_CREATE ? STR_NULL : STR("name"),
                                              .body = STR("{\"a\":1}") });
        got_wait(&got);
        assert_string_equal(fixture->asked[i].method, rows[i].method);
        assert_string_equal(fixture->asked[i].content_type, rows[i].type);
        assert_string_equal(fixture->asked[i].body, "{\"a\":1}");
        got_done(&got);
    }
}

static void client__names_are_percent_encoded(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ .verb = KUBE_GET,
                                          .kind = &thing_kind,
                                          .ns = STR("n s"),
                                          .name = STR("system:a?b#c\xc3\xa4"),
                                          .subresource = "status" });
    got_wait(&got);
    assert_string_equal(fixture->asked[0].target,
                        "/apis/things.example/v1/namespaces/n%20s/things/system%3Aa%3Fb%23c%C3%A4/status");
    got_done(&got);
}

static void client__impersonation_and_basic_credentials(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->config.token = STR_NULL;
    fixture->config.username = STR("a");
    fixture->config.password = STR("b");
    static const struct str group = STR_INIT("g h");
    static const struct kube_extra extra = { STR_INIT("acme.com/A"), STR_INIT("v") };
    fixture->config.impersonate_user = STR("system:serviceaccount:x:y");
    fixture->config.impersonate_uid = STR("7");
    fixture->config.impersonate_groups = &group;
    fixture->config.impersonate_group_count = 1;
    fixture->config.impersonate_extra = &extra;
    fixture->config.impersonate_extra_count = 1;
    kube_fixture_client(fixture);
    get(fixture, &got);
    assert_string_equal(fixture->asked[0].authorization, "Basic YTpi");
    assert_string_equal(fixture->asked[0].impersonate, "system:serviceaccount:x:y");
    assert_string_equal(fixture->asked[0].impersonate_uid, "7");
    assert_string_equal(fixture->asked[0].impersonate_group, "g h");
    assert_string_equal(fixture->asked[0].impersonate_extra, "v");
    got_done(&got);
}

static void client__net_8_plain_http_carries_no_credentials(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "");
    got_done(&got);
}

static void client__requests_that_cannot_be_meant_are_refused(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct kube_request requests[] = {
        { .verb = KUBE_DELETE, .kind = &thing_kind, .ns = STR_INIT("ns") },
        { .verb = KUBE_GET, .kind = &thing_kind, .name = STR_INIT("a") },
        { .verb = KUBE_CREATE, .kind = &thing_kind, .ns = STR_INIT("ns"), .name = STR_INIT("a") },
        { .verb = KUBE_GET, .kind = &thing_kind, .ns = STR_INIT("ns"), .name = STR_INIT("..") },
        { .verb = KUBE_GET, .kind = &thing_kind, .ns = STR_INIT("."), .name = STR_INIT("a") },
        { .verb = KUBE_GET, .kind = &thing_kind, .ns = STR_INIT("ns"), .name = STR_INIT("a/b") },
        { .verb = KUBE_GET, .kind = &thing_kind, .ns = STR_INIT("ns"), .name = STR_INIT("a%2f") },
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct err err = ERR_INIT;
        assert_null(kube_send(fixture->client, &requests[i], NULL, NULL, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
    assert_int_equal(fixture->asked_count, 0);
}

static void client__a_header_cannot_be_smuggled_in_by_impersonation(void **state)
{
    struct kube_fixture *fixture = *state;
    struct err err = ERR_INIT;
    fixture->config.impersonate_user = STR("a\r\nX: y");
    struct kube_client_options options = { .config = &fixture->config, .user_agent = "a" };
    assert_null(kube_client_new(fixture->loop, &options, &err));
    assert_int_equal(err.kind, ERR_INVALID);
}

/* --- answers ---------------------------------------------------------------------- */

static void client__t_12_html_with_200_is_no_answer(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .type = "text/html", .body = "<html>Log in</html>" };
    assert_int_equal(get(fixture, &got).failure, KUBE_PROTOCOL);
    assert_non_null(strstr(got.response.err.text, "text/html"));
    got_done(&got);
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ LIST_THINGS });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_PROTOCOL);
    assert_non_null(strstr(got.response.err.text, "text/html"));
    assert_int_equal(got.opened, 0);
    assert_int_equal(got.data.len, 0);
    got_done(&got);
}

static void client__neg_3_an_encoding_nobody_asked_for_is_refused(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .headers = { { "Content-Encoding", "gzip" } }, .body = "\x1f\x8b" };
    assert_int_equal(get(fixture, &got).failure, KUBE_PROTOCOL);
    assert_non_null(strstr(got.response.err.text, "gzip"));
    got_done(&got);
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_PROTOCOL);
    assert_int_equal(got.opened, 0);
    got_done(&got);
}

static void client__t_28_forms_of_retry_after(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct {
        const char *header;
        int64_t want_ms;
    } rows[] = {
        { "1", 1000 },   { "120", 60000 }, { "0", 0 },
        { "-1", 9000 },  { "abc", 9000 },  { "", 9000 },
        { "1.5", 9000 }, { NULL, 9000 },   { "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct got got;
        fixture->canned = (struct canned){
            .status = 429,
            .body = "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\",\"code\":429,"
                    "\"details\":{\"retryAfterSeconds\":9}}",
        };
        if (rows[i].header) {
            fixture->canned.headers[0][0] = "Retry-After";
            fixture->canned.headers[0][1] = rows[i].header;
        }
        assert_int_equal(get(fixture, &got).failure, KUBE_THROTTLED);
        if (got.response.retry_after_ms != rows[i].want_ms)
            fail_msg("Retry-After %s gave %lld", rows[i].header ? rows[i].header : "absent",
                     (long long)got.response.retry_after_ms);
        got_done(&got);
    }
}

static void client__a_reset_leaves_the_outcome_unknown(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_ABORT };
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){
                       .verb = KUBE_CREATE, .kind = &thing_kind, .ns = STR("ns"), .body = STR("{}") });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_TRANSPORT);
    assert_int_equal(got.response.code, 0);
    assert_int_equal(fixture->asked_count, 1); /* WRT-7: a POST is never sent twice */
    got_done(&got);
}

/* A port where nobody listens: taken, and given back. */
static int free_port(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    getsockname(fd, (struct sockaddr *)&at, &len);
    close(fd);
    return ntohs(at.sin_port);
}

static void client__nobody_there_is_unreachable(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->config.server = arena_strf(&fixture->arena, "https://127.0.0.1:%d", free_port());
    kube_fixture_client(fixture);
    assert_int_equal(get(fixture, &got).failure, KUBE_UNREACHABLE);
    assert_int_equal(got.response.err.kind, ERR_TRANSIENT);
    assert_int_equal(got.response.retry_after_ms, -1);
    got_done(&got);
}

static void client__a_server_of_another_authority_is_unreachable(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    struct test_ca other = { 0 };
    test_ca_init(&other, "other CA");
    fixture->config.ca_pem = str_c(other.pem);
    kube_fixture_client(fixture);
    assert_int_equal(get(fixture, &got).failure, KUBE_UNREACHABLE);
    assert_int_equal(fixture->asked_count, 0);
    test_ca_done(&other);
    got_done(&got);
}

static void client__counts_requests_by_code_method_and_host(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    static const struct canned gone = { .status = 404, .type = "text/plain", .body = "no" };
    fixture->canned = (struct canned){ .then = &gone };
    get(fixture, &got);
    got_done(&got);
    get(fixture, &got);
    got_done(&got);
    struct str host = str_slice(fixture->config.server, 8, fixture->config.server.len);
    struct metric *requests =
        metric_counter(fixture->metrics, "rest_client_requests_total", "", "code", "method", "host", NULL);
    assert_true(metric_value(requests, (struct str[]){ STR("200"), STR("GET"), host, STR_NULL }) == 1);
    assert_true(metric_value(requests, (struct str[]){ STR("404"), STR("GET"), host, STR_NULL }) == 1);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1 << 20);
    metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &text);
    assert_non_null(strstr(strbuf_cstr(&text), "rest_client_request_duration_seconds_count{verb=\"GET\""));
}

/* --- credentials ------------------------------------------------------------------ */

static void client__t_30_a_401_reads_the_token_again_and_tries_once(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct canned good = { .body = "{\"kind\":\"Thing\"}" };
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("old")));
    kube_fixture_client(fixture);
    scratch_write(&fixture->dir, "token", STR("new"));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED, .then = &good };
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_int_equal(fixture->asked_count, 2);
    assert_string_equal(fixture->asked[0].authorization, "Bearer old");
    assert_string_equal(fixture->asked[1].authorization, "Bearer new");
    got_done(&got);
}

static void client__t_30_a_stream_is_tried_again_too(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct canned good = { .body = "{\"items\":[]}" };
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("old")));
    kube_fixture_client(fixture);
    scratch_write(&fixture->dir, "token", STR("new"));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED, .then = &good };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ LIST_THINGS });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_OK);
    assert_int_equal(got.opened, 1);
    assert_string_equal(strbuf_cstr(&got.data), "{\"items\":[]}");
    assert_int_equal(fixture->asked_count, 2);
    got_done(&got);
}

static void client__t_30_no_storm_while_the_token_stays_the_same(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("s3cret")));
    kube_fixture_client(fixture);
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED };
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_int_equal(fixture->asked_count, 1);
    assert_string_equal(got.response.err.text, "HTTP 401: who?");
    got_done(&got);
}

static void client__t_30_a_new_token_that_is_refused_ends_it(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("old")));
    kube_fixture_client(fixture);
    scratch_write(&fixture->dir, "token", STR("new"));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED };
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_int_equal(fixture->asked_count, 2);
    got_done(&got);
}

static void client__t_77_a_401_says_why_the_token_file_is_unusable(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("s3cret")));
    kube_fixture_client(fixture);
    scratch_write(&fixture->dir, "token", STR("s3cret s3cret"));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED };
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_non_null(strstr(got.response.err.text, "token file"));
    assert_null(strstr(got.response.err.text, "s3cret"));
    got_done(&got);
}

/* --- streams ---------------------------------------------------------------------- */

static void stream__data_flows_as_it_comes(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned =
        (struct canned){ .how = CANNED_STREAM, .type = "application/json; charset=utf-8", .body = "{\"a\":" };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ WATCH_THINGS, .bookmarks = true });
    RUN_UNTIL(fixture, got.data.len == 5);
    assert_int_equal(got.opened, 1);
    assert_int_equal(got.done, 0);
    assert_string_equal(
        fixture->asked[0].target,
        "/apis/things.example/v1/things?watch=true&allowWatchBookmarks=true&timeoutSeconds=300");
    http_exchange_stream_send(fixture->open[0], STR("1}"));
    http_exchange_stream_end(fixture->open[0]);
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_OK);
    assert_int_equal(got.response.code, 200);
    assert_string_equal(strbuf_cstr(&got.data), "{\"a\":1}");
    assert_int_equal(got.opened, 1);
    got_done(&got);
}

static void stream__a_cut_is_a_transport_failure(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM, .body = "{" };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.data.len == 1);
    http_exchange_abort(fixture->open[0]);
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_TRANSPORT);
    assert_int_equal(got.response.err.kind, ERR_TRANSIENT);
    got_done(&got);
}

static void stream__a_refusal_is_collected_and_classified(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .status = 410, .body = EXPIRED };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_EXPIRED);
    assert_string_equal(got.response.err.text, "HTTP 410: too old");
    assert_string_equal(strbuf_cstr(&got.body), EXPIRED);
    assert_int_equal(got.opened, 0);
    assert_int_equal(got.data.len, 0);
    got_done(&got);
}

static void stream__net_7_an_endless_refusal_is_cut(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    char *text = malloc(200001);
    memset(text, 'x', 200000);
    text[200000] = '\0';
    fixture->canned =
        (struct canned){ .how = CANNED_STREAM, .status = 503, .type = "text/plain", .body = text };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ LIST_THINGS });
    got_wait(&got); /* although the server never ends it */
    assert_int_equal(got.response.code, 503);
    assert_int_equal(got.response.err.kind, ERR_TRANSIENT);
    assert_int_not_equal(got.response.failure, KUBE_TRANSPORT);
    assert_int_equal(got.body.len, 65536);
    free(text);
    got_done(&got);
}

static bool refuse(struct got *got, struct err *err)
{
    (void)got;
    return err_set(err, ERR_INVALID, "this is no list");
}

static void stream__a_reader_that_gives_up_ends_it(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&got, fixture);
    got.on_data = refuse;
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_PROTOCOL);
    assert_non_null(strstr(got.response.err.text, "this is no list"));
    got_done(&got);
}

static void stream__watches_do_not_share_connections_with_short_requests(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got watch, got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&watch, fixture);
    got_stream(&watch, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, watch.data.len > 0);
    fixture->canned = (struct canned){ .how = CANNED_REPLY };
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_int_equal(watch.done, 0);
    kube_cancel(watch.call);
    got_done(&watch);
    got_done(&got);
}

/* --- cancelling ------------------------------------------------------------------- */

static void cancel__before_it_was_sent(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    kube_cancel(got.call);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void cancel__while_the_answer_is_awaited(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_NEVER };
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    RUN_UNTIL(fixture, fixture->asked_count == 1);
    kube_cancel(got.call);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void cancel__during_the_second_try(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct canned never = { .how = CANNED_NEVER };
    struct got got;
    fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", STR("old")));
    kube_fixture_client(fixture);
    scratch_write(&fixture->dir, "token", STR("new"));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED, .then = &never };
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    RUN_UNTIL(fixture, fixture->asked_count == 2);
    kube_cancel(got.call);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void cancel__in_mid_stream(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&got, fixture);
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.data.len > 0);
    kube_cancel(got.call);
    RUN_UNTIL(fixture, (kube_fixture_settle(fixture), !fixture->open[0])); /* the server sees it */
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void cancel_call(struct got *got)
{
    kube_cancel(got->call);
    got->call = NULL;
}

static bool cancel_in_data(struct got *got, struct err *err)
{
    cancel_call(got);
    return err_set(err, ERR_INVALID, "cancelled");
}

static void cancel__inside_on_open(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&got, fixture);
    got.on_open = cancel_call;
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.opened == 1);
    kube_fixture_settle(fixture);
    assert_int_equal(got.data.len, 0);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void cancel__inside_on_data(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&got, fixture);
    got.on_data = cancel_in_data;
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.data.len > 0);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void free_client(struct got *got)
{
    kube_client_free(got->fixture->client);
    got->fixture->client = NULL;
}

static bool free_client_in_data(struct got *got, struct err *err)
{
    free_client(got);
    return err_set(err, ERR_INVALID, "gone");
}

static void free__inside_done(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got, other;
    got_init(&got, fixture);
    got_init(&other, fixture);
    got.on_done = free_client;
    got_send(&got, (struct kube_request){ GET_THING });
    got_stream(&other, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.done > 0);
    kube_fixture_settle(fixture);
    got_done(&got);
    got_done(&other);
}

static void free__inside_on_data(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    got_init(&got, fixture);
    got.on_data = free_client_in_data;
    got_stream(&got, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, got.data.len > 0);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    got_done(&got);
}

static void start_second(struct got *got)
{
    struct kube_request request = { GET_THING };
    got->on_done = NULL;
    got->done = 0;
    got_send(got, request);
}

static void client__the_next_request_can_start_inside_done(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    got_init(&got, fixture);
    got.on_done = start_second;
    got_send(&got, (struct kube_request){ GET_THING });
    RUN_UNTIL(fixture, fixture->asked_count == 2 && got.done == 1);
    assert_int_equal(got.response.failure, KUBE_OK);
    got_done(&got);
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, kube_fixture_setup, kube_fixture_teardown)
#define PLAIN_TEST(name)                                                                                     \
    cmocka_unit_test_setup_teardown(name, kube_fixture_setup_plain, kube_fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TLS_TEST(client__get_carries_the_headers_and_no_content_type),
        TLS_TEST(client__wrt_1_each_write_has_one_content_type),
        TLS_TEST(client__names_are_percent_encoded),
        TLS_TEST(client__impersonation_and_basic_credentials),
        PLAIN_TEST(client__net_8_plain_http_carries_no_credentials),
        TLS_TEST(client__requests_that_cannot_be_meant_are_refused),
        TLS_TEST(client__a_header_cannot_be_smuggled_in_by_impersonation),
        TLS_TEST(client__t_12_html_with_200_is_no_answer),
        TLS_TEST(client__neg_3_an_encoding_nobody_asked_for_is_refused),
        TLS_TEST(client__t_28_forms_of_retry_after),
        TLS_TEST(client__a_reset_leaves_the_outcome_unknown),
        TLS_TEST(client__nobody_there_is_unreachable),
        TLS_TEST(client__a_server_of_another_authority_is_unreachable),
        TLS_TEST(client__counts_requests_by_code_method_and_host),
        TLS_TEST(client__t_30_a_401_reads_the_token_again_and_tries_once),
        TLS_TEST(client__t_30_a_stream_is_tried_again_too),
        TLS_TEST(client__t_30_no_storm_while_the_token_stays_the_same),
        TLS_TEST(client__t_30_a_new_token_that_is_refused_ends_it),
        TLS_TEST(client__t_77_a_401_says_why_the_token_file_is_unusable),
        TLS_TEST(stream__data_flows_as_it_comes),
        TLS_TEST(stream__a_cut_is_a_transport_failure),
        TLS_TEST(stream__a_refusal_is_collected_and_classified),
        TLS_TEST(stream__net_7_an_endless_refusal_is_cut),
        TLS_TEST(stream__a_reader_that_gives_up_ends_it),
        TLS_TEST(stream__watches_do_not_share_connections_with_short_requests),
        TLS_TEST(cancel__before_it_was_sent),
        TLS_TEST(cancel__while_the_answer_is_awaited),
        TLS_TEST(cancel__during_the_second_try),
        TLS_TEST(cancel__in_mid_stream),
        TLS_TEST(cancel__inside_on_open),
        TLS_TEST(cancel__inside_on_data),
        TLS_TEST(free__inside_done),
        TLS_TEST(free__inside_on_data),
        TLS_TEST(client__the_next_request_can_start_inside_done),
    };
    return cmocka_run_group_tests_name("kube/client", tests, NULL, NULL);
}
