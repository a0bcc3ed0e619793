#include "fake_kube.h"
#include "base/log.h"
#include "kube/backoff.h"
#include "kube/informer.h"

/* --- the fixture ------------------------------------------------------------------- */

/* An informer of things, what it told, and the server it talks to. */
struct fixture {
    struct core *core;
    struct loop *loop;
    struct kube_client *client;
    struct metric_registry *metrics;
    struct informer *informer;
    struct strbuf told; /* "+a -b ~c synced live gap " */
    size_t logged;
    struct feed_state feed;
};

static void changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct fixture *fixture = self;
    const struct kube_object *about = old ? old : new;
    strbuf_addf(&fixture->told, "%c" STR_FMT " ",
                !new   ? '-'
                : !old ? '+'
                       : '~',
                STR_ARG(kube_object_name(about)));
    if (new) /* handlers see the store at least as new as what they are told */
        assert_ptr_equal(
            store_get(informer_store(fixture->informer), kube_object_namespace(new), kube_object_name(new)),
            new);
}

static void synced(void *self)
{
    struct fixture *fixture = self;
    assert_true(informer_feed(fixture->informer).synced);
    strbuf_add(&fixture->told, STR("synced "));
}

static void feed(void *self, const struct feed_state *state)
{
    struct fixture *fixture = self;
    fixture->feed = *state;
    strbuf_add(&fixture->told, state->live ? STR("live ") : STR("gap "));
}

static void count_log(void *self, struct str line)
{
    struct fixture *fixture = self;
    (void)line;
    fixture->logged++;
}

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    core_setup((void **)&fixture->core);
    fixture->loop = fake_loop_new();
    fixture->client = fake_client_new(fixture->loop);
    fixture->metrics = metric_registry_new();
    fixture->told = STRBUF_INIT(64 * 1024);
    log_capture(count_log, fixture);
    fixture->informer = informer_new(fixture->client, &(struct informer_options){ .kind = &thing_kind,
                                                                                  .pool = fixture->core->pool,
                                                                                  .metrics = fixture->metrics,
                                                                                  .seed = 1,
                                                                                  .changed = changed,
                                                                                  .synced = synced,
                                                                                  .feed = feed,
                                                                                  .self = fixture });
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    log_capture(NULL, NULL);
    informer_free(fixture->informer);
    fake_client_free(fixture->client);
    fake_loop_free(fixture->loop);
    metric_registry_free(fixture->metrics);
    strbuf_done(&fixture->told);
    int failed = core_teardown((void **)&fixture->core);
    free(fixture);
    return failed;
}

/* What was told since the last time. */
static void assert_told(struct fixture *fixture, const char *want)
{
    assert_string_equal(strbuf_cstr(&fixture->told), want);
    strbuf_clear(&fixture->told);
}

static double metric(struct fixture *fixture, const char *line)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &text);
    const char *found = strstr(strbuf_cstr(&text), line);
    return found ? strtod(found + strlen(line), NULL) : -1;
}

static struct kube_call *call(struct fixture *fixture)
{
    assert_int_equal(fixture->client->call_count, 1); /* never two at once */
    return fake_call(fixture->client);
}

/* Passes time until a request is sent. */
static struct kube_call *next_call(struct fixture *fixture)
{
    for (int i = 0; i < 100 && !fixture->client->calls; i++)
        fake_loop_next(fixture->loop, 60 * 1000);
    return call(fixture);
}

static const struct thing *stored(struct fixture *fixture, const char *name)
{
    return thing_of(store_get(informer_store(fixture->informer), STR("n"), str_c(name)));
}

#define ITEM(name_, uid_, rv_, value_)                                                                       \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name_ "\",\"uid\":\"" uid_                              \
    "\",\"resourceVersion\":\"" rv_ "\"},\"spec\":{\"group\":\"g\",\"value\":" #value_ "}}"
#define LIST(rv_, more_, items_)                                                                             \
    "{\"kind\":\"ThingList\",\"metadata\":{\"resourceVersion\":\"" rv_ "\"" more_ "},\"items\":[" items_ "]" \
    "}"
#define EVENT(type_, object_) "{\"type\":\"" type_ "\",\"object\":" object_ "}\n"
#define BOOKMARK(rv_) EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" rv_ "\"}}")
#define ERROR410                                                                                             \
    EVENT("ERROR", "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}")

/* Synced with a and b at 100; the watch is open and returned. */
static struct kube_call *start(struct fixture *fixture)
{
    informer_start(fixture->informer);
    fake_list(call(fixture), LIST("100", "", ITEM("a", "ua", "10", 1) "," ITEM("b", "ub", "20", 2)));
    struct kube_call *watch = call(fixture);
    fake_open(watch);
    strbuf_clear(&fixture->told);
    return watch;
}

/* --- syncing ----------------------------------------------------------------------- */

static void a_list_then_a_watch(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    struct kube_call *list = call(fixture);
    assert_string_equal(list->target, "GET /apis/test.example/v1/things?limit=500");
    fake_open(list);
    assert_true(fake_data(list, LIST("100", "", ITEM("a", "ua", "10", 1))));
    assert_told(fixture, ""); /* lst_9: nothing is seen of half a list */
    assert_int_equal(store_count(informer_store(fixture->informer)), 0);
    fake_end(list);
    assert_told(fixture, "+a synced ");
    struct kube_call *watch = call(fixture);
    assert_non_null(strstr(watch->target, "watch=true&allowWatchBookmarks=true&timeoutSeconds="));
    assert_non_null(strstr(watch->target, "&resourceVersion=100"));
    assert_false(informer_feed(fixture->informer).live);
    fake_open(watch);
    assert_told(fixture, "live ");
    assert_true(informer_feed(fixture->informer).live);
    assert_int_equal(fixture->feed.gap_ms, 0);
    assert_str(informer_rv(fixture->informer), "100");
}

static void lst_9_pages_are_installed_together(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    fake_list(call(fixture), LIST("100", ",\"continue\":\"t1\"", ITEM("a", "ua", "10", 1)));
    assert_non_null(strstr(call(fixture)->target, "continue=t1"));
    fake_list(call(fixture), LIST("100", ",\"continue\":\"t2\"", ""));
    assert_told(fixture, "");
    fake_list(call(fixture), LIST("100", "", ITEM("b", "ub", "20", 2)));
    assert_int_equal(fixture->told.len, strlen("+a +b synced "));
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
}

static void t_29_a_failing_page_publishes_nothing(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    fake_list(call(fixture), LIST("100", ",\"continue\":\"t1\"", ITEM("a", "ua", "10", 1)));
    fake_fail(call(fixture), KUBE_UNAVAILABLE);
    assert_told(fixture, "");
    assert_int_equal(fixture->client->call_count, 0);
    fake_list(next_call(fixture), LIST("101", "", ITEM("b", "ub", "20", 2)));
    assert_told(fixture, "+b synced ");
    assert_int_equal(store_count(informer_store(fixture->informer)), 1);
}

static void t_12_an_answer_that_is_no_list_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const char *const bodies[] = {
        "<html>log in</html>",
        "",
        "{\"kind\":\"Table\",\"metadata\":{\"resourceVersion\":\"5\"},\"rows\":[]}",
        "{\"kind\":\"ThingList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" ITEM("z", "uz", "1",
                                                                                            1),
        LIST("", "", ITEM("z", "uz", "1", 1)),
    };
    struct kube_call *watch = start(fixture);
    fake_data(watch, ERROR410);
    assert_told(fixture, "gap ");
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        fake_list(next_call(fixture), bodies[i]);
    assert_told(fixture, "");
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
    fake_list(next_call(fixture), LIST("200", "", ITEM("a", "ua", "10", 1)));
    assert_told(fixture, "-b ");
}

static void t_12_a_refused_answer_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_fail(watch, KUBE_PROTOCOL); /* HTML, as the client tells it */
    assert_told(fixture, "gap ");
    watch = next_call(fixture);
    assert_non_null(strstr(watch->target, "resourceVersion=100"));
    fake_open(watch);
    assert_told(fixture, "live ");
    assert_int_equal(fixture->client->sent, 4); /* no relist, only a look at its version */
    assert_int_equal(fixture->client->calls->next->request.limit, 1);
}

static void a_request_that_cannot_be_built_is_tried_again_slowly(void **state)
{
    struct fixture *fixture = *state;
    fixture->client->refuse = true;
    informer_start(fixture->informer);
    fake_loop_pass(fixture->loop, 1700);
    assert_int_equal(fixture->client->sent, 0);
    fixture->client->refuse = false;
    fake_list(next_call(fixture), LIST("100", "", ""));
    assert_told(fixture, "synced ");
}

/* --- events ------------------------------------------------------------------------ */

static void events_change_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_true(fake_data(watch, EVENT("ADDED", ITEM("c", "uc", "101", 3))));
    assert_told(fixture, "+c ");
    assert_true(fake_data(watch, EVENT("MODIFIED", ITEM("a", "ua", "102", 9))));
    assert_told(fixture, "~a ");
    assert_int_equal(stored(fixture, "a")->value, 9);
    assert_true(fake_data(watch, EVENT("DELETED", ITEM("b", "ub", "103", 2))));
    assert_told(fixture, "-b ");
    assert_null(stored(fixture, "b"));
    assert_str(informer_rv(fixture->informer), "103");
    assert_true(metric(fixture, "koord_manager_informer_objects{kind=\"Thing\"} ") == 2);
}

static void t_54_ref_17_an_irrelevant_update_moves_on_silently(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    char event[512];
    for (int i = 0; i < 10000; i++) {
        snprintf(
            event, sizeof event,
            "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\",\"uid\":"
            "\"ua\",\"resourceVersion\":\"%d\"},\"spec\":{\"group\":\"g\",\"value\":1}}}\n",
            101 + i);
        assert_true(fake_data(watch, event));
    }
    assert_told(fixture, "");
    assert_str(informer_rv(fixture->informer), "10100");
    assert_str(kube_object_rv(&stored(fixture, "a")->object), "10100");
}

static void t_21_bookmarks_touch_nothing_but_the_resume_point(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_true(fake_data(watch, BOOKMARK("150") BOOKMARK("160")));
    assert_told(fixture, "");
    assert_str(informer_rv(fixture->informer), "160");
    fake_end(watch);
    watch = next_call(fixture);
    assert_non_null(strstr(watch->target, "resourceVersion=160"));
}

static void t_32_replays_change_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("MODIFIED", ITEM("a", "ua", "105", 5)));
    assert_told(fixture, "~a ");
    assert_true(fake_data(watch, EVENT("MODIFIED", ITEM("a", "ua", "105", 5))));   /* the same again */
    assert_true(fake_data(watch, EVENT("MODIFIED", ITEM("a", "ua", "104", 4))));   /* an older one */
    assert_true(fake_data(watch, EVENT("DELETED", ITEM("a", "ua", "103", 3))));    /* an older end */
    assert_true(fake_data(watch, EVENT("ADDED", ITEM("a", "earlier", "102", 3)))); /* an earlier life */
    assert_told(fixture, "");
    assert_int_equal(stored(fixture, "a")->value, 5);
    assert_str(informer_rv(fixture->informer), "105");
}

static void t_33_selector_exit_and_return(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("DELETED", ITEM("a", "ua", "105", 1)));
    fake_data(watch, EVENT("ADDED", ITEM("a", "ua", "106", 1)));
    assert_told(fixture, "-a +a ");
}

static void a_delete_of_something_unknown_is_no_news(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_true(fake_data(watch, EVENT("DELETED", ITEM("z", "uz", "105", 1))));
    assert_told(fixture, "");
    assert_str(informer_rv(fixture->informer), "105");
}

static void t_45_ref_11_another_incarnation_is_a_delete_and_an_add(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("MODIFIED", ITEM("a", "new", "105", 1)));
    assert_told(fixture, "-a +a ");
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
    fake_data(watch,
              EVENT("DELETED", ITEM("a", "new", "106", 1)) EVENT("ADDED", ITEM("a", "third", "107", 1)));
    assert_told(fixture, "-a +a ");
}

static void t_31_unknown_types_are_counted_and_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_true(fake_data(watch, EVENT("PATCHED", ITEM("a", "ua", "105", 9))
                                     EVENT("ADDED", ITEM("c", "uc", "106", 1))));
    assert_told(fixture, "+c ");
    assert_true(metric(fixture, "koord_manager_informer_events_total{kind=\"Thing\",type=\"UNKNOWN\"} ") ==
                1);
}

static void t_34_opaque_versions_are_taken_as_they_come(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch,
              EVENT("MODIFIED", ITEM("a", "ua", "xyz", 2)) EVENT("MODIFIED", ITEM("a", "ua", "abc", 3)));
    assert_told(fixture, "~a ~a ");
    assert_str(informer_rv(fixture->informer), "abc");
}

/* --- relists ----------------------------------------------------------------------- */

struct gone_row {
    const char *name;
    void (*happen)(struct kube_call *watch);
};

static void error_event_410(struct kube_call *watch)
{
    fake_open(watch);
    fake_data(watch, ERROR410);
}

static void error_event_without_code(struct kube_call *watch)
{
    fake_open(watch);
    fake_data(watch, EVENT("ERROR", "{\"reason\":\"Gone\"}"));
}

static void http_410(struct kube_call *watch)
{
    fake_answer(watch, 410,
                "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}");
}

static void http_410_without_status(struct kube_call *watch)
{
    fake_answer(watch, 410, "gone");
}

static const struct gone_row gone_rows[] = {
    { "t_25 ERROR event with 410", error_event_410 },
    { "t_24 ERROR event with a reason alone", error_event_without_code },
    { "t_26 HTTP 410", http_410 },
    { "t_26 HTTP 410 of a proxy", http_410_without_status },
};

static void gone__row(void **state)
{
    const struct gone_row *row = *state;
    struct fixture *fixture;
    setup((void **)&fixture);
    struct kube_call *watch = start(fixture);
    fake_loop_pass(fixture->loop, 5000);
    fake_end(watch); /* so that the next may fail before it opens */
    row->happen(next_call(fixture));
    assert_told(fixture, "gap ");
    struct kube_call *list = next_call(fixture);
    assert_int_equal(list->request.verb, KUBE_LIST);
    assert_string_equal(
        list->target,
        "GET /apis/test.example/v1/things?resourceVersion=100&resourceVersionMatch=NotOlderThan");
    fake_list(list, LIST("200", "", ITEM("a", "ua", "10", 1) "," ITEM("b", "ub", "20", 2)));
    assert_told(fixture, "");
    fake_open(call(fixture));
    assert_told(fixture, "live ");
    assert_true(metric(fixture, "koord_manager_informer_relists_total{kind=\"Thing\"} ") == 1);
    teardown((void **)&fixture);
}

/* The third shape: the stream just ends, at once and without a word. */
static void t_27_silent_ends_relist_after_three(void **state)
{
    struct fixture *fixture = *state;
    fake_end(start(fixture));
    struct kube_call *next;
    for (int i = 0; i < 2; i++) {
        next = next_call(fixture);
        assert_int_equal(next->request.verb, KUBE_WATCH);
        fake_open(next);
        fake_end(next);
    }
    next = next_call(fixture);
    assert_int_equal(next->request.verb, KUBE_LIST);
}

static void t_25_a_410_loop_is_bounded_and_ends_when_the_server_heals(void **state)
{
    struct fixture *fixture = *state;
    fake_data(start(fixture), ERROR410);
    struct mono_time begin = fixture->loop->now;
    for (int i = 0; i < 200; i++) {
        fake_list(next_call(fixture), LIST("200", "", ITEM("a", "ua", "10", 1)));
        struct kube_call *watch = call(fixture);
        if (i % 2)
            error_event_410(watch);
        else
            http_410(watch);
    }
    assert_true(mono_ms_between(begin, fixture->loop->now) >= 190 * 30 * 1000);
    fake_list(next_call(fixture), LIST("300", "", ITEM("a", "ua", "10", 1)));
    fake_open(call(fixture));
    assert_true(informer_feed(fixture->informer).live);
    assert_true(fixture->logged < 250); /* and it does not fill the log */
}

static void a_relist_shares_what_did_not_change(void **state)
{
    struct fixture *fixture = *state;
    fake_data(start(fixture), ERROR410);
    const struct thing *a = stored(fixture, "a"), *b = stored(fixture, "b");
    strbuf_clear(&fixture->told);
    fake_list(next_call(fixture), LIST("200", "", ITEM("a", "ua", "10", 1) "," ITEM("b", "ub", "150", 7)));
    assert_told(fixture, "~b ");
    assert_ptr_equal(stored(fixture, "a"), a);
    assert_ptr_not_equal(stored(fixture, "b"), b);
}

static void t_46_a_relist_delivers_deletes_first(void **state)
{
    struct fixture *fixture = *state;
    fake_data(start(fixture), ERROR410);
    strbuf_clear(&fixture->told);
    fake_list(next_call(fixture),
              LIST("200", "", ITEM("c", "uc", "150", 1) "," ITEM("b", "recreated", "160", 2)));
    assert_true(str_starts_with(strbuf_str(&fixture->told), STR("-")));
    const char *told = strbuf_cstr(&fixture->told);
    assert_non_null(strstr(told, "-a "));
    assert_true(strstr(told, "-b ") < strstr(told, "+b "));
    assert_true(strstr(told, "-a ") < strstr(told, "+b ") && strstr(told, "-a ") < strstr(told, "+c "));
    assert_int_equal(fixture->told.len, strlen("-a -b +b +c "));
}

static void ref_17_a_relist_is_silent_about_irrelevant_changes(void **state)
{
    struct fixture *fixture = *state;
    fake_data(start(fixture), ERROR410);
    strbuf_clear(&fixture->told);
    fake_list(next_call(fixture), LIST("200", "", ITEM("a", "ua", "150", 1) "," ITEM("b", "ub", "20", 2)));
    assert_told(fixture, "");
    assert_str(kube_object_rv(&stored(fixture, "a")->object), "150");
}

static void t_34_objects_without_version_are_compared_by_content(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    fake_list(call(fixture), LIST("100", "", ITEM("a", "ua", "", 1) "," ITEM("b", "ub", "", 2)));
    fake_open(call(fixture));
    fake_data(call(fixture), ERROR410);
    strbuf_clear(&fixture->told);
    fake_list(next_call(fixture), LIST("200", "", ITEM("a", "ua", "", 1) "," ITEM("b", "ub", "", 3)));
    assert_told(fixture, "~b ");
    assert_int_equal(stored(fixture, "b")->value, 3);
}

static void t_48_an_empty_relist_is_confirmed_before_anything_is_deleted(void **state)
{
    struct fixture *fixture = *state;
    fake_data(start(fixture), ERROR410);
    strbuf_clear(&fixture->told);
    fake_list(next_call(fixture), LIST("200", "", ""));
    assert_told(fixture, "");
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
    struct kube_call *again = next_call(fixture);
    assert_string_equal(again->target, "GET /apis/test.example/v1/things?limit=500");
    fake_list(again, LIST("201", "", ""));
    assert_int_equal(fixture->told.len, strlen("-a -b "));
    assert_int_equal(store_count(informer_store(fixture->informer)), 0);
}

static void t_38_a_bookmark_in_the_past_relists_the_most_recent(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_false(fake_data(watch, BOOKMARK("50")));
    assert_told(fixture, "gap ");
    struct kube_call *list = next_call(fixture);
    assert_string_equal(list->target, "GET /apis/test.example/v1/things?limit=500");
    fake_list(list, LIST("50", "", ITEM("a", "ua", "5", 7)));
    assert_told(fixture, "-b ~a ");
    assert_int_equal(stored(fixture, "a")->value, 7);
    assert_str(informer_rv(fixture->informer), "50");
}

static void t_09_a_bad_item_costs_only_itself(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    fake_list(call(fixture),
              LIST("100", "", "{\"metadata\":{}},7,{\"metadata\":{\"name\":5}}," ITEM("a", "ua", "10", 1)));
    assert_told(fixture, "+a synced ");
    assert_true(metric(fixture, "koord_manager_informer_bad_objects_total{kind=\"Thing\"} ") == 3);
}

/* --- bad events -------------------------------------------------------------------- */

#define NAMELESS(rv_) EVENT("MODIFIED", "{\"metadata\":{\"resourceVersion\":\"" rv_ "\"}}")

static void t_23_wat_9_a_bad_event_is_tried_twice_then_passed_by_a_relist(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("ADDED", ITEM("c", "uc", "101", 3)));
    assert_false(fake_data(watch, NAMELESS("102") EVENT("ADDED", ITEM("d", "ud", "103", 3))));
    assert_told(fixture, "+c gap ");
    assert_str(informer_rv(fixture->informer), "101"); /* not advanced past it */
    watch = next_call(fixture);
    assert_int_equal(watch->request.verb, KUBE_WATCH);
    assert_str(watch->request.resource_version, "101");
    fake_open(watch);
    assert_false(fake_data(watch, NAMELESS("102")));
    struct kube_call *list = next_call(fixture);
    assert_int_equal(list->request.verb, KUBE_LIST);
    strbuf_clear(&fixture->told);
    fake_list(list,
              LIST("110", "", "{\"metadata\":{}}," ITEM("a", "ua", "10", 1) "," ITEM("d", "ud", "103", 3)));
    assert_int_equal(fixture->told.len, strlen("-b -c +d "));
    watch = call(fixture);
    fake_open(watch);
    /* From now on it does not stop the others. */
    strbuf_clear(&fixture->told);
    assert_true(
        fake_data(watch, NAMELESS("111") EVENT("MODIFIED", ITEM("a", "ua", "112", 6)) NAMELESS("113")));
    assert_told(fixture, "~a ");
    assert_true(informer_feed(fixture->informer).live);
}

static void t_05_broken_json_keeps_the_resume_point(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_false(fake_data(watch, EVENT("ADDED", ITEM("c", "uc", "101", 3)) "}{"));
    assert_told(fixture, "+c gap ");
    watch = next_call(fixture);
    assert_int_equal(watch->request.verb, KUBE_WATCH);
    assert_str(watch->request.resource_version, "101");
}

static void t_07_a_stream_cut_inside_an_event_drops_the_part(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_true(fake_data(watch, EVENT("ADDED", ITEM("c", "uc", "101", 3)) "{\"type\":\"ADDED\",\"obj"));
    fake_end(watch);
    assert_told(fixture, "+c gap ");
    watch = next_call(fixture);
    assert_int_equal(watch->request.verb, KUBE_WATCH);
    assert_str(watch->request.resource_version, "101");
    fake_open(watch);
    assert_true(fake_data(watch, EVENT("ADDED", ITEM("d", "ud", "102", 3))));
    assert_told(fixture, "live +d ");
}

static void t_24_nothing_counts_after_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    assert_false(
        fake_data(watch, EVENT("ERROR", "{\"status\":\"Failure\",\"code\":500,\"reason\":\"InternalError\"}")
                             EVENT("ADDED", ITEM("c", "uc", "101", 3))));
    assert_told(fixture, "gap ");
    assert_null(stored(fixture, "c"));
    assert_str(next_call(fixture)->request.resource_version, "100");
}

static void t_28_an_error_event_may_ask_for_patience(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("ERROR", "{\"status\":\"Failure\",\"code\":429,\"reason\":\"TooManyRequests\","
                                    "\"details\":{\"retryAfterSeconds\":20}}"));
    fake_loop_pass(fixture->loop, 19999);
    assert_int_equal(fixture->client->call_count, 0);
    watch = next_call(fixture);
    assert_int_equal(watch->request.verb, KUBE_WATCH);
    assert_str(watch->request.resource_version, "100");
}

/* --- the feed ---------------------------------------------------------------------- */

static void a_clean_end_leaves_the_feed_live(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    for (int i = 0; i < 5; i++) {
        fake_loop_pass(fixture->loop, 5000);
        fake_end(watch);
        watch = next_call(fixture);
        fake_open(watch);
    }
    assert_told(fixture, "");
    assert_true(informer_feed(fixture->informer).live);
}

static void an_outage_is_a_gap_of_its_length(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    struct mono_time begin = fixture->loop->now;
    fake_fail(watch, KUBE_TRANSPORT);
    assert_told(fixture, "gap ");
    while (mono_ms_between(begin, fixture->loop->now) < 300 * 1000)
        fake_fail(next_call(fixture), KUBE_UNREACHABLE);
    assert_told(fixture, "");
    watch = next_call(fixture);
    fake_open(watch);
    assert_told(fixture, "live ");
    assert_int_equal(fixture->feed.gap_ms, mono_ms_between(begin, fixture->loop->now));
    assert_int_equal(fixture->feed.live_since.ns, fixture->loop->now.ns);
    assert_true(fixture->logged <= 3); /* trouble once, recovery once */
}

static void a_gap_begins_when_the_stream_ended_not_when_the_next_one_failed(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_loop_pass(fixture->loop, 5000);
    struct mono_time end = fixture->loop->now;
    fake_end(watch);
    watch = next_call(fixture);
    fake_loop_pass(fixture->loop, 30 * 1000); /* the server does not answer */
    fake_fail(watch, KUBE_TRANSPORT);
    assert_told(fixture, "gap ");
    fake_open(next_call(fixture));
    assert_int_equal(fixture->feed.gap_ms, mono_ms_between(end, fixture->loop->now));
}

static void t_13_wat_11_a_stream_that_falls_silent_is_cut(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_loop_pass(fixture->loop, 60 * 1000);
    fake_data(watch, BOOKMARK("150"));
    for (int i = 0; i < 3; i++) { /* bookmarks each minute: healthy */
        fake_loop_pass(fixture->loop, 60 * 1000);
        assert_int_equal(fixture->client->call_count, 1);
        fake_data(watch, BOOKMARK("151"));
    }
    fake_loop_pass(fixture->loop, 239 * 1000);
    assert_told(fixture, "");
    assert_int_equal(fixture->client->sent, 2);
    fake_loop_pass(fixture->loop, 2 * 1000);
    assert_told(fixture, "gap ");
    watch = next_call(fixture);
    assert_int_equal(watch->request.verb, KUBE_WATCH);
    assert_str(watch->request.resource_version, "151");
}

static void t_20_quiet_without_bookmarks_is_not_silence(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_data(watch, EVENT("ADDED", ITEM("c", "uc", "101", 3)));
    strbuf_clear(&fixture->told);
    fake_loop_pass(fixture->loop, 600 * 1000); /* the client's own limit is longer than the server's */
    assert_told(fixture, "");
    assert_int_equal(fixture->client->call_count, 1);
}

/* The watch is open after trouble, and beside it stands the question what the server's
 * present version is. */
static struct kube_call *reopened_with_probe(struct fixture *fixture, struct kube_call *watch)
{
    fake_data(watch, BOOKMARK("10000"));
    fake_fail(watch, KUBE_TRANSPORT); /* it is being restored */
    watch = next_call(fixture);
    fake_open(watch); /* and accepts our future version */
    assert_int_equal(fixture->client->call_count, 2);
    struct kube_call *probe = fixture->client->calls->next;
    assert_string_equal(probe->target, "GET /apis/test.example/v1/things?limit=1");
    strbuf_clear(&fixture->told);
    return probe;
}

static void t_38_ref_16_a_rewound_server_is_found_out_at_once(void **state)
{
    struct fixture *fixture = *state;
    fake_answer(reopened_with_probe(fixture, start(fixture)), 200,
                LIST("90", ",\"continue\":\"t1\"", ITEM("a", "ua", "9", 4)));
    assert_told(fixture, "gap ");
    struct kube_call *list = next_call(fixture);
    assert_string_equal(list->target, "GET /apis/test.example/v1/things?limit=500");
    fake_list(list, LIST("90", "", ITEM("a", "ua", "9", 4)));
    assert_told(fixture, "-b ~a ");
    assert_str(call(fixture)->request.resource_version, "90");
}

static void ref_16_a_server_that_went_on_is_believed(void **state)
{
    struct fixture *fixture = *state;
    static const char *const answers[] = { LIST("10000", "", ""), LIST("12000", "", ""),
                                           LIST("opaque", "", ""), "<html>" };
    struct kube_call *watch = start(fixture);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        fake_answer(reopened_with_probe(fixture, watch), 200, answers[i]);
        assert_told(fixture, "");
        watch = call(fixture); /* the same watch goes on */
        assert_int_equal(watch->request.verb, KUBE_WATCH);
    }
    assert_true(informer_feed(fixture->informer).live);
}

static void ref_16_a_clean_end_raises_no_doubt(void **state)
{
    struct fixture *fixture = *state;
    struct kube_call *watch = start(fixture);
    fake_loop_pass(fixture->loop, 300 * 1000);
    fake_end(watch);
    fake_open(next_call(fixture));
    assert_int_equal(fixture->client->call_count, 1);
}

static void ref_16_a_question_ends_with_its_watch_and_is_asked_again(void **state)
{
    struct fixture *fixture = *state;
    reopened_with_probe(fixture, start(fixture));
    fake_fail(fixture->client->calls, KUBE_TRANSPORT);
    assert_int_equal(fixture->client->call_count, 0);
    fake_open(next_call(fixture));
    assert_int_equal(fixture->client->call_count, 2);
}

/* Should the question stay without an answer, silence still gives it away. */
static void t_38_a_rewound_server_that_says_nothing_is_found_out(void **state)
{
    struct fixture *fixture = *state;
    fake_fail(reopened_with_probe(fixture, start(fixture)), KUBE_UNAVAILABLE);
    struct kube_call *watch = call(fixture);
    fake_loop_pass(fixture->loop, 400 * 1000);
    fake_end(watch);
    struct kube_call *list = next_call(fixture);
    assert_string_equal(list->target, "GET /apis/test.example/v1/things?limit=500");
    strbuf_clear(&fixture->told);
    fake_list(list, LIST("90", "", ITEM("a", "ua", "9", 4)));
    assert_told(fixture, "-b ~a ");
    assert_str(call(fixture)->request.resource_version, "90");
}

/* --- odds and ends ----------------------------------------------------------------- */

static void describe_tells_state_and_trouble(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024);
    informer_start(fixture->informer);
    informer_describe(fixture->informer, &text);
    assert_string_equal(strbuf_cstr(&text), "Thing: listing");
    fake_fail(call(fixture), KUBE_FORBIDDEN);
    strbuf_clear(&text);
    informer_describe(fixture->informer, &text);
    assert_string_equal(strbuf_cstr(&text), "Thing: waiting (list: forbidden)");
    fake_list(next_call(fixture), LIST("100", "", ""));
    fake_open(call(fixture));
    strbuf_clear(&text);
    informer_describe(fixture->informer, &text);
    assert_string_equal(strbuf_cstr(&text), "Thing: watching");
}

static void t_30_403_and_404_keep_the_store(void **state)
{
    struct fixture *fixture = *state;
    static const int codes[] = { 403, 404, 401, 500, 503, 422 };
    fake_fail(start(fixture), KUBE_TRANSPORT);
    strbuf_clear(&fixture->told);
    for (int i = 0; i < 30; i++)
        fake_answer(next_call(fixture), codes[i % 6], "no");
    assert_told(fixture, "");
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
    assert_true(informer_feed(fixture->informer).synced);
}

static void t_90_freed_in_every_state(void **state)
{
    struct fixture *fixture = *state;
    (void)fixture; /* teardown frees it: here before the start */
    for (int stage = 0; stage < 6; stage++) {
        struct fixture *other;
        setup((void **)&other);
        if (stage > 0)
            informer_start(other->informer);
        if (stage == 2)
            fake_data(call(other), "{\"kind\":\"ThingList\",\"items\":[" ITEM("a", "ua", "10", 1));
        if (stage == 3)
            fake_fail(call(other), KUBE_UNREACHABLE);
        if (stage > 3)
            fake_list(call(other), LIST("100", "", ITEM("a", "ua", "10", 1)));
        if (stage == 5) {
            fake_open(call(other));
            fake_data(call(other), BOOKMARK("101") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{");
        }
        assert_int_equal(teardown((void **)&other), 0);
    }
    log_capture(count_log, fixture);
    informer_free(NULL);
}

/* --- any sequence of trouble ------------------------------------------------------- */

/* A server that always has the same two objects and otherwise does what chance says: the
 * informer always goes on, never sends two requests, and ends up right. */
static void any_trouble_ends_with_the_truth(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct random random = { .state = seed };
        struct fixture *other;
        setup((void **)&other);
        informer_start(other->informer);
        for (int i = 0; i < 300; i++) {
            struct kube_call *next = next_call(other);
            int64_t what = random_between(&random, 0, 9);
            if (what < 3) {
                fake_fail(next, (enum kube_failure)random_between(&random, KUBE_NOT_FOUND, KUBE_TRANSPORT));
            } else if (next->request.verb == KUBE_LIST) {
                fake_list(next, what < 4   ? "<html>"
                                : what < 5 ? LIST("100", "", "")
                                : what < 6
                                    ? LIST("100", ",\"continue\":\"t\"", ITEM("a", "ua", "10", 1))
                                    : LIST("100", "", ITEM("a", "ua", "10", 1) "," ITEM("b", "ub", "20", 2)));
            } else {
                static const char *const events[] = {
                    "",         ERROR410,        NAMELESS("101"),
                    "}",        BOOKMARK("101"), EVENT("MODIFIED", ITEM("a", "ua", "102", 5)),
                    "{\"type\""
                };
                fake_open(next);
                fake_loop_pass(other->loop, random_between(&random, 0, 100000));
                if (other->client->calls == next &&
                    fake_data(next, events[random_between(&random, 0, ARRAY_LEN(events) - 1)]))
                    fake_end(next);
            }
        }
        for (;;) { /* the server is well again, and has b no more */
            struct kube_call *next = next_call(other);
            if (next->request.verb == KUBE_LIST) {
                fake_list(next, LIST("900", "", ITEM("a", "ua", "800", 9)));
                break;
            }
            fake_open(next);
            fake_data(next, ERROR410);
        }
        assert_int_equal(store_count(informer_store(other->informer)), 1);
        assert_int_equal(stored(other, "a")->value, 9);
        fake_open(call(other));
        assert_true(informer_feed(other->informer).live);
        assert_int_equal(teardown((void **)&other), 0);
    }
    log_capture(count_log, fixture);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest plain[] = {
        TEST(a_list_then_a_watch),
        TEST(lst_9_pages_are_installed_together),
        TEST(t_29_a_failing_page_publishes_nothing),
        TEST(t_12_an_answer_that_is_no_list_changes_nothing),
        TEST(t_12_a_refused_answer_changes_nothing),
        TEST(a_request_that_cannot_be_built_is_tried_again_slowly),
        TEST(events_change_the_store),
        TEST(t_54_ref_17_an_irrelevant_update_moves_on_silently),
        TEST(t_21_bookmarks_touch_nothing_but_the_resume_point),
        TEST(t_32_replays_change_nothing),
        TEST(t_33_selector_exit_and_return),
        TEST(a_delete_of_something_unknown_is_no_news),
        TEST(t_45_ref_11_another_incarnation_is_a_delete_and_an_add),
        TEST(t_31_unknown_types_are_counted_and_skipped),
        TEST(t_34_opaque_versions_are_taken_as_they_come),
        TEST(t_27_silent_ends_relist_after_three),
        TEST(t_25_a_410_loop_is_bounded_and_ends_when_the_server_heals),
        TEST(a_relist_shares_what_did_not_change),
        TEST(t_46_a_relist_delivers_deletes_first),
        TEST(ref_17_a_relist_is_silent_about_irrelevant_changes),
        TEST(t_34_objects_without_version_are_compared_by_content),
        TEST(t_48_an_empty_relist_is_confirmed_before_anything_is_deleted),
        TEST(t_38_a_bookmark_in_the_past_relists_the_most_recent),
        TEST(t_09_a_bad_item_costs_only_itself),
        TEST(t_23_wat_9_a_bad_event_is_tried_twice_then_passed_by_a_relist),
        TEST(t_05_broken_json_keeps_the_resume_point),
        TEST(t_07_a_stream_cut_inside_an_event_drops_the_part),
        TEST(t_24_nothing_counts_after_an_error),
        TEST(t_28_an_error_event_may_ask_for_patience),
        TEST(a_clean_end_leaves_the_feed_live),
        TEST(an_outage_is_a_gap_of_its_length),
        TEST(a_gap_begins_when_the_stream_ended_not_when_the_next_one_failed),
        TEST(t_13_wat_11_a_stream_that_falls_silent_is_cut),
        TEST(t_20_quiet_without_bookmarks_is_not_silence),
        TEST(t_38_ref_16_a_rewound_server_is_found_out_at_once),
        TEST(ref_16_a_server_that_went_on_is_believed),
        TEST(ref_16_a_clean_end_raises_no_doubt),
        TEST(ref_16_a_question_ends_with_its_watch_and_is_asked_again),
        TEST(t_38_a_rewound_server_that_says_nothing_is_found_out),
        TEST(describe_tells_state_and_trouble),
        TEST(t_30_403_and_404_keep_the_store),
        TEST(t_90_freed_in_every_state),
        TEST(any_trouble_ends_with_the_truth),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(gone_rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(gone_rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ gone_rows[i].name, gone__row, NULL, NULL, (void *)&gone_rows[i] };
    return cmocka_run_group_tests_name("kube/informer", tests, NULL, NULL);
}
