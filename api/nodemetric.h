#pragma once
/* slo.koordinator.sh/v1alpha1 NodeMetric: what the agent reports of one node. */
#include "api/kind.h"

extern const struct kube_kind nodemetric_kind;

/* The part of spec that the manager owns. Texts are interned. */
struct nodemetric_spec {
    struct opt_i64 aggregate_duration_s;
    struct opt_i64 report_interval_s;
    const struct istr *durations;             /* canonical JSON list: ["5m0s","10m0s"]; NULL when absent */
    const struct istr *memory_collect_policy; /* NULL when absent */
    bool has_predict_policy;
    struct opt_i64 predict_diff_percent;
    struct opt_i64 predict_cold_start_s;
};

/* A pod's namespace and name in 16 bytes; no two pods have the same. */
struct pod_id {
    uint64_t half[2];
};
struct pod_id pod_id_of(struct str ns, struct str name);
int pod_id_order(struct pod_id a, struct pod_id b);

/* What one pod uses. There are as many of these as pods in the cluster, hence 40 bytes. */
struct pod_metric {
    struct pod_id id;
    int64_t cpu_nano;
    int64_t memory_milli; /* thousandths of a byte, rounded up */
    bool has_cpu;
    bool has_memory;
    bool lent; /* its class is koord-batch or koord-free; any other, or none, counts as a higher tier */
    uint8_t unused[5];
};
_Static_assert(sizeof(struct pod_metric) == 40, "no padding: rows are compared as bytes");

/* What we keep of a NodeMetric. */
struct nodemetric {
    struct kube_object object;
    int64_t generation;
    struct nodemetric_spec spec;

    struct opt_time update_time; /* unset: never reported, or unreadable */
    bool has_node_metric;        /* status.nodeMetric exists */
    struct amounts node_usage;
    struct amounts system_usage;
    struct amounts host_prod;   /* host applications of class koord-prod, summed */
    struct amounts host_mid;    /* of class koord-mid */
    bool has_reclaimable;       /* status.prodReclaimableMetric.resource exists */
    struct amounts reclaimable; /* as written; may be negative */
    uint32_t pod_count;
    struct pod_metric pods[]; /* sorted by id, each pod once; of a pod given twice the larger amounts */
};

/* Position of the pod's row, or -1. */
ptrdiff_t nodemetric_find_pod(const struct nodemetric *metric, struct pod_id id);

static inline const struct nodemetric *nodemetric_of(const struct kube_object *object)
{
    return (const struct nodemetric *)(const void *)object;
}
