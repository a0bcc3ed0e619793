#include "core_support.h"
#include "kube/reflector.h"

/* --- a virtual informer ------------------------------------------------------------ */

/* Time is a number; waiting adds to it. */
struct sim {
    struct reflector reflector;
    int64_t now;
    struct reflector_action action;
};

static void sim_init(struct sim *sim, uint64_t seed)
{
    *sim = (struct sim){ .now = 1000000 };
    reflector_init(&sim->reflector, &(struct reflector_options){ .page_size = 100, .seed = seed });
}

static void sim_done(struct sim *sim)
{
    reflector_done(&sim->reflector);
}

static void start(struct sim *sim)
{
    sim->action = reflector_start(&sim->reflector, at_ms(sim->now));
}

/* Lets a wait pass. */
static void pass(struct sim *sim)
{
    assert_int_equal(sim->action.what, REFLECTOR_DO_WAIT);
    assert_int_equal(sim->reflector.state, REFLECTOR_WAITING);
    sim->now += sim->action.wait_ms;
    sim->action = reflector_timer(&sim->reflector, at_ms(sim->now));
}

static void page(struct sim *sim, const char *rv, const char *token, size_t known, size_t collected)
{
    assert_int_equal(sim->action.what, REFLECTOR_DO_LIST);
    sim->action = reflector_page(&sim->reflector, str_c(rv), str_c(token), known, collected);
}

static void fail_with(struct sim *sim, struct reflector_failure failure)
{
    if (failure.retry_after_ms == 0)
        failure.retry_after_ms = -1;
    sim->action = reflector_failed(&sim->reflector, at_ms(sim->now), &failure);
}

static void failed(struct sim *sim, enum kube_failure failure)
{
    fail_with(sim, (struct reflector_failure){ .failure = failure });
}

static void opened(struct sim *sim)
{
    assert_int_equal(sim->action.what, REFLECTOR_DO_WATCH);
    reflector_opened(&sim->reflector, at_ms(sim->now));
    assert_int_equal(sim->reflector.state, REFLECTOR_WATCHING);
}

static bool event(struct sim *sim, const char *rv)
{
    return reflector_event(&sim->reflector, at_ms(sim->now), str_c(rv), false);
}

static bool bookmark(struct sim *sim, const char *rv)
{
    return reflector_event(&sim->reflector, at_ms(sim->now), str_c(rv), true);
}

static struct kube_request ask(struct sim *sim)
{
    struct kube_request request = { .kind = &thing_kind };
    reflector_fill_request(&sim->reflector, &request);
    return request;
}

static const char *rv(const struct sim *sim)
{
    return strbuf_cstr(&sim->reflector.rv);
}

/* Synced at 100, watch open. */
static void synced(struct sim *sim, uint64_t seed)
{
    sim_init(sim, seed);
    start(sim);
    page(sim, "100", "", 0, 3);
    opened(sim);
}

static void assert_rewatch(struct sim *sim, int64_t low_ms, int64_t high_ms)
{
    assert_int_equal(sim->action.what, REFLECTOR_DO_WAIT);
    assert_int_equal(sim->reflector.after_wait, REFLECTOR_OPENING);
    assert_between(sim->action.wait_ms, low_ms, high_ms);
}

static void assert_relist(struct sim *sim, int64_t low_ms, int64_t high_ms)
{
    assert_int_equal(sim->action.what, REFLECTOR_DO_WAIT);
    assert_int_equal(sim->reflector.after_wait, REFLECTOR_LISTING);
    assert_between(sim->action.wait_ms, low_ms, high_ms);
}

static void assert_asks_consistent(struct sim *sim)
{
    struct kube_request request = ask(sim);
    assert_int_equal(request.verb, KUBE_LIST);
    assert_false(request.has_resource_version);
    assert_null(request.resource_version_match);
    assert_int_equal(request.limit, 100);
}

static void assert_asks_not_older_than(struct sim *sim, const char *want)
{
    struct kube_request request = ask(sim);
    assert_int_equal(request.verb, KUBE_LIST);
    assert_true(request.has_resource_version);
    assert_str(request.resource_version, want);
    assert_string_equal(request.resource_version_match, "NotOlderThan");
    assert_int_equal(request.limit, 0);
}

/* --- list -------------------------------------------------------------------------- */

static void first_list_is_consistent_and_paged(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    assert_int_equal(sim.action.what, REFLECTOR_DO_LIST);
    assert_true(sim.action.first_page);
    assert_false(sim.action.swap);
    assert_asks_consistent(&sim);
    assert_false(sim.reflector.synced);
    sim_done(&sim);
}

static void page_size_defaults_to_500(void **state)
{
    (void)state;
    struct reflector reflector;
    reflector_init(&reflector, &(struct reflector_options){ 0 });
    reflector_start(&reflector, at_ms(0));
    struct kube_request request = { .kind = &thing_kind };
    reflector_fill_request(&reflector, &request);
    assert_int_equal(request.limit, 500);
    reflector_done(&reflector);
}

static void lst_2_pages_follow_the_token_without_resource_version(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "next", 0, 50);
    assert_int_equal(sim.action.what, REFLECTOR_DO_LIST);
    assert_false(sim.action.first_page);
    struct kube_request request = ask(&sim);
    assert_str(request.continue_token, "next");
    assert_int_equal(request.limit, 100);
    assert_false(request.has_resource_version);
    assert_null(request.resource_version_match);
    sim_done(&sim);
}

static void lst_3_an_empty_page_with_a_token_goes_on(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "a", 0, 0);
    page(&sim, "100", "b", 0, 0);
    page(&sim, "100", "", 0, 1);
    assert_int_equal(sim.action.what, REFLECTOR_DO_WATCH);
    assert_true(sim.action.swap);
    sim_done(&sim);
}

static void lst_9_only_the_last_page_swaps_and_watches_from_the_lists_version(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "a", 0, 1);
    assert_false(sim.action.swap);
    page(&sim, "100", "", 0, 2);
    assert_true(sim.action.swap);
    assert_int_equal(sim.action.what, REFLECTOR_DO_WATCH);
    assert_int_equal(sim.reflector.state, REFLECTOR_OPENING);
    assert_true(sim.reflector.synced);
    struct kube_request request = ask(&sim);
    assert_int_equal(request.verb, KUBE_WATCH);
    assert_true(request.bookmarks);
    assert_true(request.has_resource_version);
    assert_str(request.resource_version, "100");
    assert_null(request.resource_version_match);
    assert_int_equal(request.limit, 0);
    sim_done(&sim);
}

static void t_44_pages_of_different_versions_watch_from_the_first(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "a", 0, 1);
    page(&sim, "107", "", 0, 2);
    assert_string_equal(rv(&sim), "100");
    sim_done(&sim);
}

static void wat_4_timeouts_are_spread_over_300_to_599_s(void **state)
{
    (void)state;
    int64_t low = INT64_MAX, high = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct sim sim;
        sim_init(&sim, seed);
        start(&sim);
        page(&sim, "100", "", 0, 2);
        int64_t timeout = ask(&sim).timeout_s;
        assert_between(timeout, 300, 599);
        low = min_i64(low, timeout);
        high = max_i64(high, timeout);
        sim_done(&sim);
    }
    assert_true(low < 310 && high > 590);
}

static void t_43_lst_8_an_expired_token_starts_over_then_unpaged(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "a", 0, 50);
    failed(&sim, KUBE_EXPIRED);
    assert_relist(&sim, 0, 2000);
    pass(&sim);
    assert_true(sim.action.first_page);
    assert_asks_consistent(&sim);
    page(&sim, "105", "b", 0, 50);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    assert_true(sim.action.first_page);
    struct kube_request request = ask(&sim);
    assert_int_equal(request.limit, 0);
    assert_false(request.has_resource_version);
    page(&sim, "110", "", 0, 80);
    assert_true(sim.action.swap);
    assert_string_equal(rv(&sim), "110");
    sim_done(&sim);
}

static void a_token_refused_as_invalid_ends_in_an_unpaged_list(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    for (int i = 0; i < 2; i++) {
        page(&sim, "100", "a", 0, 50);
        failed(&sim, KUBE_INVALID);
        pass(&sim);
        assert_true(sim.action.first_page);
    }
    assert_int_equal(ask(&sim).limit, 0);
    sim_done(&sim);
}

static void a_token_that_does_not_move_is_left(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", "a", 0, 50);
    page(&sim, "100", "a", 0, 100);
    assert_relist(&sim, 800, 1599);
    pass(&sim);
    assert_true(sim.action.first_page);
    assert_int_equal(ask(&sim).limit, 0);
    sim_done(&sim);
}

static void t_42_a_token_of_64_kb_is_followed_a_longer_one_is_not(void **state)
{
    (void)state;
    char *token = mem_alloc(64 * 1024 + 2);
    memset(token, 't', 64 * 1024 + 1);
    token[64 * 1024 + 1] = 0;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "100", token + 1, 0, 1);
    assert_int_equal(sim.action.what, REFLECTOR_DO_LIST);
    assert_int_equal(ask(&sim).continue_token.len, 64 * 1024);
    page(&sim, "100", token, 0, 2);
    assert_relist(&sim, 800, 1599);
    free(token);
    sim_done(&sim);
}

static void a_version_too_long_to_keep_is_refused(void **state)
{
    (void)state;
    char text[1100];
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, text, "", 0, 1);
    assert_relist(&sim, 800, 1599);
    assert_false(sim.action.swap);
    assert_false(sim.reflector.synced);
    sim_done(&sim);
}

static void t_29_a_failing_page_starts_the_list_over(void **state)
{
    (void)state;
    static const enum kube_failure kinds[] = { KUBE_SERVER,      KUBE_UNAVAILABLE, KUBE_TRANSPORT,
                                               KUBE_UNREACHABLE, KUBE_THROTTLED,   KUBE_PROTOCOL,
                                               KUBE_FORBIDDEN,   KUBE_UNAUTHORIZED };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct sim sim;
        sim_init(&sim, 1);
        start(&sim);
        for (int n = 0; n < 6; n++) {
            char token[8];
            snprintf(token, sizeof token, "p%d", n);
            page(&sim, "100", token, 0, 50);
        }
        failed(&sim, kinds[i]);
        assert_relist(&sim, 800, 1599);
        assert_false(sim.action.swap);
        pass(&sim);
        assert_true(sim.action.first_page);
        assert_asks_consistent(&sim);
        sim_done(&sim);
    }
}

static void a_relist_is_never_older_than_what_was_seen(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    event(&sim, "123");
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    assert_asks_not_older_than(&sim, "123");
    assert_int_equal(sim.reflector.relists, 1);
    sim_done(&sim);
}

static void t_39_ref_16_too_large_on_a_relist_asks_for_the_most_recent(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    assert_asks_not_older_than(&sim, "100");
    failed(&sim, KUBE_TOO_LARGE_RV);
    pass(&sim);
    assert_asks_consistent(&sim);
    page(&sim, "7", "", 3, 2); /* the server's history begins anew: it is taken */
    assert_true(sim.action.swap);
    assert_string_equal(rv(&sim), "7");
    sim_done(&sim);
}

static void t_43_expired_on_a_relist_asks_for_the_most_recent(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    assert_asks_consistent(&sim);
    sim_done(&sim);
}

static void a_refused_parameter_is_left_out_next_time(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    assert_asks_not_older_than(&sim, "100");
    failed(&sim, KUBE_INVALID);
    pass(&sim);
    assert_asks_consistent(&sim);
    sim_done(&sim);
}

/* --- everything gone --------------------------------------------------------------- */

static void t_48_ref_10_an_empty_list_is_asked_for_twice(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    page(&sim, "200", "", 3, 0);
    assert_false(sim.action.swap);
    assert_relist(&sim, 1000, 5000);
    assert_string_equal(rv(&sim), "100"); /* not accepted */
    pass(&sim);
    assert_asks_consistent(&sim);
    page(&sim, "201", "", 3, 0);
    assert_true(sim.action.swap);
    assert_string_equal(rv(&sim), "201");
    sim_done(&sim);
}

static void t_48_ref_10_a_second_opinion_that_differs_wins(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    page(&sim, "200", "", 3, 0);
    pass(&sim);
    page(&sim, "201", "", 3, 2);
    assert_true(sim.action.swap);
    /* And the next empty list is doubted again. */
    opened(&sim);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    page(&sim, "300", "", 2, 0);
    assert_false(sim.action.swap);
    sim_done(&sim);
}

static void t_48_ref_10_a_failed_second_opinion_is_asked_for_again(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    pass(&sim);
    page(&sim, "200", "", 3, 0);
    pass(&sim);
    failed(&sim, KUBE_UNREACHABLE);
    pass(&sim);
    assert_asks_consistent(&sim);
    page(&sim, "201", "", 3, 0);
    assert_true(sim.action.swap);
    sim_done(&sim);
}

static void an_empty_list_is_believed_when_nothing_was_known(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, "5", "", 0, 0);
    assert_true(sim.action.swap);
    assert_int_equal(sim.action.what, REFLECTOR_DO_WATCH);
    sim_done(&sim);
}

/* --- resume point ------------------------------------------------------------------ */

static void t_21_wat_2_bookmarks_move_the_resume_point(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 1; i <= 10; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 100 + i);
        sim.now += 60 * 1000;
        assert_true(bookmark(&sim, text));
        assert_string_equal(rv(&sim), text);
    }
    failed(&sim, KUBE_OK);
    assert_rewatch(&sim, 0, 200);
    pass(&sim);
    assert_str(ask(&sim).resource_version, "110");
    assert_int_equal(sim.reflector.relists, 0);
    sim_done(&sim);
}

struct rv_row {
    const char *name;
    const char *at;
    const char *comes;
    bool bookmark;
    bool accepted;
    const char *then;
};

static const struct rv_row rv_rows[] = {
    { "t_22 a bookmark without resourceVersion moves nothing", "100", "", true, true, "100" },
    { "t_22_ref_6 a bookmark in the past is a rewind", "100", "99", true, false, "100" },
    { "t_22 a bookmark at the same point", "100", "100", true, true, "100" },
    { "t_32_ref_6 an older event is a replay", "100", "99", false, true, "100" },
    { "wat_1 a newer event moves it", "100", "101", false, true, "101" },
    { "t_34 more digits are newer", "99", "100", false, true, "100" },
    { "t_34 40 digits", "1234567890123456789012345678901234567890",
      "1234567890123456789012345678901234567891", false, true, "1234567890123456789012345678901234567891" },
    { "t_34 an opaque version is taken as it is", "100", "abc", false, true, "abc" },
    { "t_34 an opaque bookmark is taken as it is", "abc", "99", true, true, "99" },
    { "t_34 leading zeros are opaque", "100", "00012", true, true, "00012" },
    { "t_34 version 0 is nothing to resume from", "100", "0", true, true, "100" },
    { "an event without version moves nothing", "100", "", false, true, "100" },
};

static void rv__row(void **state)
{
    const struct rv_row *row = *state;
    struct sim sim;
    sim_init(&sim, 1);
    start(&sim);
    page(&sim, row->at, "", 0, 1);
    opened(&sim);
    assert_int_equal(row->bookmark ? bookmark(&sim, row->comes) : event(&sim, row->comes), row->accepted);
    assert_string_equal(rv(&sim), row->then);
    sim_done(&sim);
}

static void ref_6_a_rewind_relists_the_most_recent(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    assert_false(bookmark(&sim, "50"));
    fail_with(&sim, (struct reflector_failure){ .rewound = true });
    assert_relist(&sim, 0, 2000);
    pass(&sim);
    assert_asks_consistent(&sim);
    page(&sim, "50", "", 3, 3);
    assert_string_equal(rv(&sim), "50");
    sim_done(&sim);
}

static void t_38_ref_16_a_silent_watch_of_a_server_that_bookmarks_is_a_rewind(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    sim.now += 60 * 1000;
    bookmark(&sim, "10000");
    sim.now += 300 * 1000;
    failed(&sim, KUBE_OK);
    assert_rewatch(&sim, 0, 200); /* this one had a bookmark */
    pass(&sim);
    opened(&sim);
    sim.now += 300 * 1000;
    failed(&sim, KUBE_TRANSPORT);
    assert_relist(&sim, 0, 200);
    pass(&sim);
    assert_asks_consistent(&sim);
    sim_done(&sim);
}

static void a_silent_watch_of_a_server_without_bookmarks_is_just_quiet(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    sim.now += 500 * 1000;
    failed(&sim, KUBE_OK);
    assert_rewatch(&sim, 0, 200);
    sim_done(&sim);
}

/* --- ends of a watch --------------------------------------------------------------- */

struct end_row {
    const char *name;
    bool open;       /* after a good answer */
    int64_t life_ms; /* of the watch */
    bool delivered;  /* an event in it */
    struct reflector_failure failure;
    bool relist;
    bool consistent;
    int64_t low_ms, high_ms;
};

static const struct end_row end_rows[] = {
    { "clean end after a while", true, 2000, false, { .failure = KUBE_OK }, false, false, 0, 200 },
    { "clean end at once, after an event", true, 10, true, { .failure = KUBE_OK }, false, false, 0, 200 },
    { "t_27 clean end at once, without event",
      true,
      10,
      false,
      { .failure = KUBE_OK },
      false,
      false,
      800,
      1599 },
    { "clean end before any answer", false, 0, false, { .failure = KUBE_OK }, false, false, 800, 1599 },
    { "t_25 ERROR 410", true, 5000, true, { .failure = KUBE_EXPIRED }, true, false, 0, 2000 },
    { "t_26 HTTP 410", false, 0, false, { .failure = KUBE_EXPIRED }, true, false, 0, 2000 },
    { "t_28 ERROR 429", true, 5000, true, { .failure = KUBE_THROTTLED }, false, false, 800, 1599 },
    { "t_28 HTTP 429 with Retry-After 1",
      false,
      0,
      false,
      { .failure = KUBE_THROTTLED, .retry_after_ms = 1000 },
      false,
      false,
      1000,
      1599 },
    { "t_28 HTTP 429 with Retry-After 20",
      false,
      0,
      false,
      { .failure = KUBE_THROTTLED, .retry_after_ms = 20000 },
      false,
      false,
      20000,
      25000 },
    { "t_28 HTTP 429 with an absurd Retry-After",
      false,
      0,
      false,
      { .failure = KUBE_THROTTLED, .retry_after_ms = 3600000 },
      false,
      false,
      60000,
      75000 },
    { "t_28 an expired answer may ask for patience, too",
      false,
      0,
      false,
      { .failure = KUBE_EXPIRED, .retry_after_ms = 5000 },
      true,
      false,
      5000,
      6250 },
    { "t_29 ERROR 500", true, 5000, true, { .failure = KUBE_SERVER }, false, false, 800, 1599 },
    { "t_29 HTTP 500", false, 0, false, { .failure = KUBE_SERVER }, false, false, 800, 1599 },
    { "t_29 HTTP 503", false, 0, false, { .failure = KUBE_UNAVAILABLE }, false, false, 800, 1599 },
    { "t_39 too large", false, 0, false, { .failure = KUBE_TOO_LARGE_RV }, true, true, 0, 2000 },
    { "t_39 too large, in the stream",
      true,
      100,
      false,
      { .failure = KUBE_TOO_LARGE_RV },
      true,
      true,
      0,
      2000 },
    { "400 or 422", false, 0, false, { .failure = KUBE_INVALID }, true, true, 800, 1599 },
    { "t_30 401", false, 0, false, { .failure = KUBE_UNAUTHORIZED }, false, false, 800, 1599 },
    { "t_30 403", false, 0, false, { .failure = KUBE_FORBIDDEN }, false, false, 800, 1599 },
    { "t_30 404", false, 0, false, { .failure = KUBE_NOT_FOUND }, true, true, 800, 1599 },
    { "t_12 HTML", false, 0, false, { .failure = KUBE_PROTOCOL }, false, false, 800, 1599 },
    { "t_07 cut in the middle", true, 5000, true, { .failure = KUBE_TRANSPORT }, false, false, 800, 1599 },
    { "ref_4 connection refused", false, 0, false, { .failure = KUBE_UNREACHABLE }, false, false, 800, 1599 },
    { "t_23 an event nobody understands", true, 5000, true, { .bad_event = true }, false, false, 800, 1599 },
};

static void end__row(void **state)
{
    const struct end_row *row = *state;
    struct sim sim;
    sim_init(&sim, 5);
    start(&sim);
    page(&sim, "100", "", 0, 3);
    if (row->open) {
        opened(&sim);
        sim.now += row->delivered ? min_i64(row->life_ms, 500) : 0;
        if (row->delivered)
            event(&sim, "101");
        sim.now += row->life_ms - (row->delivered ? min_i64(row->life_ms, 500) : 0);
    }
    const char *resume = row->open && row->delivered ? "101" : "100";
    fail_with(&sim, row->failure);
    assert_string_equal(rv(&sim), resume);
    if (row->relist)
        assert_relist(&sim, row->low_ms, row->high_ms);
    else
        assert_rewatch(&sim, row->low_ms, row->high_ms);
    pass(&sim);
    if (!row->relist) {
        assert_int_equal(sim.action.what, REFLECTOR_DO_WATCH);
        assert_str(ask(&sim).resource_version, resume);
        assert_int_equal(sim.reflector.relists, 0);
    } else if (row->consistent) {
        assert_asks_consistent(&sim);
    } else {
        assert_asks_not_older_than(&sim, resume);
    }
    sim_done(&sim);
}

static void t_27_three_very_short_watches_relist(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 2; i++) {
        failed(&sim, KUBE_OK);
        assert_rewatch(&sim, 800, 30000);
        pass(&sim);
        opened(&sim);
    }
    failed(&sim, KUBE_OK);
    assert_relist(&sim, 0, 2000);
    sim_done(&sim);
}

static void a_watch_that_lives_forgives_the_short_ones(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 2; i++) {
            failed(&sim, KUBE_OK);
            pass(&sim);
            opened(&sim);
        }
        sim.now += 1000;
        failed(&sim, KUBE_OK);
        assert_rewatch(&sim, 0, 200);
        pass(&sim);
        opened(&sim);
    }
    assert_int_equal(sim.reflector.lists, 1);
    sim_done(&sim);
}

static void t_29_the_third_500_in_a_row_relists(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 2; i++) {
        failed(&sim, KUBE_SERVER);
        assert_rewatch(&sim, 800, 30000);
        pass(&sim);
    }
    failed(&sim, KUBE_SERVER);
    assert_relist(&sim, 0, 2000);
    sim_done(&sim);
}

static void progress_forgives_earlier_500s(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 10; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 101 + i);
        event(&sim, text);
        failed(&sim, KUBE_SERVER);
        assert_rewatch(&sim, 0, 30000);
        pass(&sim);
        opened(&sim);
    }
    sim_done(&sim);
}

static void t_40_a_restarting_server_costs_no_relist(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_TRANSPORT);
    for (int i = 0; i < 4; i++) {
        pass(&sim);
        failed(&sim, KUBE_UNREACHABLE);
    }
    for (int i = 0; i < 4; i++) {
        pass(&sim);
        failed(&sim, KUBE_UNAVAILABLE);
    }
    pass(&sim);
    fail_with(&sim, (struct reflector_failure){ .failure = KUBE_THROTTLED, .retry_after_ms = 5000 });
    pass(&sim);
    opened(&sim);
    assert_int_equal(sim.reflector.lists, 1);
    assert_string_equal(rv(&sim), "100");
    sim_done(&sim);
}

/* --- quarantine -------------------------------------------------------------------- */

static void t_23_wat_9_two_bad_events_at_one_point_relist(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    assert_false(reflector_skip_bad(&sim.reflector, at_ms(sim.now)));
    fail_with(&sim, (struct reflector_failure){ .bad_event = true });
    assert_rewatch(&sim, 800, 1599);
    pass(&sim);
    opened(&sim);
    assert_string_equal(rv(&sim), "100"); /* not past it */
    assert_false(reflector_skip_bad(&sim.reflector, at_ms(sim.now)));
    fail_with(&sim, (struct reflector_failure){ .bad_event = true });
    assert_relist(&sim, 0, 2000);
    sim_done(&sim);
}

static void wat_9_progress_between_bad_events_starts_the_count_over(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 6; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 101 + i);
        event(&sim, text);
        fail_with(&sim, (struct reflector_failure){ .bad_event = true });
        assert_rewatch(&sim, 0, 30000);
        pass(&sim);
        opened(&sim);
    }
    sim_done(&sim);
}

/* Two bad events and the relist they cause. */
static void quarantined(struct sim *sim)
{
    synced(sim, 1);
    for (int i = 0; i < 2; i++) {
        fail_with(sim, (struct reflector_failure){ .bad_event = true });
        pass(sim);
        if (i == 0)
            opened(sim);
    }
    page(sim, "200", "", 3, 2);
    opened(sim);
}

static void wat_9_after_that_relist_bad_events_are_passed_over(void **state)
{
    (void)state;
    struct sim sim;
    quarantined(&sim);
    for (int i = 0; i < 100; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 201 + i);
        assert_true(reflector_skip_bad(&sim.reflector, at_ms(sim.now)));
        assert_true(event(&sim, text)); /* the others go on */
        sim.now += 1000;
    }
    assert_int_equal(sim.reflector.lists, 2);
    sim_done(&sim);
}

static void wat_9_quarantine_ends_with_a_relist_of_what_was_skipped(void **state)
{
    (void)state;
    struct sim sim;
    quarantined(&sim);
    assert_true(reflector_skip_bad(&sim.reflector, at_ms(sim.now)));
    for (int i = 0; i < 2; i++) {
        sim.now += 400 * 1000;
        event(&sim, i ? "302" : "301");
        failed(&sim, KUBE_OK);
        if (i == 0) { /* not over yet */
            assert_rewatch(&sim, 0, 200);
            pass(&sim);
            opened(&sim);
        }
    }
    assert_relist(&sim, 0, 200);
    sim.now += 1000;
    assert_false(reflector_skip_bad(&sim.reflector, at_ms(sim.now)));
    sim_done(&sim);
}

static void wat_9_quarantine_without_another_bad_event_ends_quietly(void **state)
{
    (void)state;
    struct sim sim;
    quarantined(&sim);
    sim.now += 700 * 1000;
    event(&sim, "300");
    failed(&sim, KUBE_OK);
    assert_rewatch(&sim, 0, 200);
    sim_done(&sim);
}

/* --- pace -------------------------------------------------------------------------- */

/* Lists begun in each half minute of a loop that answers every watch with `failure`. */
static void assert_paced(struct reflector_failure failure, bool open, uint64_t seed)
{
    struct sim sim;
    synced(&sim, seed);
    int64_t begin = sim.now, last_list = sim.now;
    int lists = 0;
    for (int i = 0; i < 1000; i++) {
        fail_with(&sim, failure);
        while (sim.action.what == REFLECTOR_DO_WAIT)
            pass(&sim);
        if (sim.action.what == REFLECTOR_DO_LIST) {
            lists++;
            assert_true(sim.now - last_list >= 1000); /* REF-3: at least a second apart */
            if (sim.now - begin > 120 * 1000)
                assert_true(sim.now - last_list >= 30 * 1000);
            last_list = sim.now;
            page(&sim, "100", "", 3, 3);
        }
        if (open)
            opened(&sim);
    }
    assert_true(lists > 0);
    assert_true(lists <= (sim.now - begin) / 30000 + 8);
    /* Once the server heals, nothing is held back. */
    while (sim.action.what == REFLECTOR_DO_WAIT)
        pass(&sim);
    sim_done(&sim);
}

static void t_25_a_thousand_error_410_cost_a_list_per_30_s(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_paced((struct reflector_failure){ .failure = KUBE_EXPIRED }, true, seed);
}

static void t_26_a_thousand_http_410_cost_a_list_per_30_s(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_paced((struct reflector_failure){ .failure = KUBE_EXPIRED }, false, seed);
}

static void t_27_endless_very_short_watches_cost_a_list_per_30_s(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_paced((struct reflector_failure){ .failure = KUBE_OK }, true, seed);
}

static void t_29_endless_500_cost_a_list_per_30_s(void **state)
{
    (void)state;
    assert_paced((struct reflector_failure){ .failure = KUBE_SERVER }, false, 3);
}

static void t_39_endless_too_large_costs_a_list_per_30_s(void **state)
{
    (void)state;
    assert_paced((struct reflector_failure){ .failure = KUBE_TOO_LARGE_RV }, false, 3);
}

static void endless_bad_events_cost_a_list_per_30_s(void **state)
{
    (void)state;
    assert_paced((struct reflector_failure){ .bad_event = true }, true, 3);
}

static void endless_rewinds_cost_a_list_per_30_s(void **state)
{
    (void)state;
    assert_paced((struct reflector_failure){ .rewound = true }, true, 3);
}

static void t_43_endless_expired_lists_are_paced_too(void **state)
{
    (void)state;
    struct sim sim;
    sim_init(&sim, 2);
    start(&sim);
    int64_t last = sim.now;
    for (int i = 0; i < 100; i++) {
        failed(&sim, KUBE_EXPIRED);
        pass(&sim);
        assert_true(sim.now - last >= (i > 6 ? 30000 : 1000));
        last = sim.now;
    }
    sim_done(&sim);
}

static void ref_3_a_healthy_minute_forgives_earlier_relists(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 8; i++) {
        failed(&sim, KUBE_EXPIRED);
        pass(&sim);
        page(&sim, "100", "", 3, 3);
        opened(&sim);
    }
    sim.now += 61 * 1000;
    failed(&sim, KUBE_EXPIRED);
    assert_relist(&sim, 0, 200);
    pass(&sim);
    page(&sim, "100", "", 3, 3);
    opened(&sim);
    failed(&sim, KUBE_EXPIRED);
    assert_relist(&sim, 1000, 4000);
    sim_done(&sim);
}

static void t_36_watches_of_two_seconds_neither_relist_nor_slow_down(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 500; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 101 + i);
        sim.now += 100;
        event(&sim, text);
        sim.now += 1900;
        failed(&sim, KUBE_OK);
        assert_rewatch(&sim, 0, 200);
        pass(&sim);
        assert_str(ask(&sim).resource_version, text);
        opened(&sim);
    }
    assert_int_equal(sim.reflector.lists, 1);
    sim_done(&sim);
}

/* `ret_when`: of the 20th try. */
static void outage(uint64_t seed, bool listing, int64_t *ret_when)
{
    struct sim sim;
    synced(&sim, seed);
    if (listing)
        failed(&sim, KUBE_EXPIRED);
    else
        failed(&sim, KUBE_TRANSPORT);
    int64_t last = 0, low = 800;
    if (listing)
        pass(&sim), failed(&sim, KUBE_UNREACHABLE);
    for (int tries = 0; tries < 20; tries++) { /* more than seven minutes */
        int64_t wait = sim.action.wait_ms;
        assert_between(wait, low, min_i64(2 * low - 1, 30000));
        assert_true(wait >= last); /* no saw-tooth */
        last = wait;
        low = min_i64(2 * low, 30000);
        pass(&sim);
        failed(&sim, KUBE_UNREACHABLE);
    }
    assert_int_equal(last, 30000);
    assert_true(sim.now - 1000000 > 420 * 1000);
    *ret_when = sim.now;
    sim_done(&sim);
}

static void t_41_ref_1_an_outage_waits_longer_and_longer_to_30_s(void **state)
{
    (void)state;
    int64_t when;
    for (uint64_t seed = 0; seed < 50; seed++) {
        outage(seed, false, &when);
        outage(seed, true, &when);
    }
}

/* Over ten groups of twenty: about half of the 30 s between tries. */
static void t_41_twenty_informers_do_not_come_back_together(void **state)
{
    (void)state;
    int64_t spread = 0;
    for (uint64_t group = 0; group < 10; group++) {
        int64_t when, first = INT64_MAX, last = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            outage(group * 20 + seed, false, &when);
            first = min_i64(first, when);
            last = max_i64(last, when);
        }
        assert_true(last - first >= 10000);
        spread += last - first;
    }
    assert_true(spread / 10 >= 14000);
}

static void ref_1_the_delay_starts_over_only_after_proof_of_health(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    for (int i = 0; i < 8; i++) {
        failed(&sim, KUBE_UNREACHABLE);
        pass(&sim);
    }
    opened(&sim);
    event(&sim, "101"); /* in its first second: no proof */
    failed(&sim, KUBE_TRANSPORT);
    assert_rewatch(&sim, 30000, 30000);
    pass(&sim);
    opened(&sim);
    sim.now += 1500;
    event(&sim, "102");
    failed(&sim, KUBE_TRANSPORT);
    assert_rewatch(&sim, 800, 1599);
    for (int i = 0; i < 8; i++) {
        pass(&sim);
        failed(&sim, KUBE_UNREACHABLE);
    }
    pass(&sim);
    opened(&sim);
    sim.now += 60 * 1000; /* quiet for a minute is proof, too */
    failed(&sim, KUBE_TRANSPORT);
    assert_rewatch(&sim, 800, 1599);
    sim_done(&sim);
}

static void err_5_those_sent_away_together_come_back_apart(void **state)
{
    (void)state;
    int64_t low = INT64_MAX, high = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim sim;
        synced(&sim, seed);
        fail_with(&sim, (struct reflector_failure){ .failure = KUBE_THROTTLED, .retry_after_ms = 20000 });
        low = min_i64(low, sim.action.wait_ms);
        high = max_i64(high, sim.action.wait_ms);
        sim_done(&sim);
    }
    assert_true(low >= 20000 && high <= 25000 && high - low > 3000);
}

/* --- odds and ends ----------------------------------------------------------------- */

static void a_late_timer_does_nothing(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    struct reflector_action action = reflector_timer(&sim.reflector, at_ms(sim.now));
    assert_int_equal(action.what, REFLECTOR_DO_NOTHING);
    assert_int_equal(sim.reflector.state, REFLECTOR_WATCHING);
    sim_done(&sim);
}

static void synced_stays_set_through_relists(void **state)
{
    (void)state;
    struct sim sim;
    synced(&sim, 1);
    failed(&sim, KUBE_EXPIRED);
    assert_true(sim.reflector.synced);
    pass(&sim);
    assert_true(sim.reflector.synced);
    failed(&sim, KUBE_FORBIDDEN);
    assert_true(sim.reflector.synced);
    sim_done(&sim);
}

static void states_have_names(void **state)
{
    (void)state;
    for (int i = 0; i <= REFLECTOR_WAITING; i++)
        assert_true(strlen(reflector_state_name((enum reflector_state)i)) > 0);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(first_list_is_consistent_and_paged),
        cmocka_unit_test(page_size_defaults_to_500),
        cmocka_unit_test(lst_2_pages_follow_the_token_without_resource_version),
        cmocka_unit_test(lst_3_an_empty_page_with_a_token_goes_on),
        cmocka_unit_test(lst_9_only_the_last_page_swaps_and_watches_from_the_lists_version),
        cmocka_unit_test(t_44_pages_of_different_versions_watch_from_the_first),
        cmocka_unit_test(wat_4_timeouts_are_spread_over_300_to_599_s),
        cmocka_unit_test(t_43_lst_8_an_expired_token_starts_over_then_unpaged),
        cmocka_unit_test(a_token_refused_as_invalid_ends_in_an_unpaged_list),
        cmocka_unit_test(a_token_that_does_not_move_is_left),
        cmocka_unit_test(t_42_a_token_of_64_kb_is_followed_a_longer_one_is_not),
        cmocka_unit_test(a_version_too_long_to_keep_is_refused),
        cmocka_unit_test(t_29_a_failing_page_starts_the_list_over),
        cmocka_unit_test(a_relist_is_never_older_than_what_was_seen),
        cmocka_unit_test(t_39_ref_16_too_large_on_a_relist_asks_for_the_most_recent),
        cmocka_unit_test(t_43_expired_on_a_relist_asks_for_the_most_recent),
        cmocka_unit_test(a_refused_parameter_is_left_out_next_time),
        cmocka_unit_test(t_48_ref_10_an_empty_list_is_asked_for_twice),
        cmocka_unit_test(t_48_ref_10_a_second_opinion_that_differs_wins),
        cmocka_unit_test(t_48_ref_10_a_failed_second_opinion_is_asked_for_again),
        cmocka_unit_test(an_empty_list_is_believed_when_nothing_was_known),
        cmocka_unit_test(t_21_wat_2_bookmarks_move_the_resume_point),
        cmocka_unit_test(ref_6_a_rewind_relists_the_most_recent),
        cmocka_unit_test(t_38_ref_16_a_silent_watch_of_a_server_that_bookmarks_is_a_rewind),
        cmocka_unit_test(a_silent_watch_of_a_server_without_bookmarks_is_just_quiet),
        cmocka_unit_test(t_27_three_very_short_watches_relist),
        cmocka_unit_test(a_watch_that_lives_forgives_the_short_ones),
        cmocka_unit_test(t_29_the_third_500_in_a_row_relists),
        cmocka_unit_test(progress_forgives_earlier_500s),
        cmocka_unit_test(t_40_a_restarting_server_costs_no_relist),
        cmocka_unit_test(t_23_wat_9_two_bad_events_at_one_point_relist),
        cmocka_unit_test(wat_9_progress_between_bad_events_starts_the_count_over),
        cmocka_unit_test(wat_9_after_that_relist_bad_events_are_passed_over),
        cmocka_unit_test(wat_9_quarantine_ends_with_a_relist_of_what_was_skipped),
        cmocka_unit_test(wat_9_quarantine_without_another_bad_event_ends_quietly),
        cmocka_unit_test(t_25_a_thousand_error_410_cost_a_list_per_30_s),
        cmocka_unit_test(t_26_a_thousand_http_410_cost_a_list_per_30_s),
        cmocka_unit_test(t_27_endless_very_short_watches_cost_a_list_per_30_s),
        cmocka_unit_test(t_29_endless_500_cost_a_list_per_30_s),
        cmocka_unit_test(t_39_endless_too_large_costs_a_list_per_30_s),
        cmocka_unit_test(endless_bad_events_cost_a_list_per_30_s),
        cmocka_unit_test(endless_rewinds_cost_a_list_per_30_s),
        cmocka_unit_test(t_43_endless_expired_lists_are_paced_too),
        cmocka_unit_test(ref_3_a_healthy_minute_forgives_earlier_relists),
        cmocka_unit_test(t_36_watches_of_two_seconds_neither_relist_nor_slow_down),
        cmocka_unit_test(t_41_ref_1_an_outage_waits_longer_and_longer_to_30_s),
        cmocka_unit_test(t_41_twenty_informers_do_not_come_back_together),
        cmocka_unit_test(ref_1_the_delay_starts_over_only_after_proof_of_health),
        cmocka_unit_test(err_5_those_sent_away_together_come_back_apart),
        cmocka_unit_test(a_late_timer_does_nothing),
        cmocka_unit_test(synced_stays_set_through_relists),
        cmocka_unit_test(states_have_names),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(rv_rows) + ARRAY_LEN(end_rows)];
    size_t count = ARRAY_LEN(plain);
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(rv_rows); i++)
        tests[count++] = (struct CMUnitTest){ rv_rows[i].name, rv__row, NULL, NULL, (void *)&rv_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(end_rows); i++)
        tests[count++] = (struct CMUnitTest){ end_rows[i].name, end__row, NULL, NULL, (void *)&end_rows[i] };
    return cmocka_run_group_tests_name("kube/reflector", tests, NULL, NULL);
}
