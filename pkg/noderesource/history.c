#include "noderesource/history.h"
#include "noderesource/plan.h"

/* Names that differ in their last digit must land far apart: FNV alone leaves the high
 * bits of such hashes alike. */
static uint16_t spread_of(struct str name)
{
    uint64_t hash = str_hash(name);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint16_t)(hash >> 48);
}

void node_history_observe(struct node_history *history, struct str node_name, struct mono_time now)
{
    if (history->seen)
        return;
    history->seen = true;
    history->threshold_from = now;
    history->spread = spread_of(node_name);
}

void node_history_planned(struct node_history *history, const struct noderesource_plan *plan)
{
    if (!plan->report.set)
        return;
    if (!history->report.set || plan->report.value.us > history->report.value.us)
        history->report = plan->report;
}

void node_history_written(struct node_history *history, struct mono_time now)
{
    history->seen = true;
    history->threshold_from = now;
    history->spread = 0;
}

/* A century is for ever; more would overflow nanoseconds. */
#define FOREVER_S (INT64_C(100) * 365 * 24 * 3600)

struct mono_time node_history_due(const struct node_history *history, int64_t update_time_threshold_s)
{
    int64_t threshold_ns = min_i64(max_i64(update_time_threshold_s, 0), FOREVER_S) * NS_PER_S;
    int64_t spread_ns = threshold_ns / 2 / 65536 * history->spread;
    return (struct mono_time){ history->threshold_from.ns + threshold_ns + spread_ns };
}
