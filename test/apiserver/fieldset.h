#pragma once
/* Sets of field paths, as metadata.managedFields holds them (FieldsV1). Immutable once
 * made; NULL is the empty set. */
#include "base/arena.h"
#include "json/json.h"

struct api_fields;

struct api_fields_child {
    struct str key; /* f:NAME, k:{...}, v:VALUE */
    struct api_fields *below;
};

struct api_fields {
    bool member; /* the path that leads here is in the set */
    struct api_fields_child *items;
    size_t count;
    size_t cap;
};

struct api_fields *api_fields_new(struct arena *arena, bool member);
/* Drops what is empty. Copies the key. */
void api_fields_add(struct arena *arena, struct api_fields *set, struct str key, struct api_fields *below);
const struct api_fields *api_fields_below(const struct api_fields *set, struct str key);

struct api_fields *api_fields_read(struct arena *arena, const struct json *fields_v1);
const struct json *api_fields_json(struct arena *arena, const struct api_fields *set);

struct api_fields *api_fields_union(struct arena *arena, const struct api_fields *a,
                                    const struct api_fields *b);
struct api_fields *api_fields_minus(struct arena *arena, const struct api_fields *a,
                                    const struct api_fields *b);
struct api_fields *api_fields_common(struct arena *arena, const struct api_fields *a,
                                     const struct api_fields *b);
bool api_fields_empty(const struct api_fields *set);

/* Every path in the set, like `.spec.containers[name="web"].image`. */
void api_fields_each(struct arena *arena, const struct api_fields *set,
                     void (*path)(void *self, struct str path), void *self);
