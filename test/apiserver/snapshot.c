#include "test/apiserver/snapshot.h"

#include <stdlib.h>

void as_snapshot_done(struct as_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        as_object_unref(snapshot->objects[i]);
    free(snapshot->objects);
    *snapshot = (struct as_snapshot){ 0 };
}

/* What one key held at the asked version; NULL: it did not exist. */
struct past {
    struct str key;
    size_t order; /* of its first change since then */
    struct as_object *object;
};

static int compare_past(const void *a, const void *b)
{
    const struct past *left = a;
    const struct past *right = b;
    int order = str_cmp(left->key, right->key);
    if (order)
        return order;
    return left->order < right->order ? -1 : 1;
}

/* The first change of a key after `rv` tells what it was at `rv`. */
static struct past *past_states(struct arena *arena, const struct as_bucket *bucket, int64_t rv,
                                size_t *ret_count)
{
    size_t first = as_bucket_changes_after(bucket, rv);
    struct past *states = arena_array(arena, struct past, bucket->window_count - first);
    size_t count = 0;
    for (size_t i = first; i < bucket->window_count; i++) {
        const struct as_change *change = as_bucket_change(bucket, i);
        struct str key = change->before ? change->before->key : change->after->key;
        states[count++] = (struct past){ key, i, change->before };
    }
    if (count)
        qsort(states, count, sizeof *states, compare_past);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !str_eq(states[kept - 1].key, states[i].key))
            states[kept++] = states[i];
    *ret_count = kept;
    return states;
}

/* Walks today's objects and the past states side by side, past states winning. */
struct walk {
    struct as_omap_node *node;
    const struct past *past;
    size_t past_count;
};

static struct as_object *walk_next(struct walk *walk)
{
    for (;;) {
        struct as_object *today = walk->node ? as_omap_object(walk->node) : NULL;
        if (!today && !walk->past_count)
            return NULL;
        int order = !today ? 1 : !walk->past_count ? -1 : str_cmp(today->key, walk->past->key);
        if (order < 0) {
            walk->node = as_omap_next(walk->node);
            return today;
        }
        struct as_object *then = walk->past->object;
        walk->past++;
        walk->past_count--;
        if (order == 0)
            walk->node = as_omap_next(walk->node);
        if (then)
            return then;
    }
}

static void snapshot_push(struct as_snapshot *snapshot, size_t *cap, struct as_object *object)
{
    if (snapshot->count == *cap) {
        *cap = *cap ? *cap * 2 : 64;
        snapshot->objects = mem_realloc(snapshot->objects, *cap * sizeof(struct as_object *));
    }
    snapshot->objects[snapshot->count++] = as_object_ref(object);
}

static struct walk walk_begin(struct arena *arena, const struct as_bucket *bucket, int64_t rv,
                              struct str from)
{
    struct walk walk = { .node = as_omap_seek(&bucket->objects, from) };
    if (rv < as_store_rv(bucket->store))
        walk.past = past_states(arena, bucket, rv, &walk.past_count);
    while (walk.past_count && str_cmp(walk.past->key, from) < 0) {
        walk.past++;
        walk.past_count--;
    }
    return walk;
}

void as_snapshot_take(struct as_snapshot *snapshot, struct arena *arena, const struct as_bucket *bucket,
                      const struct as_snapshot_query *query, struct str *next_key, size_t *remaining)
{
    *snapshot = (struct as_snapshot){ 0 };
    *next_key = STR_NULL;
    *remaining = 0;
    size_t cap = 0;
    struct str from = str_cmp(query->from, query->prefix) > 0 ? query->from : query->prefix;
    struct walk walk = walk_begin(arena, bucket, query->rv, from);
    struct as_object *object;
    while ((object = walk_next(&walk)) && str_starts_with(object->key, query->prefix)) {
        if (query->limit && snapshot->count == query->limit) {
            if (!(*remaining)++)
                *next_key = arena_str(arena, object->key);
        } else if (!query->matches || query->matches(query->self, object)) {
            snapshot_push(snapshot, &cap, object);
        }
    }
}
