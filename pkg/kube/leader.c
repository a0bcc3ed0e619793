#include "kube/leader.h"

#include <stdlib.h>

#include "base/log.h"
#include "kube/informer.h"

#define RELEASE_PATIENCE_MS 2000

/* The same Lease in another namespace: somebody else who does our work. */
struct foreign {
    struct loop_timer timer;
    struct kube_call *call;
    char *ns;
    char *rv;
    bool known; /* looked at once */
    bool active;
    bool complained;
    struct mono_time changed;
    int64_t record_ms;
};

struct leader {
    struct leader_options options;
    struct loop *loop;
    struct kube_client *client;
    struct intern *pool;
    struct informer *informer;
    struct elector elector;
    struct foreign foreign;
    struct loop_timer timer, patience;
    struct kube_call *call;
    enum elector_do sent;
    char *ns, *name, *identity, *selector;
    struct strbuf last_holder; /* for the log: told once per change */
    bool told_started, told_stopped;
    struct metric *master, *renew_seconds, *margin, *transitions, *slowpath;
};

static void step(struct leader *leader);

/* --- telling ----------------------------------------------------------------------- */

static void record_event(struct leader *leader, const char *what)
{
    if (!leader->options.events)
        return;
    CLEANUP(strbuf_done) struct strbuf note = STRBUF_INIT(1024);
    strbuf_addf(&note, "%s %s", leader->identity, what);
    struct event_regarding regarding = { .kind = &lease_kind,
                                         .ns = str_c(leader->ns),
                                         .name = str_c(leader->name),
                                         .uid = strbuf_str(&leader->elector.uid),
                                         .rv = strbuf_str(&leader->elector.rv) };
    event_record(leader->options.events, &regarding, false, "LeaderElection", "LeaderElection",
                 strbuf_str(&note));
}

static void note_holder(struct leader *leader)
{
    struct str holder = strbuf_str(&leader->elector.holder);
    if (!leader->elector.seen || str_eq(holder, strbuf_str(&leader->last_holder)))
        return;
    strbuf_clear(&leader->last_holder);
    strbuf_add(&leader->last_holder, holder);
    metric_add(leader->transitions, 1);
    LOG_INFO("leader", LOG_S("holder", holder), LOG_C("lease", leader->name));
}

static void tell_changes(struct leader *leader)
{
    bool leads = leader->elector.state == ELECTOR_LEADER;
    metric_set(leader->master, leads, str_c(leader->name));
    note_holder(leader);
    if (leads && !leader->told_started) {
        leader->told_started = true;
        record_event(leader, "became leader");
        leader->options.started(leader->options.self);
        return;
    }
    bool over = leader->elector.state == ELECTOR_LOST || leader->elector.state == ELECTOR_RELEASED;
    if (!over || leader->told_stopped)
        return;
    leader->told_stopped = true;
    loop_timer_cancel(&leader->patience);
    leader->options.stopped(leader->options.self, leader->elector.state == ELECTOR_LOST);
}

/* --- requests ---------------------------------------------------------------------- */

/* NULL unless the body is a Lease; the caller unrefs it. */
static struct kube_object *decode_lease(struct intern *pool, struct str body)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    void *decoded = arena_alloc(&arena, lease_kind.table->size);
    if (!json_decode(&arena, body, lease_kind.table, decoded, NULL, NULL))
        return NULL;
    return lease_kind.project(decoded, pool, NULL, NULL);
}

static void on_answer(void *self, const struct kube_response *response)
{
    struct leader *leader = self;
    struct mono_time now = mono_now();
    leader->call = NULL;
    struct kube_object *object =
        response->failure == KUBE_OK ? decode_lease(leader->pool, response->body) : NULL;
    double seconds = (double)(now.ns - leader->elector.sent_at.ns) / (double)NS_PER_S;
    if (leader->sent == ELECTOR_UPDATE)
        metric_observe(leader->renew_seconds, seconds, str_c(leader->name));
    if (response->failure != KUBE_OK && response->failure != KUBE_NOT_FOUND)
        LOG_DEBUG("lease request failed", LOG_C("failure", kube_failure_name(response->failure)),
                  LOG_ERR(&response->err));
    elector_answered(&leader->elector, response->failure, object ? lease_of(object) : NULL, now);
    kube_object_unref(object);
    if (leader->elector.state == ELECTOR_LEADER)
        metric_set(leader->margin, (double)elector_margin_ms(&leader->elector, now) / 1000,
                   str_c(leader->name));
    step(leader);
}

static void send_request(struct leader *leader, enum elector_do what)
{
    static const enum kube_verb verbs[] = {
        [ELECTOR_GET] = KUBE_GET, [ELECTOR_CREATE] = KUBE_CREATE, [ELECTOR_UPDATE] = KUBE_PATCH_MERGE
    };
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(8 * 1024);
    struct str ns = str_c(leader->ns), name = str_c(leader->name);
    if (what != ELECTOR_GET)
        elector_write_record(&leader->elector, ns, name, loop_wall(leader->loop), &body);
    struct kube_request request = {
        .verb = verbs[what],
        .kind = &lease_kind,
        .ns = ns,
        .name = what == ELECTOR_CREATE ? STR_NULL : name,
        .body = strbuf_str(&body),
        .request_timeout_ms = min_i64(leader->options.renew_ms / 2, 5000), /* LE-6 */
    };
    struct err err = ERR_INIT;
    leader->sent = what;
    leader->call = kube_send(leader->client, &request, on_answer, leader, &err);
    if (leader->call)
        return;
    elector_answered(&leader->elector, KUBE_UNREACHABLE, NULL, mono_now());
    loop_timer_set(&leader->timer, leader->options.retry_ms);
}

static bool foreign_forbids(const struct leader *leader)
{
    return leader->foreign.ns && (!leader->foreign.known || leader->foreign.active);
}

/* Everything that may have changed ends here: do what the elector says, arm the timer. */
static void step(struct leader *leader)
{
    struct mono_time now = mono_now();
    bool standby = leader->elector.state == ELECTOR_STANDBY;
    if (standby && foreign_forbids(leader)) {
        tell_changes(leader);
        return; /* foreign_look comes back to us */
    }
    struct elector_action action = elector_next(&leader->elector, now);
    if (action.what != ELECTOR_WAIT) {
        metric_add(leader->slowpath, action.what == ELECTOR_GET, str_c(leader->name));
        send_request(leader, action.what);
        action = elector_next(&leader->elector, now);
    }
    if (action.wait_ms >= 0)
        loop_timer_set(&leader->timer, max_i64(1, action.wait_ms));
    tell_changes(leader);
}

static void on_timer(void *self)
{
    step(self);
}

/* --- the watch --------------------------------------------------------------------- */

static void on_lease_changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    (void)old;
    struct leader *leader = self;
    elector_observed(&leader->elector, new ? lease_of(new) : NULL, mono_now());
    step(leader);
}

static void on_feed(void *self, const struct feed_state *feed)
{
    struct leader *leader = self;
    elector_watching(&leader->elector, feed->live);
    step(leader);
}

/* --- somebody else's Lease ---------------------------------------------------------- */

static void foreign_seen(struct leader *leader, const struct lease *lease, struct mono_time now)
{
    struct foreign *foreign = &leader->foreign;
    struct str rv = kube_object_rv(&lease->object);
    if (!str_eq(rv, str_c(foreign->rv))) {
        free(foreign->rv);
        foreign->rv = str_dup_c(rv);
        foreign->changed = now;
        foreign->record_ms = max_i64(1, min_i64(lease->duration_s, 3600)) * 1000;
    }
    foreign->active = lease->holder && mono_ms_between(foreign->changed, now) < foreign->record_ms;
}

static void on_foreign(void *self, const struct kube_response *response)
{
    struct leader *leader = self;
    struct foreign *foreign = &leader->foreign;
    bool was_active = foreign->active;
    foreign->call = NULL;
    struct kube_object *object =
        response->failure == KUBE_OK ? decode_lease(leader->pool, response->body) : NULL;
    if (object)
        foreign_seen(leader, lease_of(object), mono_now());
    else if (response->failure == KUBE_NOT_FOUND || response->failure == KUBE_FORBIDDEN)
        foreign->active = false; /* nothing there, or nothing that is ours to know */
    foreign->known = foreign->known || object || response->failure == KUBE_NOT_FOUND ||
                     response->failure == KUBE_FORBIDDEN;
    kube_object_unref(object);
    if (foreign->active != was_active)
        LOG_WARN(foreign->active ? "another manager renews its Lease, not leading beside it"
                                 : "the other manager's Lease is not renewed any more",
                 LOG_C("namespace", foreign->ns), LOG_C("lease", leader->name));
    if (foreign->active && leader->elector.state == ELECTOR_LEADER) {
        elector_release(&leader->elector);
        leader->elector.state = ELECTOR_LOST;
    }
    loop_timer_set(&foreign->timer, leader->options.retry_ms);
    step(leader);
}

static void foreign_look(void *self)
{
    struct leader *leader = self;
    struct kube_request request = { .verb = KUBE_GET,
                                    .kind = &lease_kind,
                                    .ns = str_c(leader->foreign.ns),
                                    .name = str_c(leader->name),
                                    .request_timeout_ms = 5000 };
    if (!leader->foreign.call)
        leader->foreign.call = kube_send(leader->client, &request, on_foreign, leader, NULL);
}

/* --- interface ---------------------------------------------------------------------- */

static void register_metrics(struct leader *leader, struct metric_registry *registry)
{
    static const double seconds[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10 };
    if (!registry)
        return;
    leader->master =
        metric_gauge(registry, "leader_election_master_status", "1 while this process leads.", "name", NULL);
    leader->slowpath = metric_counter(registry, "leader_election_slowpath_total",
                                      "Reads of the Lease that a renewal or takeover needed.", "name", NULL);
    leader->renew_seconds =
        metric_histogram(registry, "koord_manager_lease_renew_duration_seconds", "Time a renewal took.",
                         seconds, ARRAY_LEN(seconds), "name", NULL);
    leader->margin = metric_gauge(
        registry, "koord_manager_lease_margin_seconds",
        "Time left until writes would have stopped, at the end of the last renewal.", "name", NULL);
    leader->transitions = metric_counter(registry, "koord_manager_lease_transitions_total",
                                         "Changes of the holder that were seen.", NULL);
    metric_set(leader->master, 0, str_c(leader->name));
}

static void give_up_release(void *self)
{
    struct leader *leader = self;
    leader->elector.state = ELECTOR_LOST; /* LE-7: never beyond 2 s; it will expire */
    tell_changes(leader);
}

static void make_informer(struct leader *leader)
{
    struct informer_options options = { .kind = &lease_kind,
                                        .pool = leader->pool,
                                        .ns = str_c(leader->ns),
                                        .field_selector = str_c(leader->selector),
                                        .seed = leader->options.seed,
                                        .changed = on_lease_changed,
                                        .feed = on_feed,
                                        .self = leader };
    leader->informer = informer_new(leader->client, &options);
}

static char *join(const char *prefix, struct str text)
{
    CLEANUP(strbuf_done) struct strbuf joined = STRBUF_INIT(1024);
    strbuf_addf(&joined, "%s" STR_FMT, prefix, STR_ARG(text));
    return str_dup_c(strbuf_str(&joined));
}

struct leader *leader_new(struct loop *loop, const struct leader_options *options, struct err *err)
{
    struct leader *leader = mem_zalloc(sizeof *leader);
    leader->options = *options;
    leader->loop = loop;
    leader->pool = intern_new();
    leader->ns = str_dup_c(options->ns);
    leader->name = str_dup_c(options->name);
    leader->identity = str_dup_c(options->identity);
    leader->selector = join("metadata.name=", options->name);
    leader->last_holder = STRBUF_INIT(512);
    if (!str_empty(options->foreign_ns) && !str_eq(options->foreign_ns, options->ns))
        leader->foreign.ns = str_dup_c(options->foreign_ns);
    loop_timer_init(&leader->timer, loop, on_timer, leader);
    loop_timer_init(&leader->patience, loop, give_up_release, leader);
    loop_timer_init(&leader->foreign.timer, loop, foreign_look, leader);
    struct elector_options elector = { .identity = str_c(leader->identity),
                                       .lease_ms = options->lease_ms,
                                       .renew_ms = options->renew_ms,
                                       .retry_ms = options->retry_ms,
                                       .seed = options->seed };
    elector_init(&leader->elector, &elector);
    register_metrics(leader, options->metrics);
    struct kube_client_options client = { .config = options->config,
                                          .user_agent =
                                              "koord-manager/" KOORD_VERSION " (linux) /leader-election" };
    if (elector_options_check(&elector, err))
        leader->client = kube_client_new(loop, &client, err);
    if (!leader->client) {
        leader_free(leader);
        return NULL;
    }
    make_informer(leader);
    return leader;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    informer_free(leader->informer);
    if (leader->call)
        kube_cancel(leader->call);
    if (leader->foreign.call)
        kube_cancel(leader->foreign.call);
    loop_timer_done(&leader->timer);
    loop_timer_done(&leader->patience);
    loop_timer_done(&leader->foreign.timer);
    kube_client_free(leader->client);
    elector_done(&leader->elector);
    strbuf_done(&leader->last_holder);
    intern_free(leader->pool);
    free(leader->ns);
    free(leader->name);
    free(leader->identity);
    free(leader->selector);
    free(leader->foreign.ns);
    free(leader->foreign.rv);
    free(leader);
}

void leader_start(struct leader *leader)
{
    informer_start(leader->informer);
    if (leader->foreign.ns)
        foreign_look(leader);
    step(leader);
}

bool leader_may_write(const struct leader *leader)
{
    return !leader->told_stopped && !leader->elector.releasing &&
           elector_may_write(&leader->elector, mono_now());
}

void leader_release(struct leader *leader)
{
    if (leader->elector.state != ELECTOR_LEADER) {
        leader->elector.state =
            leader->elector.state == ELECTOR_STANDBY ? ELECTOR_RELEASED : leader->elector.state;
        tell_changes(leader);
        return;
    }
    record_event(leader, "stopped leading");
    elector_release(&leader->elector);
    loop_timer_set(&leader->patience, RELEASE_PATIENCE_MS);
    step(leader);
}
