/* What the keys of one node should be. Whether they are written now is send.c's. */
#include "noderesource/plan_internal.h"
#include "noderesource/annotation.h"

enum {
    DEFAULT_DEGRADE_MINUTES = 15,
    DEFAULT_REPORT_INTERVAL_S = 60,
    DEFAULT_THRESHOLD_PERCENT = 100,
    CPU_UNIT_NANO = 1000000, /* a milli-core */
};

#define US_PER_MS INT64_C(1000)
#define MS_PER_S INT64_C(1000)
#define US_PER_MINUTE (INT64_C(60) * US_PER_S)
/* Longer than any two times apart; no sum with it overflows. */
#define AGES_US (INT64_C(1) << 61)

static int64_t or_default(struct opt_i64 value, int64_t otherwise)
{
    return value.set ? value.value : otherwise;
}

/* --- may the report be believed? ------------------------------------------------------ */

/* What is to be done with every key of the node. */
struct verdict {
    enum noderesource_reason reason;
    enum { KEEP, REMOVE, CALCULATE, CALCULATE_NO_RAISE } action;
};

static int64_t degrade_us(const struct strategy *strategy)
{
    int64_t minutes = max_i64(or_default(strategy->degrade_minutes, DEFAULT_DEGRADE_MINUTES), 0);
    return minutes > AGES_US / US_PER_MINUTE ? AGES_US : minutes * US_PER_MINUTE;
}

/* After a gap of more than one report interval the agents get one more to catch up.
 * Milliseconds left of it; 0: none. */
static int64_t grace_left_ms(const struct noderesource_input *in)
{
    int64_t interval_s =
        max_i64(or_default(in->strategy->metric_report_interval_s, DEFAULT_REPORT_INTERVAL_S), 0);
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
        return (struct verdict){ NODERESOURCE_FEED_DOWN, KEEP };
    plan->degraded = true;
    return (struct verdict){ reason, REMOVE };
}

static struct verdict judge_stale(const struct noderesource_input *in, enum noderesource_reason reason,
                                  struct noderesource_plan *plan)
{
    if (!silence_counts(in, plan))
        return (struct verdict){ NODERESOURCE_FEED_DOWN, CALCULATE_NO_RAISE };
    plan->degraded = true;
    return (struct verdict){ reason, REMOVE };
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
        return (struct verdict){ NODERESOURCE_OLDER_REPORT, CALCULATE_NO_RAISE };
    return (struct verdict){ NODERESOURCE_CALCULATED, CALCULATE };
}

static struct verdict judge(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    if (!in->strategy)
        return (struct verdict){ NODERESOURCE_CONFIG_REJECTED, KEEP };
    if (!in->cluster_enabled || !in->strategy->enable.value)
        return (struct verdict){ NODERESOURCE_DISABLED, REMOVE };
    if (!in->metric)
        return judge_silence(in, NODERESOURCE_NO_METRIC, plan);
    if (!in->metric->update_time.set)
        return judge_silence(in, NODERESOURCE_NEVER_REPORTED, plan);
    return judge_report(in, plan);
}

/* --- the formula's input --------------------------------------------------------------- */

/* What is found once per node. */
struct figures {
    struct amounts reserved;        /* by annotation */
    struct amounts raw_allocatable; /* by annotation */
    struct amounts prod;            /* requests of Prod pods */
    enum mid_mode mode;
};

static void tell(const struct noderesource_input *in, const char *path, const struct istr *value,
                 const struct err *err)
{
    if (in->report && in->report->mismatch)
        in->report->mismatch(in->report->self, str_c(path), istr_str(value), err->text);
}

static struct amounts prod_requests(const struct noderesource_input *in)
{
    struct amounts total = { .has_cpu = true, .has_memory = true };
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *pod = in->pods[i];
        if (pod->priority != PRIORITY_PROD || (pod->phase != POD_RUNNING && pod->phase != POD_PENDING))
            continue;
        total.cpu_nano += pod->cpu_request_nano;
        total.memory_nano += (__int128)pod->memory_request_milli * 1000000;
    }
    return total;
}

static struct figures find_figures(const struct noderesource_input *in, struct arena *scratch,
                                   struct noderesource_plan *plan)
{
    struct figures figures = { .prod = prod_requests(in) };
    const struct node *node = in->node;
    struct err err = ERR_INIT;
    if (node->reservation &&
        !noderesource_reservation_parse(scratch, istr_str(node->reservation), &figures.reserved, &err))
        tell(in, "metadata.annotations.node.koordinator.sh/reservation", node->reservation, &err);
    if (node->raw_allocatable && !noderesource_raw_allocatable_parse(scratch, istr_str(node->raw_allocatable),
                                                                     &figures.raw_allocatable, &err))
        tell(in, "metadata.annotations.node.koordinator.sh/raw-allocatable", node->raw_allocatable, &err);
    bool known;
    struct str mode = in->strategy->mid_reclaim_mode.set ? in->strategy->mid_reclaim_mode.value : STR_NULL;
    figures.mode = mid_mode_from_name(mode, &known);
    plan->unknown_mode = !known;
    return figures;
}

static __int128 pick(const struct amounts *amounts, bool cpu)
{
    return cpu ? amounts->cpu_nano : amounts->memory_nano;
}

/* What can really be lent: amplification lets allocatable say more than there is. */
static __int128 lendable(const struct node *node, const struct amounts *raw, bool cpu)
{
    __int128 allocatable = pick(&node->allocatable.amounts, cpu);
    bool has_raw = cpu ? raw->has_cpu : raw->has_memory;
    return has_raw && pick(raw, cpu) < allocatable ? pick(raw, cpu) : allocatable;
}

static struct mid_input mid_input_for(const struct noderesource_input *in, const struct figures *figures,
                                      bool cpu)
{
    const struct nodemetric *metric = in->metric;
    const struct strategy *strategy = in->strategy;
    return (struct mid_input){
        .mode = figures->mode,
        .unit_nano = cpu ? CPU_UNIT_NANO : API_NANO_PER_UNIT,
        .capacity = pick(&in->node->capacity.amounts, cpu),
        .allocatable = pick(&in->node->allocatable.amounts, cpu),
        .lendable = lendable(in->node, &figures->raw_allocatable, cpu),
        .has_usage = metric->has_node_metric && metric->node_usage.has_cpu && metric->node_usage.has_memory,
        .usage = pick(&metric->node_usage, cpu),
        .system_usage = pick(&metric->system_usage, cpu),
        .host_used = pick(&metric->host_prod, cpu),
        .reserved_by_annotation = pick(&figures->reserved, cpu),
        .prod_allocated = pick(&figures->prod, cpu),
        .reclaimable = metric->has_reclaimable ? pick(&metric->reclaimable, cpu) : 0,
        .threshold_percent = or_default(cpu ? strategy->mid_cpu_percent : strategy->mid_memory_percent,
                                        DEFAULT_THRESHOLD_PERCENT),
        .unallocated_percent = or_default(strategy->mid_unallocated_percent, 0),
        .static_percent =
            or_default(cpu ? strategy->mid_static_cpu_percent : strategy->mid_static_memory_percent, 0),
    };
}

/* --- values ---------------------------------------------------------------------------- */

static void keep(struct noderesource_entry *entry)
{
    const struct noderesource_current *current = &entry->allocatable;
    __int128 whole = current->nano / API_NANO_PER_UNIT;
    entry->keep = true;
    entry->planned = (struct opt_i64){ 0 };
    if (current->set && current->readable && current->nano % API_NANO_PER_UNIT == 0 && whole >= INT64_MIN &&
        whole <= INT64_MAX)
        entry->planned = (struct opt_i64){ .set = true, .value = (int64_t)whole };
}

static void calculate(const struct noderesource_input *in, const struct figures *figures, bool may_raise,
                      struct noderesource_entry *entry)
{
    bool cpu = entry->resource == OWNED_MID_CPU;
    struct mid_input input = mid_input_for(in, figures, cpu);
    struct mid_result result = mid_calculate(&input);
    entry->saturated = result.saturated;
    entry->bound = mid_bound_name(result.bound);
    entry->term_count = mid_terms(&input, &result, cpu, entry->terms);
    const struct noderesource_current *current = &entry->allocatable;
    bool lowers =
        current->set && current->readable && (__int128)result.mid * API_NANO_PER_UNIT < current->nano;
    if (may_raise || lowers)
        entry->planned = (struct opt_i64){ .set = true, .value = result.mid };
    else
        keep(entry);
}

static struct noderesource_current current_of(const struct node_resources *map, enum owned_resource resource)
{
    return (struct noderesource_current){
        .set = map->owned[resource].set,
        .readable = map->owned[resource].readable,
        .nano = map->owned[resource].nano,
    };
}

static void add_entries(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    uint32_t keys = noderesource_plugins_keys(in->plugins);
    for (unsigned i = 0; i < OWNED_COUNT; i++) {
        if (!(keys & 1u << i))
            continue;
        enum owned_resource resource = (enum owned_resource)i;
        plan->entries[plan->count++] = (struct noderesource_entry){
            .resource = resource,
            .allocatable = current_of(&in->node->allocatable, resource),
            .capacity = current_of(&in->node->capacity, resource),
        };
    }
}

static void fill_entries(const struct noderesource_input *in, const struct verdict *verdict,
                         struct arena *scratch, struct noderesource_plan *plan)
{
    bool calculates = verdict->action == CALCULATE || verdict->action == CALCULATE_NO_RAISE;
    struct figures figures = { 0 };
    if (calculates)
        figures = find_figures(in, scratch, plan);
    for (size_t i = 0; i < plan->count; i++) {
        struct noderesource_entry *entry = &plan->entries[i];
        entry->reason = verdict->reason;
        if (calculates)
            calculate(in, &figures, verdict->action == CALCULATE, entry);
        else if (verdict->action == KEEP)
            keep(entry);
        plan->saturated |= entry->saturated;
    }
}

void noderesource_plan_make(const struct noderesource_input *in, struct arena *scratch,
                            struct noderesource_plan *ret)
{
    *ret = (struct noderesource_plan){ .wait_ms = -1, .recheck_after_ms = -1 };
    if (!in->node->capacity.present || !in->node->allocatable.present)
        return;
    add_entries(in, ret);
    if (ret->count == 0)
        return;
    struct verdict verdict = judge(in, ret);
    fill_entries(in, &verdict, scratch, ret);
    plan_decide_sending(in, ret);
}
