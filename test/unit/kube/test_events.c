/* T-76 and the rules EVT-1 to EVT-9. */
#include "kube_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "kube/event_body.h"

static const struct kube_kind node_like = { .group = "", .version = "v1", .kind = "Node", .plural = "nodes" };

#define FAILURE(code, reason)                                                                                \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason "\",\"code\":" #code "}"
#define NEW_API "/apis/events.k8s.io/v1/namespaces/default/events"
#define CORE_API "/api/v1/namespaces/default/events"

/* --- bodies ----------------------------------------------------------------------- */

static const struct event_content example = {
    .regarding = { .kind = &thing_kind,
                   .ns = STR_INIT("ns"),
                   .name = STR_INIT("a"),
                   .uid = STR_INIT("u-1"),
                   .rv = STR_INIT("42") },
    .warning = true,
    .reason = STR_INIT("PolicyRejected"),
    .action = STR_INIT("LoadPolicy"),
    .note = STR_INIT("bad \"key\""),
    .controller = STR_INIT("koord-manager"),
    .instance = STR_INIT("host-1"),
    .time = { .us = 1700000000000042 },
    .suffix = 0xabc,
};

static void event__evt_7_new_group(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    event_write(&out, &example, EVENT_API_NEW);
    assert_string_equal(
        strbuf_cstr(&out),
        "{\"apiVersion\":\"events.k8s.io/"
        "v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"a.abc\",\"namespace\":\"ns\"},"
        "\"type\":\"Warning\",\"reason\":\"PolicyRejected\",\"action\":\"LoadPolicy\","
        "\"eventTime\":\"2023-11-14T22:13:20.000042Z\",\"reportingController\":\"koord-manager\","
        "\"reportingInstance\":\"host-1\",\"regarding\":{\"apiVersion\":\"things.example/"
        "v1\",\"kind\":\"Thing\","
        "\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-1\",\"resourceVersion\":\"42\"},\"note\":\"bad "
        "\\\"key\\\"\"}");
}

static void event__core_group(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    struct event_content event = example;
    event.regarding = (struct event_regarding){ .kind = &node_like, .name = STR("n") };
    event.warning = false;
    event_write(&out, &event, EVENT_API_CORE);
    assert_string_equal(
        strbuf_cstr(&out),
        "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"n.abc\",\"namespace\":"
        "\"default\"},"
        "\"type\":\"Normal\",\"reason\":\"PolicyRejected\",\"action\":\"LoadPolicy\","
        "\"firstTimestamp\":\"2023-11-14T22:13:20Z\",\"lastTimestamp\":\"2023-11-14T22:13:20Z\",\"count\":1,"
        "\"reportingComponent\":\"koord-manager\",\"reportingInstance\":\"host-1\","
        "\"source\":{\"component\":\"koord-manager\",\"host\":\"host-1\"},"
        "\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\"},\"message\":\"bad "
        "\\\"key\\\"\"}");
}

static void event__evt_6_a_long_name_leaves_room_for_the_suffix(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    char name[254];
    memset(name, 'x', sizeof name);
    name[253] = '\0';
    struct event_content event = example;
    event.regarding.name = str_c(name);
    name[248] = '-'; /* where it is cut: a label may not end so */
    event_name(&out, &event);
    assert_int_equal(out.len, 252);
    assert_true(str_ends_with(strbuf_str(&out), STR("x.abc")));
}

static void event__evt_5_the_note_is_cut_between_characters(void **state)
{
    (void)state;
    char note[1026];
    memset(note, 'a', sizeof note);
    memcpy(note + 1023, "\xc3\xa4", 3); /* 1025 bytes, the last character across the limit */
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    event_note(&out, str_c(note));
    assert_int_equal(out.len, 1023);
    strbuf_clear(&out);
    event_note(&out, str_slice(str_c(note), 1, 1024)); /* exactly as long as it may be */
    assert_int_equal(out.len, 1024);
    strbuf_clear(&out);
    event_note(&out, STR("a\xff"
                         "b\xe2\x82"));
    assert_string_equal(strbuf_cstr(&out), "a?b??");
}

/* --- the recorder ----------------------------------------------------------------- */

struct stage {
    struct kube_fixture *fixture;
    struct event_recorder *recorder;
    bool leading;
    int asks_left; /* below zero: no limit; then it does not lead any more */
};

static bool is_leading(void *self)
{
    struct stage *stage = self;
    if (stage->asks_left == 0)
        return false;
    stage->asks_left--;
    return stage->leading;
}

static int setup(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    void *fixture = NULL;
    kube_fixture_setup(&fixture);
    stage->fixture = fixture;
    stage->leading = true;
    stage->asks_left = -1;
    stage->fixture->canned.status = 201;
    struct event_recorder_options options = { .controller = "koord-manager",
                                              .instance = STR("host-1"),
                                              .metrics = stage->fixture->metrics,
                                              .may_write = is_leading,
                                              .may_write_self = stage };
    stage->recorder = event_recorder_new(stage->fixture->client, &options);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    event_recorder_free(stage->recorder);
    void *fixture = stage->fixture;
    kube_fixture_teardown(&fixture);
    free(stage);
    return 0;
}

static void record(struct stage *stage, const char *name, bool warning, const char *note)
{
    struct event_regarding regarding = { .kind = &node_like, .name = str_c(name), .uid = STR("u") };
    event_record(stage->recorder, &regarding, warning, "Reason", "Action", str_c(note));
}

static int64_t sent(struct stage *stage)
{
    struct metric *metric =
        metric_counter(stage->fixture->metrics, "koord_manager_events_sent_total", "", NULL);
    return (int64_t)metric_value(metric, (struct str[]){ STR_NULL });
}

static int64_t dropped(struct stage *stage, const char *reason)
{
    struct metric *metric =
        metric_counter(stage->fixture->metrics, "koord_manager_events_dropped_total", "", "reason", NULL);
    return (int64_t)metric_value(metric, (struct str[]){ str_c(reason), STR_NULL });
}

static void events__are_sent_later_never_at_once(void **state)
{
    struct stage *stage = *state;
    record(stage, "a", true, "note");
    assert_int_equal(stage->fixture->asked_count, 0); /* EVT-2 */
    RUN_UNTIL(stage->fixture, sent(stage) == 1);
    const struct asked *asked = &stage->fixture->asked[0];
    assert_string_equal(asked->method, "POST");
    assert_string_equal(asked->target, NEW_API);
    assert_string_equal(asked->content_type, "application/json");
    assert_non_null(strstr(
        asked->body, "\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"a\",\"uid\":\"u\"}"));
}

static void events__t_76_the_same_a_hundred_times_is_one(void **state)
{
    struct stage *stage = *state;
    for (int i = 0; i < 100; i++)
        record(stage, "a", true, "note");
    RUN_UNTIL(stage->fixture, sent(stage) == 1);
    kube_fixture_settle(stage->fixture);
    assert_int_equal(stage->fixture->asked_count, 1);
    assert_int_equal(dropped(stage, "duplicate"), 99);
}

static void events__evt_9_there_and_back_again_is_three_changes(void **state)
{
    struct stage *stage = *state;
    record(stage, "a", true, "bad");
    record(stage, "a", false, "good");
    record(stage, "a", true, "bad");
    record(stage, "b", true, "bad"); /* of another object */
    RUN_UNTIL(stage->fixture, sent(stage) == 4);
}

static void events__t_76_twenty_six_in_a_burst_about_one_object(void **state)
{
    struct stage *stage = *state;
    char note[16];
    for (int i = 0; i < 26; i++) {
        snprintf(note, sizeof note, "%d", i);
        record(stage, "a", true, note);
    }
    RUN_UNTIL(stage->fixture, sent(stage) == 25);
    assert_int_equal(dropped(stage, "spam"), 1);
}

static void events__names_differ(void **state)
{
    struct stage *stage = *state;
    record(stage, "a", true, "1");
    record(stage, "a", true, "2");
    RUN_UNTIL(stage->fixture, sent(stage) == 2);
    struct asked *asked = stage->fixture->asked;
    assert_string_not_equal(strstr(asked[0].body, "\"name\":\"a."), strstr(asked[1].body, "\"name\":\"a."));
}

static void events__evt_1_a_404_falls_back_to_core_and_stays_there(void **state)
{
    struct stage *stage = *state;
    static const struct canned created = { .status = 201 };
    stage->fixture->canned = (struct canned){
        .status = 404, .type = "text/plain", .body = "404 page not found", .then = &created
    };
    record(stage, "a", true, "1");
    record(stage, "a", true, "2");
    RUN_UNTIL(stage->fixture, sent(stage) == 2);
    struct asked *asked = stage->fixture->asked;
    assert_int_equal(stage->fixture->asked_count, 3);
    assert_string_equal(asked[0].target, NEW_API);
    assert_string_equal(asked[1].target, CORE_API);
    assert_non_null(strstr(asked[1].body, "\"involvedObject\""));
    assert_string_equal(asked[2].target, CORE_API);
}

static void events__a_missing_namespace_is_no_missing_group(void **state)
{
    struct stage *stage = *state;
    static const struct canned created = { .status = 201 };
    static const struct canned second = { .status = 404, .body = FAILURE(404, "NotFound"), .then = &created };
    stage->fixture->canned =
        (struct canned){ .status = 404, .body = FAILURE(404, "NotFound"), .then = &second };
    record(stage, "a", true, "1");
    record(stage, "a", true, "2");
    RUN_UNTIL(stage->fixture, sent(stage) == 1);
    assert_int_equal(stage->fixture->asked_count, 3);
    assert_string_equal(stage->fixture->asked[2].target, NEW_API);
    assert_int_equal(dropped(stage, "not-found"), 1);
}

static void events__evt_6_a_taken_name_is_tried_once_more(void **state)
{
    struct stage *stage = *state;
    stage->fixture->canned = (struct canned){ .status = 409, .body = FAILURE(409, "AlreadyExists") };
    record(stage, "a", true, "1");
    RUN_UNTIL(stage->fixture, dropped(stage, "already-exists") == 1);
    struct asked *asked = stage->fixture->asked;
    assert_int_equal(stage->fixture->asked_count, 2);
    assert_string_not_equal(strstr(asked[0].body, "\"name\":\"a."), strstr(asked[1].body, "\"name\":\"a."));
}

static void events__evt_8_a_refusal_is_not_repeated(void **state)
{
    struct stage *stage = *state;
    stage->fixture->canned = (struct canned){ .status = 403, .body = FAILURE(403, "Forbidden") };
    record(stage, "a", true, "1");
    RUN_UNTIL(stage->fixture, dropped(stage, "forbidden") == 1);
    kube_fixture_settle(stage->fixture);
    assert_int_equal(stage->fixture->asked_count, 1);
}

static void events__evt_3_a_429_keeps_the_event(void **state)
{
    struct stage *stage = *state;
    static const struct canned created = { .status = 201 };
    stage->fixture->canned = (struct canned){ .status = 429,
                                              .body = FAILURE(429, "TooManyRequests"),
                                              .headers = { { "Retry-After", "0" } },
                                              .then = &created };
    record(stage, "a", true, "1");
    RUN_UNTIL(stage->fixture, sent(stage) == 1);
    assert_int_equal(stage->fixture->asked_count, 2);
    assert_string_equal(stage->fixture->asked[0].body, stage->fixture->asked[1].body);
}

static void events__evt_2_a_full_queue_loses_the_oldest_normal_first(void **state)
{
    struct stage *stage = *state;
    static const struct canned created = { .status = 201 };
    char name[16];
    stage->fixture->canned = (struct canned){ .how = CANNED_NEVER, .then = &created };
    record(stage, "in-flight", false, "n");
    RUN_UNTIL(stage->fixture, stage->fixture->asked_count == 1);
    record(stage, "first", true, "n");
    record(stage, "second", false, "n");
    record(stage, "third", true, "n");
    for (int i = 4; i < 1000; i++) {
        snprintf(name, sizeof name, "w%d", i);
        record(stage, name, true, "n");
    }
    assert_int_equal(dropped(stage, "queue-full"), 0);
    record(stage, "one-more", true, "n"); /* takes the place of "second" */
    assert_int_equal(dropped(stage, "queue-full"), 1);
    record(stage, "another", true, "n"); /* only warnings are left: "first" goes */
    assert_int_equal(dropped(stage, "queue-full"), 2);
    http_exchange_reply(stage->fixture->open[0], 201, "application/json", STR("{}"));
    RUN_UNTIL(stage->fixture, sent(stage) >= 2);
    assert_non_null(strstr(stage->fixture->asked[0].body, "\"name\":\"in-flight\""));
    assert_non_null(strstr(stage->fixture->asked[1].body, "\"name\":\"third\""));
}

static void events__a_standby_says_nothing(void **state)
{
    struct stage *stage = *state;
    stage->leading = false;
    record(stage, "a", true, "1");
    assert_int_equal(dropped(stage, "standby"), 1);
    stage->leading = true;
    record(stage, "a", true, "1");
    stage->leading = false; /* EVT-4: lost before it was sent */
    kube_fixture_settle(stage->fixture);
    assert_int_equal(stage->fixture->asked_count, 0);
    assert_int_equal(dropped(stage, "standby"), 2);
}

static void events__t_67_evt_4_the_lead_is_asked_for_once_more_at_the_wire(void **state)
{
    struct stage *stage = *state;
    stage->asks_left = 2; /* when recorded, when its turn comes */
    record(stage, "a", true, "1");
    RUN_UNTIL(stage->fixture, dropped(stage, "fenced") == 1);
    assert_int_equal(stage->fixture->asked_count, 0);
}

static void events__the_recorder_can_go_with_work_left(void **state)
{
    struct stage *stage = *state;
    stage->fixture->canned = (struct canned){ .how = CANNED_NEVER };
    record(stage, "a", true, "1");
    record(stage, "b", true, "1");
    RUN_UNTIL(stage->fixture, stage->fixture->asked_count == 1);
    event_recorder_free(stage->recorder);
    stage->recorder = NULL;
    kube_fixture_settle(stage->fixture);
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event__evt_7_new_group),
        cmocka_unit_test(event__core_group),
        cmocka_unit_test(event__evt_6_a_long_name_leaves_room_for_the_suffix),
        cmocka_unit_test(event__evt_5_the_note_is_cut_between_characters),
        STAGE_TEST(events__are_sent_later_never_at_once),
        STAGE_TEST(events__t_76_the_same_a_hundred_times_is_one),
        STAGE_TEST(events__evt_9_there_and_back_again_is_three_changes),
        STAGE_TEST(events__t_76_twenty_six_in_a_burst_about_one_object),
        STAGE_TEST(events__names_differ),
        STAGE_TEST(events__evt_1_a_404_falls_back_to_core_and_stays_there),
        STAGE_TEST(events__a_missing_namespace_is_no_missing_group),
        STAGE_TEST(events__evt_6_a_taken_name_is_tried_once_more),
        STAGE_TEST(events__evt_8_a_refusal_is_not_repeated),
        STAGE_TEST(events__evt_3_a_429_keeps_the_event),
        STAGE_TEST(events__evt_2_a_full_queue_loses_the_oldest_normal_first),
        STAGE_TEST(events__a_standby_says_nothing),
        STAGE_TEST(events__t_67_evt_4_the_lead_is_asked_for_once_more_at_the_wire),
        STAGE_TEST(events__the_recorder_can_go_with_work_left),
    };
    return cmocka_run_group_tests_name("kube/events", tests, NULL, NULL);
}
