#include "kube/store.h"

#include <stdlib.h>

/* The objects of one index value. */
struct bucket {
    const struct istr *value;
    const struct kube_object **items;
    uint32_t count;
    uint32_t cap;
};

/* Open addressing with linear probing; deletion shifts back, so there are no tombstones.
 * Capacity is a power of two, filled to three quarters. */
struct table {
    void **slots;
    size_t cap;
    size_t count;
};

struct store {
    const struct kube_kind *kind;
    struct table objects; /* struct kube_object * */
    struct table index;   /* struct bucket * */
};

/* --- the table ------------------------------------------------------------------- */

/* How a table finds the home slot of an item. */
typedef uint64_t (*hash_fn)(const void *item);

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    return h * UINT64_C(0x9e3779b97f4a7c15) >> 7;
}

static uint64_t hash_name(struct str ns, struct str name)
{
    return mix(str_hash(ns) * 31 + str_hash(name));
}

static uint64_t hash_object(const void *item)
{
    return hash_name(kube_object_namespace(item), kube_object_name(item));
}

static uint64_t hash_bucket(const void *item)
{
    return mix(str_hash(istr_str(((const struct bucket *)item)->value)));
}

static void table_resize(struct table *table, size_t cap, hash_fn hash)
{
    void **old = table->slots;
    size_t old_cap = table->cap;
    table->slots = mem_zalloc(cap * sizeof *table->slots);
    table->cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        if (!old[i])
            continue;
        size_t at = hash(old[i]) & (cap - 1);
        while (table->slots[at])
            at = (at + 1) & (cap - 1);
        table->slots[at] = old[i];
    }
    free(old);
}

static void table_reserve(struct table *table, hash_fn hash)
{
    if ((table->count + 1) * 4 > table->cap * 3)
        table_resize(table, table->cap ? table->cap * 2 : 16, hash);
}

/* Empties one slot and moves followers back so that every probe still finds them. */
static void table_remove_at(struct table *table, size_t hole, hash_fn hash)
{
    size_t mask = table->cap - 1;
    for (size_t at = (hole + 1) & mask; table->slots[at]; at = (at + 1) & mask) {
        size_t home = hash(table->slots[at]) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->slots[hole] = table->slots[at];
            hole = at;
        }
    }
    table->slots[hole] = NULL;
    table->count--;
    /* Give memory back after mass deletion, but not while a small table flutters. */
    if (table->cap > 64 && table->count * 8 < table->cap)
        table_resize(table, table->cap / 2, hash);
}

/* --- index ----------------------------------------------------------------------- */

static bool find_bucket(const struct store *store, struct str value, size_t *ret_at)
{
    const struct table *table = &store->index;
    if (!table->cap)
        return false;
    size_t at = mix(str_hash(value)) & (table->cap - 1);
    for (; table->slots[at]; at = (at + 1) & (table->cap - 1)) {
        const struct bucket *bucket = table->slots[at];
        if (str_eq(istr_str(bucket->value), value)) {
            *ret_at = at;
            return true;
        }
    }
    return false;
}

static struct bucket *new_bucket(struct store *store, const struct istr *value)
{
    table_reserve(&store->index, hash_bucket);
    struct bucket *bucket = mem_zalloc(sizeof *bucket);
    bucket->value = istr_ref(value);
    size_t at = hash_bucket(bucket) & (store->index.cap - 1);
    while (store->index.slots[at])
        at = (at + 1) & (store->index.cap - 1);
    store->index.slots[at] = bucket;
    store->index.count++;
    return bucket;
}

static void resize_bucket(struct bucket *bucket, uint32_t cap)
{
    bucket->cap = cap;
    bucket->items = mem_realloc(bucket->items, cap * sizeof(*bucket->items));
}

static void index_add(struct store *store, const struct kube_object *object)
{
    const struct istr *value = store->kind->index ? store->kind->index(object) : NULL;
    if (!value)
        return;
    size_t at;
    struct bucket *bucket =
        find_bucket(store, istr_str(value), &at) ? store->index.slots[at] : new_bucket(store, value);
    if (bucket->count == bucket->cap) {
        resize_bucket(bucket, bucket->cap ? bucket->cap * 2 : 4);
    }
    bucket->items[bucket->count++] = object;
}

static void free_bucket(struct bucket *bucket)
{
    istr_unref(bucket->value);
    free(bucket->items);
    free(bucket);
}

static void index_remove(struct store *store, const struct kube_object *object)
{
    const struct istr *value = store->kind->index ? store->kind->index(object) : NULL;
    size_t at;
    if (!value || !find_bucket(store, istr_str(value), &at))
        return;
    struct bucket *bucket = store->index.slots[at];
    for (uint32_t i = 0; i < bucket->count; i++) {
        if (bucket->items[i] == object) {
            bucket->items[i] = bucket->items[--bucket->count];
            break;
        }
    }
    if (bucket->count == 0) {
        table_remove_at(&store->index, at, hash_bucket);
        free_bucket(bucket);
    } else if (bucket->cap > 8 && bucket->count * 4 < bucket->cap) {
        resize_bucket(bucket, bucket->cap / 2);
    }
}

/* --- the store ------------------------------------------------------------------- */

struct store *store_new(const struct kube_kind *kind)
{
    struct store *store = mem_zalloc(sizeof *store);
    store->kind = kind;
    return store;
}

static void clear(struct store *store)
{
    for (size_t i = 0; i < store->index.cap; i++) {
        if (store->index.slots[i])
            free_bucket(store->index.slots[i]);
    }
    for (size_t i = 0; i < store->objects.cap; i++)
        kube_object_unref(store->objects.slots[i]);
    free(store->index.slots);
    free(store->objects.slots);
    store->index = store->objects = (struct table){ 0 };
}

void store_free(struct store *store)
{
    if (!store)
        return;
    clear(store);
    free(store);
}

static bool find(const struct store *store, struct str ns, struct str name, size_t *ret_at)
{
    const struct table *table = &store->objects;
    if (!table->cap)
        return false;
    size_t at = hash_name(ns, name) & (table->cap - 1);
    for (; table->slots[at]; at = (at + 1) & (table->cap - 1)) {
        const struct kube_object *object = table->slots[at];
        if (str_eq(kube_object_name(object), name) && str_eq(kube_object_namespace(object), ns)) {
            *ret_at = at;
            return true;
        }
    }
    return false;
}

const struct kube_object *store_get(const struct store *store, struct str ns, struct str name)
{
    size_t at;
    return find(store, ns, name, &at) ? store->objects.slots[at] : NULL;
}

size_t store_count(const struct store *store)
{
    return store->objects.count;
}

bool store_is_same(const struct kube_object *a, const struct kube_object *b)
{
    struct str rv = kube_object_rv(a);
    return a == b || (!str_empty(rv) && str_eq(rv, kube_object_rv(b)) && kube_uid_eq(a, b));
}

struct kube_object *store_put(struct store *store, struct kube_object *object)
{
    struct kube_object *old = NULL;
    size_t at;
    if (find(store, kube_object_namespace(object), kube_object_name(object), &at)) {
        old = store->objects.slots[at];
        index_remove(store, old);
        store->objects.slots[at] = object;
    } else {
        table_reserve(&store->objects, hash_object);
        at = hash_object(object) & (store->objects.cap - 1);
        while (store->objects.slots[at])
            at = (at + 1) & (store->objects.cap - 1);
        store->objects.slots[at] = object;
        store->objects.count++;
    }
    index_add(store, object);
    return old;
}

struct kube_object *store_remove(struct store *store, struct str ns, struct str name)
{
    size_t at;
    if (!find(store, ns, name, &at))
        return NULL;
    struct kube_object *object = store->objects.slots[at];
    index_remove(store, object);
    table_remove_at(&store->objects, at, hash_object);
    return object;
}

const struct kube_object *const *store_by_index(const struct store *store, struct str value,
                                                size_t *ret_count)
{
    size_t at;
    *ret_count = 0;
    if (!find_bucket(store, value, &at))
        return NULL;
    const struct bucket *bucket = store->index.slots[at];
    *ret_count = bucket->count;
    return bucket->items;
}

void store_each(const struct store *store, bool (*each)(void *self, const struct kube_object *object),
                void *self)
{
    for (size_t i = 0; i < store->objects.cap; i++) {
        const struct kube_object *object = store->objects.slots[i];
        if (object && !each(self, object))
            return;
    }
}

/* --- swap ------------------------------------------------------------------------ */

typedef void (*changed_fn)(void *self, const struct kube_object *old, const struct kube_object *new);

static void tell_deletes(const struct store *was, const struct store *is, changed_fn changed, void *self)
{
    for (size_t i = 0; i < was->objects.cap; i++) {
        const struct kube_object *old = was->objects.slots[i];
        if (!old)
            continue;
        const struct kube_object *new = store_get(is, kube_object_namespace(old), kube_object_name(old));
        if (!new || !kube_uid_eq(old, new))
            changed(self, old, NULL);
    }
}

static void tell_rest(const struct store *was, const struct store *is, changed_fn changed, void *self)
{
    for (size_t i = 0; i < is->objects.cap; i++) {
        const struct kube_object *new = is->objects.slots[i];
        if (!new)
            continue;
        const struct kube_object *old = store_get(was, kube_object_namespace(new), kube_object_name(new));
        if (!old || !kube_uid_eq(old, new))
            changed(self, NULL, new);
        else if (!store_is_same(old, new))
            changed(self, old, new);
    }
}

void store_swap(struct store *store, struct store *next, changed_fn changed, void *self)
{
    struct store was = *store;
    store->objects = next->objects;
    store->index = next->index;
    next->objects = next->index = (struct table){ 0 };
    tell_deletes(&was, store, changed, self);
    tell_rest(&was, store, changed, self);
    clear(&was);
}
