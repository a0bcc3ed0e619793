#include "trees.h"
#include "test/apiserver/patch.h"

static const struct row {
    const char *name;
    const char *kind;
    const char *before;
    const char *patch;
    const char *want;
} rows[] = {
    { "maps merge and null deletes", "Node", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
      "{'metadata':{'labels':{'a':null,'c':'3'}}}", "{'metadata':{'labels':{'b':'2','c':'3'}}}" },
    { "conditions merge by type", "Node",
      "{'status':{'conditions':[{'type':'Ready','status':'True','reason':'x'},{'type':'DiskPressure','status'"
      ":'False'}]}}",
      "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
      "{'status':{'conditions':[{'type':'Ready','status':'False','reason':'x'},{'type':'DiskPressure','"
      "status':'False'}]}}" },
    { "a new element comes first, as upstream has it", "Node",
      "{'status':{'addresses':[{'type':'InternalIP','address':'1'}]}}",
      "{'status':{'addresses':[{'type':'Hostname','address':'h'}]}}",
      "{'status':{'addresses':[{'type':'Hostname','address':'h'},{'type':'InternalIP','address':'1'}]}}" },
    { "$patch delete removes an element", "Node",
      "{'spec':{'taints':[{'key':'a','effect':'E'},{'key':'b','effect':'E'}]}}",
      "{'spec':{'taints':[{'$patch':'delete','key':'a'}]}}",
      "{'spec':{'taints':[{'key':'b','effect':'E'}]}}" },
    { "$patch delete of what is not there", "Node", "{'spec':{'taints':[{'key':'b'}]}}",
      "{'spec':{'taints':[{'$patch':'delete','key':'a'}]}}", "{'spec':{'taints':[{'key':'b'}]}}" },
    { "$patch replace in a list replaces it", "Node", "{'spec':{'taints':[{'key':'a'},{'key':'b'}]}}",
      "{'spec':{'taints':[{'key':'c'},{'$patch':'replace'}]}}", "{'spec':{'taints':[{'key':'c'}]}}" },
    { "$patch replace in a map replaces it", "ConfigMap", "{'data':{'a':'1','b':'2'}}",
      "{'data':{'$patch':'replace','c':'3'}}", "{'data':{'c':'3'}}" },
    { "$patch delete in a map empties it", "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':'delete'}}",
      "{'data':{}}" },
    { "an unknown $patch", "ConfigMap", "{'data':{'a':'1'}}", "{'data':{'$patch':'frob'}}",
      "400 BadRequest" },
    { "atomic lists are replaced", "Pod", "{'spec':{'tolerations':[{'key':'a'},{'key':'b'}]}}",
      "{'spec':{'tolerations':[{'key':'c'}]}}", "{'spec':{'tolerations':[{'key':'c'}]}}" },
    { "containers merge by name, env within", "Pod",
      "{'spec':{'containers':[{'name':'a','env':[{'name':'X','value':'1'}]},{'name':'b'}]}}",
      "{'spec':{'containers':[{'name':'a','image':'i','env':[{'name':'Y','value':'2'}]}]}}",
      "{'spec':{'containers':[{'name':'a','env':[{'name':'Y','value':'2'},{'name':'X','value':'1'}],'image':'"
      "i'},{'name':'b'}]}}" },
    { "container ports merge by containerPort", "Pod",
      "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'x'}]}]}}",
      "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'UDP'}]}]}}",
      "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'x','protocol':'UDP'}]}]}}" },
    { "service ports merge by port", "Service", "{'spec':{'ports':[{'port':80,'name':'x'}]}}",
      "{'spec':{'ports':[{'port':80,'nodePort':1}]}}",
      "{'spec':{'ports':[{'port':80,'name':'x','nodePort':1}]}}" },
    { "owner references merge by uid", "Node", "{'metadata':{'ownerReferences':[{'uid':'1','name':'a'}]}}",
      "{'metadata':{'ownerReferences':[{'uid':'2','name':'b'}]}}",
      "{'metadata':{'ownerReferences':[{'uid':'2','name':'b'},{'uid':'1','name':'a'}]}}" },
    { "finalizers are a set", "Node", "{'metadata':{'finalizers':['a/x','b/x']}}",
      "{'metadata':{'finalizers':['b/x','c/x']}}", "{'metadata':{'finalizers':['a/x','b/x','c/x']}}" },
    { "$deleteFromPrimitiveList", "Node", "{'metadata':{'finalizers':['a/x','b/x']}}",
      "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a/x']}}", "{'metadata':{'finalizers':['b/x']}}" },
    { "$setElementOrder with a change", "Pod",
      "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
      "{'spec':{'$setElementOrder/"
      "containers':[{'name':'c'},{'name':'a'}],'containers':[{'name':'a','image':'i'}]}}",
      "{'spec':{'containers':[{'name':'b'},{'name':'c'},{'name':'a','image':'i'}]}}" },
    { "$setElementOrder alone", "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
      "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}}",
      "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}" },
    { "$setElementOrder keeps strangers in place", "Pod",
      "{'spec':{'containers':[{'name':'injected'},{'name':'a'},{'name':'b'}]}}",
      "{'spec':{'$setElementOrder/"
      "containers':[{'name':'a'},{'name':'n'},{'name':'b'}],'containers':[{'name':'n'}]}}",
      "{'spec':{'containers':[{'name':'injected'},{'name':'a'},{'name':'n'},{'name':'b'}]}}" },
    { "$setElementOrder is not stored", "Node", "{'metadata':{'finalizers':['a/x']}}",
      "{'metadata':{'$setElementOrder/finalizers':['b/x','a/x'],'finalizers':['b/x']}}",
      "{'metadata':{'finalizers':['b/x','a/x']}}" },
    { "$retainKeys drops the others", "Deployment",
      "{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'x':1}}}}",
      "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
      "{'spec':{'strategy':{'type':'Recreate'}}}" },
    { "$retainKeys must be a list", "Deployment", "{'spec':{'strategy':{}}}",
      "{'spec':{'strategy':{'$retainKeys':1}}}", "400 BadRequest" },
    { "an element without its key", "Node", "{'spec':{'taints':[]}}", "{'spec':{'taints':[{'effect':'E'}]}}",
      "422 Invalid" },
    { "a scalar in a keyed list", "Node", "{'spec':{'taints':[]}}", "{'spec':{'taints':['a']}}",
      "422 Invalid" },
    { "a map over nothing drops nulls", "Node", "{}", "{'spec':{'podCIDR':null,'unschedulable':true}}",
      "{'spec':{'unschedulable':true}}" },
    { "a list becomes a map", "Node", "{'spec':[1]}", "{'spec':{'a':1}}", "{'spec':{'a':1}}" },
    { "a map becomes an ordered list", "Node", "{'metadata':{'finalizers':{'a':1,'b':2}}}",
      "{'metadata':{'$setElementOrder/finalizers':['y','x'],'finalizers':['x','y']}}",
      "{'metadata':{'finalizers':['y','x']}}" },
    { "not an object", "Node", "{}", "[1]", "400 BadRequest" },
};

static const struct api_resource *resource_of(const char *kind)
{
    return builtin(str_eq(str_c(kind), STR("Deployment")) ? "apps" : "", kind);
}

static void patch_row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *before = tree(&arena, row->before), *result = NULL;
    if (api_patch_strategic(&arena, resource_of(row->kind), before, tree(&arena, row->patch), &result,
                            &error))
        assert_tree(&arena, result, row->want);
    else
        assert_text(error_label(&arena, &error), row->want);
    assert_tree(&arena, before, row->before);
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, patch_row, NULL, NULL, (void *)&rows[i] };
    return cmocka_run_group_tests_name("apiserver/patch_strategic", tests, NULL, NULL);
}
