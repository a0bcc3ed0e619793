#include "nodemetric/controller.h"

#include <stdlib.h>

#include "api/node.h"
#include "nodemetric/crd_watch.h"
#include "nodemetric/spec.h"
#include "sloconfig/node.h"

struct nodemetric_controller {
    struct nodemetric_controller_options options;
    struct crd_watch *crd;
};

static void plan_write(struct plan *plan, const struct nodemetric *metric, struct str name,
                       const struct nodemetric_plan *decided, bool pruned)
{
    if (decided->action == NODEMETRIC_NONE)
        return;
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(64 * 1024);
    struct write *write = plan_add(plan);
    write->kind = &nodemetric_kind;
    write->name = arena_str(plan->arena, name);
    switch (decided->action) {
    case NODEMETRIC_CREATE:
        write->verb = WRITE_CREATE;
        write->label = "createNodeMetric";
        nodemetric_create_write(&body, name, &decided->spec);
        break;
    case NODEMETRIC_UPDATE:
        write->verb = WRITE_PATCH;
        write->label = "updateNodeMetric";
        nodemetric_patch_write(&body, &metric->spec, &decided->spec, pruned);
        break;
    default: /* a cache that lags behind must not cost a live node its NodeMetric */
        write->verb = WRITE_DELETE;
        write->label = "deleteNodeMetric";
        write->only_if_absent = &node_kind;
        kube_object_uid(&metric->object, &body);
        write->uid = arena_str(plan->arena, strbuf_str(&body));
        return;
    }
    write->body = arena_str(plan->arena, strbuf_str(&body));
}

static void reconcile(void *self, struct str key, struct mono_time mono, struct wall_time wall,
                      struct plan *plan)
{
    (void)mono;
    (void)wall;
    struct nodemetric_controller *controller = self;
    const struct colocation_status *policy = colocation_policy_status(controller->options.policy);
    const struct colocation_config *config = policy->in_force;
    const struct kube_object *node = store_get(controller->options.nodes, STR_NULL, key);
    const struct kube_object *metric = store_get(controller->options.metrics, STR_NULL, key);
    struct strategy strategy;
    struct nodemetric_input in = {
        .node_exists = node != NULL,
        .metric = metric ? nodemetric_of(metric) : NULL,
        .hold = !config && policy->state == COLOCATION_REJECTED,
        .keep_existing = !config,
        .predict_pruned = crd_watch_pruned(controller->crd),
    };
    if (node && config) {
        colocation_resolve_node(config, node_of(node), plan->arena, &strategy, NULL);
        in.strategy = &strategy;
    }
    struct nodemetric_plan decided;
    nodemetric_plan_make(&in, plan->arena, &decided);
    plan_write(plan, in.metric, key, &decided, in.predict_pruned);
}

/* What a write asked for, read back from its body: the policy may have changed since. */
static bool sent_predict_policy(struct arena *arena, struct str body, struct nodemetric_desired *ret)
{
    const struct json *root;
    if (!json_parse(arena, body, NULL, &root, NULL))
        return false;
    const struct json *predict = json_path(root, "spec", "predictPolicy", NULL);
    ret->has_predict_policy = json_is(predict, JSON_OBJECT);
    ret->predict_diff_percent.set =
        json_i64(json_get(predict, STR("resourceDiffThresholdPercent")), &ret->predict_diff_percent.value);
    ret->predict_cold_start_s.set =
        json_i64(json_get(predict, STR("coldStartPeriodSeconds")), &ret->predict_cold_start_s.value);
    return ret->has_predict_policy;
}

/* The server drops what its CRD does not know, without a word. */
static bool was_pruned(struct str body, struct str answer)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct nodemetric_desired sent = { 0 };
    void *decoded = arena_alloc(&arena, nodemetric_kind.table->size);
    if (!sent_predict_policy(&arena, body, &sent) ||
        !json_decode(&arena, answer, nodemetric_kind.table, decoded, NULL, NULL))
        return false;
    struct intern *pool = intern_new();
    struct kube_object *object = nodemetric_kind.project(decoded, pool, NULL, NULL);
    bool pruned = object && nodemetric_predict_was_pruned(&sent, &nodemetric_of(object)->spec);
    kube_object_unref(object);
    intern_free(pool);
    return pruned;
}

static void written(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall)
{
    (void)key;
    (void)mono;
    (void)wall;
    struct nodemetric_controller *controller = self;
    if (result->failure == KUBE_OK && write->verb != WRITE_DELETE && was_pruned(write->body, result->body))
        crd_watch_note_pruned(controller->crd);
}

static const struct store *store_of(void *self, const struct kube_kind *kind)
{
    (void)kind; /* it writes NodeMetrics only */
    struct nodemetric_controller *controller = self;
    return controller->options.metrics;
}

static void crd_changed(void *self)
{
    struct nodemetric_controller *controller = self;
    controller->options.requeue_all(controller->options.self);
}

struct nodemetric_controller *nodemetric_controller_new(const struct nodemetric_controller_options *options)
{
    struct nodemetric_controller *controller = mem_zalloc(sizeof *controller);
    controller->options = *options;
    struct crd_watch_options crd = { .client = options->client,
                                     .events = options->events,
                                     .registry = options->registry,
                                     .changed = crd_changed,
                                     .self = controller };
    controller->crd = crd_watch_new(&crd);
    return controller;
}

void nodemetric_controller_free(struct nodemetric_controller *controller)
{
    if (!controller)
        return;
    crd_watch_free(controller->crd);
    free(controller);
}

struct controller nodemetric_controller_interface(struct nodemetric_controller *controller)
{
    return (struct controller){ .name = "nodemetric",
                                .reconcile = reconcile,
                                .written = written,
                                .store_of = store_of,
                                .self = controller };
}
