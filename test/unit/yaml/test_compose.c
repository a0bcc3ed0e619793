#include "yaml/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

/* --- YAML and the JSON it means --- */

static const struct row {
    const char *name;
    const char *yaml;
    const char *want;
} rows[] = {
    { "block_mapping", "a: 1\nb:\n  c: x y\n  d:\n", "{\"a\":1,\"b\":{\"c\":\"x y\",\"d\":null}}" },
    { "sequences_at_both_indents", "a:\n- 1\nb:\n  - 2\n  - x: 3\n    y: 4\n",
      "{\"a\":[1],\"b\":[2,{\"x\":3,\"y\":4}]}" },
    { "flow_style", "{a: [1, {b: c}], \"d\": e, f: }", "{\"a\":[1,{\"b\":\"c\"}],\"d\":\"e\",\"f\":null}" },
    { "json_with_a_yaml_comment", "{\"a\": [1, 2], # why\n \"b\": null}", "{\"a\":[1,2],\"b\":null}" },
    { "literal_block", "a: |\n  {\n    \"x\": 1\n  }\nb: |-\n  x\n",
      "{\"a\":\"{\\n  \\\"x\\\": 1\\n}\\n\",\"b\":\"x\"}" },
    { "folded_block", "a: >\n  one\n  two\n\n  three\n", "{\"a\":\"one two\\nthree\\n\"}" },
    { "quotes", "a: 'it''s'\nb: \"t\\tn\\n\\u00e4\\x41\"\n",
      "{\"a\":\"it's\",\"b\":\"t\\tn\\n\xC3\xA4"
      "A\"}" },
    { "comments_and_markers", "# c\n---\na: 1 # d\n...\n# e\n", "{\"a\":1}" },
    { "quoted_keys_are_strings", "'1': a\n\"true\": b\n'': c\n'<<': d\n",
      "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\",\"<<\":\"d\"}" },
    { "old_bool_words_are_fine_keys", "on: 1\nno: 2\n", "{\"on\":1,\"no\":2}" },
    { "members_keep_their_order", "z: 1\na: 2\nm: 3\n", "{\"z\":1,\"a\":2,\"m\":3}" },
    { "an_alias_repeats_its_anchor", "a: &x {b: [1, 2]}\nc: *x\nd: [*x]\n",
      "{\"a\":{\"b\":[1,2]},\"c\":{\"b\":[1,2]},\"d\":[{\"b\":[1,2]}]}" },
    { "an_alias_of_a_string_as_a_key", "a: &x k\n*x : v\n", "{\"a\":\"k\",\"k\":\"v\"}" },
    { "an_anchor_on_a_key", "&x k: v\nb: *x\n", "{\"k\":\"v\",\"b\":\"k\"}" },
    { "an_anchor_given_again", "- &x 1\n- *x\n- &x 2\n- *x\n", "[1,1,2,2]" },
    { "tags_of_the_core_schema",
      "a: !!str 5\nb: !!int '7'\nc: !!bool \"true\"\nd: !!null ''\ne: !!float 1\nf: !!map {}\ng: !!seq "
      "[]\nh: ! 12\n",
      "{\"a\":\"5\",\"b\":7,\"c\":true,\"d\":null,\"e\":1,\"f\":{},\"g\":[],\"h\":\"12\"}" },
    { "an_explicit_key", "? a\n: 1\n? b\n", "{\"a\":1,\"b\":null}" },
    { "windows_line_ends", "a: 1\r\nb:\r\n  - x\r\n", "{\"a\":1,\"b\":[\"x\"]}" },
    { "a_byte_order_mark",
      "\xEF\xBB\xBF"
      "a: 1\n",
      "{\"a\":1}" },
    { "an_explicit_null", "~", "null" },
    { "tabs_inside_flow", "{\n\t\"a\":\t1,\n\t\"b\": [\n\t\t2 ] # c\n}", "{\"a\":1,\"b\":[2]}" },
};

static void parse_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1u << 16);
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    bool ok = kyaml_parse(&arena, str_c(row->yaml), NULL, &root, &err);
    assert_int_equal(ok, row->want != NULL);
    if (ok) {
        json_write(&out, root);
        assert_string_equal(strbuf_cstr(&out), row->want);
    }
    strbuf_done(&out);
    arena_done(&arena);
}

/* --- what is refused, and where --- */

static const struct error_row {
    const char *name;
    struct str yaml;
    const char *error;
} error_rows[] = {
    { "aut_1_a_duplicate_key", STR_INIT("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"),
      "line 5, column 3: duplicate key \"c\"" },
    { "aut_1_a_duplicate_key_in_flow", STR_INIT("{a: 1, \"a\": 2}"),
      "line 1, column 8: duplicate key \"a\"" },
    { "aut_1_a_duplicate_key_in_json", STR_INIT("{\"a\": 1,\n \"a\": 2}"),
      "line 2, column 2: duplicate key \"a\"" },
    { "the_first_of_several_duplicates_is_named", STR_INIT("b: 1\na: 1\nb: 2\na: 2\n"),
      "line 3, column 1: duplicate key \"b\"" },
    { "a_merge_key", STR_INIT("a: &x {b: 1}\nc:\n  <<: *x\n"), "line 3, column 3: merge keys" },
    { "a_number_as_a_key", STR_INIT("a: 1\n1: b\n"), "line 2, column 1: a key must be a string" },
    { "a_bool_as_a_key", STR_INIT("true: b\n"), "line 1, column 1: a key must be a string" },
    { "nothing_as_a_key", STR_INIT("?\n: b\n"), "line 1, column 2: a key must be a string" },
    { "a_list_as_a_key", STR_INIT("? [a]\n: b\n"), "line 1, column 3: a key must be a string" },
    { "an_object_as_a_key", STR_INIT("{a: 1}: b\n"), "line 1, column 1: a key must be a string" },
    { "an_alias_of_a_list_as_a_key", STR_INIT("a: &x [1]\n*x : b\n"),
      "line 2, column 1: a key must be a string" },
    { "nul_in_a_key", STR_INIT("\"a\\0b\": 1\n"), "line 1, column 1: NUL in a key" },
    { "an_unknown_alias", STR_INIT("a: *x\n"), "line 1, column 4: unknown alias" },
    { "an_alias_of_another_document", STR_INIT("&x a\n---\n*x\n"), "line 3, column 1: unknown alias" },
    { "aut_1_an_alias_inside_itself", STR_INIT("a: &x\n  b: *x\n"),
      "line 2, column 6: an alias inside what it stands for" },
    { "an_unsupported_tag", STR_INIT("a: !!binary aGk=\n"), "line 1, column 4: unsupported tag" },
    { "a_foreign_tag_on_an_object", STR_INIT("a: !thing {b: 1}\n"), "line 1, column 4: unsupported tag" },
    { "a_value_that_does_not_fit_its_tag", STR_INIT("a: !!int x\n"),
      "line 1, column 4: the value does not fit its tag" },
    { "infinity", STR_INIT("a:\n- .inf\n"), "line 2, column 3: infinity and not-a-number" },
    { "an_open_quote", STR_INIT("a: \"x\n"), "line 2, column 1: found unexpected end of stream" },
    { "a_tab_as_indentation", STR_INIT("a:\n\tb: 1\n"),
      "line 2, column 1: found character that cannot start any token" },
    { "bad_indentation", STR_INIT("a: 1\n b: 2\n"), "line 2, column 3: mapping values are not allowed" },
    { "invalid_utf8", STR_INIT("a: 1\nb: x\xFF\n"), "line 2, column 5: invalid leading UTF-8 octet" },
    { "a_control_character", STR_INIT("a: \x01\n"), "line 1, column 4: control characters are not allowed" },
    { "a_raw_nul", STR_INIT("a: \0\n"), "line 1, column 4: control characters are not allowed" },
    { "truncated_json", STR_INIT("{\"a\": [1, 2"), "did not find expected ',' or ']'" },
    { "html_is_not_yaml_with_a_colon", STR_INIT("<html>\n<a b=\"c: d\">e: f</a>\n"), "line 2, column " },
};

static void error_row(void **state)
{
    const struct error_row *row = *state;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    assert_false(kyaml_parse(&arena, row->yaml, NULL, &root, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    if (!strstr(err.text, row->error))
        fail_msg("got: %s", err.text);
    assert_null(root);
    arena_done(&arena);
}

/* --- limits --- */

static bool parse(struct strbuf *text, const struct kyaml_limits *limits, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const struct json *root = NULL;
    bool ok = kyaml_parse(&arena, strbuf_str(text), limits, &root, err);
    arena_done(&arena);
    strbuf_done(text);
    return ok;
}

static struct strbuf nested(size_t depth, const char *open, const char *close)
{
    struct strbuf text = STRBUF_INIT(1u << 20);
    for (size_t i = 0; i < depth; i++)
        strbuf_add(&text, str_c(open));
    strbuf_add(&text, STR("x"));
    for (size_t i = 0; i < depth; i++)
        strbuf_add(&text, str_c(close));
    return text;
}

static void aut_1_depth_is_limited(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf flow = nested(200, "[", "]"), block = nested(200, "- ", ""),
                  json = nested(200, "{\"x\":", "}");
    json.ptr[5 * 200] = '1'; /* x is no JSON */
    assert_true(parse(&flow, NULL, &err));
    assert_true(parse(&block, NULL, &err));
    assert_true(parse(&json, NULL, &err));
    flow = nested(201, "[", "]"), block = nested(201, "- ", ""), json = nested(201, "{\"x\":", "}");
    assert_false(parse(&flow, NULL, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
    assert_false(parse(&block, NULL, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
    assert_false(parse(&json, NULL, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
}

static void aut_1_depth_counts_through_aliases(void **state)
{
    (void)state;
    const struct kyaml_limits limits = { .max_depth = 6 };
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT(1024);
    strbuf_add(&text, STR("- &a [[[1]]]\n- [[*a]]\n"));
    assert_true(parse(&text, &limits, &err));
    text = STRBUF_INIT(1024);
    strbuf_add(&text, STR("- &a [[[1]]]\n- [[[*a]]]\n"));
    assert_false(parse(&text, &limits, &err));
    assert_string_equal(err.text, "line 2, column 6: nested too deeply");
}

static void aut_1_a_bomb_of_aliases_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT(1u << 16);
    strbuf_add(&text, STR("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"));
    for (int i = 1; i < 12; i++) {
        strbuf_addf(&text, "a%d: &a%d [", i, i);
        for (int n = 0; n < 10; n++)
            strbuf_addf(&text, "%s*a%d", n ? ", " : "", i - 1);
        strbuf_add(&text, STR("]\n"));
    }
    assert_false(parse(&text, NULL, &err));
    assert_non_null(strstr(err.text, "too many values"));
}

static void aut_1_a_few_aliases_of_a_long_text_are_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT(8u << 20);
    strbuf_add(&text, STR("- &a \""));
    for (int i = 0; i < 1 << 20; i++)
        strbuf_add(&text, STR("long"));
    strbuf_add(&text, STR("\"\n- *a\n- *a\n- *a\n"));
    assert_false(parse(&text, NULL, &err));
    assert_string_equal(err.text, "line 4, column 3: aliases expand to too much");
}

static void aut_1_values_are_counted(void **state)
{
    (void)state;
    const struct kyaml_limits limits = { .max_nodes = 4 };
    struct err err = ERR_INIT;
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        { "[1,2,3]", true },
        { "[1,2,3,4]", false },
        { "a: 1\nb: [2]\n", true },
        { "a: 1\nb: [2, 3]\n", false },
        { "- &a x\n- *a\n- *a\n", true },
        { "- &a x\n- *a\n- *a\n- *a\n", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct strbuf text = STRBUF_INIT(1024);
        strbuf_add(&text, str_c(cases[i].text));
        assert_int_equal(parse(&text, &limits, &err), cases[i].ok);
    }
}

static void aut_1_anchors_are_counted(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT(1u << 20);
    for (int i = 0; i < 1001; i++)
        strbuf_addf(&text, "- &a%d x\n", i);
    assert_false(parse(&text, NULL, &err));
    assert_string_equal(err.text, "line 1001, column 3: too many anchors");
}

static void aut_1_the_text_is_limited(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const struct kyaml_limits limits = { .max_bytes = 10 };
    struct strbuf text = STRBUF_INIT(1024);
    strbuf_add(&text, STR("a: 3456789"));
    assert_true(parse(&text, &limits, &err));
    text = STRBUF_INIT(1024);
    strbuf_add(&text, STR("a: 34567890"));
    assert_false(parse(&text, &limits, &err));
    assert_string_equal(err.text, "YAML larger than 10 bytes");
}

static void many_keys_are_checked_for_duplicates_quickly(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT(4u << 20);
    for (int i = 0; i < 50000; i++)
        strbuf_addf(&text, "key-%d: 1\n", i);
    strbuf_add(&text, STR("key-777: 2\n"));
    assert_false(parse(&text, NULL, &err));
    assert_string_equal(err.text, "line 50001, column 1: duplicate key \"key-777\"");
}

int main(void)
{
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(aut_1_depth_is_limited),
        cmocka_unit_test(aut_1_depth_counts_through_aliases),
        cmocka_unit_test(aut_1_a_bomb_of_aliases_is_refused),
        cmocka_unit_test(aut_1_a_few_aliases_of_a_long_text_are_refused),
        cmocka_unit_test(aut_1_values_are_counted),
        cmocka_unit_test(aut_1_anchors_are_counted),
        cmocka_unit_test(aut_1_the_text_is_limited),
        cmocka_unit_test(many_keys_are_checked_for_duplicates_quickly),
    };
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(error_rows) + ARRAY_LEN(singles)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, parse_row, NULL, NULL, (void *)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(error_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ error_rows[i].name, error_row, NULL, NULL, (void *)&error_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(singles); i++)
        tests[count++] = singles[i];
    return cmocka_run_group_tests_name("yaml/compose", tests, NULL, NULL);
}
