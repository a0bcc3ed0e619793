#include "trees.h"
#include "test/apiserver/discovery.h"
#include "test/apiserver/crd.h"

static struct arena arena;
static struct api_registry registry;

static const char crd[] =
    "{'apiVersion':'apiextensions.k8s.io/"
    "v1','kind':'CustomResourceDefinition','metadata':{'name':'things.x.io'},"
    "'spec':{'group':'x.io','scope':'Cluster','names':{'kind':'Thing','plural':'things','shortNames':['th']},"
    "'versions':[{'name':'v1beta1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
    "'properties':{'spec':{'type':'object','description':'The wish.'}}}},'subresources':{'status':{}}},"
    "{'name':'v1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}},"
    "{'name':'v1alpha1','served':false,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}";

static int setup(void **state)
{
    (void)state;
    arena = ARENA_INIT;
    size_t builtins, count, storage;
    const struct api_resource *rows = api_builtin_resources(&builtins);
    struct api_resource *things;
    if (!api_crd_read(&arena, tree(&arena, crd), &things, &count, &storage, NULL))
        return -1;
    const struct api_resource **all = arena_array(&arena, const struct api_resource *, builtins + count);
    for (size_t i = 0; i < builtins; i++)
        all[i] = &rows[i];
    for (size_t i = 0; i < count; i++)
        all[builtins + i] = &things[i];
    registry = (struct api_registry){ .resources = all, .count = builtins + count };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *find(const struct json *list, const char *key, const char *value)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (str_eq(json_str(json_get(list->array.items[i], str_c(key))), str_c(value)))
            return list->array.items[i];
    fail_msg("no %s %s", key, value);
    return NULL;
}

static void core_versions(void **state)
{
    (void)state;
    assert_tree(&arena, api_discovery_core(&arena, STR("127.0.0.1:6443")),
                "{'kind':'APIVersions','versions':['v1'],'serverAddressByClientCIDRs':"
                "[{'clientCIDR':'0.0.0.0/0','serverAddress':'127.0.0.1:6443'}]}");
}

static void groups_prefer_the_stablest_version(void **state)
{
    (void)state;
    const struct json *groups = json_get(api_discovery_groups(&arena, &registry), STR("groups"));
    assert_tree(
        &arena, find(groups, "name", "x.io"),
        "{'name':'x.io','versions':[{'groupVersion':'x.io/v1','version':'v1'},{'groupVersion':'x.io/v1beta1',"
        "'version':'v1beta1'}],'preferredVersion':{'groupVersion':'x.io/v1','version':'v1'}}");
    for (size_t i = 0; i < json_count(groups); i++)
        assert_true(json_str(json_get(groups->array.items[i], STR("name"))).len > 0);
}

static void one_group(void **state)
{
    (void)state;
    const struct json *group = api_discovery_group(&arena, &registry, STR("apps"));
    assert_text(json_str(json_get(group, STR("kind"))), "APIGroup");
    assert_null(api_discovery_group(&arena, &registry, STR("frob")));
    assert_null(api_discovery_group(&arena, &registry, STR("")));
}

static void resources_of_a_version(void **state)
{
    (void)state;
    const struct json *list = api_discovery_resources(&arena, &registry, STR("x.io"), STR("v1beta1"));
    assert_tree(&arena, list,
                "{'groupVersion':'x.io/v1beta1','kind':'APIResourceList','apiVersion':'v1','resources':["
                "{'name':'things','singularName':'thing','namespaced':false,'kind':'Thing','verbs':['create',"
                "'delete',"
                "'deletecollection','get','list','patch','update','watch'],'shortNames':['th']},"
                "{'name':'things/status','singularName':'','namespaced':false,'kind':'Thing',"
                "'verbs':['get','patch','update']}]}");
    assert_null(api_discovery_resources(&arena, &registry, STR("x.io"), STR("v1alpha1")));
}

static void core_resources(void **state)
{
    (void)state;
    const struct json *list = api_discovery_resources(&arena, &registry, STR(""), STR("v1"));
    assert_text(json_str(json_get(list, STR("groupVersion"))), "v1");
    const struct json *pods = find(json_get(list, STR("resources")), "name", "pods");
    assert_tree(&arena, json_get(pods, STR("shortNames")), "['po']");
    assert_tree(&arena, json_get(pods, STR("categories")), "['all']");
    find(json_get(list, STR("resources")), "name", "nodes/status");
}

static void what_a_chart_ships_is_served(void **state)
{
    (void)state;
    static const struct {
        const char *group, *plural;
    } rows[] = {
        { "", "serviceaccounts" },
        { "", "services" },
        { "apps", "deployments" },
        { "policy", "poddisruptionbudgets" },
        { "networking.k8s.io", "networkpolicies" },
        { "scheduling.k8s.io", "priorityclasses" },
        { "coordination.k8s.io", "leases" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct json *list = api_discovery_resources(&arena, &registry, str_c(rows[i].group), STR("v1"));
        assert_non_null(list);
        find(json_get(list, STR("resources")), "name", rows[i].plural);
    }
}

static void reviews_can_only_be_created(void **state)
{
    (void)state;
    const struct json *list =
        api_discovery_resources(&arena, &registry, STR("authorization.k8s.io"), STR("v1"));
    assert_tree(&arena, json_get(json_get(list, STR("resources"))->array.items[0], STR("verbs")),
                "['create']");
}

static void aggregated(void **state)
{
    (void)state;
    const struct json *items = json_get(api_discovery_aggregated(&arena, &registry, false), STR("items"));
    const struct json *last = items->array.items[json_count(items) - 1];
    assert_tree(&arena, json_get(last, STR("metadata")), "{'name':'x.io','creationTimestamp':null}");
    const struct json *beta = find(json_get(last, STR("versions")), "version", "v1beta1");
    assert_tree(
        &arena, json_get(beta, STR("resources")),
        "[{'resource':'things','responseKind':{'group':'x.io','version':'v1beta1','kind':'Thing'},"
        "'scope':'Cluster','singularResource':'thing','verbs':['create','delete','deletecollection','get',"
        "'list','patch','update','watch'],'shortNames':['th'],'subresources':[{'subresource':'status',"
        "'responseKind':{'group':'x.io','version':'v1beta1','kind':'Thing'},'verbs':['get','patch','update']}"
        "]}]");
    items = json_get(api_discovery_aggregated(&arena, &registry, true), STR("items"));
    assert_int_equal(json_count(items), 1);
}

static void accept_of_aggregated(void **state)
{
    (void)state;
    assert_true(api_discovery_wants_aggregated(
        STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/"
            "json;g=apidiscovery."
            "k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json")));
    assert_false(api_discovery_wants_aggregated(STR("application/json")));
    assert_false(api_discovery_wants_aggregated(STR("")));
    assert_false(api_discovery_wants_aggregated(
        STR("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json")));
}

static void openapi_index_names_every_version(void **state)
{
    (void)state;
    const struct json *paths = json_get(api_openapi_index(&arena, &registry), STR("paths"));
    assert_non_null(json_get(paths, STR("api/v1")));
    assert_non_null(json_get(paths, STR("apis/x.io/v1beta1")));
    struct str url = json_str(json_path(paths, "apis/apps/v1", "serverRelativeURL", NULL));
    assert_true(str_starts_with(url, STR("/openapi/v3/apis/apps/v1?hash=")));
}

/* What kubectl reads before it sends a List: field 1 is "2.0", field 2 a message. */
static void openapi_v2_is_a_document_without_definitions(void **state)
{
    (void)state;
    struct str bytes = api_openapi_v2_protobuf();
    assert_true(str_starts_with(bytes, STR("\x0a\x03"
                                           "2.0\x12")));
    assert_int_equal(bytes.ptr[6], bytes.len - 7);
    assert_true(
        api_openapi_v2_wants_protobuf(STR("application/com.github.proto-openapi.spec.v2@v1.0+protobuf")));
    assert_false(api_openapi_v2_wants_protobuf(STR("application/json")));
    assert_true(str_eq(json_str(json_get(api_openapi_v2(&arena), STR("swagger"))), STR("2.0")));
}

static void openapi_patch_takes_field_validation(void **state)
{
    (void)state;
    const struct json *document = api_openapi_document(&arena, &registry, STR(""), STR("v1"));
    const struct json *patch =
        json_path(document, "paths", "/api/v1/namespaces/{namespace}/configmaps/{name}", "patch", NULL);
    assert_tree(&arena, json_get(patch, STR("x-kubernetes-group-version-kind")),
                "{'group':'','version':'v1','kind':'ConfigMap'}");
    find(json_get(patch, STR("parameters")), "name", "fieldValidation");
    find(json_get(patch, STR("parameters")), "name", "dryRun");
    find(json_get(patch, STR("parameters")), "name", "fieldManager");
    assert_non_null(json_path(document, "paths", "/api/v1/nodes/{name}", "patch", NULL));
    assert_null(api_openapi_document(&arena, &registry, STR("frob"), STR("v1")));
}

static void openapi_schemas_explain_custom_resources(void **state)
{
    (void)state;
    const struct json *document = api_openapi_document(&arena, &registry, STR("x.io"), STR("v1beta1"));
    const struct json *schema = json_path(document, "components", "schemas", "x.io.v1beta1.Thing", NULL);
    assert_text(json_str(json_path(schema, "properties", "spec", "description", NULL)), "The wish.");
    assert_non_null(json_path(schema, "properties", "metadata", "properties", "labels", NULL));
    assert_tree(&arena, json_get(schema, STR("x-kubernetes-group-version-kind")),
                "[{'group':'x.io','version':'v1beta1','kind':'Thing'}]");
}

static void crd_defaults_and_status(void **state)
{
    (void)state;
    const struct json *established =
        api_crd_established(&arena, tree(&arena, crd), STR("2026-07-24T08:00:00Z"));
    const struct json *status = json_get(established, STR("status"));
    assert_tree(&arena, json_get(status, STR("storedVersions")), "['v1beta1']");
    assert_tree(
        &arena, json_get(status, STR("acceptedNames")),
        "{'kind':'Thing','plural':'things','shortNames':['th'],'listKind':'ThingList','singular':'thing'}");
    assert_text(
        json_str(json_get(find(json_get(status, STR("conditions")), "type", "Established"), STR("status"))),
        "True");
}

static void crd_refused(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "{'metadata':{'name':'other.x.io'}}",
        "{'spec':{'scope':'Galaxy'}}",
        "{'spec':{'group':null}}",
        "{'spec':{'versions':[]}}",
        "{'spec':{'versions':[{'name':'v1','served':true,'storage':true}]}}",
        "{'spec':{'versions':[{'name':'v','served':true,'storage':true,'schema':{'openAPIV3Schema':{}}}]}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct api_resource *resources;
        size_t count, storage;
        struct err err = ERR_INIT;
        const struct json *changed = json_merge_patch(&arena, tree(&arena, crd), tree(&arena, changes[i]));
        assert_false(api_crd_read(&arena, changed, &resources, &count, &storage, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(core_versions),
        TEST(groups_prefer_the_stablest_version),
        TEST(one_group),
        TEST(resources_of_a_version),
        TEST(core_resources),
        TEST(what_a_chart_ships_is_served),
        TEST(reviews_can_only_be_created),
        TEST(aggregated),
        TEST(accept_of_aggregated),
        TEST(openapi_index_names_every_version),
        TEST(openapi_v2_is_a_document_without_definitions),
        TEST(openapi_patch_takes_field_validation),
        TEST(openapi_schemas_explain_custom_resources),
        TEST(crd_defaults_and_status),
        TEST(crd_refused),
    };
    return cmocka_run_group_tests_name("apiserver/discovery", tests, NULL, NULL);
}
