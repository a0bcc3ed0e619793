/* T-83: servers behind proxies. The name asked for resolves nowhere but at the proxy. */
#include "kube_fixture.h"

#include "tiny_proxy.h"

#define GET_THING .verb = KUBE_GET, .kind = &thing_kind, .ns = STR("ns"), .name = STR("name")

struct row {
    const char *name;
    enum tiny_proxy_kind kind;
    bool tls; /* to the proxy */
    const char *scheme;
    const char *want;
};

static const struct row rows[] = {
    { "t_83 proxy-url http", TINY_PROXY_HTTP, false, "http", "CONNECT api.invalid:6443 HTTP/1.1\r\n" },
    { "t_83 proxy-url https", TINY_PROXY_HTTP, true, "https", "CONNECT api.invalid:6443 HTTP/1.1\r\n" },
    { "t_83 proxy-url socks5 resolves at the proxy", TINY_PROXY_SOCKS5, false, "socks5",
      "api.invalid:6443\n" },
};

static struct tiny_proxy *proxy_for(struct kube_fixture *fixture, enum tiny_proxy_kind kind,
                                    const char *scheme, const struct test_pair *pair)
{
    struct tiny_proxy *proxy = tiny_proxy_new(fixture->loop, kind, http_server_port(fixture->server), pair);
    fixture->config.proxy_url =
        arena_strf(&fixture->arena, "%s://jane:s3cret@127.0.0.1:%d", scheme, tiny_proxy_port(proxy));
    return proxy;
}

static void proxy__tunnel(void **state)
{
    struct kube_fixture *fixture = *state;
    const struct row *row = fixture->row;
    struct got got;
    struct tiny_proxy *proxy = proxy_for(fixture, row->kind, row->scheme, row->tls ? &fixture->pair : NULL);
    fixture->config.server = STR("https://api.invalid:6443");
    fixture->config.tls_server_name = STR("localhost");
    kube_fixture_client(fixture);
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    got_wait(&got);
    assert_string_equal(got.response.err.text, "");
    assert_string_equal(fixture->asked[0].authorization, "Bearer t0ken");
    if (!strstr(tiny_proxy_asked(proxy), row->want))
        fail_msg("the proxy was asked \"%s\"", tiny_proxy_asked(proxy));
    assert_null(strstr(tiny_proxy_asked(proxy), "t0ken")); /* the tunnel is TLS */
    got_done(&got);
    kube_client_free(fixture->client);
    fixture->client = NULL;
    tiny_proxy_free(proxy);
}

static void proxy__plain_http_carries_every_header_line(void **state)
{
    struct kube_fixture *fixture = *state;
    static const struct str groups[] = { STR_INIT("b"), STR_INIT("a") };
    static const struct kube_extra extra[] = { { STR_INIT("Acme.com/P"), STR_INIT("x") },
                                               { STR_INIT("empty"), STR_INIT("") } };
    struct got got;
    struct tiny_proxy *proxy = proxy_for(fixture, TINY_PROXY_HTTP, "http", NULL);
    fixture->config.server = STR("http://api.invalid:8080");
    fixture->config.impersonate_user = STR("jane");
    fixture->config.impersonate_groups = groups;
    fixture->config.impersonate_group_count = ARRAY_LEN(groups);
    fixture->config.impersonate_extra = extra;
    fixture->config.impersonate_extra_count = ARRAY_LEN(extra);
    kube_fixture_client(fixture);
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_OK);
    assert_non_null(strstr(tiny_proxy_asked(proxy), "GET http://api.invalid:8080/apis/"));
    assert_non_null(strstr(tiny_proxy_asked(proxy),
                           "Impersonate-User: jane\r\nImpersonate-Group: b\r\nImpersonate-Group: a\r\n"
                           "Impersonate-Extra-acme.com%2Fp: x\r\nImpersonate-Extra-empty:\r\n"));
    got_done(&got);
    kube_client_free(fixture->client);
    fixture->client = NULL;
    tiny_proxy_free(proxy);
}

static void proxy__one_of_another_authority_is_refused(void **state)
{
    struct kube_fixture *fixture = *state;
    struct test_ca other;
    struct test_pair pair;
    struct got got;
    test_ca_init(&other, "other CA");
    test_pair_init(&pair, &other, "proxy", "DNS:localhost,IP:127.0.0.1");
    struct tiny_proxy *proxy = proxy_for(fixture, TINY_PROXY_HTTP, "https", &pair);
    /* Not to look at the server's certificate says nothing about the proxy's. */
    fixture->config.ca_pem = STR_NULL;
    fixture->config.insecure_skip_tls_verify = true;
    kube_fixture_client(fixture);
    got_init(&got, fixture);
    got_send(&got, (struct kube_request){ GET_THING });
    got_wait(&got);
    assert_int_equal(got.response.failure, KUBE_UNREACHABLE);
    assert_null(strstr(got.response.err.text, "s3cret"));
    assert_string_equal(tiny_proxy_asked(proxy), "");
    got_done(&got);
    kube_client_free(fixture->client);
    fixture->client = NULL;
    tiny_proxy_free(proxy);
    test_pair_done(&pair);
    test_ca_done(&other);
}

static const struct row *next_row = rows;

static int setup_row(void **state)
{
    int code = kube_fixture_setup(state);
    ((struct kube_fixture *)*state)->row = next_row++;
    return code;
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 2] = {
        cmocka_unit_test_setup_teardown(proxy__plain_http_carries_every_header_line, kube_fixture_setup_plain,
                                        kube_fixture_teardown),
        cmocka_unit_test_setup_teardown(proxy__one_of_another_authority_is_refused, kube_fixture_setup,
                                        kube_fixture_teardown),
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i + 2] =
            (struct CMUnitTest){ rows[i].name, proxy__tunnel, setup_row, kube_fixture_teardown, NULL };
    return cmocka_run_group_tests_name("kube/proxy", tests, NULL, NULL);
}
