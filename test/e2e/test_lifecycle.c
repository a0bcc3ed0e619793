/* One NodeMetric per Node, whatever people and caches do. */
#include <signal.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

static void start(struct e2e *e2e, size_t nodes)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, nodes);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    e2e_manage(e2e);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == nodes);
}

static bool has_new_incarnation(struct e2e *e2e, const char *name, struct str old_uid)
{
    const struct json *metric = e2e_nodemetric(e2e, name);
    return metric && !str_eq(e2e_uid(metric), old_uid);
}

static void one_for_every_node_that_is_there_or_comes(struct e2e *e2e)
{
    start(e2e, 3);
    e2e_add_node(e2e, &(struct e2e_node){ .name = "late" });
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == 4);
    const struct json *metric = e2e_nodemetric(e2e, "late");
    assert_null(json_path(metric, "metadata", "ownerReferences", NULL));
    assert_null(json_path(metric, "metadata", "finalizers", NULL));
    assert_null(json_path(metric, "metadata", "labels", NULL));
}

static void one_deleted_by_hand_is_created_again(struct e2e *e2e)
{
    start(e2e, 2);
    struct str uid = e2e_uid(e2e_nodemetric(e2e, "node-000"));
    e2e_delete(e2e, NODEMETRIC_PATH "/node-000");
    EVENTUALLY(e2e, has_new_incarnation(e2e, "node-000", uid));
    assert_int_equal(e2e_interval_count(e2e, 45), 2);
}

static void all_deleted_at_once_are_created_again(struct e2e *e2e)
{
    start(e2e, 10);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_delete(e2e, NODEMETRIC_PATH);
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == 10);
    e2e_settle(e2e);
    assert_int_equal(e2e_interval_count(e2e, 45), 10);
    if (e2e_has_log(e2e))
        assert_int_equal(e2e_select(e2e, e2e_writes(e2e, mark), "POST", NODEMETRIC_PATH).count, 10);
}

static int64_t interval(struct e2e *e2e, const char *name)
{
    int64_t value = 0;
    return json_i64(json_path(e2e_nodemetric(e2e, name), "spec", "metricCollectPolicy",
                              "reportIntervalSeconds", NULL),
                    &value)
               ? value
               : -1;
}

static void a_spec_edited_by_hand_is_put_back(struct e2e *e2e)
{
    start(e2e, 2);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000",
              "{'spec':{'metricCollectPolicy':{'reportIntervalSeconds':7}}}");
    EVENTUALLY(e2e, interval(e2e, "node-000") == 45);
    if (!e2e_has_log(e2e))
        return;
    /* The smallest patch: what differs, and nothing else. */
    struct e2e_requests writes = e2e_writes(e2e, mark);
    assert_int_equal(writes.count, 1);
    assert_string_equal(arena_str(&e2e->arena, writes.items[0].body).ptr,
                        "{\"spec\":{\"metricCollectPolicy\":{\"reportIntervalSeconds\":45}}}");
    if (!e2e->real) /* whose log leaves it out */
        assert_true(str_eq(writes.items[0].content_type, STR("application/merge-patch+json")));
}

#define CRD_PATH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodemetrics.slo.koordinator.sh"
#define SPEC_SCHEMA "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
#define KEEP_UNKNOWN "/x-kubernetes-preserve-unknown-fields"

static void patch_crd(struct e2e *e2e, struct str operations)
{
    struct rest_answer answer = e2e_call(e2e, "PATCH", "application/json-patch+json", operations, CRD_PATH);
    if (answer.code != 200)
        fail_msg("CRD: %d " STR_FMT, answer.code, STR_ARG(answer.body));
}

static bool keeps_foreign_fields(struct e2e *e2e)
{
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000",
              "{'spec':{'somebodyElses':{'x':1},'metricCollectPolicy':{'theirs':'y'}}}");
    return json_path(e2e_nodemetric(e2e, "node-000"), "spec", "metricCollectPolicy", "theirs", NULL);
}

/* The CRD keeps only what it knows, so it has to be told first. */
static void fields_of_others_in_the_spec_are_kept(struct e2e *e2e)
{
    start(e2e, 1);
    patch_crd(e2e, e2e_json(e2e, "[{'op':'add','path':'" SPEC_SCHEMA KEEP_UNKNOWN "','value':true},"
                                 "{'op':'add','path':'" SPEC_SCHEMA
                                 "/properties/metricCollectPolicy" KEEP_UNKNOWN "','value':true}]"));
    EVENTUALLY(e2e, keeps_foreign_fields(e2e));
    e2e_patch(e2e, NODEMETRIC_PATH "/node-000",
              "{'spec':{'metricCollectPolicy':{'reportIntervalSeconds':7}}}");
    EVENTUALLY(e2e, interval(e2e, "node-000") == 45);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':46}");
    EVENTUALLY(e2e, interval(e2e, "node-000") == 46);
    const struct json *spec = json_get(e2e_nodemetric(e2e, "node-000"), STR("spec"));
    assert_non_null(json_path(spec, "somebodyElses", "x", NULL));
    assert_true(str_eq(json_str(json_path(spec, "metricCollectPolicy", "theirs", NULL)), STR("y")));
    patch_crd(e2e, e2e_json(e2e, "[{'op':'remove','path':'" SPEC_SCHEMA KEEP_UNKNOWN
                                 "'},{'op':'remove','path':'" SPEC_SCHEMA
                                 "/properties/metricCollectPolicy" KEEP_UNKNOWN "'}]"));
}

static void a_report_is_no_reason_to_write_the_spec(struct e2e *e2e)
{
    start(e2e, 2);
    e2e_settle(e2e);
    e2e_need_log(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ 0 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    e2e_settle(e2e);
    assert_int_equal(e2e_select(e2e, e2e_writes(e2e, mark), NULL, NODEMETRIC_PATH "/*").count, 0);
}

/* --- nodes that go ---------------------------------------------------------------------- */

static void one_goes_with_its_node_after_a_look_at_the_server(struct e2e *e2e)
{
    start(e2e, 2);
    struct str uid = e2e_uid(e2e_nodemetric(e2e, "node-000"));
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_delete(e2e, "/api/v1/nodes/node-000");
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "node-000"));
    e2e_settle(e2e);
    assert_int_equal(e2e_interval_count(e2e, 45), 1);
    if (!e2e_has_log(e2e))
        return;
    struct e2e_requests asked = e2e_requests(e2e, mark);
    struct e2e_requests looks = e2e_select(e2e, asked, "GET", "/api/v1/nodes/node-000");
    struct e2e_requests deletes = e2e_select(e2e, asked, "DELETE", NODEMETRIC_PATH "/*");
    assert_int_equal(looks.count, 1);
    assert_int_equal(looks.items[0].code, 404);
    assert_int_equal(deletes.count, 1);
    assert_true(looks.items[0].id < deletes.items[0].id);
    const struct json *body;
    assert_true(json_parse(&e2e->arena, deletes.items[0].body, NULL, &body, NULL));
    assert_true(str_eq(json_str(json_path(body, "preconditions", "uid", NULL)), uid));
}

static void a_node_created_again_gets_a_new_one(struct e2e *e2e)
{
    start(e2e, 2);
    e2e_report_all(e2e, 2);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == 2);
    struct str uid = e2e_uid(e2e_nodemetric(e2e, "node-000"));
    e2e_delete(e2e, "/api/v1/nodes/node-000");
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "node-000"));
    e2e_add_node(e2e, &(struct e2e_node){ .name = "node-000" });
    EVENTUALLY(e2e, has_new_incarnation(e2e, "node-000", uid));
    e2e_report(e2e, "node-000", &(struct e2e_report){ .cpu_reclaimable_milli = 3000 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 3000, 10 * GIB));
}

static void a_node_replaced_while_nobody_looked_ends_with_one(struct e2e *e2e)
{
    start(e2e, 2);
    program_signal(e2e->manager, SIGSTOP);
    e2e_delete(e2e, "/api/v1/nodes/node-000");
    e2e_add_node(e2e, &(struct e2e_node){ .name = "node-000" });
    program_signal(e2e->manager, SIGCONT);
    e2e_settle(e2e);
    assert_non_null(e2e_nodemetric(e2e, "node-000"));
    assert_int_equal(e2e_interval_count(e2e, 45), 2);
}

static void one_left_over_from_a_node_long_gone_is_removed_at_start(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':45}");
    struct str body = e2e_json(e2e, "{'apiVersion':'slo.koordinator.sh/v1alpha1','kind':'NodeMetric',"
                                    "'metadata':{'name':'ghost'},'spec':{}}");
    assert_int_equal(e2e_call(e2e, "POST", NULL, body, NODEMETRIC_PATH).code, 201);
    e2e_manage(e2e);
    EVENTUALLY(e2e, !e2e_nodemetric(e2e, "ghost"));
    EVENTUALLY(e2e, e2e_interval_count(e2e, 45) == 1);
}

/* A server that suddenly lists no nodes is asked about each of them before its NodeMetric
 * goes, and then nothing goes. */
static void an_empty_list_that_lies_costs_no_nodemetric(struct e2e *e2e)
{
    start(e2e, 5);
    e2e_need_control(e2e);
    int64_t mark = e2e_mark(e2e);
    struct str rv = json_str(json_path(e2e_get(e2e, "/api/v1/nodes"), "metadata", "resourceVersion", NULL));
    int64_t lie = e2e_fault(
        e2e,
        "{'method':'GET','path':'^/api/v1/"
        "nodes\\\\?(limit|resourceVersion)','count':-1,'code':200,'noStatus':"
        "true,'contentType':'application/json','body':'{\\'kind\\':\\'NodeList\\',\\'apiVersion\\':\\'v1\\',"
        "\\'metadata\\':{\\'resourceVersion\\':\\'" STR_FMT "\\'},\\'items\\':[]}'}",
        STR_ARG(rv));
    e2e_fault(e2e,
              "{'method':'GET','path':'^/api/v1/nodes\\\\?watch','count':1,'code':410,'reason':'Expired'}");
    e2e_control(e2e, "cut-watches");
    EVENTUALLY(e2e, e2e_fault_hits(e2e, lie) >= 2); /* asked twice: one empty list proves nothing */
    EVENTUALLY(e2e, e2e_select(e2e, e2e_requests(e2e, mark), "GET", "/api/v1/nodes/node-*").count >= 5);
    e2e_clear_faults(e2e);
    e2e_settle(e2e);
    assert_int_equal(e2e_select(e2e, e2e_writes(e2e, mark), "DELETE", NODEMETRIC_PATH "/*").count, 0);
    assert_int_equal(e2e_nodemetric_count(e2e), 5);
}

static const struct e2e_test tests[] = {
    E2E_TEST("one for every node that is there, or comes", one_for_every_node_that_is_there_or_comes),
    E2E_TEST("one deleted by hand is created again", one_deleted_by_hand_is_created_again),
    E2E_TEST("all deleted at once are created again, each once", all_deleted_at_once_are_created_again),
    E2E_TEST("a spec edited by hand is put back by the smallest patch", a_spec_edited_by_hand_is_put_back),
    E2E_TEST("fields of others in the spec are kept", fields_of_others_in_the_spec_are_kept),
    E2E_TEST("a report is no reason to write the spec", a_report_is_no_reason_to_write_the_spec),
    E2E_TEST("one goes with its node, after a look at the server, by uid",
             one_goes_with_its_node_after_a_look_at_the_server),
    E2E_TEST("a node created again gets a new one", a_node_created_again_gets_a_new_one),
    E2E_TEST("a node replaced while nobody looked ends with one",
             a_node_replaced_while_nobody_looked_ends_with_one),
    E2E_TEST("one left over from a node long gone is removed at start",
             one_left_over_from_a_node_long_gone_is_removed_at_start),
    E2E_TEST("an empty list that lies costs no NodeMetric", an_empty_list_that_lies_costs_no_nodemetric),
};

int main(void)
{
    return e2e_main("e2e/lifecycle", tests, ARRAY_LEN(tests));
}
