#pragma once
/* Between the value of a plan (plan.c) and the decision to write it (send.c). */
#include "noderesource/plan.h"

/* Plan again after at most `ms`; the earliest wish wins. */
static inline void plan_recheck(struct noderesource_plan *plan, int64_t ms)
{
    if (plan->recheck_after_ms < 0 || ms < plan->recheck_after_ms)
        plan->recheck_after_ms = max_i64(ms, 0);
}

/* From the planned values: what differs, and whether a running manager writes it now. */
void plan_decide_sending(const struct noderesource_input *in, struct noderesource_plan *plan);
