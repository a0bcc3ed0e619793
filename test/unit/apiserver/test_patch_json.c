#include "trees.h"
#include "test/apiserver/patch.h"

static const struct row {
    const char *name;
    const char *before;
    const char *patch;
    const char *want; /* the result, or the error's code and reason */
} rows[] = {
    { "add a field", "{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}" },
    { "add replaces what is there", "{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}" },
    { "add into an array shifts", "{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}" },
    { "add at the array's end by index", "{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]",
      "{'a':[1,2]}" },
    { "add with a dash appends", "{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}" },
    { "add beyond the end", "{'a':[1]}", "[{'op':'add','path':'/a/2','value':2}]", "422 Invalid" },
    { "add below a missing parent", "{}", "[{'op':'add','path':'/a/b','value':2}]", "422 Invalid" },
    { "add null sets null", "{}", "[{'op':'add','path':'/a','value':null}]", "{'a':null}" },
    { "replace", "{'a':{'b':1}}", "[{'op':'replace','path':'/a/b','value':2}]", "{'a':{'b':2}}" },
    { "replace what is missing", "{}", "[{'op':'replace','path':'/a','value':2}]", "422 Invalid" },
    { "replace the document", "{'a':1}", "[{'op':'replace','path':'','value':{'b':1}}]", "{'b':1}" },
    { "remove", "{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}" },
    { "remove from an array", "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}" },
    { "remove what is missing", "{}", "[{'op':'remove','path':'/a'}]", "422 Invalid" },
    { "move", "{'a':1}", "[{'op':'move','from':'/a','path':'/b'}]", "{'b':1}" },
    { "move into itself", "{'a':{}}", "[{'op':'move','from':'/a','path':'/a/b'}]", "422 Invalid" },
    { "copy", "{'a':{'x':1}}", "[{'op':'copy','from':'/a','path':'/b'}]", "{'a':{'x':1},'b':{'x':1}}" },
    { "copy of nothing", "{}", "[{'op':'copy','from':'/a','path':'/b'}]", "422 Invalid" },
    { "test holds", "{'a':{'x':[1]}}", "[{'op':'test','path':'/a','value':{'x':[1]}}]", "{'a':{'x':[1]}}" },
    { "a failed test is 422", "{'a':1}", "[{'op':'test','path':'/a','value':2}]", "422 Invalid" },
    { "a test of nothing fails", "{}", "[{'op':'test','path':'/a','value':null}]", "422 Invalid" },
    { "a failure undoes what went before", "{'a':1}",
      "[{'op':'remove','path':'/a'},{'op':'test','path':'/a','value':1}]", "422 Invalid" },
    { "escaped slash and tilde", "{'status':{'allocatable':{}}}",
      "[{'op':'add','path':'/status/allocatable/kubernetes.io~1mid-cpu','value':'1'},"
      "{'op':'add','path':'/status/a~0b','value':2}]",
      "{'status':{'allocatable':{'kubernetes.io/mid-cpu':'1'},'a~b':2}}" },
    { "an unknown escape", "{}", "[{'op':'add','path':'/a~2','value':1}]", "400 BadRequest" },
    { "an index with a leading zero", "{'a':[1,2]}", "[{'op':'remove','path':'/a/01'}]", "422 Invalid" },
    { "a negative index", "{'a':[1,2]}", "[{'op':'remove','path':'/a/-1'}]", "422 Invalid" },
    { "a path through a scalar", "{'a':1}", "[{'op':'add','path':'/a/b','value':1}]", "422 Invalid" },
    { "an unknown operation", "{}", "[{'op':'frob','path':'/a'}]", "422 Invalid" },
    { "a missing value", "{}", "[{'op':'add','path':'/a'}]", "400 BadRequest" },
    { "a missing path", "{}", "[{'op':'remove'}]", "400 BadRequest" },
    { "a path without a slash", "{}", "[{'op':'add','path':'a','value':1}]", "400 BadRequest" },
    { "not an array", "{}", "{'op':'add'}", "400 BadRequest" },
    { "the empty key", "{}", "[{'op':'add','path':'/','value':1}]", "{'':1}" },
    { "no operations", "{'a':1}", "[]", "{'a':1}" },
};

static void patch_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *before = tree(&arena, row->before), *result = NULL;
    if (api_patch_json(&arena, before, tree(&arena, row->patch), &result, &error))
        assert_tree(&arena, result, row->want);
    else
        assert_text(error_label(&arena, &error), row->want);
    assert_tree(&arena, before, row->before);
    arena_done(&arena);
}

static void patch_json__more_than_10000_operations_are_413(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *operation = tree(&arena, "{'op':'test','path':'','value':{}}"), *result;
    struct json *many = json_new(&arena, JSON_ARRAY);
    for (int i = 0; i < 10000; i++)
        json_push(&arena, many, operation);
    assert_true(api_patch_json(&arena, tree(&arena, "{}"), many, &result, &error));
    json_push(&arena, many, operation);
    assert_false(api_patch_json(&arena, tree(&arena, "{}"), many, &result, &error));
    assert_text(error_label(&arena, &error), "413 RequestEntityTooLarge");
    arena_done(&arena);
}

static void patch_json__copies_that_double_are_413(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *result;
    struct json *many = json_new(&arena, JSON_ARRAY);
    for (int i = 0; i < 64; i++)
        json_push(&arena, many, tree(&arena, "{'op':'copy','from':'/a','path':'/a/-'}"));
    assert_false(api_patch_json(&arena, tree(&arena, "{'a':['0123456789']}"), many, &result, &error));
    assert_text(error_label(&arena, &error), "413 RequestEntityTooLarge");
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 2];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, patch_row, NULL, NULL, (void *)&rows[i] };
    tests[ARRAY_LEN(rows)] =
        (struct CMUnitTest)cmocka_unit_test(patch_json__more_than_10000_operations_are_413);
    tests[ARRAY_LEN(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(patch_json__copies_that_double_are_413);
    return cmocka_run_group_tests_name("apiserver/patch_json", tests, NULL, NULL);
}
