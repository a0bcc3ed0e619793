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
    warn_findings(planner, object, STR("data"), plan->findings);
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

static void plan_node(struct planner *planner, const struct node *node, const struct nodemetric *metric,
                      struct plan_node *ret)
{
    struct arena *arena = &planner->plan->arena;
    struct findings findings = FINDINGS_INIT(&planner->scratch);
    struct strategy strategy;
    const struct strategy *effective = NULL;
    ret->name = kube_object_name(node ? &node->object : &metric->object);
    ret->exists = node != NULL;
    if (node && planner->config) {
        colocation_resolve_node(planner->config, node, arena, &strategy, &findings);
        effective = &strategy;
        ret->strategy = strategy_to_json(effective, arena);
        warn_findings(planner, snapshot_object_name(&planner->scratch, "Node", STR_NULL, ret->name),
                      STR("metadata"), &findings);
    }
    if (node)
        plan_resources(planner, node, metric, effective, ret);
    plan_metric(planner, metric, effective, ret);
    arena_clear(&planner->scratch);
}

/* Nodes and NodeMetrics, both sorted, as one sorted row of names. */
static void plan_nodes(struct planner *planner)
{
    const struct snapshot *snapshot = planner->snapshot;
    struct plan *plan = planner->plan;
    size_t nodes = snapshot->lists[SNAPSHOT_NODE].count, metrics = snapshot->lists[SNAPSHOT_NODEMETRIC].count;
    plan->nodes = arena_array(&plan->arena, struct plan_node, nodes + metrics);
    for (size_t n = 0, m = 0; n < nodes || m < metrics;) {
        const struct kube_object *node = n < nodes ? snapshot_at(snapshot, SNAPSHOT_NODE, n) : NULL;
        const struct kube_object *metric = m < metrics ? snapshot_at(snapshot, SNAPSHOT_NODEMETRIC, m) : NULL;
        int order = !metric ? -1 : !node ? 1 : str_cmp(kube_object_name(node), kube_object_name(metric));
        plan_node(planner, order <= 0 ? node_of(node) : NULL, order >= 0 ? nodemetric_of(metric) : NULL,
                  &plan->nodes[plan->count++]);
        n += order <= 0;
        m += order >= 0;
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
    arena_done(&plan->arena);
    *plan = (struct plan){ 0 };
}
