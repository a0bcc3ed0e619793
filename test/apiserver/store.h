#pragma once
/* The data of the cluster: buckets of objects under one resourceVersion counter, and per
 * bucket a window of recent changes from which watches resume and past states are rebuilt.
 *
 *     struct as_bucket *pods = as_store_bucket(store, STR(""), STR("pods"));
 *     const struct as_object *pod = as_bucket_put(pods, tree);
 */
#include "test/apiserver/omap.h"

struct as_store;
struct as_watch;

enum as_change_type { AS_ADDED, AS_MODIFIED, AS_DELETED };

struct as_change {
    int64_t rv;
    enum as_change_type type;
    struct as_object *before; /* NULL when added */
    struct as_object *after;  /* NULL when deleted */
};

struct as_bucket {
    struct as_store *store;
    struct str group;
    struct str resource; /* plural */
    const struct as_field *fields;
    size_t field_count;
    struct as_omap objects;
    int64_t floor;            /* changes up to here are forgotten */
    struct as_change *window; /* a ring, oldest first */
    size_t window_cap, window_head, window_count;
    struct as_watch *watches; /* kept by watch.c */
    struct as_bucket *next;
};

/* Remembers at most `window` changes per bucket; 0: 4096. */
struct as_store *as_store_new(size_t window);
void as_store_free(struct as_store *store); /* NULL is fine */

int64_t as_store_rv(const struct as_store *store);
/* After a restart: what comes next gets a higher resourceVersion. Never goes back. */
void as_store_advance(struct as_store *store, int64_t rv);

/* The bucket of that name, made when new; lives as long as the store. */
struct as_bucket *as_store_bucket(struct as_store *store, struct str group, struct str resource);
struct as_bucket *as_store_first(const struct as_store *store);
/* Which fields selectors may name. Before the first object; borrows the table. */
void as_bucket_set_fields(struct as_bucket *bucket, const struct as_field *fields, size_t count);

/* Creates or replaces under the next resourceVersion. Borrowed until the next change. */
struct as_object *as_bucket_put(struct as_bucket *bucket, const struct json *tree);
bool as_bucket_delete(struct as_bucket *bucket, struct str key);
struct as_object *as_bucket_get(const struct as_bucket *bucket, struct str namespace, struct str name);
/* Replays what an earlier run stored: observers hear of it, the window does not. Call
 * as_store_compact when everything is back. */
void as_bucket_restore(struct as_bucket *bucket, const struct json *tree, int64_t rv);
void as_bucket_forget(struct as_bucket *bucket, struct str key, int64_t rv);

/* Forgets every change so far: older watches and tokens get 410. */
void as_store_compact(struct as_store *store);

/* The window's change number `index`, counted from the oldest. */
const struct as_change *as_bucket_change(const struct as_bucket *bucket, size_t index);
/* Index of the first change newer than `rv`; window_count when there is none. */
size_t as_bucket_changes_after(const struct as_bucket *bucket, int64_t rv);

/* Hears of every change after it is in place, in order of registration. */
typedef void (*as_observer_fn)(void *self, struct as_bucket *bucket, const struct as_change *change);
void as_store_observe(struct as_store *store, as_observer_fn observer, void *self);

/* "namespace/name", or "name" when `namespace` is empty. */
struct str as_key(struct arena *arena, struct str namespace, struct str name);
