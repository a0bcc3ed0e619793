#include "trees.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/validate.h"

static const struct row {
    const char *name;
    const char *group, *kind;
    const char *in;
    const char *want; /* the object without apiVersion and kind, or code, reason and part of the message */
} rows[] = {
    { "node quantities become canonical", "", "Node",
      "{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'8000m','memory':'1024Ki','kubernetes.io/"
      "mid-cpu':'10000'},"
      "'allocatable':{'cpu':8}}}",
      "{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'8','memory':'1Mi','kubernetes.io/"
      "mid-cpu':'10k'},"
      "'allocatable':{'cpu':'8'}},'spec':{}}" },
    { "node: allocatable defaults to capacity", "", "Node", "{'status':{'capacity':{'cpu':'1'}}}",
      "{'status':{'capacity':{'cpu':'1'},'allocatable':{'cpu':'1'}},'spec':{}}" },
    { "node: a bad quantity is 400", "", "Node", "{'status':{'capacity':{'cpu':'1K'}}}", "400 BadRequest" },
    { "node: a null quantity is zero", "", "Node",
      "{'spec':{},'status':{'capacity':{'x/y':null},'allocatable':{'a/b':'1'}}}",
      "{'spec':{},'status':{'capacity':{'x/y':'0'},'allocatable':{'a/b':'1'}}}" },
    { "node: amounts below a thousandth are rounded up", "", "Node",
      "{'spec':{},'status':{'capacity':{'cpu':'1n','memory':'999999u'},'allocatable':{'cpu':'0.0001'}}}",
      "{'spec':{},'status':{'capacity':{'cpu':'1m','memory':'1'},'allocatable':{'cpu':'1m'}}}" },
    { "node: unknown fields go", "", "Node", "{'spec':{'frob':1}}", "{'spec':{},'status':{}}" },
    { "node: times are shown in UTC", "", "Node",
      "{'spec':{},'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':'2026-07-24T10:00:00.5+02:00'}]"
      "}}",
      "{'spec':{},'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':'2026-07-24T08:00:00Z'}]}}" },
    { "node: second 60 is refused", "", "Node",
      "{'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':'2026-07-24T10:00:60Z'}]}}",
      "400 BadRequest" },
    { "node: empty labels are no labels", "", "Node", "{'metadata':{'name':'n','labels':{}},'spec':{}}",
      "{'metadata':{'name':'n'},'spec':{},'status':{}}" },
    { "node: unschedulable false is absent", "", "Node", "{'spec':{'unschedulable':false}}",
      "{'spec':{},'status':{}}" },
    { "pod requests become canonical and default to limits", "", "Pod",
      "{'spec':{'containers':[{'name':'a','image':'i:1','resources':{'limits':{'cpu':'1000m'}}}]}}",
      "{'spec':{'containers':[{'name':'a','image':'i:1','resources':{'limits':{'cpu':'1'},'requests':{'cpu':'"
      "1'}},"
      "'terminationMessagePath':'/dev/"
      "termination-log','terminationMessagePolicy':'File','imagePullPolicy':'IfNotPresent'}],"
      "'restartPolicy':'Always','terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst','"
      "securityContext':{},"
      "'schedulerName':'default-scheduler'},'status':{'phase':'Pending','qosClass':'Burstable'}}" },
    { "lease: six fractional digits", "coordination.k8s.io", "Lease",
      "{'spec':{'renewTime':'2026-07-24T10:00:00.123456+02:00','holderIdentity':''}}",
      "{'spec':{'renewTime':'2026-07-24T08:00:00.123456Z','holderIdentity':''}}" },
    { "lease: whole seconds are 400", "coordination.k8s.io", "Lease",
      "{'spec':{'renewTime':'2026-07-24T10:00:00Z'}}", "400 BadRequest" },
    { "lease: nine digits are 400", "coordination.k8s.io", "Lease",
      "{'spec':{'renewTime':'2026-07-24T10:00:00.123456789Z'}}", "400 BadRequest" },
    { "lease: null times are absent", "coordination.k8s.io", "Lease", "{'spec':{'renewTime':null}}",
      "{'spec':{}}" },
    { "lease: a string for a number", "coordination.k8s.io", "Lease",
      "{'spec':{'leaseDurationSeconds':'15'}}", "400 BadRequest" },
    { "lease: beyond int32", "coordination.k8s.io", "Lease", "{'spec':{'leaseDurationSeconds':3000000000}}",
      "400 BadRequest" },
    { "config map: values must be strings", "", "ConfigMap", "{'data':{'a':1}}", "400 BadRequest" },
    { "config map: null values read as empty", "", "ConfigMap", "{'data':{'a':null}}", "{'data':{'a':''}}" },
    { "config map: bad base64", "", "ConfigMap", "{'binaryData':{'a':'x'}}", "400 BadRequest" },
    { "secret: stringData becomes data", "", "Secret", "{'data':{'a':'YQ=='},'stringData':{'b':'bb'}}",
      "{'data':{'a':'YQ==','b':'YmI='},'type':'Opaque'}" },
    { "event: MicroTime in the old API too", "", "Event", "{'eventTime':'2026-07-24T10:00:00Z'}",
      "400 BadRequest" },
    { "event: null eventTime", "", "Event", "{'eventTime':null,'count':1}", "{'count':1}" },
    { "namespace: phase, finalizer, label", "", "Namespace", "{'metadata':{'name':'a'}}",
      "{'metadata':{'name':'a','labels':{'kubernetes.io/"
      "metadata.name':'a'}},'spec':{'finalizers':['kubernetes']},"
      "'status':{'phase':'Active'}}" },
    { "labels must be strings", "", "Node", "{'metadata':{'labels':{'a':true}}}", "400 BadRequest" },
    { "metadata must be an object", "", "Node", "{'metadata':'x'}", "400 BadRequest" },
    { "another version", "", "Node", "{'apiVersion':'v2'}", "400 BadRequest" },
    { "another kind", "", "Node", "{'kind':'Pod'}", "400 BadRequest" },
    { "no object", "", "Node", "[]", "400 BadRequest" },
    { "kinds known in part keep their fields", "rbac.authorization.k8s.io", "ClusterRole",
      "{'rules':[{'verbs':['get']}]}", "{'rules':[{'verbs':['get']}]}" },
};

static const struct json *without_type(struct arena *arena, const struct json *object)
{
    struct json *copy = json_copy(arena, object);
    json_remove(copy, STR("kind"));
    json_remove(copy, STR("apiVersion"));
    return copy;
}

static void decode_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *object = NULL;
    if (api_object_decode(&arena, builtin(row->group, row->kind), tree(&arena, row->in), API_FIELDS_IGNORE,
                          NULL, &object, &error)) {
        assert_true(json_get(object, STR("kind")) && json_get(object, STR("apiVersion")));
        assert_tree(&arena, without_type(&arena, object), row->want);
    } else {
        assert_text(error_label(&arena, &error), row->want);
    }
    arena_done(&arena);
}

/* Decoding what was decoded changes nothing, or no-op writes would not be no-ops. */
static void decode_twice_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *once = NULL, *twice = NULL;
    const struct api_resource *resource = builtin(row->group, row->kind);
    if (api_object_decode(&arena, resource, tree(&arena, row->in), API_FIELDS_IGNORE, NULL, &once, &error)) {
        assert_true(api_object_decode(&arena, resource, once, API_FIELDS_STRICT, NULL, &twice, &error));
        assert_true(json_equal(once, twice));
    }
    arena_done(&arena);
}

static void decode__unknown_fields_warn_or_fail(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    struct api_causes warnings = API_CAUSES_INIT(&arena);
    const struct api_resource *node = builtin("", "Node");
    const struct json *in = tree(&arena, "{'metadata':{'x':1},'spec':{'frob':1}}"), *object;
    assert_true(api_object_decode(&arena, node, in, API_FIELDS_WARN, &warnings, &object, &error));
    assert_int_equal(warnings.count, 2);
    assert_text(warnings.items[1].message, "unknown field \"spec.frob\"");
    assert_true(api_object_decode(&arena, node, in, API_FIELDS_IGNORE, &warnings, &object, &error));
    assert_int_equal(warnings.count, 2);
    assert_false(api_object_decode(&arena, node, in, API_FIELDS_STRICT, NULL, &object, &error));
    assert_text(error.message, "Node in version \"v1\" cannot be handled as a Node: strict decoding error: "
                               "unknown field \"metadata.x\", unknown field \"spec.frob\"");
    arena_done(&arena);
}

static void decode__custom_resources_follow_their_schema(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    struct api_resource *resources;
    size_t count, storage;
    const struct json *object;
    assert_true(api_crd_read(
        &arena,
        tree(&arena,
             "{'metadata':{'name':'things.x.io'},'spec':{'group':'x.io','scope':'Cluster','names':{'kind':'"
             "Thing',"
             "'plural':'things'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"
             "openAPIV3Schema':"
             "{'type':'object','properties':{'spec':{'type':'object','properties':{'q':{'type':'string'},"
             "'d':{'type':'integer','default':3}}}}}}}]}}"),
        &resources, &count, &storage, NULL));
    assert_true(api_object_decode(
        &arena, &resources[0],
        tree(&arena, "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'n','labels':{}},"
                     "'spec':{'q':'1000m','gone':1}}"),
        API_FIELDS_WARN, NULL, &object, &error));
    assert_tree(&arena, object,
                "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'n'},'spec':{'q':'1000m','d':3}}");
    assert_false(api_object_decode(&arena, &resources[0], tree(&arena, "{'spec':{}}"), API_FIELDS_WARN, NULL,
                                   &object, &error));
    assert_text(error_label(&arena, &error), "400 BadRequest");
    arena_done(&arena);
}

static void decode__field_validation_words(void **state)
{
    (void)state;
    enum api_field_validation mode;
    assert_true(api_field_validation_parse(STR(""), &mode));
    assert_int_equal(mode, API_FIELDS_WARN);
    assert_true(api_field_validation_parse(STR("Strict"), &mode));
    assert_int_equal(mode, API_FIELDS_STRICT);
    assert_false(api_field_validation_parse(STR("strict"), &mode));
}

int main(void)
{
    struct CMUnitTest tests[2 * ARRAY_LEN(rows) + 3];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        tests[count++] = (struct CMUnitTest){ rows[i].name, decode_row, NULL, NULL, (void *)&rows[i] };
        tests[count++] = (struct CMUnitTest){ rows[i].name, decode_twice_row, NULL, NULL, (void *)&rows[i] };
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(decode__unknown_fields_warn_or_fail);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(decode__custom_resources_follow_their_schema);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(decode__field_validation_words);
    return cmocka_run_group_tests_name("apiserver/decode", tests, NULL, NULL);
}
