#pragma once
/* Every object of one kind, by namespace and name, and by one index value. Pure memory.
 *
 * Objects never change: an update replaces the object. An open-addressing table of
 * pointers (8 bytes a slot) and one pointer per index entry keep 450,000 pods small. */
#include "api/kind.h"

struct store;

struct store *store_new(const struct kube_kind *kind); /* borrows `kind` */
void store_free(struct store *store);                  /* NULL is fine */

/* Borrowed: valid until the store changes; take a reference to keep it. NULL: unknown. */
const struct kube_object *store_get(const struct store *store, struct str ns, struct str name);
size_t store_count(const struct store *store);

/* Same incarnation and same resourceVersion, so nothing can differ. Without a
 * resourceVersion nobody knows. */
bool store_is_same(const struct kube_object *a, const struct kube_object *b);

/* Takes over the caller's reference. The object it replaces is handed out (the caller
 * unrefs it), or NULL. */
struct kube_object *store_put(struct store *store, struct kube_object *object);
/* Hands out what was removed, or NULL. */
struct kube_object *store_remove(struct store *store, struct str ns, struct str name);

/* All objects under one index value, in no particular order; borrowed, valid until the
 * store changes. NULL and 0 when there are none. */
const struct kube_object *const *store_by_index(const struct store *store, struct str value,
                                                size_t *ret_count);

/* Walks all objects; false from `each` stops. The store must not change meanwhile. */
void store_each(const struct store *store, bool (*each)(void *self, const struct kube_object *object),
                void *self);

/* Installs the content of `next` at once and leaves `next` empty. Readers see the old or
 * the new, never a mix; `changed` runs afterwards for every difference, deletes first
 * (REF-9): (old, NULL) gone, (NULL, new) came, (old, new) replaced. What store_is_same is no
 * difference; another uid is a delete and an add. */
void store_swap(struct store *store, struct store *next,
                void (*changed)(void *self, const struct kube_object *old, const struct kube_object *new),
                void *self);
