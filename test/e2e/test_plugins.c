/* Every node resource plugin at work: what they write, that they settle, and that the kinds
 * some of them read may be missing. */
#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define NODE "/api/v1/nodes/node-000"
#define TOPOLOGIES "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies"
#define DEVICES "/apis/scheduling.koordinator.sh/v1alpha1/devices"
#define BATCH_CPU "kubernetes.io/batch-cpu"

static void create(struct e2e *e2e, const char *path, struct str body)
{
    struct rest_answer answer = e2e_call(e2e, "POST", NULL, body, "%s", path);
    if (answer.code != 201)
        fail_msg("POST %s: %d " STR_FMT, path, answer.code, STR_ARG(answer.body));
}

static void define(struct e2e *e2e, const char *group, const char *plural, const char *kind)
{
    create(e2e, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           e2e_json(e2e,
                    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{"
                    "'name':'%s.%s','annotations':{'api-approved.kubernetes.io':'unapproved, a test'}},"
                    "'spec':{'group':'%s','scope':'Cluster','names':{'plural':'%s','singular':'%.*s',"
                    "'kind':'%s','listKind':'%sList'},'versions':[{'name':'v1alpha1','served':true,"
                    "'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                    "'x-kubernetes-preserve-unknown-fields':true}}}]}}",
                    plural, group, group, plural, (int)strlen(plural) - 1, plural, kind, kind));
}

static struct str annotation(struct e2e *e2e, const char *name)
{
    return json_str(json_get(json_path(e2e_get(e2e, NODE), "metadata", "annotations", NULL), str_c(name)));
}

/* Capacity 16 cores, 60 percent of it, nothing else in use. */
static bool batch_is_lent(struct e2e *e2e, int64_t cpu)
{
    return e2e_resource(e2e_get(e2e, NODE), "allocatable", BATCH_CPU) == cpu &&
           e2e_resource(e2e_get(e2e, NODE), "capacity", BATCH_CPU) == cpu;
}

static void missing_kinds_hold_nothing_up(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--noderesource-plugins", "*");
    EVENTUALLY(e2e, e2e_ready(e2e));
    e2e_report_all(e2e, 1);
    EVENTUALLY(e2e, batch_is_lent(e2e, 9600));
    EVENTUALLY(e2e, !str_empty(annotation(e2e, "node.koordinator.sh/originExtendedAllocatable")));
    e2e_settle(e2e);
    assert_true(str_eq(annotation(e2e, "node.koordinator.sh/cpu-normalization-ratio"), STR("1.00")));
    assert_true(e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    assert_true(e2e_is_as_planned(e2e));
    if (!e2e_has_log(e2e))
        return;
    int64_t mark = e2e_mark(e2e);
    e2e_report_all(e2e, 1); /* news that changes nothing */
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
}

static bool zone_says(struct e2e *e2e, const char *cpu)
{
    const struct json *zones = json_get(e2e_get(e2e, TOPOLOGIES "/node-000"), STR("zones"));
    const struct json *resources =
        json_count(zones) ? json_get(zones->array.items[0], STR("resources")) : NULL;
    return json_count(resources) == 4 &&
           str_eq(json_str(json_get(resources->array.items[2], STR("name"))), STR(BATCH_CPU)) &&
           str_eq(json_str(json_get(resources->array.items[2], STR("allocatable"))), str_c(cpu));
}

static void devices_and_zones_are_followed(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_need_control(e2e);
    define(e2e, "topology.node.k8s.io", "noderesourcetopologies", "NodeResourceTopology");
    define(e2e, "scheduling.koordinator.sh", "devices", "Device");
    e2e_add_nodes(e2e, 1);
    create(e2e, TOPOLOGIES,
           e2e_json(e2e,
                    "{'apiVersion':'topology.node.k8s.io/v1alpha1','kind':'NodeResourceTopology','metadata':{"
                    "'name':'node-000'},'zones':[{'name':'node-0','type':'Node','resources':["
                    "{'name':'a','capacity':'1','allocatable':'1','available':'1'},"
                    "{'name':'cpu','capacity':'16','allocatable':'16','available':'16'}]}]}"));
    create(e2e, DEVICES,
           e2e_json(e2e,
                    "{'apiVersion':'scheduling.koordinator.sh/v1alpha1','kind':'Device','metadata':{"
                    "'name':'node-000','labels':{'node.koordinator.sh/gpu-model':'H20'}},'spec':{'devices':["
                    "{'type':'gpu','health':true,'resources':{'koordinator.sh/gpu-core':'100'}}]}}"));
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e, "--noderesource-plugins", "*");
    e2e_report_all(e2e, 1);
    EVENTUALLY(e2e, batch_is_lent(e2e, 9600));
    EVENTUALLY(e2e, e2e_resource(e2e_get(e2e, NODE), "allocatable", "koordinator.sh/gpu") == 100);
    EVENTUALLY(e2e, str_eq(json_str(json_get(json_path(e2e_get(e2e, NODE), "metadata", "labels", NULL),
                                             STR("node.koordinator.sh/gpu-model"))),
                           STR("H20")));
    EVENTUALLY(e2e, zone_says(e2e, "9600"));
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_delete(e2e, DEVICES "/node-000");
    EVENTUALLY(e2e, e2e_resource(e2e_get(e2e, NODE), "allocatable", "koordinator.sh/gpu") == -1);
    e2e_set_policy(e2e, "{'enable':false}");
    EVENTUALLY(e2e, zone_says(e2e, "0"));
    e2e_settle(e2e);
    assert_true(batch_is_lent(e2e, -1));
    e2e_assert_no_repeat(e2e_writes(e2e, mark));
}

static const struct e2e_test tests[] = {
    E2E_TEST("missing kinds hold nothing up", missing_kinds_hold_nothing_up),
    E2E_TEST("devices and zones are followed", devices_and_zones_are_followed),
};

int main(void)
{
    return e2e_main("e2e/plugins", tests, ARRAY_LEN(tests));
}
