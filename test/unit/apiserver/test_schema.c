#include "trees.h"
#include "test/apiserver/schema.h"

static const struct api_schema *compile(struct arena *arena, const char *properties)
{
    const struct api_schema *schema = NULL;
    struct err err = ERR_INIT;
    struct str text = arena_strf(arena, "{'type':'object','properties':{%s}}", properties);
    if (!api_schema_compile(arena, tree(arena, text.ptr), &schema, &err))
        fail_msg("%s", err.text);
    return schema;
}

/* ---- pruning and defaulting ---- */

static const struct row {
    const char *name;
    const char *properties;
    const char *in;
    const char *want;
} prune_rows[] = {
    { "prune: unknown fields go", "'spec':{'type':'object','properties':{'a':{'type':'string'}}}",
      "{'spec':{'a':'1','b':2},'extra':1}", "{'spec':{'a':'1'}}" },
    { "prune: type and metadata stay", "'spec':{'type':'object'}",
      "{'apiVersion':'v','kind':'K','metadata':{'name':'n','labels':{'a':'b'}},'spec':{'a':1}}",
      "{'apiVersion':'v','kind':'K','metadata':{'name':'n','labels':{'a':'b'}},'spec':{}}" },
    { "prune: preserve-unknown keeps", "'spec':{'type':'object','x-kubernetes-preserve-unknown-fields':true}",
      "{'spec':{'a':{'b':1}}}", "{'spec':{'a':{'b':1}}}" },
    { "prune: preserve-unknown still prunes what it knows",
      "'spec':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{'k':{'type':'object'}}}",
      "{'spec':{'a':1,'k':{'b':1}}}", "{'spec':{'a':1,'k':{}}}" },
    { "prune: additionalProperties keeps keys, prunes values",
      "'m':{'type':'object','additionalProperties':{'type':'object','properties':{'a':{'type':'string'}}}}",
      "{'m':{'x':{'a':'1','b':2}}}", "{'m':{'x':{'a':'1'}}}" },
    { "prune: inside arrays",
      "'l':{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}}}}",
      "{'l':[{'a':'1'},{'b':2}]}", "{'l':[{'a':'1'},{}]}" },
    { "prune: an embedded resource keeps its type",
      "'t':{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'spec':{'type':'object'}}}",
      "{'t':{'apiVersion':'v','kind':'K','metadata':{'name':'n'},'spec':{'a':1},'x':1}}",
      "{'t':{'apiVersion':'v','kind':'K','metadata':{'name':'n'},'spec':{}}}" },
}, default_rows[] = {
    { "default: an absent field", "'a':{'type':'integer','default':5}", "{}", "{'a':5}" },
    { "default: what is there stays", "'a':{'type':'integer','default':5}", "{'a':1}", "{'a':1}" },
    { "default: null is replaced", "'a':{'type':'integer','default':5}", "{'a':null}", "{'a':5}" },
    { "default: nullable null stays", "'a':{'type':'integer','nullable':true,'default':5}", "{'a':null}", "{'a':null}" },
    { "default: null without a default goes", "'a':{'type':'integer'}", "{'a':null}", "{}" },
    { "default: within objects that are there",
      "'s':{'type':'object','properties':{'a':{'type':'integer','default':5}}}", "{'s':{}}", "{'s':{'a':5}}" },
    { "default: not within absent objects",
      "'s':{'type':'object','properties':{'a':{'type':'integer','default':5}}}", "{}", "{}" },
    { "default: within defaulted objects",
      "'s':{'type':'object','default':{},'properties':{'a':{'type':'integer','default':5}}}", "{}", "{'s':{'a':5}}" },
    { "default: within items",
      "'l':{'type':'array','items':{'type':'object','properties':{'a':{'type':'integer','default':5}}}}",
      "{'l':[{},{'a':1}]}", "{'l':[{'a':5},{'a':1}]}" },
}, valid_rows[] = {
    { "valid: all types", "'s':{'type':'string'},'i':{'type':'integer'},'n':{'type':'number'},'b':{'type':'boolean'}",
      "{'s':'x','i':1,'n':1.5,'b':true}", "ok" },
    { "valid: a whole float is an integer", "'i':{'type':'integer'}", "{'i':1.0}", "ok" },
    { "valid: int-or-string", "'q':{'x-kubernetes-int-or-string':true}", "{'q':'5%'}", "ok" },
    { "valid: int-or-string, the number", "'q':{'x-kubernetes-int-or-string':true}", "{'q':5}", "ok" },
    { "valid: int-or-string with anyOf",
      "'q':{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}", "{'q':5}", "ok" },
    { "invalid: int-or-string, a bool", "'q':{'x-kubernetes-int-or-string':true}", "{'q':true}",
      "q: Invalid value: \"boolean\": q in body must be of type integer,string: \"boolean\"" },
    { "invalid: a string for an integer", "'spec':{'type':'object','properties':{'n':{'type':'integer'}}}",
      "{'spec':{'n':'1'}}",
      "spec.n: Invalid value: \"string\": spec.n in body must be of type integer: \"string\"" },
    { "invalid: an enum",
      "'spec':{'type':'object','properties':{'p':{'type':'object','properties':{'c':{'type':'string','enum':['a','b']}}}}}",
      "{'spec':{'p':{'c':'x'}}}", "spec.p.c: Unsupported value: \"x\": supported values: \"a\", \"b\"" },
    { "invalid: below the minimum", "'n':{'type':'integer','minimum':0}", "{'n':-1}",
      "n: Invalid value: -1: n in body should be greater than or equal to 0" },
    { "valid: at the minimum", "'n':{'type':'integer','minimum':0}", "{'n':0}", "ok" },
    { "invalid: at the exclusive minimum", "'n':{'type':'integer','minimum':0,'exclusiveMinimum':true}", "{'n':0}",
      "n: Invalid value: 0: n in body should be greater than 0" },
    { "invalid: above the maximum", "'n':{'type':'number','maximum':1.5}", "{'n':1.6}",
      "n: Invalid value: 1.6: n in body should be less than or equal to 1.5" },
    { "valid: large integers compare exactly", "'n':{'type':'integer','maximum':9223372036854775806}",
      "{'n':9223372036854775806}", "ok" },
    { "invalid: large integers compare exactly", "'n':{'type':'integer','maximum':9223372036854775806}",
      "{'n':9223372036854775807}",
      "n: Invalid value: 9223372036854775807: n in body should be less than or equal to 9223372036854775806" },
    { "invalid: beyond int32", "'n':{'type':'integer','format':'int32'}", "{'n':2147483648}",
      "n: Invalid value: 2147483648: n in body must be of type int32" },
    { "invalid: beyond int64", "'n':{'type':'integer','format':'int64'}", "{'n':99999999999999999999}",
      "n: Invalid value: \"number\": n in body must be of type integer: \"number\"" },
    { "invalid: too long", "'s':{'type':'string','maxLength':2}", "{'s':'abc'}", "s: Too long: may not be more than 2" },
    { "valid: length counts characters", "'s':{'type':'string','maxLength':2}", "{'s':'\\u00e4\\u00e4'}", "ok" },
    { "invalid: too short", "'s':{'type':'string','minLength':1}", "{'s':''}",
      "s: Invalid value: \"\": s in body should be at least 1 chars long" },
    { "invalid: a pattern", "'s':{'type':'string','pattern':'^\\\\d+$'}", "{'s':'a1'}",
      "s: Invalid value: \"a1\": s in body should match '^\\d+$'" },
    { "valid: a pattern", "'s':{'type':'string','pattern':'^(?:\\\\w|[\\\\d.])+$'}", "{'s':'a_1.5'}", "ok" },
    { "invalid: a time", "'t':{'type':'string','format':'date-time'}", "{'t':'yesterday'}",
      "t: Invalid value: \"yesterday\": t in body must be of type date-time: \"yesterday\"" },
    { "valid: a time", "'t':{'type':'string','format':'date-time'}", "{'t':'2026-07-24T08:00:00Z'}", "ok" },
    { "valid: unknown formats are not checked", "'t':{'type':'string','format':'frob'}", "{'t':'x'}", "ok" },
    { "invalid: a required field", "'s':{'type':'object','required':['a'],'properties':{'a':{'type':'string'}}}",
      "{'s':{}}", "s.a: Required value" },
    { "invalid: null where it may not be", "'s':{'type':'string'}", "{'s':null}",
      "s: Invalid value: \"null\": s in body must be of type string: \"null\"" },
    { "valid: nullable", "'s':{'type':'string','nullable':true}", "{'s':null}", "ok" },
    { "invalid: an item", "'l':{'type':'array','items':{'type':'string'}}", "{'l':['a',1]}",
      "l[1]: Invalid value: \"integer\": l[1] in body must be of type string: \"integer\"" },
    { "invalid: too many items", "'l':{'type':'array','maxItems':1,'items':{'type':'string'}}", "{'l':['a','b']}",
      "l: Too many: 2: must have at most 1 items" },
    { "invalid: too few items", "'l':{'type':'array','minItems':1,'items':{'type':'string'}}", "{'l':[]}",
      "l: Invalid value: 0: l in body should have at least 1 items" },
    { "invalid: a map value", "'m':{'type':'object','additionalProperties':{'type':'integer'}}", "{'m':{'k':'x'}}",
      "m.k: Invalid value: \"string\": m.k in body must be of type integer" },
    { "invalid: a duplicate list map key",
      "'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"
      "'items':{'type':'object','properties':{'k':{'type':'string'}}}}",
      "{'l':[{'k':'a'},{'k':'b'},{'k':'a'}]}", "l[2]: Duplicate value:" },
    { "invalid: a duplicate in a set",
      "'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}", "{'l':['a','a']}",
      "l[1]: Duplicate value: \"a\"" },
    { "invalid: oneOf matches twice", "'n':{'type':'integer','oneOf':[{'minimum':0},{'minimum':1}]}", "{'n':2}",
      "n: Invalid value: 2: n in body must validate one and only one schema (oneOf)" },
    { "invalid: not", "'n':{'type':'integer','not':{'minimum':5}}", "{'n':6}",
      "n: Invalid value: 6: n in body must not validate the schema (not)" },
    { "valid: metadata is not the schema's business", "'metadata':{'type':'string'}", "{'metadata':{'name':'n'}}",
      "ok" },
};

static void prune_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    const struct api_schema *schema = compile(&arena, row->properties);
    assert_tree(&arena, api_schema_prune(&arena, schema, tree(&arena, row->in), NULL), row->want);
    arena_done(&arena);
}

static void default_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    const struct api_schema *schema = compile(&arena, row->properties);
    assert_tree(&arena, api_schema_default(&arena, schema, tree(&arena, row->in)), row->want);
    arena_done(&arena);
}

static void valid_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_causes causes = API_CAUSES_INIT(&arena);
    api_schema_validate(compile(&arena, row->properties), tree(&arena, row->in), &causes);
    struct api_error error = { .causes = causes.items, .cause_count = causes.count };
    if (str_eq(str_c(row->want), STR("ok")))
        assert_int_equal(causes.count, 0);
    else
        assert_cause(&arena, &error, row->want);
    arena_done(&arena);
}

static void schema__pruned_fields_are_named(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_causes unknown = API_CAUSES_INIT(&arena);
    const struct api_schema *schema = compile(
        &arena, "'spec':{'type':'object','properties':{'l':{'type':'array','items':{'type':'object'}}}}");
    api_schema_prune(&arena, schema, tree(&arena, "{'spec':{'x':1,'l':[{'y':2}]}}"), &unknown);
    assert_int_equal(unknown.count, 2);
    assert_text(unknown.items[0].message, "unknown field \"spec.x\"");
    assert_text(unknown.items[1].message, "unknown field \"spec.l[0].y\"");
    arena_done(&arena);
}

static void schema__untouched_values_are_shared(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    const struct api_schema *schema = compile(
        &arena, "'a':{'type':'array','items':{'type':'object','properties':{'b':{'type':'string'}}}}");
    const struct json *value = tree(&arena, "{'a':[{'b':'1'}]}");
    assert_ptr_equal(api_schema_prune(&arena, schema, value, NULL), value);
    assert_ptr_equal(api_schema_default(&arena, schema, value), value);
    arena_done(&arena);
}

static void schema__refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[]",
        "{'type':'string'}",
        "{'type':'object','properties':{'a':{}}}",
        "{'type':'object','properties':{'a':{'type':'frob'}}}",
        "{'type':'object','properties':{'a':{'type':'array'}}}",
        "{'type':'object','properties':{'b':{'type':'string'}},'additionalProperties':{'type':'string'}}",
    };
    struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct api_schema *schema;
        struct err err = ERR_INIT;
        assert_false(api_schema_compile(&arena, tree(&arena, bad[i]), &schema, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(prune_rows) + ARRAY_LEN(default_rows) + ARRAY_LEN(valid_rows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(prune_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ prune_rows[i].name, prune_row, NULL, NULL, (void *)&prune_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(default_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ default_rows[i].name, default_row, NULL, NULL, (void *)&default_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(valid_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ valid_rows[i].name, valid_row, NULL, NULL, (void *)&valid_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(schema__pruned_fields_are_named);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(schema__untouched_values_are_shared);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(schema__refused);
    return cmocka_run_group_tests_name("apiserver/schema", tests, NULL, NULL);
}
