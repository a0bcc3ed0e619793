/* BatchResource: what the Batch formula is asked, and its answer in the plan, less what
 * third parties gave away. */
#include "noderesource/third_party.h"
#include "noderesource/zones.h"

enum { DEFAULT_CPU_RECLAIM_PERCENT = 60, DEFAULT_MEMORY_RECLAIM_PERCENT = 65, NANO_PER_MILLI = 1000000 };

static const char third_party_path[] = "metadata.annotations.node.koordinator.sh/thirdPartyAllocations";
static const char origin_key[] = "node.koordinator.sh/originExtendedAllocatable";

/* What is found once per node. */
struct figures {
    struct higher higher;
    struct zones zones;
    struct batch_input inputs[2]; /* of memory and cpu */
    struct third_party third_party;
    struct opt_i64 origin_cpu, origin_memory; /* before third parties; unset: not changed */
};

/* --- the higher tiers ------------------------------------------------------------------ */

static void add(struct amounts *sum, const struct amounts *more)
{
    sum->cpu_nano += more->cpu_nano;
    sum->memory_nano += more->memory_nano;
}

static void add_higher(struct higher *sum, const struct higher *one)
{
    add(&sum->request, &one->request);
    add(&sum->used, &one->used);
    add(&sum->max, &one->max);
}

static struct amounts usage_of(const struct pod_metric *row)
{
    return (struct amounts){ .cpu_nano = row->cpu_nano,
                             .memory_nano = (__int128)row->memory_milli * NANO_PER_MILLI };
}

/* What a pod without a measurement uses is taken to be what it asked for. */
static struct higher pod_figures(const struct pod *pod, const struct pod_metric *row)
{
    struct amounts request = { .cpu_nano = planning_pod_request(pod, true),
                               .memory_nano = planning_pod_request(pod, false) };
    struct amounts used = row ? usage_of(row) : request;
    if (row && !row->has_cpu)
        used.cpu_nano = request.cpu_nano;
    if (row && !row->has_memory)
        used.memory_nano = request.memory_nano;
    struct higher figures = { .request = request, .used = used };
    figures.max.cpu_nano = exact_max(request.cpu_nano, used.cpu_nano);
    figures.max.memory_nano = exact_max(request.memory_nano, used.memory_nano);
    if (pod->qos == QOS_LSE) /* its CPUs are its own, busy or not */
        figures.used.cpu_nano = request.cpu_nano;
    return figures;
}

/* Rows of pods that are gone, finished or elsewhere: what they used was still used. */
static struct higher dangling_figures(const struct pod_metric *row)
{
    struct amounts used = usage_of(row);
    return (struct higher){ .used = used, .max = used };
}

static struct higher sum_higher(struct planning *planning, struct zones *zones)
{
    const struct noderesource_input *in = planning->in;
    const struct nodemetric *metric = in->metric;
    struct higher sum = { 0 };
    bool *seen = arena_array(planning->arena, bool, metric->pod_count);
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *pod = in->pods[i];
        if (!planning_pod_is_live(pod))
            continue;
        struct pod_id id = pod_id_of(kube_object_namespace(&pod->object), kube_object_name(&pod->object));
        ptrdiff_t at = nodemetric_find_pod(metric, id);
        if (at >= 0)
            seen[at] = true;
        if (pod->priority != PRIORITY_PROD && pod->priority != PRIORITY_MID)
            continue;
        struct higher one = pod_figures(pod, at >= 0 ? &metric->pods[at] : NULL);
        add_higher(&sum, &one);
        zones_add(zones, pod->numa_nodes, &one);
    }
    for (size_t i = 0; i < metric->pod_count; i++) {
        if (seen[i] || metric->pods[i].lent)
            continue;
        struct higher one = dangling_figures(&metric->pods[i]);
        add_higher(&sum, &one);
        zones_add(zones, 0, &one);
    }
    return sum;
}

/* --- the formula's input --------------------------------------------------------------- */

static struct str text_of(const struct opt_str *text)
{
    return text->set ? text->value : STR_NULL;
}

static struct batch_input input_for(struct planning *planning, const struct figures *figures, bool cpu)
{
    const struct noderesource_input *in = planning->in;
    const struct strategy *strategy = in->strategy;
    const struct nodemetric *metric = in->metric;
    __int128 capacity = planning_pick(&in->node->capacity.amounts, cpu);
    return (struct batch_input){
        .policy = batch_policy_from_name(
            text_of(cpu ? &strategy->cpu_calculate_policy : &strategy->memory_calculate_policy), cpu),
        .blind = !metric->has_node_metric,
        .unit_nano = cpu ? EXACT_MILLI_NANO : EXACT_UNIT_NANO,
        .capacity = capacity,
        .system_usage = planning_pick(&metric->system_usage, cpu),
        .host_used = planning_pick(&metric->host_prod, cpu) + planning_pick(&metric->host_mid, cpu),
        .kubelet_reserved =
            exact_max(capacity - exact_max(planning_pick(&in->node->allocatable.amounts, cpu), 0), 0),
        .reserved_by_annotation = planning_pick(planning_reserved(planning), cpu),
        .hp_request = planning_pick(&figures->higher.request, cpu),
        .hp_used = planning_pick(&figures->higher.used, cpu),
        .hp_max = planning_pick(&figures->higher.max, cpu),
        .reclaim_percent =
            cpu ? planning_or(strategy->cpu_reclaim_percent, DEFAULT_CPU_RECLAIM_PERCENT)
                : planning_or(strategy->memory_reclaim_percent, DEFAULT_MEMORY_RECLAIM_PERCENT),
        .threshold_percent = cpu ? strategy->batch_cpu_percent : strategy->batch_memory_percent,
    };
}

static struct figures find_figures(struct planning *planning)
{
    const struct istr *text = planning->in->node->third_party;
    struct figures figures = { .zones = zones_of(planning) };
    figures.higher = sum_higher(planning, &figures.zones);
    struct err err = ERR_INIT;
    if (text && !noderesource_third_party_parse(planning->arena, istr_str(text), &figures.third_party, &err))
        planning_tell(planning, third_party_path, text, &err);
    return figures;
}

/* --- values ---------------------------------------------------------------------------- */

/* CPU normalization makes a core of this node worth more than one; rounded up. */
static int64_t amplify(int64_t value, int64_t hundredths, bool *saturated)
{
    __int128 product = (__int128)value * hundredths;
    return exact_clamp(product / 100 + (product % 100 > 0), saturated);
}

static void add_term(struct noderesource_term *terms, size_t *count, const char *name, int64_t value)
{
    terms[(*count)++] = (struct noderesource_term){ name, value };
}

static void calculate(struct planning *planning, struct noderesource_entry *entry, bool cpu, void *self)
{
    struct figures *figures = self;
    struct noderesource_term terms[NODERESOURCE_TERMS_MAX];
    struct batch_input input = input_for(planning, figures, cpu);
    struct batch_result result = batch_calculate(&input);
    figures->inputs[cpu] = input;
    size_t count = batch_terms(&input, &result, cpu, terms);
    int64_t value = result.batch;
    if (cpu && planning->normalization_hundredths > 100) {
        value = amplify(value, planning->normalization_hundredths, &result.saturated);
        add_term(terms, &count, "cpuNormalizationPercent", planning->normalization_hundredths);
        add_term(terms, &count, "amplified", value);
    }
    int64_t origin = value;
    __int128 others = cpu ? figures->third_party.batch_cpu_nano : figures->third_party.batch_memory_nano;
    if (others > 0) {
        int64_t whole = exact_units(others, API_NANO_PER_UNIT, &result.saturated);
        value = max_i64(0, value - whole);
        add_term(terms, &count, "thirdParty", whole);
        add_term(terms, &count, "left", value);
    }
    entry->saturated = result.saturated;
    entry->bound = batch_bound_name(result.bound, input.policy);
    planning_terms(planning, entry, terms, count);
    planning_value(planning, entry, value);
    if (!entry->keep)
        *(cpu ? &figures->origin_cpu : &figures->origin_memory) =
            (struct opt_i64){ .set = true, .value = origin };
}

/* --- the annotation -------------------------------------------------------------------- */

/* Follows the keys: what they were before third parties took their part, 0 when they are
 * withdrawn. Who is not told of any amount reads as much. */
static void plan_origin(struct planning *planning, struct figures *figures)
{
    const struct istr *current = planning->in->node->origin_extended;
    if (planning_verdict(planning).action == VERDICT_REMOVE) {
        if (!current)
            return;
        figures->origin_cpu = figures->origin_memory = (struct opt_i64){ .set = true };
    }
    if (!figures->origin_cpu.set && !figures->origin_memory.set)
        return;
    struct noderesource_meta *meta = planning_meta(planning, origin_key, current);
    planning_meta_is(meta, noderesource_origin_text(planning->arena, current, figures->origin_cpu,
                                                    figures->origin_memory));
    meta->follows_status = true;
}

void batch_plan(struct planning *planning)
{
    struct figures figures = { 0 };
    if (planning_calculates(planning))
        figures = find_figures(planning);
    else
        figures.zones = zones_of(planning);
    planning_tier(planning, OWNED_BATCH_CPU, OWNED_BATCH_MEMORY, calculate, &figures);
    plan_origin(planning, &figures);
    zones_plan(planning, &figures.zones, figures.inputs);
}
