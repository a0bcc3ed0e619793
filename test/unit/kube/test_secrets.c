/* Whatever goes wrong, no secret is told: not in an error, not in a log line, not in a
 * metric. Each test leaves what was said in one heap, which is searched at its end. */
#include "kube_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "kube/base64.h"
#include "kube/core_dump.h"
#include "kube/exec_credential.h"
#include "kube/kubeconfig_file.h"

#define CANARY "c4naryS3cret"
#define GET_THING .verb = KUBE_GET, .kind = &thing_kind, .ns = STR("ns"), .name = STR("name")

static struct strbuf heard = { .limit = 8 << 20 };

static void hear(void *self, struct str text)
{
    (void)self;
    strbuf_add(&heard, text);
    strbuf_addc(&heard, '\n');
}

static void assert_not_told(struct kube_fixture *fixture)
{
    if (fixture->metrics)
        metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &heard);
    assert_false(heard.overflow);
    if (strstr(strbuf_cstr(&heard), CANARY))
        fail_msg("told: %.200s", strstr(strbuf_cstr(&heard), CANARY));
    CLEANUP(strbuf_done) struct strbuf encoded = STRBUF_INIT(256);
    base64_encode(&encoded, STR("jane:" CANARY));
    assert_null(strstr(strbuf_cstr(&heard), strbuf_cstr(&encoded)));
}

static int setup(void **state)
{
    int code = kube_fixture_setup(state);
    strbuf_clear(&heard);
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_DEBUG);
    log_capture(hear, NULL);
    return code;
}

static int teardown(void **state)
{
    log_capture(NULL, NULL);
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
    int code = kube_fixture_teardown(state);
    strbuf_done(&heard);
    heard.limit = 8 << 20;
    return code;
}

/* --- configuration ----------------------------------------------------------------- */

#define FILE_WITH(cluster, user)                                                                             \
    "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"                            \
    "clusters:\n- name: c\n  cluster:\n" cluster "users:\n- name: u\n  user:\n" user
#define SERVER "    server: https://api:6443\n"

static const char *const bad_files[] = {
    FILE_WITH(SERVER, "    token: {" CANARY ": 1}\n"),
    FILE_WITH(SERVER, "    token: [" CANARY "]\n"),
    FILE_WITH(SERVER, "    token: *" CANARY "\n"),
    FILE_WITH(SERVER, "    token: &" CANARY "\n    token: a\n"),
    FILE_WITH(SERVER, "    token: !" CANARY " a\n    token: b\n"),
    FILE_WITH(SERVER, "    token: @" CANARY "\n"),
    FILE_WITH(SERVER, "    token: `" CANARY "\n"),
    FILE_WITH(SERVER, "    token: %" CANARY "\n"),
    FILE_WITH(SERVER, "    token: {" CANARY "\n"),
    FILE_WITH(SERVER, "    token: \"" CANARY "\n"),
    FILE_WITH(SERVER, "    token: \"\\q" CANARY "\"\n"),
    FILE_WITH(SERVER, "    token: |" CANARY "\n"),
    FILE_WITH(SERVER, "    token: a: " CANARY "\n"),
    FILE_WITH(SERVER, "    token: " CANARY "\n    token: " CANARY "\n"),
    FILE_WITH(SERVER, "    token: " CANARY "\n\t- x\n"),
    FILE_WITH(SERVER, "    token: " CANARY "\n  - x\n"),
    FILE_WITH(SERVER, "    token: " CANARY "\n    username: a\n"),
    FILE_WITH(SERVER, "    password: " CANARY "\n"),
    FILE_WITH(SERVER, "    client-certificate-data: YQ==\n    client-key-data: " CANARY "*\n"),
    FILE_WITH(SERVER, "    client-key-data: " CANARY "\n"),
    FILE_WITH(SERVER, "    auth-provider: {config: {access-token: " CANARY "}}\n"),
    FILE_WITH(SERVER, "    exec: {env: [{name: a, value: " CANARY "}]}\n"),
    FILE_WITH(SERVER,
              "    exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: [--password=" CANARY
              "]}\n"),
    FILE_WITH("    server: https://jane:" CANARY "@api\n", "    token: a\n"),
    FILE_WITH("    server: https://api/?token=" CANARY "\n", "    token: a\n"),
    FILE_WITH(SERVER "    proxy-url: ftp://jane:" CANARY "@proxy\n", "    token: a\n"),
    FILE_WITH(SERVER "    proxy-url: [" CANARY "]\n", "    token: a\n"),
};

static void secrets__bad_kubeconfigs(void **state)
{
    struct kube_fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad_files); i++) {
        struct kube_config config;
        struct err err = ERR_INIT;
        struct kube_config_options options = { .kubeconfig = scratch_write(&fixture->dir, "config",
                                                                           str_c(bad_files[i])) };
        if (kube_config_load(&fixture->arena, &options, &config, &err))
            fail_msg("%zu was read", i);
        hear(NULL, str_c(err.text));
    }
    assert_not_told(fixture);
}

static void secrets__clients_that_cannot_be_made(void **state)
{
    struct kube_fixture *fixture = *state;
    const struct kube_config good = fixture->config;
    struct kube_config bads[6] = { good, good, good, good, good, good };
    bads[0].client_cert_pem = str_c(fixture->pair.cert_pem);
    bads[0].client_key_pem = STR("-----BEGIN PRIVATE KEY-----\n" CANARY "\n-----END PRIVATE KEY-----\n");
    bads[1].client_cert_pem = STR(CANARY);
    bads[1].client_key_pem = STR(CANARY);
    bads[2].impersonate_user = STR(CANARY "\n");
    bads[3].proxy_url = STR("http://jane:" CANARY "\n@proxy");
    bads[4].proxy_url = STR("http://jane:" CANARY "@proxy:99999");
    bads[5].proxy_url = STR("http://jane:" CANARY "@");
    for (size_t i = 0; i < ARRAY_LEN(bads); i++) {
        struct err err = ERR_INIT;
        struct kube_client_options options = { .config = &bads[i], .user_agent = "a" };
        assert_null(kube_client_new(fixture->loop, &options, &err));
        hear(NULL, str_c(err.text));
    }
    assert_not_told(fixture);
}

/* --- requests ---------------------------------------------------------------------- */

static void ask(struct kube_fixture *fixture)
{
    struct got got;
    struct err err = ERR_INIT;
    struct kube_request request = { GET_THING, .request_timeout_ms = 2000 };
    kube_fixture_client(fixture);
    got_init(&got, fixture);
    struct kube_call *probe = kube_send(fixture->client, &request, NULL, NULL, &err);
    hear(NULL, str_c(err.text));
    if (probe) {
        kube_cancel(probe);
        got_send(&got, request);
        got_wait(&got);
        hear(NULL, str_c(got.response.err.text));
        hear(NULL, str_c(kube_failure_name(got.response.failure)));
    }
    got_done(&got);
    metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &heard);
}

/* With every answer a server has, and with none. */
static void ask_all(struct kube_fixture *fixture)
{
    static const struct canned answers[] = {
        { .status = 200 },
        { .status = 200, .type = "text/html", .body = "<html>" },
        { .status = 401 },
        { .status = 403 },
        { .status = 407 },
        { .status = 500, .type = "text/plain", .body = "no" },
        { .status = 302, .headers = { { "Location", "https://elsewhere.invalid/" } } },
        { .how = CANNED_ABORT },
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        fixture->canned = answers[i];
        ask(fixture);
    }
    struct kube_config reachable = fixture->config;
    fixture->config.server = STR("https://127.0.0.1:1");
    ask(fixture);
    fixture->config.server = STR("https://nowhere.invalid:6443");
    ask(fixture);
    fixture->config = reachable;
    fixture->config.ca_pem = STR_NULL;
    ask(fixture);
    fixture->config = reachable;
}

static void secrets__tokens_and_passwords_in_requests(void **state)
{
    struct kube_fixture *fixture = *state;
    fixture->config.token = STR(CANARY);
    ask_all(fixture);
    fixture->config.token = STR(CANARY "\r\nX-Evil: " CANARY);
    ask(fixture);
    fixture->config.token = STR_NULL;
    fixture->config.username = STR("jane");
    fixture->config.password = STR(CANARY);
    ask_all(fixture);
    assert_not_told(fixture);
}

static void secrets__token_files(void **state)
{
    struct kube_fixture *fixture = *state;
    static const char *const texts[] = { CANARY, CANARY " " CANARY, CANARY "\r\nX: y", "" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        fixture->config.token_path = str_c(scratch_write(&fixture->dir, "token", str_c(texts[i])));
        ask_all(fixture);
    }
    assert_not_told(fixture);
}

static void secrets__proxies_with_a_password(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct str proxies[] = {
        STR_INIT("http://jane:" CANARY "@127.0.0.1:1"),
        STR_INIT("https://jane:" CANARY "@127.0.0.1:1"),
        STR_INIT("socks5://jane:" CANARY "@127.0.0.1:1"),
        STR_INIT("http://jane:" CANARY "@nowhere.invalid:1"),
    };
    for (size_t i = 0; i < ARRAY_LEN(proxies); i++) {
        fixture->config.proxy_url = proxies[i];
        ask(fixture);
    }
    /* The fixture's server is no proxy: it refuses CONNECT. */
    fixture->config.proxy_url = arena_strf(&fixture->arena, "https://jane:" CANARY "@127.0.0.1:%d",
                                           http_server_port(fixture->server));
    fixture->canned = (struct canned){ .status = 407, .body = "no" };
    ask(fixture);
    assert_not_told(fixture);
}

/* --- plugins ----------------------------------------------------------------------- */

#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"

static void secrets__plugins(void **state)
{
    struct kube_fixture *fixture = *state;
    static const char *const scripts[] = {
        "echo " CANARY,
        "echo " CANARY "; exit 1",
        "echo '{\"" CANARY "\":'",
        "echo '" HEAD "{\"token\":\"" CANARY "\"'",
        "echo '" HEAD "{\"token\":\"" CANARY " " CANARY "\"}}'",
        "echo '" HEAD "{\"token\":[\"" CANARY "\"]}}'",
        "echo '" HEAD "{\"token\":\"" CANARY "\",\"expirationTimestamp\":\"" CANARY "\"}}'",
        "echo '" HEAD "{\"clientCertificateData\":\"" CANARY "\",\"clientKeyData\":\"" CANARY "\"}}'",
        "echo '" HEAD "\"" CANARY "\"}'",
        "echo '" HEAD "{\"token\":\"" CANARY "\"}}'", /* a good one, refused by the server */
    };
    static const struct str args[] = { STR_INIT("--password=" CANARY) };
    static const struct kube_exec_env env[] = { { STR_INIT("PASSWORD"), STR_INIT(CANARY) } };
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct str text = arena_strf(&fixture->arena, "#!/bin/sh\n%s\n", scripts[i]);
        char *path = str_dup_c(str_c(scratch_write(&fixture->dir, "plugin", text)));
        assert_int_equal(chmod(path, 0700), 0);
        struct kube_exec plugin = { .api_version = STR("client.authentication.k8s.io/v1"),
                                    .command = str_c(path),
                                    .args = args,
                                    .arg_count = 1,
                                    .env = env,
                                    .env_count = 1,
                                    .provide_cluster_info = true };
        fixture->config.token = STR_NULL;
        fixture->config.exec = &plugin;
        fixture->canned = (struct canned){ .status = 401, .body = "no" };
        ask(fixture);
        free(path);
    }
    fixture->config.exec = NULL;
    assert_not_told(fixture);
}

/* --- crashes ----------------------------------------------------------------------- */

static void secrets__a_crash_leaves_no_core(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit;
        core_dump_off();
        bool off =
            (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 1) || prctl(PR_GET_DUMPABLE) == 0;
        signal(SIGABRT, SIG_DFL);
        if (off)
            abort();
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_false(WCOREDUMP(status));
}

#define SECRETS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SECRETS_TEST(secrets__bad_kubeconfigs),
        SECRETS_TEST(secrets__clients_that_cannot_be_made),
        SECRETS_TEST(secrets__tokens_and_passwords_in_requests),
        SECRETS_TEST(secrets__token_files),
        SECRETS_TEST(secrets__proxies_with_a_password),
        SECRETS_TEST(secrets__plugins),
        cmocka_unit_test(secrets__a_crash_leaves_no_core),
    };
    return cmocka_run_group_tests_name("kube/secrets", tests, NULL, NULL);
}
