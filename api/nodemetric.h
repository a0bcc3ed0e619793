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
};

static inline const struct nodemetric *nodemetric_of(const struct kube_object *object)
{
    return (const struct nodemetric *)(const void *)object;
}
