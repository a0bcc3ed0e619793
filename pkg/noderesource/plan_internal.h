#pragma once
/* Between the frame of a plan (plan.c), the plugins, and the decision to write (send.c).
 *
 * A plugin is a row of noderesource_plugin_table and a file of its own; its `plan`
 * function adds entries and metas to the plan. */
#include "noderesource/plan.h"

/* What is to be done with the keys of a tier, which lends on the word of a report. */
struct verdict {
    enum noderesource_reason reason;
    enum { VERDICT_KEEP, VERDICT_REMOVE, VERDICT_CALCULATE, VERDICT_CALCULATE_NO_RAISE } action;
};

/* One node being planned. */
struct planning {
    const struct noderesource_input *in;
    struct noderesource_plan *plan;
    struct arena *arena;

    /* Found when first asked for. */
    bool judged;
    struct verdict verdict;
    bool has_reserved;
    struct amounts reserved; /* by annotation */

    /* Left by the plugins that work first for those that follow. */
    int64_t normalization_hundredths; /* CPU normalization of this round; 0: not computed */
};

/* Colocation is on for this node; false while nothing is known too. */
bool planning_enabled(const struct planning *planning);
/* No policy is known to be right: leave everything as it is. */
static inline bool planning_holds(const struct planning *planning)
{
    return planning->in->strategy == NULL;
}

/* A new entry of the plan, with what stands there now. */
struct noderesource_entry *planning_entry(struct planning *planning, enum owned_resource resource);
void planning_keep(struct noderesource_entry *entry);
/* The value to be, unless this round may not raise what stands. */
void planning_value(struct planning *planning, struct noderesource_entry *entry, int64_t value);
void planning_terms(struct planning *planning, struct noderesource_entry *entry,
                    const struct noderesource_term *terms, size_t count);

/* The two keys of a tier: `calculate` is asked for each when the report may be used. */
void planning_tier(struct planning *planning, enum owned_resource cpu, enum owned_resource memory,
                   void (*calculate)(struct planning *planning, struct noderesource_entry *entry, bool cpu,
                                     void *self),
                   void *self);
struct verdict planning_verdict(struct planning *planning);
bool planning_calculates(struct planning *planning);

/* A new meta; the caller fills in `planned`, and clears `send` where the difference is too
 * small to matter. */
struct noderesource_meta *planning_meta(struct planning *planning, const char *key,
                                        const struct istr *current);
void planning_meta_is(struct noderesource_meta *meta, struct str planned);
void planning_meta_absent(struct noderesource_meta *meta);

/* An annotation of the Node cannot be used. */
void planning_tell(const struct planning *planning, const char *path, const struct istr *value,
                   const struct err *err);

/* --- what a node says, for every tier alike ----------------------------------------- */

static inline __int128 planning_pick(const struct amounts *amounts, bool cpu)
{
    return cpu ? amounts->cpu_nano : amounts->memory_nano;
}
static inline int64_t planning_or(struct opt_i64 value, int64_t otherwise)
{
    return value.set ? value.value : otherwise;
}
/* The reservation annotation; a malformed one is told once and counts as none. */
const struct amounts *planning_reserved(struct planning *planning);
__int128 planning_pod_request(const struct pod *pod, bool cpu);
static inline bool planning_pod_is_live(const struct pod *pod)
{
    return pod->phase == POD_RUNNING || pod->phase == POD_PENDING;
}

/* --- the plugins --------------------------------------------------------------------- */

void mid_plan(struct planning *planning);
void batch_plan(struct planning *planning);
void normalization_plan(struct planning *planning);
void amplification_plan(struct planning *planning);
void gpu_plan(struct planning *planning);
void rdma_plan(struct planning *planning);

/* --- sending ------------------------------------------------------------------------- */

/* Plan again after at most `ms`; the earliest wish wins. */
static inline void plan_recheck(struct noderesource_plan *plan, int64_t ms)
{
    if (plan->recheck_after_ms < 0 || ms < plan->recheck_after_ms)
        plan->recheck_after_ms = max_i64(ms, 0);
}

/* From the planned values: what differs, and whether a running manager writes it now. */
void plan_decide_sending(const struct noderesource_input *in, struct noderesource_plan *plan);
