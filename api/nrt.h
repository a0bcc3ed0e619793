#pragma once
/* topology.node.k8s.io/v1alpha1 NodeResourceTopology: the NUMA zones of one node. */
#include "api/kind.h"

extern const struct kube_kind nrt_kind;

/* What we keep of one. A change of zones is written as the whole list, so the list is kept
 * whole. */
struct nrt {
    struct kube_object object;
    const struct istr *cpu_basic_info; /* annotation node.koordinator.sh/cpu-basic-info; NULL when absent */
    const struct istr *zones;          /* JSON array; NULL when absent */
};

static inline const struct nrt *nrt_of(const struct kube_object *object)
{
    return (const struct nrt *)(const void *)object;
}
