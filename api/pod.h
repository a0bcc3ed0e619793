#pragma once
#include "api/kind.h"

extern const struct kube_kind pod_kind;

/* Koordinator's priority classes, from lent to lender. */
enum priority_class { PRIORITY_FREE, PRIORITY_BATCH, PRIORITY_MID, PRIORITY_PROD };
enum qos_class { QOS_BE, QOS_LS, QOS_LSR, QOS_LSE, QOS_SYSTEM };
enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

/* "koord-prod", ... An unknown name gives PRIORITY_PROD with *known false: who counts
 * bytes decides what an unknown class means. */
enum priority_class priority_class_from_name(struct str name, bool *known);
const char *priority_class_name(enum priority_class priority);

/* What we keep of a Pod. Requests are the effective ones (containers, init steps,
 * restartable init containers, overhead, pod-level resources), rounded up and clamped. */
struct pod {
    struct kube_object object;
    const struct istr *node_name; /* NULL while unscheduled */
    int64_t cpu_request_nano;
    int64_t memory_request_milli; /* thousandths of a byte */
    uint8_t priority;             /* enum priority_class */
    uint8_t qos;                  /* enum qos_class */
    uint8_t phase;                /* enum pod_phase */
    uint32_t numa_nodes;          /* bit per NUMA node (below 32) its resources are bound to; 0: none known */
};

static inline const struct pod *pod_of(const struct kube_object *object)
{
    return (const struct pod *)(const void *)object;
}
