#include "yaml/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct row {
    const char *name;
    const char *json;
    const char *want; /* YAML */
} rows[] = {
    { "objects_and_arrays",
      "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":{}},\"e\":[1,\"z\",[],[2,3],{\"f\":1,\"g\":[4]}]}",
      "a: 1\nb:\n  c: x\n  d: {}\ne:\n- 1\n- z\n- []\n- - 2\n  - 3\n- f: 1\n  g:\n  - 4\n" },
    { "scalars_at_the_top", "1.50", "1.50\n" },
    { "null_at_the_top", "null", "null\n" },
    { "a_text_at_the_top", "\"a b\"", "a b\n" },
    { "lines_at_the_top", "\"a\\nb\\n\"", "|\n  a\n  b\n" },
    { "an_array_at_the_top", "[{\"a\":1},2]", "- a: 1\n- 2\n" },
    { "empty_at_the_top", "{}", "{}\n" },
    { "texts_that_look_typed_are_quoted",
      "[\"\",\"~\",\"null\",\"true\",\"yes\",\"No\",\"on\",\"y\",\"1\",\"1.5\",\"1e3\",\"0x1f\",\"0o7\",\"."
      "inf\",\"1_000\",\"2026-07-24\"]",
      "- \"\"\n- \"~\"\n- \"null\"\n- \"true\"\n- \"yes\"\n- \"No\"\n- \"on\"\n- \"y\"\n- \"1\"\n- "
      "\"1.5\"\n- \"1e3\"\n- \"0x1f\"\n- \"0o7\"\n"
      "- \".inf\"\n- \"1_000\"\n- \"2026-07-24\"\n" },
    { "texts_with_indicators_are_quoted",
      "[\"- a\",\"a: b\",\"a #b\",\"#a\",\"a:\",\" a\",\"a "
      "\",\"&a\",\"*a\",\"!a\",\"{a\",\"[a\",\"<<\",\"---\",\"%a\",\"@a\",\"?\"]",
      "- \"- a\"\n- \"a: b\"\n- \"a #b\"\n- \"#a\"\n- \"a:\"\n- \" a\"\n- \"a \"\n- \"&a\"\n- \"*a\"\n- "
      "\"!a\"\n- \"{a\"\n- \"[a\"\n- \"<<\"\n"
      "- \"---\"\n- \"%a\"\n- \"@a\"\n- \"?\"\n" },
    { "usual_texts_are_plain",
      "[\"100m\",\"2Gi\",\"node-1.pool\",\"a:b\",\"a#b\",\"kubernetes.io/mid-cpu\",\"/etc/x\",\"node-1\"]",
      "- 100m\n- 2Gi\n- node-1.pool\n- a:b\n- a#b\n- kubernetes.io/mid-cpu\n- /etc/x\n- node-1\n" },
    { "escapes",
      "[\"a\\tb\",\"\\\"q\\\\\",\"\\u0000\\u0007\\u007f\",\"\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\","
      "\"\xC3\xA4\xF0\x9F\x98\x80\"]",
      "- \"a\\tb\"\n- \"\\\"q\\\\\"\n- \"\\u0000\\u0007\\u007F\"\n- \"\\u0085\\u2028\\uFEFF\"\n- "
      "\"\xC3\xA4\xF0\x9F\x98\x80\"\n" },
    { "lines_become_blocks",
      "{\"a\":\"{\\n  \\\"x\\\": 1\\n}\\n\",\"b\":[\"x\\n\\ny\"],\"c\":{\"d\":\"1\\n\\t2\\n\"}}",
      "a: |\n  {\n    \"x\": 1\n  }\nb:\n- |-\n  x\n\n  y\nc:\n  d: |\n    1\n    \t2\n" },
    { "lines_that_a_block_would_change_are_quoted",
      "[\"\\n\",\" a\\nb\",\"a \\nb\",\"a\\n\\n\",\"\\na\",\"a\\r\\nb\",\"\\ta\\nb\"]",
      "- \"\\n\"\n- \" a\\nb\"\n- \"a \\nb\"\n- \"a\\n\\n\"\n- \"\\na\"\n- \"a\\r\\nb\"\n- \"\\ta\\nb\"\n" },
    { "keys_are_quoted_like_texts", "{\"1\":1,\"true\":2,\"\":3,\"a: b\":4,\"a\\nb\":5,\"x/y\":6}",
      "\"1\": 1\n\"true\": 2\n\"\": 3\n\"a: b\": 4\n\"a\\nb\": 5\nx/y: 6\n" },
    { "document_markers_inside_lines", "{\"a\":\"---\\n...\\n# c\\n\"}", "a: |\n  ---\n  ...\n  # c\n" },
};

static const struct json *read_back(struct arena *arena, const struct strbuf *text)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    bool ok = kyaml_parse(arena, strbuf_str(text), NULL, &root, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
    return root;
}

static void write_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1u << 16);
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    assert_true(json_parse(&arena, str_c(row->json), NULL, &root, &err));
    kyaml_write(&out, root);
    assert_string_equal(strbuf_cstr(&out), row->want);
    assert_true(json_equal(root, read_back(&arena, &out)));
    strbuf_done(&out);
    arena_done(&arena);
}

static void keys_of_any_length_read_back(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    for (size_t len = 1; len < 3000; len = len * 3 / 2 + 1) {
        struct str key = { arena_alloc(&arena, len), len };
        memset((char *)key.ptr, 'k', len);
        struct json *inner = json_new(&arena, JSON_OBJECT), *list = json_new(&arena, JSON_ARRAY),
                    *root = json_new(&arena, JSON_ARRAY);
        json_set(&arena, inner, key, json_new_i64(&arena, 1));
        json_push(&arena, list, inner);
        struct json *outer = json_new(&arena, JSON_OBJECT);
        json_set(&arena, outer, key, list);
        json_set(&arena, outer, STR("next"), inner);
        json_push(&arena, root, outer);
        struct strbuf out = STRBUF_INIT(1u << 16);
        kyaml_write(&out, root);
        assert_true(json_equal(root, read_back(&arena, &out)));
        strbuf_done(&out);
    }
    arena_done(&arena);
}

static void invalid_utf8_is_replaced(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct strbuf out = STRBUF_INIT(1024);
    kyaml_write(&out, json_new_str(&arena, STR("a\xFF"
                                               "b\xED\xA0\x80")));
    assert_string_equal(strbuf_cstr(&out), "\"a\xEF\xBF\xBD"
                                           "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"\n");
    strbuf_done(&out);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(keys_of_any_length_read_back),
        cmocka_unit_test(invalid_utf8_is_replaced),
    };
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(singles)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, write_row, NULL, NULL, (void *)&rows[i] };
    memcpy(tests + ARRAY_LEN(rows), singles, sizeof singles);
    return cmocka_run_group_tests_name("yaml/write", tests, NULL, NULL);
}
