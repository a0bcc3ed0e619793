/* T-81: what plugins are told and what they answer, as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/json.h"
#include "kube/exec_credential.h"
#include "kube/kubeconfig_file.h"

#define V1 "client.authentication.k8s.io/v1"
#define JSON_HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\","

struct row {
    const char *name;
    struct str output;
    const char *want; /* "token|cert|key|expiry in seconds", or what the error says */
    bool bad;
};

static const struct row rows[] = {
    { "a token", STR_INIT(JSON_HEAD "\"status\":{\"token\":\"t0k\"}}"), "t0k|||-1", false },
    { "a token with its end",
      STR_INIT(JSON_HEAD "\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T00:01:00Z\"}}"),
      "t|||60", false },
    { "a certificate",
      STR_INIT(JSON_HEAD "\"status\":{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}"), "|C|K|-1",
      false },
    { "token and certificate",
      STR_INIT(JSON_HEAD
               "\"status\":{\"token\":\"t\",\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}"),
      "t|C|K|-1", false },
    { "YAML",
      STR_INIT("kind: ExecCredential\napiVersion: " V1 "\nstatus:\n  token: t0k\n"
               "  expirationTimestamp: 1970-01-01T00:01:00Z\n"),
      "t0k|||60", false },
    { "JSON indented with tabs, and a line break behind the token",
      STR_INIT("{\n\t\"kind\": \"ExecCredential\",\n\t\"apiVersion\": \"" V1 "\",\n\t\"status\": "
               "{\n\t\t\"token\": \"t\\n\"\n\t}\n}\n"),
      "t|||-1", false },
    { "unknown fields and null ones", STR_INIT(JSON_HEAD "\"spec\":{},\"x\":[canary],\"status\":null}"),
      "status: missing", true },
    { "unknown fields",
      STR_INIT(JSON_HEAD "\"spec\":{\"interactive\":5},\"status\":{\"token\":\"t\",\"x\":1,"
                         "\"clientKeyData\":null}}"),
      "t|||-1", false },
    { "another version of the API",
      STR_INIT("{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
               "v1beta1\",\"status\":{\"token\":\"canary\"}}"),
      V1 " was asked for, the answer is client.authentication.k8s.io/v1beta1", true },
    { "another API",
      STR_INIT("{\"kind\":\"ExecCredential\",\"apiVersion\":\"canary\",\"status\":{\"token\":\"canary\"}}"),
      "the answer is another", true },
    { "another kind", STR_INIT("{\"kind\":\"canary\",\"apiVersion\":\"" V1 "\"}"), "kind: not ExecCredential",
      true },
    { "no status", STR_INIT(JSON_HEAD "\"spec\":{}}"), "status: missing", true },
    { "an empty status", STR_INIT(JSON_HEAD "\"status\":{}}"), "neither token nor certificate", true },
    { "a status that is a text", STR_INIT(JSON_HEAD "\"status\":\"canary\"}"),
      "status: value has the wrong type", true },
    { "a token that is a number", STR_INIT(JSON_HEAD "\"status\":{\"token\":123456}}"),
      "status.token: value has the wrong type", true },
    { "a certificate without its key",
      STR_INIT(JSON_HEAD "\"status\":{\"token\":\"canary\",\"clientCertificateData\":\"canary\"}}"),
      "belong together", true },
    { "a token of two words", STR_INIT(JSON_HEAD "\"status\":{\"token\":\"canary canary\"}}"),
      "something else than one token", true },
    { "a token with a header in it", STR_INIT(JSON_HEAD "\"status\":{\"token\":\"canary\\r\\nX: y\"}}"),
      "something else than one token", true },
    { "an end that is no time",
      STR_INIT(JSON_HEAD "\"status\":{\"token\":\"canary\",\"expirationTimestamp\":\"canary\"}}"),
      "expirationTimestamp: not a time", true },
    { "a bare token", STR_INIT("canary\n"), "not an ExecCredential", true },
    { "nothing", STR_INIT(""), "neither JSON nor YAML", true },
    { "cut JSON", STR_INIT(JSON_HEAD "\"status\":{\"token\":\"canary"), "neither JSON nor YAML", true },
    { "two documents", STR_INIT("kind: canary\n---\nkind: canary\n"), "neither JSON nor YAML", true },
    { "a key twice", STR_INIT("canary: a\ncanary: b\n"), "neither JSON nor YAML", true },
};

static void t_81_exec_credential__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct exec_credential got;
    struct err err = ERR_INIT;
    bool ok = exec_credential_parse(&arena, row->output, STR(V1), &got, &err);
    if (ok == row->bad)
        fail_msg("%s", err.text);
    if (row->bad) {
        assert_int_equal(err.kind, ERR_INVALID);
        if (!strstr(err.text, row->want))
            fail_msg("\"%s\" does not say \"%s\"", err.text, row->want);
        assert_null(strstr(err.text, "canary"));
        return;
    }
    struct str text =
        arena_strf(&arena, STR_FMT "|" STR_FMT "|" STR_FMT "|%lld", STR_ARG(got.token), STR_ARG(got.cert_pem),
                   STR_ARG(got.key_pem), got.expires ? (long long)(got.expiry.us / US_PER_S) : -1LL);
    assert_string_equal(text.ptr, row->want);
}

/* --- what a kubeconfig says ------------------------------------------------------- */

#define FILE_WITH(exec)                                                                                      \
    "clusters:\n- name: c\n  cluster:\n    server: https://api:6443\n    tls-server-name: inner\n"           \
    "    certificate-authority-data: Q0E=\n    proxy-url: http://proxy:1\n    extensions:\n"                 \
    "    - {name: other, extension: {no: 1}}\n"                                                              \
    "    - {name: client.authentication.k8s.io/exec, extension: {audience: a}}\n"                            \
    "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"                            \
    "users:\n- name: u\n  user:\n    exec:\n" exec
#define V1_LINE "      apiVersion: " V1 "\n"
#define NEVER "      interactiveMode: Never\n"
#define COMMAND "      command: aws\n"

static bool resolve(struct arena *arena, struct str text, struct kube_config *ret, struct err *err)
{
    struct kubeconfig_source source = { .path = STR("/dir/config") };
    return kubeconfig_parse(arena, text, STR("/dir"), &source.file, err) &&
           kubeconfig_resolve(arena, &source, 1, NULL, ret, err);
}

static struct kube_config resolved(struct arena *arena, struct str text)
{
    struct kube_config config = { 0 };
    struct err err = ERR_INIT;
    if (!resolve(arena, text, &config, &err))
        fail_msg("%s", err.text);
    assert_non_null(config.exec);
    return config;
}

static void exec_config__every_field(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config = resolved(
        &arena, STR(FILE_WITH(V1_LINE COMMAND
                              "      args: [get token, \"it's\"]\n      env: [{name: A, value: 'b c'}]\n"
                              "      installHint: get it\n      provideClusterInfo: true\n"
                              "      interactiveMode: IfAvailable\n")));
    const struct kube_exec *exec = config.exec;
    assert_true(str_eq(exec->command, STR("aws")));
    assert_int_equal(exec->arg_count, 2);
    assert_true(str_eq(exec->args[0], STR("get token")));
    assert_true(str_eq(exec->args[1], STR("it's")));
    assert_int_equal(exec->env_count, 1);
    assert_true(str_eq(exec->env[0].name, STR("A")));
    assert_true(str_eq(exec->env[0].value, STR("b c")));
    assert_true(str_eq(exec->install_hint, STR("get it")));
    CLEANUP(strbuf_done) struct strbuf info = STRBUF_INIT(1 << 16);
    exec_info_write(&info, &config);
    assert_string_equal(strbuf_cstr(&info),
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                        "\",\"spec\":{\"interactive\":false,\"cluster\":{\"server\":\"https://api:6443\","
                        "\"tls-server-name\":\"inner\",\"certificate-authority-data\":\"Q0E=\","
                        "\"proxy-url\":\"http://proxy:1\",\"config\":{\"audience\":\"a\"}}}}");
}

static void exec_config__the_cluster_is_told_only_when_asked_for(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config =
        resolved(&arena, STR(FILE_WITH("      apiVersion: client.authentication.k8s.io/v1beta1\n" COMMAND)));
    CLEANUP(strbuf_done) struct strbuf info = STRBUF_INIT(1 << 16);
    exec_info_write(&info, &config);
    assert_string_equal(strbuf_cstr(&info),
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                        "authentication.k8s.io/v1beta1\",\"spec\":{\"interactive\":false}}");
}

static void exec_config__a_path_is_relative_to_its_file(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        struct str want;
    } paths[] = {
        { STR_INIT(FILE_WITH(V1_LINE NEVER "      command: bin/aws\n")), STR_INIT("/dir/bin/aws") },
        { STR_INIT(FILE_WITH(V1_LINE NEVER "      command: ./aws\n")), STR_INIT("/dir/./aws") },
        { STR_INIT(FILE_WITH(V1_LINE NEVER "      command: /bin/aws\n")), STR_INIT("/bin/aws") },
        { STR_INIT(FILE_WITH(V1_LINE NEVER "      command: aws\n")), STR_INIT("aws") },
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        assert_true(str_eq(resolved(&arena, paths[i].text).exec->command, paths[i].want));
    }
}

static const struct row bads[] = {
    { "exec without a version", STR_INIT(FILE_WITH(COMMAND NEVER)), "users[u].user: exec: apiVersion", true },
    { "exec of an old version",
      STR_INIT(FILE_WITH("      apiVersion: client.authentication.k8s.io/v1alpha1\n" COMMAND NEVER)),
      "apiVersion", true },
    { "exec without a command", STR_INIT(FILE_WITH(V1_LINE NEVER)), "exec: command: missing", true },
    { "exec without interactiveMode", STR_INIT(FILE_WITH(V1_LINE COMMAND)), "interactiveMode: missing",
      true },
    { "exec that wants a terminal", STR_INIT(FILE_WITH(V1_LINE COMMAND "      interactiveMode: Always\n")),
      "nobody is there to be asked", true },
    { "exec with another interactiveMode",
      STR_INIT(FILE_WITH(V1_LINE COMMAND "      interactiveMode: canary\n")), "neither Never", true },
    { "exec with a variable without a name",
      STR_INIT(FILE_WITH(V1_LINE COMMAND NEVER "      env: [{value: canary}]\n")), "env: entry 0", true },
    { "exec with a variable that is two",
      STR_INIT(FILE_WITH(V1_LINE COMMAND NEVER "      env: [{name: 'a=b', value: canary}]\n")),
      "env: entry 0", true },
    { "exec with a NUL", STR_INIT(FILE_WITH(V1_LINE COMMAND NEVER "      args: [\"canary\\0x\"]\n")),
      "args: holds a NUL", true },
    { "exec with a number for an argument", STR_INIT(FILE_WITH(V1_LINE COMMAND NEVER "      args: [1]\n")),
      "users[0].user.exec.args", true },
};

static void t_81_exec_config__bad(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    assert_false(resolve(&arena, row->output, &config, &err));
    if (!strstr(err.text, row->want))
        fail_msg("\"%s\" does not say \"%s\"", err.text, row->want);
    assert_null(strstr(err.text, "canary"));
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(bads) + 3] = {
        cmocka_unit_test(exec_config__every_field),
        cmocka_unit_test(exec_config__the_cluster_is_told_only_when_asked_for),
        cmocka_unit_test(exec_config__a_path_is_relative_to_its_file),
    };
    size_t count = 3;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, t_81_exec_credential__row, NULL, NULL, (void *)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(bads); i++)
        tests[count++] =
            (struct CMUnitTest){ bads[i].name, t_81_exec_config__bad, NULL, NULL, (void *)&bads[i] };
    return cmocka_run_group_tests_name("kube/exec_credential", tests, NULL, NULL);
}
