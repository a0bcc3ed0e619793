#pragma once
#include "api/kind.h"

extern const struct kube_kind configmap_kind;

/* A ConfigMap; only the one under watch is ever held, so all of data is kept. */
struct configmap {
    struct kube_object object;
    uint32_t count;
    struct configmap_entry {
        struct str key; /* both point into one block owned by the object */
        struct str value;
    } * entries; /* sorted by key */
    char *block;
};

/* Empty and *found (may be NULL) false when the key is absent. */
struct str configmap_value(const struct configmap *configmap, struct str key, bool *found);

static inline const struct configmap *configmap_of(const struct kube_object *object)
{
    return (const struct configmap *)(const void *)object;
}
