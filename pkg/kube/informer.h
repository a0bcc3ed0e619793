#pragma once
/* A store of one kind kept fresh by list and watch: the reflector's decisions, done.
 *
 * Handlers run in the loop after the store changed; they only note keys. */
#include "kube/client.h"
#include "kube/store.h"

struct informer;

/* How trustworthy silence is: whether what the store says about age can be believed. */
struct feed_state {
    bool synced;                 /* a list was installed once */
    bool live;                   /* a watch is open */
    struct mono_time live_since; /* start of the present live time */
    int64_t gap_ms;              /* how long the feed was not live before it; 0 on the first */
    bool unavailable; /* a list was answered 404 or 403, none was read since: not served, or not to us */
};

struct informer_options {
    const struct kube_kind *kind;
    struct intern *pool;
    struct str ns;             /* empty: all, or cluster-scoped */
    struct str field_selector; /* e.g. metadata.name=slo-controller-config; empty: none */
    int64_t page_size;
    struct metric_registry *metrics;
    uint64_t seed;
    /* (old, NULL) gone, (NULL, new) came, (old, new) changed. Only relevant changes: when
     * nothing we keep differs the store moves on silently (REF-17). */
    void (*changed)(void *self, const struct kube_object *old, const struct kube_object *new);
    /* The first complete list was installed; after its changes. May be NULL. */
    void (*synced)(void *self);
    /* The kind turned out to be unavailable; it is tried again. May be NULL. */
    void (*unavailable)(void *self);
    /* The feed became live or stopped being so. May be NULL. */
    void (*feed)(void *self, const struct feed_state *state);
    void *self;
};

struct informer *informer_new(struct kube_client *client, const struct informer_options *options);
void informer_free(struct informer *informer); /* NULL is fine */
void informer_start(struct informer *informer);

const struct store *informer_store(const struct informer *informer);
struct feed_state informer_feed(const struct informer *informer);
/* resourceVersion up to which the store is known complete. */
struct str informer_rv(const struct informer *informer);
/* "Node: waiting (list refused: ...)" for readiness and logs. */
void informer_describe(const struct informer *informer, struct strbuf *out);
