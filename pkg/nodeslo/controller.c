#include "nodeslo/controller.h"

#include <stdlib.h>

#include "base/log.h"
#include "nodeslo/spec.h"

#define MAX_BODY_BYTES ((size_t)8 * 1024 * 1024)

/* Writes that the server answered without doing what they asked for. */
#define FUTILE_MAX 64
/* Nodes whose annotation was told of; beyond, one may be told again. */
#define TOLD_MAX 1024

struct nodeslo_controller {
    struct nodeslo_controller_options options;
    uint64_t generation;         /* of the policy the list below belongs to */
    uint64_t futile[FUTILE_MAX]; /* hashes of patches */
    size_t futile_count;
    struct told {
        uint64_t node, note; /* hashes */
    } told[TOLD_MAX];
    struct metric *futile_gauge;
};

/* --- what a server does not keep ------------------------------------------------------------ */

static uint64_t patch_hash(const struct json *patch)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(MAX_BODY_BYTES);
    json_write(&text, patch);
    return str_hash(strbuf_str(&text));
}

/* Another policy, another try. */
static void follow_policy(struct nodeslo_controller *controller)
{
    uint64_t generation = slo_policy_status(controller->options.policy)->generation;
    if (generation == controller->generation)
        return;
    controller->generation = generation;
    controller->futile_count = 0;
    metric_set(controller->futile_gauge, 0);
}

static bool is_futile(const struct nodeslo_controller *controller, const struct json *patch)
{
    uint64_t hash = controller->futile_count ? patch_hash(patch) : 0;
    for (size_t i = 0; i < controller->futile_count; i++)
        if (controller->futile[i] == hash)
            return true;
    return false;
}

static void note_futile(struct nodeslo_controller *controller, const struct json *residue)
{
    if (controller->futile_count == FUTILE_MAX || is_futile(controller, residue))
        return;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    json_write(&text, residue);
    controller->futile[controller->futile_count++] = patch_hash(residue);
    metric_set(controller->futile_gauge, (double)controller->futile_count);
    LOG_WARN("the server does not keep all of a NodeSLO; is its CRD older than the policy?",
             LOG_S("dropped", str_slice(strbuf_str(&text), 0, 512)));
}

/* --- overrides that are ignored --------------------------------------------------------------- */

static void tell_annotation(struct nodeslo_controller *controller, const struct node *node,
                            const struct findings *findings)
{
    CLEANUP(strbuf_done) struct strbuf note = STRBUF_INIT(1024);
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(512);
    struct str name = kube_object_name(&node->object);
    uint64_t hash = str_hash(name);
    struct told *told = &controller->told[hash % TOLD_MAX];
    if (findings->count == 0) {
        if (told->node == hash)
            *told = (struct told){ 0 };
        return;
    }
    finding_write(&note, &findings->items[0]);
    struct told now = { hash, str_hash(strbuf_str(&note)) };
    if (told->node == now.node && told->note == now.note)
        return;
    *told = now;
    LOG_WARN("override on node ignored", LOG_S("node", name), LOG_S("why", strbuf_str(&note)));
    kube_object_uid(&node->object, &uid);
    struct event_regarding regarding = { .kind = &node_kind, .name = name, .uid = strbuf_str(&uid) };
    if (controller->options.events)
        event_record(controller->options.events, &regarding, true, finding_reason_override, "RenderNodeSLO",
                     strbuf_str(&note));
}

/* --- deciding ---------------------------------------------------------------------------------- */

static void plan_write(const struct nodeslo_controller *controller, struct plan *plan,
                       const struct nodeslo *slo, struct str name, const struct nodeslo_plan *decided)
{
    bool skip = decided->action == NODESLO_UPDATE && is_futile(controller, decided->patch);
    if (decided->action == NODESLO_NONE || skip)
        return;
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(MAX_BODY_BYTES);
    struct write *write = plan_add(plan);
    write->kind = &nodeslo_kind;
    write->name = arena_str(plan->arena, name);
    switch (decided->action) {
    case NODESLO_CREATE:
        write->verb = WRITE_CREATE;
        write->label = "createNodeSLO";
        nodeslo_create_write(&body, name, decided);
        break;
    case NODESLO_UPDATE:
        write->verb = WRITE_PATCH;
        write->label = "updateNodeSLO";
        nodeslo_patch_write(&body, decided);
        break;
    default: /* a cache that lags behind must not cost a live node its NodeSLO */
        write->verb = WRITE_DELETE;
        write->label = "deleteNodeSLO";
        write->only_if_absent = &node_kind;
        kube_object_uid(&slo->object, &body);
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
    struct nodeslo_controller *controller = self;
    const struct kube_object *node = store_get(controller->options.nodes, STR_NULL, key);
    const struct kube_object *slo = store_get(controller->options.slos, STR_NULL, key);
    if (!controller->options.ready(controller->options.self))
        return;
    follow_policy(controller);
    struct findings findings = FINDINGS_INIT(plan->arena);
    struct nodeslo_input in = {
        .node = node ? node_of(node) : NULL,
        .slo = slo ? nodeslo_of(slo) : NULL,
        .policy = slo_policy_status(controller->options.policy),
    };
    struct nodeslo_plan decided;
    nodeslo_plan_make(&in, plan->arena, &findings, &decided);
    if (in.node)
        tell_annotation(controller, in.node, &findings);
    plan_write(controller, plan, in.slo, key, &decided);
}

static void written(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall)
{
    (void)key;
    (void)mono;
    (void)wall;
    struct nodeslo_controller *controller = self;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    if (result->failure != KUBE_OK || write->verb == WRITE_DELETE)
        return;
    const struct json *residue = nodeslo_residue(&arena, write->body, result->body);
    if (residue)
        note_futile(controller, residue);
}

static const struct store *store_of(void *self, const struct kube_kind *kind)
{
    (void)kind; /* it writes NodeSLOs only */
    struct nodeslo_controller *controller = self;
    return controller->options.slos;
}

struct nodeslo_controller *nodeslo_controller_new(const struct nodeslo_controller_options *options)
{
    struct nodeslo_controller *controller = mem_zalloc(sizeof *controller);
    controller->options = *options;
    if (options->registry)
        controller->futile_gauge =
            metric_gauge(options->registry, "koord_manager_nodeslo_writes_not_kept",
                         "Different NodeSLO writes that the installed CRD does not keep.", NULL);
    return controller;
}

void nodeslo_controller_free(struct nodeslo_controller *controller)
{
    free(controller);
}

struct controller nodeslo_controller_interface(struct nodeslo_controller *controller)
{
    return (struct controller){ .name = "nodeslo",
                                .reconcile = reconcile,
                                .written = written,
                                .store_of = store_of,
                                .self = controller };
}
