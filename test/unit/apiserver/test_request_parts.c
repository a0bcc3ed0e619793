/* Addresses, list parameters, tokens and field selectors: what is pure about a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/apiserver/fields.h"
#include "test/apiserver/listopts.h"
#include "test/apiserver/traits.h"

/* ---- addresses ---- */

static const struct route_row {
    const char *name;
    const char *path;
    int code; /* of the refusal; 0: fine */
    struct as_route want;
} route_rows[] = {
    { "route: core collection",
      "/api/v1/nodes",
      0,
      { .is_resource = true, .version = STR_INIT("v1"), .resource = STR_INIT("nodes") } },
    { "route: namespaced object with subresource",
      "/api/v1/namespaces/n/pods/p/status",
      0,
      { .is_resource = true,
        .version = STR_INIT("v1"),
        .namespace = STR_INIT("n"),
        .resource = STR_INIT("pods"),
        .name = STR_INIT("p"),
        .subresource = STR_INIT("status") } },
    { "route: a namespace itself",
      "/api/v1/namespaces/n",
      0,
      { .is_resource = true,
        .version = STR_INIT("v1"),
        .resource = STR_INIT("namespaces"),
        .name = STR_INIT("n") } },
    { "route: the status of a namespace",
      "/api/v1/namespaces/n/status",
      0,
      { .is_resource = true,
        .version = STR_INIT("v1"),
        .resource = STR_INIT("namespaces"),
        .name = STR_INIT("n"),
        .subresource = STR_INIT("status") } },
    { "route: group collection",
      "/apis/slo.koordinator.sh/v1alpha1/nodemetrics",
      0,
      { .is_resource = true,
        .group = STR_INIT("slo.koordinator.sh"),
        .version = STR_INIT("v1alpha1"),
        .resource = STR_INIT("nodemetrics") } },
    { "route: old watch path",
      "/api/v1/watch/namespaces/n/pods",
      0,
      { .is_resource = true,
        .is_watch_path = true,
        .version = STR_INIT("v1"),
        .namespace = STR_INIT("n"),
        .resource = STR_INIT("pods") } },
    { "route: encoded name",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
      0,
      { .is_resource = true,
        .group = STR_INIT("rbac.authorization.k8s.io"),
        .version = STR_INIT("v1"),
        .resource = STR_INIT("clusterroles"),
        .name = STR_INIT("system:node") } },
    { "route: group version", "/apis/apps/v1", 0, { .group = STR_INIT("apps"), .version = STR_INIT("v1") } },
    { "route: version page", "/version", 0, { 0 } },
    { "route: root", "/", 0, { 0 } },
    { "route: empty segment", "/api/v1//nodes", 400, { 0 } },
    { "route: relative segment", "/api/v1/nodes/..", 400, { 0 } },
    { "route: bad escape", "/api/v1/nodes/%zz", 400, { 0 } },
    { "route: far too deep", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n", 404, { 0 } },
};

static void route__row(void **state)
{
    const struct route_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    struct as_route got;
    assert_int_equal(as_route_parse(&arena, str_c(row->path), &got, &error), row->code == 0);
    assert_int_equal(error.code, row->code);
    if (row->code)
        return;
    assert_int_equal(got.is_resource, row->want.is_resource);
    assert_int_equal(got.is_watch_path, row->want.is_watch_path);
    assert_true(str_eq(got.group, row->want.group));
    assert_true(str_eq(got.version, row->want.version));
    assert_true(str_eq(got.namespace, row->want.namespace));
    assert_true(str_eq(got.resource, row->want.resource));
    assert_true(str_eq(got.name, row->want.name));
    assert_true(str_eq(got.subresource, row->want.subresource));
}

/* ---- booleans ---- */

static const struct bool_row {
    const char *name;
    const char *query;
    bool want;
} bool_rows[] = {
    { "bool: 1", "watch=1", true },
    { "bool: true", "watch=true", true },
    { "bool: Python's True", "watch=True", true },
    { "bool: empty is true", "watch=", true },
    { "bool: 0", "watch=0", false },
    { "bool: false", "watch=false", false },
    { "bool: False", "watch=False", false },
    { "bool: absent", "limit=1", false },
};

static void bool__row(void **state)
{
    const struct bool_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    struct as_params params;
    assert_true(as_params_parse(&arena, str_c(row->query), &params, &error));
    assert_int_equal(as_param_bool(&params, "watch"), row->want);
}

/* ---- the list parameter table ---- */

static const struct list_row {
    const char *name;
    const char *query;
    bool watch;
    enum as_watch_list gate;
    int code;
    enum as_read_kind kind;
    int64_t rv;
} list_rows[] = {
    { .name = "1.3 nothing: latest", .query = "", .kind = AS_READ_LATEST },
    { .name = "1.3 rv 0: anything", .query = "resourceVersion=0", .kind = AS_READ_LATEST },
    { .name = "1.3 rv v: not older", .query = "resourceVersion=7", .kind = AS_READ_NOT_OLDER, .rv = 7 },
    { .name = "1.3 limit: latest", .query = "limit=5", .kind = AS_READ_LATEST },
    { .name = "1.3 limit and rv 0: anything", .query = "limit=5&resourceVersion=0", .kind = AS_READ_LATEST },
    { .name = "1.3 limit and rv v: exactly v",
      .query = "limit=5&resourceVersion=7",
      .kind = AS_READ_EXACT,
      .rv = 7 },
    { .name = "1.3 NotOlderThan without rv: 422", .query = "resourceVersionMatch=NotOlderThan", .code = 422 },
    { .name = "1.3 NotOlderThan 0: anything",
      .query = "resourceVersionMatch=NotOlderThan&resourceVersion=0" },
    { .name = "1.3 NotOlderThan v with limit: not older",
      .query = "resourceVersionMatch=NotOlderThan&resourceVersion=7&limit=5",
      .kind = AS_READ_NOT_OLDER,
      .rv = 7 },
    { .name = "1.3 Exact without rv: 422", .query = "resourceVersionMatch=Exact", .code = 422 },
    { .name = "1.3 Exact 0: 422", .query = "resourceVersionMatch=Exact&resourceVersion=0", .code = 422 },
    { .name = "1.3 Exact v: exactly v",
      .query = "resourceVersionMatch=Exact&resourceVersion=7",
      .kind = AS_READ_EXACT,
      .rv = 7 },
    { .name = "1.3 unknown match: 422",
      .query = "resourceVersionMatch=Newest&resourceVersion=7",
      .code = 422 },
    { .name = "1.3 match with continue: 422",
      .query = "resourceVersionMatch=Exact&resourceVersion=7&continue="
               "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJhL3gifQ",
      .code = 422 },
    { .name = "1.3 continue: the token's version",
      .query = "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJhL3gifQ",
      .kind = AS_READ_EXACT,
      .rv = 7 },
    { .name = "1.3 continue with rv 0: ignored",
      .query = "resourceVersion=0&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJhL3gifQ",
      .kind = AS_READ_EXACT,
      .rv = 7 },
    { .name = "1.3 continue with rv v: 400",
      .query = "resourceVersion=7&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJhL3gifQ",
      .code = 400 },
    { .name = "1.3 continue that is none: 400", .query = "continue=abc", .code = 400 },
    { .name = "1.3 sendInitialEvents on a list: 422", .query = "sendInitialEvents=true", .code = 422 },
    { .name = "rv that is no number: 400", .query = "resourceVersion=abc", .code = 400 },
    { .name = "rv with a sign: 400", .query = "resourceVersion=%2B7", .code = 400 },
    { .name = "limit that is no number: 400", .query = "limit=many", .code = 400 },
    { .name = "watch: match without sendInitialEvents is 422",
      .watch = true,
      .code = 422,
      .query = "resourceVersionMatch=NotOlderThan&resourceVersion=7" },
    { .name = "watch: sendInitialEvents without match is 422",
      .watch = true,
      .code = 422,
      .query = "sendInitialEvents=true" },
    { .name = "watch: streaming list",
      .watch = true,
      .query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan" },
    { .name = "watch: streaming list with the gate off is 422",
      .watch = true,
      .gate = AS_WATCH_LIST_OFF,
      .code = 422,
      .query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan" },
    { .name = "watch: streaming list ignored",
      .watch = true,
      .gate = AS_WATCH_LIST_IGNORE,
      .query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan" },
};

static void list__row(void **state)
{
    const struct list_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    struct as_params params;
    struct as_list_options options;
    struct as_read read = { 0 };
    assert_true(as_params_parse(&arena, str_c(row->query), &params, &error));
    bool ok = as_list_options_parse(&arena, &params, row->watch, row->gate, &options, &error) &&
              (row->watch || as_list_options_read(&arena, &options, &read, &error));
    assert_int_equal(error.code, row->code);
    assert_int_equal(ok, row->code == 0);
    if (!ok || row->watch)
        return;
    assert_int_equal(read.kind, row->kind);
    assert_int_equal(read.rv, row->rv);
}

static void token__comes_back_as_it_was(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    int64_t rv;
    struct str key;
    struct str token = as_token_make(&arena, -1, STR("ns/na\"me\xc3\xa9"));
    assert_true(as_token_read(&arena, token, &rv, &key));
    assert_int_equal(rv, -1);
    assert_true(str_eq(key, STR("ns/na\"me\xc3\xa9")));
}

static void token__refuses_rubbish(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    int64_t rv;
    struct str key;
    assert_false(as_token_read(&arena, STR("!!!"), &rv, &key));
    assert_false(as_token_read(&arena, STR("e30"), &rv, &key)); /* {} */
    assert_false(as_token_read(&arena, as_token_make(&arena, -2, STR("a")), &rv, &key));
    assert_false(as_token_read(&arena, as_token_make(&arena, 5, STR("")), &rv, &key));
}

/* ---- field selectors ---- */

static const struct field_row {
    const char *name;
    const char *selector;
    int code;
    bool matches;
} field_rows[] = {
    { "field: name", "metadata.name=p", 0, true },
    { "field: other name", "metadata.name=q", 0, false },
    { "field: namespace", "metadata.namespace=n", 0, true },
    { "field: node", "spec.nodeName=node-1", 0, true },
    { "field: double equals", "spec.nodeName==node-1", 0, true },
    { "field: not equal", "status.phase!=Succeeded,status.phase!=Failed", 0, true },
    { "field: not equal misses", "status.phase!=Running", 0, false },
    { "field: all terms must hold", "spec.nodeName=node-1,status.phase=Failed", 0, false },
    { "field: absent boolean is false", "spec.hostNetwork=false", 0, true },
    { "field: absent string is empty", "status.podIP=", 0, true },
    { "field: escaped value", "metadata.name=a\\,b\\=c\\\\", 0, false },
    { "field: unknown", "spec.containers=x", 400, false },
    { "field: no operator", "spec.nodeName", 400, false },
    { "field: no name", "=x", 400, false },
    { "field: stray equals", "metadata.name=a=b", 400, false },
    { "field: dangling escape", "metadata.name=a\\", 400, false },
    { "field: empty terms are passed over", ",metadata.name=p,", 0, true },
};

static void field__row(void **state)
{
    const struct field_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *tree;
    assert_true(json_parse(
        &arena,
        STR("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"nodeName\":\"node-1\"},"
            "\"status\":{\"phase\":\"Running\"}}"),
        NULL, &tree, NULL));
    const struct as_traits *traits = as_traits_of(STR(""), STR("pods"));
    struct as_object *object = as_object_new(tree, traits->fields, traits->field_count);
    struct as_bucket bucket = { .fields = traits->fields, .field_count = traits->field_count };
    struct as_filter_source source = { .bucket = &bucket, .field_selector = str_c(row->selector) };
    struct as_filter filter;
    assert_int_equal(as_filter_parse(&arena, &source, &filter, &error), row->code == 0);
    assert_int_equal(error.code, row->code);
    if (!row->code)
        assert_int_equal(as_filter_matches(&filter, object), row->matches);
    as_object_unref(object);
}

static void field__one_name_is_what_access_is_judged_by(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *name;
    } rows[] = {
        { "metadata.name=p", "p" },
        { "metadata.name==p", "p" },
        { "status.phase!=Failed,metadata.name=p", "p" },
        { "metadata.name=a\\,b", "a,b" },
        { "metadata.name!=p", "" },
        { "spec.nodeName=p", "" },
        { "metadata.name", "" },
        { "", "" },
    };
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(str_eq(as_field_one_name(&arena, str_c(rows[i].selector)), str_c(rows[i].name)));
}

static void filter__event_aliases_name_the_stored_fields(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct as_traits *traits = as_traits_of(STR(""), STR("events"));
    struct as_bucket bucket = { .fields = traits->fields, .field_count = traits->field_count };
    struct as_filter_source source = { .bucket = &bucket,
                                       .aliases = as_event_aliases,
                                       .alias_count = as_event_alias_count,
                                       .field_selector = STR("regarding.kind=Node") };
    struct as_filter filter;
    assert_true(as_filter_parse(&arena, &source, &filter, &error));
    assert_int_equal(filter.terms[0].index, 0);
}

#define ROWS(rows_, function_)                                                                               \
    for (size_t i = 0; i < ARRAY_LEN(rows_); i++)                                                            \
        tests[count++] = (struct CMUnitTest)                                                                 \
        {                                                                                                    \
            (rows_)[i].name, function_, NULL, NULL, (void *)(uintptr_t) & (rows_)[i]                         \
        }

int main(void)
{
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(token__comes_back_as_it_was),
        cmocka_unit_test(token__refuses_rubbish),
        cmocka_unit_test(field__one_name_is_what_access_is_judged_by),
        cmocka_unit_test(filter__event_aliases_name_the_stored_fields),
    };
    static struct CMUnitTest tests[ARRAY_LEN(route_rows) + ARRAY_LEN(bool_rows) + ARRAY_LEN(list_rows) +
                                   ARRAY_LEN(field_rows) + ARRAY_LEN(plain)];
    size_t count = 0;
    ROWS(route_rows, route__row);
    ROWS(bool_rows, bool__row);
    ROWS(list_rows, list__row);
    ROWS(field_rows, field__row);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[count++] = plain[i];
    return cmocka_run_group_tests_name("apiserver/request parts", tests, NULL, NULL);
}
