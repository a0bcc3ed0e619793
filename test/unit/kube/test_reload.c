/* T-78: certificate, key and authority change on disk while the client runs. The checks
 * come every millisecond: their timer is shortened at the linker. */
#include "kube_fixture.h"

#include "base/log.h"
#include "kube/transport.h"

#define GET_THING .verb = KUBE_GET, .kind = &thing_kind, .ns = STR("ns"), .name = STR("name")
#define WATCH_THINGS .verb = KUBE_WATCH, .kind = &thing_kind, .timeout_s = 300

/* --- time -------------------------------------------------------------------------- */

#define CHECK_MS 10000
static const struct transport *present;
static size_t checks; /* armed or done */
static int64_t moved_s;
static bool move_fast;
static int64_t move_ms;

struct transport *__real_transport_new(struct loop *loop, const struct transport_options *options,
                                       struct err *err);
struct transport *__wrap_transport_new(struct loop *loop, const struct transport_options *options,
                                       struct err *err);
struct transport *__wrap_transport_new(struct loop *loop, const struct transport_options *options,
                                       struct err *err)
{
    struct transport *made = __real_transport_new(loop, options, err);
    present = made;
    return made;
}

void __real_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    static const int64_t move_all_ms = 60000;
    if (present && timer->self == present) {
        assert_int_equal(delay_ms, CHECK_MS);
        checks++;
        delay_ms = 1;
    } else if (delay_ms == move_all_ms / 2 || delay_ms == move_all_ms / 3) {
        move_ms = delay_ms;
        delay_ms = move_fast ? 1 : delay_ms;
    }
    __real_loop_timer_set(timer, delay_ms);
}

struct wall_time __real_loop_wall(const struct loop *loop);
struct wall_time __wrap_loop_wall(const struct loop *loop);
struct wall_time __wrap_loop_wall(const struct loop *loop)
{
    return (struct wall_time){ __real_loop_wall(loop).us + moved_s * US_PER_S };
}

/* --- the place --------------------------------------------------------------------- */

static struct test_pair jane, john;
static struct test_ca other;
static struct strbuf logged = { .limit = 1 << 20 };

static void on_log(void *self, struct str line)
{
    (void)self;
    strbuf_add(&logged, line);
    strbuf_addc(&logged, '\n');
}

static void put(struct kube_fixture *fixture, const char *name, const char *text)
{
    scratch_write(&fixture->dir, name, str_c(text));
}

static int setup(void **state)
{
    present = NULL; /* the fixture's first client is not ours */
    int code = kube_fixture_setup(state);
    struct kube_fixture *fixture = *state;
    moved_s = 0;
    move_fast = false;
    strbuf_clear(&logged);
    test_pair_init(&jane, &fixture->ca, "jane", NULL);
    test_pair_init(&john, &fixture->ca, "john", NULL);
    test_ca_init(&other, "other CA");
    put(fixture, "cert", jane.cert_pem);
    put(fixture, "key", jane.key_pem);
    put(fixture, "ca", fixture->ca.pem);
    fixture->config.client_cert_pem = str_c(jane.cert_pem);
    fixture->config.client_key_pem = str_c(jane.key_pem);
    fixture->config.client_cert_path = arena_str(&fixture->arena, str_c(scratch_path(&fixture->dir, "cert")));
    fixture->config.client_key_path = arena_str(&fixture->arena, str_c(scratch_path(&fixture->dir, "key")));
    fixture->config.ca_path = arena_str(&fixture->arena, str_c(scratch_path(&fixture->dir, "ca")));
    log_capture(on_log, NULL);
    kube_fixture_client(fixture);
    return code;
}

static int teardown(void **state)
{
    log_capture(NULL, NULL);
    present = NULL;
    int code = kube_fixture_teardown(state);
    test_pair_done(&jane);
    test_pair_done(&john);
    test_ca_done(&other);
    strbuf_done(&logged);
    logged.limit = 1 << 20;
    return code;
}

static enum kube_failure get(struct kube_fixture *fixture)
{
    struct got got;
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    got_wait(&got);
    enum kube_failure failure = got.response.failure;
    got_done(&got);
    return failure;
}

static const char *peer(struct kube_fixture *fixture)
{
    assert_int_equal(get(fixture), KUBE_OK);
    return fixture->asked[fixture->asked_count - 1].peer;
}

static double reloads(struct kube_fixture *fixture, struct str result)
{
    struct metric *metric =
        metric_counter(fixture->metrics, "rest_client_transport_reload_total", "", "result", NULL);
    return metric_value(metric, (struct str[]){ result, STR_NULL });
}

/* A whole check after now: one may be half over. */
static void wait_for_check(struct kube_fixture *fixture)
{
    size_t before = checks;
    RUN_UNTIL(fixture, checks >= before + 2);
}

/* --- certificate and key ----------------------------------------------------------- */

static void reload__t_78_the_key_before_the_certificate(void **state)
{
    struct kube_fixture *fixture = *state;
    assert_string_equal(peer(fixture), "jane");
    put(fixture, "key", john.key_pem);
    RUN_UNTIL(fixture, reloads(fixture, STR("failure")) >= 2);
    assert_string_equal(peer(fixture), "jane");
    put(fixture, "cert", john.cert_pem);
    RUN_UNTIL(fixture, reloads(fixture, STR("success")) == 1);
    assert_string_equal(peer(fixture), "john");
    /* One line each, however often it was looked at. */
    const char *first = strstr(strbuf_cstr(&logged), "cannot take changed TLS files");
    assert_non_null(first);
    assert_null(strstr(first + 1, "cannot take changed TLS files"));
    assert_non_null(strstr(first, "changed TLS files are in use"));
    assert_null(strstr(strbuf_cstr(&logged), "PRIVATE KEY"));
}

static void reload__t_78_what_is_no_certificate_changes_nothing(void **state)
{
    struct kube_fixture *fixture = *state;
    static const char *const texts[] = {
        "garbage", "", " \n", "-----BEGIN CERTIFICATE-----\ngarbage\n-----END CERTIFICATE-----\n"
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        double before = reloads(fixture, STR("failure"));
        put(fixture, "cert", texts[i]);
        RUN_UNTIL(fixture, reloads(fixture, STR("failure")) >= before + 2);
        assert_string_equal(peer(fixture), "jane");
    }
    remove(scratch_path(&fixture->dir, "cert"));
    double before = reloads(fixture, STR("failure"));
    RUN_UNTIL(fixture, reloads(fixture, STR("failure")) >= before + 2);
    assert_string_equal(peer(fixture), "jane");
    put(fixture, "cert", jane.cert_pem);
    wait_for_check(fixture);
    assert_true(reloads(fixture, STR("success")) == 0);
}

static void reload__t_78_an_expired_certificate_is_not_taken(void **state)
{
    struct kube_fixture *fixture = *state;
    moved_s = INT64_C(200) * 366 * 86400;
    put(fixture, "key", john.key_pem);
    put(fixture, "cert", john.cert_pem);
    RUN_UNTIL(fixture, strstr(strbuf_cstr(&logged), "has expired already"));
    assert_string_equal(peer(fixture), "jane");
    assert_true(reloads(fixture, STR("success")) == 0);
}

static void reload__aut_9_an_end_that_is_near_is_told_once(void **state)
{
    struct kube_fixture *fixture = *state;
    moved_s = INT64_C(200) * 366 * 86400;
    wait_for_check(fixture);
    wait_for_check(fixture);
    const char *first = strstr(strbuf_cstr(&logged), "expires soon");
    assert_non_null(first);
    assert_null(strstr(first + 1, "expires soon"));
    struct metric *end = metric_gauge(
        fixture->metrics, "rest_client_client_certificate_expiration_timestamp_seconds", "", NULL);
    assert_true(metric_value(end, (struct str[]){ STR_NULL }) > 1e9);
}

static void reload__the_same_bytes_are_no_change(void **state)
{
    struct kube_fixture *fixture = *state;
    put(fixture, "cert", jane.cert_pem);
    put(fixture, "key", jane.key_pem);
    wait_for_check(fixture);
    assert_true(reloads(fixture, STR("success")) == 0);
    assert_true(reloads(fixture, STR("failure")) == 0);
    assert_null(strstr(strbuf_cstr(&logged), "TLS"));
}

/* --- the authority ----------------------------------------------------------------- */

static void reload__t_78_the_authority_changes(void **state)
{
    struct kube_fixture *fixture = *state;
    struct str both = arena_strf(&fixture->arena, "%s%s", fixture->ca.pem, other.pem);
    put(fixture, "ca", both.ptr);
    RUN_UNTIL(fixture, reloads(fixture, STR("success")) == 1);
    assert_int_equal(get(fixture), KUBE_OK);
    put(fixture, "ca", other.pem); /* the new one only: this server is not of it */
    RUN_UNTIL(fixture, reloads(fixture, STR("success")) == 2);
    assert_int_equal(get(fixture), KUBE_UNREACHABLE);
    put(fixture, "ca", fixture->ca.pem);
    RUN_UNTIL(fixture, reloads(fixture, STR("success")) == 3);
    assert_int_equal(get(fixture), KUBE_OK);
}

static void reload__aut_8_an_empty_authority_is_not_the_systems(void **state)
{
    struct kube_fixture *fixture = *state;
    put(fixture, "ca", "\n");
    RUN_UNTIL(fixture, reloads(fixture, STR("failure")) >= 2);
    assert_int_equal(get(fixture), KUBE_OK);
    assert_non_null(strstr(strbuf_cstr(&logged), "/ca is empty"));
}

/* --- what is under way ------------------------------------------------------------- */

static void take_john(struct kube_fixture *fixture)
{
    double before = reloads(fixture, STR("success"));
    put(fixture, "key", john.key_pem);
    put(fixture, "cert", john.cert_pem);
    RUN_UNTIL(fixture, reloads(fixture, STR("success")) > before);
}

static void reload__a_request_under_way_ends_where_it_began(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    fixture->canned = (struct canned){ .how = CANNED_NEVER };
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    RUN_UNTIL(fixture, fixture->open_count == 1);
    take_john(fixture);
    fixture->canned = (struct canned){ .how = CANNED_REPLY };
    assert_string_equal(peer(fixture), "john");
    assert_int_equal(got.done, 0);
    http_exchange_reply(fixture->open[0], 200, "application/json", STR("{}"));
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].peer, "jane");
    got_done(&got);
}

static void reload__aut_7_watches_move_one_by_one_within_a_minute(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got watches[2], after;
    fixture->canned = (struct canned){ .how = CANNED_STREAM };
    for (size_t i = 0; i < 2; i++) {
        got_init(&watches[i], fixture);
        got_stream(&watches[i], (struct kube_request){ WATCH_THINGS });
        RUN_UNTIL(fixture, watches[i].data.len > 0);
    }
    take_john(fixture);
    assert_int_equal(move_ms, 20000);
    kube_fixture_settle(fixture);
    assert_int_equal(watches[0].done + watches[1].done, 0);
    move_fast = true;
    put(fixture, "key", jane.key_pem); /* there and back, faster now */
    put(fixture, "cert", jane.cert_pem);
    for (size_t i = 0; i < 2; i++) {
        RUN_UNTIL(fixture, watches[i].done);
        assert_int_equal(watches[i].response.failure, KUBE_OK);
        assert_int_equal(watches[i].response.code, 200);
        got_done(&watches[i]);
    }
    got_init(&after, fixture);
    got_stream(&after, (struct kube_request){ WATCH_THINGS });
    RUN_UNTIL(fixture, after.data.len > 0);
    kube_fixture_settle(fixture);
    assert_int_equal(after.done, 0); /* on the newest already */
    kube_cancel(after.call);
    got_done(&after);
}

#define RELOAD_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELOAD_TEST(reload__t_78_the_key_before_the_certificate),
        RELOAD_TEST(reload__t_78_what_is_no_certificate_changes_nothing),
        RELOAD_TEST(reload__t_78_an_expired_certificate_is_not_taken),
        RELOAD_TEST(reload__aut_9_an_end_that_is_near_is_told_once),
        RELOAD_TEST(reload__the_same_bytes_are_no_change),
        RELOAD_TEST(reload__t_78_the_authority_changes),
        RELOAD_TEST(reload__aut_8_an_empty_authority_is_not_the_systems),
        RELOAD_TEST(reload__a_request_under_way_ends_where_it_began),
        RELOAD_TEST(reload__aut_7_watches_move_one_by_one_within_a_minute),
    };
    return cmocka_run_group_tests_name("kube/reload", tests, NULL, NULL);
}
