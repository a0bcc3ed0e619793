#include "test/apiserver/types.h"

#define STRING(name_)                                                                                        \
    {                                                                                                        \
        name_, API_VALUE_STRING, API_SHAPE_ONE, false, NULL                                                  \
    }
#define STRING_SET(name_)                                                                                    \
    {                                                                                                        \
        name_, API_VALUE_STRING, API_SHAPE_ONE, true, NULL                                                   \
    } /* "" is unset */
#define STRINGS(name_)                                                                                       \
    {                                                                                                        \
        name_, API_VALUE_STRING, API_SHAPE_LIST, false, NULL                                                 \
    }
#define STRING_MAP(name_)                                                                                    \
    {                                                                                                        \
        name_, API_VALUE_STRING, API_SHAPE_MAP, false, NULL                                                  \
    }
#define BOOL(name_)                                                                                          \
    {                                                                                                        \
        name_, API_VALUE_BOOL, API_SHAPE_ONE, false, NULL                                                    \
    }
#define BOOL_SET(name_)                                                                                      \
    {                                                                                                        \
        name_, API_VALUE_BOOL, API_SHAPE_ONE, true, NULL                                                     \
    }
#define INT32(name_)                                                                                         \
    {                                                                                                        \
        name_, API_VALUE_INT32, API_SHAPE_ONE, false, NULL                                                   \
    }
#define INT64(name_)                                                                                         \
    {                                                                                                        \
        name_, API_VALUE_INT64, API_SHAPE_ONE, false, NULL                                                   \
    }
#define TIME(name_)                                                                                          \
    {                                                                                                        \
        name_, API_VALUE_TIME, API_SHAPE_ONE, false, NULL                                                    \
    }
#define MICROTIME(name_)                                                                                     \
    {                                                                                                        \
        name_, API_VALUE_MICROTIME, API_SHAPE_ONE, false, NULL                                               \
    }
#define QUANTITY(name_)                                                                                      \
    {                                                                                                        \
        name_, API_VALUE_QUANTITY, API_SHAPE_ONE, false, NULL                                                \
    }
#define QUANTITIES(name_)                                                                                    \
    {                                                                                                        \
        name_, API_VALUE_QUANTITY, API_SHAPE_MAP, false, NULL                                                \
    }
#define BYTES_MAP(name_)                                                                                     \
    {                                                                                                        \
        name_, API_VALUE_BYTES, API_SHAPE_MAP, false, NULL                                                   \
    }
#define ANY(name_)                                                                                           \
    {                                                                                                        \
        name_, API_VALUE_ANY, API_SHAPE_ONE, false, NULL                                                     \
    }
#define INT_OR_STRING(name_)                                                                                 \
    {                                                                                                        \
        name_, API_VALUE_INT_OR_STRING, API_SHAPE_ONE, false, NULL                                           \
    }
#define ONE(name_, type_)                                                                                    \
    {                                                                                                        \
        name_, API_VALUE_OBJECT, API_SHAPE_ONE, false, &(type_)                                              \
    }
#define LIST(name_, type_)                                                                                   \
    {                                                                                                        \
        name_, API_VALUE_OBJECT, API_SHAPE_LIST, false, &(type_)                                             \
    }

#define CLOSED(name_, ...)                                                                                   \
    static const struct api_type_field name_##_fields[] = { __VA_ARGS__ };                                   \
    static const struct api_type name_ = { name_##_fields, ARRAY_LEN(name_##_fields), false }
#define OPEN(name_, ...)                                                                                     \
    static const struct api_type_field name_##_fields[] = { __VA_ARGS__ };                                   \
    static const struct api_type name_ = { name_##_fields, ARRAY_LEN(name_##_fields), true }

/* clang-format off */

/* ---- metadata ---- */

CLOSED(owner_reference,
    STRING("apiVersion"), STRING("kind"), STRING("name"), STRING("uid"), BOOL("controller"),
    BOOL("blockOwnerDeletion"));
CLOSED(managed_fields,
    STRING("manager"), STRING("operation"), STRING("apiVersion"), TIME("time"), STRING("fieldsType"),
    ANY("fieldsV1"), STRING_SET("subresource"));
static const struct api_type_field metadata_fields[] = {
    STRING("name"), STRING_SET("generateName"), STRING_SET("namespace"), STRING_SET("selfLink"), STRING_SET("uid"),
    STRING_SET("resourceVersion"), INT64("generation"), TIME("creationTimestamp"), TIME("deletionTimestamp"),
    INT64("deletionGracePeriodSeconds"), STRING_MAP("labels"), STRING_MAP("annotations"),
    LIST("ownerReferences", owner_reference), STRINGS("finalizers"), LIST("managedFields", managed_fields),
};
const struct api_type api_type_metadata = { metadata_fields, ARRAY_LEN(metadata_fields), false };

#define ROOT STRING("apiVersion"), STRING("kind"), ONE("metadata", api_type_metadata)

OPEN(condition,
    STRING("type"), STRING("status"), TIME("lastHeartbeatTime"), TIME("lastProbeTime"), TIME("lastUpdateTime"),
    TIME("lastTransitionTime"), STRING("reason"), STRING("message"));
CLOSED(object_reference,
    STRING_SET("kind"), STRING_SET("namespace"), STRING_SET("name"), STRING_SET("uid"), STRING_SET("apiVersion"),
    STRING_SET("resourceVersion"), STRING_SET("fieldPath"));

/* ---- configuration ---- */

CLOSED(config_map, ROOT, STRING_MAP("data"), BYTES_MAP("binaryData"), BOOL("immutable"));
CLOSED(secret, ROOT, BYTES_MAP("data"), STRING_MAP("stringData"), STRING("type"), BOOL("immutable"));

OPEN(namespace_spec, STRINGS("finalizers"));
OPEN(namespace_status, STRING("phase"), LIST("conditions", condition));
CLOSED(namespace, ROOT, ONE("spec", namespace_spec), ONE("status", namespace_status));

/* ---- leases and events ---- */

CLOSED(lease_spec,
    STRING("holderIdentity"), INT32("leaseDurationSeconds"), MICROTIME("acquireTime"), MICROTIME("renewTime"),
    INT32("leaseTransitions"), STRING("strategy"), STRING("preferredHolder"));
CLOSED(lease, ROOT, ONE("spec", lease_spec));

CLOSED(event_source, STRING_SET("component"), STRING_SET("host"));
CLOSED(event_series, INT32("count"), MICROTIME("lastObservedTime"));
CLOSED(event_core,
    ROOT, ONE("involvedObject", object_reference), STRING_SET("reason"), STRING_SET("message"),
    ONE("source", event_source), TIME("firstTimestamp"), TIME("lastTimestamp"), INT32("count"), STRING_SET("type"),
    MICROTIME("eventTime"), ONE("series", event_series), STRING_SET("action"), ONE("related", object_reference),
    STRING("reportingComponent"), STRING("reportingInstance"));
CLOSED(event_new,
    ROOT, ONE("regarding", object_reference), STRING_SET("reason"), STRING_SET("note"),
    ONE("deprecatedSource", event_source), TIME("deprecatedFirstTimestamp"), TIME("deprecatedLastTimestamp"),
    INT32("deprecatedCount"), STRING_SET("type"), MICROTIME("eventTime"), ONE("series", event_series),
    STRING_SET("action"), ONE("related", object_reference), STRING_SET("reportingController"),
    STRING_SET("reportingInstance"));

/* ---- nodes ---- */

CLOSED(taint, STRING("key"), STRING_SET("value"), STRING("effect"), TIME("timeAdded"));
CLOSED(node_spec,
    STRING_SET("podCIDR"), STRINGS("podCIDRs"), STRING_SET("providerID"), BOOL_SET("unschedulable"),
    LIST("taints", taint), ANY("configSource"), STRING_SET("externalID"));
CLOSED(node_address, STRING("type"), STRING("address"));
CLOSED(node_image, STRINGS("names"), INT64("sizeBytes"));
OPEN(node_info,
    STRING("machineID"), STRING("systemUUID"), STRING("bootID"), STRING("kernelVersion"), STRING("osImage"),
    STRING("containerRuntimeVersion"), STRING("kubeletVersion"), STRING("kubeProxyVersion"),
    STRING("operatingSystem"), STRING("architecture"));
CLOSED(node_status,
    QUANTITIES("capacity"), QUANTITIES("allocatable"), STRING_SET("phase"), LIST("conditions", condition),
    LIST("addresses", node_address), ANY("daemonEndpoints"), ONE("nodeInfo", node_info),
    LIST("images", node_image), STRINGS("volumesInUse"), ANY("volumesAttached"), ANY("config"),
    ANY("runtimeHandlers"), ANY("features"), ANY("declaredFeatures"));
CLOSED(node, ROOT, ONE("spec", node_spec), ONE("status", node_status));

/* ---- pods and what makes them ---- */

OPEN(resource_requirements, QUANTITIES("limits"), QUANTITIES("requests"));
OPEN(env_var, STRING("name"), STRING_SET("value"));
OPEN(container_port, STRING("name"), INT32("containerPort"), INT32("hostPort"), STRING("protocol"));
OPEN(container,
    STRING("name"), STRING("image"), STRINGS("command"), STRINGS("args"), LIST("env", env_var),
    LIST("ports", container_port), ONE("resources", resource_requirements));
OPEN(toleration,
    STRING("key"), STRING("operator"), STRING("value"), STRING("effect"), INT64("tolerationSeconds"));
OPEN(empty_dir, STRING_SET("medium"), QUANTITY("sizeLimit"));
OPEN(volume, STRING("name"), ONE("emptyDir", empty_dir));
OPEN(pod_spec,
    LIST("containers", container), LIST("initContainers", container), LIST("ephemeralContainers", container),
    LIST("volumes", volume), LIST("tolerations", toleration), STRING_MAP("nodeSelector"), STRING_SET("nodeName"),
    STRING("schedulerName"), STRING("restartPolicy"), STRING("priorityClassName"), INT32("priority"),
    INT64("terminationGracePeriodSeconds"), INT64("activeDeadlineSeconds"), QUANTITIES("overhead"),
    ONE("resources", resource_requirements), BOOL_SET("hostNetwork"));
OPEN(container_status,
    STRING("name"), BOOL("ready"), INT32("restartCount"), STRING("image"), QUANTITIES("allocatedResources"),
    ONE("resources", resource_requirements));
OPEN(pod_status,
    STRING("phase"), LIST("conditions", condition), TIME("startTime"), STRING("podIP"), STRING("hostIP"),
    STRING("reason"), STRING("message"), LIST("containerStatuses", container_status),
    LIST("initContainerStatuses", container_status));
CLOSED(pod, ROOT, ONE("spec", pod_spec), ONE("status", pod_status));

OPEN(pod_template, ONE("metadata", api_type_metadata), ONE("spec", pod_spec));
OPEN(workload_spec, INT32("replicas"), INT32("minReadySeconds"), ONE("template", pod_template));
OPEN(workload_status,
    INT64("observedGeneration"), INT32("replicas"), INT32("updatedReplicas"), INT32("readyReplicas"),
    INT32("availableReplicas"), LIST("conditions", condition));
CLOSED(workload, ROOT, ONE("spec", workload_spec), ONE("status", workload_status));

OPEN(service_port, STRING("name"), INT32("port"), INT_OR_STRING("targetPort"), INT32("nodePort"));
OPEN(service_spec, LIST("ports", service_port), STRING_MAP("selector"), STRING("clusterIP"), STRING("type"));
CLOSED(service, ROOT, ONE("spec", service_spec), ANY("status"));

OPEN(pdb_spec, INT_OR_STRING("minAvailable"), INT_OR_STRING("maxUnavailable"));
CLOSED(pdb, ROOT, ONE("spec", pdb_spec), ANY("status"));

/* ---- everything else: metadata is checked, the rest is kept ---- */

OPEN(other, ROOT);

/* clang-format on */

static const struct {
    const char *group; /* NULL: any */
    const char *kind;
    const struct api_type *type;
} kinds[] = {
    { "", "Node", &node },
    { "", "Pod", &pod },
    { "", "ConfigMap", &config_map },
    { "", "Secret", &secret },
    { "", "Namespace", &namespace },
    { "", "Event", &event_core },
    { "", "Service", &service },
    { "events.k8s.io", "Event", &event_new },
    { "coordination.k8s.io", "Lease", &lease },
    { "apps", "Deployment", &workload },
    { "apps", "DaemonSet", &workload },
    { "apps", "ReplicaSet", &workload },
    { "policy", "PodDisruptionBudget", &pdb },
};

const struct api_type *api_type_of(const struct api_resource *resource)
{
    if (resource->custom)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(str_c(kinds[i].group), resource->group) && str_eq(str_c(kinds[i].kind), resource->kind))
            return kinds[i].type;
    return &other;
}
