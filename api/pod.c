#include "api/pod_internal.h"

/* --- schema ------------------------------------------------------------------------ */

static const struct json_field pod_resources_fields[] = {
    JSON_FIELD_OBJECT(struct pod_resources, requests, "requests", &api_resources_table),
    JSON_FIELD_OBJECT(struct pod_resources, limits, "limits", &api_resources_table),
};
static const struct json_table pod_resources_table = JSON_TABLE(struct pod_resources, pod_resources_fields);

static const struct json_field container_fields[] = {
    JSON_FIELD_OBJECT(struct pod_container, resources, "resources", &pod_resources_table),
    JSON_FIELD_STR(struct pod_container, restart_policy, "restartPolicy"),
};
static const struct json_table container_table = JSON_TABLE(struct pod_container, container_fields);

static const struct json_field label_fields[] = {
    JSON_FIELD_SCALAR(struct pod_labels, qos, "koordinator.sh/qosClass", api_into_text),
    JSON_FIELD_SCALAR(struct pod_labels, priority, "koordinator.sh/priority-class", api_into_text),
};
static const struct json_table label_table = JSON_TABLE(struct pod_labels, label_fields);

enum { NUMA_NODES_MAX = 32 };

/* {"numaNodeResources":[{"node":0}]}: which nodes; what cannot be read binds to none. */
static bool into_numa_nodes(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    uint32_t *ret = dst;
    const struct json *status = NULL;
    *ret = 0;
    if (event->type != JSON_EV_STRING)
        return err_set(err, ERR_INVALID, "expected a string");
    if (!json_parse(arena, event->text, NULL, &status, err))
        return false;
    const struct json *nodes = json_get_nocase(status, STR("numaNodeResources"));
    for (size_t i = 0; json_is(nodes, JSON_ARRAY) && i < nodes->array.count; i++) {
        int64_t node = 0;
        const struct json *number = json_get_nocase(nodes->array.items[i], STR("node"));
        if ((!number || json_i64(number, &node)) && node >= 0 && node < NUMA_NODES_MAX)
            *ret |= UINT32_C(1) << node;
    }
    return true;
}

static const struct json_field annotation_fields[] = {
    JSON_FIELD_SCALAR(struct pod_annotations, numa_nodes, "scheduling.koordinator.sh/resource-status",
                      into_numa_nodes),
};
static const struct json_table annotation_table = JSON_TABLE(struct pod_annotations, annotation_fields);

static const struct json_field metadata_fields[] = {
    META_IDENTITY_FIELDS(struct pod_metadata, meta),
    JSON_FIELD_OBJECT(struct pod_metadata, annotations, "annotations", &annotation_table),
    JSON_FIELD_OBJECT(struct pod_metadata, labels, "labels", &label_table),
};
static const struct json_table metadata_table = JSON_TABLE(struct pod_metadata, metadata_fields);

static const struct json_field spec_fields[] = {
    JSON_FIELD_ARRAY(struct pod_spec, init_containers, "initContainers", &container_table),
    JSON_FIELD_ARRAY(struct pod_spec, containers, "containers", &container_table),
    JSON_FIELD_STR(struct pod_spec, node_name, "nodeName"),
    JSON_FIELD_OPT_I64(struct pod_spec, priority, "priority"),
    JSON_FIELD_OBJECT(struct pod_spec, overhead, "overhead", &api_resources_table),
    JSON_FIELD_OBJECT(struct pod_spec, resources, "resources", &pod_resources_table),
};
static const struct json_table spec_table = JSON_TABLE(struct pod_spec, spec_fields);

static const struct json_field status_fields[] = {
    JSON_FIELD_STR(struct pod_status, phase, "phase"),
    JSON_FIELD_STR(struct pod_status, qos_class, "qosClass"),
};
static const struct json_table status_table = JSON_TABLE(struct pod_status, status_fields);

static const struct json_field pod_fields[] = {
    JSON_FIELD_OBJECT(struct pod_decoded, metadata, "metadata", &metadata_table),
    JSON_FIELD_OBJECT(struct pod_decoded, spec, "spec", &spec_table),
    JSON_FIELD_OBJECT(struct pod_decoded, status, "status", &status_table),
};
static const struct json_table pod_table = JSON_TABLE(struct pod_decoded, pod_fields);

/* --- projection -------------------------------------------------------------------- */

/* The API server gives every new pod a phase, so a manifest without one is a new pod. */
static enum pod_phase phase_from_name(struct str name)
{
    static const struct str names[] = {
        [POD_PENDING] = STR_INIT("Pending"),
        [POD_RUNNING] = STR_INIT("Running"),
        [POD_SUCCEEDED] = STR_INIT("Succeeded"),
        [POD_FAILED] = STR_INIT("Failed"),
    };
    if (str_empty(name))
        return POD_PENDING;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], name))
            return (enum pod_phase)i;
    }
    return POD_UNKNOWN;
}

enum { NANO_PER_MILLI = 1000000 };

static int64_t clamp_i64(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    const struct pod_decoded *in = decoded;
    struct kube_object *object =
        kube_object_new(&pod_kind, sizeof(struct pod), &in->metadata.meta, pool, err);
    if (!object)
        return NULL;
    struct pod *pod = (struct pod *)(void *)object;
    struct amounts request = pod_request(&in->spec, report);
    enum qos_class qos = pod_qos(in);
    pod->node_name = str_empty(in->spec.node_name) ? NULL : intern_get(pool, in->spec.node_name);
    pod->cpu_request_nano = clamp_i64(request.cpu_nano);
    pod->memory_request_milli = clamp_i64((request.memory_nano + NANO_PER_MILLI - 1) / NANO_PER_MILLI);
    pod->priority = (uint8_t)pod_priority(in, qos);
    pod->qos = (uint8_t)qos;
    pod->phase = (uint8_t)phase_from_name(in->status.phase);
    pod->numa_nodes = in->metadata.annotations.numa_nodes;
    return object;
}

static void release(struct kube_object *object)
{
    istr_unref(pod_of(object)->node_name);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    const struct pod *x = pod_of(a), *y = pod_of(b);
    return x->node_name == y->node_name && x->cpu_request_nano == y->cpu_request_nano &&
           x->memory_request_milli == y->memory_request_milli && x->priority == y->priority &&
           x->qos == y->qos && x->phase == y->phase && x->numa_nodes == y->numa_nodes;
}

static const struct istr *index_by_node(const struct kube_object *object)
{
    return pod_of(object)->node_name;
}

const struct kube_kind pod_kind = {
    .group = "",
    .version = "v1",
    .kind = "Pod",
    .plural = "pods",
    .namespaced = true,
    .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
    .table = &pod_table,
    .project = project,
    .release = release,
    .same = same,
    .index = index_by_node,
};
