/* Leader election on one candidate: rules LE-1 to LE-14, cases T-65 to T-75. All of them at
 * once and with others: test_elector_model.c. */
#include "core_support.h"

#include <time.h>

#include "base/rfc3339.h"
#include "json/json.h"
#include "kube/elector.h"

#define US "host_us"
#define THEM "host_them"
#define START_MS 1000000
#define WALL_US INT64_C(1784880000123456) /* 2026-07-24T08:00:00.123456Z */

struct bench {
    struct core *core;
    struct elector elector;
    int64_t now;
    struct elector_action last;
};

static int bench_setup(void **state)
{
    struct bench *bench = mem_zalloc(sizeof *bench);
    struct elector_options options = {
        .identity = STR(US), .lease_ms = 15000, .renew_ms = 10000, .retry_ms = 2000, .seed = 7
    };
    bench->now = START_MS;
    elector_init(&bench->elector, &options);
    *state = bench;
    void *core = NULL;
    core_setup(&core);
    bench->core = core;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *bench = *state;
    void *core = bench->core;
    elector_done(&bench->elector);
    free(bench);
    return core_teardown(&core);
}

/* --- one Lease ---------------------------------------------------------------------- */

struct record {
    const char *holder; /* NULL: nobody */
    int rv;
    int64_t duration_s; /* 0: 15; negative: as it is */
    const char *more;   /* further members of spec */
    const char *uid;    /* NULL: "u-1" */
};

static struct kube_object *lease_object(struct bench *bench, const struct record *record)
{
    char json[2048], holder[700] = "null";
    if (record->holder)
        snprintf(holder, sizeof holder, "\"%s\"", record->holder);
    snprintf(json, sizeof json,
             "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"},"
             "\"spec\":{\"holderIdentity\":%s,\"leaseDurationSeconds\":%lld%s%s}}",
             record->uid ? record->uid : "u-1", record->rv, holder,
             record->duration_s ? (long long)record->duration_s : 15LL, record->more ? "," : "",
             record->more ? record->more : "");
    return core_object(bench->core, &lease_kind, json);
}

#define RECORD(holder_, rv_, ...)                                                                            \
    (&(const struct record){ .holder = (holder_), .rv = (rv_)__VA_OPT__(, ) __VA_ARGS__ })

/* --- what happens ------------------------------------------------------------------- */

static struct mono_time now_of(const struct bench *bench)
{
    return at_ms(bench->now);
}

static enum elector_do next(struct bench *bench)
{
    bench->last = elector_next(&bench->elector, now_of(bench));
    return bench->last.what;
}

#define assert_next(bench, want) assert_int_equal(next(bench), want)

static void assert_waits(struct bench *bench, int64_t ms)
{
    assert_next(bench, ELECTOR_WAIT);
    assert_int_equal(bench->last.wait_ms, ms);
}

static void see(struct bench *bench, const struct record *record)
{
    struct kube_object *object = lease_object(bench, record);
    elector_observed(&bench->elector, lease_of(object), now_of(bench));
    kube_object_unref(object);
}

static void see_none(struct bench *bench)
{
    elector_observed(&bench->elector, NULL, now_of(bench));
}

static void answer(struct bench *bench, const struct record *record)
{
    struct kube_object *object = lease_object(bench, record);
    elector_answered(&bench->elector, KUBE_OK, lease_of(object), now_of(bench));
    kube_object_unref(object);
}

static void answer_failure(struct bench *bench, enum kube_failure failure)
{
    elector_answered(&bench->elector, failure, NULL, now_of(bench));
}

static bool may_write(const struct bench *bench)
{
    return elector_may_write(&bench->elector, now_of(bench));
}

static enum elector_state state_of(const struct bench *bench)
{
    return bench->elector.state;
}

/* A GET shows what there is: record NULL: 404. */
static void get(struct bench *bench, const struct record *record)
{
    assert_next(bench, ELECTOR_GET);
    if (record)
        answer(bench, record);
    else
        answer_failure(bench, KUBE_NOT_FOUND);
}

/* Leads since START_MS, with resourceVersion 1, watching. */
static void lead(struct bench *bench)
{
    elector_watching(&bench->elector, true);
    get(bench, NULL);
    assert_next(bench, ELECTOR_CREATE);
    answer(bench, RECORD(US, 1, .more = "\"acquireTime\":\"2026-07-24T07:00:00.000001Z\""));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
}

/* Watches a Lease that somebody holds, with resourceVersion 1. */
static void follow(struct bench *bench)
{
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 1));
    assert_int_equal(state_of(bench), ELECTOR_STANDBY);
}

static const char *body(struct bench *bench)
{
    static char text[4096];
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(sizeof text);
    elector_write_record(&bench->elector, STR("ns"), STR("l"), (struct wall_time){ WALL_US }, &out);
    snprintf(text, sizeof text, "%s", strbuf_cstr(&out));
    return text;
}

#define assert_body_has(bench, part) assert_non_null(strstr(body(bench), part))
#define assert_body_lacks(bench, part) assert_null(strstr(body(bench), part))

/* --- options ------------------------------------------------------------------------ */

static const struct options_row {
    const char *name;
    int64_t lease_ms, renew_ms, retry_ms;
    bool good;
} options_rows[] = {
    { "options: upstream's defaults", 15000, 10000, 2000, true },
    { "options: short ones", 3000, 2000, 500, true },
    { "options: one second", 1000, 900, 100, true },
    { "options: le_10 one hour", 3600000, 10000, 2000, true },
    { "options: le_10 more than an hour", 3601000, 10000, 2000, false },
    { "options: less than a second", 900, 800, 100, false },
    { "options: parts of a second", 1500, 1000, 100, false },
    { "options: zero lease", 0, 0, 0, false },
    { "options: negative lease", -15000, -20000, 1, false },
    { "options: lease equals deadline", 10000, 10000, 2000, false },
    { "options: lease below deadline", 10000, 11000, 2000, false },
    { "options: deadline equals 1.2 retries", 15000, 2400, 2000, false },
    { "options: deadline just above 1.2 retries", 15000, 2401, 2000, true },
    { "options: zero retry", 15000, 10000, 0, false },
    { "options: negative retry", 15000, 10000, -1, false },
    { "options: retry near the end of numbers", 15000, 10000, INT64_MAX, false },
    { "options: deadline near the end of numbers", 15000, INT64_MAX, 2000, false },
};

static void options_row(void **state)
{
    const struct options_row *row = *state;
    struct err err = ERR_INIT;
    struct elector_options options = {
        .identity = STR(US), .lease_ms = row->lease_ms, .renew_ms = row->renew_ms, .retry_ms = row->retry_ms
    };
    assert_int_equal(elector_options_check(&options, &err), row->good);
    assert_int_equal(err.kind, row->good ? ERR_NONE : ERR_INVALID);
}

/* --- becoming leader ------------------------------------------------------------------ */

static void no_lease_is_created_at_once(void **state)
{
    lead(*state);
    assert_true(may_write(*state));
}

static void the_first_thing_is_to_look(void **state)
{
    assert_next(*state, ELECTOR_GET);
    assert_waits(*state, -1); /* for the answer */
    assert_false(may_write(*state));
}

static void le_12_t_65_first_sight_waits_a_whole_duration(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 1, .more = "\"renewTime\":\"2020-01-01T00:00:00.000000Z\""));
    assert_waits(bench, 15000);
    bench->now += 14999;
    assert_waits(bench, 1);
    bench->now += 1;
    assert_next(bench, ELECTOR_UPDATE);
    answer(bench, RECORD(US, 2));
    assert_true(may_write(bench));
}

static void t_65_an_empty_holder_is_free_at_once(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(NULL, 1));
    assert_next(bench, ELECTOR_UPDATE);
}

static void the_records_own_duration_counts(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 1, .duration_s = 40));
    assert_waits(bench, 40000);
    see(bench, RECORD(THEM, 2, .duration_s = 3));
    assert_waits(bench, 3000);
}

static void every_change_starts_the_wait_again(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    for (int rv = 2; rv < 10; rv++) {
        bench->now += 14000;
        see(bench, RECORD(THEM, rv));
        assert_waits(bench, 15000);
    }
    bench->now += 14000;
    see(bench, RECORD(THEM, 9)); /* told again: no change */
    assert_waits(bench, 1000);
}

static void a_longer_version_counts_up_not_down(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 99));
    bench->now += 10000;
    see(bench, RECORD(THEM, 100));
    assert_waits(bench, 15000);
    bench->now += 1000;
    see(bench, RECORD(NULL, 99)); /* a lagging watch */
    assert_waits(bench, 14000);
}

static void a_takeover_that_came_too_late_looks_again(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    assert_int_equal(state_of(bench), ELECTOR_STANDBY);
    assert_next(bench, ELECTOR_WAIT);
    assert_between(bench->last.wait_ms, 2000, 4400); /* LE-11: P * (1 .. 2.2) */
    bench->now += bench->last.wait_ms;
    get(bench, RECORD(THEM, 2));
    assert_waits(bench, 15000);
}

static void le_11_candidates_do_not_march_in_step(void **state)
{
    struct bench *bench = *state;
    int64_t low = INT64_MAX, high = 0;
    for (int i = 0; i < 100; i++) {
        assert_next(bench, ELECTOR_GET);
        answer_failure(bench, KUBE_UNREACHABLE);
        assert_next(bench, ELECTOR_WAIT);
        low = min_i64(low, bench->last.wait_ms);
        high = max_i64(high, bench->last.wait_ms);
        bench->now += bench->last.wait_ms;
    }
    assert_between(low, 2000, 2200);
    assert_between(high, 4200, 4400);
}

static void t_75_a_watching_standby_does_not_poll(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    for (int rv = 2; rv < 50; rv++) {
        bench->now += 2000;
        see(bench, RECORD(THEM, rv));
        assert_waits(bench, 15000);
    }
}

static void t_75_without_a_watch_it_polls(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(THEM, 1));
    int64_t since = bench->now;
    while (bench->now < since + 15000) {
        if (next(bench) == ELECTOR_GET)
            answer(bench, RECORD(THEM, 1));
        assert_int_equal(next(bench), ELECTOR_WAIT);
        assert_between(bench->last.wait_ms, 1, 4400);
        bench->now += bench->last.wait_ms;
    }
    assert_between(bench->now - since, 15000, 15000 + 4400);
    assert_next(bench, ELECTOR_UPDATE);
}

static void t_75_takeover_needs_one_request(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer(bench, RECORD(US, 2));
    assert_true(may_write(bench));
}

static void a_released_lease_is_taken_when_the_watch_says_so(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    assert_waits(bench, 15000);
    see(bench, RECORD(NULL, 2, .duration_s = 1));
    assert_next(bench, ELECTOR_UPDATE);
}

static void the_pace_of_polling_does_not_delay_a_takeover(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(THEM, 1));
    get(bench, RECORD(THEM, 1)); /* no watch yet: the next look is seconds away */
    elector_watching(&bench->elector, true);
    assert_next(bench, ELECTOR_WAIT);
    bench->now += 100;
    see(bench, RECORD(NULL, 2, .duration_s = 1));
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT); /* somebody was faster */
    see(bench, RECORD("host_third", 3));
    assert_next(bench, ELECTOR_WAIT);
    assert_between(bench->last.wait_ms, 2000, 4400);
}

static void an_answer_behind_the_watch_does_not_turn_time_back(void **state)
{
    struct bench *bench = *state;
    assert_next(bench, ELECTOR_GET);
    see(bench, RECORD(NULL, 2, .duration_s = 1)); /* released meanwhile */
    answer(bench, RECORD(THEM, 1));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"resourceVersion\":\"2\"");
}

static void a_restored_server_counts_even_when_its_versions_are_older(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 500));
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    bench->now += 5000;
    get(bench, RECORD(THEM, 20));
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"resourceVersion\":\"20\"");
}

/* --- answers that tell little ---------------------------------------------------------- */

static void t_66_validity_counts_from_the_send(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    bench->now += 9000;
    answer(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    assert_int_equal(elector_margin_ms(&bench->elector, now_of(bench)), 15000 - 1500 - 9000);
    bench->now += 4499;
    assert_true(may_write(bench));
    bench->now += 1;
    assert_false(may_write(bench));
}

static void t_66_a_renewal_answered_after_the_deadline_does_not_help(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    bench->now += 10001;
    answer(bench, RECORD(US, 2));
    assert_next(bench, ELECTOR_WAIT);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
    assert_false(may_write(bench));
}

static void t_66_a_takeover_answered_after_the_deadline_is_renewed_first(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    bench->now += 10000;
    answer(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_STANDBY);
    assert_false(may_write(bench));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"resourceVersion\":\"2\"");
    answer(bench, RECORD(US, 3));
    assert_true(may_write(bench));
}

static void t_66_a_takeover_whose_answer_was_lost_is_found_out(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_TRANSPORT);
    assert_false(may_write(bench));
    bench->now += 4400;
    get(bench,
        RECORD(US, 2, .more = "\"acquireTime\":\"2026-07-24T07:00:00.000001Z\",\"leaseTransitions\":4"));
    assert_false(may_write(bench)); /* we do not know when it was sent as seen by others */
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"acquireTime\":\"2026-07-24T07:00:00.000001Z\"");
    assert_body_has(bench, "\"leaseTransitions\":4}");
    answer(bench, RECORD(US, 3));
    assert_true(may_write(bench));
}

static void t_66_le_5_a_renewal_whose_answer_was_lost_goes_on(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_TRANSPORT); /* applied: the version is 2 now */
    assert_waits(bench, 500);
    bench->now += 500;
    get(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"resourceVersion\":\"2\"");
}

static void t_66_le_5_a_conflict_is_looked_into_at_once(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    get(bench, RECORD(US, 5)); /* somebody put a label on it */
    assert_next(bench, ELECTOR_UPDATE);
    answer(bench, RECORD(US, 6));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
}

static void le_4_a_conflict_that_shows_another_holder_is_the_end(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    get(bench, RECORD(THEM, 5));
    assert_int_equal(state_of(bench), ELECTOR_LOST);
    assert_false(may_write(bench));
}

static void a_success_that_cannot_be_read_proves_nothing(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_OK);
    assert_int_equal(state_of(bench), ELECTOR_STANDBY);
    bench->now += 4400;
    assert_next(bench, ELECTOR_GET);
}

static void a_lease_without_version_is_never_written(void **state)
{
    struct bench *bench = *state;
    assert_next(bench, ELECTOR_GET);
    struct kube_object *object =
        core_object(bench->core, &lease_kind,
                    "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{}}");
    elector_answered(&bench->elector, KUBE_OK, lease_of(object), now_of(bench));
    elector_observed(&bench->elector, lease_of(object), now_of(bench));
    kube_object_unref(object);
    bench->now += 4400;
    assert_next(bench, ELECTOR_GET);
}

static void a_takeover_taken_away_before_its_answer_is_none(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    see(bench, RECORD(US, 2));
    see(bench, RECORD(THEM, 3)); /* overwritten by hand */
    answer(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_STANDBY);
    assert_false(may_write(bench));
    assert_waits(bench, 15000);
}

/* --- staying leader --------------------------------------------------------------------- */

static void a_leader_renews_every_period(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    for (int rv = 2; rv < 20; rv++) {
        assert_waits(bench, 2000);
        bench->now += 2000;
        assert_next(bench, ELECTOR_UPDATE);
        answer(bench, RECORD(US, rv));
        see(bench, RECORD(US, rv)); /* and the watch says the same */
        assert_int_equal(elector_margin_ms(&bench->elector, now_of(bench)), 13500);
    }
}

static void a_lagging_watch_does_not_dethrone(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(THEM, 8));
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer(bench, RECORD(US, 10));
    see(bench, RECORD(THEM, 8));
    see(bench, RECORD(THEM, 9));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
}

static void le_2_safety_is_a_tenth_or_a_second_and_at_most_a_third(void **state)
{
    static const struct {
        int64_t lease_ms, margin_ms;
    } rows[] = { { 15000, 13500 }, { 60000, 54000 }, { 5000, 4000 },
                 { 3000, 2000 },   { 2000, 1334 },   { 1000, 667 } };
    struct bench *bench = *state;
    lead(bench);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bench->elector.options.lease_ms = rows[i].lease_ms;
        assert_int_equal(elector_margin_ms(&bench->elector, now_of(bench)), rows[i].margin_ms);
    }
}

static void t_70_nine_seconds_without_a_server_keep(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    while (bench->now < START_MS + 9000) {
        if (next(bench) != ELECTOR_WAIT)
            answer_failure(bench, KUBE_UNREACHABLE);
        assert_next(bench, ELECTOR_WAIT);
        assert_between(bench->last.wait_ms, 1, 500);
        bench->now += bench->last.wait_ms;
        assert_true(may_write(bench));
    }
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
    answer(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    assert_int_equal(elector_margin_ms(&bench->elector, now_of(bench)), 13500);
}

static void t_70_le_3_ten_seconds_without_a_server_lose(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    while (state_of(bench) == ELECTOR_LEADER) {
        if (next(bench) != ELECTOR_WAIT) {
            answer_failure(bench, KUBE_UNREACHABLE);
            continue;
        }
        if (bench->last.wait_ms > 0)
            bench->now += bench->last.wait_ms;
    }
    assert_int_equal(bench->now, START_MS + 10000);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
    assert_false(may_write(bench));
}

static void t_70_a_request_that_hangs_does_not_hide_the_deadline(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_waits(bench, 8000);
    bench->now += 8000;
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void le_3_what_is_lost_is_not_won_back(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    bench->now += 8000;
    assert_waits(bench, -1);
    answer(bench, RECORD(US, 2));
    see(bench, RECORD(NULL, 3));
    see_none(bench);
    bench->now += 60000;
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
    assert_false(may_write(bench));
}

static void t_67_le_4_a_stolen_lease_ends_it_when_the_watch_says_so(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 100;
    see(bench, RECORD(THEM, 2));
    assert_int_equal(state_of(bench), ELECTOR_LOST);
    assert_false(may_write(bench));
    assert_waits(bench, -1);
}

static void t_67_a_stolen_lease_ends_it_within_a_period_without_a_watch(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_watching(&bench->elector, false);
    assert_waits(bench, 2000);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    get(bench, RECORD(THEM, 2));
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_67_an_emptied_holder_is_a_loss_too(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see(bench, RECORD(NULL, 2));
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

/* --- odd Leases ------------------------------------------------------------------------- */

static void t_68_le_9_a_deleted_lease_is_made_again_at_once(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 100;
    see_none(bench);
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    assert_next(bench, ELECTOR_CREATE);
    assert_body_has(bench, "\"acquireTime\":\"2026-07-24T07:00:00.000001Z\"");
    assert_body_lacks(bench, "\"uid\"");
    answer(bench, RECORD(US, 4, .uid = "u-2"));
    assert_true(may_write(bench));
    assert_waits(bench, 2000);
}

static void t_68_le_9_a_404_to_a_renewal_is_looked_into(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_NOT_FOUND);
    get(bench, NULL);
    assert_next(bench, ELECTOR_CREATE);
    answer(bench, RECORD(US, 4, .uid = "u-2"));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
}

static void t_68_le_9_made_again_by_somebody_else_is_a_loss(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see_none(bench);
    assert_next(bench, ELECTOR_CREATE);
    answer_failure(bench, KUBE_ALREADY_EXISTS);
    get(bench, RECORD(THEM, 4, .uid = "u-2"));
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_68_le_9_not_made_again_in_time_is_a_loss(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 5000;
    see_none(bench);
    while (state_of(bench) == ELECTOR_LEADER) {
        if (next(bench) != ELECTOR_WAIT)
            answer_failure(bench, KUBE_FORBIDDEN);
        else if (bench->last.wait_ms > 0)
            bench->now += bench->last.wait_ms;
    }
    assert_int_equal(bench->now, START_MS + 10000);
}

static void t_68_a_standby_lets_the_holder_of_a_deleted_lease_finish(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 4000;
    see_none(bench);
    assert_waits(bench, 15000); /* it may have renewed a moment before, unseen */
    bench->now += 4000;
    see_none(bench);
    assert_waits(bench, 11000);
    bench->now += 11000;
    assert_next(bench, ELECTOR_CREATE);
}

static void t_68_a_lease_deleted_after_its_release_is_free(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    see(bench, RECORD(NULL, 2, .duration_s = 1));
    see_none(bench);
    assert_next(bench, ELECTOR_CREATE);
}

static void t_68_a_lease_made_again_is_a_new_one(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 14000;
    see_none(bench);
    see(bench, RECORD(THEM, 1, .uid = "u-2"));
    assert_waits(bench, 15000);
}

static const struct duration_row {
    const char *name;
    int64_t duration_s, waits_ms;
} duration_rows[] = {
    { "le_10 t_68 a duration of zero seconds is one", 0, 1000 },
    { "le_10 t_68 a negative duration is one second", -5, 1000 },
    { "le_10 t_68 the smallest number is one second", INT64_MIN, 1000 },
    { "le_10 t_68 an hour stays", 3600, 3600000 },
    { "le_10 t_68 thirty years are an hour", 1000000000, 3600000 },
    { "le_10 t_68 the largest number is an hour", INT64_MAX, 3600000 },
};

static void duration_row(void **state)
{
    const struct duration_row *row = *state;
    void *fixture = NULL;
    bench_setup(&fixture);
    struct bench *bench = fixture;
    elector_watching(&bench->elector, true);
    char json[512];
    snprintf(json, sizeof json,
             "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"
             "\"spec\":{"
             "\"holderIdentity\":\"" THEM "\",\"leaseDurationSeconds\":%lld}}",
             (long long)row->duration_s);
    struct kube_object *object = core_object(bench->core, &lease_kind, json);
    elector_observed(&bench->elector, lease_of(object), now_of(bench));
    kube_object_unref(object);
    assert_waits(bench, row->waits_ms);
    assert_int_equal(bench_teardown(&fixture), 0);
}

static void le_10_missing_fields_are_waited_for_and_then_replaced(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    struct kube_object *object = core_object(
        bench->core, &lease_kind,
        "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"
        "\"spec\":{\"holderIdentity\":\"" THEM "\",\"leaseTransitions\":-3}}");
    elector_observed(&bench->elector, lease_of(object), now_of(bench));
    kube_object_unref(object);
    assert_waits(bench, 1000);
    bench->now += 1000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"leaseTransitions\":1}");
}

static void le_10_transitions_stay_a_number_the_server_takes(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(NULL, 1, .more = "\"leaseTransitions\":9223372036854775807"));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"leaseTransitions\":2147483647}");
}

static void a_holder_too_long_to_keep_is_still_a_holder(void **state)
{
    struct bench *bench = *state;
    static char name[600];
    memset(name, 'x', sizeof name - 1);
    elector_watching(&bench->elector, true);
    get(bench, RECORD(name, 1));
    assert_waits(bench, 15000);
}

static void t_68_the_end_of_term_is_respected(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see(bench,
        RECORD(US, 2, .more = "\"preferredHolder\":\"" THEM "\",\"strategy\":\"OldestEmulationVersion\""));
    bench->now += 2000;
    assert_waits(bench, 8000); /* no renewal */
    assert_true(may_write(bench));
    bench->now += 8000;
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_68_being_preferred_changes_nothing(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see(bench, RECORD(US, 2, .more = "\"preferredHolder\":\"" US "\""));
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_lacks(bench, "preferredHolder");
}

static void t_68_who_is_preferred_goes_first(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD(NULL, 1, .duration_s = 2, .more = "\"preferredHolder\":\"" THEM "\""));
    assert_waits(bench, 2000);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"preferredHolder\":null"); /* or our own term would end at once */
}

static void t_68_other_fields_are_left_alone(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(NULL, 1, .more = "\"strategy\":\"OldestEmulationVersion\""));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_lacks(bench, "strategy");
    assert_body_lacks(bench, "preferredHolder");
}

/* --- giving it back --------------------------------------------------------------------- */

static void t_69_le_7_release_reads_and_gives_back(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 300;
    elector_release(&bench->elector);
    assert_false(may_write(bench));
    get(bench, RECORD(US, 7));
    assert_next(bench, ELECTOR_UPDATE);
    assert_string_equal(body(bench),
                        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                        "\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u-1\",\"resourceVersion\":\"7\"},"
                        "\"spec\":{\"holderIdentity\":null,\"leaseDurationSeconds\":1,"
                        "\"acquireTime\":\"2026-07-24T08:00:00.123456Z\","
                        "\"renewTime\":\"2026-07-24T08:00:00.123456Z\",\"leaseTransitions\":0}}");
    answer(bench, RECORD(NULL, 8, .duration_s = 1));
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
    assert_waits(bench, -1);
}

static void t_69_the_watch_may_be_faster_than_the_answer(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
    see(bench, RECORD(NULL, 2, .duration_s = 1));
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    see(bench, RECORD(THEM, 3)); /* who took it at once */
    answer(bench, RECORD(NULL, 2, .duration_s = 1));
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
}

static void t_69_taken_over_just_before_is_left_alone(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, RECORD(THEM, 7));
    assert_next(bench, ELECTOR_WAIT);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_69_taken_over_between_look_and_write_is_left_alone(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    get(bench, RECORD(THEM, 2));
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_69_a_conflict_without_another_holder_is_tried_again(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_CONFLICT);
    get(bench, RECORD(US, 2));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"resourceVersion\":\"2\"");
}

static void t_69_a_release_whose_answer_was_lost_counts(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_TRANSPORT);
    bench->now += 500;
    get(bench, RECORD(NULL, 2, .duration_s = 1));
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
}

static void t_69_without_a_server_it_is_tried_a_few_times_a_second(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    int tries = 0;
    for (int64_t until = bench->now + 2000; bench->now < until;) {
        if (next(bench) == ELECTOR_WAIT) {
            assert_between(bench->last.wait_ms, 100, 500);
            bench->now += bench->last.wait_ms;
            continue;
        }
        tries++;
        answer_failure(bench, KUBE_UNREACHABLE);
    }
    assert_between(tries, 2, 20);
    elector_give_up(&bench->elector);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_69_a_deleted_lease_is_given_back_already(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    elector_release(&bench->elector);
    get(bench, NULL);
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
}

static void t_69_a_renewal_under_way_is_waited_for(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    elector_release(&bench->elector);
    assert_waits(bench, -1);
    answer(bench, RECORD(US, 2));
    assert_int_equal(state_of(bench), ELECTOR_LEADER); /* that was not the release */
    get(bench, RECORD(US, 2));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"holderIdentity\":null");
}

static void t_69_a_standby_has_nothing_to_give(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    elector_release(&bench->elector);
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
}

static void t_69_a_standby_gives_back_what_it_just_took(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    elector_release(&bench->elector);
    assert_waits(bench, -1);
    answer(bench, RECORD(US, 2));
    assert_false(may_write(bench));
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"holderIdentity\":null");
    answer(bench, RECORD(NULL, 3, .duration_s = 1));
    assert_int_equal(state_of(bench), ELECTOR_RELEASED);
}

static void t_69_a_takeover_of_unknown_outcome_is_looked_into(void **state)
{
    struct bench *bench = *state;
    follow(bench);
    bench->now += 15000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_TRANSPORT);
    elector_release(&bench->elector);
    get(bench, RECORD(US, 2)); /* at once, whatever the pace was */
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"holderIdentity\":null");
}

static void le_8_what_is_lost_is_not_released(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see(bench, RECORD(THEM, 2));
    elector_release(&bench->elector);
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

/* --- clocks ----------------------------------------------------------------------------- */

static void le_1_intervals_count_suspend(void **state)
{
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_BOOTTIME, &before);
    struct mono_time now = mono_now();
    clock_gettime(CLOCK_BOOTTIME, &after);
    assert_between(now.ns, before.tv_sec * NS_PER_S + before.tv_nsec,
                   after.tv_sec * NS_PER_S + after.tv_nsec);
}

static void t_71_le_13_twenty_seconds_asleep_end_it_before_anything_else(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    bench->now += 20000;
    assert_false(may_write(bench)); /* nobody has told the elector yet */
    answer(bench, RECORD(US, 2));
    assert_false(may_write(bench));
    assert_waits(bench, -1);
    assert_int_equal(state_of(bench), ELECTOR_LOST);
}

static void t_71_wall_time_is_only_written(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    /* Dated an hour ahead, an hour back, and never. */
    get(bench, RECORD(THEM, 1, .more = "\"renewTime\":\"2026-07-24T09:00:00.000000Z\""));
    assert_waits(bench, 15000);
    see(bench, RECORD(THEM, 2, .more = "\"renewTime\":\"2026-07-24T07:00:00.000000Z\""));
    assert_waits(bench, 15000);
    see(bench, RECORD(THEM, 3));
    assert_waits(bench, 15000);
}

/* --- what is written -------------------------------------------------------------------- */

static void t_72_a_new_lease(void **state)
{
    struct bench *bench = *state;
    get(bench, NULL);
    assert_next(bench, ELECTOR_CREATE);
    assert_string_equal(
        body(bench),
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\","
        "\"namespace\":\"ns\"},\"spec\":{\"holderIdentity\":\"host_us\",\"leaseDurationSeconds\":15,"
        "\"acquireTime\":\"2026-07-24T08:00:00.123456Z\","
        "\"renewTime\":\"2026-07-24T08:00:00.123456Z\",\"leaseTransitions\":0}}");
}

static void t_72_a_takeover_counts(void **state)
{
    struct bench *bench = *state;
    get(bench, RECORD(NULL, 9, .more = "\"leaseTransitions\":41"));
    assert_next(bench, ELECTOR_UPDATE);
    assert_string_equal(
        body(bench),
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\","
        "\"namespace\":\"ns\",\"uid\":\"u-1\",\"resourceVersion\":\"9\"},\"spec\":{\"holderIdentity\":"
        "\"host_us\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-07-24T08:00:00.123456Z\","
        "\"renewTime\":\"2026-07-24T08:00:00.123456Z\",\"leaseTransitions\":42}}");
}

static void t_72_a_renewal_keeps_the_term(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    see(bench,
        RECORD(US, 2, .more = "\"leaseTransitions\":42,\"acquireTime\":\"2026-07-24T07:00:00.000001Z\""));
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    assert_body_has(bench, "\"acquireTime\":\"2026-07-24T07:00:00.000001Z\"");
    assert_body_has(bench, "\"renewTime\":\"2026-07-24T08:00:00.123456Z\"");
    assert_body_has(bench, "\"leaseTransitions\":42}");
}

static void t_72_whole_seconds_have_six_digits_too(void **state)
{
    struct bench *bench = *state;
    get(bench, NULL);
    assert_next(bench, ELECTOR_CREATE);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    elector_write_record(&bench->elector, STR("ns"), STR("l"),
                         (struct wall_time){ WALL_US / US_PER_S * US_PER_S }, &out);
    assert_non_null(strstr(strbuf_cstr(&out), "\"renewTime\":\"2026-07-24T08:00:00.000000Z\""));
}

static void t_72_foreign_text_stays_inside_its_string(void **state)
{
    struct bench *bench = *state;
    struct arena arena = ARENA_INIT;
    const struct json *root;
    get(bench, RECORD(NULL, 1, .uid = "a\\\",\\\"x\\\":\\\"b"));
    assert_next(bench, ELECTOR_UPDATE);
    assert_true(json_parse(&arena, str_c(body(bench)), NULL, &root, NULL));
    assert_str(json_str(json_path(root, "metadata", "uid", NULL)), "a\",\"x\":\"b");
    arena_done(&arena);
}

static void t_73_an_earlier_process_of_this_host_is_another_holder(void **state)
{
    struct bench *bench = *state;
    elector_watching(&bench->elector, true);
    get(bench, RECORD("host_us_before", 1));
    assert_waits(bench, 15000);
}

static void t_74_throttling_does_not_slow_renewals(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 2000;
    assert_next(bench, ELECTOR_UPDATE);
    answer_failure(bench, KUBE_THROTTLED); /* whatever its Retry-After says */
    assert_waits(bench, 500);
    bench->now += 500;
    get(bench, RECORD(US, 1));
    assert_next(bench, ELECTOR_UPDATE);
}

static void le_14_a_silent_elector_cannot_seem_to_lead(void **state)
{
    struct bench *bench = *state;
    lead(bench);
    bench->now += 13500; /* nobody called elector_next for seven periods */
    assert_int_equal(state_of(bench), ELECTOR_LEADER);
    assert_false(may_write(bench));
    assert_int_equal(elector_margin_ms(&bench->elector, now_of(bench)), 0);
}

#define ON_BENCH(test_) cmocka_unit_test_setup_teardown(test_, bench_setup, bench_teardown)

int main(void)
{
    static const struct CMUnitTest plain[] = {
        ON_BENCH(no_lease_is_created_at_once),
        ON_BENCH(the_first_thing_is_to_look),
        ON_BENCH(le_12_t_65_first_sight_waits_a_whole_duration),
        ON_BENCH(t_65_an_empty_holder_is_free_at_once),
        ON_BENCH(the_records_own_duration_counts),
        ON_BENCH(every_change_starts_the_wait_again),
        ON_BENCH(a_longer_version_counts_up_not_down),
        ON_BENCH(a_takeover_that_came_too_late_looks_again),
        ON_BENCH(le_11_candidates_do_not_march_in_step),
        ON_BENCH(t_75_a_watching_standby_does_not_poll),
        ON_BENCH(t_75_without_a_watch_it_polls),
        ON_BENCH(t_75_takeover_needs_one_request),
        ON_BENCH(a_released_lease_is_taken_when_the_watch_says_so),
        ON_BENCH(the_pace_of_polling_does_not_delay_a_takeover),
        ON_BENCH(an_answer_behind_the_watch_does_not_turn_time_back),
        ON_BENCH(a_restored_server_counts_even_when_its_versions_are_older),
        ON_BENCH(t_66_validity_counts_from_the_send),
        ON_BENCH(t_66_a_renewal_answered_after_the_deadline_does_not_help),
        ON_BENCH(t_66_a_takeover_answered_after_the_deadline_is_renewed_first),
        ON_BENCH(t_66_a_takeover_whose_answer_was_lost_is_found_out),
        ON_BENCH(t_66_le_5_a_renewal_whose_answer_was_lost_goes_on),
        ON_BENCH(t_66_le_5_a_conflict_is_looked_into_at_once),
        ON_BENCH(le_4_a_conflict_that_shows_another_holder_is_the_end),
        ON_BENCH(a_success_that_cannot_be_read_proves_nothing),
        ON_BENCH(a_lease_without_version_is_never_written),
        ON_BENCH(a_takeover_taken_away_before_its_answer_is_none),
        ON_BENCH(a_leader_renews_every_period),
        ON_BENCH(a_lagging_watch_does_not_dethrone),
        ON_BENCH(le_2_safety_is_a_tenth_or_a_second_and_at_most_a_third),
        ON_BENCH(t_70_nine_seconds_without_a_server_keep),
        ON_BENCH(t_70_le_3_ten_seconds_without_a_server_lose),
        ON_BENCH(t_70_a_request_that_hangs_does_not_hide_the_deadline),
        ON_BENCH(le_3_what_is_lost_is_not_won_back),
        ON_BENCH(t_67_le_4_a_stolen_lease_ends_it_when_the_watch_says_so),
        ON_BENCH(t_67_a_stolen_lease_ends_it_within_a_period_without_a_watch),
        ON_BENCH(t_67_an_emptied_holder_is_a_loss_too),
        ON_BENCH(t_68_le_9_a_deleted_lease_is_made_again_at_once),
        ON_BENCH(t_68_le_9_a_404_to_a_renewal_is_looked_into),
        ON_BENCH(t_68_le_9_made_again_by_somebody_else_is_a_loss),
        ON_BENCH(t_68_le_9_not_made_again_in_time_is_a_loss),
        ON_BENCH(t_68_a_standby_lets_the_holder_of_a_deleted_lease_finish),
        ON_BENCH(t_68_a_lease_deleted_after_its_release_is_free),
        ON_BENCH(t_68_a_lease_made_again_is_a_new_one),
        ON_BENCH(le_10_missing_fields_are_waited_for_and_then_replaced),
        ON_BENCH(le_10_transitions_stay_a_number_the_server_takes),
        ON_BENCH(a_holder_too_long_to_keep_is_still_a_holder),
        ON_BENCH(t_68_the_end_of_term_is_respected),
        ON_BENCH(t_68_being_preferred_changes_nothing),
        ON_BENCH(t_68_who_is_preferred_goes_first),
        ON_BENCH(t_68_other_fields_are_left_alone),
        ON_BENCH(t_69_le_7_release_reads_and_gives_back),
        ON_BENCH(t_69_the_watch_may_be_faster_than_the_answer),
        ON_BENCH(t_69_taken_over_just_before_is_left_alone),
        ON_BENCH(t_69_taken_over_between_look_and_write_is_left_alone),
        ON_BENCH(t_69_a_conflict_without_another_holder_is_tried_again),
        ON_BENCH(t_69_a_release_whose_answer_was_lost_counts),
        ON_BENCH(t_69_without_a_server_it_is_tried_a_few_times_a_second),
        ON_BENCH(t_69_a_deleted_lease_is_given_back_already),
        ON_BENCH(t_69_a_renewal_under_way_is_waited_for),
        ON_BENCH(t_69_a_standby_has_nothing_to_give),
        ON_BENCH(t_69_a_standby_gives_back_what_it_just_took),
        ON_BENCH(t_69_a_takeover_of_unknown_outcome_is_looked_into),
        ON_BENCH(le_8_what_is_lost_is_not_released),
        ON_BENCH(le_1_intervals_count_suspend),
        ON_BENCH(t_71_le_13_twenty_seconds_asleep_end_it_before_anything_else),
        ON_BENCH(t_71_wall_time_is_only_written),
        ON_BENCH(t_72_a_new_lease),
        ON_BENCH(t_72_a_takeover_counts),
        ON_BENCH(t_72_a_renewal_keeps_the_term),
        ON_BENCH(t_72_whole_seconds_have_six_digits_too),
        ON_BENCH(t_72_foreign_text_stays_inside_its_string),
        ON_BENCH(t_73_an_earlier_process_of_this_host_is_another_holder),
        ON_BENCH(t_74_throttling_does_not_slow_renewals),
        ON_BENCH(le_14_a_silent_elector_cannot_seem_to_lead),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(options_rows) + ARRAY_LEN(duration_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(options_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ options_rows[i].name, options_row, NULL, NULL, (void *)&options_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[count++] = plain[i];
    for (size_t i = 0; i < ARRAY_LEN(duration_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ duration_rows[i].name, duration_row, NULL, NULL, (void *)&duration_rows[i] };
    return cmocka_run_group_tests_name("kube/elector", tests, NULL, NULL);
}
