#include "plan.h"
#include "sloconfig/admission.h"
#include "sloconfig/node.h"

/* What every node's plan needs. */
struct planner {
    struct snapshot *snapshot;
    const struct plan_options *options;
    struct plan *plan;
    const struct colocation_config *config; /* NULL: hold */
    struct arena scratch;                   /* of one node */
};

/* --- the policy ------------------------------------------------------------------ */

static void warn_findings(struct planner *planner, struct str object, struct str prefix,
                          const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->items[i];
        if (f->level == FINDING_REJECTED || f->level == FINDING_ENTRY)
            continue; /* these are the plan's errors */
        struct str path = arena_strf(&planner->scratch, STR_FMT "[" STR_FMT "]%s" STR_FMT, STR_ARG(prefix),
                                     STR_ARG(f->key), str_empty(f->path) ? "" : ".", STR_ARG(f->path));
        snapshot_warn(planner->snapshot, object, path, f->value, f->message);
    }
}

static void warn_config(struct planner *planner, const struct configmap *configmap)
{
    struct plan *plan = planner->plan;
    struct findings overlaps = FINDINGS_INIT(&plan->arena);
    struct str object =
        snapshot_object_name(&planner->scratch, "ConfigMap", plan->config_ns, plan->config_name);
    if (planner->config && configmap)
        admission_overlaps(planner->config, &overlaps);
    plan_slo_warnings(plan, configmap, &overlaps);
    warn_findings(planner, object, STR("data"), plan->findings);
    for (size_t i = 0; i < SLO_KEY_COUNT; i++)
        warn_findings(planner, object, STR("data"), slo_policy_status(plan->slo)->findings[i]);
    warn_findings(planner, object, STR("data"), &overlaps);
    arena_clear(&planner->scratch);
}

static void observe_ratios(struct planner *planner, const struct configmap *configmap)
{
    static const struct ratio_key *const keys[] = { &normalization_key, &amplification_key };
    struct plan *plan = planner->plan;
    for (size_t i = 0; i < PLAN_RATIO_KEYS; i++) {
        struct str value = configmap ? configmap_value(configmap, keys[i]->key, NULL) : STR_NULL;
        plan->ratios[i] = ratio_policy_new(keys[i]);
        plan->ratio_findings[i] = ratio_policy_observe(plan->ratios[i], configmap != NULL, value)->findings;
    }
}

/* A manager that has just started and has waited for as long as it would: a missing
 * ConfigMap has become the defaults. */
static void observe_policy(struct planner *planner, const struct configmap *configmap)
{
    struct plan *plan = planner->plan;
    bool found = false;
    struct colocation_input in = { .source = configmap ? SOURCE_PRESENT : SOURCE_ABSENT };
    if (configmap)
        in.value = configmap_value(configmap, colocation_key, &found);
    plan->policy = colocation_policy_new(0);
    const struct colocation_status *status = colocation_policy_observe(plan->policy, &in);
    plan->state = status->state;
    plan->findings = status->findings;
    plan->configured = configmap != NULL;
    if (configmap) {
        plan->config_ns = kube_object_namespace(&configmap->object);
        plan->config_name = kube_object_name(&configmap->object);
    }
    planner->config = status->in_force;
    if (planner->config)
        plan->cluster = strategy_to_json(&planner->config->cluster, &plan->arena);
    observe_ratios(planner, configmap);
    plan_slo_observe(plan, configmap);
    warn_config(planner, configmap);
}

/* --- one node -------------------------------------------------------------------- */

struct reporter {
    struct planner *planner;
    struct str object;
};

static void on_report(void *self, struct str path, struct str value, const char *message)
{
    struct reporter *reporter = self;
    snapshot_warn(reporter->planner->snapshot, reporter->object, path, value, str_c(message));
}

/* NULL: not known to be right, as in a manager that has just started. */
static const struct ratio_strategy *resolve_ratio(struct planner *planner, size_t key,
                                                  const struct node *node)
{
    const struct ratio_config *config = ratio_policy_status(planner->plan->ratios[key])->in_force;
    struct arena *arena = &planner->plan->arena;
    if (!config)
        return NULL;
    struct ratio_strategy *strategy = arena_new(arena, struct ratio_strategy);
    ratio_config_resolve(config, node_labels(node, &planner->scratch), arena, strategy);
    return strategy;
}

static void plan_resources(struct planner *planner, const struct node *node, const struct nodemetric *metric,
                           const struct strategy *strategy, struct plan_node *ret)
{
    struct reporter reporter = { planner,
                                 snapshot_object_name(&planner->scratch, "Node", STR_NULL, ret->name) };
    struct json_report report = { on_report, &reporter };
    const struct kube_object *device = snapshot_find(planner->snapshot, SNAPSHOT_DEVICE, ret->name);
    const struct kube_object *topology = snapshot_find(planner->snapshot, SNAPSHOT_TOPOLOGY, ret->name);
    struct noderesource_input in = {
        .node = node,
        .normalization = resolve_ratio(planner, PLAN_NORMALIZATION, node),
        .amplification = resolve_ratio(planner, PLAN_AMPLIFICATION, node),
        .device = device ? device_of(device) : NULL,
        .device_known = true,
        .topology = topology ? nrt_of(topology) : NULL,
        .metric = metric,
        .strategy = strategy,
        .cluster_enabled = planner->config && planner->config->cluster.enable.value,
        .plugins = &planner->options->plugins,
        .feed = { .live = true },
        .now = planner->options->now,
        .report = &report,
    };
    in.pods = snapshot_pods_on(planner->snapshot, ret->name, &in.pod_count);
    noderesource_plan_make(&in, &planner->plan->arena, &ret->resources);
}

static void plan_metric(struct planner *planner, const struct nodemetric *metric,
                        const struct strategy *strategy, struct plan_node *ret)
{
    struct nodemetric_input in = {
        .node_exists = ret->exists,
        .metric = metric,
        .strategy = strategy,
        .hold = planner->config == NULL,
    };
    nodemetric_plan_make(&in, &planner->plan->arena, &ret->metric);
}

static void plan_slo(struct planner *planner, const struct node *node, struct findings *findings,
                     struct plan_node *ret)
{
    const struct kube_object *slo = snapshot_find(planner->snapshot, SNAPSHOT_NODESLO, ret->name);
    plan_slo_node(planner->plan, node, slo ? nodeslo_of(slo) : NULL, findings, ret);
}

static void plan_node(struct planner *planner, struct str name, const struct node *node,
                      const struct nodemetric *metric, struct plan_node *ret)
{
    struct arena *arena = &planner->plan->arena;
    struct findings findings = FINDINGS_INIT(&planner->scratch);
    struct strategy strategy;
    const struct strategy *effective = NULL;
    ret->name = name;
    ret->exists = node != NULL;
    if (node && planner->config) {
        colocation_resolve_node(planner->config, node, arena, &strategy, &findings);
        effective = &strategy;
        ret->strategy = strategy_to_json(effective, arena);
    }
    plan_slo(planner, node, &findings, ret);
    warn_findings(planner, snapshot_object_name(&planner->scratch, "Node", STR_NULL, name), STR("metadata"),
                  &findings);
    if (node)
        plan_resources(planner, node, metric, effective, ret);
    plan_metric(planner, metric, effective, ret);
    arena_clear(&planner->scratch);
}

/* The name of the object at *at, if it comes before `best`. */
static struct str earlier(const struct snapshot *snapshot, enum snapshot_kind kind, size_t at,
                          struct str best)
{
    if (at >= snapshot->lists[kind].count)
        return best;
    struct str name = kube_object_name(snapshot_at(snapshot, kind, at));
    return str_empty(best) || str_cmp(name, best) < 0 ? name : best;
}

/* The object of that name, when it is the next one. */
static const struct kube_object *take(const struct snapshot *snapshot, enum snapshot_kind kind, size_t *at,
                                      struct str name)
{
    if (*at >= snapshot->lists[kind].count ||
        !str_eq(kube_object_name(snapshot_at(snapshot, kind, *at)), name))
        return NULL;
    return snapshot_at(snapshot, kind, (*at)++);
}

/* Nodes, NodeMetrics and NodeSLOs, each sorted, as one sorted row of names. */
static void plan_nodes(struct planner *planner)
{
    static const enum snapshot_kind kinds[] = { SNAPSHOT_NODE, SNAPSHOT_NODEMETRIC, SNAPSHOT_NODESLO };
    const struct snapshot *snapshot = planner->snapshot;
    struct plan *plan = planner->plan;
    size_t at[ARRAY_LEN(kinds)] = { 0 }, total = 0;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        total += snapshot->lists[kinds[k]].count;
    plan->nodes = arena_array(&plan->arena, struct plan_node, total);
    for (;;) {
        const struct kube_object *objects[ARRAY_LEN(kinds)];
        struct str name = STR_NULL;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            name = earlier(snapshot, kinds[k], at[k], name);
        if (str_empty(name))
            return;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            objects[k] = take(snapshot, kinds[k], &at[k], name);
        plan_node(planner, name, objects[0] ? node_of(objects[0]) : NULL,
                  objects[1] ? nodemetric_of(objects[1]) : NULL, &plan->nodes[plan->count++]);
    }
}

bool plan_make(struct snapshot *snapshot, const struct plan_options *options, struct plan *ret,
               struct err *err)
{
    const struct configmap *configmap = options->proposed;
    if (!configmap && !source_find(snapshot, &options->config, &configmap, err))
        return false;
    *ret = (struct plan){ .snapshot = snapshot };
    struct planner planner = { .snapshot = snapshot, .options = options, .plan = ret };
    observe_policy(&planner, configmap);
    plan_nodes(&planner);
    arena_done(&planner.scratch);
    return true;
}

void plan_done(struct plan *plan)
{
    colocation_policy_free(plan->policy);
    for (size_t i = 0; i < PLAN_RATIO_KEYS; i++)
        ratio_policy_free(plan->ratios[i]);
    slo_policy_free(plan->slo);
    arena_done(&plan->arena);
    *plan = (struct plan){ 0 };
}
