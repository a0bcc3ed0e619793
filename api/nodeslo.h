#pragma once
/* slo.koordinator.sh/v1alpha1 NodeSLO: what the agent is to do on one node. */
#include "api/kind.h"

extern const struct kube_kind nodeslo_kind;

/* What we keep of a NodeSLO. */
struct nodeslo {
    struct kube_object object;
    /* spec as JSON, without `extensions`, which are other people's; NULL when absent. Nodes
     * with one policy share one text. */
    const struct istr *spec;
};

static inline const struct nodeslo *nodeslo_of(const struct kube_object *object)
{
    return (const struct nodeslo *)(const void *)object;
}
