#include "trees.h"
#include "test/apiserver/tree.h"
#include "test/apiserver/validate.h"

static const struct row {
    const char *name;
    const char *group, *kind;
    const char *object;
    const char *old;  /* NULL: create */
    const char *want; /* "ok", or the beginning of a cause */
} rows[] = {
    /* metadata */
    { "name missing", "", "Node", "{'metadata':{}}", NULL,
      "metadata.name: Required value: name or generateName" },
    { "name in capitals", "", "Node", "{'metadata':{'name':'Node-1'}}", NULL,
      "metadata.name: Invalid value: \"Node-1\": a lowercase RFC 1123 subdomain must consist of" },
    { "name with dots", "", "Node", "{'metadata':{'name':'node-1.example.com'}}", NULL, "ok" },
    { "name with an empty part", "", "Node", "{'metadata':{'name':'a..b'}}", NULL,
      "metadata.name: Invalid value" },
    { "namespace names are labels", "", "Namespace", "{'metadata':{'name':'a.b'}}", NULL,
      "metadata.name: Invalid value: \"a.b\": a lowercase RFC 1123 label" },
    { "role names may hold colons", "rbac.authorization.k8s.io", "ClusterRole",
      "{'metadata':{'name':'system:x'}}", NULL, "ok" },
    { "role names may not hold slashes", "rbac.authorization.k8s.io", "ClusterRole",
      "{'metadata':{'name':'a/b'}}", NULL, "metadata.name: Invalid value: \"a/b\": may not contain '/'" },
    { "namespace missing", "", "ConfigMap", "{'metadata':{'name':'a'}}", NULL,
      "metadata.namespace: Required value" },
    { "namespace on a cluster-scoped kind", "", "Node", "{'metadata':{'name':'a','namespace':'b'}}", NULL,
      "metadata.namespace: Forbidden: not allowed on this type" },
    { "label key", "", "Node", "{'metadata':{'name':'a','labels':{'-x':'1'}}}", NULL,
      "metadata.labels: Invalid value: \"-x\": a qualified name must consist" },
    { "label value", "", "Node", "{'metadata':{'name':'a','labels':{'x':'1 2'}}}", NULL,
      "metadata.labels: Invalid value: \"1 2\": a valid label must be" },
    { "annotation values are free", "", "Node", "{'metadata':{'name':'a','annotations':{'x/y':'{} any'}}}",
      NULL, "ok" },
    { "annotation key", "", "Node", "{'metadata':{'name':'a','annotations':{'x/y/z':''}}}", NULL,
      "metadata.annotations: Invalid value" },
    { "two controllers", "", "Node",
      "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'K','name':'a','uid':'1','"
      "controller':true},"
      "{'apiVersion':'v1','kind':'K','name':'b','uid':'2','controller':true}]}}",
      NULL, "metadata.ownerReferences: Invalid value: only one reference can have Controller set to true" },
    { "an owner without uid", "", "Node",
      "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'K','name':'a'}]}}", NULL,
      "metadata.ownerReferences[0].uid: Invalid value: \"\": must not be empty" },
    { "uid is immutable", "", "Node", "{'metadata':{'name':'a','uid':'2'}}",
      "{'metadata':{'name':'a','uid':'1'}}", "metadata.uid: Invalid value: \"2\": field is immutable" },
    /* Node */
    { "mid resources are counted", "", "Node",
      "{'metadata':{'name':'a'},'status':{'allocatable':{'kubernetes.io/mid-cpu':'1500m'}}}", NULL,
      "status.allocatable.kubernetes.io/mid-cpu: Invalid value: \"1500m\": must be an integer" },
    { "mid resources are not negative", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'kubernetes.io/mid-memory':'-1'}}}", NULL,
      "status.capacity.kubernetes.io/mid-memory: Invalid value: \"-1\": must be greater than or equal to "
      "0" },
    { "batch resources too", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'kubernetes.io/batch-cpu':'100m'}}}", NULL,
      "status.capacity.kubernetes.io/batch-cpu: Invalid value" },
    { "extended resources too", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'nvidia.com/gpu':'500m'}}}", NULL,
      "status.capacity.nvidia.com/gpu: Invalid value" },
    { "other resources of kubernetes.io may have a fraction", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'kubernetes.io/other':'500m'}}}", NULL, "ok" },
    { "whole numbers with suffixes", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'kubernetes.io/mid-cpu':'10k','kubernetes.io/"
      "mid-memory':'1Gi'}}}",
      NULL, "ok" },
    { "cpu may have a fraction", "", "Node",
      "{'metadata':{'name':'a'},'status':{'capacity':{'cpu':'1500m'}}}", NULL, "ok" },
    { "cpu may not be negative", "", "Node", "{'metadata':{'name':'a'},'status':{'capacity':{'cpu':'-1'}}}",
      NULL, "status.capacity.cpu: Invalid value" },
    { "a taint's effect", "", "Node",
      "{'metadata':{'name':'a'},'spec':{'taints':[{'key':'k','effect':'Nope'}]}}", NULL,
      "spec.taints[0].effect: Unsupported value: \"Nope\": supported values: \"NoSchedule\"" },
    { "a taint twice", "", "Node",
      "{'metadata':{'name':'a'},'spec':{'taints':[{'key':'k','effect':'NoExecute'},{'key':'k','effect':'"
      "NoExecute'}]}}",
      NULL, "spec.taints[1]: Duplicate value" },
    /* Pod */
    { "pods have containers", "", "Pod", "{'metadata':{'name':'a','namespace':'b'},'spec':{}}", NULL,
      "spec.containers: Required value" },
    { "requests stay below limits", "", "Pod",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'containers':[{'name':'c','image':'i','resources':"
      "{'requests':{'kubernetes.io/mid-cpu':'2k'},'limits':{'kubernetes.io/mid-cpu':'1k'}}}]}}",
      NULL,
      "spec.containers[0].resources.requests: Invalid value: \"2k\": must be less than or equal to "
      "kubernetes.io/mid-cpu limit of 1k" },
    { "native domains may overcommit", "", "Pod",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'containers':[{'name':'c','image':'i','resources':"
      "{'requests':{'kubernetes.io/mid-cpu':'1k'},'limits':{'kubernetes.io/mid-cpu':'2k'}}}]}}",
      NULL, "ok" },
    { "extended resources may not", "", "Pod",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'containers':[{'name':'c','image':'i','resources':"
      "{'requests':{'x.com/y':'1'},'limits':{'x.com/y':'2'}}}]}}",
      NULL,
      "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to x.com/y limit of 2" },
    { "a negative request", "", "Pod",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'containers':[{'name':'c','image':'i','resources':"
      "{'requests':{'cpu':'-1'}}}]}}",
      NULL, "spec.containers[0].resources.requests[cpu]: Invalid value" },
    /* Lease */
    { "lease duration zero", "coordination.k8s.io", "Lease",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'leaseDurationSeconds':0}}", NULL,
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0" },
    { "lease transitions negative", "coordination.k8s.io", "Lease",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'leaseTransitions':-1}}", NULL,
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0" },
    { "a released lease", "coordination.k8s.io", "Lease",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'leaseDurationSeconds':1,'holderIdentity':'','"
      "leaseTransitions':0}}",
      NULL, "ok" },
    /* ConfigMap and Secret */
    { "config map key", "", "ConfigMap", "{'metadata':{'name':'a','namespace':'b'},'data':{'a b':''}}", NULL,
      "data[a b]: Invalid value: \"a b\": a valid config key" },
    { "config map key twice", "", "ConfigMap",
      "{'metadata':{'name':'a','namespace':'b'},'data':{'k':''},'binaryData':{'k':''}}", NULL,
      "data[k]: Invalid value: \"k\": duplicate of key present in binaryData" },
    { "immutable config map", "", "ConfigMap",
      "{'metadata':{'name':'a','namespace':'b'},'data':{'k':'2'},'immutable':true}",
      "{'metadata':{'name':'a','namespace':'b'},'data':{'k':'1'},'immutable':true}",
      "data: Forbidden: field is immutable" },
    { "secret type", "", "Secret", "{'metadata':{'name':'a','namespace':'b'},'type':'x'}",
      "{'metadata':{'name':'a','namespace':'b'},'type':'y'}",
      "type: Invalid value: \"x\": field is immutable" },
    /* Deployment */
    { "deployment without selector", "apps", "Deployment",
      "{'metadata':{'name':'a','namespace':'b'},'spec':{'replicas':1}}", NULL,
      "spec.selector: Required value" },
};

static void validate_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *old = row->old ? tree(&arena, row->old) : NULL;
    bool ok =
        api_object_validate(&arena, builtin(row->group, row->kind), tree(&arena, row->object), old, &error);
    if (str_eq(str_c(row->want), STR("ok"))) {
        assert_text(error.message, "");
        assert_true(ok);
    } else {
        assert_false(ok);
        assert_int_equal(error.code, 422);
        assert_cause(&arena, &error, row->want);
    }
    arena_done(&arena);
}

/* ---- Events: what differs from a good one of the new API ---- */

#define NEW_EVENT                                                                                            \
    "{'metadata':{'name':'n.1','namespace':'default'},'regarding':{'kind':'Node','name':'n'},'reason':'R',"  \
    "'action':'A','type':'Warning','note':'text','eventTime':'2026-07-24T08:00:00.000000Z',"                 \
    "'reportingController':'koordinator.sh/koord-manager','reportingInstance':'m-1'}"

static const struct event_row {
    const char *name;
    const char *change; /* merge patch on NEW_EVENT */
    const char *want;
} event_rows[] = {
    { "event: a good one", "{}", "ok" },
    { "event: of a namespaced object in its namespace",
      "{'metadata':{'namespace':'a'},'regarding':{'namespace':'a'}}", "ok" },
    { "event: of a cluster-scoped object in another namespace",
      "{'metadata':{'namespace':'koordinator-system'}}",
      "regarding.namespace: Invalid value: \"\": does not match event.namespace" },
    { "event: of a cluster-scoped object in kube-system", "{'metadata':{'namespace':'kube-system'}}", "ok" },
    { "event: with a time, in another namespace than its object", "{'regarding':{'namespace':'b'}}", "ok" },
    { "event: without a controller", "{'reportingController':null}", "reportingController: Required value" },
    { "event: a controller that is no name", "{'reportingController':'a/b/c'}",
      "reportingController: Invalid value" },
    { "event: without an instance", "{'reportingInstance':''}", "reportingInstance: Required value" },
    { "event: without an action", "{'action':null}", "action: Required value" },
    { "event: without a reason", "{'reason':null}", "reason: Required value" },
    { "event: without a time", "{'eventTime':null}", "eventTime: Required value" },
    { "event: without a type", "{'type':null}",
      "type: Unsupported value: \"\": supported values: \"Normal\"" },
    { "event: an unknown type", "{'type':'Error'}", "type: Unsupported value: \"Error\"" },
    { "event: a series of one", "{'series':{'count':1,'lastObservedTime':'2026-07-24T08:00:00.000000Z'}}",
      "series.count: Invalid value: 1: should be at least 2" },
    { "event: deprecated fields stay empty", "{'deprecatedCount':1}",
      "deprecatedCount: Invalid value: 1: needs to be unset" },
};

static void check_event(struct arena *arena, const struct json *event, const struct json *old,
                        const char *want)
{
    struct api_error error = API_ERROR_INIT;
    bool ok = api_object_validate(arena, builtin("events.k8s.io", "Event"), event, old, &error);
    if (!str_eq(str_c(want), STR("ok")))
        assert_cause(arena, &error, want);
    else
        assert_text(error.message, "");
    assert_int_equal(ok, str_eq(str_c(want), STR("ok")));
}

static void event_row(void **state)
{
    const struct event_row *row = *state;
    struct arena arena = ARENA_INIT;
    const struct json *event = json_merge_patch(&arena, tree(&arena, NEW_EVENT), tree(&arena, row->change));
    check_event(&arena, event, NULL, row->want);
    arena_done(&arena);
}

static const struct json *with_text(struct arena *arena, const char *field, size_t length)
{
    char *text = arena_array(arena, char, length + 1);
    memset(text, 'x', length);
    return api_with(arena, tree(arena, NEW_EVENT), field, json_new_str(arena, (struct str){ text, length }));
}

static void event__lengths(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    check_event(&arena, with_text(&arena, "note", 1024), NULL, "ok");
    check_event(&arena, with_text(&arena, "note", 1025), NULL, "note: Invalid value");
    check_event(&arena, with_text(&arena, "reason", 128), NULL, "ok");
    check_event(&arena, with_text(&arena, "reason", 129), NULL, "reason: Invalid value");
    check_event(&arena, with_text(&arena, "action", 129), NULL, "action: Invalid value");
    check_event(&arena, with_text(&arena, "reportingInstance", 129), NULL,
                "reportingInstance: Invalid value");
    arena_done(&arena);
}

static void event__only_the_series_may_change(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    const struct json *old = tree(&arena, NEW_EVENT);
    const struct json *series =
        tree(&arena, "{'series':{'count':2,'lastObservedTime':'2026-07-24T08:00:00.000000Z'}}");
    check_event(&arena, json_merge_patch(&arena, old, series), old, "ok");
    check_event(&arena, with_text(&arena, "note", 3), old,
                "note: Invalid value: \"xxx\": field is immutable");
    arena_done(&arena);
}

static void event__the_old_api_asks_less(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct api_resource *core = builtin("", "Event");
    assert_true(
        api_object_validate(&arena, core,
                            tree(&arena, "{'metadata':{'name':'a','namespace':'default'},'involvedObject':"
                                         "{'kind':'Node'},'message':'m','count':3}"),
                            NULL, &error));
    assert_false(api_object_validate(
        &arena, core, tree(&arena, "{'metadata':{'name':'a','namespace':'x'},'involvedObject':{}}"), NULL,
        &error));
    assert_cause(&arena, &error,
                 "involvedObject.namespace: Invalid value: \"\": does not match event.namespace");
    assert_false(api_object_validate(
        &arena, core,
        tree(&arena,
             "{'metadata':{'name':'a','namespace':'default'},'eventTime':'2026-07-24T08:00:00.000000Z'}"),
        NULL, &error));
    assert_cause(&arena, &error, "reportingComponent: Required value");
    arena_done(&arena);
}

/* ---- sizes ---- */

static const struct json *config_map(struct arena *arena, size_t bytes)
{
    const struct json *object = tree(arena, "{'metadata':{'name':'a','namespace':'b'}}");
    char *text = arena_array(arena, char, bytes + 1);
    memset(text, 'x', bytes);
    struct json *data = api_object(arena);
    api_set_str(arena, data, "k", (struct str){ text, bytes });
    return api_with(arena, object, "data", data);
}

static void config_map__one_mebibyte_is_the_limit(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct api_resource *resource = builtin("", "ConfigMap");
    assert_true(api_object_validate(&arena, resource, config_map(&arena, 1048576), NULL, &error));
    assert_false(api_object_validate(&arena, resource, config_map(&arena, 1048577), NULL, &error));
    assert_cause(&arena, &error, ": Too long: may not be more than 1048576 bytes");
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(event_rows) + 4];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, validate_row, NULL, NULL, (void *)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(event_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ event_rows[i].name, event_row, NULL, NULL, (void *)&event_rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(event__lengths);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(event__only_the_series_may_change);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(event__the_old_api_asks_less);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(config_map__one_mebibyte_is_the_limit);
    return cmocka_run_group_tests_name("apiserver/validate", tests, NULL, NULL);
}
