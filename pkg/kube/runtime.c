#include "kube/runtime_internal.h"

#include <stdlib.h>

/* Keys decided per turn of the loop: keeps a policy flip over thousands of nodes from
 * holding up health answers. */
#define KEYS_PER_TURN 256

struct write *plan_add(struct plan *plan)
{
    size_t size = sizeof(struct write);
    plan->writes = arena_grow(plan->arena, plan->writes, plan->count * size, (plan->count + 1) * size);
    return &plan->writes[plan->count++];
}

/* When stopping the pump only tells that everything is drained. */
void runtime_pump_soon(struct runtime *runtime)
{
    if (runtime->started || runtime->stopping)
        loop_timer_set(&runtime->timer, 0);
}

bool runtime_may_write(const struct runtime *runtime)
{
    return !runtime->options.may_write || runtime->options.may_write(runtime->options.self);
}

/* --- deciding -------------------------------------------------------------------- */

static void decide(struct job *job, struct mono_time now)
{
    const struct controller *controller = &job->queue->controller;
    arena_clear(&job->arena);
    job->plan = (struct plan){ .arena = &job->arena, .recheck_after_ms = -1 };
    job->planned = now;
    controller->reconcile(controller->self, job->key, now, loop_wall(job->runtime->loop), &job->plan);
}

void runtime_free_job(struct job *job)
{
    arena_done(&job->arena);
    free(job);
}

/* Nothing (more) to write for this key. */
static void settle(struct job *job)
{
    struct workqueue *keys = job->queue->keys;
    struct mono_time now = loop_mono(job->runtime->loop);
    metric_add(job->runtime->reconciles, 1, queue_name(job->queue), STR("success"));
    if (job->plan.recheck_after_ms >= 0)
        workqueue_add_after(keys, job->key, max_i64(1, job->plan.recheck_after_ms), now);
    workqueue_forget(keys, job->key);
    workqueue_done(keys, job->key, now);
    runtime_free_job(job);
}

static bool cache_is_behind(struct queue *queue, struct str key, struct mono_time now)
{
    const struct controller *controller = &queue->controller;
    const struct kube_kind *kind = expectations_kind(queue->expected, key);
    if (!kind || !controller->store_of)
        return false;
    const struct store *store = controller->store_of(controller->self, kind);
    return store && !expectations_met(queue->expected, key, store, now);
}

static void wait_for_turn(struct job *job)
{
    job->turn = job->plan.writes[0].withdrawal ? WITHDRAWALS : OTHERS;
    DL_APPEND(job->runtime->waiting[job->turn], job);
}

static void forget_stale(struct job *job)
{
    if (job->stale)
        DL_DELETE2(job->runtime->stale, job, stale_prev, stale_next);
    job->stale = false;
}

static void stop_waiting(struct job *job)
{
    forget_stale(job);
    HASH_DEL(job->queue->waiting, job);
    DL_DELETE(job->runtime->waiting[job->turn], job);
}

static void take(struct runtime *runtime, struct queue *queue, struct str key)
{
    struct mono_time now = loop_mono(runtime->loop);
    metric_observe(runtime->queue_seconds,
                   (double)workqueue_stats(queue->keys).last_queue_ns / (double)NS_PER_S, queue_name(queue));
    if (cache_is_behind(queue, key, now)) {
        workqueue_add_after(queue->keys, key, expectations_recheck_ms(queue->expected, key, now), now);
        workqueue_done(queue->keys, key, now);
        return;
    }
    struct job *job = mem_zalloc(sizeof *job);
    job->runtime = runtime;
    job->queue = queue;
    job->key = key;
    decide(job, now);
    if (job->plan.count == 0) {
        settle(job);
        return;
    }
    HASH_ADD_KEYPTR(hh, queue->waiting, job->key.ptr, job->key.len, job);
    wait_for_turn(job);
}

/* Decides again what waits. It keeps its place unless it became a withdrawal, or no longer
 * is one. The job is gone when there is nothing left to write. */
static void decide_again(struct job *job, struct mono_time now)
{
    forget_stale(job);
    decide(job, now);
    if (job->plan.count == 0) {
        stop_waiting(job);
        settle(job);
    } else if ((job->turn == WITHDRAWALS) != job->plan.writes[0].withdrawal) {
        DL_DELETE(job->runtime->waiting[job->turn], job);
        wait_for_turn(job);
    }
}

/* News came for a key that waits to write: what it wants may now be more urgent. */
static void note_news(struct queue *queue, struct str key)
{
    struct job *job;
    HASH_FIND(hh, queue->waiting, key.len ? key.ptr : "", key.len, job);
    if (!job || job->stale)
        return;
    job->stale = true;
    DL_APPEND2(job->runtime->stale, job, stale_prev, stale_next);
}

/* --- the pump -------------------------------------------------------------------- */

static bool take_ready_keys(struct runtime *runtime, struct mono_time now)
{
    for (size_t taken = 0; taken < KEYS_PER_TURN;) {
        bool any = false;
        for (size_t i = 0; i < runtime->queue_count; i++) { /* round robin over controllers */
            struct str key;
            if (!workqueue_get(runtime->queues[i]->keys, now, &key))
                continue;
            take(runtime, runtime->queues[i], key);
            any = true;
            taken++;
        }
        if (!any)
            return false;
    }
    return true;
}

static bool decide_stale(struct runtime *runtime, struct mono_time now)
{
    for (size_t i = 0; i < KEYS_PER_TURN && runtime->stale; i++)
        decide_again(runtime->stale, now);
    return runtime->stale != NULL;
}

static struct job *next_waiting(const struct runtime *runtime)
{
    return runtime->waiting[WITHDRAWALS] ? runtime->waiting[WITHDRAWALS] : runtime->waiting[OTHERS];
}

static bool may_launch(const struct runtime *runtime, struct mono_time now)
{
    return runtime->in_flight_count < runtime->options.max_in_flight &&
           !mono_before(now, runtime->paused_until) && runtime_may_write(runtime);
}

static void launch_waiting(struct runtime *runtime, struct mono_time now)
{
    for (size_t i = 0; i < KEYS_PER_TURN && may_launch(runtime, now); i++) {
        struct job *job = next_waiting(runtime);
        if (!job)
            return;
        /* Time has passed since it was decided: decide again on what is known now. */
        if (job->planned.ns != now.ns) {
            decide_again(job, now);
            continue;
        }
        if (!token_bucket_take(&runtime->bucket, now))
            return;
        stop_waiting(job);
        runtime_launch(job);
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : min_i64(a, b);
}

/* When the pump has to run again without being told; -1: never. */
static int64_t next_pump_ms(struct runtime *runtime, struct mono_time now)
{
    int64_t next = -1;
    for (size_t i = 0; i < runtime->queue_count; i++)
        next = earlier(next, workqueue_next_ms(runtime->queues[i]->keys, now));
    if (next_waiting(runtime) && runtime->in_flight_count < runtime->options.max_in_flight &&
        runtime_may_write(runtime)) {
        int64_t token = token_bucket_wait_ms(&runtime->bucket, now);
        int64_t pause =
            mono_before(now, runtime->paused_until) ? mono_ms_between(now, runtime->paused_until) + 1 : 0;
        next = earlier(next, max_i64(token, pause));
    }
    return next;
}

static void tell_drained(struct runtime *runtime)
{
    void (*drained)(void *self) = runtime->drained;
    if (runtime->in_flight_count > 0 || !drained)
        return;
    runtime->drained = NULL;
    drained(runtime->drained_self);
}

static void pump(void *self)
{
    struct runtime *runtime = self;
    if (runtime->stopping) {
        tell_drained(runtime); /* the runtime may be gone after it */
        return;
    }
    struct mono_time now = loop_mono(runtime->loop);
    bool more = take_ready_keys(runtime, now);
    more |= decide_stale(runtime, now);
    launch_waiting(runtime, now);
    int64_t next = more ? 0 : next_pump_ms(runtime, now);
    if (next >= 0)
        loop_timer_set(&runtime->timer, next);
}

/* --- interface ------------------------------------------------------------------- */

static void collect(void *self)
{
    struct runtime *runtime = self;
    struct mono_time now = loop_mono(runtime->loop);
    for (size_t i = 0; i < runtime->queue_count; i++) {
        const struct queue *queue = runtime->queues[i];
        struct workqueue_stats stats = workqueue_stats(queue->keys);
        double unfinished =
            stats.processing ? (double)(now.ns - stats.oldest_processing.ns) / (double)NS_PER_S : 0;
        struct str name = queue_name(queue);
        metric_set(runtime->depth, (double)stats.ready, name);
        metric_set(runtime->adds, (double)stats.adds, name);
        metric_set(runtime->retries, (double)stats.retries, name);
        metric_set(runtime->unfinished, unfinished, name);
        metric_set(runtime->unconfirmed, (double)expectations_count(queue->expected), name);
    }
}

static void register_metrics(struct runtime *runtime, struct metric_registry *registry)
{
    static const double seconds[] = { 0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                      0.5,    1,     2.5,    5,     10,   25,    50,   100 };
    if (!registry)
        return;
    runtime->depth = metric_gauge(registry, "workqueue_depth", "Keys ready to be processed.", "name", NULL);
    runtime->adds = metric_counter(registry, "workqueue_adds_total", "Keys added.", "name", NULL);
    runtime->retries = metric_counter(registry, "workqueue_retries_total",
                                      "Keys added again after a failure.", "name", NULL);
    runtime->unfinished = metric_gauge(registry, "workqueue_longest_running_processor_seconds",
                                       "Age of the oldest key being processed.", "name", NULL);
    runtime->queue_seconds =
        metric_histogram(registry, "workqueue_queue_duration_seconds",
                         "Time a key waited until it was taken.", seconds, ARRAY_LEN(seconds), "name", NULL);
    runtime->reconciles = metric_counter(registry, "controller_runtime_reconcile_total",
                                         "Reconciles by result.", "controller", "result", NULL);
    runtime->writes =
        metric_counter(registry, "koord_manager_writes_total", "Writes to the API server by outcome.",
                       "controller", "write", "outcome", NULL);
    runtime->unconfirmed =
        metric_gauge(registry, "koord_manager_writes_unconfirmed",
                     "Writes that succeeded but that the cache does not show yet.", "controller", NULL);
    metric_on_collect(registry, collect, runtime);
}

struct runtime *runtime_new(struct loop *loop, const struct runtime_options *options)
{
    struct runtime *runtime = mem_zalloc(sizeof *runtime);
    runtime->options = *options;
    if (!runtime->options.max_in_flight)
        runtime->options.max_in_flight = 8;
    runtime->loop = loop;
    loop_timer_init(&runtime->timer, loop, pump, runtime);
    token_bucket_init(&runtime->bucket, options->write_qps, options->write_burst, loop_mono(loop));
    register_metrics(runtime, options->metrics);
    return runtime;
}

static void free_jobs(struct job **list)
{
    struct job *job, *next;
    DL_FOREACH_SAFE(*list, job, next)
    {
        DL_DELETE(*list, job);
        if (job->call)
            kube_cancel(job->call);
        runtime_free_job(job);
    }
}

void runtime_free(struct runtime *runtime)
{
    if (!runtime)
        return;
    for (size_t i = 0; i < runtime->queue_count; i++)
        HASH_CLEAR(hh, runtime->queues[i]->waiting);
    for (int turn = 0; turn < TURNS; turn++)
        free_jobs(&runtime->waiting[turn]);
    free_jobs(&runtime->in_flight);
    for (size_t i = 0; i < runtime->queue_count; i++) {
        workqueue_free(runtime->queues[i]->keys);
        expectations_free(runtime->queues[i]->expected);
        free(runtime->queues[i]);
    }
    free(runtime->queues);
    loop_timer_done(&runtime->timer);
    free(runtime);
}

size_t runtime_add(struct runtime *runtime, const struct controller *controller)
{
    struct queue *queue = mem_zalloc(sizeof *queue);
    queue->controller = *controller;
    struct workqueue_options options = { .seed = runtime->options.seed + runtime->queue_count };
    queue->keys = workqueue_new(&options);
    queue->expected = expectations_new();
    runtime->queues = mem_realloc(runtime->queues, (runtime->queue_count + 1) * sizeof(*runtime->queues));
    runtime->queues[runtime->queue_count] = queue;
    return runtime->queue_count++;
}

static void enqueue(struct runtime *runtime, size_t controller, struct str key, enum work_priority priority)
{
    if (runtime->stopping)
        return;
    workqueue_add(runtime->queues[controller]->keys, key, priority, loop_mono(runtime->loop));
    note_news(runtime->queues[controller], key);
    runtime_pump_soon(runtime);
}

void runtime_enqueue(struct runtime *runtime, size_t controller, struct str key)
{
    enqueue(runtime, controller, key, WORK_NORMAL);
}

void runtime_enqueue_low(struct runtime *runtime, size_t controller, struct str key)
{
    enqueue(runtime, controller, key, WORK_LOW);
}

void runtime_start(struct runtime *runtime)
{
    runtime->started = true;
    runtime_pump_soon(runtime);
}

void runtime_poke(struct runtime *runtime)
{
    runtime_pump_soon(runtime);
}

void runtime_stop(struct runtime *runtime, void (*drained)(void *self), void *self)
{
    runtime->stopping = true;
    runtime->drained = drained;
    runtime->drained_self = self;
    runtime_pump_soon(runtime);
}

void runtime_halt(struct runtime *runtime)
{
    runtime->stopping = true;
    free_jobs(&runtime->in_flight);
    runtime->in_flight_count = 0;
    runtime_pump_soon(runtime);
}
