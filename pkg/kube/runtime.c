#include "kube/runtime.h"

#include <stdlib.h>

#include "base/log.h"
#include "kube/backoff.h"
#include "kube/expectations.h"
#include "kube/workqueue.h"

#define uthash_fatal(message) abort()
#include <utlist.h>

/* Keys decided per turn of the loop: keeps a policy flip over thousands of nodes from
 * holding up health answers. */
#define KEYS_PER_TURN 256
/* A write the server calls invalid is not repeated before this, unless news comes. */
#define INVALID_RECHECK_MS (5 * 60 * 1000)
#define MAX_PAUSE_MS (60 * 1000)

enum turn { WITHDRAWALS, OTHERS, TURNS };

struct queue {
    struct controller controller;
    struct workqueue *keys;
    struct expectations *expected;
};

/* One key under way: decided, waiting for its turn to write, or in flight. */
struct job {
    struct job *prev, *next; /* in its waiting or in-flight list */
    struct runtime *runtime;
    struct queue *queue;
    struct str key; /* the workqueue's, valid until done */
    struct arena arena;
    struct plan plan;
    struct mono_time planned;
    struct kube_call *call;
    bool checked_absent; /* only_if_absent was answered by a live GET */
};

struct runtime {
    struct runtime_options options;
    struct loop *loop;
    struct loop_timer timer;
    struct queue **queues;
    size_t queue_count;
    struct job *waiting[TURNS];
    struct job *in_flight;
    size_t in_flight_count;
    struct token_bucket bucket;
    struct mono_time paused_until; /* the server asked for patience */
    bool started, stopping, failing;
    void (*drained)(void *self);
    void *drained_self;
    struct metric *adds, *retries, *depth, *queue_seconds, *unfinished, *reconciles, *writes, *write_seconds;
};

struct write *plan_add(struct plan *plan)
{
    size_t size = sizeof(struct write);
    plan->writes = arena_grow(plan->arena, plan->writes, plan->count * size, (plan->count + 1) * size);
    return &plan->writes[plan->count++];
}

static struct str queue_name(const struct queue *queue)
{
    return str_c(queue->controller.name);
}

static void pump_soon(struct runtime *runtime)
{
    if (runtime->started && !runtime->stopping)
        loop_timer_set(&runtime->timer, 0);
}

/* --- deciding -------------------------------------------------------------------- */

static void decide(struct job *job)
{
    const struct controller *controller = &job->queue->controller;
    arena_clear(&job->arena);
    job->plan = (struct plan){ .arena = &job->arena, .recheck_after_ms = -1 };
    job->planned = loop_mono(job->runtime->loop);
    controller->reconcile(controller->self, job->key, job->planned, loop_wall(job->runtime->loop),
                          &job->plan);
}

static void free_job(struct job *job)
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
    free_job(job);
}

static bool cache_is_behind(struct queue *queue, struct str key, struct mono_time now)
{
    const struct controller *controller = &queue->controller;
    const struct kube_kind *kind = expectations_kind(queue->expected, key);
    if (!kind || !controller->store_of)
        return false;
    return !expectations_met(queue->expected, key, controller->store_of(controller->self, kind), now);
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
    decide(job);
    if (job->plan.count == 0) {
        settle(job);
        return;
    }
    enum turn turn = job->plan.writes[0].withdrawal ? WITHDRAWALS : OTHERS;
    DL_APPEND(runtime->waiting[turn], job);
}

/* --- writing --------------------------------------------------------------------- */

static void end_flight(struct job *job)
{
    job->call = NULL;
    DL_DELETE(job->runtime->in_flight, job);
    job->runtime->in_flight_count--;
}

static void retry(struct job *job, const char *result)
{
    struct mono_time now = loop_mono(job->runtime->loop);
    struct workqueue *keys = job->queue->keys;
    metric_add(job->runtime->reconciles, 1, queue_name(job->queue), str_c(result));
    workqueue_done(keys, job->key, now);
    free_job(job);
}

static void note_failure(struct runtime *runtime, const struct write *write,
                         const struct write_result *result)
{
    if (result->failure == KUBE_CONFLICT || result->failure == KUBE_ALREADY_EXISTS ||
        result->failure == KUBE_NOT_FOUND || runtime->failing)
        return;
    runtime->failing = result->failure != KUBE_INVALID;
    LOG_WARN("write failed", LOG_C("write", write->label), LOG_S("name", write->name),
             LOG_I("code", result->code), LOG_C("failure", kube_failure_name(result->failure)),
             LOG_ERR(&result->err));
}

static void note_success(struct runtime *runtime)
{
    if (runtime->failing)
        LOG_INFO("writes succeed again");
    runtime->failing = false;
}

static void succeeded(struct job *job, const struct write *write, const struct write_result *result)
{
    struct mono_time now = loop_mono(job->runtime->loop);
    struct workqueue *keys = job->queue->keys;
    note_success(job->runtime);
    expectations_set(job->queue->expected, job->key, write, result->body, now);
    workqueue_forget(keys, job->key);
    /* Decided once more when the cache has seen it: for what is left of the plan, and for
     * the timers that follow from the new state. */
    workqueue_add(keys, job->key, WORK_NORMAL, now);
    retry(job, "requeue");
}

/* Nothing was deleted: the cache is behind the server. Look again when it caught up. */
static void skipped(struct job *job)
{
    workqueue_add_rate_limited(job->queue->keys, job->key, loop_mono(job->runtime->loop));
    retry(job, "requeue");
}

static void failed(struct job *job, const struct write *write, const struct write_result *result,
                   int64_t retry_after_ms)
{
    struct runtime *runtime = job->runtime;
    struct mono_time now = loop_mono(runtime->loop);
    struct workqueue *keys = job->queue->keys;
    note_failure(runtime, write, result);
    if (result->failure == KUBE_THROTTLED) /* ERR-8: everybody waits, not only this key */
        runtime->paused_until = mono_add_ms(now, min_i64(max_i64(retry_after_ms, 1000), MAX_PAUSE_MS));
    if (result->failure == KUBE_INVALID) {
        workqueue_forget(keys, job->key);
        workqueue_add_after(keys, job->key, INVALID_RECHECK_MS, now);
    } else {
        workqueue_add_rate_limited(keys, job->key, now);
    }
    retry(job, "error");
}

static void finish(struct job *job, const struct write_result *result, int64_t retry_after_ms)
{
    struct runtime *runtime = job->runtime;
    const struct controller *controller = &job->queue->controller;
    const struct write *write = &job->plan.writes[0];
    end_flight(job);
    metric_add(runtime->writes, 1, queue_name(job->queue), str_c(write->label),
               str_c(kube_failure_name(result->failure)));
    if (controller->written)
        controller->written(controller->self, job->key, write, result, loop_mono(runtime->loop),
                            loop_wall(runtime->loop));
    if (result->skipped)
        skipped(job);
    else if (result->failure == KUBE_OK)
        succeeded(job, write, result);
    else
        failed(job, write, result, retry_after_ms);
    if (runtime->stopping && runtime->in_flight_count == 0 && runtime->drained)
        runtime->drained(runtime->drained_self);
    pump_soon(runtime);
}

static void send_write(struct job *job);

static void on_written(void *self, const struct kube_response *response)
{
    struct job *job = self;
    const struct write *write = &job->plan.writes[0];
    struct write_result result = {
        .failure = response->failure, .code = response->code, .body = response->body, .err = response->err
    };
    if (write->verb == WRITE_DELETE && response->failure == KUBE_NOT_FOUND)
        result.failure = KUBE_OK; /* gone is what was wanted */
    finish(job, &result, response->retry_after_ms);
}

/* The live answer to "is it really absent?" before something is deleted on its account. */
static void on_checked(void *self, const struct kube_response *response)
{
    struct job *job = self;
    if (response->failure == KUBE_NOT_FOUND) {
        job->checked_absent = true;
        send_write(job);
        return;
    }
    struct write_result result = { .failure = response->failure,
                                   .code = response->code,
                                   .err = response->err,
                                   .skipped = response->failure == KUBE_OK };
    finish(job, &result, response->retry_after_ms);
}

static struct str delete_body(struct job *job, const struct write *write)
{
    if (str_empty(write->uid))
        return STR_NULL;
    return arena_strf(
        &job->arena,
        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"" STR_FMT "\"}}",
        STR_ARG(write->uid));
}

static void send_write(struct job *job)
{
    static const enum kube_verb verbs[] = {
        [WRITE_CREATE] = KUBE_CREATE, [WRITE_PATCH] = KUBE_PATCH_MERGE, [WRITE_DELETE] = KUBE_DELETE
    };
    const struct write *write = &job->plan.writes[0];
    bool check = write->only_if_absent && !job->checked_absent;
    struct kube_request request = {
        .verb = check ? KUBE_GET : verbs[write->verb],
        .kind = check ? write->only_if_absent : write->kind,
        .ns = check ? STR_NULL : write->ns,
        .name = !check && write->verb == WRITE_CREATE ? STR_NULL : write->name,
        .subresource = check ? NULL : write->subresource,
        .body = check ? STR_NULL : write->body,
    };
    if (!check && write->verb == WRITE_DELETE)
        request.body = delete_body(job, write);
    struct err err = ERR_INIT;
    job->call = kube_send(job->runtime->options.client, &request, check ? on_checked : on_written, job, &err);
    if (job->call)
        return;
    struct write_result result = { .failure = KUBE_INVALID, .err = err };
    finish(job, &result, -1);
}

static bool may_write(const struct runtime *runtime)
{
    return !runtime->options.may_write || runtime->options.may_write(runtime->options.self);
}

static void launch(struct runtime *runtime, struct job *job)
{
    /* Time has passed since it was decided: decide again on what is known now. */
    if (job->planned.ns != loop_mono(runtime->loop).ns)
        decide(job);
    if (job->plan.count == 0) {
        settle(job);
        return;
    }
    DL_APPEND(runtime->in_flight, job);
    runtime->in_flight_count++;
    send_write(job);
}

static struct job *next_waiting(struct runtime *runtime)
{
    for (int turn = 0; turn < TURNS; turn++) {
        struct job *job = runtime->waiting[turn];
        if (job) {
            DL_DELETE(runtime->waiting[turn], job);
            return job;
        }
    }
    return NULL;
}

static bool anyone_waits(const struct runtime *runtime)
{
    return runtime->waiting[WITHDRAWALS] || runtime->waiting[OTHERS];
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

static void launch_waiting(struct runtime *runtime, struct mono_time now)
{
    size_t limit = runtime->options.max_in_flight;
    while (anyone_waits(runtime) && runtime->in_flight_count < limit &&
           !mono_before(now, runtime->paused_until) && may_write(runtime) &&
           token_bucket_take(&runtime->bucket, now))
        launch(runtime, next_waiting(runtime));
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
    if (anyone_waits(runtime) && runtime->in_flight_count < runtime->options.max_in_flight &&
        may_write(runtime)) {
        int64_t token = token_bucket_wait_ms(&runtime->bucket, now);
        int64_t pause =
            mono_before(now, runtime->paused_until) ? mono_ms_between(now, runtime->paused_until) + 1 : 0;
        next = earlier(next, max_i64(token, pause));
    }
    return next;
}

static void pump(void *self)
{
    struct runtime *runtime = self;
    if (runtime->stopping)
        return;
    struct mono_time now = loop_mono(runtime->loop);
    bool more = take_ready_keys(runtime, now);
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
        free_job(job);
    }
}

void runtime_free(struct runtime *runtime)
{
    if (!runtime)
        return;
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
    pump_soon(runtime);
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
    pump_soon(runtime);
}

void runtime_poke(struct runtime *runtime)
{
    pump_soon(runtime);
}

void runtime_stop(struct runtime *runtime, void (*drained)(void *self), void *self)
{
    runtime->stopping = true;
    loop_timer_cancel(&runtime->timer);
    runtime->drained = drained;
    runtime->drained_self = self;
    if (runtime->in_flight_count == 0 && drained)
        drained(self);
}
