#pragma once
/* The Batch tier per NUMA zone, as a NodeResourceTopology tells it to the scheduler. */
#include "noderesource/batch.h"
#include "noderesource/plan_internal.h"

/* Of the higher tiers, Prod and Mid; or of one of their pods. */
struct higher {
    struct amounts request;
    struct amounts used;
    struct amounts max;
};

struct zone {
    const struct json *json; /* as it stands in the topology */
    int64_t id;              /* the NUMA node */
    struct amounts capacity;
    struct higher higher;
};

struct zones {
    struct zone *items;
    size_t count; /* 0: there are no zones to plan */
};

/* None without a topology, or where no zone lists cpu or memory. */
struct zones zones_of(struct planning *planning);
/* Shares what a pod needs among the zones in `numa_nodes`, or among all. */
void zones_add(struct zones *zones, uint32_t numa_nodes, const struct higher *one);
/* An amount in `parts` equal ones, rounded up to thousandths of the unit. */
__int128 zones_share(__int128 nano, size_t parts);

/* The formula for one zone. `node` is the node's own input. */
struct batch_input zones_input(const struct zones *zones, const struct zone *zone,
                               const struct batch_input *node, bool cpu);
/* Adds the zones to the plan; `inputs` are the node's own, memory and cpu, NULL while the
 * report may not be used. */
void zones_plan(struct planning *planning, struct zones *zones, const struct batch_input inputs[2]);
