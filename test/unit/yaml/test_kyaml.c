#include "yaml/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct documents {
    struct strbuf seen;
    size_t fail_at; /* refuse that document, counted from 1 */
};

static bool on_document(void *self, size_t document, const struct json *root, struct err *err)
{
    struct documents *documents = self;
    strbuf_addf(&documents->seen, "%zu=", document);
    json_write(&documents->seen, root);
    strbuf_addc(&documents->seen, ' ');
    return document + 1 != documents->fail_at || err_set(err, ERR_NOT_FOUND, "refused");
}

static const struct row {
    const char *name;
    struct str text;
    const char *seen;
    const char *error; /* NULL: none */
} rows[] = {
    { "documents_in_turn", STR_INIT("a: 1\n---\nb: 2\n--- c\n...\n---\n[3]\n"),
      "0={\"a\":1} 1={\"b\":2} 2=\"c\" 3=[3] ", NULL },
    { "empty_documents_are_passed_over", STR_INIT("---\n---\n# c\n---\na: 1\n---\n---\nb: 2\n---\n"),
      "0={\"a\":1} 1={\"b\":2} ", NULL },
    { "no_document_at_all", STR_INIT(""), "", NULL },
    { "a_comment_only", STR_INIT("# nothing\n"), "", NULL },
    { "an_empty_string_is_a_document", STR_INIT("--- ''\n"), "0=\"\" ", NULL },
    { "documents_before_an_error_are_seen", STR_INIT("a: 1\n---\nb: [\n"), "0={\"a\":1} ",
      "line 4, column 1" },
    { "anchors_end_with_their_document", STR_INIT("&a x\n---\n*a\n"), "0=\"x\" ", "unknown alias" },
    { "json", STR_INIT(" {\"a\":[1.0,\"\\ud83d\\ude00\"]} \n"), "0={\"a\":[1.0,\"\xF0\x9F\x98\x80\"]} ",
      NULL },
    { "json_values_in_a_row", STR_INIT("{\"a\":1}\n{\"b\":2}[3]\n"), "0={\"a\":1} 1={\"b\":2} 2=[3] ", NULL },
    { "json_documents_between_markers", STR_INIT("{\"a\":1}\n---\n{\"b\":2}\n"), "0={\"a\":1} 1={\"b\":2} ",
      NULL },
    { "json_with_a_duplicate", STR_INIT("{\"a\":{\"b\":1,\"b\":2}}"), "",
      "line 1, column 13: duplicate key \"b\"" },
    { "json_cut_short", STR_INIT("{\"a\":1"), "", "did not find expected ',' or '}'" },
};

static void each_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct documents documents = { .seen = STRBUF_INIT(1u << 16) };
    struct err err = ERR_INIT;
    bool ok = kyaml_each(&arena, row->text, NULL, on_document, &documents, &err);
    assert_string_equal(strbuf_cstr(&documents.seen), row->seen);
    assert_int_equal(ok, row->error == NULL);
    if (row->error && !strstr(err.text, row->error))
        fail_msg("got: %s", err.text);
    strbuf_done(&documents.seen);
    arena_done(&arena);
}

static void a_refusing_callback_stops(void **state)
{
    (void)state;
    static const struct str texts[] = { STR_INIT("a\n---\nb\n---\nc\n"), STR_INIT("{}{}{}") };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena arena = ARENA_INIT;
        struct documents documents = { .seen = STRBUF_INIT(1024), .fail_at = 2 };
        struct err err = ERR_INIT;
        assert_false(kyaml_each(&arena, texts[i], NULL, on_document, &documents, &err));
        assert_int_equal(err.kind, ERR_NOT_FOUND);
        assert_string_equal(strbuf_cstr(&documents.seen), i ? "0={} 1={} " : "0=\"a\" 1=\"b\" ");
        strbuf_done(&documents.seen);
        arena_done(&arena);
    }
}

static void one_document_means_one(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    assert_true(kyaml_parse(&arena, STR("---\n---\na: 1\n---\n"), NULL, &root, &err));
    assert_int_equal(json_count(root), 1);
    assert_false(kyaml_parse(&arena, STR("a: 1\n---\nb: 1\n"), NULL, &root, &err));
    assert_non_null(strstr(err.text, "more than one YAML document"));
    assert_false(kyaml_parse(&arena, STR("{} {}"), NULL, &root, &err));
    assert_non_null(strstr(err.text, "more than one YAML document"));
    assert_false(kyaml_parse(&arena, STR("# none\n"), NULL, &root, &err));
    assert_non_null(strstr(err.text, "empty"));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(a_refusing_callback_stops),
        cmocka_unit_test(one_document_means_one),
    };
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(singles)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, each_row, NULL, NULL, (void *)&rows[i] };
    memcpy(tests + ARRAY_LEN(rows), singles, sizeof singles);
    return cmocka_run_group_tests_name("yaml/kyaml", tests, NULL, NULL);
}
