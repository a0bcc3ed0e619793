#include "trees.h"
#include "test/apiserver/apply.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/tree.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena = ARENA_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define T0 ((struct wall_time){ INT64_C(1784880000) * US_PER_S }) /* 2026-07-24T08:00:00Z */
#define T1 ((struct wall_time){ T0.us + 60 * US_PER_S })

static struct api_writer writer(const char *manager, struct wall_time now)
{
    return (struct api_writer){ .manager = str_c(manager), .now = now };
}

static const struct json *apply(const char *kind, const struct json *current, const char *config,
                                const struct api_writer *who)
{
    const struct json *result = NULL;
    struct api_error error = API_ERROR_INIT;
    if (!api_apply(&arena, builtin("", kind), current, tree(&arena, config), who, &result, &error))
        fail_msg("%d %.*s", error.code, STR_ARG(error.message));
    return result;
}

static void refuse(const char *kind, const struct json *current, const char *config,
                   const struct api_writer *who, const char *want, const char *message)
{
    const struct json *result = NULL;
    struct api_error error = API_ERROR_INIT;
    assert_false(api_apply(&arena, builtin("", kind), current, tree(&arena, config), who, &result, &error));
    assert_text(error_label(&arena, &error), want);
    if (message)
        assert_text(error.message, message);
}

static const struct json *data_of(const struct json *object)
{
    return json_get(object, STR("data"));
}

static const struct json *managed_of(const struct json *object)
{
    return json_path(object, "metadata", "managedFields", NULL);
}

#define CM(rest) "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'n'}" rest "}"

static void create_records_what_was_applied(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    assert_tree(&arena, managed_of(object),
                "[{'manager':'a','operation':'Apply','apiVersion':'v1','time':'2026-07-24T08:00:00Z',"
                "'fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:x':{}}}}]");
    assert_tree(&arena, data_of(object), "{'x':'1'}");
}

static void a_dropped_field_goes_when_nobody_else_owns_it(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), later = writer("a", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1','y':'2'}"), &a);
    object = apply("ConfigMap", object, CM(",'data':{'y':'2'}"), &later);
    assert_tree(&arena, data_of(object), "{'y':'2'}");
    object = apply("ConfigMap", object, CM(""), &later);
    assert_null(data_of(object));
    assert_null(managed_of(object));
}

static void a_shared_field_survives_its_first_owner(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    object = apply("ConfigMap", object, CM(",'data':{'x':'1'}"), &b);
    assert_int_equal(json_count(managed_of(object)), 2);
    object = apply("ConfigMap", object, CM(""), &a);
    assert_tree(&arena, data_of(object), "{'x':'1'}");
    assert_int_equal(json_count(managed_of(object)), 1);
}

static void applying_the_same_again_changes_nothing(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), later = writer("a", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    assert_ptr_equal(apply("ConfigMap", object, CM(",'data':{'x':'1'}"), &later), object);
}

static void changing_what_another_applied_is_a_conflict(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    refuse("ConfigMap", object, CM(",'data':{'x':'2'}"), &b, "409 Conflict",
           "Apply failed with 1 conflict: conflict with \"a\": .data.x");
    b.force = true;
    object = apply("ConfigMap", object, CM(",'data':{'x':'2'}"), &b);
    assert_tree(&arena, data_of(object), "{'x':'2'}");
    assert_int_equal(json_count(managed_of(object)), 1);
    assert_text(json_str(json_get(managed_of(object)->array.items[0], STR("manager"))), "b");
}

static void conflicts_are_causes(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    struct api_error error = API_ERROR_INIT;
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1','y':'1'}"), &a), *result;
    assert_false(api_apply(&arena, builtin("", "ConfigMap"), object,
                           tree(&arena, CM(",'data':{'x':'2','y':'2'}")), &b, &result, &error));
    assert_int_equal(error.cause_count, 2);
    assert_string_equal(error.causes[1].reason, "FieldManagerConflict");
    assert_text(error.causes[1].field, ".data.y");
    assert_text(error.causes[1].message, "conflict with \"a\"");
}

static void updates_own_what_they_change(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), editor = writer("kubectl-edit", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1','y':'1'}"), &a);
    const struct json *edited = json_merge_patch(&arena, object, tree(&arena, "{'data':{'x':'9'}}"));
    object = api_manage_update(&arena, builtin("", "ConfigMap"), object, edited, &editor);
    assert_tree(
        &arena, managed_of(object),
        "[{'manager':'a','operation':'Apply','apiVersion':'v1','time':'2026-07-24T08:00:00Z',"
        "'fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:y':{}}}},"
        "{'manager':'kubectl-edit','operation':'Update','apiVersion':'v1','time':'2026-07-24T08:01:00Z',"
        "'fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:x':{}}}}]");
    refuse("ConfigMap", object, CM(",'data':{'x':'1'}"), &a, "409 Conflict",
           "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.x");
}

static void an_update_that_changes_nothing_keeps_owners_and_times(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    const struct json *stripped =
        json_merge_patch(&arena, object, tree(&arena, "{'metadata':{'managedFields':null}}"));
    assert_true(
        json_equal(api_manage_update(&arena, builtin("", "ConfigMap"), object, stripped, &b), object));
}

static void removing_a_field_by_update_takes_it_from_its_owner(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    const struct json *edited = json_merge_patch(&arena, object, tree(&arena, "{'data':{'x':null}}"));
    object = api_manage_update(&arena, builtin("", "ConfigMap"), object, edited, &b);
    object = apply("ConfigMap", object, CM(",'data':{'x':'1'}"), &a);
    assert_tree(&arena, data_of(object), "{'x':'1'}");
}

static void a_client_may_clear_the_list(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0);
    const struct json *object = apply("ConfigMap", NULL, CM(",'data':{'x':'1'}"), &a);
    const struct json *cleared =
        json_merge_patch(&arena, object, tree(&arena, "{'metadata':{'managedFields':[{}]}}"));
    assert_null(managed_of(api_manage_update(&arena, builtin("", "ConfigMap"), object, cleared, &a)));
}

static void events_are_not_tracked(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0);
    const struct json *event = tree(&arena, "{'metadata':{'name':'e'},'count':1}");
    assert_true(json_equal(api_manage_update(&arena, builtin("", "Event"), NULL, event, &a), event));
}

#define NODE(rest) "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}" rest "}"

static void keyed_lists_are_owned_by_element(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    a.subresource = b.subresource = STR("status");
    const struct json *object =
        apply("Node", NULL, NODE(",'status':{'conditions':[{'type':'A','status':'True'}]}"), &a);
    object = apply("Node", object, NODE(",'status':{'conditions':[{'type':'B','status':'True'}]}"), &b);
    assert_tree(&arena, json_path(object, "status", "conditions", NULL),
                "[{'type':'A','status':'True'},{'type':'B','status':'True'}]");
    assert_tree(
        &arena, json_get(managed_of(object)->array.items[1], STR("fieldsV1")),
        "{'f:status':{'f:conditions':{'k:{\\'type\\':\\'B\\'}':{'.':{},'f:type':{},'f:status':{}}}}}");
    object = apply("Node", object, NODE(""), &a);
    assert_tree(&arena, json_path(object, "status", "conditions", NULL), "[{'type':'B','status':'True'}]");
    refuse("Node", object, NODE(",'status':{'conditions':[{'type':'B','status':'False'}]}"), &a,
           "409 Conflict",
           "Apply failed with 1 conflict: conflict with \"b\" with subresource \"status\": "
           ".status.conditions[type=\"B\"].status");
}

static void sets_are_owned_by_value(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object = apply(
        "Node", NULL, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','finalizers':['x/a']}}", &a);
    object = apply("Node", object,
                   "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','finalizers':['x/b']}}", &b);
    assert_tree(&arena, json_path(object, "metadata", "finalizers", NULL), "['x/a','x/b']");
    object = apply("Node", object, NODE(""), &a);
    assert_tree(&arena, json_path(object, "metadata", "finalizers", NULL), "['x/b']");
}

static void atomic_lists_have_one_owner(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    const struct json *object =
        apply("Node", NULL, NODE(",'spec':{'taints':[{'key':'a','effect':'NoSchedule'}]}"), &a);
    refuse("Node", object, NODE(",'spec':{'taints':[{'key':'b','effect':'NoSchedule'}]}"), &b, "409 Conflict",
           "Apply failed with 1 conflict: conflict with \"a\": .spec.taints");
}

static void status_counts_only_at_its_endpoint(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), status = writer("a", T0);
    status.subresource = STR("status");
    const struct json *object =
        apply("Node", NULL, NODE(",'spec':{'podCIDR':'x'},'status':{'phase':'p'}"), &a);
    assert_null(json_get(object, STR("status")));
    object = apply("Node", object, NODE(",'spec':{'podCIDR':'y'},'status':{'phase':'p'}"), &status);
    assert_tree(&arena, json_get(object, STR("spec")), "{'podCIDR':'x'}");
    assert_tree(&arena, json_get(object, STR("status")), "{'phase':'p'}");
    assert_int_equal(json_count(managed_of(object)), 2);
}

static void what_a_config_must_have(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0), nobody = writer("", T0);
    refuse("ConfigMap", NULL, CM(""), &nobody, "422 Invalid", NULL);
    refuse("ConfigMap", NULL, "{'kind':'ConfigMap','metadata':{'name':'c'}}", &a, "400 BadRequest", NULL);
    refuse("ConfigMap", NULL, "{'apiVersion':'v1','metadata':{'name':'c'}}", &a, "400 BadRequest", NULL);
    refuse("ConfigMap", NULL, "{'apiVersion':'v1','kind':'ConfigMap'}", &a, "400 BadRequest", NULL);
    refuse("ConfigMap", NULL,
           "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','managedFields':[{'manager':'a'}]}}",
           &a, "400 BadRequest", NULL);
    refuse("ConfigMap", NULL, "[]", &a, "400 BadRequest", NULL);
}

static void preconditions(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0);
    const struct json *current = tree(&arena, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c',"
                                              "'namespace':'n','uid':'u','resourceVersion':'7'}}");
    refuse("ConfigMap", current,
           "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','resourceVersion':'6'}}", &a,
           "409 Conflict", NULL);
    refuse("ConfigMap", current, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','uid':'v'}}",
           &a, "409 Conflict", NULL);
    refuse("ConfigMap", NULL, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','uid':'v'}}", &a,
           "409 Conflict", NULL);
    const struct json *object = apply("ConfigMap", current, CM(",'data':{'x':'1'}"), &a);
    assert_text(json_str(json_path(object, "metadata", "resourceVersion", NULL)), "7");
}

static void nulls_are_left_out(void **state)
{
    (void)state;
    struct api_writer a = writer("a", T0);
    const struct json *object = apply("ConfigMap", NULL,
                                      "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','"
                                      "namespace':'n','creationTimestamp':null},"
                                      "'data':{'x':'1'},'binaryData':null}",
                                      &a);
    assert_null(json_get(object, STR("binaryData")));
}

static void custom_lists_follow_their_schema(void **state)
{
    (void)state;
    struct api_resource *things;
    size_t count, storage;
    struct api_error error = API_ERROR_INIT;
    struct api_writer a = writer("a", T0), b = writer("b", T1);
    assert_true(api_crd_read(
        &arena,
        tree(
            &arena,
            "{'metadata':{'name':'things.x.io'},'spec':{'group':'x.io','scope':'Cluster','names':{'kind':'"
            "Thing',"
            "'plural':'things'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'"
            "openAPIV3Schema':"
            "{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'map',"
            "'x-kubernetes-list-map-keys':['k'],'items':{'type':'object','properties':{'k':{'type':'string'},"
            "'v':{'type':'string'}}}}}}}}]}}"),
        &things, &count, &storage, NULL));
    const struct json *object, *config;
    config = tree(&arena,
                  "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'t'},'l':[{'k':'1','v':'a'}]}");
    assert_true(api_apply(&arena, things, NULL, config, &a, &object, &error));
    config = tree(&arena,
                  "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'t'},'l':[{'k':'2','v':'b'}]}");
    assert_true(api_apply(&arena, things, object, config, &b, &object, &error));
    assert_tree(&arena, json_get(object, STR("l")), "[{'k':'1','v':'a'},{'k':'2','v':'b'}]");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(create_records_what_was_applied),
        TEST(a_dropped_field_goes_when_nobody_else_owns_it),
        TEST(a_shared_field_survives_its_first_owner),
        TEST(applying_the_same_again_changes_nothing),
        TEST(changing_what_another_applied_is_a_conflict),
        TEST(conflicts_are_causes),
        TEST(updates_own_what_they_change),
        TEST(an_update_that_changes_nothing_keeps_owners_and_times),
        TEST(removing_a_field_by_update_takes_it_from_its_owner),
        TEST(a_client_may_clear_the_list),
        TEST(events_are_not_tracked),
        TEST(keyed_lists_are_owned_by_element),
        TEST(sets_are_owned_by_value),
        TEST(atomic_lists_have_one_owner),
        TEST(status_counts_only_at_its_endpoint),
        TEST(what_a_config_must_have),
        TEST(preconditions),
        TEST(nulls_are_left_out),
        TEST(custom_lists_follow_their_schema),
    };
    return cmocka_run_group_tests_name("apiserver/apply", tests, NULL, NULL);
}
