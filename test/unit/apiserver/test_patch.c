#include "trees.h"
#include "test/apiserver/patch.h"

static const struct api_resource custom = {
    .group = STR_INIT("slo.koordinator.sh"),
    .version = STR_INIT("v1alpha1"),
    .kind = STR_INIT("NodeMetric"),
    .plural = STR_INIT("nodemetrics"),
    .custom = true,
};

static const struct type_row {
    const char *name;
    const char *content_type;
    bool is_custom;
    int want; /* enum api_patch_type, or an HTTP code */
} type_rows[] = {
    { "type: merge", "application/merge-patch+json", false, API_PATCH_MERGE },
    { "type: parameters are ignored", "application/json-patch+json; charset=utf-8", false, API_PATCH_JSON },
    { "wrt_1_only_the_first_type_counts", "application/merge-patch+json, application/json-patch+json", true,
      API_PATCH_MERGE },
    { "type: apply", "application/apply-patch+yaml", true, API_PATCH_APPLY },
    { "type: case does not matter", "Application/Strategic-Merge-Patch+JSON", false, API_PATCH_STRATEGIC },
    { "type: strategic on a custom resource is 415", "application/strategic-merge-patch+json", true, 415 },
    { "type: plain JSON is 415", "application/json", false, 415 },
    { "type: none is 415", "", false, 415 },
};

static void type_row(void **state)
{
    const struct type_row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    enum api_patch_type type = API_PATCH_JSON;
    bool ok = api_patch_type_parse(&arena, row->is_custom ? &custom : builtin("", "Node"),
                                   str_c(row->content_type), &type, &error);
    assert_int_equal(ok ? (int)type : error.code, row->want);
    arena_done(&arena);
}

#define OBJECT "{'metadata':{'name':'n','uid':'u','resourceVersion':'7','labels':{'a':'1'}},'spec':{'x':1}}"

static const struct row {
    const char *name;
    enum api_patch_type type;
    const char *patch;
    const char *want;
} rows[] = {
    { "merge: changes and deletes", API_PATCH_MERGE, "{'spec':{'x':null,'y':[2]}}",
      "{'metadata':{'name':'n','uid':'u','resourceVersion':'7','labels':{'a':'1'}},'spec':{'y':[2]}}" },
    { "merge: the version it states must hold", API_PATCH_MERGE, "{'metadata':{'resourceVersion':'6'}}",
      "409 Conflict" },
    { "merge: the right version is fine", API_PATCH_MERGE, "{'metadata':{'resourceVersion':'7'}}", OBJECT },
    { "merge: the uid it states must hold", API_PATCH_MERGE, "{'metadata':{'uid':'other'}}", "422 Invalid" },
    { "merge: an old version is found out before another uid", API_PATCH_MERGE,
      "{'metadata':{'uid':'other','resourceVersion':'6'}}", "409 Conflict" },
    { "merge: version 0 says nothing", API_PATCH_MERGE, "{'metadata':{'resourceVersion':'0'}}", OBJECT },
    { "merge: a blanked version says nothing", API_PATCH_MERGE,
      "{'metadata':{'resourceVersion':null,'uid':''}}", OBJECT },
    { "merge: renaming", API_PATCH_MERGE, "{'metadata':{'name':'m'}}", "400 BadRequest" },
    { "merge: of no object", API_PATCH_MERGE, "[]", "400 BadRequest" },
    { "merge: a name must remain", API_PATCH_MERGE, "{'metadata':null}", "400 BadRequest" },
    { "json: a version put into the object must hold", API_PATCH_JSON,
      "[{'op':'replace','path':'/metadata/resourceVersion','value':'1'}]", "409 Conflict" },
    { "json: an object must remain", API_PATCH_JSON, "[{'op':'replace','path':'','value':1}]",
      "400 BadRequest" },
    { "strategic: the version it states must hold", API_PATCH_STRATEGIC,
      "{'metadata':{'resourceVersion':'6'}}", "409 Conflict" },
};

static void patch_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *result = NULL;
    if (api_patch(&arena, builtin("", "Node"), row->type, tree(&arena, OBJECT), tree(&arena, row->patch),
                  &result, &error))
        assert_tree(&arena, result, row->want);
    else
        assert_text(error_label(&arena, &error), row->want);
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(type_rows) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(type_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ type_rows[i].name, type_row, NULL, NULL, (void *)&type_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, patch_row, NULL, NULL, (void *)&rows[i] };
    return cmocka_run_group_tests_name("apiserver/patch", tests, NULL, NULL);
}
