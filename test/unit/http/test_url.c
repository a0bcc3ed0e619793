#include "http/url.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct encoded {
    const char *name;
    struct str plain;
    const char *want;
} encoded[] = {
    { "url_encode: unreserved bytes stay", STR_INIT("AZaz09-_.~"), "AZaz09-_.~" },
    { "url_encode: empty", STR_INIT(""), "" },
    { "sel_1_url_encode: selector signs and blank", STR_INIT("a=b,c in (x),!d"),
      "a%3Db%2Cc%20in%20%28x%29%2C%21d" },
    { "url_encode: path and query signs", STR_INIT("/?#&+%:@"), "%2F%3F%23%26%2B%25%3A%40" },
    { "url_encode: bytes above ASCII and NUL", STR_INIT("\xc3\xa9\xff\0"), "%C3%A9%FF%00" },
};

static void url_encoded(void **state)
{
    const struct encoded *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1024);
    struct str plain;
    url_encode(&out, row->plain);
    assert_string_equal(strbuf_cstr(&out), row->want);
    assert_true(url_decode(&arena, strbuf_str(&out), &plain, NULL));
    assert_true(str_eq(plain, row->plain));
    strbuf_done(&out);
    arena_done(&arena);
}

static const struct decoded {
    const char *name;
    const char *text;
    const char *want; /* NULL: refused */
} decoded[] = {
    { "url_decode: either case of digits", "%2f%2F%aB", "//\xab" },
    { "url_decode: plus stays in a path", "a+b", "a+b" },
    { "url_decode: escape at the end", "a%20", "a " },
    { "url_decode: an escaped percent is decoded once", "%2525", "%25" },
    { "url_decode: reserved bytes may stand unescaped", "a=b/c", "a=b/c" },
    { "url_decode_refused: no digits", "a%", NULL },
    { "url_decode_refused: one digit", "a%2", NULL },
    { "url_decode_refused: no hex digit first", "%g0", NULL },
    { "url_decode_refused: no hex digit second", "%0g", NULL },
    { "url_decode_refused: sign instead of a digit", "%+1", NULL },
};

static void url_decoded(void **state)
{
    const struct decoded *row = *state;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str plain;
    assert_int_equal(url_decode(&arena, str_c(row->text), &plain, &err), row->want != NULL);
    if (row->want)
        assert_true(str_eq(plain, str_c(row->want)));
    else
        assert_int_equal(err.kind, ERR_INVALID);
    arena_done(&arena);
}

static const struct query {
    const char *name;
    const char *text;
    const char *want; /* "name=value;" of each parameter in order; NULL: refused */
} queries[] = {
    { "url_query: empty", "", "" },
    { "url_query: one", "a=1", "a=1;" },
    { "url_query: order is kept, repetition too", "b=1&a=2&b=3", "b=1;a=2;b=3;" },
    { "url_query: name without value", "watch&a=1", "watch=;a=1;" },
    { "url_query: empty name", "=x", "=x;" },
    { "url_query: empty pairs are skipped", "&&a=1&&b=2&", "a=1;b=2;" },
    { "url_query: value holds the further equal signs", "labelSelector=a=b", "labelSelector=a=b;" },
    { "url_query: escapes in names and values", "a%3D%26=%26b", "a=&=&b;" },
    { "url_query: plus is a blank, escaped it is not", "a=x+y%2Bz", "a=x y+z;" },
    { "url_query_refused: bad escape in a value", "a=1&b=%zz", NULL },
    { "url_query_refused: bad escape in a name", "%=1", NULL },
    { "url_query_refused: an escape does not reach into the next pair", "a=%2&0=1", NULL },
};

static void url_query(void **state)
{
    const struct query *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1024);
    struct err err = ERR_INIT;
    struct url_param *params;
    size_t count;
    assert_int_equal(url_query_parse(&arena, str_c(row->text), &params, &count, &err), row->want != NULL);
    if (row->want) {
        for (size_t i = 0; i < count; i++)
            strbuf_addf(&out, STR_FMT "=" STR_FMT ";", STR_ARG(params[i].name), STR_ARG(params[i].value));
        assert_string_equal(strbuf_cstr(&out), row->want);
    } else {
        assert_int_equal(err.kind, ERR_INVALID);
    }
    strbuf_done(&out);
    arena_done(&arena);
}

static void url_param__first_of_a_name_wins_and_absent_differs_from_empty(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct url_param *params;
    size_t count;
    bool found;
    assert_true(url_query_parse(&arena, STR("a=1&a=2&watch"), &params, &count, NULL));
    assert_true(str_eq(url_param(params, count, STR("a"), NULL), STR("1")));
    assert_true(str_empty(url_param(params, count, STR("watch"), &found)) && found);
    assert_true(str_empty(url_param(params, count, STR("limit"), &found)) && !found);
    arena_done(&arena);
}

static void url_encode__past_the_limit_sets_overflow(void **state)
{
    (void)state;
    struct strbuf out = STRBUF_INIT(4);
    url_encode(&out, STR("a//"));
    assert_true(out.overflow);
    assert_string_equal(strbuf_cstr(&out), "a%2F");
    strbuf_done(&out);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(encoded) + ARRAY_LEN(decoded) + ARRAY_LEN(queries) + 2];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(encoded); i++)
        tests[count++] = (struct CMUnitTest){ encoded[i].name, url_encoded, NULL, NULL, (void *)&encoded[i] };
    for (size_t i = 0; i < ARRAY_LEN(decoded); i++)
        tests[count++] = (struct CMUnitTest){ decoded[i].name, url_decoded, NULL, NULL, (void *)&decoded[i] };
    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        tests[count++] = (struct CMUnitTest){ queries[i].name, url_query, NULL, NULL, (void *)&queries[i] };
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(url_param__first_of_a_name_wins_and_absent_differs_from_empty);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(url_encode__past_the_limit_sets_overflow);
    return cmocka_run_group_tests_name("http/url", tests, NULL, NULL);
}
