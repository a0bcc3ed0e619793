#include "kube/events.h"

#include <stdlib.h>

#include <utlist.h>

#include "kube/backoff.h"
#include "kube/event_body.h"

#define MAX_QUEUED 1000
#define MAX_BODY_BYTES (16 * 1024)
#define RATE_PER_S 10
#define BURST 50
#define OBJECT_RATE_PER_S (1.0 / 300)
#define OBJECT_BURST 25
#define SAME_WITHIN_MS (10 * 60 * 1000)
#define HISTORY_SLOTS 4096
#define DEFAULT_PAUSE_MS 1000

static const struct kube_kind event_kinds[] = {
    [EVENT_API_NEW] = { .group = "events.k8s.io",
                        .version = "v1",
                        .kind = "Event",
                        .plural = "events",
                        .namespaced = true },
    [EVENT_API_CORE] = { .group = "",
                         .version = "v1",
                         .kind = "Event",
                         .plural = "events",
                         .namespaced = true },
};

struct event {
    struct event *prev, *next;
    struct arena arena;
    struct event_content content; /* strings in the arena */
    bool renamed;                 /* AlreadyExists was answered once */
    bool in_core;                 /* the new group did not take it */
};

/* What was last said about one object. Objects share slots by hash: then less is
 * suppressed, never too much. */
struct history {
    uint64_t object; /* 0: empty */
    uint64_t content;
    struct mono_time when;
    struct token_bucket bucket;
};

struct event_recorder {
    struct event_recorder_options options;
    struct kube_client *client;
    struct loop *loop;
    struct loop_timer timer;
    struct event *queue;
    size_t count;
    struct kube_call *call; /* for the head of the queue */
    struct token_bucket bucket;
    struct mono_time paused_until;
    bool only_core; /* events.k8s.io is not served */
    uint64_t last_suffix;
    char *controller;
    char *instance;
    struct metric *dropped, *sent;
    struct history history[HISTORY_SLOTS];
};

static void pump(void *self);

static void drop(struct event_recorder *recorder, const char *why)
{
    metric_add(recorder->dropped, 1, str_c(why));
}

static void remove_event(struct event_recorder *recorder, struct event *event)
{
    DL_DELETE(recorder->queue, event);
    recorder->count--;
    arena_done(&event->arena);
    free(event);
}

/* --- what is worth saying --------------------------------------------------------- */

static uint64_t mix(uint64_t hash, struct str text)
{
    return (hash ^ str_hash(text)) * UINT64_C(0x9E3779B97F4A7C15);
}

static struct history *history_of(struct event_recorder *recorder, const struct event_regarding *regarding,
                                  struct mono_time now)
{
    uint64_t object = mix(0, str_c(regarding->kind->kind));
    object = mix(mix(mix(object, regarding->ns), regarding->name), regarding->uid) | 1;
    struct history *history = &recorder->history[object >> 32 & (HISTORY_SLOTS - 1)];
    if (history->object != object) {
        *history = (struct history){ .object = object };
        token_bucket_init(&history->bucket, OBJECT_RATE_PER_S, OBJECT_BURST, now);
    }
    return history;
}

/* The reason why it is not worth it, or NULL. */
static const char *suppressed(struct event_recorder *recorder, const struct event_content *content)
{
    struct mono_time now = loop_mono(recorder->loop);
    struct history *history = history_of(recorder, &content->regarding, now);
    uint64_t said = mix(mix(mix(content->warning, content->reason), content->action), content->note) | 1;
    if (history->content == said && mono_ms_between(history->when, now) < SAME_WITHIN_MS)
        return "duplicate";
    if (!token_bucket_take(&history->bucket, now))
        return "spam";
    history->content = said;
    history->when = now;
    return NULL;
}

/* The queue is full: the oldest Normal goes first, else the oldest; never the one in flight. */
static void make_room(struct event_recorder *recorder)
{
    struct event *event, *oldest = recorder->call ? recorder->queue->next : recorder->queue;
    for (event = oldest; event && event->content.warning; event = event->next)
        ;
    remove_event(recorder, event ? event : oldest);
    drop(recorder, "queue-full");
}

static bool may_write(const struct event_recorder *recorder)
{
    return !recorder->options.may_write || recorder->options.may_write(recorder->options.may_write_self);
}

/* Time-based, but never the same twice. */
static uint64_t next_suffix(struct event_recorder *recorder)
{
    uint64_t suffix = (uint64_t)loop_wall(recorder->loop).us * 1000;
    if (suffix <= recorder->last_suffix)
        suffix = recorder->last_suffix + 1;
    recorder->last_suffix = suffix;
    return suffix;
}

static struct event *copy_event(struct event_recorder *recorder, const struct event_content *content)
{
    struct event *event = mem_zalloc(sizeof *event);
    event->content = *content;
    struct event_content *copy = &event->content;
    struct str *const texts[] = { &copy->regarding.ns, &copy->regarding.name, &copy->regarding.uid,
                                  &copy->regarding.rv, &copy->reason,         &copy->action,
                                  &copy->note };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_str(&event->arena, *texts[i]);
    copy->suffix = next_suffix(recorder);
    copy->time = loop_wall(recorder->loop);
    return event;
}

void event_record(struct event_recorder *recorder, const struct event_regarding *regarding, bool warning,
                  const char *reason, const char *action, struct str note)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(2 * EVENT_MAX_NOTE_BYTES);
    event_note(&text, note);
    struct event_content content = { .regarding = *regarding,
                                     .warning = warning,
                                     .reason = event_cut(str_c(reason), EVENT_MAX_WORD_BYTES),
                                     .action = event_cut(str_c(action), EVENT_MAX_WORD_BYTES),
                                     .note = strbuf_str(&text),
                                     .controller = str_c(recorder->controller),
                                     .instance = str_c(recorder->instance) };
    const char *why = may_write(recorder) ? suppressed(recorder, &content) : "standby";
    if (why) {
        drop(recorder, why);
        return;
    }
    if (recorder->count >= MAX_QUEUED)
        make_room(recorder);
    struct event *event = copy_event(recorder, &content);
    DL_APPEND(recorder->queue, event);
    recorder->count++;
    if (!recorder->call && !loop_timer_armed(&recorder->timer))
        loop_timer_set(&recorder->timer, 0);
}

/* --- sending ---------------------------------------------------------------------- */

/* True: the head stays and is sent again. */
static bool again(struct event_recorder *recorder, struct event *event, const struct kube_response *response)
{
    switch (response->failure) {
    case KUBE_NOT_FOUND: /* EVT-1: the group is missing, or the namespace: the old group will tell */
        if (event->in_core)
            return false;
        event->in_core = true;
        return true;
    case KUBE_ALREADY_EXISTS:
        if (event->renamed)
            return false;
        event->renamed = true;
        event->content.suffix = next_suffix(recorder);
        return true;
    case KUBE_THROTTLED: {
        int64_t pause_ms = response->retry_after_ms >= 0 ? response->retry_after_ms : DEFAULT_PAUSE_MS;
        recorder->paused_until = mono_add_ms(loop_mono(recorder->loop), pause_ms);
        return true;
    }
    default:
        return false;
    }
}

static void on_sent(void *self, const struct kube_response *response)
{
    struct event_recorder *recorder = self;
    struct event *event = recorder->queue;
    recorder->call = NULL;
    if (response->failure == KUBE_OK) {
        recorder->only_core = event->in_core;
        metric_add(recorder->sent, 1);
        remove_event(recorder, event);
    } else if (!again(recorder, event, response)) {
        drop(recorder, kube_failure_name(response->failure));
        remove_event(recorder, event);
    }
    loop_timer_set(&recorder->timer, 0);
}

static void send_head(struct event_recorder *recorder)
{
    struct event *event = recorder->queue;
    event->in_core |= recorder->only_core;
    enum event_api api = event->in_core ? EVENT_API_CORE : EVENT_API_NEW;
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(MAX_BODY_BYTES);
    event_write(&body, &event->content, api);
    struct kube_request request = { .verb = KUBE_CREATE,
                                    .kind = &event_kinds[api],
                                    .ns = event_namespace(&event->content),
                                    .body = strbuf_str(&body),
                                    .may_send = recorder->options.may_write,
                                    .may_send_self = recorder->options.may_write_self };
    if (!body.overflow)
        recorder->call = kube_send(recorder->client, &request, on_sent, recorder, NULL);
    if (recorder->call)
        return;
    drop(recorder, "unusable");
    remove_event(recorder, event);
    loop_timer_set(&recorder->timer, 0);
}

static void drop_all(struct event_recorder *recorder, const char *why)
{
    while (recorder->queue) {
        drop(recorder, why);
        remove_event(recorder, recorder->queue);
    }
}

static void pump(void *self)
{
    struct event_recorder *recorder = self;
    if (recorder->call)
        return;
    if (!may_write(recorder)) /* EVT-4: who lost the lead has nothing more to say */
        drop_all(recorder, "standby");
    if (!recorder->queue)
        return;
    struct mono_time now = loop_mono(recorder->loop);
    int64_t wait_ms = token_bucket_wait_ms(&recorder->bucket, now);
    wait_ms = max_i64(wait_ms, mono_ms_between(now, recorder->paused_until));
    if (wait_ms > 0) {
        loop_timer_set(&recorder->timer, wait_ms);
        return;
    }
    if (token_bucket_take(&recorder->bucket, now))
        send_head(recorder);
}

/* --- life ------------------------------------------------------------------------- */

struct event_recorder *event_recorder_new(struct kube_client *client,
                                          const struct event_recorder_options *options)
{
    struct event_recorder *recorder = mem_zalloc(sizeof *recorder);
    recorder->options = *options;
    recorder->client = client;
    recorder->loop = kube_client_loop(client);
    recorder->controller = str_dup_c(str_c(options->controller));
    struct str instance = str_empty(options->instance) ? STR("unknown") : options->instance;
    recorder->instance = str_dup_c(event_cut(instance, EVENT_MAX_WORD_BYTES));
    loop_timer_init(&recorder->timer, recorder->loop, pump, recorder);
    token_bucket_init(&recorder->bucket, RATE_PER_S, BURST, loop_mono(recorder->loop));
    if (options->metrics) {
        recorder->dropped = metric_counter(options->metrics, "koord_manager_events_dropped_total",
                                           "Events that were not sent, by reason.", "reason", NULL);
        recorder->sent =
            metric_counter(options->metrics, "koord_manager_events_sent_total", "Events created.", NULL);
    }
    return recorder;
}

void event_recorder_free(struct event_recorder *recorder)
{
    if (!recorder)
        return;
    if (recorder->call)
        kube_cancel(recorder->call);
    while (recorder->queue)
        remove_event(recorder, recorder->queue);
    loop_timer_done(&recorder->timer);
    free(recorder->controller);
    free(recorder->instance);
    free(recorder);
}
