/* The driver of leader election over real HTTP: what the elector decides is tested without
 * sockets, here its requests travel. The clock can be pushed ahead, as when a process was
 * stopped; otherwise short real times pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/log.h"
#include "kube/leader.h"
#include "lease_server.h"

#define FAILSAFE_MS 60000
#define TICK_MS 5
#define US "host_us"

/* --- time ---------------------------------------------------------------------------- */

static int64_t ahead_ms;

struct mono_time __real_mono_now(void);
struct mono_time __wrap_mono_now(void);

struct mono_time __wrap_mono_now(void)
{
    return mono_add_ms(__real_mono_now(), ahead_ms);
}

/* --- the fixture ------------------------------------------------------------------------ */

struct fixture {
    struct loop *loop;
    struct loop_timer failsafe, tick;
    bool failed;
    struct lease_server server;
    char url[64];
    struct kube_config config;
    struct metric_registry *metrics;
    struct kube_client *client; /* of the Events */
    struct event_recorder *events;
    struct leader *leader;
    int started, stopped;
    bool lost;
    struct strbuf log;
};

static void on_failsafe(void *self)
{
    struct fixture *fixture = self;
    fixture->failed = true;
    loop_stop(fixture->loop);
}

static void on_tick(void *self)
{
    struct fixture *fixture = self;
    loop_stop(fixture->loop);
}

static void turn(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    loop_timer_set(&fixture->tick, TICK_MS);
    assert_true(loop_run(fixture->loop, &err));
    assert_false(fixture->failed);
}

#define RUN_UNTIL(condition_)                                                                                \
    do {                                                                                                     \
        while (!(condition_))                                                                                \
            turn(fixture);                                                                                   \
    } while (0)

/* Some turns for what should not happen. */
static void settle(struct fixture *fixture)
{
    for (int i = 0; i < 40; i++)
        turn(fixture);
}

static void on_started(void *self)
{
    struct fixture *fixture = self;
    fixture->started++;
    assert_int_equal(fixture->stopped, 0);
    assert_true(leader_may_write(fixture->leader));
    loop_stop(fixture->loop);
}

static void on_stopped(void *self, bool lost)
{
    struct fixture *fixture = self;
    fixture->stopped++;
    fixture->lost = lost;
    assert_false(leader_may_write(fixture->leader));
    loop_stop(fixture->loop);
}

static void on_log(void *self, struct str line)
{
    struct fixture *fixture = self;
    strbuf_add(&fixture->log, line);
    strbuf_addc(&fixture->log, '\n');
}

static bool may_tell(void *self)
{
    const struct fixture *fixture = self;
    return leader_may_tell(fixture->leader);
}

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    struct err err = ERR_INIT;
    *state = fixture;
    ahead_ms = 0;
    fixture->log = STRBUF_INIT((size_t)1 << 20);
    log_capture(on_log, fixture);
    fixture->loop = loop_new(&err);
    loop_timer_init(&fixture->failsafe, fixture->loop, on_failsafe, fixture);
    loop_timer_set(&fixture->failsafe, FAILSAFE_MS);
    loop_timer_init(&fixture->tick, fixture->loop, on_tick, fixture);
    lease_server_init(&fixture->server, fixture->loop);
    snprintf(fixture->url, sizeof fixture->url, "http://127.0.0.1:%d",
             http_server_port(fixture->server.http));
    fixture->config = (struct kube_config){ .server = str_c(fixture->url) };
    fixture->metrics = metric_registry_new();
    struct kube_client_options client = { .config = &fixture->config, .user_agent = "test/1" };
    fixture->client = kube_client_new(fixture->loop, &client, &err);
    struct event_recorder_options events = { .controller = "koord-manager",
                                             .instance = STR("host"),
                                             .may_write = may_tell,
                                             .may_write_self = fixture };
    fixture->events = event_recorder_new(fixture->client, &events);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    leader_free(fixture->leader);
    event_recorder_free(fixture->events);
    kube_client_free(fixture->client);
    metric_registry_free(fixture->metrics);
    lease_server_done(&fixture->server);
    loop_timer_done(&fixture->failsafe);
    loop_timer_done(&fixture->tick);
    loop_free(fixture->loop);
    log_capture(NULL, NULL);
    strbuf_done(&fixture->log);
    free(fixture);
    return 0;
}

/* --- what happens ------------------------------------------------------------------------ */

static struct leader_options options_of(struct fixture *fixture)
{
    return (struct leader_options){
        .config = &fixture->config,
        .ns = STR(LEASE_NS),
        .name = STR(LEASE_NAME),
        .identity = STR(US),
        .lease_ms = 15000,
        .renew_ms = 10000,
        .retry_ms = 50,
        .seed = 3,
        .metrics = fixture->metrics,
        .events = fixture->events,
        .started = on_started,
        .stopped = on_stopped,
        .self = fixture,
    };
}

static void start_with(struct fixture *fixture, const struct leader_options *options)
{
    struct err err = ERR_INIT;
    fixture->leader = leader_new(fixture->loop, options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(fixture->leader);
    leader_start(fixture->leader);
    assert_int_equal(fixture->started, 0); /* never inside the call */
}

static void start(struct fixture *fixture)
{
    struct leader_options options = options_of(fixture);
    start_with(fixture, &options);
}

/* Times that really pass. */
static void start_short(struct fixture *fixture)
{
    struct leader_options options = options_of(fixture);
    options.lease_ms = 1000;
    options.renew_ms = 700;
    start_with(fixture, &options);
}

static void start_beside_foreign(struct fixture *fixture)
{
    struct leader_options options = options_of(fixture);
    options.foreign_ns = STR(LEASE_FOREIGN_NS);
    start_with(fixture, &options);
}

static void lead(struct fixture *fixture)
{
    start(fixture);
    RUN_UNTIL(fixture->started == 1);
}

static struct lease_slot *ours(struct fixture *fixture)
{
    return lease_slot(&fixture->server, LEASE_NS);
}

static bool holder_is(struct fixture *fixture, const char *holder)
{
    return str_eq(lease_slot_text(ours(fixture), "holderIdentity"), str_c(holder));
}

static bool watched(const struct fixture *fixture)
{
    for (size_t i = 0; i < LEASE_WATCHES; i++) {
        if (fixture->server.watches[i].exchange)
            return true;
    }
    return false;
}

#define THEIRS "{'holderIdentity':'host_them','leaseDurationSeconds':15}"
#define THEIRS_SHORT "{'holderIdentity':'host_them','leaseDurationSeconds':1}"

static double figure(struct fixture *fixture, const char *series)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)1 << 20);
    metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &text);
    const char *at = strstr(strbuf_cstr(&text), "\n");
    while (at && strncmp(at + 1, series, strlen(series)) != 0)
        at = strstr(at + 1, "\n");
    double value = -1;
    if (at && sscanf(at + 1 + strlen(series), " %lf", &value) != 1)
        value = -1;
    return value;
}

static bool logged(const struct fixture *fixture, const char *text)
{
    return strstr(strbuf_cstr(&fixture->log), text) != NULL;
}

/* --- becoming leader ------------------------------------------------------------------------ */

static void an_empty_cluster_is_led_at_once(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    assert_false(leader_may_write(fixture->leader));
    RUN_UNTIL(fixture->started == 1);
    assert_true(holder_is(fixture, US));
    assert_int_equal(lease_slot_number(ours(fixture), "leaseDurationSeconds"), 15);
    assert_int_equal(fixture->server.creates, 1);
    assert_true(logged(fixture, "became leader"));
}

static void t_72_times_are_written_to_the_microsecond(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    static const char *const fields[] = { "acquireTime", "renewTime" };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct str text = lease_slot_text(ours(fixture), fields[i]);
        assert_int_equal(text.len, strlen("2026-07-24T08:00:00.123456Z"));
        assert_int_equal(text.ptr[19], '.');
        assert_int_equal(text.ptr[26], 'Z');
    }
}

static void it_renews_and_keeps_the_term(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    struct str acquired = lease_slot_text(ours(fixture), "acquireTime");
    RUN_UNTIL(fixture->server.patches >= 3);
    assert_true(str_eq(lease_slot_text(ours(fixture), "acquireTime"), acquired));
    assert_int_equal(lease_slot_number(ours(fixture), "leaseTransitions"), 0);
    assert_int_equal(fixture->started, 1);
    assert_int_equal(fixture->stopped, 0);
}

static void le_6_requests_have_a_client_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    struct str agent = fixture->server.agent;
    assert_true(str_starts_with(agent, STR("koord-manager/")));
    assert_true(str_ends_with(agent, STR(" leader-election")));
}

static void a_held_lease_is_waited_for(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    start(fixture);
    RUN_UNTIL(watched(fixture));
    settle(fixture);
    assert_int_equal(fixture->started, 0);
    assert_int_equal(fixture->server.patches + fixture->server.creates, 0);
    assert_true(logged(fixture, "holder=\"host_them\""));
}

static void t_75_a_lease_not_renewed_is_taken(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS,
                     "{'holderIdentity':'host_them','leaseDurationSeconds':1,'leaseTransitions':4,"
                     "'acquireTime':'2026-07-24T08:00:00.000000Z'}");
    start(fixture);
    RUN_UNTIL(fixture->started == 1);
    assert_true(holder_is(fixture, US));
    assert_int_equal(lease_slot_number(ours(fixture), "leaseTransitions"), 5);
    assert_false(str_eq(lease_slot_text(ours(fixture), "acquireTime"), STR("2026-07-24T08:00:00.000000Z")));
    assert_int_equal(fixture->server.patches, 1);
}

static void t_75_a_released_lease_is_taken_by_the_watch(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    start(fixture);
    RUN_UNTIL(watched(fixture));
    lease_server_put(&fixture->server, LEASE_NS, "{'holderIdentity':null,'leaseDurationSeconds':1}");
    RUN_UNTIL(fixture->started == 1);
    assert_true(holder_is(fixture, US));
}

static void without_the_right_to_watch_it_polls(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.watching = MOOD_REFUSING;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    start(fixture);
    RUN_UNTIL(fixture->server.gets >= 5);
    assert_int_equal(fixture->started, 0);
    lease_server_put(&fixture->server, LEASE_NS, "{'holderIdentity':null}");
    RUN_UNTIL(fixture->started == 1);
}

static void t_68_other_fields_survive_our_writes(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS,
                     "{'strategy':'OldestEmulationVersion','leaseDurationSeconds':1}");
    lead(fixture);
    RUN_UNTIL(fixture->server.patches >= 3);
    assert_true(str_eq(lease_slot_text(ours(fixture), "strategy"), STR("OldestEmulationVersion")));
}

static void an_answer_that_is_no_lease_makes_nobody_leader(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.writes = MOOD_HTML;
    start(fixture);
    RUN_UNTIL(fixture->server.creates >= 2);
    assert_int_equal(fixture->started, 0);
    fixture->server.writes = MOOD_GOOD;
    RUN_UNTIL(fixture->started == 1);
}

static void bad_times_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    struct leader_options options = options_of(fixture);
    options.renew_ms = 15000;
    assert_null(leader_new(fixture->loop, &options, &err));
    assert_int_equal(err.kind, ERR_INVALID);
}

/* --- losing it -------------------------------------------------------------------------------- */

static void t_67_a_stolen_lease_stops_it(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    RUN_UNTIL(watched(fixture));
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
    assert_true(holder_is(fixture, "host_them"));
    assert_true(logged(fixture, "lost the lease"));
    size_t patches = fixture->server.patches;
    settle(fixture);
    assert_int_equal(fixture->server.patches, patches);
    assert_int_equal(fixture->stopped, 1);
}

static void t_71_le_13_a_process_that_was_stopped_writes_nothing_when_it_wakes(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    size_t patches = fixture->server.patches, creates = fixture->server.creates;
    ahead_ms += 20000;
    assert_false(leader_may_write(fixture->leader)); /* before any callback ran */
    assert_false(leader_may_tell(fixture->leader));
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
    settle(fixture);
    assert_true(fixture->server.patches <= patches + 1); /* one may have been on its way */
    assert_int_equal(fixture->server.creates, creates);
}

static void t_70_a_server_that_fails_costs_the_lead_in_the_end(void **state)
{
    struct fixture *fixture = *state;
    start_short(fixture);
    RUN_UNTIL(fixture->started == 1);
    fixture->server.writes = MOOD_FAILING;
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
    assert_true(fixture->server.patches >= 2); /* it did not give up at the first */
}

static void t_70_a_server_that_is_silent_costs_the_lead_in_the_end(void **state)
{
    struct fixture *fixture = *state;
    start_short(fixture);
    RUN_UNTIL(fixture->started == 1);
    fixture->server.writes = fixture->server.reads = MOOD_SILENT;
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
}

static void t_74_throttling_does_not_stop_renewals(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->server.writes = MOOD_BUSY;
    size_t patches = fixture->server.patches;
    RUN_UNTIL(fixture->server.patches >= patches + 3);
    fixture->server.writes = MOOD_GOOD;
    int64_t rv = ours(fixture)->rv;
    RUN_UNTIL(ours(fixture)->rv > rv);
    assert_int_equal(fixture->stopped, 0);
}

static void t_68_a_deleted_lease_is_made_again(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    RUN_UNTIL(watched(fixture));
    struct str acquired = lease_slot_text(ours(fixture), "acquireTime");
    lease_server_delete(&fixture->server, LEASE_NS);
    RUN_UNTIL(ours(fixture)->exists);
    assert_true(holder_is(fixture, US));
    assert_true(str_eq(lease_slot_text(ours(fixture), "acquireTime"), acquired));
    assert_int_equal(fixture->server.creates, 2);
    RUN_UNTIL(fixture->server.patches >= 3);
    assert_int_equal(fixture->stopped, 0);
}

static void t_68_a_label_on_the_lease_costs_one_look(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    lease_server_put(&fixture->server, LEASE_NS, "{}");
    size_t patches = fixture->server.patches;
    RUN_UNTIL(fixture->server.patches >= patches + 3);
    assert_true(leader_may_write(fixture->leader));
}

/* --- giving it back ---------------------------------------------------------------------------- */

static void t_69_release_gives_it_back(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    leader_release(fixture->leader);
    assert_int_equal(fixture->stopped, 0);
    assert_false(leader_may_write(fixture->leader));
    RUN_UNTIL(fixture->stopped == 1);
    assert_false(fixture->lost);
    assert_true(holder_is(fixture, ""));
    assert_int_equal(lease_slot_number(ours(fixture), "leaseDurationSeconds"), 1);
    settle(fixture);
    assert_true(holder_is(fixture, ""));
    leader_release(fixture->leader);
    settle(fixture);
    assert_int_equal(fixture->stopped, 1);
}

static void t_69_release_never_blanks_anothers(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.watching = MOOD_REFUSING; /* it does not see it coming */
    lead(fixture);
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    leader_release(fixture->leader);
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(holder_is(fixture, "host_them"));
}

static void t_69_release_does_not_wait_long_for_a_silent_server(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->server.writes = fixture->server.reads = MOOD_SILENT;
    leader_release(fixture->leader);
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
    assert_true(holder_is(fixture, US));
    assert_false(logged(fixture, "lost the lease")); /* nobody took it */
}

static void t_69_a_standby_leaves_at_once(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    start(fixture);
    RUN_UNTIL(watched(fixture));
    settle(fixture);
    leader_release(fixture->leader);
    assert_int_equal(fixture->stopped, 0); /* never inside the call */
    RUN_UNTIL(fixture->stopped == 1);
    assert_false(fixture->lost);
    assert_int_equal(fixture->started, 0);
    assert_true(holder_is(fixture, "host_them"));
}

static void release_before_anything_was_answered(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.reads = MOOD_SILENT;
    start(fixture);
    RUN_UNTIL(fixture->server.gets == 1);
    leader_release(fixture->leader);
    RUN_UNTIL(fixture->stopped == 1);
    assert_int_equal(fixture->started, 0);
}

static void freed_in_the_middle_of_a_request(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.writes = MOOD_SILENT;
    start(fixture);
    RUN_UNTIL(fixture->server.creates == 1);
    leader_free(fixture->leader);
    fixture->leader = NULL;
    settle(fixture);
    assert_int_equal(fixture->stopped, 0);
}

/* --- somebody else's Lease ------------------------------------------------------------------------ */

static void beside_nobody_it_leads(void **state)
{
    struct fixture *fixture = *state;
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->started == 1);
    assert_true(fixture->server.foreign_gets >= 1);
    assert_int_equal((int)figure(fixture, "koord_manager_foreign_lease_active"), 0);
}

static void beside_a_renewed_lease_it_does_not_lead(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_FOREIGN_NS, THEIRS_SHORT);
    start_beside_foreign(fixture);
    for (int i = 0; i < 30; i++) { /* longer than the second it lasts, when it is not renewed */
        RUN_UNTIL(fixture->server.foreign_gets > (size_t)i);
        lease_server_put(&fixture->server, LEASE_FOREIGN_NS, "{}");
    }
    assert_int_equal(fixture->started, 0);
    assert_false(ours(fixture)->exists);
    assert_int_equal((int)figure(fixture, "koord_manager_foreign_lease_active"), 1);
    assert_true(logged(fixture, "another manager renews"));
    RUN_UNTIL(fixture->started == 1); /* nobody renews it any more */
    assert_int_equal((int)figure(fixture, "koord_manager_foreign_lease_active"), 0);
}

static void beside_a_released_lease_it_leads(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_FOREIGN_NS, "{'leaseDurationSeconds':1000}");
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->started == 1);
}

static void when_another_begins_to_renew_it_yields(void **state)
{
    struct fixture *fixture = *state;
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->started == 1);
    lease_server_put(&fixture->server, LEASE_FOREIGN_NS, THEIRS);
    RUN_UNTIL(fixture->stopped == 1);
    assert_true(fixture->lost);
}

static void not_allowed_to_look_it_leads_and_says_so_once(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.foreign = MOOD_REFUSING;
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->started == 1);
    RUN_UNTIL(fixture->server.foreign_gets >= 3);
    const char *said = strstr(strbuf_cstr(&fixture->log), "not allowed to look");
    assert_non_null(said);
    assert_null(strstr(said + 1, "not allowed to look"));
}

static void as_long_as_it_cannot_look_it_does_not_lead(void **state)
{
    struct fixture *fixture = *state;
    fixture->server.foreign = MOOD_FAILING;
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->server.foreign_gets >= 4);
    assert_int_equal(fixture->started, 0);
    fixture->server.foreign = MOOD_HTML;
    RUN_UNTIL(fixture->server.foreign_gets >= 8);
    assert_int_equal(fixture->started, 0);
    fixture->server.foreign = MOOD_GOOD;
    RUN_UNTIL(fixture->started == 1);
}

static void a_look_that_fails_later_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    start_beside_foreign(fixture);
    RUN_UNTIL(fixture->started == 1);
    fixture->server.foreign = MOOD_FAILING;
    size_t looks = fixture->server.foreign_gets;
    RUN_UNTIL(fixture->server.foreign_gets >= looks + 4);
    assert_int_equal(fixture->stopped, 0);
}

static void its_own_namespace_is_not_foreign(void **state)
{
    struct fixture *fixture = *state;
    struct leader_options options = options_of(fixture);
    options.foreign_ns = STR(LEASE_NS);
    start_with(fixture, &options);
    RUN_UNTIL(fixture->started == 1);
    RUN_UNTIL(fixture->server.patches >= 3);
    assert_int_equal(fixture->stopped, 0);
}

/* --- figures and Events ---------------------------------------------------------------------------- */

static void t_93_metrics_say_who_leads(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS);
    start(fixture);
    assert_int_equal((int)figure(fixture, "leader_election_master_status{name=\"koordinator-manager\"}"), 0);
    RUN_UNTIL(watched(fixture));
    lease_server_put(&fixture->server, LEASE_NS, "{'holderIdentity':null}");
    RUN_UNTIL(fixture->started == 1);
    assert_int_equal((int)figure(fixture, "leader_election_master_status{name=\"koordinator-manager\"}"), 1);
    assert_true(figure(fixture, "leader_election_slowpath_total{name=\"koordinator-manager\"}") >= 1);
    assert_true(figure(fixture, "koord_manager_lease_transitions_total") >= 2);
    RUN_UNTIL(fixture->server.patches >= 3);
    double margin = figure(fixture, "koord_manager_lease_margin_seconds{name=\"koordinator-manager\"}");
    assert_true(margin > 3.5 && margin <= 13.5);
    assert_true(
        figure(fixture, "koord_manager_lease_renew_duration_seconds_count{name=\"koordinator-manager\"}") >=
        2);
    leader_release(fixture->leader);
    RUN_UNTIL(fixture->stopped == 1);
    assert_int_equal((int)figure(fixture, "leader_election_master_status{name=\"koordinator-manager\"}"), 0);
}

static bool event_says(const struct fixture *fixture, const char *text)
{
    struct str event = fixture->server.last_event;
    return event.len && memmem(event.ptr, event.len, text, strlen(text));
}

static void events_say_who_leads(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    RUN_UNTIL(fixture->server.events == 1);
    assert_true(event_says(fixture, "\"reason\":\"LeaderElection\""));
    assert_true(event_says(fixture, "\"note\":\"host_us became leader\""));
    assert_true(event_says(fixture, "\"kind\":\"Lease\""));
    assert_true(event_says(fixture, "\"namespace\":\"" LEASE_NS "\""));
    leader_release(fixture->leader);
    RUN_UNTIL(fixture->server.events == 2);
    assert_true(event_says(fixture, "\"note\":\"host_us stopped leading\""));
}

static void events_say_whose_lease_ran_out(void **state)
{
    struct fixture *fixture = *state;
    lease_server_put(&fixture->server, LEASE_NS, THEIRS_SHORT);
    start(fixture);
    RUN_UNTIL(fixture->server.events == 1);
    assert_true(event_says(fixture, "\"note\":\"host_us became leader after host_them stopped renewing\""));
}

#define TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_cluster_is_led_at_once),
        TEST(t_72_times_are_written_to_the_microsecond),
        TEST(it_renews_and_keeps_the_term),
        TEST(le_6_requests_have_a_client_of_their_own),
        TEST(a_held_lease_is_waited_for),
        TEST(t_75_a_lease_not_renewed_is_taken),
        TEST(t_75_a_released_lease_is_taken_by_the_watch),
        TEST(without_the_right_to_watch_it_polls),
        TEST(t_68_other_fields_survive_our_writes),
        TEST(an_answer_that_is_no_lease_makes_nobody_leader),
        TEST(bad_times_are_refused),
        TEST(t_67_a_stolen_lease_stops_it),
        TEST(t_71_le_13_a_process_that_was_stopped_writes_nothing_when_it_wakes),
        TEST(t_70_a_server_that_fails_costs_the_lead_in_the_end),
        TEST(t_70_a_server_that_is_silent_costs_the_lead_in_the_end),
        TEST(t_74_throttling_does_not_stop_renewals),
        TEST(t_68_a_deleted_lease_is_made_again),
        TEST(t_68_a_label_on_the_lease_costs_one_look),
        TEST(t_69_release_gives_it_back),
        TEST(t_69_release_never_blanks_anothers),
        TEST(t_69_release_does_not_wait_long_for_a_silent_server),
        TEST(t_69_a_standby_leaves_at_once),
        TEST(release_before_anything_was_answered),
        TEST(freed_in_the_middle_of_a_request),
        TEST(beside_nobody_it_leads),
        TEST(beside_a_renewed_lease_it_does_not_lead),
        TEST(beside_a_released_lease_it_leads),
        TEST(when_another_begins_to_renew_it_yields),
        TEST(not_allowed_to_look_it_leads_and_says_so_once),
        TEST(as_long_as_it_cannot_look_it_does_not_lead),
        TEST(a_look_that_fails_later_changes_nothing),
        TEST(its_own_namespace_is_not_foreign),
        TEST(t_93_metrics_say_who_leads),
        TEST(events_say_who_leads),
        TEST(events_say_whose_lease_ran_out),
    };
    return cmocka_run_group_tests_name("kube/leader", tests, NULL, NULL);
}
