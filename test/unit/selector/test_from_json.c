#include "selector/selector.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define LABEL(key_, value_)                                                                                  \
    {                                                                                                        \
        .key = STR_INIT(key_), .value = STR_INIT(value_)                                                     \
    }

static const struct label node[] = { LABEL("arch", "arm64"), LABEL("empty", ""), LABEL("pool", "a") };

#define EXPRESSION(text) "{\"matchExpressions\":[" text "]}"

static const struct matching {
    const char *name;
    const char *json;
    bool want;
} matching[] = {
    { "from_json: null matches nothing", "null", false },
    { "from_json: {} matches everything", "{}", true },
    { "from_json: null members match everything", "{\"matchLabels\":null,\"matchExpressions\":null}", true },
    { "from_json: empty members match everything", "{\"matchLabels\":{},\"matchExpressions\":[]}", true },
    { "from_json: unknown fields are ignored", "{\"matchLabel\":{\"pool\":\"b\"},\"x\":[1]}", true },
    { "from_json: matchLabels", "{\"matchLabels\":{\"pool\":\"a\",\"arch\":\"arm64\"}}", true },
    { "from_json: matchLabels with another value", "{\"matchLabels\":{\"pool\":\"a\",\"arch\":\"amd64\"}}",
      false },
    { "from_json: matchLabels need the key", "{\"matchLabels\":{\"gone\":\"a\"}}", false },
    { "from_json: a null label value is the empty one", "{\"matchLabels\":{\"empty\":null}}", true },
    { "from_json: a null label value is not a wildcard", "{\"matchLabels\":{\"pool\":null}}", false },
    { "from_json: field names in any case", "{\"MATCHLABELS\":{\"pool\":\"b\"}}", false },
    { "from_json: label keys keep their case", "{\"matchLabels\":{\"Pool\":\"a\"}}", false },
    { "from_json: expression fields in any case",
      EXPRESSION("{\"Key\":\"pool\",\"OPERATOR\":\"In\",\"Values\":[\"b\"]}"), false },
    { "from_json: In", EXPRESSION("{\"key\":\"pool\",\"operator\":\"In\",\"values\":[\"x\",\"a\"]}"), true },
    { "from_json: In without the key",
      EXPRESSION("{\"key\":\"gone\",\"operator\":\"In\",\"values\":[\"a\"]}"), false },
    { "from_json: NotIn", EXPRESSION("{\"key\":\"pool\",\"operator\":\"NotIn\",\"values\":[\"a\"]}"), false },
    { "from_json: NotIn without the key",
      EXPRESSION("{\"key\":\"gone\",\"operator\":\"NotIn\",\"values\":[\"a\"]}"), true },
    { "from_json: Exists", EXPRESSION("{\"key\":\"pool\",\"operator\":\"Exists\"}"), true },
    { "from_json: Exists with empty values",
      EXPRESSION("{\"key\":\"gone\",\"operator\":\"Exists\",\"values\":[]}"), false },
    { "from_json: DoesNotExist", EXPRESSION("{\"key\":\"pool\",\"operator\":\"DoesNotExist\"}"), false },
    { "from_json: DoesNotExist with null values",
      EXPRESSION("{\"key\":\"gone\",\"operator\":\"DoesNotExist\",\"values\":null}"), true },
    { "from_json: a null value in a list is the empty one",
      EXPRESSION("{\"key\":\"empty\",\"operator\":\"In\",\"values\":[null]}"), true },
    { "from_json: labels and expressions together",
      "{\"matchLabels\":{\"pool\":\"a\"},\"matchExpressions\":[{\"key\":\"arch\",\"operator\":"
      "\"DoesNotExist\"}]}",
      false },
};

static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *root;
    struct err err = ERR_INIT;
    if (!json_parse(arena, str_c(text), NULL, &root, &err))
        fail_msg("%s", err.text);
    return root;
}

static void from_json_matching(void **state)
{
    const struct matching *row = *state;
    struct arena arena = ARENA_INIT;
    struct selector selector;
    struct err err = ERR_INIT;
    if (!selector_from_json(&arena, parse(&arena, row->json), &selector, &err))
        fail_msg("%s", err.text);
    assert_int_equal(selector_matches(&selector, (struct labels){ node, ARRAY_LEN(node) }), row->want);
    arena_done(&arena);
}

static const struct refused {
    const char *name;
    const char *json;
    const char *says;
} refused[] = {
    { "from_json_refused: a string", "\"pool=a\"", "\"pool=a\" has type string, not object" },
    { "from_json_refused: an array", "[]", "has type array, not object" },
    { "from_json_refused: matchLabels as array", "{\"matchLabels\":[]}", "matchLabels: " },
    { "from_json_refused: a number as label value", "{\"matchLabels\":{\"a\":17}}",
      "matchLabels[\"a\"]: \"17\"" },
    { "from_json_refused: bad label key", "{\"matchLabels\":{\"a b\":\"c\"}}",
      "matchLabels[\"a b\"]: not a label key" },
    { "from_json_refused: bad label value", "{\"matchLabels\":{\"a\":\"-c\"}}",
      "matchLabels[\"a\"]: \"-c\" is not a label value" },
    { "from_json_refused: matchExpressions as object", "{\"matchExpressions\":{}}", "matchExpressions: " },
    { "from_json_refused: expression as string", EXPRESSION("\"a\""), "matchExpressions[0]: " },
    { "from_json_refused: null expression", EXPRESSION("null"),
      "matchExpressions[0].operator: \"\" is not one of" },
    { "from_json_refused: unknown operator",
      EXPRESSION(
          "{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}"),
      "matchExpressions[1].operator: \"Gt\" is not one of" },
    { "from_json_refused: operators keep their case", EXPRESSION("{\"key\":\"a\",\"operator\":\"exists\"}"),
      "\"exists\" is not one of" },
    { "from_json_refused: operator of a wrong type", EXPRESSION("{\"key\":\"a\",\"operator\":1}"),
      "matchExpressions[0].operator: \"1\"" },
    { "from_json_refused: missing operator", EXPRESSION("{\"key\":\"a\"}"), "operator: \"\" is not one of" },
    { "from_json_refused: missing key", EXPRESSION("{\"operator\":\"Exists\"}"),
      "matchExpressions[0].key: \"\" is not a label key" },
    { "from_json_refused: bad key", EXPRESSION("{\"key\":\"a/\",\"operator\":\"Exists\"}"),
      "matchExpressions[0].key: \"a/\"" },
    { "from_json_refused: In without values", EXPRESSION("{\"key\":\"a\",\"operator\":\"In\"}"),
      "matchExpressions[0].values: In and NotIn need at least one" },
    { "from_json_refused: NotIn with empty values",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[]}"), "need at least one" },
    { "from_json_refused: Exists with values",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"v\"]}"), "take none, \"v\" given" },
    { "from_json_refused: DoesNotExist with values",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"DoesNotExist\",\"values\":[\"v\"]}"),
      "take none, \"v\" given" },
    { "from_json_refused: bad value",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"v\",\"w w\"]}"),
      "matchExpressions[0].values[1]: \"w w\" is not a label value" },
    { "from_json_refused: number among the values",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"v\",2]}"),
      "matchExpressions[0].values[1]: \"2\" has type number, not string" },
    { "from_json_refused: values as string",
      EXPRESSION("{\"key\":\"a\",\"operator\":\"In\",\"values\":\"v\"}"),
      "matchExpressions[0].values: \"v\" has type string, not array" },
};

static void from_json_refused(void **state)
{
    const struct refused *row = *state;
    struct arena arena = ARENA_INIT;
    struct selector selector;
    struct err err = ERR_INIT;
    assert_false(selector_from_json(&arena, parse(&arena, row->json), &selector, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    if (!strstr(err.text, row->says))
        fail_msg("\"%s\" does not say %s", err.text, row->says);
    arena_done(&arena);
}

static void from_json__absent_matches_nothing(void **state)
{
    (void)state;
    struct selector selector;
    assert_true(selector_from_json(NULL, NULL, &selector, NULL));
    assert_true(selector.nothing);
}

static void from_json__strings_outlive_the_tree(void **state)
{
    (void)state;
    struct arena trees = ARENA_INIT, arena = ARENA_INIT;
    struct selector selector;
    const struct json *root = parse(&trees, "{\"matchLabels\":{\"pool\":\"a\"}}");
    assert_true(selector_from_json(&arena, root, &selector, NULL));
    arena_done(&trees);
    assert_true(selector_matches(&selector, (struct labels){ node, ARRAY_LEN(node) }));
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(matching) + ARRAY_LEN(refused) + 2];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(matching); i++)
        tests[count++] =
            (struct CMUnitTest){ matching[i].name, from_json_matching, NULL, NULL, (void *)&matching[i] };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        tests[count++] =
            (struct CMUnitTest){ refused[i].name, from_json_refused, NULL, NULL, (void *)&refused[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(from_json__absent_matches_nothing);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(from_json__strings_outlive_the_tree);
    return cmocka_run_group_tests_name("selector/from_json", tests, NULL, NULL);
}
