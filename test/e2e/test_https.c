/* HTTPS, and who the manager says it is. */
#include <openssl/evp.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"
#include "test_tls.h"

/* Two authorities, a server's certificate and a client's, made for this run. */
struct pki {
    struct test_ca ca, stranger;
    struct test_pair server, client;
    const char *ca_file, *stranger_file, *server_cert, *server_key, *client_cert, *client_key;
};

static void make_pki(struct e2e *e2e, struct pki *pki)
{
    e2e_need_control(e2e);
    test_ca_init(&pki->ca, "e2e-ca");
    test_ca_init(&pki->stranger, "somebody-else");
    test_pair_init(&pki->server, &pki->ca, "apiserver", "DNS:localhost,IP:127.0.0.1");
    test_pair_init(&pki->client, &pki->ca, "the-manager", NULL);
    pki->ca_file = e2e_write_file(e2e, "ca.pem", str_c(pki->ca.pem));
    pki->stranger_file = e2e_write_file(e2e, "stranger.pem", str_c(pki->stranger.pem));
    pki->server_cert = e2e_write_file(e2e, "server.pem", str_c(pki->server.cert_pem));
    pki->server_key = e2e_write_file(e2e, "server.key", str_c(pki->server.key_pem));
    pki->client_cert = e2e_write_file(e2e, "client.pem", str_c(pki->client.cert_pem));
    pki->client_key = e2e_write_file(e2e, "client.key", str_c(pki->client.key_pem));
    e2e->credentials.ca_file = pki->ca_file;
}

static void forget_pki(struct pki *pki)
{
    test_pair_done(&pki->client);
    test_pair_done(&pki->server);
    test_ca_done(&pki->stranger);
    test_ca_done(&pki->ca);
}

/* `cluster` and `user` in YAML flow style. */
static void write_kubeconfig(struct e2e *e2e, const char *cluster, const char *user)
{
    struct str text =
        arena_strf(&e2e->arena,
                   "{apiVersion: v1, kind: Config, current-context: t, contexts: [{name: t, context: "
                   "{cluster: t, user: t}}], clusters: [{name: t, cluster: {server: '%s', %s}}], "
                   "users: [{name: t, user: {%s}}]}",
                   e2e->url, cluster, user);
    e2e->kubeconfig = e2e_write_file(e2e, "kubeconfig", text);
}

static const char *base64(struct e2e *e2e, const char *text)
{
    size_t len = strlen(text);
    unsigned char *out = arena_alloc(&e2e->arena, len * 2 + 8);
    EVP_EncodeBlock(out, (const unsigned char *)text, (int)len);
    return (const char *)out;
}

/* It does its work, and every request came from `user`. */
static void works_as(struct e2e *e2e, const char *user)
{
    e2e_add_nodes(e2e, 2);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e);
    e2e_report_all(e2e, 2);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
    struct e2e_requests all = e2e_requests(e2e, 0);
    assert_true(all.count >= 8);
    for (size_t i = 0; i < all.count; i++)
        if (!str_eq(all.items[i].user, str_c(user)))
            fail_msg("request of " STR_FMT ", not %s", STR_ARG(all.items[i].user), user);
}

static void with_a_client_certificate(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    e2e_serve(e2e, "--tls-cert", pki.server_cert, "--tls-key", pki.server_key, "--client-ca", pki.ca_file);
    write_kubeconfig(
        e2e, arena_strf(&e2e->arena, "certificate-authority: '%s'", pki.ca_file).ptr,
        arena_strf(&e2e->arena, "client-certificate: '%s', client-key: '%s'", pki.client_cert, pki.client_key)
            .ptr);
    works_as(e2e, "the-manager");
    forget_pki(&pki);
}

static void with_everything_inside_the_kubeconfig(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    e2e_serve(e2e, "--tls-cert", pki.server_cert, "--tls-key", pki.server_key, "--client-ca", pki.ca_file);
    write_kubeconfig(e2e,
                     arena_strf(&e2e->arena, "certificate-authority-data: %s", base64(e2e, pki.ca.pem)).ptr,
                     arena_strf(&e2e->arena, "client-certificate-data: %s, client-key-data: %s",
                                base64(e2e, pki.client.cert_pem), base64(e2e, pki.client.key_pem))
                         .ptr);
    works_as(e2e, "the-manager");
    forget_pki(&pki);
}

static const char *serve_with_tokens(struct e2e *e2e, const struct pki *pki)
{
    const char *tokens =
        e2e_write_file(e2e, "tokens", STR("s3cret,token-user,1\nours,e2e,2,\"system:masters\"\n"));
    e2e->credentials.token = "ours";
    e2e_serve(e2e, "--tls-cert", pki->server_cert, "--tls-key", pki->server_key, "--token-file", tokens);
    return arena_strf(&e2e->arena, "certificate-authority: '%s'", pki->ca_file).ptr;
}

static void with_a_token_file(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    const char *cluster = serve_with_tokens(e2e, &pki);
    const char *token = e2e_write_file(e2e, "token", STR("s3cret\n"));
    write_kubeconfig(e2e, cluster, arena_strf(&e2e->arena, "tokenFile: '%s'", token).ptr);
    works_as(e2e, "token-user");
    assert_false(program_logged(e2e->manager, "s3cret"));
    forget_pki(&pki);
}

/* The token is wrong at first; once its file is put right, it is read again. */
static void a_refused_token_is_told_and_read_again(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    const char *cluster = serve_with_tokens(e2e, &pki);
    const char *token = e2e_write_file(e2e, "token", STR("wrong"));
    write_kubeconfig(e2e, cluster, arena_strf(&e2e->arena, "tokenFile: '%s'", token).ptr);
    e2e_manage(e2e);
    EVENTUALLY(e2e, program_logged(e2e->manager, "401"));
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 503);
    e2e_write_file(e2e, "token", STR("s3cret"));
    EVENTUALLY(e2e, e2e_ready(e2e));
    forget_pki(&pki);
}

static void refuses(struct e2e *e2e, const struct pki *pki, const char *ca_file)
{
    e2e_serve(e2e, "--tls-cert", pki->server_cert, "--tls-key", pki->server_key);
    write_kubeconfig(e2e, arena_strf(&e2e->arena, "certificate-authority: '%s'", ca_file).ptr, "token: x");
    int64_t mark = e2e_mark(e2e);
    e2e_manage(e2e);
    EVENTUALLY(e2e, program_logged(e2e->manager, "list-watch in trouble"));
    assert_true(program_logged(e2e->manager, "certificate"));
    assert_int_equal(e2e_health_code(e2e, "/readyz"), 503);
    assert_int_equal(e2e_health_code(e2e, "/healthz"), 200);
    assert_int_equal(e2e_requests(e2e, mark).count, 0); /* no token went to a stranger */
}

static void a_server_of_another_authority_is_refused(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    refuses(e2e, &pki, pki.stranger_file);
    forget_pki(&pki);
}

static void insecure_is_insecure_only_when_asked_for(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    e2e_serve(e2e, "--tls-cert", pki.server_cert, "--tls-key", pki.server_key);
    write_kubeconfig(e2e, "insecure-skip-tls-verify: true", "");
    works_as(e2e, "system:anonymous");
    forget_pki(&pki);
}

static void koordctl_refuses_a_stranger_too(struct e2e *e2e)
{
    struct pki pki;
    make_pki(e2e, &pki);
    e2e_serve(e2e, "--tls-cert", pki.server_cert, "--tls-key", pki.server_key);
    write_kubeconfig(e2e, arena_strf(&e2e->arena, "certificate-authority: '%s'", pki.stranger_file).ptr,
                     "token: x");
    const char *const flags[] = { "plan", "--kubeconfig", e2e->kubeconfig, NULL };
    struct str output;
    assert_int_equal(e2e_run(e2e, "koordctl", E2E_KOORDCTL, flags, &output), 2);
    assert_non_null(memmem(output.ptr, output.len, "certificate", 11));
    forget_pki(&pki);
}

static const struct e2e_test tests[] = {
    E2E_TEST("with a client certificate", with_a_client_certificate),
    E2E_TEST("with everything inside the kubeconfig", with_everything_inside_the_kubeconfig),
    E2E_TEST("with a token file", with_a_token_file),
    E2E_TEST("a refused token is told, and read again", a_refused_token_is_told_and_read_again),
    E2E_TEST("a server of another authority is refused", a_server_of_another_authority_is_refused),
    E2E_TEST("insecure is insecure, only when asked for", insecure_is_insecure_only_when_asked_for),
    E2E_TEST("koordctl refuses a stranger, too", koordctl_refuses_a_stranger_too),
};

int main(void)
{
    return e2e_main("e2e/tls", tests, ARRAY_LEN(tests));
}
