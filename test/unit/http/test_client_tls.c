#include "http_fixture.h"
#include <stdio.h>

static void get(struct reply *reply, struct fixture *fixture, const char *path)
{
    reply_init(reply, fixture);
    reply_get(reply, fixture_url(fixture, path));
}

static void assert_refused(struct fixture *fixture)
{
    struct reply reply;
    get(&reply, fixture, "/hello");
    assert_int_equal(reply.outcome, HTTP_REFUSED);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    assert_int_equal(fixture->handled, 0);
    reply_done(&reply);
}

static void tls__an_unknown_authority_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct test_ca other;
    test_ca_init(&other, "another CA");
    fixture_client(fixture, (struct http_client_options){ .ca_pem = str_c(other.pem) });
    assert_refused(fixture);
    test_ca_done(&other);
}

static void tls__the_systems_authorities_do_not_know_ours(void **state)
{
    struct fixture *fixture = *state;
    fixture_client(fixture, (struct http_client_options){ 0 });
    assert_refused(fixture);
}

static void serve_as(struct fixture *fixture, const char *names)
{
    test_pair_done(&fixture->pair);
    test_pair_init(&fixture->pair, &fixture->ca, "server", names);
    fixture_server(fixture, (struct http_server_options){ .tls_cert_pem = str_c(fixture->pair.cert_pem),
                                                          .tls_key_pem = str_c(fixture->pair.key_pem) });
}

static void tls__a_certificate_for_another_host_is_refused(void **state)
{
    struct fixture *fixture = *state;
    serve_as(fixture, "DNS:api.example");
    assert_refused(fixture);
}

static void tls__net_9_the_server_name_replaces_the_host_for_verification(void **state)
{
    struct fixture *fixture = *state;
    serve_as(fixture, "DNS:api.example");
    fixture_client(fixture, (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem),
                                                          .tls_server_name = STR("api.example") });
    struct reply reply;
    get(&reply, fixture, "/host");
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    char want[64];
    snprintf(want, sizeof want, "127.0.0.1:%d", http_server_port(fixture->server));
    assert_body(&reply, want); /* the Host header stays that of the URL */
    reply_done(&reply);
}

static void tls__net_9_a_wrong_server_name_is_refused(void **state)
{
    struct fixture *fixture = *state;
    fixture_client(fixture, (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem),
                                                          .tls_server_name = STR("api.example") });
    assert_refused(fixture);
}

static void tls__insecure_skips_both_checks(void **state)
{
    struct fixture *fixture = *state;
    serve_as(fixture, "DNS:api.example");
    fixture_client(fixture, (struct http_client_options){ .insecure_skip_verify = true });
    struct reply reply;
    get(&reply, fixture, "/hello");
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    reply_done(&reply);
}

/* ---- client certificates ---- */

static void ask_for_clients(struct fixture *fixture, const struct test_ca *ca)
{
    fixture_server(fixture, (struct http_server_options){ .tls_cert_pem = str_c(fixture->pair.cert_pem),
                                                          .tls_key_pem = str_c(fixture->pair.key_pem),
                                                          .tls_client_ca_pem = str_c(ca->pem) });
}

static void use_certificate(struct fixture *fixture, const struct test_pair *pair)
{
    fixture_client(fixture, (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem),
                                                          .client_cert_pem = str_c(pair->cert_pem),
                                                          .client_key_pem = str_c(pair->key_pem) });
}

static void tls__a_client_certificate_names_its_subject(void **state)
{
    struct fixture *fixture = *state;
    struct test_pair pair;
    test_pair_init(&pair, &fixture->ca, "system:admin", NULL);
    ask_for_clients(fixture, &fixture->ca);
    use_certificate(fixture, &pair);
    for (int i = 0; i < 2; i++) { /* also on the second request of a connection */
        struct reply reply;
        get(&reply, fixture, "/subject");
        assert_body(&reply, "system:admin");
        reply_done(&reply);
    }
    test_pair_done(&pair);
}

static void tls__without_a_client_certificate_there_is_no_subject(void **state)
{
    struct fixture *fixture = *state;
    ask_for_clients(fixture, &fixture->ca);
    struct reply reply;
    get(&reply, fixture, "/subject");
    assert_body(&reply, "nobody");
    reply_done(&reply);
}

static void tls__a_client_certificate_of_an_unknown_authority_gets_nowhere(void **state)
{
    struct fixture *fixture = *state;
    struct test_ca other;
    struct test_pair pair;
    test_ca_init(&other, "another CA");
    test_pair_init(&pair, &other, "system:admin", NULL);
    ask_for_clients(fixture, &fixture->ca);
    use_certificate(fixture, &pair);
    struct reply reply;
    get(&reply, fixture, "/subject");
    assert_int_not_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(fixture->handled, 0);
    reply_done(&reply);
    test_pair_done(&pair);
    test_ca_done(&other);
}

static void tls__an_unasked_client_certificate_is_not_trusted(void **state)
{
    struct fixture *fixture = *state;
    struct test_pair pair;
    test_pair_init(&pair, &fixture->ca, "system:admin", NULL);
    use_certificate(fixture, &pair);
    struct reply reply;
    get(&reply, fixture, "/subject");
    assert_body(&reply, "nobody");
    reply_done(&reply);
    test_pair_done(&pair);
}

/* ---- the wrong protocol ---- */

static void get_with_scheme(struct reply *reply, struct fixture *fixture, const char *scheme)
{
    char url[128];
    snprintf(url, sizeof url, "%s://127.0.0.1:%d/hello", scheme, http_server_port(fixture->server));
    reply_init(reply, fixture);
    reply_get(reply, url);
}

static void tls__plain_http_to_a_tls_server_fails(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    get_with_scheme(&reply, fixture, "http");
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(fixture->handled, 0);
    reply_done(&reply);
}

static void tls__https_to_a_plain_server_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    fixture_server(fixture, (struct http_server_options){ .timeout_s = 1 });
    get_with_scheme(&reply, fixture, "https");
    assert_int_equal(reply.outcome, HTTP_REFUSED);
    reply_done(&reply);
}

/* ---- server material ---- */

static void refuse_server(struct http_server_options options)
{
    struct err err = ERR_INIT;
    struct loop *loop = loop_new(&err);
    options.address = "127.0.0.1:0";
    assert_null(http_server_new(loop, &options, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    loop_free(loop);
}

static void tls__a_server_needs_a_key_that_fits(void **state)
{
    struct fixture *fixture = *state;
    struct test_pair other;
    test_pair_init(&other, &fixture->ca, "other", "DNS:other");
    struct str cert = str_c(fixture->pair.cert_pem);
    refuse_server((struct http_server_options){ .tls_cert_pem = cert });
    refuse_server((struct http_server_options){ .tls_cert_pem = cert, .tls_key_pem = str_c(other.key_pem) });
    refuse_server((struct http_server_options){ .tls_cert_pem = cert, .tls_key_pem = STR("x") });
    refuse_server((struct http_server_options){
        .tls_cert_pem = cert, .tls_key_pem = str_c(fixture->pair.key_pem), .tls_client_ca_pem = STR("x") });
    test_pair_done(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_tls, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tls__an_unknown_authority_is_refused),
        TEST(tls__the_systems_authorities_do_not_know_ours),
        TEST(tls__a_certificate_for_another_host_is_refused),
        TEST(tls__net_9_the_server_name_replaces_the_host_for_verification),
        TEST(tls__net_9_a_wrong_server_name_is_refused),
        TEST(tls__insecure_skips_both_checks),
        TEST(tls__a_client_certificate_names_its_subject),
        TEST(tls__without_a_client_certificate_there_is_no_subject),
        TEST(tls__a_client_certificate_of_an_unknown_authority_gets_nowhere),
        TEST(tls__an_unasked_client_certificate_is_not_trusted),
        TEST(tls__plain_http_to_a_tls_server_fails),
        TEST(tls__https_to_a_plain_server_is_refused),
        TEST(tls__a_server_needs_a_key_that_fits),
    };
    return cmocka_run_group_tests_name("http/client tls", tests, NULL, NULL);
}
