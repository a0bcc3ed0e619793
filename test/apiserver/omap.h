#pragma once
/* Objects ordered by key: a skip list. The map holds one reference to each object. */
#include "test/apiserver/object.h"

struct as_omap_node;

struct as_omap {
    struct as_omap_node *head; /* NULL while empty */
    size_t count;
    uint64_t random;
};

void as_omap_done(struct as_omap *map);
struct as_object *as_omap_get(const struct as_omap *map, struct str key); /* borrowed, or NULL */
/* Takes over the reference; an object under the same key is released. */
void as_omap_put(struct as_omap *map, struct as_object *object);
bool as_omap_remove(struct as_omap *map, struct str key);

/* In key order from the first key that is >= `from`. The map must not change meanwhile. */
struct as_omap_node *as_omap_seek(const struct as_omap *map, struct str from);
struct as_omap_node *as_omap_next(const struct as_omap_node *node);
struct as_object *as_omap_object(const struct as_omap_node *node); /* borrowed */
