#include "test/apiserver/store.h"

#include <stdlib.h>

#define OBSERVERS 8

struct as_store {
    int64_t rv;
    size_t window;
    struct as_bucket *buckets;
    struct {
        as_observer_fn fn;
        void *self;
    } observers[OBSERVERS];
    size_t observer_count;
};

struct as_store *as_store_new(size_t window)
{
    struct as_store *store = mem_zalloc(sizeof *store);
    store->rv = 1; /* 0 means "any" on the wire */
    store->window = window ? window : 4096;
    return store;
}

static void change_done(struct as_change *change)
{
    as_object_unref(change->before);
    as_object_unref(change->after);
}

static void window_drop_oldest(struct as_bucket *bucket)
{
    struct as_change *oldest = &bucket->window[bucket->window_head];
    bucket->floor = oldest->rv;
    change_done(oldest);
    bucket->window_head = (bucket->window_head + 1) % bucket->window_cap;
    bucket->window_count--;
}

static void bucket_free(struct as_bucket *bucket)
{
    while (bucket->window_count)
        window_drop_oldest(bucket);
    free(bucket->window);
    as_omap_done(&bucket->objects);
    free((char *)bucket->group.ptr);
    free((char *)bucket->resource.ptr);
    free(bucket);
}

void as_store_free(struct as_store *store)
{
    if (!store)
        return;
    while (store->buckets) {
        struct as_bucket *next = store->buckets->next;
        bucket_free(store->buckets);
        store->buckets = next;
    }
    free(store);
}

int64_t as_store_rv(const struct as_store *store)
{
    return store->rv;
}

void as_store_advance(struct as_store *store, int64_t rv)
{
    store->rv = max_i64(store->rv, rv);
}

struct as_bucket *as_store_bucket(struct as_store *store, struct str group, struct str resource)
{
    for (struct as_bucket *bucket = store->buckets; bucket; bucket = bucket->next)
        if (str_eq(bucket->resource, resource) && str_eq(bucket->group, group))
            return bucket;
    struct as_bucket *bucket = mem_zalloc(sizeof *bucket);
    bucket->store = store;
    bucket->group = (struct str){ str_dup_c(group), group.len };
    bucket->resource = (struct str){ str_dup_c(resource), resource.len };
    bucket->next = store->buckets;
    store->buckets = bucket;
    return bucket;
}

struct as_bucket *as_store_first(const struct as_store *store)
{
    return store->buckets;
}

void as_bucket_set_fields(struct as_bucket *bucket, const struct as_field *fields, size_t count)
{
    bucket->fields = fields;
    bucket->field_count = count;
}

static void window_grow(struct as_bucket *bucket)
{
    size_t cap = bucket->window_cap ? bucket->window_cap * 2 : 64;
    struct as_change *window = mem_zalloc(cap * sizeof *window);
    for (size_t i = 0; i < bucket->window_count; i++)
        window[i] = bucket->window[(bucket->window_head + i) % bucket->window_cap];
    free(bucket->window);
    bucket->window = window;
    bucket->window_cap = cap;
    bucket->window_head = 0;
}

static void notify(struct as_bucket *bucket, const struct as_change *change)
{
    const struct as_store *store = bucket->store;
    for (size_t i = 0; i < store->observer_count; i++)
        store->observers[i].fn(store->observers[i].self, bucket, change);
}

/* Takes over the references in `change`. */
static void publish(struct as_bucket *bucket, struct as_change change)
{
    struct as_store *store = bucket->store;
    if (bucket->window_count == store->window)
        window_drop_oldest(bucket);
    if (bucket->window_count == bucket->window_cap)
        window_grow(bucket);
    bucket->window[(bucket->window_head + bucket->window_count++) % bucket->window_cap] = change;

    /* An observer may write in turn, which moves the window: hand out a copy that holds
     * its own references. */
    if (change.before)
        as_object_ref(change.before);
    if (change.after)
        as_object_ref(change.after);
    notify(bucket, &change);
    change_done(&change);
}

struct as_object *as_bucket_put(struct as_bucket *bucket, const struct json *tree)
{
    struct as_object *object = as_object_new(tree, bucket->fields, bucket->field_count);
    struct as_object *before = as_omap_get(&bucket->objects, object->key);
    object->rv = ++bucket->store->rv;
    struct as_change change = { .rv = object->rv,
                                .type = before ? AS_MODIFIED : AS_ADDED,
                                .after = as_object_ref(object) };
    if (before)
        change.before = as_object_ref(before);
    as_omap_put(&bucket->objects, object);
    publish(bucket, change);
    return object;
}

bool as_bucket_delete(struct as_bucket *bucket, struct str key)
{
    struct as_object *before = as_omap_get(&bucket->objects, key);
    if (!before)
        return false;
    struct as_change change = { .rv = ++bucket->store->rv,
                                .type = AS_DELETED,
                                .before = as_object_ref(before) };
    as_omap_remove(&bucket->objects, before->key);
    publish(bucket, change);
    return true;
}

struct as_object *as_bucket_get(const struct as_bucket *bucket, struct str namespace, struct str name)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    return as_omap_get(&bucket->objects, as_key(&arena, namespace, name));
}

void as_bucket_restore(struct as_bucket *bucket, const struct json *tree, int64_t rv)
{
    struct as_object *object = as_object_new(tree, bucket->fields, bucket->field_count);
    object->rv = rv;
    as_store_advance(bucket->store, rv);
    as_omap_put(&bucket->objects, as_object_ref(object));
    struct as_change change = { .rv = rv, .type = AS_ADDED, .after = object };
    notify(bucket, &change);
    change_done(&change);
}

void as_bucket_forget(struct as_bucket *bucket, struct str key, int64_t rv)
{
    struct as_object *before = as_omap_get(&bucket->objects, key);
    as_store_advance(bucket->store, rv);
    if (!before)
        return;
    struct as_change change = { .rv = rv, .type = AS_DELETED, .before = as_object_ref(before) };
    as_omap_remove(&bucket->objects, before->key);
    notify(bucket, &change);
    change_done(&change);
}

void as_store_compact(struct as_store *store)
{
    for (struct as_bucket *bucket = store->buckets; bucket; bucket = bucket->next) {
        while (bucket->window_count)
            window_drop_oldest(bucket);
        bucket->floor = store->rv;
    }
}

const struct as_change *as_bucket_change(const struct as_bucket *bucket, size_t index)
{
    return &bucket->window[(bucket->window_head + index) % bucket->window_cap];
}

size_t as_bucket_changes_after(const struct as_bucket *bucket, int64_t rv)
{
    size_t low = 0;
    size_t high = bucket->window_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (as_bucket_change(bucket, middle)->rv <= rv)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void as_store_observe(struct as_store *store, as_observer_fn observer, void *self)
{
    if (store->observer_count == OBSERVERS)
        abort();
    store->observers[store->observer_count].fn = observer;
    store->observers[store->observer_count++].self = self;
}

struct str as_key(struct arena *arena, struct str namespace, struct str name)
{
    if (str_empty(namespace))
        return name;
    return arena_strf(arena, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
}
