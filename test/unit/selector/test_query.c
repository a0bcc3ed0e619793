#include "base/strbuf.h"
#include "selector/selector.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct accepted {
    const char *name;
    const char *query;
    const char *want; /* as written by dump() */
} accepted[] = {
    { "query: empty", "", "" },
    { "query: only blanks", " \t\r\n", "" },
    { "query: key alone", "a", "a exists;" },
    { "query: key absent", "!a", "a absent;" },
    { "query: blank behind the bang", "! a", "a absent;" },
    { "query: equal", "a=b", "a in [b];" },
    { "query: double equal", "a==b", "a in [b];" },
    { "query: not equal", "a!=b", "a notin [b];" },
    { "query: in", "a in (x,y)", "a in [x][y];" },
    { "query: notin", "a notin (x,y)", "a notin [x][y];" },
    { "query: no blank before the list", "a in(x)", "a in [x];" },
    { "query: blanks anywhere", " a  in ( x , y ) , b == c , ! d ", "a in [x][y];b in [c];d absent;" },
    { "query: empty value at the end", "a=", "a in [];" },
    { "query: empty value before a comma", "a=,b", "a in [];b exists;" },
    { "query: empty values in a list", "a in (,x,)", "a in [][x][];" },
    { "query: list of one empty value", "a in (,)", "a in [][];" },
    { "query: keys named like operators", "in,notin in (in)", "in exists;notin in [in];" },
    { "query: values named like operators", "a=in,b=notin", "a in [in];b in [notin];" },
    { "query: prefixed key", "node.koordinator.sh/pool=x.y_z-1", "node.koordinator.sh/pool in [x.y_z-1];" },
    { "query: absent prefixed key", "!node-role.kubernetes.io/control-plane",
      "node-role.kubernetes.io/control-plane absent;" },
    { "query: every form at once", "a=b,c!=d,e in (x,y),f notin (z),g,!h",
      "a in [b];c notin [d];e in [x][y];f notin [z];g exists;h absent;" },
};

static void dump(struct strbuf *out, const struct selector *selector)
{
    static const char *const ops[] = { "in", "notin", "exists", "absent" };
    for (size_t i = 0; i < selector->count; i++) {
        const struct selector_term *term = &selector->terms[i];
        bool lists = term->op == SELECTOR_IN || term->op == SELECTOR_NOT_IN;
        strbuf_addf(out, STR_FMT " %s%s", STR_ARG(term->key), ops[term->op], lists ? " " : "");
        for (size_t j = 0; j < term->value_count; j++)
            strbuf_addf(out, "[" STR_FMT "]", STR_ARG(term->values[j]));
        strbuf_addc(out, ';');
    }
}

static void query_accepted(void **state)
{
    const struct accepted *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf text = STRBUF_INIT(4096);
    struct selector selector;
    struct err err = ERR_INIT;
    if (!selector_from_query(&arena, str_c(row->query), &selector, &err))
        fail_msg("%s", err.text);
    assert_false(selector.nothing);
    dump(&text, &selector);
    assert_string_equal(strbuf_cstr(&text), row->want);
    strbuf_done(&text);
    arena_done(&arena);
}

static const struct refused {
    const char *name;
    struct str query;
    const char *says;
} refused[] = {
    { "query_refused: greater", STR_INIT("a>1"), "operator \">\" is not supported" },
    { "query_refused: less", STR_INIT("a < 1"), "operator \"<\" is not supported" },
    { "query_refused: empty list", STR_INIT("a in ()"), "need at least one" },
    { "query_refused: list without parentheses", STR_INIT("a in x"), "found \"x\", expected \"(\"" },
    { "query_refused: list cut short", STR_INIT("a in (x"), "found \"the end\", expected \",\" or \")\"" },
    { "query_refused: list without comma", STR_INIT("a in (x y)"), "found \"y\"" },
    { "query_refused: operator in a list", STR_INIT("a in (=)"), "found \"=\"" },
    { "query_refused: lonely bang", STR_INIT("!"), "expected a label key" },
    { "query_refused: two bangs", STR_INIT("!!a"), "expected a label key" },
    { "query_refused: value for an absent key", STR_INIT("!a=b"), "expected \",\" or the end" },
    { "query_refused: trailing comma", STR_INIT("a,"), "expected a label key" },
    { "query_refused: leading comma", STR_INIT(",a"), "expected a label key" },
    { "query_refused: no key", STR_INIT("=a"), "expected a label key" },
    { "query_refused: two values", STR_INIT("a=b c"), "found \"c\", expected \",\" or the end" },
    { "query_refused: two keys", STR_INIT("a b"), "found \"b\", expected an operator" },
    { "query_refused: three equals", STR_INIT("a===b"), "found \"=\", expected a value" },
    { "query_refused: operators are lower case", STR_INIT("a IN (b)"), "expected an operator" },
    { "query_refused: bad key", STR_INIT("a/b/c=d"), "\"a/b/c\" is not a label key" },
    { "query_refused: bad absent key", STR_INIT("!-a"), "\"-a\" is not a label key" },
    { "query_refused: bad value", STR_INIT("a=b/c"), "\"b/c\" is not a label value" },
    { "query_refused: bad value in a list", STR_INIT("a in (b,-c)"),
      "values[1]: \"-c\" is not a label value" },
    { "query_refused: NUL does not end the query", STR_INIT("a\0,b"), "is not a label key" },
};

static void query_refused(void **state)
{
    const struct refused *row = *state;
    struct arena arena = ARENA_INIT;
    struct selector selector;
    struct err err = ERR_INIT;
    assert_false(selector_from_query(&arena, row->query, &selector, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    /* The NUL row's text stops at the NUL that it quotes. */
    if (memchr(row->query.ptr, 0, row->query.len) == NULL && !strstr(err.text, row->says))
        fail_msg("\"%s\" does not say %s", err.text, row->says);
    arena_done(&arena);
}

static void query__strings_are_copied(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    char text[] = "key in (value)";
    struct selector selector;
    assert_true(selector_from_query(&arena, str_c(text), &selector, NULL));
    memset(text, 'z', sizeof text - 1);
    assert_true(str_eq(selector.terms[0].key, STR("key")));
    assert_true(str_eq(selector.terms[0].values[0], STR("value")));
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(accepted) + ARRAY_LEN(refused) + 1];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++)
        tests[count++] =
            (struct CMUnitTest){ accepted[i].name, query_accepted, NULL, NULL, (void *)&accepted[i] };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        tests[count++] =
            (struct CMUnitTest){ refused[i].name, query_refused, NULL, NULL, (void *)&refused[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(query__strings_are_copied);
    return cmocka_run_group_tests_name("selector/query", tests, NULL, NULL);
}
