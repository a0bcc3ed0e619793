#include "http_fixture.h"
#include <string.h>

/* ---- requests ---- */

static const struct request_row {
    const char *name;
    const char *method;
    struct str url;
    struct http_header header;
} bad_requests[] = {
    { .name = "a line feed in a header value", .header = { STR_INIT("A"), STR_INIT("x\nB: y") } },
    { .name = "a carriage return in a header value", .header = { STR_INIT("A"), STR_INIT("x\r") } },
    { .name = "a NUL in a header value", .header = { STR_INIT("A"), STR_INIT("x\0y") } },
    { .name = "a line feed in a header name", .header = { STR_INIT("A\nB"), STR_INIT("x") } },
    { .name = "a colon in a header name", .header = { STR_INIT("A:"), STR_INIT("x") } },
    { .name = "a blank in a header name", .header = { STR_INIT("A "), STR_INIT("x") } },
    { .name = "an empty header name", .header = { STR_INIT(""), STR_INIT("x") } },
    { .name = "a method with a blank", .method = "GET /" },
    { .name = "a method with a line break", .method = "GET\r\n" },
    { .name = "an empty method", .method = "" },
    { .name = "a URL without scheme", .url = STR_INIT("127.0.0.1/x") },
    { .name = "a file URL", .url = STR_INIT("file:///etc/passwd") },
    { .name = "a gopher URL", .url = STR_INIT("gopher://127.0.0.1/") },
    { .name = "a URL with a user", .url = STR_INIT("http://me:secret@127.0.0.1/") },
    { .name = "a URL with a line break", .url = STR_INIT("http://127.0.0.1/\r\nA: b") },
    { .name = "a URL with a blank", .url = STR_INIT("http://127.0.0.1/a b") },
    { .name = "a URL with a NUL", .url = STR_INIT("http://127.0.0.1/\0x") },
    { .name = "a URL with a bad port", .url = STR_INIT("http://127.0.0.1:99999/") },
    { .name = "an empty URL", .url = STR_INIT("") },
};

static int row_setup(void **state)
{
    const void *row = *state;
    fixture_setup(state);
    ((struct fixture *)*state)->row = row;
    return 0;
}

static void never_done(void *self, const struct http_result *result)
{
    (void)self, (void)result;
    fail();
}

static void client__refuses_request(void **state)
{
    struct fixture *fixture = *state;
    const struct request_row *row = fixture->row;
    struct http_request request = {
        .method = row->method ? row->method : "GET",
        .url = row->url.ptr ? row->url : STR("http://127.0.0.1:1/"),
        .headers = &row->header,
        .header_count = row->header.name.ptr ? 1 : 0,
        .done = never_done,
    };
    struct err err = ERR_INIT;
    assert_null(http_send(fixture->client, &request, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_true(strlen(err.text) > 0);
    fixture_settle(fixture);
}

/* ---- options ---- */

struct material {
    struct test_ca ca;
    struct test_pair one, other;
};

static int material_setup(void **state)
{
    static struct material material;
    test_ca_init(&material.ca, "CA");
    test_pair_init(&material.one, &material.ca, "one", NULL);
    test_pair_init(&material.other, &material.ca, "other", NULL);
    *state = &material;
    return 0;
}

static int material_teardown(void **state)
{
    struct material *material = *state;
    test_ca_done(&material->ca);
    test_pair_done(&material->one);
    test_pair_done(&material->other);
    return 0;
}

static void refuse_options(struct http_client_options options)
{
    struct err err = ERR_INIT;
    struct loop *loop = loop_new(&err);
    assert_null(http_client_new(loop, &options, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    loop_free(loop);
}

static void client__refuses_a_certificate_without_key(void **state)
{
    struct material *material = *state;
    refuse_options((struct http_client_options){ .client_cert_pem = str_c(material->one.cert_pem) });
}

static void client__refuses_a_key_without_certificate(void **state)
{
    struct material *material = *state;
    refuse_options((struct http_client_options){ .client_key_pem = str_c(material->one.key_pem) });
}

static void client__aut_5_refuses_a_key_of_another_certificate(void **state)
{
    struct material *material = *state;
    refuse_options((struct http_client_options){ .client_cert_pem = str_c(material->one.cert_pem),
                                                 .client_key_pem = str_c(material->other.key_pem) });
}

static void client__refuses_an_authority_that_is_no_pem(void **state)
{
    (void)state;
    refuse_options((struct http_client_options){ .ca_pem = STR("not a certificate") });
}

static void client__refuses_an_authority_with_a_broken_second_part(void **state)
{
    struct material *material = *state;
    struct strbuf pem = STRBUF_INIT(1 << 20);
    strbuf_addf(&pem, "%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", material->ca.pem);
    refuse_options((struct http_client_options){ .ca_pem = strbuf_str(&pem) });
    strbuf_done(&pem);
}

static void client__refuses_an_encrypted_key_without_asking(void **state)
{
    struct material *material = *state;
    static const char key[] = "-----BEGIN RSA PRIVATE KEY-----\n"
                              "Proc-Type: 4,ENCRYPTED\n"
                              "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
                              "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
                              "-----END RSA PRIVATE KEY-----\n";
    refuse_options((struct http_client_options){ .client_cert_pem = str_c(material->one.cert_pem),
                                                 .client_key_pem = str_c(key) });
}

static void client__refuses_a_line_break_in_the_user_agent(void **state)
{
    (void)state;
    refuse_options((struct http_client_options){ .user_agent = STR("a\r\nB: c") });
}

static void client__free_takes_null(void **state)
{
    (void)state;
    http_client_free(NULL);
}

#define OPTION_TEST(name) cmocka_unit_test_setup_teardown(name, material_setup, material_teardown)

static const struct CMUnitTest option_tests[] = {
    OPTION_TEST(client__refuses_a_certificate_without_key),
    OPTION_TEST(client__refuses_a_key_without_certificate),
    OPTION_TEST(client__aut_5_refuses_a_key_of_another_certificate),
    OPTION_TEST(client__refuses_an_authority_that_is_no_pem),
    OPTION_TEST(client__refuses_an_authority_with_a_broken_second_part),
    OPTION_TEST(client__refuses_an_encrypted_key_without_asking),
    OPTION_TEST(client__refuses_a_line_break_in_the_user_agent),
    OPTION_TEST(client__free_takes_null),
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(bad_requests) + ARRAY_LEN(option_tests)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(bad_requests); i++)
        tests[count++] = (struct CMUnitTest){ bad_requests[i].name, client__refuses_request, row_setup,
                                              fixture_teardown, (void *)(uintptr_t)&bad_requests[i] };
    for (size_t i = 0; i < ARRAY_LEN(option_tests); i++)
        tests[count++] = option_tests[i];
    return cmocka_run_group_tests_name("http/client input", tests, NULL, NULL);
}
