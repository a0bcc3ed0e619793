#include "json/json.h"
#include "recorder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

static int setup(void **state)
{
    struct arena *arena = mem_zalloc(sizeof *arena);
    *state = arena;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static const struct json *parse(struct arena *arena, struct str text)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    bool ok = json_parse(arena, text, NULL, &root, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
    return root;
}

static void assert_compact(const struct json *value, const char *want)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1u << 20);
    json_write(&out, value);
    assert_string_equal(strbuf_cstr(&out), want);
}

static void every_type_becomes_a_node(void **state)
{
    const struct json *root = parse(*state, STR("[null,true,false,-1.50,\"s\",[],{},{\"a\":[1]}]"));
    static const enum json_type types[] = { JSON_NULL,   JSON_BOOL,  JSON_BOOL,   JSON_NUMBER,
                                            JSON_STRING, JSON_ARRAY, JSON_OBJECT, JSON_OBJECT };
    assert_int_equal(root->array.count, ARRAY_LEN(types));
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        assert_int_equal(root->array.items[i]->type, types[i]);
    assert_compact(root, "[null,true,false,-1.50,\"s\",[],{},{\"a\":[1]}]");
}

static void scalars_can_be_roots(void **state)
{
    assert_compact(parse(*state, STR("17")), "17");
    assert_compact(parse(*state, STR("\"x\"")), "\"x\"");
    assert_compact(parse(*state, STR("null")), "null");
}

static void the_text_may_go_away(void **state)
{
    char text[] = "{\"key\":\"value\",\"n\":12}";
    const struct json *root = parse(*state, str_c(text));
    memset(text, 'x', sizeof text);
    assert_compact(root, "{\"key\":\"value\",\"n\":12}");
}

static void t_06_of_duplicate_keys_the_last_wins_and_stands_where_it_stood(void **state)
{
    assert_compact(parse(*state, STR("{\"a\":1,\"b\":2,\"a\":3,\"c\":4,\"c\":5}")),
                   "{\"b\":2,\"a\":3,\"c\":5}");
}

static void duplicates_among_many_keys(void **state)
{
    struct strbuf text = STRBUF_INIT(16u << 20);
    for (int i = 0; i < 100000; i++)
        strbuf_addf(&text, "%c\"k%d\":%d", i ? ',' : '{', i % 50000, i);
    strbuf_addc(&text, '}');
    const struct json *root = parse(*state, strbuf_str(&text));
    strbuf_done(&text);
    assert_int_equal(json_count(root), 50000);
    for (size_t i = 0; i < 50000; i++) {
        int64_t number;
        assert_true(json_i64(root->object.members[i].value, &number));
        assert_int_equal(number, 50000 + i);
    }
}

static void a_key_and_its_longer_sister_differ(void **state)
{
    assert_compact(parse(*state, STR("{\"a\":1,\"\":2,\"ab\":3,\"A\":4}")),
                   "{\"a\":1,\"\":2,\"ab\":3,\"A\":4}");
}

static void malformed_text_gives_no_tree(void **state)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    assert_false(json_parse(*state, STR("{\"a\":[1,2"), NULL, &root, &err));
    assert_null(root);
    assert_int_equal(err.kind, ERR_INVALID);
}

static void a_builder_takes_one_value_after_another(void **state)
{
    struct json_builder *builder = json_builder_new(*state);
    struct json_sink sink = json_builder_sink(builder);
    struct err err = ERR_INIT;
    assert_null(json_builder_root(builder));
    assert_true(json_parse_events(STR("{\"a\":[1]}"), NULL, sink, &err));
    const struct json *first = json_builder_root(builder);
    assert_false(json_parse_events(STR("1"), NULL, sink, &err));
    assert_non_null(strstr(err.text, "more than one"));
    json_builder_reset(builder);
    assert_null(json_builder_root(builder));
    assert_true(json_parse_events(STR("[2]"), NULL, sink, &err));
    assert_compact(first, "{\"a\":[1]}");
    assert_compact(json_builder_root(builder), "[2]");
}

static void a_builder_reset_in_the_middle_starts_anew(void **state)
{
    struct json_builder *builder = json_builder_new(*state);
    struct json_sink sink = json_builder_sink(builder);
    struct err err = ERR_INIT;
    assert_false(json_parse_events(STR("{\"a\":[1,2"), NULL, sink, &err));
    assert_null(json_builder_root(builder));
    json_builder_reset(builder);
    assert_true(json_parse_events(STR("{\"b\":3}"), NULL, sink, &err));
    assert_compact(json_builder_root(builder), "{\"b\":3}");
}

static void walking_gives_the_events_of_the_text(void **state)
{
    static const struct str text = STR_INIT("{\"a\":[1,\"x\",true,false,null,{}],\"b\":{\"c\":[]}}");
    struct recorder parsed = RECORDER_INIT, walked = RECORDER_INIT;
    struct err err = ERR_INIT;
    assert_true(json_parse_events(text, NULL, recorder_sink(&parsed), &err));
    assert_true(json_walk(parse(*state, text), recorder_sink(&walked), &err));
    assert_string_equal(strbuf_cstr(&walked.out), strbuf_cstr(&parsed.out));
    strbuf_done(&parsed.out);
    strbuf_done(&walked.out);
}

static void walking_stops_when_the_sink_refuses(void **state)
{
    const struct json *root = parse(*state, STR("{\"a\":[1,{\"b\":2}]}"));
    for (size_t at = 1; at <= 9; at++) {
        struct recorder recorder = RECORDER_INIT;
        recorder.fail_at = at;
        struct err err = ERR_INIT;
        assert_false(json_walk(root, recorder_sink(&recorder), &err));
        assert_int_equal(recorder.events, at);
        assert_string_equal(err.text, "refused");
        strbuf_done(&recorder.out);
    }
}

static void the_deepest_tree_can_be_walked_written_and_compared(void **state)
{
    struct strbuf text = STRBUF_INIT(1u << 20), out = STRBUF_INIT(1u << 20);
    for (int i = 0; i < 1000; i++)
        strbuf_addc(&text, '[');
    for (int i = 0; i < 1000; i++)
        strbuf_addc(&text, ']');
    const struct json *a = parse(*state, strbuf_str(&text)), *b = parse(*state, strbuf_str(&text));
    json_write(&out, a);
    assert_string_equal(strbuf_cstr(&out), strbuf_cstr(&text));
    assert_true(json_equal(a, b));
    strbuf_done(&text);
    strbuf_done(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_type_becomes_a_node),
        TEST(scalars_can_be_roots),
        TEST(the_text_may_go_away),
        TEST(t_06_of_duplicate_keys_the_last_wins_and_stands_where_it_stood),
        TEST(duplicates_among_many_keys),
        TEST(a_key_and_its_longer_sister_differ),
        TEST(malformed_text_gives_no_tree),
        TEST(a_builder_takes_one_value_after_another),
        TEST(a_builder_reset_in_the_middle_starts_anew),
        TEST(walking_gives_the_events_of_the_text),
        TEST(walking_stops_when_the_sink_refuses),
        TEST(the_deepest_tree_can_be_walked_written_and_compared),
    };
    return cmocka_run_group_tests_name("json/builder", tests, NULL, NULL);
}
