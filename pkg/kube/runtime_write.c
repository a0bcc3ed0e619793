#include "kube/runtime_internal.h"

#include <stdlib.h>

#include "base/log.h"

/* A write the server calls invalid is not repeated before this, unless news comes. */
#define INVALID_RECHECK_MS (5 * 60 * 1000)
#define MIN_PAUSE_MS 1000
#define MAX_PAUSE_MS (60 * 1000)

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
    runtime_free_job(job);
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

/* Nothing was written: the cache is behind the server, or the right to write was lost
 * between two requests. Look again. */
static void skipped(struct job *job)
{
    workqueue_add_rate_limited(job->queue->keys, job->key, loop_mono(job->runtime->loop));
    retry(job, "requeue");
}

/* ERR-8: everybody waits, not only this key. */
static void pause_all(struct runtime *runtime, int64_t retry_after_ms)
{
    int64_t pause_ms = min_i64(max_i64(retry_after_ms, MIN_PAUSE_MS), MAX_PAUSE_MS);
    struct mono_time until = mono_add_ms(loop_mono(runtime->loop), pause_ms);
    if (mono_before(runtime->paused_until, until))
        runtime->paused_until = until;
}

static void failed(struct job *job, const struct write *write, const struct write_result *result,
                   int64_t retry_after_ms)
{
    struct runtime *runtime = job->runtime;
    struct mono_time now = loop_mono(runtime->loop);
    struct workqueue *keys = job->queue->keys;
    note_failure(runtime, write, result);
    if (result->failure == KUBE_THROTTLED)
        pause_all(runtime, retry_after_ms);
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
    runtime_pump_soon(runtime);
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

/* Only an API server that knows the kind says so by a Status; a proxy's 404 proves nothing. */
static bool says_absent(const struct kube_response *response)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_status status = { 0 };
    return response->failure == KUBE_NOT_FOUND &&
           json_decode(&arena, response->body, &api_status_table, &status, NULL, NULL) &&
           str_eq(status.reason, STR("NotFound"));
}

/* The live answer to "is it really absent?" before something is deleted on its account. */
static void on_checked(void *self, const struct kube_response *response)
{
    struct job *job = self;
    const struct runtime *runtime = job->runtime;
    bool absent = says_absent(response);
    if (absent && !runtime->stopping && runtime_may_write(runtime)) {
        job->checked_absent = true;
        send_write(job);
        return;
    }
    struct write_result result = { .failure = response->failure,
                                   .code = response->code,
                                   .err = response->err,
                                   .skipped = absent || response->failure == KUBE_OK };
    if (result.skipped)
        result.failure = KUBE_OK;
    else if (result.failure == KUBE_NOT_FOUND)
        result.failure = KUBE_PROTOCOL;
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
        .may_send = check ? NULL : job->runtime->options.may_write,
        .may_send_self = job->runtime->options.self,
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

void runtime_launch(struct job *job)
{
    DL_APPEND(job->runtime->in_flight, job);
    job->runtime->in_flight_count++;
    send_write(job);
}
