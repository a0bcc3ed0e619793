#include "manager.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/configmap.h"
#include "api/nodeslo.h"
#include "base/log.h"
#include "endpoints.h"
#include "kube/events.h"
#include "kube/informer.h"
#include "kube/runtime.h"
#include "leadership.h"
#include "metrics/process.h"
#include "nodemetric/controller.h"
#include "noderesource/controller.h"
#include "nodeslo/controller.h"
#include "policy_source.h"

#define STOP_PATIENCE_MS (10 * 1000)

enum cache {
    CACHE_NODES,
    CACHE_METRICS,
    CACHE_PODS,
    CACHE_CONFIGMAPS,
    CACHE_DEVICES,
    CACHE_TOPOLOGIES,
    CACHE_SLOS,
    CACHE_COUNT,
};

struct manager {
    struct options options;
    struct loop *loop;
    struct arena arena; /* what was decided at start */
    struct kube_config kube;
    struct str config_namespace;
    struct metric_registry *registry;
    struct intern *pool;
    struct kube_client *client;
    struct event_recorder *events;
    struct informer *caches[CACHE_COUNT];
    struct policy_source *policy;
    struct nodemetric_controller *nodemetric;
    struct noderesource_controller *noderesource;
    struct nodeslo_controller *nodeslo;
    struct runtime *runtime;
    struct leadership *leadership;
    bool has_nodemetric, has_noderesource, has_nodeslo;
    size_t nodemetric_queue, noderesource_queue, nodeslo_queue;
    struct readiness_check checks[CACHE_COUNT];
    struct readiness_context {
        struct manager *manager;
        enum cache cache;
    } contexts[CACHE_COUNT];
    struct endpoints *endpoints;
    struct loop_timer resync, patience;
    bool filled; /* every cache; keys gather in the queues from then on */
    bool leads;
    bool working; /* both: keys are being worked on */
    bool stopping;
    bool lost;
};

/* --- keys ------------------------------------------------------------------------ */

static void enqueue_metric(struct manager *manager, struct str node)
{
    if (manager->has_nodemetric)
        runtime_enqueue(manager->runtime, manager->nodemetric_queue, node);
}

static void enqueue_resource(struct manager *manager, struct str node)
{
    if (manager->has_noderesource)
        runtime_enqueue(manager->runtime, manager->noderesource_queue, node);
}

static void enqueue_slo(struct manager *manager, struct str node)
{
    if (manager->has_nodeslo)
        runtime_enqueue(manager->runtime, manager->nodeslo_queue, node);
}

static bool enqueue_all(void *self, const struct kube_object *object)
{
    enqueue_metric(self, kube_object_name(object));
    enqueue_resource(self, kube_object_name(object));
    enqueue_slo(self, kube_object_name(object));
    return true;
}

static bool enqueue_low(void *self, const struct kube_object *object)
{
    struct manager *manager = self;
    if (manager->has_nodemetric)
        runtime_enqueue_low(manager->runtime, manager->nodemetric_queue, kube_object_name(object));
    if (manager->has_noderesource)
        runtime_enqueue_low(manager->runtime, manager->noderesource_queue, kube_object_name(object));
    if (manager->has_nodeslo)
        runtime_enqueue_low(manager->runtime, manager->nodeslo_queue, kube_object_name(object));
    return true;
}

static void for_every_node(struct manager *manager, bool (*enqueue)(void *, const struct kube_object *))
{
    if (!manager->filled)
        return;
    store_each(informer_store(manager->caches[CACHE_NODES]), enqueue, manager);
    /* NodeMetrics and NodeSLOs without a Node are work too: they have to go. */
    store_each(informer_store(manager->caches[CACHE_METRICS]), enqueue, manager);
    store_each(informer_store(manager->caches[CACHE_SLOS]), enqueue, manager);
}

static void enqueue_everything(void *self)
{
    for_every_node(self, enqueue_all);
}

/* --- what the caches tell --------------------------------------------------------- */

static void node_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct manager *manager = self;
    if (manager->filled)
        enqueue_all(manager, new ? new : old);
}

static void metric_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct manager *manager = self;
    if (!manager->filled)
        return;
    enqueue_metric(manager, kube_object_name(new ? new : old));
    enqueue_resource(manager, kube_object_name(new ? new : old));
}

static void slo_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct manager *manager = self;
    if (manager->filled)
        enqueue_slo(manager, kube_object_name(new ? new : old));
}

static void pod_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct manager *manager = self;
    const struct istr *was = old ? pod_of(old)->node_name : NULL;
    const struct istr *is = new ? pod_of(new)->node_name : NULL;
    if (!manager->filled)
        return;
    if (was)
        enqueue_resource(manager, istr_str(was));
    if (is && is != was)
        enqueue_resource(manager, istr_str(is));
}

static void resource_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct manager *manager = self;
    if (manager->filled)
        enqueue_resource(manager, kube_object_name(new ? new : old));
}

static void configmap_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    (void)old;
    (void)new;
    struct manager *manager = self;
    if (informer_feed(manager->caches[CACHE_CONFIGMAPS]).synced)
        policy_source_observe(manager->policy, manager->caches[CACHE_CONFIGMAPS]);
}

/* Back after an outage: ages count again, so every node is looked at. */
static void metrics_feed_changed(void *self, const struct feed_state *feed)
{
    if (feed->live && feed->gap_ms > 0)
        enqueue_everything(self);
}

/* Filled, or of a kind that a cluster may lack and this one does. */
static bool cache_is_settled(const struct manager *manager, int cache)
{
    struct feed_state feed = informer_feed(manager->caches[cache]);
    bool optional = cache == CACHE_DEVICES || cache == CACHE_TOPOLOGIES || cache == CACHE_SLOS;
    return feed.synced || (optional && feed.unavailable);
}

/* A standby's caches and queues are as warm as a leader's; only decisions wait, so that
 * what is remembered per node begins with the takeover. */
static void begin_work(struct manager *manager)
{
    if (!manager->filled || !manager->leads || manager->working || manager->stopping)
        return;
    manager->working = true;
    runtime_start(manager->runtime);
    if (manager->options.sync_period_ns > 0)
        loop_timer_set(&manager->resync, max_i64(1, manager->options.sync_period_ns / NS_PER_MS));
}

static void cache_synced(void *self)
{
    struct manager *manager = self;
    if (manager->filled) { /* a CRD was installed later */
        for_every_node(manager, enqueue_low);
        return;
    }
    for (int i = 0; i < CACHE_COUNT; i++) {
        if (!cache_is_settled(manager, i))
            return;
    }
    LOG_INFO("caches filled",
             LOG_I("nodes", (int64_t)store_count(informer_store(manager->caches[CACHE_NODES]))),
             LOG_I("nodemetrics", (int64_t)store_count(informer_store(manager->caches[CACHE_METRICS]))),
             LOG_I("pods", (int64_t)store_count(informer_store(manager->caches[CACHE_PODS]))));
    manager->filled = true;
    policy_source_observe(manager->policy, manager->caches[CACHE_CONFIGMAPS]);
    for_every_node(manager, enqueue_low);
    begin_work(manager);
}

static void cache_unavailable(void *self)
{
    struct manager *manager = self;
    if (!manager->filled)
        cache_synced(manager);
}

static void on_resync(void *self)
{
    struct manager *manager = self;
    for_every_node(manager, enqueue_low);
    loop_timer_set(&manager->resync, max_i64(1, manager->options.sync_period_ns / NS_PER_MS));
}

/* --- leading --------------------------------------------------------------------- */

static bool may_write(void *self)
{
    const struct manager *manager = self;
    return leadership_may_write(manager->leadership);
}

static bool may_tell(void *self)
{
    const struct manager *manager = self;
    return leadership_may_tell(manager->leadership);
}

static void on_leading(void *self)
{
    struct manager *manager = self;
    manager->leads = true;
    policy_source_lead(manager->policy);
    begin_work(manager);
}

/* What others may be doing already must not be undone by us: stop at once. */
static void on_not_leading(void *self, bool lost)
{
    struct manager *manager = self;
    manager->lost = lost && !manager->stopping;
    runtime_halt(manager->runtime);
    loop_stop(manager->loop);
}

static void on_drained(void *self)
{
    struct manager *manager = self;
    loop_timer_cancel(&manager->patience);
    leadership_release(manager->leadership);
}

/* The writes still in flight are not waited for any longer. */
static void end_patience(void *self)
{
    struct manager *manager = self;
    runtime_halt(manager->runtime); /* on_drained follows */
}

static bool make_leadership(struct manager *manager, struct err *err)
{
    struct leadership_options options = { .loop = manager->loop,
                                          .options = &manager->options,
                                          .kube = &manager->kube,
                                          .registry = manager->registry,
                                          .events = manager->events,
                                          .started = on_leading,
                                          .stopped = on_not_leading,
                                          .self = manager };
    manager->leadership = leadership_new(&options, err);
    return manager->leadership != NULL;
}

/* --- parts ----------------------------------------------------------------------- */

static bool cache_ready(void *self, struct strbuf *out)
{
    const struct readiness_context *context = self;
    const struct informer *informer = context->manager->caches[context->cache];
    if (cache_is_settled(context->manager, (int)context->cache))
        return true;
    informer_describe(informer, out);
    return false;
}

static const struct cache_row {
    const struct kube_kind *kind;
    const char *check;
    void (*changed)(void *self, const struct kube_object *old, const struct kube_object *new);
    void (*feed)(void *self, const struct feed_state *state);
} cache_rows[CACHE_COUNT] = {
    [CACHE_NODES] = { &node_kind, "nodes", node_changed, NULL },
    [CACHE_METRICS] = { &nodemetric_kind, "nodemetrics", metric_changed, metrics_feed_changed },
    [CACHE_PODS] = { &pod_kind, "pods", pod_changed, NULL },
    [CACHE_CONFIGMAPS] = { &configmap_kind, "configmap", configmap_changed, NULL },
    [CACHE_DEVICES] = { &device_kind, "devices", resource_changed, NULL },
    [CACHE_TOPOLOGIES] = { &nrt_kind, "noderesourcetopologies", resource_changed, NULL },
    [CACHE_SLOS] = { &nodeslo_kind, "nodeslos", slo_changed, NULL },
};

static void make_caches(struct manager *manager)
{
    uint64_t seed = (uint64_t)loop_wall(manager->loop).us;
    for (int i = 0; i < CACHE_COUNT; i++) {
        const struct cache_row *row = &cache_rows[i];
        struct informer_options options = { .kind = row->kind,
                                            .pool = manager->pool,
                                            .page_size = manager->options.page_size,
                                            .metrics = manager->registry,
                                            .seed = seed + (uint64_t)i,
                                            .changed = row->changed,
                                            .synced = cache_synced,
                                            .unavailable = cache_unavailable,
                                            .feed = row->feed,
                                            .self = manager };
        if (i == CACHE_CONFIGMAPS) {
            options.ns = manager->config_namespace;
            options.field_selector =
                arena_strf(&manager->arena, "metadata.name=%s", manager->options.slo_config_name);
        }
        manager->caches[i] = informer_new(manager->client, &options);
        manager->contexts[i] = (struct readiness_context){ manager, (enum cache)i };
        manager->checks[i] = (struct readiness_check){ row->check, cache_ready, &manager->contexts[i] };
    }
}

static bool slos_ready(void *self)
{
    const struct manager *manager = self;
    return informer_feed(manager->caches[CACHE_SLOS]).synced;
}

static void make_nodeslo(struct manager *manager)
{
    struct nodeslo_controller_options options = {
        .nodes = informer_store(manager->caches[CACHE_NODES]),
        .slos = informer_store(manager->caches[CACHE_SLOS]),
        .ready = slos_ready,
        .self = manager,
        .policy = policy_source_slo(manager->policy),
        .events = manager->events,
        .registry = manager->registry,
    };
    manager->nodeslo = nodeslo_controller_new(&options);
    struct controller controller = nodeslo_controller_interface(manager->nodeslo);
    manager->nodeslo_queue = runtime_add(manager->runtime, &controller);
    manager->has_nodeslo = true;
}

static void make_controllers(struct manager *manager)
{
    struct runtime_options runtime = { .client = manager->client,
                                       .metrics = manager->registry,
                                       .write_qps = (double)manager->options.write_qps,
                                       .write_burst = (double)manager->options.write_burst,
                                       .seed = (uint64_t)loop_wall(manager->loop).us,
                                       .may_write = may_write,
                                       .self = manager };
    if (manager->options.write_burst == 0)
        runtime.write_qps = 0;
    manager->runtime = runtime_new(manager->loop, &runtime);
    manager->has_nodemetric = manager->options.run_nodemetric;
    manager->has_noderesource = manager->options.run_noderesource;
    if (manager->has_nodemetric) {
        struct nodemetric_controller_options options = {
            .client = manager->client,
            .nodes = informer_store(manager->caches[CACHE_NODES]),
            .metrics = informer_store(manager->caches[CACHE_METRICS]),
            .policy = policy_source_policy(manager->policy),
            .events = manager->events,
            .registry = manager->registry,
            .requeue_all = enqueue_everything,
            .self = manager,
        };
        manager->nodemetric = nodemetric_controller_new(&options);
        struct controller controller = nodemetric_controller_interface(manager->nodemetric);
        manager->nodemetric_queue = runtime_add(manager->runtime, &controller);
    }
    if (manager->has_noderesource) {
        struct noderesource_controller_options options = {
            .nodes = manager->caches[CACHE_NODES],
            .metrics = manager->caches[CACHE_METRICS],
            .pods = manager->caches[CACHE_PODS],
            .devices = manager->caches[CACHE_DEVICES],
            .topologies = manager->caches[CACHE_TOPOLOGIES],
            .normalization = policy_source_normalization(manager->policy),
            .amplification = policy_source_amplification(manager->policy),
            .policy = policy_source_policy(manager->policy),
            .plugins = &manager->options.plugins,
            .events = manager->events,
            .registry = manager->registry,
        };
        manager->noderesource = noderesource_controller_new(&options);
        struct controller controller = noderesource_controller_interface(manager->noderesource);
        manager->noderesource_queue = runtime_add(manager->runtime, &controller);
    }
    if (manager->options.run_nodeslo)
        make_nodeslo(manager);
}

static struct str choose_namespace(const struct manager *manager)
{
    if (*manager->options.config_namespace)
        return str_c(manager->options.config_namespace);
    return manager->kube.in_cluster && !str_empty(manager->kube.ns) ? manager->kube.ns : STR("kube-system");
}

static bool connect_client(struct manager *manager, struct err *err)
{
    struct kube_config_options load = { .kubeconfig = manager->options.kubeconfig,
                                        .context = manager->options.context };
    if (!kube_config_load(&manager->arena, &load, &manager->kube, err))
        return false;
    manager->config_namespace = choose_namespace(manager);
    LOG_INFO("connecting", LOG_S("server", manager->kube.server), LOG_S("credentials", manager->kube.source),
             LOG_S("config-namespace", manager->config_namespace));
    struct kube_client_options client = { .config = &manager->kube,
                                          .metrics = manager->registry,
                                          .user_agent = "koord-manager/" KOORD_VERSION " (linux)" };
    manager->client = kube_client_new(manager->loop, &client, err);
    return manager->client != NULL;
}

static void make_events_and_policy(struct manager *manager)
{
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    struct event_recorder_options events = { .controller = "koord-manager",
                                             .instance = arena_str(&manager->arena, str_c(host)),
                                             .metrics = manager->registry,
                                             .may_write = may_tell,
                                             .may_write_self = manager };
    manager->events = event_recorder_new(manager->client, &events);
    struct policy_source_options policy = {
        .loop = manager->loop,
        .ns = manager->config_namespace,
        .name = str_c(manager->options.slo_config_name),
        .missing_grace_ms = manager->options.config_missing_grace_ns / NS_PER_MS,
        .events = manager->events,
        .registry = manager->registry,
        .changed = enqueue_everything,
        .self = manager,
    };
    manager->policy = policy_source_new(&policy);
}

static bool serve_endpoints(struct manager *manager, struct err *err)
{
    struct endpoints_options options = { .metrics_addr = manager->options.metrics_addr,
                                         .health_addr = manager->options.health_probe_addr,
                                         .registry = manager->registry,
                                         .checks = manager->checks,
                                         .check_count = CACHE_COUNT };
    manager->endpoints = endpoints_new(manager->loop, &options, err);
    if (!manager->endpoints)
        return false;
    LOG_INFO("serving", LOG_I("metrics-port", endpoints_metrics_port(manager->endpoints)),
             LOG_I("health-port", endpoints_health_port(manager->endpoints)));
    return true;
}

struct manager *manager_new(struct loop *loop, const struct options *options, struct err *err)
{
    struct manager *manager = mem_zalloc(sizeof *manager);
    manager->options = *options;
    manager->loop = loop;
    manager->registry = metric_registry_new();
    manager->pool = intern_new();
    loop_timer_init(&manager->resync, loop, on_resync, manager);
    loop_timer_init(&manager->patience, loop, end_patience, manager);
    metrics_process_register(manager->registry);
    if (!connect_client(manager, err)) {
        manager_free(manager);
        return NULL;
    }
    make_events_and_policy(manager);
    make_caches(manager);
    make_controllers(manager);
    if (!make_leadership(manager, err) || !serve_endpoints(manager, err)) {
        manager_free(manager);
        return NULL;
    }
    return manager;
}

void manager_start(struct manager *manager)
{
    for (int i = 0; i < CACHE_COUNT; i++)
        informer_start(manager->caches[i]);
    leadership_start(manager->leadership);
}

void manager_stop(struct manager *manager)
{
    if (manager->stopping)
        return;
    manager->stopping = true;
    loop_timer_set(&manager->patience, STOP_PATIENCE_MS);
    runtime_stop(manager->runtime, on_drained, manager);
}

bool manager_lost_lease(const struct manager *manager)
{
    return manager->lost;
}

void manager_free(struct manager *manager)
{
    if (!manager)
        return;
    endpoints_free(manager->endpoints);
    leadership_free(manager->leadership);
    manager->leadership = NULL;
    runtime_free(manager->runtime);
    nodeslo_controller_free(manager->nodeslo);
    noderesource_controller_free(manager->noderesource);
    nodemetric_controller_free(manager->nodemetric);
    for (int i = 0; i < CACHE_COUNT; i++)
        informer_free(manager->caches[i]);
    policy_source_free(manager->policy);
    event_recorder_free(manager->events);
    kube_client_free(manager->client);
    loop_timer_done(&manager->resync);
    loop_timer_done(&manager->patience);
    intern_free(manager->pool);
    metric_registry_free(manager->registry);
    arena_done(&manager->arena);
    free(manager);
}
