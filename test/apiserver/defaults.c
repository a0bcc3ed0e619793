#include "test/apiserver/defaults.h"
#include "test/apiserver/base64.h"
#include "test/apiserver/qos.h"
#include "test/apiserver/tree.h"

static const struct json *with_default(struct arena *arena, const struct json *object, const char *key,
                                       const struct json *value)
{
    return api_get(object, key) ? object : api_with(arena, object, key, value);
}

static const struct json *with_default_str(struct arena *arena, const struct json *object, const char *key,
                                           const char *value)
{
    return api_get(object, key) ? object : api_with(arena, object, key, json_new_str(arena, str_c(value)));
}

static const struct json *with_default_i64(struct arena *arena, const struct json *object, const char *key,
                                           int64_t value)
{
    return api_get(object, key) ? object : api_with(arena, object, key, json_new_i64(arena, value));
}

/* A struct that is there even when nobody sent it. */
static const struct json *part(struct arena *arena, const struct json *object, const char *key)
{
    const struct json *value = api_get(object, key);
    return value ? value : api_object(arena);
}

/* ---- Node ---- */

static const struct json *default_node(struct arena *arena, const struct json *node)
{
    const struct json *status = part(arena, node, "status"), *capacity = api_get(status, "capacity");
    if (capacity && !api_get(status, "allocatable"))
        status = api_with(arena, status, "allocatable", capacity);
    node = with_default(arena, node, "spec", api_object(arena));
    return status == api_get(node, "status") ? node : api_with(arena, node, "status", status);
}

/* ---- Namespace ---- */

static const struct json *default_namespace(struct arena *arena, const struct json *namespace)
{
    const struct json *spec = part(arena, namespace, "spec"), *status = part(arena, namespace, "status");
    const struct json *metadata = part(arena, namespace, "metadata"),
                      *labels = part(arena, metadata, "labels");
    struct json *finalizers = api_array(arena);
    json_push(arena, finalizers, json_new_str(arena, STR("kubernetes")));
    struct str name = api_get_str(metadata, "name");
    labels = with_default(arena, labels, "kubernetes.io/metadata.name", json_new_str(arena, name));
    if (!str_empty(name))
    namespace = api_with(arena, namespace, "metadata", api_with(arena, metadata, "labels", labels));
    namespace = api_with(arena, namespace, "spec", with_default(arena, spec, "finalizers", finalizers));
    return api_with(arena, namespace, "status", with_default_str(arena, status, "phase", "Active"));
}

/* ---- Secret ---- */

static const struct json *default_secret(struct arena *arena, const struct json *secret)
{
    const struct json *plain = api_get(secret, "stringData");
    secret = with_default_str(arena, secret, "type", "Opaque");
    if (!plain)
        return secret;
    struct json *data = json_copy(arena, part(arena, secret, "data"));
    for (size_t i = 0; i < plain->object.count; i++)
        json_set(arena, data, plain->object.members[i].key,
                 json_new_str(arena, api_base64_encode(arena, json_str(plain->object.members[i].value))));
    return api_with(arena, api_with(arena, secret, "stringData", NULL), "data", data);
}

/* ---- Pods ---- */

/* A limit without a request is also the request. */
static const struct json *default_requests(struct arena *arena, const struct json *resources)
{
    const struct json *limits = api_get(resources, "limits");
    if (!json_is(limits, JSON_OBJECT))
        return resources;
    const struct json *requests = part(arena, resources, "requests");
    struct api_change change = { .arena = arena, .object = requests };
    for (size_t i = 0; i < limits->object.count; i++) {
        const struct json_member *limit = &limits->object.members[i];
        if (!json_get(requests, limit->key))
            api_change_field(&change, limit->key, NULL, limit->value);
    }
    return change.copy ? api_with(arena, resources, "requests", change.copy) : resources;
}

static bool has_latest_tag(struct str image)
{
    ptrdiff_t slash = -1, colon = -1;
    for (size_t i = 0; i < image.len; i++) {
        slash = image.ptr[i] == '/' ? (ptrdiff_t)i : slash;
        colon = image.ptr[i] == ':' ? (ptrdiff_t)i : colon;
    }
    return (colon <= slash && str_find_byte(image, '@') < 0) || str_ends_with(image, STR(":latest"));
}

static const struct json *default_container(struct arena *arena, const struct json *container)
{
    struct str image = api_get_str(container, "image");
    container =
        api_with(arena, container, "resources", default_requests(arena, part(arena, container, "resources")));
    container = with_default_str(arena, container, "terminationMessagePath", "/dev/termination-log");
    container = with_default_str(arena, container, "terminationMessagePolicy", "File");
    return with_default_str(arena, container, "imagePullPolicy",
                            has_latest_tag(image) ? "Always" : "IfNotPresent");
}

static const struct json *default_containers(struct arena *arena, const struct json *spec, const char *key)
{
    const struct json *list = api_get(spec, key);
    if (!json_is(list, JSON_ARRAY))
        return spec;
    struct json *out = api_array(arena);
    for (size_t i = 0; i < list->array.count; i++)
        json_push(arena, out, default_container(arena, list->array.items[i]));
    return api_with(arena, spec, key, out);
}

static const struct json *default_pod_spec(struct arena *arena, const struct json *spec)
{
    spec = default_containers(arena, spec, "containers");
    spec = default_containers(arena, spec, "initContainers");
    spec = with_default_str(arena, spec, "restartPolicy", "Always");
    spec = with_default_i64(arena, spec, "terminationGracePeriodSeconds", 30);
    spec = with_default_str(arena, spec, "dnsPolicy", "ClusterFirst");
    spec = with_default(arena, spec, "securityContext", api_object(arena));
    return with_default_str(arena, spec, "schedulerName", "default-scheduler");
}

static const struct json *default_pod(struct arena *arena, const struct json *pod)
{
    const struct json *spec = default_pod_spec(arena, part(arena, pod, "spec"));
    const struct json *status = with_default_str(arena, part(arena, pod, "status"), "phase", "Pending");
    status = with_default(arena, status, "qosClass", json_new_str(arena, api_pod_qos(spec)));
    return api_with(arena, api_with(arena, pod, "spec", spec), "status", status);
}

static const struct json *default_workload(struct arena *arena, const struct json *workload)
{
    const struct json *spec = part(arena, workload, "spec"), *template = api_get(spec, "template");
    if (template) {
        template = api_with(arena, template, "spec", default_pod_spec(arena, part(arena, template, "spec")));
        spec = api_with(arena, spec, "template", template);
    }
    if (!str_eq(api_get_str(workload, "kind"), STR("DaemonSet")))
        spec = with_default_i64(arena, spec, "replicas", 1);
    return api_with(arena, workload, "spec", spec);
}

static const struct {
    const char *kind;
    const struct json *(*apply)(struct arena *arena, const struct json *object);
} defaults[] = {
    { "Node", default_node },           { "Namespace", default_namespace },
    { "Secret", default_secret },       { "Pod", default_pod },
    { "Deployment", default_workload }, { "DaemonSet", default_workload },
    { "ReplicaSet", default_workload },
};

const struct json *api_defaults(struct arena *arena, const struct api_resource *resource,
                                const struct json *object)
{
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        if (str_eq(str_c(defaults[i].kind), resource->kind))
            return defaults[i].apply(arena, object);
    return object;
}
