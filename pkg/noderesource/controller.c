#include "noderesource/controller.h"

#include <stdlib.h>

#include "base/log.h"
#include "noderesource/memory.h"
#include "sloconfig/node.h"

/* A status patch of ours names a handful of keys. */
#define MAX_PATCH_BYTES (16 * 1024)
/* All annotations of an object together are at most 256 KiB, escaping included. */
#define MAX_META_PATCH_BYTES (2 * 1024 * 1024)

struct noderesource_controller {
    struct noderesource_controller_options options;
    struct node_memories *memories;
    struct metric *nodes_degraded, *nodes_skewed, *saturated_total;
};

/* --- telling people, once per change ---------------------------------------------- */

static void record(struct noderesource_controller *controller, const struct node *node, const char *reason,
                   struct str note)
{
    if (!controller->options.events)
        return;
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(512);
    kube_object_uid(&node->object, &uid);
    struct event_regarding regarding = { .kind = &node_kind,
                                         .name = kube_object_name(&node->object),
                                         .uid = strbuf_str(&uid),
                                         .rv = kube_object_rv(&node->object) };
    event_record(controller->options.events, &regarding, true, reason, "PlanNode", note);
}

static void tell_annotation(struct noderesource_controller *controller, const struct node *node,
                            struct node_memory *memory, const struct findings *findings)
{
    CLEANUP(strbuf_done) struct strbuf note = STRBUF_INIT(1024);
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].level != FINDING_NODE)
            continue;
        if (note.len > 0)
            strbuf_add(&note, STR("; "));
        finding_write(&note, &findings->items[i]);
    }
    uint64_t hash = note.len ? str_hash(strbuf_str(&note)) : 0;
    if (hash == memory->bad_annotation)
        return;
    memory->bad_annotation = hash;
    if (!hash)
        return;
    LOG_WARN("override on node ignored", LOG_S("node", kube_object_name(&node->object)),
             LOG_S("why", strbuf_str(&note)));
    record(controller, node, "NodeOverrideInvalid", strbuf_str(&note));
}

static void remember(struct noderesource_controller *controller, struct node_memory *memory,
                     const struct noderesource_plan *made)
{
    node_history_planned(&memory->history, made);
    memory->degraded = made->degraded;
    memory->skewed = made->skewed;
    if (made->saturated)
        metric_add(controller->saturated_total, 1);
}

/* --- deciding -------------------------------------------------------------------- */

/* Before the first watch is open a synced list is as live as anything can be. */
static struct noderesource_feed feed_of(const struct informer *metrics)
{
    struct feed_state feed = informer_feed(metrics);
    bool fresh_start = feed.synced && feed.live_since.ns == 0;
    return (struct noderesource_feed){ .live = feed.live || fresh_start,
                                       .live_since = feed.live_since,
                                       .gap_ms = feed.gap_ms };
}

static const struct pod *const *pods_of(const struct noderesource_controller *controller, struct str node,
                                        struct arena *arena, size_t *ret_count)
{
    const struct kube_object *const *objects =
        store_by_index(informer_store(controller->options.pods), node, ret_count);
    const struct pod **pods = arena_array(arena, const struct pod *, *ret_count);
    for (size_t i = 0; i < *ret_count; i++)
        pods[i] = pod_of(objects[i]);
    return pods;
}

/* NULL: not known to be right. */
static const struct ratio_strategy *resolve_ratio(const struct ratio_policy *policy, const struct node *node,
                                                  struct arena *arena)
{
    const struct ratio_config *config = ratio_policy_status(policy)->in_force;
    if (!config)
        return NULL;
    struct ratio_strategy *strategy = arena_new(arena, struct ratio_strategy);
    ratio_config_resolve(config, node_labels(node, arena), arena, strategy);
    return strategy;
}

static void look_around(const struct noderesource_controller *controller, struct str key, struct arena *arena,
                        struct noderesource_input *in)
{
    const struct noderesource_controller_options *options = &controller->options;
    struct feed_state devices = informer_feed(options->devices);
    const struct kube_object *device = store_get(informer_store(options->devices), STR_NULL, key);
    const struct kube_object *topology = store_get(informer_store(options->topologies), STR_NULL, key);
    in->device_known = devices.synced && !devices.unavailable;
    in->device = device ? device_of(device) : NULL;
    in->topology = topology ? nrt_of(topology) : NULL;
    in->normalization = resolve_ratio(options->normalization, in->node, arena);
    in->amplification = resolve_ratio(options->amplification, in->node, arena);
    in->pods = pods_of(controller, key, arena, &in->pod_count);
}

static struct write *plan_patch(struct plan *plan, struct str key, const struct strbuf *body,
                                const char *label)
{
    struct write *write = plan_add(plan);
    *write = (struct write){ .verb = WRITE_PATCH,
                             .kind = &node_kind,
                             .name = arena_str(plan->arena, key),
                             .body = arena_str(plan->arena, strbuf_str(body)),
                             .label = label };
    return write;
}

/* The status first: metadata tells of it. */
static void plan_write(struct plan *plan, struct str key, const struct noderesource_plan *made)
{
    CLEANUP(strbuf_done) struct strbuf status = STRBUF_INIT(MAX_PATCH_BYTES);
    CLEANUP(strbuf_done) struct strbuf meta = STRBUF_INIT(MAX_META_PATCH_BYTES);
    if (made->send && noderesource_patch(made, &status)) {
        struct write *write = plan_patch(plan, key, &status, "updateNodeStatus");
        write->subresource = "status";
        write->withdrawal = made->withdrawal;
    }
    if (made->send_meta && noderesource_meta_patch(made, &meta) && !meta.overflow)
        plan_patch(plan, key, &meta, "patchNodeMeta");
    if (made->send_zones) {
        struct write *write = plan_add(plan);
        *write = (struct write){ .verb = WRITE_PATCH,
                                 .kind = &nrt_kind,
                                 .name = arena_str(plan->arena, key),
                                 .body = made->zones_patch,
                                 .label = "updateNodeResourceTopology" };
    }
}

static void reconcile(void *self, struct str key, struct mono_time mono, struct wall_time wall,
                      struct plan *plan)
{
    struct noderesource_controller *controller = self;
    const struct kube_object *object = store_get(informer_store(controller->options.nodes), STR_NULL, key);
    if (!object) {
        node_memories_forget(controller->memories, key);
        return;
    }
    const struct node *node = node_of(object);
    struct node_memory *memory = node_memories_get(controller->memories, node);
    node_history_observe(&memory->history, key, mono);

    struct arena *arena = plan->arena;
    struct findings findings = FINDINGS_INIT(arena);
    struct strategy strategy;
    const struct colocation_config *config = colocation_policy_status(controller->options.policy)->in_force;
    const struct kube_object *metric = store_get(informer_store(controller->options.metrics), STR_NULL, key);
    struct noderesource_input in = {
        .node = node,
        .metric = metric ? nodemetric_of(metric) : NULL,
        .plugins = controller->options.plugins,
        .feed = feed_of(controller->options.metrics),
        .now = wall,
        .mono = mono,
        .history = &memory->history,
    };
    look_around(controller, key, arena, &in);
    if (config) {
        colocation_resolve_node(config, node, arena, &strategy, &findings);
        in.strategy = &strategy;
        in.cluster_enabled = config->cluster.enable.value;
    }
    struct noderesource_plan made;
    noderesource_plan_make(&in, arena, &made);
    remember(controller, memory, &made);
    tell_annotation(controller, node, memory, &findings);
    plan->recheck_after_ms = made.recheck_after_ms;
    plan_write(plan, key, &made);
}

static void written(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall)
{
    (void)wall;
    struct noderesource_controller *controller = self;
    if (!write->subresource)
        return;
    const struct kube_object *object = store_get(informer_store(controller->options.nodes), STR_NULL, key);
    if (object && result->failure == KUBE_OK)
        node_history_written(&node_memories_get(controller->memories, node_of(object))->history, mono);
}

static const struct store *store_of(void *self, const struct kube_kind *kind)
{
    struct noderesource_controller *controller = self;
    return informer_store(kind == &nrt_kind ? controller->options.topologies : controller->options.nodes);
}

/* --- interface ------------------------------------------------------------------- */

static void collect(void *self)
{
    struct noderesource_controller *controller = self;
    size_t degraded, skewed;
    node_memories_count(controller->memories, &degraded, &skewed);
    metric_set(controller->nodes_degraded, (double)degraded);
    metric_set(controller->nodes_skewed, (double)skewed);
}

static void register_metrics(struct noderesource_controller *controller, struct metric_registry *registry)
{
    if (!registry)
        return;
    controller->nodes_degraded = metric_gauge(registry, "koord_manager_nodes_degraded",
                                              "Nodes that lend nothing for want of a usable report.", NULL);
    controller->nodes_skewed = metric_gauge(registry, "koord_manager_nodes_clock_skewed",
                                            "Nodes whose last report is dated ahead of our clock.", NULL);
    controller->saturated_total =
        metric_counter(registry, "koord_manager_calculation_saturated_total",
                       "Plans in which an amount did not fit 64 bits and was clamped.", NULL);
    metric_on_collect(registry, collect, controller);
}

struct noderesource_controller *
noderesource_controller_new(const struct noderesource_controller_options *options)
{
    struct noderesource_controller *controller = mem_zalloc(sizeof *controller);
    controller->options = *options;
    controller->memories = node_memories_new();
    register_metrics(controller, options->registry);
    return controller;
}

void noderesource_controller_free(struct noderesource_controller *controller)
{
    if (!controller)
        return;
    node_memories_free(controller->memories);
    free(controller);
}

struct controller noderesource_controller_interface(struct noderesource_controller *controller)
{
    return (struct controller){ .name = "noderesource",
                                .reconcile = reconcile,
                                .written = written,
                                .store_of = store_of,
                                .self = controller };
}
