/* T-81, T-82: a client whose credentials come from a plugin. The plugins are shell scripts;
 * long waits are shortened at the linker. */
#include "kube_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/rfc3339.h"
#include "kube/exec_plugin.h"

#define V1 "client.authentication.k8s.io/v1"
#define GET_THING .verb = KUBE_GET, .kind = &thing_kind, .ns = STR("ns"), .name = STR("name")
#define UNAUTHORIZED                                                                                         \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Unauthorized\",\"message\":\"who?\",\"code\":" \
    "401}"

/* --- time -------------------------------------------------------------------------- */

/* The plugin's own waits end after 1 ms when `hasty`, and the wall clock can be moved. */
static bool hasty;
static int64_t longest_ms;
static int64_t moved_s;
static const struct exec_plugin *present;

struct exec_plugin *__real_exec_plugin_new(struct loop *loop, const struct exec_plugin_options *options);
struct exec_plugin *__wrap_exec_plugin_new(struct loop *loop, const struct exec_plugin_options *options);
struct exec_plugin *__wrap_exec_plugin_new(struct loop *loop, const struct exec_plugin_options *options)
{
    struct exec_plugin *made = __real_exec_plugin_new(loop, options);
    present = made;
    return made;
}

void __real_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    bool own = present && timer->self == present;
    if (own)
        longest_ms = max_i64(longest_ms, delay_ms);
    __real_loop_timer_set(timer, own && hasty ? min_i64(delay_ms, 1) : delay_ms);
}

struct wall_time __real_loop_wall(const struct loop *loop);
struct wall_time __wrap_loop_wall(const struct loop *loop);
struct wall_time __wrap_loop_wall(const struct loop *loop)
{
    return (struct wall_time){ __real_loop_wall(loop).us + moved_s * US_PER_S };
}

/* --- scripts ----------------------------------------------------------------------- */

/* Each run leaves a mark; `$n` is the number of this one. */
#define COUNT "echo >> runs; n=$(wc -l < runs); "
#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{"
#define SAY(status) "cat <<E\n" HEAD status "}}\nE\n"

static struct kube_exec plugin;

static void use_script(struct kube_fixture *fixture, const char *script)
{
    struct str text =
        arena_strf(&fixture->arena, "#!/bin/sh\ncd %s\n" COUNT "%s\n", fixture->dir.path, script);
    const char *path = scratch_write(&fixture->dir, "plugin", text);
    assert_int_equal(chmod(path, 0700), 0);
    plugin = (struct kube_exec){ .api_version = STR(V1),
                                 .command = arena_str(&fixture->arena, str_c(path)),
                                 .install_hint = STR("install it\nfrom there") };
    fixture->config.token = STR_NULL;
    fixture->config.exec = &plugin;
    kube_fixture_client(fixture);
}

static int64_t runs(struct kube_fixture *fixture)
{
    FILE *file = fopen(scratch_path(&fixture->dir, "runs"), "re");
    int64_t count = 0;
    for (int c; file && (c = getc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* An ExecCredential's expirationTimestamp `s` seconds from now. */
static const char *in_seconds(struct kube_fixture *fixture, int64_t s)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    rfc3339_format(&text, (struct wall_time){ wall_now().us + s * US_PER_S });
    return arena_str(&fixture->arena, strbuf_str(&text)).ptr;
}

static struct kube_response get(struct kube_fixture *fixture, struct got *got)
{
    got_init(got, fixture);
    got_send(got, (struct kube_request){ GET_THING });
    got_wait(got);
    return got->response;
}

/* --- the first credential ---------------------------------------------------------- */

static void plugin__requests_wait_for_one_run(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got gots[5];
    use_script(fixture, SAY("\"token\":\"t$n\""));
    for (size_t i = 0; i < ARRAY_LEN(gots); i++) {
        got_init(&gots[i], fixture);
        got_send(&gots[i], (struct kube_request){ GET_THING });
    }
    for (size_t i = 0; i < ARRAY_LEN(gots); i++) {
        RUN_UNTIL(fixture, gots[i].done);
        assert_int_equal(gots[i].response.failure, KUBE_OK);
        assert_string_equal(fixture->asked[i].authorization, "Bearer t1");
        got_done(&gots[i]);
    }
    assert_int_equal(runs(fixture), 1);
}

static void plugin__environment_and_arguments(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct str args[] = { STR_INIT("one two"), STR_INIT("$HOME") };
    static const struct kube_exec_env env[] = { { STR_INIT("KOORD_TEST_A"), STR_INIT("a=b") } };
    struct got got;
    setenv("KOORD_TEST_A", "inherited", 1);
    setenv("KOORD_TEST_B", "inherited", 1);
    use_script(
        fixture,
        "printf '%s|' \"$KUBERNETES_EXEC_INFO\" \"$KOORD_TEST_A\" \"$KOORD_TEST_B\" \"$@\" > seen\n" SAY(
            "\"token\":\"t\""));
    plugin.args = args;
    plugin.arg_count = 2;
    plugin.env = env;
    plugin.env_count = 1;
    kube_fixture_client(fixture);
    get(fixture, &got);
    CLEANUP(strbuf_done) struct strbuf seen = STRBUF_INIT(4096);
    struct err err = ERR_INIT;
    assert_true(file_read(scratch_path(&fixture->dir, "seen"), &seen, &err));
    assert_string_equal(strbuf_cstr(&seen),
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                        "\",\"spec\":{\"interactive\":false}}|a=b|inherited|one two|$HOME|");
    got_done(&got);
}

static void plugin__yaml_is_understood(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, "printf 'kind: ExecCredential\\napiVersion: " V1 "\\nstatus: {token: yaml}\\n'");
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "Bearer yaml");
    got_done(&got);
}

static void plugin__net_8_none_is_run_for_plain_http(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, SAY("\"token\":\"t\""));
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "");
    kube_fixture_settle(fixture);
    assert_int_equal(runs(fixture), 0);
    got_done(&got);
}

static void plugin__a_certificate_is_shown_to_the_server(void **state)
{
    struct kube_fixture *fixture = *state;
    struct test_pair pair = { 0 };
    struct got got;
    test_pair_init(&pair, &fixture->ca, "jane", NULL);
    scratch_write(&fixture->dir, "cert", str_c(pair.cert_pem));
    scratch_write(&fixture->dir, "key", str_c(pair.key_pem));
    use_script(fixture, "printf 'kind: ExecCredential\\napiVersion: " V1 "\\nstatus:\\n'\n"
                        "echo '  clientCertificateData: |'; sed 's/^/    /' cert\n"
                        "echo '  clientKeyData: |'; sed 's/^/    /' key\n");
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].peer, "jane");
    assert_string_equal(fixture->asked[0].authorization, "");
    got_done(&got);
    test_pair_done(&pair);
}

/* --- failures ---------------------------------------------------------------------- */

struct failure {
    const char *name;
    const char *script;
    const char *want;
};

static const struct failure failures[] = {
    { "t_81 a non-zero exit", "echo canary; exit 7", "exit status 7" },
    { "t_81 another apiVersion",
      "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
      "v1beta1\",\"status\":{\"token\":\"canary\"}}'",
      "v1beta1" },
    { "t_81 neither token nor certificate", SAY("\"x\":\"canary\""), "neither token nor certificate" },
    { "t_81 a token already over",
      SAY("\"token\":\"canary\",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\""), "expired already" },
    { "t_81 a certificate that is none",
      SAY("\"clientCertificateData\":\"canary\",\"clientKeyData\":\"canary\""), "clientCertificateData" },
    { "t_81 two megabytes", "head -c 2000000 /dev/zero", "more than 1048576 bytes" },
    { "t_81 nothing", "true", "neither JSON nor YAML" },
};

static void aut_11_plugin__failure(void **state)
{
    struct kube_fixture *fixture = *state;
    const struct failure *failure = fixture->row;
    struct got got;
    use_script(fixture, failure->script);
    assert_int_equal(get(fixture, &got).failure, KUBE_UNREACHABLE);
    assert_int_equal(got.response.err.kind, ERR_TRANSIENT);
    const char *text = got.response.err.text;
    if (!strstr(text, failure->want) || !strstr(text, "credential plugin /") || !strstr(text, "install it"))
        fail_msg("\"%s\" does not say \"%s\"", text, failure->want);
    assert_null(strstr(text, "canary"));
    assert_int_equal(fixture->asked_count, 0);
    got_done(&got);
}

static void plugin__aut_11_a_missing_program_shows_the_hint(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, "true");
    plugin.command = STR("koord-no-such-plugin");
    kube_fixture_client(fixture);
    assert_int_equal(get(fixture, &got).failure, KUBE_UNREACHABLE);
    assert_non_null(strstr(got.response.err.text, "credential plugin koord-no-such-plugin: "));
    assert_non_null(strstr(got.response.err.text, "install it"));
    got_done(&got);
}

static void plugin__aut_11_it_is_run_again_after_a_failure(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, "test $n -ge 3 || exit 1\n" SAY("\"token\":\"t$n\""));
    hasty = true;
    RUN_UNTIL(fixture, runs(fixture) >= 3);
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "Bearer t3");
    got_done(&got);
}

static void plugin__a_short_request_waits_no_longer_than_it_may(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, "exec sleep 600");
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING, .request_timeout_ms = 20 });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_UNREACHABLE);
    assert_non_null(strstr(got.response.err.text, "no credentials after 20 ms"));
    got_done(&got);
}

static void plugin__a_waiting_request_can_be_cancelled(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, SAY("\"token\":\"t\""));
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    kube_cancel(got.call);
    RUN_UNTIL(fixture, runs(fixture) == 1);
    kube_fixture_settle(fixture);
    assert_int_equal(got.done, 0);
    assert_int_equal(fixture->asked_count, 0);
    got_done(&got);
}

static void free_client(struct got *got)
{
    kube_client_free(got->fixture->client);
    got->fixture->client = NULL;
}

static void plugin__the_client_may_go_while_failures_are_told(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got gots[2];
    use_script(fixture, "exit 1");
    for (size_t i = 0; i < 2; i++) {
        got_init(&gots[i], fixture);
        gots[i].on_done = free_client;
        got_send(&gots[i], (struct kube_request){ GET_THING });
    }
    got_wait(&gots[0]);
    kube_fixture_settle(fixture);
    assert_int_equal(gots[1].done, 0);
    got_done(&gots[0]);
    got_done(&gots[1]);
}

/* --- refresh ----------------------------------------------------------------------- */

static void plugin__t_82_refreshed_before_it_expires(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    struct str script = arena_strf(&fixture->arena, SAY("\"token\":\"t$n\",\"expirationTimestamp\":\"%s\""),
                                   in_seconds(fixture, 3600));
    use_script(fixture, script.ptr);
    longest_ms = 0;
    get(fixture, &got);
    got_done(&got);
    /* 10 to 20 % of its life before the end; the script took some of the hour. */
    assert_in_range(longest_ms, 3500 * 800, 3600 * 900);
}

static void plugin__t_82_the_next_credential_is_used(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    struct str script = arena_strf(&fixture->arena, SAY("\"token\":\"t$n\",\"expirationTimestamp\":\"%s\""),
                                   in_seconds(fixture, 3600));
    hasty = true;
    use_script(fixture, script.ptr);
    RUN_UNTIL(fixture, runs(fixture) >= 3);
    get(fixture, &got);
    assert_string_not_equal(fixture->asked[0].authorization, "Bearer t1");
    got_done(&got);
}

static void plugin__t_82_a_failing_refresh_keeps_the_old_one_until_it_expires(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    struct str script = arena_strf(
        &fixture->arena, "test $n = 1 || exit 1\n" SAY("\"token\":\"t1\",\"expirationTimestamp\":\"%s\""),
        in_seconds(fixture, 3600));
    hasty = true;
    use_script(fixture, script.ptr);
    RUN_UNTIL(fixture, runs(fixture) >= 3);
    hasty = false;
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "Bearer t1");
    got_done(&got);
    hasty = true;
    moved_s = 7200;
    assert_int_equal(get(fixture, &got).failure, KUBE_UNREACHABLE);
    assert_non_null(strstr(got.response.err.text, "exit status 1"));
    assert_int_equal(fixture->asked_count, 1);
    got_done(&got);
}

/* --- refusals ---------------------------------------------------------------------- */

static void plugin__t_81_a_401_runs_it_again(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct canned good = { .body = "{}" };
    struct got got;
    use_script(fixture, SAY("\"token\":\"t$n\""));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED, .then = &good };
    assert_int_equal(get(fixture, &got).failure, KUBE_OK);
    assert_string_equal(fixture->asked[0].authorization, "Bearer t1");
    assert_string_equal(fixture->asked[1].authorization, "Bearer t2");
    assert_int_equal(runs(fixture), 2);
    got_done(&got);
}

static void plugin__a_401_with_the_same_credential_again_is_final(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, SAY("\"token\":\"same\""));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED };
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_int_equal(got.response.code, 401);
    assert_string_equal(got.response.err.text, "HTTP 401: who?");
    assert_int_equal(fixture->asked_count, 1);
    assert_int_equal(runs(fixture), 2);
    got_done(&got);
    /* Nor does every request start a program. */
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_int_equal(runs(fixture), 2);
    got_done(&got);
}

static void plugin__a_401_while_the_plugin_fails_says_both(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, "test $n = 1 || exit 5\n" SAY("\"token\":\"t\""));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED };
    assert_int_equal(get(fixture, &got).failure, KUBE_UNAUTHORIZED);
    assert_non_null(strstr(got.response.err.text, "who?"));
    assert_non_null(strstr(got.response.err.text, "exit status 5"));
    got_done(&got);
}

static void plugin__t_81_refusals_in_parallel_are_one_run(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct canned good = { .body = "{}" };
    static const struct canned second = { .status = 401, .body = UNAUTHORIZED, .then = &good };
    struct got gots[2];
    use_script(fixture, "test $n = 1 || sleep 0.2\n" SAY("\"token\":\"t$n\""));
    fixture->canned = (struct canned){ .status = 401, .body = UNAUTHORIZED, .then = &second };
    for (size_t i = 0; i < 2; i++) {
        got_init(&gots[i], fixture);
        got_send(&gots[i], (struct kube_request){ GET_THING });
    }
    for (size_t i = 0; i < 2; i++) {
        RUN_UNTIL(fixture, gots[i].done);
        assert_int_equal(gots[i].response.failure, KUBE_OK);
        got_done(&gots[i]);
    }
    assert_int_equal(runs(fixture), 2);
}

static void plugin__counts_its_runs(void **state)
{
    struct kube_fixture *fixture = *state;
    struct got got;
    use_script(fixture, SAY("\"token\":\"t\""));
    get(fixture, &got);
    struct metric *calls = metric_counter(fixture->metrics, "rest_client_exec_plugin_call_total", "", "code",
                                          "call_status", NULL);
    assert_true(metric_value(calls, (struct str[]){ STR("0"), STR("no_error"), STR_NULL }) == 1);
    got_done(&got);
}

static int setup(void **state)
{
    hasty = false;
    moved_s = 0;
    return kube_fixture_setup(state);
}

static const struct failure *next_failure = failures;

static int setup_failure(void **state)
{
    int code = setup(state);
    ((struct kube_fixture *)*state)->row = next_failure++;
    return code;
}

static int setup_plain(void **state)
{
    hasty = false;
    moved_s = 0;
    return kube_fixture_setup_plain(state);
}

#define PLUGIN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, kube_fixture_teardown)

static const struct CMUnitTest others[] = {
    PLUGIN_TEST(plugin__requests_wait_for_one_run),
    PLUGIN_TEST(plugin__environment_and_arguments),
    PLUGIN_TEST(plugin__yaml_is_understood),
    cmocka_unit_test_setup_teardown(plugin__net_8_none_is_run_for_plain_http, setup_plain,
                                    kube_fixture_teardown),
    PLUGIN_TEST(plugin__a_certificate_is_shown_to_the_server),
    PLUGIN_TEST(plugin__aut_11_a_missing_program_shows_the_hint),
    PLUGIN_TEST(plugin__aut_11_it_is_run_again_after_a_failure),
    PLUGIN_TEST(plugin__a_short_request_waits_no_longer_than_it_may),
    PLUGIN_TEST(plugin__a_waiting_request_can_be_cancelled),
    PLUGIN_TEST(plugin__the_client_may_go_while_failures_are_told),
    PLUGIN_TEST(plugin__t_82_refreshed_before_it_expires),
    PLUGIN_TEST(plugin__t_82_the_next_credential_is_used),
    PLUGIN_TEST(plugin__t_82_a_failing_refresh_keeps_the_old_one_until_it_expires),
    PLUGIN_TEST(plugin__t_81_a_401_runs_it_again),
    PLUGIN_TEST(plugin__a_401_with_the_same_credential_again_is_final),
    PLUGIN_TEST(plugin__a_401_while_the_plugin_fails_says_both),
    PLUGIN_TEST(plugin__t_81_refusals_in_parallel_are_one_run),
    PLUGIN_TEST(plugin__counts_its_runs),
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(others) + ARRAY_LEN(failures)];
    memcpy(tests, others, sizeof others);
    for (size_t i = 0; i < ARRAY_LEN(failures); i++)
        tests[ARRAY_LEN(others) + i] = (struct CMUnitTest){ failures[i].name, aut_11_plugin__failure,
                                                            setup_failure, kube_fixture_teardown, NULL };
    return cmocka_run_group_tests_name("kube/exec_plugin", tests, NULL, NULL);
}
