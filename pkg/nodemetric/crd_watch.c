#include "nodemetric/crd_watch.h"

#include <stdlib.h>

#include "api/crd.h"
#include "base/log.h"

#define CRD_NAME "nodemetrics.slo.koordinator.sh"
#define CHECK_MS (5 * 60 * 1000)

struct crd_watch {
    struct crd_watch_options options;
    struct loop_timer timer;
    struct kube_call *call;
    struct metric *pruned_gauge;
    bool pruned;
    int64_t generation; /* of the CRD that pruned; 0: not known */
};

static void set_pruned(struct crd_watch *watch, bool pruned)
{
    watch->pruned = pruned;
    metric_set(watch->pruned_gauge, pruned);
}

static void on_crd(void *self, const struct kube_response *response)
{
    struct crd_watch *watch = self;
    watch->call = NULL;
    loop_timer_set(&watch->timer, CHECK_MS);
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct crd crd = { 0 };
    if (response->failure != KUBE_OK ||
        !json_decode(&arena, response->body, crd_kind.table, &crd, NULL, NULL))
        return; /* not readable now: what we know still stands */
    if (watch->generation == 0)
        watch->generation = crd.meta.generation;
    if (watch->generation == crd.meta.generation)
        return;
    LOG_INFO("NodeMetric CRD changed, trying predictPolicy again", LOG_I("generation", crd.meta.generation));
    loop_timer_cancel(&watch->timer);
    set_pruned(watch, false);
    watch->options.changed(watch->options.self);
}

static void look(void *self)
{
    struct crd_watch *watch = self;
    struct kube_request request = { .verb = KUBE_GET, .kind = &crd_kind, .name = STR(CRD_NAME) };
    if (!watch->call)
        watch->call = kube_send(watch->options.client, &request, on_crd, watch, NULL);
}

struct crd_watch *crd_watch_new(const struct crd_watch_options *options)
{
    struct crd_watch *watch = mem_zalloc(sizeof *watch);
    watch->options = *options;
    loop_timer_init(&watch->timer, kube_client_loop(options->client), look, watch);
    if (options->registry)
        watch->pruned_gauge =
            metric_gauge(options->registry, "koord_manager_nodemetric_predict_policy_pruned",
                         "1 while the installed NodeMetric CRD drops spec.predictPolicy.", NULL);
    set_pruned(watch, false);
    return watch;
}

void crd_watch_free(struct crd_watch *watch)
{
    if (!watch)
        return;
    if (watch->call)
        kube_cancel(watch->call);
    loop_timer_done(&watch->timer);
    free(watch);
}

bool crd_watch_pruned(const struct crd_watch *watch)
{
    return watch->pruned;
}

void crd_watch_note_pruned(struct crd_watch *watch)
{
    static const char note[] =
        "The installed NodeMetric CRD drops spec.predictPolicy, so nodePredictPolicy has no "
        "effect; install the CRD that comes with koord-manager to use it.";
    if (watch->pruned)
        return;
    set_pruned(watch, true);
    watch->generation = 0;
    LOG_WARN("the NodeMetric CRD drops spec.predictPolicy; leaving the field out", LOG_C("crd", CRD_NAME));
    struct event_regarding regarding = { .kind = &crd_kind, .name = STR(CRD_NAME) };
    if (watch->options.events)
        event_record(watch->options.events, &regarding, true, "PredictPolicyPruned", "WriteNodeMetric",
                     STR(note));
    loop_timer_set(&watch->timer, 0);
}
