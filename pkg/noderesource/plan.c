/* What the keys of one node should be. Whether they are written now is send.c's. */
#include "noderesource/plan_internal.h"
#include "noderesource/annotation.h"

enum {
    DEFAULT_DEGRADE_MINUTES = 15,
    DEFAULT_REPORT_INTERVAL_S = 60,
    NANO_PER_MILLI = 1000000,
};

#define US_PER_MS INT64_C(1000)
#define MS_PER_S INT64_C(1000)
#define US_PER_MINUTE (INT64_C(60) * US_PER_S)
/* Longer than any two times apart; no sum with it overflows. */
#define AGES_US (INT64_C(1) << 61)

/* --- may the report be believed? ------------------------------------------------------ */

static int64_t degrade_us(const struct strategy *strategy)
{
    int64_t minutes = max_i64(planning_or(strategy->degrade_minutes, DEFAULT_DEGRADE_MINUTES), 0);
    return minutes > AGES_US / US_PER_MINUTE ? AGES_US : minutes * US_PER_MINUTE;
}

/* After a gap of more than one report interval the agents get one more to catch up.
 * Milliseconds left of it; 0: none. */
static int64_t grace_left_ms(const struct noderesource_input *in)
{
    int64_t interval_s =
        max_i64(planning_or(in->strategy->metric_report_interval_s, DEFAULT_REPORT_INTERVAL_S), 0);
    int64_t interval_ms = min_i64(interval_s, INT64_MAX / MS_PER_S) * MS_PER_S;
    if (in->feed.gap_ms <= interval_ms)
        return 0;
    int64_t since_ms = mono_ms_between(in->feed.live_since, in->mono);
    return since_ms > interval_ms ? 0 : interval_ms - since_ms + 1;
}

/* Silence means something only while we would have heard. */
static bool silence_counts(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    if (!in->feed.live)
        return false;
    int64_t left_ms = grace_left_ms(in);
    if (left_ms > 0)
        plan_recheck(plan, left_ms);
    return left_ms == 0;
}

/* No usable report at all: without one there is nothing to calculate from either. */
static struct verdict judge_silence(const struct noderesource_input *in, enum noderesource_reason reason,
                                    struct noderesource_plan *plan)
{
    if (!silence_counts(in, plan))
        return (struct verdict){ NODERESOURCE_FEED_DOWN, VERDICT_KEEP };
    plan->degraded = true;
    return (struct verdict){ reason, VERDICT_REMOVE };
}

static struct verdict judge_stale(const struct noderesource_input *in, enum noderesource_reason reason,
                                  struct noderesource_plan *plan)
{
    if (!silence_counts(in, plan))
        return (struct verdict){ NODERESOURCE_FEED_DOWN, VERDICT_CALCULATE_NO_RAISE };
    plan->degraded = true;
    return (struct verdict){ reason, VERDICT_REMOVE };
}

static struct verdict judge_report(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    struct wall_time reported = in->metric->update_time.value;
    int64_t limit_us = degrade_us(in->strategy);
    int64_t age_us = in->now.us - reported.us;
    if (age_us > limit_us)
        return judge_stale(in, NODERESOURCE_STALE, plan);
    if (-age_us > limit_us) {
        plan_recheck(plan, (-age_us - limit_us) / US_PER_MS + 1);
        return judge_stale(in, NODERESOURCE_FROM_FUTURE, plan);
    }
    plan->skewed = age_us < 0;
    plan->report = in->metric->update_time;
    plan_recheck(plan, (limit_us - age_us) / US_PER_MS + 1);
    const struct node_history *history = in->history;
    if (history && history->report.set && reported.us < history->report.value.us)
        return (struct verdict){ NODERESOURCE_OLDER_REPORT, VERDICT_CALCULATE_NO_RAISE };
    return (struct verdict){ NODERESOURCE_CALCULATED, VERDICT_CALCULATE };
}

static struct verdict judge(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    if (!in->strategy)
        return (struct verdict){ NODERESOURCE_CONFIG_REJECTED, VERDICT_KEEP };
    if (!in->cluster_enabled || !in->strategy->enable.value)
        return (struct verdict){ NODERESOURCE_DISABLED, VERDICT_REMOVE };
    if (!in->metric)
        return judge_silence(in, NODERESOURCE_NO_METRIC, plan);
    if (!in->metric->update_time.set)
        return judge_silence(in, NODERESOURCE_NEVER_REPORTED, plan);
    return judge_report(in, plan);
}

bool planning_enabled(const struct planning *planning)
{
    const struct noderesource_input *in = planning->in;
    return in->strategy && in->cluster_enabled && in->strategy->enable.value;
}

struct verdict planning_verdict(struct planning *planning)
{
    if (!planning->judged)
        planning->verdict = judge(planning->in, planning->plan);
    planning->judged = true;
    return planning->verdict;
}

bool planning_calculates(struct planning *planning)
{
    struct verdict verdict = planning_verdict(planning);
    return verdict.action == VERDICT_CALCULATE || verdict.action == VERDICT_CALCULATE_NO_RAISE;
}

/* --- what a node says ------------------------------------------------------------------ */

void planning_tell(const struct planning *planning, const char *path, const struct istr *value,
                   const struct err *err)
{
    const struct json_report *report = planning->in->report;
    if (report && report->mismatch)
        report->mismatch(report->self, str_c(path), istr_str(value), err->text);
}

const struct amounts *planning_reserved(struct planning *planning)
{
    const struct istr *text = planning->in->node->reservation;
    struct err err = ERR_INIT;
    if (!planning->has_reserved && text &&
        !noderesource_reservation_parse(planning->arena, istr_str(text), &planning->reserved, &err))
        planning_tell(planning, "metadata.annotations.node.koordinator.sh/reservation", text, &err);
    planning->has_reserved = true;
    return &planning->reserved;
}

__int128 planning_pod_request(const struct pod *pod, bool cpu)
{
    return cpu ? pod->cpu_request_nano : (__int128)pod->memory_request_milli * NANO_PER_MILLI;
}

/* --- values ---------------------------------------------------------------------------- */

static struct noderesource_current current_of(const struct node_resources *map, enum owned_resource resource)
{
    return (struct noderesource_current){
        .set = map->owned[resource].set,
        .readable = map->owned[resource].readable,
        .nano = map->owned[resource].nano,
    };
}

struct noderesource_entry *planning_entry(struct planning *planning, enum owned_resource resource)
{
    struct noderesource_entry *entry = &planning->plan->entries[planning->plan->count++];
    *entry = (struct noderesource_entry){
        .resource = resource,
        .allocatable = current_of(&planning->in->node->allocatable, resource),
        .capacity = current_of(&planning->in->node->capacity, resource),
    };
    return entry;
}

void planning_keep(struct noderesource_entry *entry)
{
    const struct noderesource_current *current = &entry->allocatable;
    __int128 whole = current->nano / API_NANO_PER_UNIT;
    entry->keep = true;
    entry->planned = (struct opt_i64){ 0 };
    if (current->set && current->readable && current->nano % API_NANO_PER_UNIT == 0 && whole >= INT64_MIN &&
        whole <= INT64_MAX)
        entry->planned = (struct opt_i64){ .set = true, .value = (int64_t)whole };
}

void planning_value(struct planning *planning, struct noderesource_entry *entry, int64_t value)
{
    const struct noderesource_current *current = &entry->allocatable;
    bool lowers = current->set && current->readable && (__int128)value * API_NANO_PER_UNIT < current->nano;
    if (planning_verdict(planning).action == VERDICT_CALCULATE || lowers)
        entry->planned = (struct opt_i64){ .set = true, .value = value };
    else
        planning_keep(entry);
}

void planning_terms(struct planning *planning, struct noderesource_entry *entry,
                    const struct noderesource_term *terms, size_t count)
{
    entry->terms = arena_array(planning->arena, struct noderesource_term, count);
    memcpy(entry->terms, terms, count * sizeof *terms);
    entry->term_count = count;
}

void planning_tier(struct planning *planning, enum owned_resource cpu, enum owned_resource memory,
                   void (*calculate)(struct planning *planning, struct noderesource_entry *entry, bool cpu,
                                     void *self),
                   void *self)
{
    struct verdict verdict = planning_verdict(planning);
    for (int i = 0; i < 2; i++) {
        struct noderesource_entry *entry = planning_entry(planning, i == 0 ? cpu : memory);
        entry->reason = verdict.reason;
        if (planning_calculates(planning))
            calculate(planning, entry, i == 0, self);
        else if (verdict.action == VERDICT_KEEP)
            planning_keep(entry);
        planning->plan->saturated |= entry->saturated;
    }
}

/* --- annotations and labels ------------------------------------------------------------ */

struct noderesource_meta *planning_meta(struct planning *planning, const char *key,
                                        const struct istr *current)
{
    struct noderesource_meta *meta = &planning->plan->metas[planning->plan->meta_count++];
    *meta = (struct noderesource_meta){ .key = key,
                                        .current = { .set = current != NULL, .value = istr_str(current) } };
    return meta;
}

void planning_meta_is(struct noderesource_meta *meta, struct str planned)
{
    meta->planned = (struct opt_str){ .set = true, .value = planned };
    meta->write = meta->send = !meta->current.set || !str_eq(meta->current.value, planned);
}

void planning_meta_absent(struct noderesource_meta *meta)
{
    meta->write = meta->send = meta->current.set;
}

/* --- the plan -------------------------------------------------------------------------- */

/* The ratios first: what a tier gives depends on them. Entries come out in the order of
 * enum owned_resource. */
static const enum noderesource_plugin working_order[] = {
    NODERESOURCE_CPU_NORMALIZATION,
    NODERESOURCE_AMPLIFICATION,
    NODERESOURCE_MID,
    NODERESOURCE_BATCH,
    NODERESOURCE_GPU,
    NODERESOURCE_RDMA,
};

void noderesource_plan_make(const struct noderesource_input *in, struct arena *arena,
                            struct noderesource_plan *ret)
{
    *ret = (struct noderesource_plan){ .wait_ms = -1, .recheck_after_ms = -1 };
    if (!in->node->capacity.present || !in->node->allocatable.present)
        return;
    struct planning planning = { .in = in, .plan = ret, .arena = arena };
    for (size_t i = 0; i < ARRAY_LEN(working_order); i++) {
        const struct noderesource_plugin_info *plugin = &noderesource_plugin_table[working_order[i]];
        if (in->plugins->active[working_order[i]] && plugin->built)
            plugin->plan(&planning);
    }
    plan_decide_sending(in, ret);
}
