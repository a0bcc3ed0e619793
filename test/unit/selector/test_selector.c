/* Matching: every operator against a label that is there, another value, none, and the
 * empty value. */
#include "selector/selector.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define LABEL(key_, value_)                                                                                  \
    {                                                                                                        \
        .key = STR_INIT(key_), .value = STR_INIT(value_)                                                     \
    }

static const struct label node[] = {
    LABEL("Pool", "upper"), LABEL("arch", "arm64"), LABEL("empty", ""),
    LABEL("pool", "a"),     LABEL("zone", "z-1"),
};

static const struct row {
    const char *name;
    const char *query;
    bool want;
} rows[] = {
    { "matches: no terms match everything", "", true },
    { "matches: equal value", "pool=a", true },
    { "matches: other value", "pool=b", false },
    { "matches: equality needs the key", "gone=a", false },
    { "matches: one of several values", "pool in (x,a)", true },
    { "matches: none of several values", "pool in (x,y)", false },
    { "matches: in needs the key even for the empty value", "gone in (,a)", false },
    { "matches: the empty value of a present key", "empty=", true },
    { "matches: not equal to another value", "pool!=b", true },
    { "matches: not equal to its value", "pool!=a", false },
    { "matches: not equal holds without the key", "gone!=a", true },
    { "matches: notin holds without the key", "gone notin (a,b)", true },
    { "matches: notin with its value", "pool notin (a,b)", false },
    { "matches: exists", "zone", true },
    { "matches: exists with an empty value", "empty", true },
    { "matches: exists without the key", "gone", false },
    { "matches: does not exist", "!gone", true },
    { "matches: does not exist with the key", "!zone", false },
    { "matches: all terms together", "pool=a,arch=arm64,!gone,zone notin (z-2)", true },
    { "matches: one failing term fails all", "pool=a,arch=amd64", false },
    { "matches: keys are compared bytewise", "Pool=a", false },
    { "matches: values are compared bytewise", "pool=A", false },
    { "matches: contradicting terms match nothing", "pool=a,pool=b", false },
};

static void selector_matching(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct selector selector;
    struct err err = ERR_INIT;
    assert_true(selector_from_query(&arena, str_c(row->query), &selector, &err));
    assert_int_equal(selector_matches(&selector, (struct labels){ node, ARRAY_LEN(node) }), row->want);
    arena_done(&arena);
}

static void selector_matches__nothing_matches_not_even_an_object_without_labels(void **state)
{
    (void)state;
    struct selector nothing = { .nothing = true };
    assert_false(selector_matches(&nothing, (struct labels){ 0 }));
    assert_false(selector_matches(&nothing, (struct labels){ node, ARRAY_LEN(node) }));
}

static void selector_matches__zeroed_selector_matches_everything(void **state)
{
    (void)state;
    struct selector everything = { 0 };
    assert_true(selector_matches(&everything, (struct labels){ 0 }));
    assert_true(selector_matches(&everything, (struct labels){ node, ARRAY_LEN(node) }));
}

static void labels_find__finds_each_and_only_these(void **state)
{
    (void)state;
    for (size_t count = 0; count <= ARRAY_LEN(node); count++) {
        struct labels labels = { node, count };
        for (size_t i = 0; i < ARRAY_LEN(node); i++)
            assert_ptr_equal(labels_find(labels, node[i].key), i < count ? &node[i] : NULL);
        assert_null(labels_find(labels, STR("")));
        assert_null(labels_find(labels, STR("poo")));
        assert_null(labels_find(labels, STR("pool2")));
        assert_null(labels_find(labels, STR("zzz")));
    }
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, selector_matching, NULL, NULL, (void *)&rows[i] };
    const struct CMUnitTest single[] = {
        cmocka_unit_test(selector_matches__nothing_matches_not_even_an_object_without_labels),
        cmocka_unit_test(selector_matches__zeroed_selector_matches_everything),
        cmocka_unit_test(labels_find__finds_each_and_only_these),
    };
    for (size_t i = 0; i < ARRAY_LEN(single); i++)
        tests[count++] = single[i];
    return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
