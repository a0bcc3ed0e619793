#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "kube/base64.h"
#include "kube/kubeconfig_file.h"
#include "scratch_dir.h"

/* A file with one of everything; a test replaces lines. */
#define CLUSTER(body) "clusters:\n- name: c\n  cluster:\n" body
#define USER(body) "users:\n- name: u\n  user:\n" body
#define CONTEXT "contexts:\n- name: x\n  context: {cluster: c, user: u, namespace: n}\ncurrent-context: x\n"
#define SERVER "    server: https://api:6443\n"
#define TOKEN "    token: secret-token\n"

#define assert_str(got, want)                                                                                \
    do {                                                                                                     \
        struct str got_ = (got);                                                                             \
        assert_int_equal(got_.len, strlen(want));                                                            \
        assert_memory_equal(got_.len ? got_.ptr : "", want, got_.len);                                       \
    } while (0)

/* --- one text --------------------------------------------------------------------- */

static bool resolve_text(struct arena *arena, struct str text, struct kube_config *ret, struct err *err)
{
    struct kubeconfig_source source = { .path = STR("/dir/config") };
    return kubeconfig_parse(arena, text, STR("/dir"), &source.file, err) &&
           kubeconfig_resolve(arena, &source, 1, NULL, ret, err);
}

static void kubeconfig__reads_every_field(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    struct str text = STR("apiVersion: v1\nkind: Config\npreferences: {}\n" CLUSTER(
        SERVER
        "    certificate-authority: ca.crt\n    tls-server-name: inner\n    proxy-url: "
        "socks5://proxy:1080\n    disable-compression: true\n    extensions: [{name: e, extension: {}}]\n")
                              USER("    client-certificate: certs/c.crt\n    client-key: /abs/c.key\n"
                                   "    token: t\n    tokenFile: tok\n    as: someone\n") CONTEXT);
    assert_true(resolve_text(&arena, text, &config, &err));
    assert_str(config.server, "https://api:6443");
    assert_str(config.ca_path, "/dir/ca.crt");
    assert_str(config.tls_server_name, "inner");
    assert_str(config.proxy_url, "socks5://proxy:1080");
    assert_str(config.client_cert_path, "/dir/certs/c.crt");
    assert_str(config.client_key_path, "/abs/c.key");
    assert_str(config.token, "t");
    assert_str(config.token_path, "/dir/tok");
    assert_str(config.impersonate_user, "someone");
    assert_str(config.ns, "n");
    assert_str(config.source, "kubeconfig /dir/config (context x)");
    assert_false(config.in_cluster);
}

static void kubeconfig__data_beats_file(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    struct str text =
        STR(CLUSTER(SERVER "    certificate-authority: ca.crt\n"
                           "    certificate-authority-data: Q0E=\n")
                USER("    client-certificate: c.crt\n    client-certificate-data: Q0VS\n    "
                     "client-key: c.key\n    client-key-data: |\n      S0\n      VZ\n") CONTEXT);
    assert_true(resolve_text(&arena, text, &config, &err));
    assert_str(config.ca_pem, "CA");
    assert_str(config.ca_path, "");
    assert_str(config.client_cert_pem, "CER");
    assert_str(config.client_cert_path, "");
    assert_str(config.client_key_pem, "KEY");
    assert_str(config.client_key_path, "");
}

static void kubeconfig__json_bom_crlf_and_anchors_are_read(void **state)
{
    (void)state;
    static const struct str texts[] = {
        STR_INIT("{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://api:6443\"}}],"
                 "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"secret-token\"}}],"
                 "\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\",\"user\":\"u\"}}],"
                 "\"current-context\":\"x\"}"),
        STR_INIT("\xEF\xBB\xBF" CLUSTER(SERVER) USER(TOKEN) CONTEXT),
        STR_INIT("clusters:\r\n- name: c\r\n  cluster:\r\n    server: https://api:6443\r\n" USER(TOKEN)
                     CONTEXT),
        STR_INIT("x: &server https://api:6443\n" CLUSTER("    server: *server\n") USER(TOKEN) CONTEXT),
        STR_INIT("---\n" CLUSTER("    server: https://api:6443///\n") USER(TOKEN) CONTEXT),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        struct kube_config config = { 0 };
        struct err err = ERR_INIT;
        if (!resolve_text(&arena, texts[i], &config, &err))
            fail_msg("%zu: %s", i, err.text);
        assert_str(config.server, "https://api:6443");
        assert_str(config.token, "secret-token");
    }
}

static void kubeconfig__without_user_is_anonymous_and_namespace_is_default(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    struct str text =
        STR(CLUSTER("    server: http://127.0.0.1:1\n") "contexts: [{name: x, context: {cluster: "
                                                        "c}}]\ncurrent-context: x\n");
    assert_true(resolve_text(&arena, text, &config, &err));
    assert_str(config.ns, "default");
    assert_str(config.token, "");
}

static void kubeconfig__exec_beside_a_token_is_never_run(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    struct str text = STR(CLUSTER(SERVER) USER(TOKEN "    exec: {command: aws}\n") CONTEXT);
    assert_true(resolve_text(&arena, text, &config, &err));
    assert_str(config.token, "secret-token");
}

static const struct bad {
    const char *name;
    struct str text;
    const char *want; /* part of the error */
} bads[] = {
    { "malformed YAML", STR_INIT("clusters: ["), "" },
    { "a list as the whole", STR_INIT("[1]"), "" },
    { "two documents", STR_INIT(CLUSTER(SERVER) "---\n" USER(TOKEN)), "more than one" },
    { "another kind", STR_INIT("kind: Pod\n"), "kind" },
    { "another apiVersion", STR_INIT("apiVersion: v2\n"), "apiVersion" },
    { "server of the wrong type", STR_INIT(CLUSTER("    server: {a: 1}\n") USER(TOKEN) CONTEXT),
      "clusters[0].cluster.server" },
    { "token that looks like a number", STR_INIT(CLUSTER(SERVER) USER("    token: 123456\n") CONTEXT),
      "users[0].user.token" },
    { "name twice in one file", STR_INIT("clusters: [{name: c, cluster: {}}, {name: c, cluster: {}}]\n"),
      "c is there twice" },
    { "entry without a name", STR_INIT("users: [{user: {}}]\n"), "users[0].name" },
    { "AUT-1 duplicate key", STR_INIT("kind: Config\nkind: Config\n"), "kind" },
    { "no current-context", STR_INIT(CLUSTER(SERVER) "contexts: [{name: x, context: {cluster: c}}]\n"),
      "current-context: not set; there are: x" },
    { "current-context names nothing",
      STR_INIT("contexts: [{name: x, context: {}}, {name: y, context: {}}]\ncurrent-context: z\n"),
      "current-context: no context named z; there are: x, y" },
    { "empty file", STR_INIT(""), "current-context: not set; there are none" },
    { "comment only", STR_INIT("# nothing\n"), "there are none" },
    { "context without a cluster", STR_INIT("contexts: [{name: x, context: {}}]\ncurrent-context: x\n"),
      "contexts[x].context.cluster: missing" },
    { "context names no cluster", STR_INIT(USER(TOKEN) CONTEXT), "no cluster named c; there are none" },
    { "context names no user", STR_INIT(CLUSTER(SERVER) CONTEXT), "no user named u; there are none" },
    { "no server", STR_INIT(CLUSTER("    tls-server-name: a\n") USER(TOKEN) CONTEXT),
      "clusters[c].cluster: server: missing" },
    { "server without a scheme", STR_INIT(CLUSTER("    server: api:6443\n") USER(TOKEN) CONTEXT),
      "server: " },
    { "server without a host", STR_INIT(CLUSTER("    server: 'https://:6443'\n") USER(TOKEN) CONTEXT),
      "no host" },
    { "server with a user name", STR_INIT(CLUSTER("    server: https://a:b@api\n") USER(TOKEN) CONTEXT),
      "user name" },
    { "server with a blank", STR_INIT(CLUSTER("    server: 'https://a b'\n") USER(TOKEN) CONTEXT),
      "unusable character" },
    { "unknown proxy", STR_INIT(CLUSTER(SERVER "    proxy-url: ftp://a\n") USER(TOKEN) CONTEXT),
      "proxy-url" },
    { "insecure with CA data",
      STR_INIT(CLUSTER(SERVER "    insecure-skip-tls-verify: true\n    certificate-authority-data: Q0E=\n")
                   USER(TOKEN) CONTEXT),
      "insecure-skip-tls-verify" },
    { "insecure with CA file",
      STR_INIT(CLUSTER(SERVER "    insecure-skip-tls-verify: true\n    certificate-authority: a\n")
                   USER(TOKEN) CONTEXT),
      "insecure-skip-tls-verify" },
    { "AUT-8 empty CA data",
      STR_INIT(CLUSTER(SERVER "    certificate-authority-data: ''\n") USER(TOKEN) CONTEXT),
      "clusters[c].cluster: certificate-authority-data: empty" },
    { "AUT-8 CA data that decodes to nothing",
      STR_INIT(CLUSTER(SERVER "    certificate-authority-data: Cgo=\n") USER(TOKEN) CONTEXT),
      "certificate-authority-data: empty" },
    { "AUT-8 empty CA file name",
      STR_INIT(CLUSTER(SERVER "    certificate-authority: ''\n") USER(TOKEN) CONTEXT),
      "certificate-authority: empty" },
    { "CA data that is not base64",
      STR_INIT(CLUSTER(SERVER "    certificate-authority-data: '***'\n") USER(TOKEN) CONTEXT),
      "certificate-authority-data: not base64" },
    { "certificate without a key",
      STR_INIT(CLUSTER(SERVER) USER("    client-certificate-data: Q0E=\n") CONTEXT),
      "users[u].user: client-key" },
    { "key without a certificate", STR_INIT(CLUSTER(SERVER) USER("    client-key: k\n") CONTEXT),
      "client-certificate: missing" },
    { "token and basic",
      STR_INIT(CLUSTER(SERVER) USER(TOKEN "    username: a\n    password: secret-pass\n") CONTEXT),
      "only one" },
    { "password alone", STR_INIT(CLUSTER(SERVER) USER("    password: secret-pass\n") CONTEXT), "username" },
    { "exec without a version", STR_INIT(CLUSTER(SERVER) USER("    exec: {command: aws}\n") CONTEXT),
      "users[u].user: exec: apiVersion: " },
    { "auth-provider", STR_INIT(CLUSTER(SERVER) USER(TOKEN "    auth-provider: {name: gcp}\n") CONTEXT),
      "users[u].user: auth-provider: not supported" },
    { "groups to impersonate without a user",
      STR_INIT(CLUSTER(SERVER) USER(TOKEN "    as-groups: [g]\n") CONTEXT), "as-groups" },
    { "alias bomb",
      STR_INIT("a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c "
               "[*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e "
               "[*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: "
               "[*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"),
      "" },
};

static void kubeconfig__bad(void **state)
{
    const struct bad *bad = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_config config;
    struct err err = ERR_INIT;
    assert_false(resolve_text(&arena, bad->text, &config, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    if (!strstr(err.text, bad->want))
        fail_msg("\"%s\" does not say \"%s\"", err.text, bad->want);
    assert_null(strstr(err.text, "secret"));
    assert_null(strstr(err.text, "123456"));
}

/* --- base64 ----------------------------------------------------------------------- */

static void base64__round_trip_of_every_length(void **state)
{
    (void)state;
    char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 37 + 200);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
        struct str back;
        base64_encode(&text, (struct str){ .ptr = bytes, .len = len });
        assert_int_equal(text.len, (len + 2) / 3 * 4);
        assert_true(base64_decode(&arena, strbuf_str(&text), &back, NULL));
        assert_int_equal(back.len, len);
        assert_memory_equal(back.ptr, bytes, len);
    }
}

static void base64__refuses_what_is_not_base64(void **state)
{
    (void)state;
    static const struct str texts[] = {
        STR_INIT("A"),
        STR_INIT("AA"),
        STR_INIT("AAA"),
        STR_INIT("A==="),
        STR_INIT("===="),
        STR_INIT("AA=A"),
        STR_INIT("A-__"),
        STR_INIT("AAAA="),
        STR_INIT("AA=="
                 "AAAA"),
        STR_INIT("AA\0A"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        struct str back;
        assert_false(base64_decode(&arena, texts[i], &back, NULL));
    }
}

/* --- files and environment -------------------------------------------------------- */

struct place {
    struct scratch_dir dir;
    struct arena arena;
    char vars[4][2][512]; /* name, value */
    size_t var_count;
    struct kube_config_options options;
    char service_account[128];
};

static const char *get_var(void *self, const char *name)
{
    struct place *place = self;
    for (size_t i = 0; i < place->var_count; i++) {
        if (strcmp(place->vars[i][0], name) == 0)
            return place->vars[i][1];
    }
    return NULL;
}

static void set_var(struct place *place, const char *name, const char *value)
{
    char(*var)[512] = place->vars[place->var_count++];
    assert_true(strlen(name) < sizeof var[0] && strlen(value) < sizeof var[1]);
    memcpy(var[0], name, strlen(name) + 1);
    memcpy(var[1], value, strlen(value) + 1);
}

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    scratch_dir_init(&place->dir);
    snprintf(place->service_account, sizeof place->service_account, "%s/sa", place->dir.path);
    place->options = (struct kube_config_options){
        .getenv = get_var,
        .getenv_self = place,
        .service_account_dir = place->service_account,
    };
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    scratch_dir_done(&place->dir);
    arena_done(&place->arena);
    free(place);
    return 0;
}

static struct kube_config load(struct place *place)
{
    struct kube_config config = { 0 };
    struct err err = ERR_INIT;
    if (!kube_config_load(&place->arena, &place->options, &config, &err))
        fail_msg("%s", err.text);
    return config;
}

static enum err_kind load_fails(struct place *place, const char *want)
{
    struct kube_config config = { 0 };
    struct err err = ERR_INIT;
    assert_false(kube_config_load(&place->arena, &place->options, &config, &err));
    if (!strstr(err.text, want))
        fail_msg("\"%s\" does not say \"%s\"", err.text, want);
    return err.kind;
}

static const struct str whole = STR_INIT(CLUSTER(SERVER) USER(TOKEN) CONTEXT);

static void load__explicit_path_must_exist(void **state)
{
    struct place *place = *state;
    place->options.kubeconfig = scratch_path(&place->dir, "missing");
    assert_int_equal(load_fails(place, "/missing"), ERR_NOT_FOUND);
}

static void load__explicit_path_beats_everything(void **state)
{
    struct place *place = *state;
    set_var(place, "KUBECONFIG", "/nowhere");
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    set_var(place, "KUBERNETES_SERVICE_PORT", "443");
    place->options.kubeconfig = scratch_write(&place->dir, "config", whole);
    assert_str(load(place).server, "https://api:6443");
}

static void load__list_is_merged_and_the_first_definition_wins(void **state)
{
    struct place *place = *state;
    scratch_write(&place->dir, "a",
                  STR("clusters: [{name: c, cluster: {server: 'https://first'}}]\n"
                      "contexts: [{name: x, context: {cluster: c, user: u}}]\n"));
    scratch_write(
        &place->dir, "sub/b",
        STR("clusters: [{name: c, cluster: {server: 'https://second', certificate-authority: ca}}]\n"
            "users: [{name: u, user: {tokenFile: token}}]\ncurrent-context: x\n"));
    scratch_write(&place->dir, "c", STR("current-context: y\n"));
    scratch_write(&place->dir, "sub/token", STR("from-file\n"));
    char list[512];
    snprintf(list, sizeof list, ":%s/a:%s/missing:%s/sub/b:%s/a::%s/c", place->dir.path, place->dir.path,
             place->dir.path, place->dir.path, place->dir.path);
    set_var(place, "KUBECONFIG", list);
    struct kube_config config = load(place);
    assert_str(config.server, "https://first"); /* the whole entry, not field by field */
    assert_str(config.ca_path, "");
    assert_str(config.token, "from-file");
    assert_true(str_ends_with(config.token_path, STR("/sub/token")));
    assert_true(str_ends_with(config.source, STR("/a (context x)")));
}

static void load__list_without_any_file_is_an_error(void **state)
{
    struct place *place = *state;
    set_var(place, "KUBECONFIG", "/nowhere/a:/nowhere/b");
    assert_int_equal(load_fails(place, "/nowhere/a:/nowhere/b"), ERR_NOT_FOUND);
}

static void load__malformed_file_in_the_list_is_named(void **state)
{
    struct place *place = *state;
    const char *path = scratch_write(&place->dir, "broken", STR("clusters: 5\n"));
    set_var(place, "KUBECONFIG", path);
    load_fails(place, "/broken: clusters");
}

static void load__context_can_be_chosen(void **state)
{
    struct place *place = *state;
    place->options.kubeconfig = scratch_write(
        &place->dir, "config",
        STR(CLUSTER(SERVER) "contexts: [{name: x, context: {cluster: c}}, {name: y, context: {cluster: c, "
                            "namespace: other}}]\ncurrent-context: x\n"));
    place->options.context = "y";
    assert_str(load(place).ns, "other");
    place->options.context = "z";
    load_fails(place, "contexts: no context named z; there are: x, y");
}

static void load__t_83_the_environments_proxy_is_used(void **state)
{
    struct place *place = *state;
    set_var(place, "https_proxy", "small:1");
    place->options.kubeconfig =
        scratch_write(&place->dir, "config", STR(CLUSTER(SERVER) USER(TOKEN) CONTEXT));
    assert_str(load(place).proxy_url, "http://small:1");
    set_var(place, "HTTPS_PROXY", "https://capitals:1");
    assert_str(load(place).proxy_url, "https://capitals:1");
    set_var(place, "NO_PROXY", "other,api");
    assert_str(load(place).proxy_url, "");
}

static void load__t_83_http_servers_have_a_variable_of_their_own(void **state)
{
    struct place *place = *state;
    set_var(place, "HTTPS_PROXY", "https://canary:1");
    place->options.kubeconfig =
        scratch_write(&place->dir, "config", STR(CLUSTER("    server: http://api:80\n") USER(TOKEN) CONTEXT));
    assert_str(load(place).proxy_url, "");
    set_var(place, "http_proxy", "proxy:1");
    assert_str(load(place).proxy_url, "http://proxy:1");
}

static void load__t_83_proxy_url_beats_the_environment(void **state)
{
    struct place *place = *state;
    set_var(place, "HTTPS_PROXY", "https://env:1");
    set_var(place, "no_proxy", "*");
    place->options.kubeconfig = scratch_write(
        &place->dir, "config", STR(CLUSTER(SERVER "    proxy-url: http://file:1\n") USER(TOKEN) CONTEXT));
    assert_str(load(place).proxy_url, "http://file:1");
}

static void load__t_83_an_unusable_variable_is_named_not_shown(void **state)
{
    struct place *place = *state;
    set_var(place, "https_proxy", "ftp://u:canary@proxy");
    place->options.kubeconfig =
        scratch_write(&place->dir, "config", STR(CLUSTER(SERVER) USER(TOKEN) CONTEXT));
    load_fails(place, "$https_proxy: neither http");
}

static void load__reads_what_the_file_names(void **state)
{
    struct place *place = *state;
    scratch_write(&place->dir, "ca.crt", STR("CA"));
    scratch_write(&place->dir, "c.crt", STR("CERT"));
    scratch_write(&place->dir, "c.key", STR("KEY"));
    place->options.kubeconfig =
        scratch_write(&place->dir, "config",
                      STR(CLUSTER(SERVER "    certificate-authority: ca.crt\n")
                              USER("    client-certificate: c.crt\n    client-key: c.key\n") CONTEXT));
    struct kube_config config = load(place);
    assert_str(config.ca_pem, "CA");
    assert_str(config.client_cert_pem, "CERT");
    assert_str(config.client_key_pem, "KEY");
    kube_config_wipe(&config);
    assert_str(config.client_key_pem, "");
}

static void load__a_named_file_that_is_missing_or_empty_is_an_error(void **state)
{
    struct place *place = *state;
    place->options.kubeconfig =
        scratch_write(&place->dir, "config",
                      STR(CLUSTER(SERVER "    certificate-authority: ca.crt\n") USER(TOKEN) CONTEXT));
    load_fails(place, "certificate-authority: open ");
    scratch_write(&place->dir, "ca.crt", STR(" \n"));
    load_fails(place, "/ca.crt is empty"); /* AUT-8 */
}

static void load__a_token_beside_its_file_makes_the_file_optional(void **state)
{
    struct place *place = *state;
    place->options.kubeconfig = scratch_write(
        &place->dir, "config", STR(CLUSTER(SERVER) USER(TOKEN "    tokenFile: missing\n") CONTEXT));
    struct kube_config config = load(place);
    assert_str(config.token, "secret-token");
    assert_true(str_ends_with(config.token_path, STR("/missing")));
}

static void load__eleven_megabytes_are_refused(void **state)
{
    struct place *place = *state;
    size_t len = (size_t)11 << 20;
    char *text = malloc(len);
    memset(text, '#', len);
    place->options.kubeconfig = scratch_write(&place->dir, "config", (struct str){ .ptr = text, .len = len });
    free(text);
    assert_int_equal(load_fails(place, "larger than"), ERR_INVALID);
}

static void load__home_is_last(void **state)
{
    struct place *place = *state;
    set_var(place, "HOME", place->dir.path);
    load_fails(place, "no API server configured");
    scratch_write(&place->dir, ".kube/config", whole);
    assert_str(load(place).token, "secret-token");
}

static void write_service_account(struct place *place)
{
    scratch_write(&place->dir, "sa/ca.crt", STR("CA"));
    scratch_write(&place->dir, "sa/token", STR("pod-token\n"));
    scratch_write(&place->dir, "sa/namespace", STR("koordinator-system\n"));
}

static void in_cluster__brackets_ipv6(void **state)
{
    struct place *place = *state;
    write_service_account(place);
    set_var(place, "KUBERNETES_SERVICE_HOST", "fd00::1");
    set_var(place, "KUBERNETES_SERVICE_PORT", "443");
    struct kube_config config = load(place);
    assert_str(config.server, "https://[fd00::1]:443");
    assert_str(config.ca_pem, "CA");
    assert_str(config.token, "pod-token");
    assert_true(str_ends_with(config.token_path, STR("/sa/token")));
    assert_str(config.ns, "koordinator-system");
    assert_str(config.source, "in-cluster");
    assert_true(config.in_cluster);
}

static void in_cluster__missing_ca_is_an_error(void **state)
{
    struct place *place = *state;
    scratch_write(&place->dir, "sa/token", STR("pod-token\n"));
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    set_var(place, "KUBERNETES_SERVICE_PORT", "443");
    load_fails(place, "in-cluster configuration: certificate-authority: open ");
}

static void in_cluster__missing_token_is_an_error(void **state)
{
    struct place *place = *state;
    scratch_write(&place->dir, "sa/ca.crt", STR("CA"));
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    set_var(place, "KUBERNETES_SERVICE_PORT", "443");
    load_fails(place, "tokenFile: open ");
}

static void in_cluster__without_a_namespace_file_it_is_default(void **state)
{
    struct place *place = *state;
    write_service_account(place);
    unlink(scratch_path(&place->dir, "sa/namespace"));
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    set_var(place, "KUBERNETES_SERVICE_PORT", "443");
    assert_str(load(place).ns, "default");
    assert_str(load(place).server, "https://10.0.0.1:443");
}

static void in_cluster__forced_names_the_missing_variable(void **state)
{
    struct place *place = *state;
    write_service_account(place);
    place->options.force_in_cluster = true;
    load_fails(place, "KUBERNETES_SERVICE_HOST is not set");
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    load_fails(place, "KUBERNETES_SERVICE_PORT is not set");
}

static void in_cluster__half_an_environment_is_none(void **state)
{
    struct place *place = *state;
    write_service_account(place);
    set_var(place, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
    set_var(place, "HOME", place->dir.path);
    scratch_write(&place->dir, ".kube/config", whole);
    assert_str(load(place).server, "https://api:6443");
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(kubeconfig__reads_every_field),
        cmocka_unit_test(kubeconfig__data_beats_file),
        cmocka_unit_test(kubeconfig__json_bom_crlf_and_anchors_are_read),
        cmocka_unit_test(kubeconfig__without_user_is_anonymous_and_namespace_is_default),
        cmocka_unit_test(kubeconfig__exec_beside_a_token_is_never_run),
        cmocka_unit_test(base64__round_trip_of_every_length),
        cmocka_unit_test(base64__refuses_what_is_not_base64),
        PLACE_TEST(load__explicit_path_must_exist),
        PLACE_TEST(load__explicit_path_beats_everything),
        PLACE_TEST(load__list_is_merged_and_the_first_definition_wins),
        PLACE_TEST(load__list_without_any_file_is_an_error),
        PLACE_TEST(load__malformed_file_in_the_list_is_named),
        PLACE_TEST(load__context_can_be_chosen),
        PLACE_TEST(load__t_83_the_environments_proxy_is_used),
        PLACE_TEST(load__t_83_http_servers_have_a_variable_of_their_own),
        PLACE_TEST(load__t_83_proxy_url_beats_the_environment),
        PLACE_TEST(load__t_83_an_unusable_variable_is_named_not_shown),
        PLACE_TEST(load__reads_what_the_file_names),
        PLACE_TEST(load__a_named_file_that_is_missing_or_empty_is_an_error),
        PLACE_TEST(load__a_token_beside_its_file_makes_the_file_optional),
        PLACE_TEST(load__eleven_megabytes_are_refused),
        PLACE_TEST(load__home_is_last),
        PLACE_TEST(in_cluster__brackets_ipv6),
        PLACE_TEST(in_cluster__missing_ca_is_an_error),
        PLACE_TEST(in_cluster__missing_token_is_an_error),
        PLACE_TEST(in_cluster__without_a_namespace_file_it_is_default),
        PLACE_TEST(in_cluster__forced_names_the_missing_variable),
        PLACE_TEST(in_cluster__half_an_environment_is_none),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(bads)];
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[i] = plain[i];
    for (size_t i = 0; i < ARRAY_LEN(bads); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ bads[i].name, kubeconfig__bad, NULL, NULL, (void *)(uintptr_t)&bads[i] };
    return cmocka_run_group_tests_name("kube/kubeconfig", tests, NULL, NULL);
}
