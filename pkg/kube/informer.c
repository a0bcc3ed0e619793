#include "kube/informer.h"

#include <stdlib.h>

#include "base/log.h"
#include "kube/listwatch.h"
#include "kube/reflector.h"
#include "kube/rewind.h"

/* Bookmarks come each minute; a stream that has shown one and then says nothing for so
 * long has a dead peer (WAT-11). */
#define IDLE_GUARD_MS (4 * 60 * 1000)

/* What is under way: at most one list page or one watch. */
struct informer {
    struct informer_options options;
    struct kube_client *client;
    struct loop *loop;
    struct reflector reflector;
    struct loop_timer timer; /* the reflector's wait, or the idle guard of an open watch */
    struct store *store;
    struct store *collecting; /* the list being fetched */
    struct kube_call *call;
    struct list_decoder *list;
    struct watch_decoder *watch;
    struct reflector_failure stream_end; /* why we ended the stream ourselves */
    bool ended_by_us;
    bool bookmarked; /* this stream has shown a bookmark */
    bool doubtful;   /* there was trouble since the last list: is it still the same server? */
    struct rewind_probe *probe;
    struct feed_state feed;
    struct mono_time stream_ended; /* the last one that was open */
    struct mono_time dead_since;
    struct strbuf trouble; /* last failure, for people */
    char *ns;
    char *field_selector;
    struct metric *events_total, *relists_total, *watch_ends_total, *objects, *bad_total;
};

static void act(struct informer *informer, struct reflector_action action);

static struct str kind_name(const struct informer *informer)
{
    return str_c(informer->options.kind->kind);
}

/* --- feed: can silence be trusted? ------------------------------------------------ */

static void set_live(struct informer *informer, bool live)
{
    if (informer->feed.live == live)
        return;
    struct mono_time now = loop_mono(informer->loop);
    informer->feed.live = live;
    if (live) {
        bool first = informer->dead_since.ns == 0;
        informer->feed.gap_ms = first ? 0 : mono_ms_between(informer->dead_since, now);
        informer->feed.live_since = now;
    } else {
        informer->dead_since = informer->stream_ended;
    }
    if (informer->options.feed)
        informer->options.feed(informer->options.self, &informer->feed);
}

/* --- changes --------------------------------------------------------------------- */

static void tell(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct informer *informer = self;
    if (old && new && informer->options.kind->same && informer->options.kind->same(old, new))
        return; /* REF-17: nothing we keep differs */
    informer->options.changed(informer->options.self, old, new);
}

static void put(struct informer *informer, struct kube_object *object)
{
    struct kube_object *kept = kube_object_ref(object);
    struct kube_object *old = store_put(informer->store, object);
    if (old && !kube_uid_eq(old, kept)) { /* REF-11: another incarnation under the same name */
        tell(informer, old, NULL);
        tell(informer, NULL, kept);
    } else if (!old || !store_is_same(old, kept)) {
        tell(informer, old, kept);
    }
    kube_object_unref(old);
    kube_object_unref(kept);
}

/* REF-12: an event older than what is stored is a replay, also when it speaks of an earlier
 * incarnation. */
static bool is_replay(const struct informer *informer, const struct kube_object *object)
{
    const struct kube_object *stored =
        store_get(informer->store, kube_object_namespace(object), kube_object_name(object));
    return stored && rv_compare(kube_object_rv(object), kube_object_rv(stored)) == RV_LESS;
}

static void drop(struct informer *informer, struct kube_object *object)
{
    struct kube_object *old =
        store_remove(informer->store, kube_object_namespace(object), kube_object_name(object));
    if (old)
        tell(informer, old, NULL);
    kube_object_unref(old);
    kube_object_unref(object);
}

/* --- list ------------------------------------------------------------------------ */

/* An object that has not changed is shared with the present store, so a relist costs no
 * second copy. */
static void on_listed(void *self, struct kube_object *object)
{
    struct informer *informer = self;
    const struct kube_object *known =
        store_get(informer->store, kube_object_namespace(object), kube_object_name(object));
    if (known && store_is_same(known, object)) {
        kube_object_unref(object);
        object = kube_object_ref(known);
    }
    kube_object_unref(store_put(informer->collecting, object));
}

static void on_bad_item(void *self, const struct err *err)
{
    struct informer *informer = self;
    metric_add(informer->bad_total, 1, kind_name(informer));
    LOG_WARN("object in list ignored", LOG_S("kind", kind_name(informer)), LOG_ERR(err));
}

static bool on_list_data(void *self, struct str chunk, struct err *err)
{
    struct informer *informer = self;
    return list_decoder_feed(informer->list, chunk, err);
}

static void install(struct informer *informer)
{
    bool first = !informer->feed.synced;
    informer->feed.synced = true;
    informer->feed.unavailable = false;
    informer->doubtful = false;
    store_swap(informer->store, informer->collecting, tell, informer);
    metric_set(informer->objects, (double)store_count(informer->store), kind_name(informer));
    if (first && informer->options.synced)
        informer->options.synced(informer->options.self);
}

static void note_trouble(struct informer *informer, const char *what, const struct err *err)
{
    bool repeated = informer->trouble.len > 0;
    strbuf_clear(&informer->trouble);
    strbuf_addf(&informer->trouble, "%s: %s", what, err->text);
    if (!repeated)
        LOG_WARN("list-watch in trouble", LOG_S("kind", kind_name(informer)),
                 LOG_S("trouble", strbuf_str(&informer->trouble)));
}

static void note_recovery(struct informer *informer)
{
    if (informer->trouble.len == 0)
        return;
    strbuf_clear(&informer->trouble);
    LOG_INFO("list-watch recovered", LOG_S("kind", kind_name(informer)));
}

static void note_unavailable(struct informer *informer, enum kube_failure failure)
{
    bool was = informer->feed.unavailable;
    if (failure != KUBE_NOT_FOUND && failure != KUBE_FORBIDDEN)
        return; /* says nothing about the kind */
    informer->feed.unavailable = true;
    if (!was && informer->options.unavailable)
        informer->options.unavailable(informer->options.self);
}

static void list_failed(struct informer *informer, enum kube_failure failure, int64_t retry_after_ms,
                        const struct err *err)
{
    note_trouble(informer, "list", err);
    note_unavailable(informer, failure);
    struct reflector_failure end = { .failure = failure, .retry_after_ms = retry_after_ms };
    act(informer, reflector_failed(&informer->reflector, loop_mono(informer->loop), &end));
}

static void on_list_done(void *self, const struct kube_response *response)
{
    struct informer *informer = self;
    informer->call = NULL;
    struct list_decoder *list = informer->list;
    informer->list = NULL;
    struct err err = response->err;
    struct str rv, token;
    if (response->failure != KUBE_OK) {
        list_failed(informer, response->failure, response->retry_after_ms, &err);
    } else if (!list_decoder_finish(list, &rv, &token, &err)) {
        list_failed(informer, KUBE_PROTOCOL, -1, &err);
    } else {
        struct reflector_action action = reflector_page(
            &informer->reflector, rv, token, store_count(informer->store), store_count(informer->collecting));
        act(informer, action);
    }
    list_decoder_free(list);
}

/* --- watch ----------------------------------------------------------------------- */

/* Ends the stream from our side; the reflector hears why when the call is over. */
static bool end_stream(struct informer *informer, struct reflector_failure why)
{
    informer->ended_by_us = true;
    informer->stream_end = why;
    return false;
}

static bool on_error_event(struct informer *informer, const struct api_status *status)
{
    int code = status->code > 0 && status->code < 1000 ? (int)status->code : 500;
    enum kube_failure failure = kube_classify(code, status, false);
    if (failure == KUBE_OK)
        failure = KUBE_SERVER;
    struct err err = ERR_INIT;
    err_set(&err, kube_failure_err_kind(failure), STR_FMT, STR_ARG(status->message));
    if (failure != KUBE_EXPIRED)
        note_trouble(informer, "watch", &err);
    int64_t retry_ms = status->retry_after_s > 0 ? min_i64(status->retry_after_s, 60) * 1000 : -1;
    return end_stream(informer, (struct reflector_failure){ .failure = failure, .retry_after_ms = retry_ms });
}

/* WAT-9: once a relist has passed over such an object, it does not stop the others. */
static bool on_bad_event(struct informer *informer, const struct err *why)
{
    metric_add(informer->bad_total, 1, kind_name(informer));
    if (reflector_skip_bad(&informer->reflector, loop_mono(informer->loop)))
        return true;
    LOG_WARN("watch event not understood", LOG_S("kind", kind_name(informer)), LOG_ERR(why));
    return end_stream(informer, (struct reflector_failure){ .bad_event = true, .retry_after_ms = -1 });
}

static void apply(struct informer *informer, enum watch_event_type type, struct kube_object *object)
{
    if (is_replay(informer, object))
        kube_object_unref(object);
    else if (type == WATCH_DELETED)
        drop(informer, object);
    else
        put(informer, object);
}

static bool on_watch_event(void *self, const struct watch_event *event)
{
    struct informer *informer = self;
    metric_add(informer->events_total, 1, kind_name(informer), str_c(kube_watch_type_name(event->type)));
    switch (event->type) {
    case WATCH_ERROR:
        return on_error_event(informer, event->status);
    case WATCH_BAD:
        return on_bad_event(informer, &event->err);
    case WATCH_UNKNOWN:
        return true;
    case WATCH_ADDED:
    case WATCH_MODIFIED:
    case WATCH_DELETED:
        apply(informer, event->type, event->object);
        break;
    case WATCH_BOOKMARK:
        informer->bookmarked = true;
        break;
    }
    note_recovery(informer);
    if (!reflector_event(&informer->reflector, loop_mono(informer->loop), event->rv,
                         event->type == WATCH_BOOKMARK))
        return end_stream(informer, (struct reflector_failure){ .rewound = true, .retry_after_ms = -1 });
    return true;
}

static void on_watch_open(void *self)
{
    struct informer *informer = self;
    reflector_opened(&informer->reflector, loop_mono(informer->loop));
    note_recovery(informer);
    set_live(informer, true);
    if (informer->doubtful)
        rewind_probe_start(informer->probe, informer_rv(informer));
    informer->doubtful = false;
}

static bool on_watch_data(void *self, struct str chunk, struct err *err)
{
    struct informer *informer = self;
    bool fed = watch_decoder_feed(informer->watch, chunk, err);
    metric_set(informer->objects, (double)store_count(informer->store), kind_name(informer));
    if (informer->bookmarked)
        loop_timer_set(&informer->timer, IDLE_GUARD_MS);
    if (!fed && !informer->ended_by_us)
        end_stream(informer, (struct reflector_failure){ .bad_event = true, .retry_after_ms = -1 });
    return fed;
}

/* A clean end between two events is routine and leaves the feed live across the short
 * reconnect; anything else may hide missed news. */
static void on_watch_done(void *self, const struct kube_response *response)
{
    struct informer *informer = self;
    informer->call = NULL;
    loop_timer_cancel(&informer->timer);
    rewind_probe_cancel(informer->probe);
    struct reflector_failure end = { .failure = response->failure,
                                     .retry_after_ms = response->retry_after_ms };
    if (informer->ended_by_us)
        end = informer->stream_end;
    else if (end.failure == KUBE_OK && !watch_decoder_idle(informer->watch))
        end.failure = KUBE_TRANSPORT;
    else if (end.failure != KUBE_OK)
        note_trouble(informer, "watch", &response->err);
    bool clean = end.failure == KUBE_OK && !end.bad_event && !end.rewound;
    informer->doubtful |= !clean;
    metric_add(informer->watch_ends_total, 1, kind_name(informer),
               clean ? STR("ok") : str_c(end.bad_event ? "bad-event" : kube_failure_name(end.failure)));
    watch_decoder_free(informer->watch);
    informer->watch = NULL;
    if (informer->reflector.state == REFLECTOR_WATCHING)
        informer->stream_ended = loop_mono(informer->loop);
    struct reflector_action action = reflector_failed(&informer->reflector, loop_mono(informer->loop), &end);
    if (!clean || action.wait_ms > 1000)
        set_live(informer, false);
    act(informer, action);
}

/* --- doing what the reflector says ------------------------------------------------ */

static void send_request(struct informer *informer)
{
    struct kube_request request = {
        .kind = informer->options.kind,
        .ns = str_c(informer->ns),
        .field_selector = str_c(informer->field_selector),
    };
    reflector_fill_request(&informer->reflector, &request);
    struct kube_stream stream = { .self = informer };
    if (request.verb == KUBE_LIST) {
        struct list_decoder_options list = { .kind = informer->options.kind,
                                             .pool = informer->options.pool,
                                             .on_object = on_listed,
                                             .on_bad = on_bad_item,
                                             .self = informer };
        informer->list = list_decoder_new(&list);
        stream.on_data = on_list_data;
        stream.done = on_list_done;
    } else {
        struct watch_decoder_options watch = { .kind = informer->options.kind,
                                               .pool = informer->options.pool,
                                               .on_event = on_watch_event,
                                               .self = informer };
        informer->watch = watch_decoder_new(&watch);
        informer->ended_by_us = informer->bookmarked = false;
        stream.on_open = on_watch_open;
        stream.on_data = on_watch_data;
        stream.done = on_watch_done;
    }
    struct err err = ERR_INIT;
    informer->call = kube_send_stream(informer->client, &request, &stream, &err);
    if (informer->call)
        return;
    /* Only a request that cannot be built fails here: a configuration that cannot work. */
    struct kube_response response = { .failure = KUBE_INVALID, .retry_after_ms = -1, .err = err };
    stream.done(informer, &response);
}

static void act(struct informer *informer, struct reflector_action action)
{
    if (action.swap) {
        install(informer);
        note_recovery(informer);
    }
    switch (action.what) {
    case REFLECTOR_DO_LIST:
        if (action.first_page) {
            store_free(informer->collecting);
            informer->collecting = store_new(informer->options.kind);
            if (informer->feed.synced)
                metric_add(informer->relists_total, 1, kind_name(informer));
        }
        send_request(informer);
        break;
    case REFLECTOR_DO_WATCH:
        send_request(informer);
        break;
    case REFLECTOR_DO_WAIT:
        loop_timer_set(&informer->timer, action.wait_ms);
        break;
    case REFLECTOR_DO_NOTHING:
        break;
    }
}

static void on_idle(struct informer *informer)
{
    struct kube_response silence = { .failure = KUBE_TRANSPORT, .retry_after_ms = -1 };
    err_set(&silence.err, ERR_TRANSIENT, "watch silent for %d s", IDLE_GUARD_MS / 1000);
    kube_cancel(informer->call);
    on_watch_done(informer, &silence);
}

/* REF-16: nothing that this server will say lies behind our resume point. */
static void on_rewound(void *self, struct str server_rv)
{
    struct informer *informer = self;
    LOG_WARN("the server's history is behind what was seen, listing anew", LOG_S("kind", kind_name(informer)),
             LOG_S("seen", informer_rv(informer)), LOG_S("server", server_rv));
    struct kube_response rewound = { .failure = KUBE_OK, .retry_after_ms = -1 };
    end_stream(informer, (struct reflector_failure){ .rewound = true, .retry_after_ms = -1 });
    kube_cancel(informer->call);
    on_watch_done(informer, &rewound);
}

static void on_timer(void *self)
{
    struct informer *informer = self;
    if (informer->reflector.state == REFLECTOR_WATCHING) {
        on_idle(informer);
        return;
    }
    act(informer, reflector_timer(&informer->reflector, loop_mono(informer->loop)));
}

/* --- interface ------------------------------------------------------------------- */

static void register_metrics(struct informer *informer, struct metric_registry *registry)
{
    if (!registry)
        return;
    informer->events_total = metric_counter(registry, "koord_manager_informer_events_total",
                                            "Watch events received.", "kind", "type", NULL);
    informer->relists_total = metric_counter(registry, "koord_manager_informer_relists_total",
                                             "Complete lists after the first one.", "kind", NULL);
    informer->watch_ends_total = metric_counter(registry, "koord_manager_informer_watch_ends_total",
                                                "Watches that ended, by cause.", "kind", "cause", NULL);
    informer->objects =
        metric_gauge(registry, "koord_manager_informer_objects", "Objects in the cache.", "kind", NULL);
    informer->bad_total = metric_counter(registry, "koord_manager_informer_bad_objects_total",
                                         "Objects that could not be read and were ignored.", "kind", NULL);
    /* From the start: a counter that begins with its first increase shows no increase. */
    metric_add(informer->relists_total, 0, kind_name(informer));
    metric_add(informer->bad_total, 0, kind_name(informer));
}

struct informer *informer_new(struct kube_client *client, const struct informer_options *options)
{
    struct informer *informer = mem_zalloc(sizeof *informer);
    informer->options = *options;
    informer->client = client;
    informer->loop = kube_client_loop(client);
    informer->ns = str_dup_c(options->ns);
    informer->field_selector = str_dup_c(options->field_selector);
    informer->store = store_new(options->kind);
    informer->trouble = STRBUF_INIT(512);
    struct reflector_options reflector = { .page_size = options->page_size, .seed = options->seed };
    reflector_init(&informer->reflector, &reflector);
    loop_timer_init(&informer->timer, informer->loop, on_timer, informer);
    struct rewind_probe_options probe = { .client = client,
                                          .kind = options->kind,
                                          .ns = informer->ns,
                                          .field_selector = informer->field_selector,
                                          .found = on_rewound,
                                          .self = informer };
    informer->probe = rewind_probe_new(&probe);
    register_metrics(informer, options->metrics);
    return informer;
}

void informer_free(struct informer *informer)
{
    if (!informer)
        return;
    if (informer->call)
        kube_cancel(informer->call);
    rewind_probe_free(informer->probe);
    loop_timer_done(&informer->timer);
    list_decoder_free(informer->list);
    watch_decoder_free(informer->watch);
    store_free(informer->collecting);
    store_free(informer->store);
    reflector_done(&informer->reflector);
    strbuf_done(&informer->trouble);
    free(informer->ns);
    free(informer->field_selector);
    free(informer);
}

void informer_start(struct informer *informer)
{
    act(informer, reflector_start(&informer->reflector, loop_mono(informer->loop)));
}

const struct store *informer_store(const struct informer *informer)
{
    return informer->store;
}

struct feed_state informer_feed(const struct informer *informer)
{
    return informer->feed;
}

struct str informer_rv(const struct informer *informer)
{
    return strbuf_str(&informer->reflector.rv);
}

void informer_describe(const struct informer *informer, struct strbuf *out)
{
    strbuf_addf(out, "%s: %s", informer->options.kind->kind, reflector_state_name(informer->reflector.state));
    if (informer->trouble.len > 0)
        strbuf_addf(out, " (%s)", strbuf_cstr(&informer->trouble));
}
