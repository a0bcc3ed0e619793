#include "trees.h"
#include "test/apiserver/jsonpath.h"
#include "test/apiserver/table.h"

#define NOW ((struct wall_time){ INT64_C(1784880000) * US_PER_S }) /* 2026-07-24T08:00:00Z */

static const struct age_row {
    const char *name;
    int64_t age_s;
    const char *want;
} age_rows[] = {
    { "age: none", 0, "0s" },
    { "age: 119 s", 119, "119s" },
    { "age: 2 min", 120, "2m" },
    { "age: 2 min 30", 150, "2m30s" },
    { "age: 10 min", 601, "10m" },
    { "age: 3 h", 10800, "3h" },
    { "age: 3 h 5", 11100, "3h5m" },
    { "age: 8 h", 29000, "8h" },
    { "age: 47 h", 169200, "47h" },
    { "age: 2 d", 172800, "2d" },
    { "age: 2 d 1 h", 176400, "2d1h" },
    { "age: 8 d", 694800, "8d" },
    { "age: 2 y", 63072000, "2y" },
    { "age: 2 y 1 d", 63158400, "2y1d" },
    { "age: 9 y", 283824000, "9y" },
    { "age: a second ahead", -1, "0s" },
    { "age: the future", -60, "<invalid>" },
};

static void age_row(void **state)
{
    const struct age_row *row = *state;
    struct arena arena = ARENA_INIT;
    struct wall_time then = { NOW.us - row->age_s * US_PER_S };
    assert_text(api_age(&arena, then, NOW), row->want);
    arena_done(&arena);
}

static const struct row {
    const char *name;
    const char *group, *kind;
    const char *object;
    const char *cells;
} rows[] = {
    { "node", "", "Node",
      "{'metadata':{'name':'n','creationTimestamp':'2026-07-24T07:00:00Z','labels':"
      "{'node-role.kubernetes.io/"
      "worker':''}},'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready',"
      "'status':'True'}],'nodeInfo':{'kubeletVersion':'v1.32.0'},'addresses':[{'type':'InternalIP','address':"
      "'10.0.0.1'}]}}",
      "['n','Ready,SchedulingDisabled','worker','60m','v1.32.0','10.0.0.1','<none>','<none>','<none>','<none>"
      "']" },
    { "node without status", "", "Node", "{'metadata':{'name':'n'}}",
      "['n','Unknown','<none>','<unknown>','','<none>','<none>','<none>','<none>','<none>']" },
    { "pod", "", "Pod",
      "{'metadata':{'name':'p'},'spec':{'nodeName':'n','containers':[{},{}]},'status':{'phase':'Running',"
      "'containerStatuses':[{'ready':true,'restartCount':2},{'ready':false,'restartCount':1}]}}",
      "['p','1/2','Running','3','<unknown>','<none>','n']" },
    { "pod that waits", "", "Pod",
      "{'metadata':{'name':'p'},'spec':{'containers':[{}]},'status':{'phase':'Pending','containerStatuses':"
      "[{'state':{'waiting':{'reason':'ImagePullBackOff'}}}]}}",
      "['p','0/1','ImagePullBackOff','0','<unknown>','<none>','<none>']" },
    { "pod that goes", "", "Pod",
      "{'metadata':{'name':'p','deletionTimestamp':'2026-07-24T07:00:00Z'},'status':{'phase':'Running'}}",
      "['p','0/0','Terminating','0','<unknown>','<none>','<none>']" },
    { "config map", "", "ConfigMap", "{'metadata':{'name':'c'},'data':{'a':'','b':''},'binaryData':{'c':''}}",
      "['c',3,'<unknown>']" },
    { "lease", "coordination.k8s.io", "Lease", "{'metadata':{'name':'l'},'spec':{'holderIdentity':'me'}}",
      "['l','me','<unknown>']" },
    { "namespace", "", "Namespace", "{'metadata':{'name':'n'},'status':{'phase':'Active'}}",
      "['n','Active','<unknown>']" },
    { "event", "", "Event",
      "{'metadata':{'name':'e'},'involvedObject':{'kind':'Node','name':'n'},'type':'Warning','reason':'R',"
      "'message':'text\\n','source':{'component':'c'},'firstTimestamp':'2026-07-24T07:59:00Z',"
      "'lastTimestamp':'2026-07-24T07:59:30Z','count':4}",
      "['30s','Warning','R','node/n','c','text','60s',4,'e']" },
    { "event of the new API", "events.k8s.io", "Event",
      "{'metadata':{'name':'e'},'regarding':{'kind':'ConfigMap','name':'c'},'type':'Normal','reason':'R','"
      "note':'text',"
      "'reportingController':'x.io/y','eventTime':'2026-07-24T07:59:00.000000Z'}",
      "['60s','Normal','R','configmap/c','x.io/y','text','60s',1,'e']" },
    { "deployment", "apps", "Deployment",
      "{'metadata':{'name':'d'},'spec':{'replicas':3},'status':{'readyReplicas':1,'updatedReplicas':2,'"
      "availableReplicas':1}}",
      "['d','1/3',2,1,'<unknown>']" },
    { "kinds without columns", "policy", "PodDisruptionBudget", "{'metadata':{'name':'d'}}",
      "['d','<unknown>']" },
};

static void table_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    const struct json *object = tree(&arena, row->object);
    struct api_table_options options = { .now = NOW };
    const struct json *table = api_table(&arena, builtin(row->group, row->kind), &object, 1, &options);
    const struct json *shown = json_get(table, STR("rows"))->array.items[0];
    assert_tree(&arena, json_get(shown, STR("cells")), row->cells);
    assert_int_equal(json_count(json_get(table, STR("columnDefinitions"))),
                     json_count(json_get(shown, STR("cells"))));
    assert_text(json_str(json_path(shown, "object", "kind", NULL)), "PartialObjectMetadata");
    arena_done(&arena);
}

static void table__custom_columns(void **state)
{
    (void)state;
    static const struct api_column columns[] = {
        { .name = STR_INIT("Reported"), .type = STR_INIT("date"), .path = STR_INIT(".status.updateTime") },
        { .name = STR_INIT("CPU"), .type = STR_INIT("string"), .path = STR_INIT(".status.cpu") },
        { .name = STR_INIT("Count"), .type = STR_INIT("integer"), .path = STR_INIT(".status.count") },
    };
    static const struct api_resource resource = {
        .kind = STR_INIT("Thing"), .custom = true, .columns = columns, .column_count = ARRAY_LEN(columns)
    };
    struct arena arena = ARENA_INIT;
    const struct json *objects[] = {
        tree(&arena,
             "{'metadata':{'name':'a'},'status':{'updateTime':'2026-07-24T07:58:00Z','cpu':'8','count':2}}"),
        tree(&arena, "{'metadata':{'name':'b'},'status':{'cpu':8,'count':'x'}}"),
    };
    struct api_table_options options = { .now = NOW, .include = API_INCLUDE_NONE };
    const struct json *table_rows = json_get(api_table(&arena, &resource, objects, 2, &options), STR("rows"));
    assert_tree(&arena, table_rows, "[{'cells':['a','2m','8',2]},{'cells':['b',null,'8',null]}]");
    arena_done(&arena);
}

static void table__options(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    const struct json *object = tree(&arena, "{'kind':'Namespace','metadata':{'name':'n'}}");
    struct api_table_options options = {
        .now = NOW,
        .include = API_INCLUDE_OBJECT,
        .no_columns = true,
        .list_metadata = tree(&arena, "{'resourceVersion':'5'}"),
    };
    assert_tree(
        &arena, api_table(&arena, builtin("", "Namespace"), &object, 1, &options),
        "{'kind':'Table','apiVersion':'meta.k8s.io/"
        "v1','metadata':{'resourceVersion':'5'},'columnDefinitions':[],"
        "'rows':[{'cells':['n','','<unknown>'],'object':{'kind':'Namespace','metadata':{'name':'n'}}}]}");
    arena_done(&arena);
}

static void table__accept(void **state)
{
    (void)state;
    enum api_include_object include;
    assert_true(api_table_wanted(STR("application/json;as=Table;v=v1;g=meta.k8s.io,application/json")));
    assert_false(api_table_wanted(STR("application/json, application/json;as=Table;v=v1;g=meta.k8s.io")));
    assert_false(api_table_wanted(STR("application/json;as=Table;v=v1beta1;g=meta.k8s.io")));
    assert_true(api_table_include_parse(STR("Object"), &include));
    assert_int_equal(include, API_INCLUDE_OBJECT);
    assert_false(api_table_include_parse(STR("All"), &include));
}

static const struct path_row {
    const char *name;
    const char *path;
    const char *want; /* NULL: nothing */
} path_rows[] = {
    { "path: fields", ".a.b", "1" },
    { "path: braces and a dollar", "{$.a.b}", "1" },
    { "path: an index", ".l[1].v", "'y'" },
    { "path: from the end", ".l[-1].v", "'y'" },
    { "path: beyond the end", ".l[2]", NULL },
    { "path: a quoted name", ".a['x.y/z']", "2" },
    { "path: an escaped dot", ".a.x\\.y/z", "2" },
    { "path: a filter", ".l[?(@.t==\"B\")].v", "'y'" },
    { "path: a filter with blanks", ".l[?(@.t == 'A')].v", "'x'" },
    { "path: a filter that holds nowhere", ".l[?(@.t==\"C\")].v", NULL },
    { "path: every element, the first", ".l[*].v", "'x'" },
    { "path: nothing there", ".q.r", NULL },
    { "path: through a scalar", ".a.b.c", NULL },
    { "path: an open bracket", ".l[0", NULL },
};

static void path_row(void **state)
{
    const struct path_row *row = *state;
    struct arena arena = ARENA_INIT;
    const struct json *root =
        tree(&arena, "{'a':{'b':1,'x.y/z':2},'l':[{'t':'A','v':'x'},{'t':'B','v':'y'}]}");
    const struct json *found = api_jsonpath(&arena, root, str_c(row->path));
    if (row->want)
        assert_tree(&arena, found, row->want);
    else
        assert_null(found);
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(age_rows) + ARRAY_LEN(rows) + ARRAY_LEN(path_rows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(age_rows); i++)
        tests[count++] = (struct CMUnitTest){ age_rows[i].name, age_row, NULL, NULL, (void *)&age_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, table_row, NULL, NULL, (void *)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(path_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ path_rows[i].name, path_row, NULL, NULL, (void *)&path_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(table__custom_columns);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(table__options);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(table__accept);
    return cmocka_run_group_tests_name("apiserver/table", tests, NULL, NULL);
}
