#include "kube/foreign_lease.h"

#include <stdlib.h>

#include "api/lease.h"
#include "base/log.h"

#define REQUEST_MS 5000
#define MAX_RECORD_S 3600

enum verdict { UNKNOWN, RENEWED, IDLE };

struct foreign_lease {
    struct foreign_lease_options options;
    struct loop *loop;
    struct loop_timer timer;
    struct kube_call *call;
    struct intern *pool;
    char *ns, *name;
    char *rv; /* of the version seen last; NULL: none */
    enum verdict verdict;
    bool told_forbidden;
    struct mono_time changed; /* when that version was first seen */
    int64_t record_ms;
    struct metric *active;
};

static enum verdict judge(struct foreign_lease *foreign, const struct lease *lease, struct mono_time now)
{
    struct str rv = kube_object_rv(&lease->object);
    if (!foreign->rv || !str_eq(rv, str_c(foreign->rv))) {
        free(foreign->rv);
        foreign->rv = str_dup_c(rv);
        foreign->changed = now;
        foreign->record_ms = max_i64(1, min_i64(lease->duration_s, MAX_RECORD_S)) * 1000;
    }
    return lease->holder && mono_ms_between(foreign->changed, now) < foreign->record_ms ? RENEWED : IDLE;
}

static void set_verdict(struct foreign_lease *foreign, enum verdict verdict)
{
    enum verdict was = foreign->verdict;
    if (verdict == was)
        return;
    foreign->verdict = verdict;
    metric_set(foreign->active, verdict == RENEWED);
    if (verdict == RENEWED)
        LOG_WARN("another manager renews its Lease, not leading beside it", LOG_C("namespace", foreign->ns),
                 LOG_C("lease", foreign->name));
    else if (was == RENEWED)
        LOG_INFO("the other manager's Lease is not renewed any more", LOG_C("namespace", foreign->ns),
                 LOG_C("lease", foreign->name));
    foreign->options.changed(foreign->options.self);
}

static void on_answer(void *self, const struct kube_response *response)
{
    struct foreign_lease *foreign = self;
    struct err err = ERR_INIT;
    foreign->call = NULL;
    loop_timer_set(&foreign->timer, foreign->options.poll_ms);
    if (response->failure == KUBE_FORBIDDEN && !foreign->told_forbidden) {
        foreign->told_forbidden = true;
        LOG_WARN("not allowed to look for another manager's Lease, going on without",
                 LOG_C("namespace", foreign->ns), LOG_C("lease", foreign->name));
    }
    if (response->failure == KUBE_NOT_FOUND || response->failure == KUBE_FORBIDDEN)
        set_verdict(foreign, IDLE);
    if (response->failure != KUBE_OK)
        return; /* nothing learned: what was known stays */
    struct kube_object *object = lease_decode(foreign->pool, response->body, &err);
    if (object)
        set_verdict(foreign, judge(foreign, lease_of(object), loop_mono(foreign->loop)));
    kube_object_unref(object);
}

static void look(void *self)
{
    struct foreign_lease *foreign = self;
    struct kube_request request = { .verb = KUBE_GET,
                                    .kind = &lease_kind,
                                    .ns = str_c(foreign->ns),
                                    .name = str_c(foreign->name),
                                    .request_timeout_ms = REQUEST_MS };
    if (!foreign->call)
        foreign->call = kube_send(foreign->options.client, &request, on_answer, foreign, NULL);
    if (!foreign->call)
        loop_timer_set(&foreign->timer, foreign->options.poll_ms);
}

struct foreign_lease *foreign_lease_new(const struct foreign_lease_options *options)
{
    struct foreign_lease *foreign = mem_zalloc(sizeof *foreign);
    foreign->options = *options;
    foreign->loop = kube_client_loop(options->client);
    foreign->pool = intern_new();
    foreign->ns = str_dup_c(options->ns);
    foreign->name = str_dup_c(options->name);
    loop_timer_init(&foreign->timer, foreign->loop, look, foreign);
    if (options->metrics)
        foreign->active = metric_gauge(options->metrics, "koord_manager_foreign_lease_active",
                                       "1 while another manager renews a Lease of our name elsewhere.", NULL);
    return foreign;
}

void foreign_lease_free(struct foreign_lease *foreign)
{
    if (!foreign)
        return;
    if (foreign->call)
        kube_cancel(foreign->call);
    loop_timer_done(&foreign->timer);
    intern_free(foreign->pool);
    free(foreign->ns);
    free(foreign->name);
    free(foreign->rv);
    free(foreign);
}

void foreign_lease_start(struct foreign_lease *foreign)
{
    loop_timer_set(&foreign->timer, 0);
}

bool foreign_lease_forbids(const struct foreign_lease *foreign)
{
    return foreign->verdict != IDLE;
}
