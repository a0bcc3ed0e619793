#pragma once
/* A bucket as it stood at some resourceVersion still inside its window: the objects of
 * today, with the changes since then undone. */
#include "test/apiserver/store.h"

struct as_snapshot {
    struct as_object **objects; /* in key order, one reference each */
    size_t count;
};

void as_snapshot_done(struct as_snapshot *snapshot);

/* What is wanted; `matches` NULL wants everything. */
struct as_snapshot_query {
    int64_t rv;        /* at least bucket->floor */
    struct str prefix; /* of the key: "namespace/", or empty */
    struct str from;   /* the first key that may be taken; empty: the beginning */
    size_t limit;      /* 0: none */
    bool (*matches)(void *self, const struct as_object *object);
    void *self;
};

/* `next_key` (in `arena`, empty at the end) is where the following page begins;
 * `*remaining` counts the objects from there on, matching or not. */
void as_snapshot_take(struct as_snapshot *snapshot, struct arena *arena, const struct as_bucket *bucket,
                      const struct as_snapshot_query *query, struct str *next_key, size_t *remaining);
