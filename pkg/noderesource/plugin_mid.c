/* MidResource: what the Mid formula is asked, and its answer in the plan. */
#include "noderesource/annotation.h"
#include "noderesource/mid.h"
#include "noderesource/plan_internal.h"

enum { DEFAULT_THRESHOLD_PERCENT = 100 };

/* What is found once per node. */
struct figures {
    struct amounts raw_allocatable; /* by annotation */
    struct amounts prod;            /* requests of Prod pods */
    enum mid_mode mode;
};

static struct amounts prod_requests(const struct noderesource_input *in)
{
    struct amounts total = { .has_cpu = true, .has_memory = true };
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *pod = in->pods[i];
        if (pod->priority != PRIORITY_PROD || !planning_pod_is_live(pod))
            continue;
        total.cpu_nano += planning_pod_request(pod, true);
        total.memory_nano += planning_pod_request(pod, false);
    }
    return total;
}

static struct figures find_figures(struct planning *planning)
{
    const struct noderesource_input *in = planning->in;
    struct figures figures = { .prod = prod_requests(in) };
    struct err err = ERR_INIT;
    const struct istr *raw = in->node->raw_allocatable;
    if (raw &&
        !noderesource_raw_allocatable_parse(planning->arena, istr_str(raw), &figures.raw_allocatable, &err))
        planning_tell(planning, "metadata.annotations.node.koordinator.sh/raw-allocatable", raw, &err);
    bool known;
    struct str mode = in->strategy->mid_reclaim_mode.set ? in->strategy->mid_reclaim_mode.value : STR_NULL;
    figures.mode = mid_mode_from_name(mode, &known);
    planning->plan->unknown_mode = !known;
    return figures;
}

/* What can really be lent: amplification lets allocatable say more than there is. */
static __int128 lendable(const struct node *node, const struct amounts *raw, bool cpu)
{
    __int128 allocatable = planning_pick(&node->allocatable.amounts, cpu);
    bool has_raw = cpu ? raw->has_cpu : raw->has_memory;
    return has_raw && planning_pick(raw, cpu) < allocatable ? planning_pick(raw, cpu) : allocatable;
}

static struct mid_input input_for(struct planning *planning, const struct figures *figures, bool cpu)
{
    const struct noderesource_input *in = planning->in;
    const struct nodemetric *metric = in->metric;
    const struct strategy *strategy = in->strategy;
    return (struct mid_input){
        .mode = figures->mode,
        .unit_nano = cpu ? EXACT_MILLI_NANO : EXACT_UNIT_NANO,
        .capacity = planning_pick(&in->node->capacity.amounts, cpu),
        .allocatable = planning_pick(&in->node->allocatable.amounts, cpu),
        .lendable = lendable(in->node, &figures->raw_allocatable, cpu),
        .has_usage = metric->has_node_metric && metric->node_usage.has_cpu && metric->node_usage.has_memory,
        .usage = planning_pick(&metric->node_usage, cpu),
        .system_usage = planning_pick(&metric->system_usage, cpu),
        .host_used = planning_pick(&metric->host_prod, cpu),
        .reserved_by_annotation = planning_pick(planning_reserved(planning), cpu),
        .prod_allocated = planning_pick(&figures->prod, cpu),
        .reclaimable = metric->has_reclaimable ? planning_pick(&metric->reclaimable, cpu) : 0,
        .threshold_percent = planning_or(cpu ? strategy->mid_cpu_percent : strategy->mid_memory_percent,
                                         DEFAULT_THRESHOLD_PERCENT),
        .unallocated_percent = planning_or(strategy->mid_unallocated_percent, 0),
        .static_percent =
            planning_or(cpu ? strategy->mid_static_cpu_percent : strategy->mid_static_memory_percent, 0),
    };
}

static void calculate(struct planning *planning, struct noderesource_entry *entry, bool cpu, void *self)
{
    struct noderesource_term terms[NODERESOURCE_TERMS_MAX];
    struct mid_input input = input_for(planning, self, cpu);
    struct mid_result result = mid_calculate(&input);
    entry->saturated = result.saturated;
    entry->bound = mid_bound_name(result.bound);
    planning_terms(planning, entry, terms, mid_terms(&input, &result, cpu, terms));
    planning_value(planning, entry, result.mid);
}

void mid_plan(struct planning *planning)
{
    struct figures figures = { 0 };
    if (planning_calculates(planning))
        figures = find_figures(planning);
    planning_tier(planning, OWNED_MID_CPU, OWNED_MID_MEMORY, calculate, &figures);
}
