#include "kube/leader.h"

#include <stdlib.h>

#include "base/log.h"
#include "kube/foreign_lease.h"
#include "kube/informer.h"

#define RELEASE_PATIENCE_MS 2000
#define MAX_REQUEST_MS 5000
#define MAX_BODY_BYTES (32 * 1024)
#define MAX_HOLDER 512

struct leader {
    struct leader_options options;
    struct loop *loop;
    struct kube_client *client;
    struct intern *pool;
    struct informer *informer;
    struct elector elector;
    struct foreign_lease *foreign; /* NULL: nobody to look for */
    struct loop_timer timer, patience;
    struct kube_call *call;
    char *ns, *name, *identity, *selector;
    struct strbuf holder;      /* as told last */
    struct strbuf predecessor; /* whose Lease we took because it was not renewed */
    bool told_started, told_stopped;
    struct metric *master, *renew_seconds, *margin, *transitions, *slowpath;
};

static void step(struct leader *leader);

/* --- telling ----------------------------------------------------------------------- */

static void record_event(struct leader *leader, const char *what)
{
    if (!leader->options.events)
        return;
    CLEANUP(strbuf_done) struct strbuf note = STRBUF_INIT(4 * MAX_HOLDER);
    strbuf_addf(&note, "%s %s", leader->identity, what);
    if (!leader->elector.releasing && leader->predecessor.len > 0)
        strbuf_addf(&note, " after %s stopped renewing", strbuf_cstr(&leader->predecessor));
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
    if (str_eq(holder, strbuf_str(&leader->holder)))
        return;
    strbuf_clear(&leader->predecessor);
    if (str_eq(holder, str_c(leader->identity)))
        strbuf_add(&leader->predecessor, strbuf_str(&leader->holder));
    strbuf_clear(&leader->holder);
    strbuf_add(&leader->holder, holder);
    metric_add(leader->transitions, 1);
    if (str_empty(holder))
        LOG_INFO("nobody holds the lease", LOG_C("lease", leader->name));
    else
        LOG_INFO("the lease is held", LOG_S("holder", holder), LOG_C("lease", leader->name));
}

static void tell_stopped(struct leader *leader)
{
    bool lost = leader->elector.state == ELECTOR_LOST;
    leader->told_stopped = true;
    loop_timer_cancel(&leader->timer);
    loop_timer_cancel(&leader->patience);
    if (leader->call)
        kube_cancel(leader->call);
    leader->call = NULL;
    if (lost && !leader->elector.releasing)
        LOG_ERROR("lost the lease", LOG_C("lease", leader->name),
                  LOG_S("holder", strbuf_str(&leader->elector.holder)));
    leader->options.stopped(leader->options.self, lost);
}

static void tell_changes(struct leader *leader)
{
    const struct elector *elector = &leader->elector;
    bool leads = elector->state == ELECTOR_LEADER && !elector->releasing;
    metric_set(leader->master, leads, str_c(leader->name));
    note_holder(leader);
    if (leads && !leader->told_started) {
        leader->told_started = true;
        LOG_INFO("became leader", LOG_C("identity", leader->identity), LOG_C("lease", leader->name));
        record_event(leader, "became leader");
        leader->options.started(leader->options.self);
    }
    bool over = elector->state == ELECTOR_LOST || elector->state == ELECTOR_RELEASED;
    if (over && !leader->told_stopped)
        tell_stopped(leader);
}

/* --- requests ---------------------------------------------------------------------- */

static void on_answer(void *self, const struct kube_response *response)
{
    struct leader *leader = self;
    struct elector *elector = &leader->elector;
    struct mono_time now = mono_now();
    struct err err = ERR_INIT;
    leader->call = NULL;
    struct kube_object *object =
        response->failure == KUBE_OK ? lease_decode(leader->pool, response->body, &err) : NULL;
    if (elector->sent == ELECTOR_UPDATE)
        metric_observe(leader->renew_seconds, (double)(now.ns - elector->sent_at.ns) / (double)NS_PER_S,
                       str_c(leader->name));
    if (response->failure != KUBE_OK && response->failure != KUBE_NOT_FOUND)
        LOG_DEBUG("lease request failed", LOG_C("failure", kube_failure_name(response->failure)),
                  LOG_ERR(&response->err));
    elector_answered(elector, response->failure, object ? lease_of(object) : NULL, now);
    kube_object_unref(object);
    if (elector->state == ELECTOR_LEADER)
        metric_set(leader->margin, (double)elector_margin_ms(elector, now) / 1000, str_c(leader->name));
    step(leader);
}

/* A renewal that could only leave after our time was over would keep the Lease from those
 * who may have it; a candidate's write harms nobody, it names the version it replaces. */
static bool may_send_record(void *self)
{
    const struct leader *leader = self;
    enum elector_state state = leader->elector.state;
    return state == ELECTOR_STANDBY || elector_margin_ms(&leader->elector, mono_now()) > 0;
}

/* False: it could not even be built; the elector knows. */
static bool send_request(struct leader *leader, enum elector_do what)
{
    static const enum kube_verb verbs[] = {
        [ELECTOR_GET] = KUBE_GET, [ELECTOR_CREATE] = KUBE_CREATE, [ELECTOR_UPDATE] = KUBE_PATCH_MERGE
    };
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(MAX_BODY_BYTES);
    struct str ns = str_c(leader->ns), name = str_c(leader->name);
    if (what != ELECTOR_GET)
        elector_write_record(&leader->elector, ns, name, loop_wall(leader->loop), &body);
    struct kube_request request = {
        .verb = verbs[what],
        .kind = &lease_kind,
        .ns = ns,
        .name = what == ELECTOR_CREATE ? STR_NULL : name,
        .body = strbuf_str(&body),
        .request_timeout_ms = min_i64(leader->options.renew_ms / 2, MAX_REQUEST_MS), /* LE-6 */
        .may_send = what == ELECTOR_GET ? NULL : may_send_record,
        .may_send_self = leader,
    };
    struct err err = ERR_INIT;
    leader->call = body.overflow ? NULL : kube_send(leader->client, &request, on_answer, leader, &err);
    if (leader->call)
        return true;
    LOG_WARN("lease request cannot be made", LOG_ERR(&err));
    elector_answered(&leader->elector, KUBE_UNREACHABLE, NULL, mono_now());
    return false;
}

static bool may_compete(const struct leader *leader)
{
    bool standby = leader->elector.state == ELECTOR_STANDBY && !leader->elector.releasing;
    return !standby || !leader->foreign || !foreign_lease_forbids(leader->foreign);
}

/* Everything that may have changed ends here: do what the elector says, arm the timer. */
static void step(struct leader *leader)
{
    if (leader->told_stopped)
        return;
    struct elector_action action = { ELECTOR_WAIT, -1 };
    if (may_compete(leader)) {
        do {
            action = elector_next(&leader->elector, mono_now());
            if (action.what == ELECTOR_GET)
                metric_add(leader->slowpath, 1, str_c(leader->name));
        } while (action.what != ELECTOR_WAIT && !send_request(leader, action.what));
    }
    if (action.what != ELECTOR_WAIT) /* sent: until when a leader waits for the answer */
        action = elector_next(&leader->elector, mono_now());
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

/* --- somebody else's Lease ---------------------------------------------------------- */

static void on_foreign_changed(void *self)
{
    struct leader *leader = self;
    if (foreign_lease_forbids(leader->foreign) && leader->elector.state == ELECTOR_LEADER)
        elector_give_up(&leader->elector);
    step(leader);
}

static void make_foreign(struct leader *leader)
{
    const struct leader_options *options = &leader->options;
    if (str_empty(options->foreign_ns) || str_eq(options->foreign_ns, options->ns))
        return;
    struct foreign_lease_options foreign = { .client = leader->client,
                                             .ns = options->foreign_ns,
                                             .name = options->name,
                                             .poll_ms = options->retry_ms,
                                             .metrics = options->metrics,
                                             .changed = on_foreign_changed,
                                             .self = leader };
    leader->foreign = foreign_lease_new(&foreign);
}

/* --- life --------------------------------------------------------------------------- */

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
    elector_give_up(&leader->elector); /* LE-7: never beyond 2 s; it will expire */
    tell_changes(leader);
}

static void init(struct leader *leader, struct loop *loop, const struct leader_options *options)
{
    leader->options = *options;
    leader->loop = loop;
    leader->pool = intern_new();
    leader->ns = str_dup_c(options->ns);
    leader->name = str_dup_c(options->name);
    leader->identity = str_dup_c(options->identity);
    leader->holder = STRBUF_INIT(MAX_HOLDER);
    leader->predecessor = STRBUF_INIT(MAX_HOLDER);
    CLEANUP(strbuf_done) struct strbuf selector = STRBUF_INIT(1024);
    strbuf_addf(&selector, "metadata.name=%s", leader->name);
    leader->selector = str_dup_c(strbuf_str(&selector));
    loop_timer_init(&leader->timer, loop, on_timer, leader);
    loop_timer_init(&leader->patience, loop, give_up_release, leader);
    struct elector_options elector = { .identity = str_c(leader->identity),
                                       .lease_ms = options->lease_ms,
                                       .renew_ms = options->renew_ms,
                                       .retry_ms = options->retry_ms,
                                       .seed = options->seed };
    elector_init(&leader->elector, &elector);
}

struct leader *leader_new(struct loop *loop, const struct leader_options *options, struct err *err)
{
    struct kube_client_options client = { .config = options->config,
                                          .user_agent =
                                              "koord-manager/" KOORD_VERSION " (linux) leader-election" };
    struct leader *leader = mem_zalloc(sizeof *leader);
    init(leader, loop, options);
    if (elector_options_check(&leader->elector.options, err))
        leader->client = kube_client_new(loop, &client, err);
    if (!leader->client) {
        leader_free(leader);
        return NULL;
    }
    register_metrics(leader, options->metrics);
    make_informer(leader);
    make_foreign(leader);
    return leader;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    informer_free(leader->informer);
    foreign_lease_free(leader->foreign);
    if (leader->call)
        kube_cancel(leader->call);
    loop_timer_done(&leader->timer);
    loop_timer_done(&leader->patience);
    kube_client_free(leader->client);
    elector_done(&leader->elector);
    strbuf_done(&leader->holder);
    strbuf_done(&leader->predecessor);
    intern_free(leader->pool);
    free(leader->ns);
    free(leader->name);
    free(leader->identity);
    free(leader->selector);
    free(leader);
}

void leader_start(struct leader *leader)
{
    informer_start(leader->informer);
    if (leader->foreign)
        foreign_lease_start(leader->foreign);
    loop_timer_set(&leader->timer, 0);
}

bool leader_may_write(const struct leader *leader)
{
    return elector_may_write(&leader->elector, mono_now());
}

bool leader_may_tell(const struct leader *leader)
{
    return elector_margin_ms(&leader->elector, mono_now()) > 0;
}

void leader_release(struct leader *leader)
{
    if (leader->told_stopped || leader->elector.releasing)
        return;
    bool led = leader->elector.state == ELECTOR_LEADER;
    elector_release(&leader->elector);
    if (led)
        record_event(leader, "stopped leading");
    loop_timer_set(&leader->patience, RELEASE_PATIENCE_MS);
    loop_timer_set(&leader->timer, 0);
}
