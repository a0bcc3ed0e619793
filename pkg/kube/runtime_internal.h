#pragma once
/* The inside of the runtime, shared by runtime.c (queues, decisions, pace) and
 * runtime_write.c (one write from sending to what follows from its answer). */
#include "base/arena.h"
#include "kube/backoff.h"
#include "kube/expectations.h"
#include "kube/runtime.h"
#include "kube/workqueue.h"

#define uthash_fatal(message) abort()
#include <uthash.h>
#include <utlist.h>

enum turn { WITHDRAWALS, OTHERS, TURNS };

struct queue {
    struct controller controller;
    struct workqueue *keys;
    struct expectations *expected;
    struct job *waiting; /* those that wait to write, by key */
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

    /* While waiting. */
    UT_hash_handle hh;
    enum turn turn;
    bool stale; /* news came for the key: another decision may have another turn */
    struct job *stale_prev, *stale_next;

    /* While in flight. */
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
    struct job *stale;
    struct job *in_flight;
    size_t in_flight_count;
    struct token_bucket bucket;
    struct mono_time paused_until; /* the server asked for patience */
    bool started, stopping, failing;
    void (*drained)(void *self);
    void *drained_self;
    struct metric *adds, *retries, *depth, *queue_seconds, *unfinished, *reconciles, *writes, *unconfirmed;
};

static inline struct str queue_name(const struct queue *queue)
{
    return str_c(queue->controller.name);
}

/* runtime.c */
void runtime_pump_soon(struct runtime *runtime);
bool runtime_may_write(const struct runtime *runtime);
void runtime_free_job(struct job *job);

/* runtime_write.c: sends the first write of the plan and sees to what follows from the
 * answer; the job is gone after that. */
void runtime_launch(struct job *job);
