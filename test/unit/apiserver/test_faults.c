/* Trouble on request, the request log and the control endpoint. */
#include "harness.h"

#define CMS "/api/v1/namespaces/default/configmaps"
#define FAULTS "/-/control/faults"

static int setup(void **state)
{
    static struct harness h;
    harness_start(&h, NULL);
    add_config_map(&h, "a", "1");
    *state = &h;
    return 0;
}

static int teardown(void **state)
{
    harness_stop(*state);
    return 0;
}

static void script(struct harness *h, const char *fault)
{
    struct reply reply = post(h, FAULTS, fault);
    if (reply.status != 201)
        fail_msg("%s", reply.text.ptr);
}

static void fault__answers_a_code_with_status_and_retry_after(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"/configmaps\",\"code\":429,\"retryAfter\":2}");
    struct reply reply = get(h, CMS "/a");
    assert_status(h, reply, 429, "TooManyRequests");
    assert_int_equal(reply.retry_after_ms, 2000);
    assert_at(h, reply.json, "details.retryAfterSeconds", "2");
    assert_int_equal(get(h, CMS "/a").status, 200);
}

static void fault__answers_a_code_without_status(void **state)
{
    struct harness *h = *state;
    script(h, "{\"code\":502,\"noStatus\":true,\"contentType\":\"text/html\",\"body\":\"<h1>no</h1>\"}");
    struct reply reply = get(h, CMS "/a");
    assert_int_equal(reply.status, 502);
    assert_true(str_eq(reply.content_type, STR("text/html")));
    assert_true(str_eq(reply.text, STR("<h1>no</h1>")));
}

static void fault__changes_the_content_type_of_a_good_answer(void **state)
{
    struct harness *h = *state;
    script(h, "{\"contentType\":\"text/html\"}");
    struct reply reply = get(h, CMS "/a");
    assert_int_equal(reply.status, 200);
    assert_true(str_eq(reply.content_type, STR("text/html")));
}

static void fault__skips_then_hits_so_many_times(void **state)
{
    struct harness *h = *state;
    script(h, "{\"method\":\"GET\",\"path\":\"configmaps/a$\",\"skip\":1,\"count\":2,\"code\":500}");
    const int want[] = { 200, 500, 500, 200 };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(get(h, CMS).status, 200); /* does not match, does not count */
        assert_int_equal(get(h, CMS "/a").status, want[i]);
    }
    struct reply list = get(h, FAULTS);
    assert_at(h, list.json, "[0].hits", "2");
    assert_at(h, list.json, "[0].seen", "3");
}

static void fault__drops_the_connection_without_executing(void **state)
{
    struct harness *h = *state;
    /* For ever: libcurl tries again when a kept connection dies without an answer. */
    script(h, "{\"method\":\"PATCH\",\"count\":-1,\"code\":0}");
    struct reply reply = merge(h, CMS "/a", "{\"data\":{\"key\":\"2\"}}");
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_at(h, get(h, CMS "/a").json, "data.key", "1");
}

static void wrt_7_an_executed_write_may_lose_its_answer(void **state)
{
    struct harness *h = *state;
    script(h, "{\"method\":\"PATCH\",\"count\":-1,\"cutAfter\":0}");
    struct reply reply = merge(h, CMS "/a", "{\"data\":{\"key\":\"2\"}}");
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_at(h, get(h, CMS "/a").json, "data.key", "2");
}

static void fault__cuts_a_body(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"configmaps\",\"cutAfter\":20}");
    struct reply reply = get(h, CMS);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(reply.status, 200);
}

static void fault__dribbles_a_body(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"configmaps\",\"dribbleBytes\":7,\"dribbleIntervalMs\":0}");
    struct reply reply = get(h, CMS);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_at(h, reply.json, "items[0].metadata.name", "a");
}

static void fault__delays_an_answer(void **state)
{
    struct harness *h = *state;
    script(h, "{\"delayMs\":5}");
    assert_int_equal(get(h, CMS "/a").status, 200);
}

static void fault__stalls_a_watch_in_the_middle_of_an_event(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"stallAfter\":30}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true");
    harness_settle(h);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.bytes, 30);
    assert_false(s.ended);
    stream_close(&s);
}

static void fault__cuts_a_watch_in_the_middle_of_an_event(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"cutAfter\":30}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true");
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_BROKEN);
    assert_int_equal(s.bytes, 30);
    assert_int_equal(apiserver_watch_count(h->server), 0);
    stream_close(&s);
}

static void fault__sends_an_error_event_after_some_events(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"errorCode\":410,\"reason\":\"Expired\",\"errorAfter\":2}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true");
    add_config_map(h, "b", "1");
    assert_event(&s, 0, "ADDED", "a");
    assert_event(&s, 1, "ADDED", "b");
    assert_event(&s, 2, "ERROR", NULL);
    assert_at(h, s.events[2], "object.code", "410");
    assert_at(h, s.events[2], "object.reason", "Expired");
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_COMPLETE);
    stream_close(&s);
}

static void fault__sends_an_error_event_at_once(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"errorCode\":500}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true");
    assert_event(&s, 0, "ERROR", NULL);
    stream_close(&s);
}

static void wat_7_events_may_come_twice(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"duplicateEvents\":true}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true");
    assert_event(&s, 1, "ADDED", "a");
    assert_true(json_equal(s.events[0], s.events[1]));
    stream_close(&s);
}

static void fault__keeps_bookmarks_back(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"dropBookmarks\":true}");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true&allowWatchBookmarks=true");
    stream_need(&s, 1);
    apiserver_bookmark(h->server);
    add_config_map(h, "b", "1");
    assert_event(&s, 1, "ADDED", "b");
    stream_close(&s);
}

static void fault__a_misspelt_or_bad_one_is_refused(void **state)
{
    struct harness *h = *state;
    assert_int_equal(post(h, FAULTS, "{\"cutafter\":1}").status, 400);
    assert_int_equal(post(h, FAULTS, "{\"code\":\"x\"}").status, 400);
    assert_int_equal(post(h, FAULTS, "{\"path\":\"(\"}").status, 400);
    assert_int_equal(post(h, FAULTS, "[]").status, 400);
    assert_int_equal(post(h, FAULTS, "{").status, 400);
}

static void fault__can_be_taken_back(void **state)
{
    struct harness *h = *state;
    script(h, "{\"count\":-1,\"code\":500}");
    script(h, "{\"count\":-1,\"code\":503}");
    assert_int_equal(get(h, CMS).status, 500);
    assert_int_equal(del(h, FAULTS "?id=1", NULL).status, 200);
    assert_int_equal(get(h, CMS).status, 503);
    assert_int_equal(del(h, FAULTS "?id=1", NULL).status, 404);
    assert_int_equal(del(h, FAULTS, NULL).status, 200);
    assert_int_equal(get(h, CMS).status, 200);
}

static void fault__hanging_requests_do_not_stop_others(void **state)
{
    struct harness *h = *state;
    script(h, "{\"path\":\"watch=true\",\"hang\":true}");
    struct stream s = { .harness = h };
    struct http_request request = {
        .method = "GET",
        .url = arena_strf(&h->arena, "http://127.0.0.1:%d" CMS "?watch=true", apiserver_port(h->server)),
        .fresh_connection = true,
    };
    struct err err = ERR_INIT;
    s.call = http_send(h->client, &request, &err);
    harness_settle(h);
    assert_int_equal(get(h, CMS).status, 200);
    http_cancel(s.call);
}

static void resume(void *self)
{
    apiserver_resume(self);
}

static void control__pause_holds_requests_until_resume(void **state)
{
    struct harness *h = *state;
    assert_int_equal(post(h, "/-/control/pause", "").status, 200);
    struct stream s;
    struct loop_timer timer = { 0 };
    loop_timer_init(&timer, h->loop, resume, h->server);
    loop_timer_set(&timer, 5);
    stream_open(h, &s, CMS "?watch=true");
    assert_event(&s, 0, "ADDED", "a");
    stream_close(&s);
    loop_timer_done(&timer);
}

static void control__state_compact_and_watches(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, CMS "?watch=true&allowWatchBookmarks=true");
    assert_at(h, get(h, "/-/control/state").json, "watches", "1");
    assert_int_equal(post(h, "/-/control/bookmark", "").status, 200);
    assert_event(&s, 1, "BOOKMARK", NULL);
    assert_int_equal(post(h, "/-/control/compact", "").status, 200);
    assert_int_equal(post(h, "/-/control/cut-watches", "").status, 200);
    stream_need_end(&s);
    stream_close(&s);
    assert_int_equal(post(h, "/-/control/end-watches", "").status, 200);
    assert_int_equal(post(h, "/-/control/nonsense", "").status, 404);
    assert_at(h, get(h, "/-/control/state").json, "watches", "0");
}

static void log__remembers_who_asked_for_what(void **state)
{
    struct harness *h = *state;
    merge(h, CMS "/a", "{\"data\":{\"key\":\"2\"}}");
    get(h, CMS "/nope?x=y");
    assert_int_equal(apiserver_request_count(h->server), 2);
    const struct apiserver_request *first = apiserver_request_at(h->server, 0);
    assert_true(str_eq(first->method, STR("PATCH")));
    assert_true(str_eq(first->path, STR(CMS "/a")));
    assert_true(str_eq(first->body, STR("{\"data\":{\"key\":\"2\"}}")));
    assert_true(str_eq(first->content_type, STR("application/merge-patch+json")));
    assert_true(str_eq(first->user, STR("system:anonymous")));
    assert_true(str_eq(first->user_agent, STR("harness/1")));
    assert_int_equal(first->code, 200);
    assert_true(first->bytes > 0);
    const struct apiserver_request *second = apiserver_request_at(h->server, 1);
    assert_int_equal(second->code, 404);
    assert_true(str_eq(second->query, STR("x=y")));
    assert_null(apiserver_request_at(h->server, 2));
}

static void log__is_readable_as_json_lines(void **state)
{
    struct harness *h = *state;
    get(h, CMS "/a");
    get(h, CMS "/nope");
    struct reply reply = get(h, "/-/control/requests?since=1");
    assert_at(h, reply.json, "code", "404"); /* one line left: one document */
    assert_at(h, reply.json, "id", "2");
    assert_int_equal(del(h, "/-/control/requests", NULL).status, 200);
    assert_int_equal(apiserver_request_count(h->server), 0);
}

static void api__faults_from_inside_the_process(void **state)
{
    struct harness *h = *state;
    struct err err = ERR_INIT;
    struct apiserver_fault fault = { .path = STR("configmaps"), .code = { true, 503 } };
    assert_true(apiserver_fault(h->server, &fault, &err) > 0);
    assert_int_equal(get(h, CMS).status, 503);
    assert_int_equal(get(h, CMS).status, 200);
    fault.path = STR("(");
    assert_int_equal(apiserver_fault(h->server, &fault, &err), 0);
    apiserver_clear_faults(h->server);
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fault__answers_a_code_with_status_and_retry_after),
        TEST(fault__answers_a_code_without_status),
        TEST(fault__changes_the_content_type_of_a_good_answer),
        TEST(fault__skips_then_hits_so_many_times),
        TEST(fault__drops_the_connection_without_executing),
        TEST(wrt_7_an_executed_write_may_lose_its_answer),
        TEST(fault__cuts_a_body),
        TEST(fault__dribbles_a_body),
        TEST(fault__delays_an_answer),
        TEST(fault__stalls_a_watch_in_the_middle_of_an_event),
        TEST(fault__cuts_a_watch_in_the_middle_of_an_event),
        TEST(fault__sends_an_error_event_after_some_events),
        TEST(fault__sends_an_error_event_at_once),
        TEST(wat_7_events_may_come_twice),
        TEST(fault__keeps_bookmarks_back),
        TEST(fault__a_misspelt_or_bad_one_is_refused),
        TEST(fault__can_be_taken_back),
        TEST(fault__hanging_requests_do_not_stop_others),
        TEST(control__pause_holds_requests_until_resume),
        TEST(control__state_compact_and_watches),
        TEST(log__remembers_who_asked_for_what),
        TEST(log__is_readable_as_json_lines),
        TEST(api__faults_from_inside_the_process),
    };
    return cmocka_run_group_tests_name("apiserver/faults", tests, NULL, NULL);
}
