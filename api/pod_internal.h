#pragma once
/* A Pod as decoded, shared by pod.c (schema and projection), pod_request.c (what it asks
 * for) and pod_class.c (how it counts). Lives in the decoder's arena. */
#include "api/pod.h"

struct pod_resources {
    struct api_resources requests;
    struct api_resources limits;
};

struct pod_container {
    struct pod_resources resources;
    struct str restart_policy; /* "Always" makes an init container a sidecar */
};

struct pod_decoded {
    struct pod_metadata {
        struct meta meta;
        struct pod_labels {
            struct opt_text qos;
            struct opt_text priority;
        } labels;
        struct pod_annotations {
            uint32_t numa_nodes;
        } annotations;
    } metadata;
    struct pod_spec {
        struct opt_i64 priority;
        struct str node_name;
        struct json_items containers;      /* struct pod_container */
        struct json_items init_containers; /* struct pod_container */
        struct api_resources overhead;
        struct pod_resources resources; /* of the pod as a whole */
    } spec;
    struct pod_status {
        struct str phase;
        struct str qos_class;
    } status;
};

/* The effective request: the largest of what runs together, plus overhead; a request of
 * the pod as a whole replaces the sum. */
struct amounts pod_request(const struct pod_spec *spec, const struct json_report *report);

/* The effective request of a limit without one is the limit, as the API server defaults it. */
struct opt_quantity pod_request_or_limit(const struct opt_quantity *request,
                                         const struct opt_quantity *limit);

/* By label, else from Kubernetes' own class. */
enum qos_class pod_qos(const struct pod_decoded *pod);
/* By label, else by spec.priority's band, else from the QoS class. */
enum priority_class pod_priority(const struct pod_decoded *pod, enum qos_class qos);
