#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "http/head.h"

#define HOST "Host: a\r\n"

static const struct row {
    const char *name;
    struct str text;
    int want;
} rows[] = {
    { "the least request", STR_INIT("GET / HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "HTTP/1.0 needs no host", STR_INIT("GET / HTTP/1.0\r\n\r\n"), 0 },
    { "an unknown method is a token all the same", STR_INIT("BREW /pot HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "an absolute target", STR_INIT("GET http://a/b?c HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "the asterisk", STR_INIT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "bytes beyond ASCII in a value", STR_INIT("GET / HTTP/1.1\r\n" HOST "A: \xc3\xa4\r\n\r\n"), 0 },
    { "expecting 100-continue", STR_INIT("PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n\r\n"), 0 },

    { "nothing", STR_INIT(""), 400 },
    { "no end", STR_INIT("GET / HTTP/1.1\r\n" HOST), 400 },
    { "bytes after the end", STR_INIT("GET / HTTP/1.1\r\n" HOST "\r\nx"), 400 },
    { "a bare line feed after the request line", STR_INIT("GET / HTTP/1.1\n" HOST "\r\n"), 400 },
    { "a bare line feed after a field", STR_INIT("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400 },
    { "a carriage return inside a value", STR_INIT("GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n"), 400 },
    { "a carriage return at the end of a value", STR_INIT("GET / HTTP/1.1\r\n" HOST "A: b\r\r\n\r\n"), 400 },
    { "a NUL inside a value", STR_INIT("GET / HTTP/1.1\r\n" HOST "A: b\0c\r\n\r\n"), 400 },
    { "no version", STR_INIT("GET /\r\n" HOST "\r\n"), 400 },
    { "two blanks in the request line", STR_INIT("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a blank in the target", STR_INIT("GET /a b HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a target that is no path", STR_INIT("GET a/b HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a byte beyond ASCII in the target", STR_INIT("GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "an empty method", STR_INIT(" / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a method that is no token", STR_INIT("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "something else than HTTP", STR_INIT("GET / HTPP/1.1\r\n" HOST "\r\n"), 400 },
    { "HTTP/2.0", STR_INIT("PRI * HTTP/2.0\r\n\r\n"), 505 },
    { "HTTP/1.2", STR_INIT("GET / HTTP/1.2\r\n" HOST "\r\n"), 505 },
    { "no host", STR_INIT("GET / HTTP/1.1\r\n\r\n"), 400 },
    { "two hosts", STR_INIT("GET / HTTP/1.1\r\n" HOST HOST "\r\n"), 400 },
    { "a folded field", STR_INIT("GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n"), 400 },
    { "a blank before the colon", STR_INIT("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400 },
    { "a field without colon", STR_INIT("GET / HTTP/1.1\r\n" HOST "A\r\n\r\n"), 400 },
    { "a field without name", STR_INIT("GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n"), 400 },
    { "length and chunks",
      STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { "two lengths", STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"),
      400 },
    { "a list of lengths", STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\n"), 400 },
    { "a negative length", STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"), 400 },
    { "a signed length", STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n"), 400 },
    { "an empty length", STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n"), 400 },
    { "a length beyond 64 bits",
      STR_INIT("POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n"), 400 },
    { "two transfer codings",
      STR_INIT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
      400 },
    { "chunks in HTTP/1.0", STR_INIT("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { "a coding besides chunked",
      STR_INIT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501 },
    { "an unknown expectation", STR_INIT("PUT / HTTP/1.1\r\n" HOST "Expect: miracles\r\n\r\n"), 417 },
};

static void head__row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct http_head head;
    assert_int_equal(http_head_parse(&arena, row->text, &head), row->want);
    arena_done(&arena);
}

static void assert_str(struct str got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_true(str_eq(got, str_c(want)));
}

static struct http_head parse(struct arena *arena, struct str text)
{
    struct http_head head;
    assert_int_equal(http_head_parse(arena, text, &head), 0);
    return head;
}

static void head__takes_the_parts_apart(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct http_head head = parse(&arena, STR("PATCH /a%2Fb?c=d?e HTTP/1.1\r\nHOST: h\r\nX-A: \t v w \t\r\n"
                                              "Empty:\r\nContent-Length: 17\r\n\r\n"));
    assert_str(head.method, "PATCH");
    assert_str(head.path, "/a%2Fb");
    assert_str(head.query, "c=d?e");
    assert_int_equal(head.minor, 1);
    assert_int_equal(head.field_count, 4);
    assert_str(http_head_field(&head, STR("host")), "h");
    assert_str(http_head_field(&head, STR("x-a")), "v w");
    assert_str(http_head_field(&head, STR("Empty")), "");
    assert_null(http_head_field(&head, STR("None")).ptr);
    assert_int_equal(head.content_length, 17);
    assert_false(head.chunked);
    assert_true(head.keep_alive);
    assert_false(head.expects_continue);
    arena_done(&arena);
}

static void head__an_absolute_target_loses_its_authority(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct http_head head = parse(&arena, STR("GET HTTP://h:1/p?q HTTP/1.1\r\n" HOST "\r\n"));
    assert_str(head.path, "/p");
    assert_str(head.query, "q");
    head = parse(&arena, STR("GET https://h HTTP/1.1\r\n" HOST "\r\n"));
    assert_str(head.path, "/");
    arena_done(&arena);
}

static void head__the_connection_field_decides_about_keeping_it(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        bool keep;
    } cases[] = {
        { STR_INIT("GET / HTTP/1.1\r\n" HOST "\r\n"), true },
        { STR_INIT("GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), false },
        { STR_INIT("GET / HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n"), false },
        { STR_INIT("GET / HTTP/1.1\r\n" HOST "Connection: x\r\nConnection: close\r\n\r\n"), false },
        { STR_INIT("GET / HTTP/1.0\r\n\r\n"), false },
        { STR_INIT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), true },
    };
    struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(parse(&arena, cases[i].text).keep_alive, cases[i].keep);
    arena_done(&arena);
}

static void head__more_fields_than_the_limit_are_refused(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(4096);
    strbuf_add(&text, STR("GET / HTTP/1.1\r\n" HOST));
    for (int i = 0; i < 128; i++)
        strbuf_add(&text, STR("A: b\r\n"));
    strbuf_add(&text, STR("\r\n"));
    struct arena arena = ARENA_INIT;
    struct http_head head;
    assert_int_equal(http_head_parse(&arena, strbuf_str(&text), &head), 431);
    arena_done(&arena);
}

static void chunk_size__reads_hex_and_skips_extensions(void **state)
{
    (void)state;
    assert_int_equal(http_chunk_size(STR("0")), 0);
    assert_int_equal(http_chunk_size(STR("1f")), 31);
    assert_int_equal(http_chunk_size(STR("1F")), 31);
    assert_int_equal(http_chunk_size(STR("00a")), 10);
    assert_int_equal(http_chunk_size(STR("5;name=value")), 5);
    assert_int_equal(http_chunk_size(STR("5 ;name")), 5);
    assert_int_equal(http_chunk_size(STR("fffffffffffffff")), INT64_C(0xfffffffffffffff));
}

static void chunk_size__refuses_everything_else(void **state)
{
    (void)state;
    static const struct str bad[] = {
        STR_INIT(""),    STR_INIT(";"),   STR_INIT("g"),   STR_INIT("-1"),
        STR_INIT("+1"),  STR_INIT(" 1"),  STR_INIT("0x1"), STR_INIT("1\n"),
        STR_INIT("1\r"), STR_INIT("1 1"), STR_INIT("1\0"), STR_INIT("ffffffffffffffff"),
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(http_chunk_size(bad[i]), -1);
}

static const struct CMUnitTest fixed[] = {
    cmocka_unit_test(head__takes_the_parts_apart),
    cmocka_unit_test(head__an_absolute_target_loses_its_authority),
    cmocka_unit_test(head__the_connection_field_decides_about_keeping_it),
    cmocka_unit_test(head__more_fields_than_the_limit_are_refused),
    cmocka_unit_test(chunk_size__reads_hex_and_skips_extensions),
    cmocka_unit_test(chunk_size__refuses_everything_else),
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, head__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("http/head", tests, NULL, NULL);
}
