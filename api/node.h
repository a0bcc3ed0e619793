#pragma once
#include "api/kind.h"
#include "selector/selector.h"

extern const struct kube_kind node_kind;

/* The extended resources this suite may own on a Node. Order is the order of output. */
enum owned_resource {
    OWNED_MID_CPU,
    OWNED_MID_MEMORY,
    OWNED_BATCH_CPU,
    OWNED_BATCH_MEMORY,
    OWNED_GPU,
    OWNED_GPU_SHARED,
    OWNED_GPU_CORE,
    OWNED_GPU_MEMORY,
    OWNED_GPU_MEMORY_RATIO,
    OWNED_NPU_CORE,
    OWNED_NPU_CPU,
    OWNED_NPU_DVPP,
    OWNED_RDMA,
    OWNED_COUNT,
};
/* "kubernetes.io/mid-cpu", ... */
extern const struct str owned_resource_names[OWNED_COUNT];

/* One of the maps status.capacity and status.allocatable. */
struct node_resources {
    bool present; /* the map exists and is not empty */
    struct amounts amounts;
    struct {
        bool set;
        bool readable; /* false: something stands there that is no quantity */
        __int128 nano;
    } owned[OWNED_COUNT];
};

/* What we keep of a Node. */
struct node {
    struct kube_object object;
    struct node_resources capacity;
    struct node_resources allocatable;
    /* Annotations as written; NULL when absent. */
    const struct istr *colocation_strategy; /* node.koordinator.sh/colocation-strategy */
    const struct istr *reservation;         /* node.koordinator.sh/reservation */
    const struct istr *raw_allocatable;     /* node.koordinator.sh/raw-allocatable */
    const struct istr *third_party;         /* node.koordinator.sh/thirdPartyAllocations */
    const struct istr *origin_extended;     /* node.koordinator.sh/originExtendedAllocatable */
    const struct istr *cpu_normalization;   /* node.koordinator.sh/cpu-normalization-ratio */
    const struct istr *amplification;       /* node.koordinator.sh/resource-amplification-ratio */
    const struct istr *network_bandwidth;   /* node.koordinator.sh/network-bandwidth */
    uint32_t label_count;
    struct node_label {
        const struct istr *key;
        const struct istr *value;
    } labels[]; /* sorted by key */
};

/* The labels as slices, in the caller's arena. */
struct labels node_labels(const struct node *node, struct arena *arena);
/* Empty and *found (may be NULL) false when absent. */
struct str node_label(const struct node *node, struct str key, bool *found);

static inline const struct node *node_of(const struct kube_object *object)
{
    return (const struct node *)(const void *)object;
}
