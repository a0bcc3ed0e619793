/* A server in trouble: what has to be written is written, once, and nothing else. */
#include <signal.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODES 12
#define NEEDED (4 * NODES) /* create and change of the spec, two values of the capacity */

/* --- work to be done in spite of everything ------------------------------------------------ */

static void begin(struct e2e *e2e)
{
    e2e_add_nodes(e2e, NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
}

static void report_and_edit(struct e2e *e2e)
{
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'midCPUThresholdPercent':10}");
    EVENTUALLY(e2e, e2e_interval_count(e2e, 30) == NODES && e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
}

/* `spoiled`: how many writes may have been asked for in vain, or twice because the first
 * answer was lost. */
static void assert_done_and_no_more(struct e2e *e2e, int64_t spoiled)
{
    e2e_settle(e2e);
    assert_true(e2e_is_as_planned(e2e));
    struct e2e_requests writes = e2e_writes(e2e, 0);
    if ((int64_t)writes.count > NEEDED + spoiled) {
        e2e_print_requests(writes);
        fail_msg("%zu writes for %d that were needed and %lld spoiled ones", writes.count, NEEDED,
                 (long long)spoiled);
    }
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 200);
}

/* --- rows ------------------------------------------------------------------------------------ */

struct trouble {
    const char *faults[4]; /* what the server does, JSON with ' for " */
    bool answers_lost;     /* executed, but nobody was told */
    const char *page_size; /* NULL: the manager's own */
};

static void works_under(struct e2e *e2e)
{
    const struct trouble *trouble = e2e->row;
    int64_t ids[ARRAY_LEN(trouble->faults)] = { 0 }, hits = 0;
    e2e_serve(e2e);
    e2e_need_control(e2e);
    begin(e2e);
    for (size_t i = 0; i < ARRAY_LEN(ids) && trouble->faults[i]; i++)
        ids[i] = e2e_fault(e2e, "%s", trouble->faults[i]);
    e2e_manage(e2e, "--list-page-size", trouble->page_size ? trouble->page_size : "500");
    report_and_edit(e2e);
    for (size_t i = 0; i < ARRAY_LEN(ids) && ids[i]; i++) {
        assert_true(e2e_fault_hits(e2e, ids[i]) > 0); /* it did happen */
        hits += e2e_fault_hits(e2e, ids[i]);
    }
    e2e_clear_faults(e2e);
    assert_done_and_no_more(e2e, hits);
    if (!trouble->answers_lost)
        e2e_assert_no_repeat(e2e_writes(e2e, 0));
}

#define STATUS_PATCH "'method':'PATCH','path':'nodes/[^/]+/status$'"
#define SPEC_PATCH "'method':'PATCH','path':'nodemetrics/[^/]+$'"
#define CREATE "'method':'POST','path':'/nodemetrics$'"
#define LISTS "'method':'GET','path':'(nodes|nodemetrics|pods|configmaps)[?].*limit='"
#define WATCHES "'method':'GET','path':'watch=true'"
#define HTML "'code':200,'noStatus':true,'contentType':'text/html','body':'<html>sorry</html>'"

static const struct trouble conflicts = {
    .faults = { "{" STATUS_PATCH ",'count':20,'code':409}", "{" SPEC_PATCH ",'count':10,'code':409}",
                "{" CREATE ",'count':10,'code':409,'reason':'Conflict'}" }
};
static const struct trouble throttled = {
    .faults = { "{" STATUS_PATCH ",'skip':3,'count':1,'code':429,'retryAfter':1}",
                "{" CREATE ",'skip':5,'count':1,'code':429,'retryAfter':1}" }
};
static const struct trouble throttled_wordless = { .faults = { "{" STATUS_PATCH ",'count':2,'code':429}" } };
static const struct trouble failing = { .faults = { "{" STATUS_PATCH ",'count':20,'code':500}",
                                                    "{" SPEC_PATCH ",'skip':2,'count':10,'code':503}",
                                                    "{" CREATE ",'count':10,'code':504}" } };
static const struct trouble html_for_writes = { .faults = { "{" STATUS_PATCH ",'count':10," HTML "}",
                                                            "{" CREATE ",'skip':2,'count':5," HTML "}" },
                                                .answers_lost = true };
static const struct trouble html_for_reads = { .faults = { "{" LISTS ",'count':4," HTML "}",
                                                           "{" WATCHES ",'count':4," HTML "}" } };
static const struct trouble html_errors = {
    .faults = { "{" STATUS_PATCH
                ",'count':10,'code':502,'noStatus':true,'contentType':'text/html','body':'<html>'}" }
};
static const struct trouble dropped = { .faults = { "{" STATUS_PATCH ",'count':10,'code':0}",
                                                    "{" CREATE ",'count':5,'code':0}" } };
static const struct trouble answers_lost = { .faults = { "{" STATUS_PATCH ",'count':10,'cutAfter':0}",
                                                         "{" SPEC_PATCH ",'skip':1,'count':10,'cutAfter':20}",
                                                         "{" CREATE ",'count':5,'cutAfter':0}" },
                                             .answers_lost = true };
static const struct trouble slow = {
    .faults = { "{" STATUS_PATCH ",'count':-1,'delayMs':20}", "{" CREATE ",'count':-1,'delayMs':20}",
                "{" WATCHES ",'count':-1,'dribbleBytes':997,'dribbleIntervalMs':1}",
                "{" LISTS ",'count':-1,'dribbleBytes':211,'dribbleIntervalMs':1}" }
};
static const struct trouble watches_cut = { .faults = { "{" WATCHES
                                                        ",'skip':1,'count':4,'cutAfter':1500}" } };
static const struct trouble lists_cut = { .faults = { "{" LISTS ",'count':4,'cutAfter':400}" } };
static const struct trouble watches_refused = { .faults = { "{" WATCHES ",'count':4,'code':0}" } };
static const struct trouble events_twice = {
    .faults = { "{" WATCHES ",'count':-1,'duplicateEvents':true,'dropBookmarks':true}" }
};
static const struct trouble error_events = {
    .faults = { "{" WATCHES ",'skip':1,'count':3,'errorCode':500,'errorAfter':3}" }
};
static const struct trouble gone_by_http = { .faults = { "{" WATCHES
                                                         ",'count':5,'code':410,'reason':'Expired'}" } };
static const struct trouble gone_without_reason = {
    .faults = { "{" WATCHES ",'count':3,'code':410,'noStatus':true,'body':'gone'}" }
};
static const struct trouble gone_by_event = {
    .faults = { "{" WATCHES ",'count':4,'errorCode':410,'errorAfter':0}",
                "{" WATCHES ",'count':2,'errorCode':410,'errorAfter':6}" }
};
static const struct trouble gone_between_pages = {
    .faults = { "{'method':'GET','path':'continue=','skip':1,'count':2,'code':410,'reason':'Expired'}" },
    .page_size = "5"
};
static const struct trouble everything = {
    .faults = { "{" STATUS_PATCH ",'skip':2,'count':6,'code':500}", "{" CREATE ",'count':4,'cutAfter':0}",
                "{" WATCHES ",'skip':2,'count':3,'cutAfter':1000}", "{" LISTS ",'count':1,'code':503}" },
    .answers_lost = true
};

/* --- watches that go, history that is forgotten --------------------------------------------- */

static void history_forgotten_while_it_was_away(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    begin(e2e);
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    e2e_settle(e2e);
    program_signal(e2e->manager, SIGSTOP);
    e2e_report_all(e2e, NODES);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "late" });
    e2e_control(e2e, "cut-watches");
    e2e_control(e2e, "compact");
    program_signal(e2e->manager, SIGCONT);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    EVENTUALLY(e2e, e2e_nodemetric(e2e, "late"));
    e2e_settle(e2e);
    e2e_assert_no_repeat(e2e_writes(e2e, 0));
    e2e_assert_writes(e2e, 0, 2 * NODES + 1);
}

static void watches_end_again_and_again_during_edits(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    begin(e2e);
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    e2e_report_all(e2e, NODES);
    for (int percent = 5; percent <= 20; percent += 5) {
        e2e_control(e2e, percent % 2 ? "cut-watches" : "end-watches");
        e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':%d}", percent);
        e2e_control(e2e, "bookmark");
        EVENTUALLY(e2e, e2e_mid_count(e2e, 160 * percent, 10 * GIB) == NODES);
    }
    e2e_settle(e2e);
    assert_true(e2e_is_as_planned(e2e));
    struct e2e_requests patches = e2e_select(e2e, e2e_writes(e2e, 0), "PATCH", NODE_STATUS_PATH);
    e2e_assert_no_repeat(patches);
    assert_true(patches.count <= 5 * NODES);
}

static void a_server_that_pauses_is_waited_for(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    begin(e2e);
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == NODES);
    e2e_report_all(e2e, NODES);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == NODES);
    e2e_settle(e2e);
    /* The edit is made, but its news does not get through at first. */
    e2e_set_policy(e2e, "{'enable':true,'midCPUThresholdPercent':10}");
    e2e_control(e2e, "pause");
    assert_int_equal(e2e_health_code(e2e, "/healthz"), 200);
    e2e_control(e2e, "resume");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 1600, 10 * GIB) == NODES);
    e2e_settle(e2e);
    e2e_assert_no_repeat(e2e_writes(e2e, 0));
}

static const struct e2e_test tests[] = {
    E2E_ROW("409 to every kind of write", works_under, conflicts),
    E2E_ROW("429 with Retry-After", works_under, throttled),
    E2E_ROW("429 without a word", works_under, throttled_wordless),
    E2E_ROW("500, 503 and 504", works_under, failing),
    E2E_ROW("HTML instead of an answer to writes", works_under, html_for_writes),
    E2E_ROW("HTML instead of lists and watches", works_under, html_for_reads),
    E2E_ROW("HTML with an error code", works_under, html_errors),
    E2E_ROW("connections dropped before the write", works_under, dropped),
    E2E_ROW("written, but the answer is lost", works_under, answers_lost),
    E2E_ROW("everything slow and in small pieces", works_under, slow),
    E2E_ROW("watches cut within an event", works_under, watches_cut),
    E2E_ROW("lists cut within an object", works_under, lists_cut),
    E2E_ROW("watches refused", works_under, watches_refused),
    E2E_ROW("events sent twice, no bookmarks", works_under, events_twice),
    E2E_ROW("500 as an event", works_under, error_events),
    E2E_ROW("410 as the answer to a watch", works_under, gone_by_http),
    E2E_ROW("410 without a Status", works_under, gone_without_reason),
    E2E_ROW("410 as an event", works_under, gone_by_event),
    E2E_ROW("410 between the pages of a list", works_under, gone_between_pages),
    E2E_ROW("all kinds of trouble at once", works_under, everything),
    E2E_TEST("history forgotten while it was away", history_forgotten_while_it_was_away),
    E2E_TEST("watches end again and again during edits", watches_end_again_and_again_during_edits),
    E2E_TEST("a server that pauses is waited for", a_server_that_pauses_is_waited_for),
};

int main(void)
{
    return e2e_main("e2e/faults", tests, ARRAY_LEN(tests));
}
