/* The command line, signals and exit codes of koord-manager. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define RUN(e2e, output, ...) run((e2e), (output), (const char *const[]){ __VA_ARGS__, NULL })

static int run(struct e2e *e2e, struct str *output, const char *const *flags)
{
    return e2e_run(e2e, "koord-manager", E2E_MANAGER, flags, output);
}

static bool says(struct str text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what));
}

/* --- what needs no server ------------------------------------------------------------------ */

static void help_goes_to_who_asks(struct e2e *e2e)
{
    struct str output;
    assert_int_equal(RUN(e2e, &output, "--help"), 0);
    static const char *const wanted[] = { "Usage: koord-manager",   "--kubeconfig FILE", "--config-namespace",
                                          "--config-missing-grace", "--rest-config-qps", "Exit codes" };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(says(output, wanted[i]));
    struct str rest = output, line;
    while (rest.len) { /* readable in a terminal, but for the list of ignored flags */
        str_cut(rest, '\n', &line, &rest);
        assert_true(line.len <= 120 || str_starts_with(line, STR("Accepted for compatibility")));
    }
}

static void version_is_one_line(struct e2e *e2e)
{
    struct str output;
    assert_int_equal(RUN(e2e, &output, "--version"), 0);
    assert_true(str_starts_with(output, STR("koord-manager " KOORD_VERSION)));
    assert_int_equal(str_find_byte(output, '\n'), (int)output.len - 1);
}

static void unusable_flags_end_with_2_and_one_clear_line(struct e2e *e2e)
{
    static const struct {
        const char *flag;
        const char *told;
    } rows[] = {
        { "--nonsense", "nonsense" },
        { "--rest-config-qps=many", "rest-config-qps" },
        { "--rest-config-qps=-1", "rest-config-qps" },
        { "--sync-period=5", "sync-period" },
        { "--config-missing-grace=soon", "config-missing-grace" },
        { "--noderesource-plugins=Nope", "Nope" },
        { "--logging-format=xml", "logging-format" },
        { "--list-page-size=0", "list-page-size" },
        { "--slo-config-name=", "slo-config-name" },
        { "surplus", "surplus" },
        { "--kubeconfig", "kubeconfig" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str output;
        int code = RUN(e2e, &output, rows[i].flag);
        if (code != 2 || !says(output, rows[i].told) || !says(output, "Try koord-manager --help"))
            fail_msg("%s: %d " STR_FMT, rows[i].flag, code, STR_ARG(output));
        e2e->program_count--;
        program_free(e2e->programs[e2e->program_count]);
    }
}

static void unusable_settings_end_with_3(struct e2e *e2e)
{
    struct str output;
    assert_int_equal(RUN(e2e, &output, "--kubeconfig", "/nonexistent/kubeconfig"), 3);
    assert_true(says(output, "/nonexistent/kubeconfig"));
    const char *garbage = e2e_write_file(e2e, "garbage", STR("{ this: is, not"));
    assert_int_equal(RUN(e2e, &output, "--kubeconfig", garbage), 3);
    assert_true(says(output, garbage));
    const char *empty = e2e_write_file(e2e, "empty", STR("apiVersion: v1\nkind: Config\n"));
    assert_int_equal(RUN(e2e, &output, "--kubeconfig", empty), 3);
    const char *no_ca =
        e2e_write_file(e2e, "no-ca",
                       STR("{kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],"
                           " clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', "
                           "certificate-authority: /nonexistent}}]}"));
    assert_int_equal(
        RUN(e2e, &output, "--kubeconfig", no_ca, "--metrics-addr", "0", "--health-probe-addr", "0"), 3);
    assert_true(says(output, "/nonexistent"));
    assert_int_equal(RUN(e2e, &output, "--kubeconfig", no_ca, "--context", "b"), 3);
    assert_true(says(output, "\\\"b\\\"") || says(output, "b"));
}

static void an_address_that_is_taken_ends_with_3(struct e2e *e2e)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    const char *taken = arena_strf(&e2e->arena, "127.0.0.1:%d", ntohs(address.sin_port)).ptr;
    const char *kubeconfig =
        e2e_write_file(e2e, "kubeconfig",
                       STR("{kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],"
                           " clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]}"));
    struct str output;
    assert_int_equal(
        RUN(e2e, &output, "--kubeconfig", kubeconfig, "--metrics-addr", taken, "--health-probe-addr", "0"),
        3);
    assert_true(says(output, taken));
    close(fd);
}

/* --- upstream's flags ------------------------------------------------------------------------ */

static const char *const upstream_flags[] = {
    "--controllers=*,-unknown",
    "--slo-config-name=slo-controller-config",
    "--config-namespace=kube-system",
    "--node-strategy-name-need-check=false",
    "--leader-election-namespace=koordinator-system",
    "--leader-elect-resource-lock=leases",
    "--namespace=",
    "--enable-pprof",
    "--pprof-addr=:8090",
    "--sync-period=0",
    "--rest-config-qps=30",
    "--rest-config-burst=50",
    "--disable-no-deepcopy",
    "--feature-gates=WebhookFramework=false,EnableSyncGPUSharedResource=true",
    "--v=4",
    "--logtostderr=true",
    "--alsologtostderr=false",
    "--stderrthreshold=2",
    "--vmodule=",
    "--log_dir=",
    "--log_file=",
    "--log_file_max_size=1800",
    "--log_backtrace_at=:0",
    "--add_dir_header=false",
    "--skip_headers=false",
    "--skip_log_headers",
    "--one_output=false",
};

/* The name without dashes and value, as the log writes it. */
static const char *log_sign(struct e2e *e2e, const char *flag)
{
    struct str name, value;
    str_cut(str_c(flag + 2), '=', &name, &value);
    return arena_strf(&e2e->arena, "flag=\"" STR_FMT "\"", STR_ARG(name)).ptr;
}

static bool is_ignored(struct e2e *e2e, const char *flag, struct str help)
{
    const char *list = memmem(help.ptr, help.len, "Accepted for compatibility and ignored:", 39);
    struct str ignored = str_slice(help, (size_t)(list - help.ptr), help.len), name, value;
    str_cut(str_c(flag), '=', &name, &value);
    const char *with_comma = arena_strf(&e2e->arena, " " STR_FMT ",", STR_ARG(name)).ptr;
    const char *at_end = arena_strf(&e2e->arena, " " STR_FMT "\n", STR_ARG(name)).ptr;
    return says(ignored, with_comma) || says(ignored, at_end);
}

static void every_flag_of_upstream_is_accepted_and_the_ignored_ones_say_so_once(struct e2e *e2e)
{
    struct str help;
    assert_int_equal(RUN(e2e, &help, "--help"), 0);
    e2e_serve(e2e);
    const char *flags[ARRAY_LEN(upstream_flags) + 2] = { NULL };
    for (size_t i = 0; i < ARRAY_LEN(upstream_flags); i++)
        flags[i + 1] = upstream_flags[i];
    e2e_manage_with(e2e, flags);
    EVENTUALLY(e2e, e2e_ready(e2e));
    for (size_t i = 0; i < ARRAY_LEN(upstream_flags); i++) {
        size_t lines = program_count_logged(e2e->manager, log_sign(e2e, upstream_flags[i]));
        size_t wanted = is_ignored(e2e, upstream_flags[i], help) ? 1 : 0;
        if (lines != wanted)
            fail_msg("%s: %zu lines, not %zu", upstream_flags[i], lines, wanted);
    }
}

static void all_six_plugin_names_are_valid(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_manage(e2e, "--noderesource-plugins",
               "MidResource,BatchResource,CPUNormalization,ResourceAmplification,GPUDeviceResource,"
               "RDMADeviceResource");
    EVENTUALLY(e2e, e2e_ready(e2e));
}

/* --- what flags do ----------------------------------------------------------------------------- */

static void a_controller_left_out_does_nothing(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 2);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--controllers", "nodemetric");
    e2e_report_all(e2e, 2);
    e2e_settle(e2e);
    assert_int_equal(e2e_mid_count(e2e, 4000, 10 * GIB), 0);
    e2e_stop(e2e->manager);
    e2e_delete(e2e, NODEMETRIC_PATH "/node-000");
    e2e_manage(e2e, "--controllers", "*,-nodemetric");
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-001", 4000, 10 * GIB));
    assert_null(e2e_nodemetric(e2e, "node-000"));
}

static void the_policy_may_live_elsewhere(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}"); /* not to be looked at */
    e2e_call(e2e, "POST", NULL,
             e2e_json(e2e, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'koordinator-system'}}"),
             "/api/v1/namespaces");
    struct str other = e2e_json(
        e2e, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'my-policy'},"
             "'data':{'colocation-config':'{\\'enable\\':true,\\'metricReportIntervalSeconds\\':20}'}}");
    e2e_delete(e2e, "/api/v1/namespaces/koordinator-system/configmaps/my-policy");
    assert_int_equal(
        e2e_call(e2e, "POST", NULL, other, "/api/v1/namespaces/koordinator-system/configmaps").code, 201);
    e2e->manager_kubeconfig = NULL; /* those rights end at the usual namespace */
    e2e_manage(e2e, "--config-namespace", "koordinator-system", "--slo-config-name", "my-policy");
    EVENTUALLY(e2e, e2e_interval_count(e2e, 20) == 1);
}

static void logs_can_be_json(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_manage(e2e);
    e2e_stop(e2e->manager);
    const char *const flags[] = { "--kubeconfig",
                                  e2e->kubeconfig,
                                  "--metrics-addr",
                                  "0",
                                  "--health-probe-addr",
                                  "0",
                                  "--logging-format",
                                  "json",
                                  NULL };
    struct program *manager = e2e_start(e2e, "koord-manager", E2E_MANAGER, flags);
    EVENTUALLY(e2e, program_logged(manager, "caches filled"));
    assert_int_equal(e2e_stop(manager), 0);
    struct str rest = program_output(manager, &e2e->arena), line;
    size_t lines = 0;
    while (rest.len) {
        const struct json *entry;
        str_cut(rest, '\n', &line, &rest);
        if (!json_parse(&e2e->arena, line, NULL, &entry, NULL) || !json_is(entry, JSON_OBJECT))
            fail_msg("not JSON: " STR_FMT, STR_ARG(line));
        lines++;
    }
    assert_true(lines >= 3);
}

/* --- signals ------------------------------------------------------------------------------------ */

static void start_with_a_write_in_flight(struct e2e *e2e, const char *fault)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true}");
    int64_t id = e2e_fault(e2e, "%s", fault);
    e2e_manage(e2e);
    e2e_report_all(e2e, 1);
    EVENTUALLY(e2e, e2e_fault_hits(e2e, id) == 1);
}

static void a_signal_lets_the_write_in_flight_end(struct e2e *e2e)
{
    start_with_a_write_in_flight(e2e, "{'method':'PATCH','path':'nodes/node-000/status','delayMs':700}");
    assert_int_equal(e2e_stop(e2e->manager), 0);
    assert_true(e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    assert_true(program_logged(e2e->manager, "\"stopped\""));
}

static void a_second_signal_ends_it_at_once(struct e2e *e2e)
{
    start_with_a_write_in_flight(e2e, "{'method':'PATCH','path':'nodes/node-000/status','hang':true}");
    program_expect_end(e2e->manager);
    program_signal(e2e->manager, SIGTERM);
    EVENTUALLY(e2e, program_logged(e2e->manager, "\"stopping\""));
    assert_true(program_running(e2e->manager));
    program_signal(e2e->manager, SIGTERM);
    assert_int_equal(program_wait(e2e->manager, 20 * 1000), 1);
    assert_true(program_logged(e2e->manager, "second signal"));
}

static void sigint_stops_it_too(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_ready(e2e));
    program_expect_end(e2e->manager);
    program_signal(e2e->manager, SIGINT);
    assert_int_equal(program_wait(e2e->manager, 20 * 1000), 0);
}

static void it_stops_without_its_server(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    e2e_kill(e2e->server);
    e2e_manage(e2e);
    EVENTUALLY(e2e, program_logged(e2e->manager, "list-watch in trouble"));
    assert_int_equal(e2e_stop(e2e->manager), 0);
}

static const struct e2e_test tests[] = {
    E2E_TEST("help goes to who asks", help_goes_to_who_asks),
    E2E_TEST("version is one line", version_is_one_line),
    E2E_TEST("unusable flags end with 2 and a clear line", unusable_flags_end_with_2_and_one_clear_line),
    E2E_TEST("unusable settings end with 3", unusable_settings_end_with_3),
    E2E_TEST("an address that is taken ends with 3", an_address_that_is_taken_ends_with_3),
    E2E_TEST("every flag of upstream is accepted, and the ignored ones say so once",
             every_flag_of_upstream_is_accepted_and_the_ignored_ones_say_so_once),
    E2E_TEST("all six plugin names are valid", all_six_plugin_names_are_valid),
    E2E_TEST("a controller left out does nothing", a_controller_left_out_does_nothing),
    E2E_TEST("the policy may live elsewhere", the_policy_may_live_elsewhere),
    E2E_TEST("logs can be JSON", logs_can_be_json),
    E2E_TEST("a signal lets the write in flight end", a_signal_lets_the_write_in_flight_end),
    E2E_TEST("a second signal ends it at once", a_second_signal_ends_it_at_once),
    E2E_TEST("SIGINT stops it, too", sigint_stops_it_too),
    E2E_TEST("it stops without its server", it_stops_without_its_server),
};

int main(void)
{
    return e2e_main("e2e/flags", tests, ARRAY_LEN(tests));
}
