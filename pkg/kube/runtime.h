#pragma once
/* The controller runtime: a reconcile is a pure decision, the runtime acts on it.
 *
 *     changed key ──▶ workqueue ──▶ reconcile(key, now) ──▶ plan of writes ──▶ apply
 *                        ▲                                                     │
 *                        └──── conflict, 429, 5xx: backoff ◀───────────────────┤
 *                        └──── recheck_after_ms: timer ◀───────────────────────┘
 *
 * Writes wait for a token of the rate limit; withdrawals go before anything that gives.
 * A plan that had to wait is made again when news comes for its key and just before it is
 * sent, so what is sent was decided on the newest snapshot. Of a plan the first write is
 * sent; then the key is decided again, but not before the cache has seen what was written
 * (REF-18): nothing is written twice and nothing is written on old news. */
#include "kube/client.h"
#include "kube/store.h"
#include "metrics/metrics.h"

enum write_verb {
    WRITE_CREATE,
    WRITE_PATCH, /* JSON merge patch */
    WRITE_DELETE,
};

struct write {
    enum write_verb verb;
    const struct kube_kind *kind;
    struct str ns;
    struct str name;
    const char *subresource; /* NULL: none */
    struct str body;         /* create, patch */
    struct str uid;          /* delete: precondition; empty: none */
    bool withdrawal;         /* takes capacity back: goes first */
    /* delete: only after a live GET of this kind and name was answered "NotFound". */
    const struct kube_kind *only_if_absent;
    const char *label; /* for logs and metrics: "createNodeMetric" */
};

struct plan {
    struct arena *arena; /* everything in the plan lives here */
    struct write *writes;
    size_t count;
    int64_t recheck_after_ms; /* -1 (the initial value): only on events */
};
/* Zeroed; appended to the plan. */
struct write *plan_add(struct plan *plan);

struct write_result {
    enum kube_failure failure;
    int code;
    struct str body; /* the object as the server answered it */
    struct err err;
    bool skipped; /* only_if_absent: the object exists after all */
};

struct controller {
    const char *name; /* "nodemetric": label of every queue metric */
    /* Decides from caches and `now`; changes nothing, must not block. */
    void (*reconcile)(void *self, struct str key, struct mono_time mono, struct wall_time wall,
                      struct plan *plan);
    /* One write is over; runs before the key is reconciled again. May be NULL. */
    void (*written)(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall);
    /* Where the written object will show up in our caches (REF-18). */
    const struct store *(*store_of)(void *self, const struct kube_kind *kind);
    void *self;
};

struct runtime;
struct runtime_options {
    struct kube_client *client;
    struct metric_registry *metrics;
    double write_qps; /* 0: no limit */
    double write_burst;
    size_t max_in_flight; /* 0: 8 */
    uint64_t seed;
    /* False stops writes from leaving (no lease, paused). Asked before each, and once more at
     * the last moment before it is sent, so it has to read the clock itself. NULL: always. */
    bool (*may_write)(void *self);
    void *self;
};

struct runtime *runtime_new(struct loop *loop, const struct runtime_options *options);
/* Cancels what is in flight; NULL is fine. */
void runtime_free(struct runtime *runtime);

/* Copies the struct; the returned queue id is for runtime_enqueue. */
size_t runtime_add(struct runtime *runtime, const struct controller *controller);
void runtime_enqueue(struct runtime *runtime, size_t controller, struct str key);
/* A key known to matter less: initial lists, periodic passes. */
void runtime_enqueue_low(struct runtime *runtime, size_t controller, struct str key);
/* Nothing is reconciled before this: caches must be synced first. */
void runtime_start(struct runtime *runtime);

/* No new keys are taken, nothing more is sent; `drained` fires once, from the loop, when
 * nothing is in flight any more. */
void runtime_stop(struct runtime *runtime, void (*drained)(void *self), void *self);
/* The right to write is lost for good: what is in flight is cut off, nothing more is decided.
 * Not from inside a controller. */
void runtime_halt(struct runtime *runtime);
/* May-write changed for the better: look again. */
void runtime_poke(struct runtime *runtime);
