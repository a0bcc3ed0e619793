#pragma once
/* What is served: built-in kinds from their table, custom ones from the CRDs in the
 * store. Follows the CRD bucket by itself, whoever writes to it. */
#include "test/apiserver/discovery.h"
#include "test/apiserver/fields.h"
#include "test/apiserver/store.h"

/* One served resource of one version. Never freed before the registry: requests and
 * watches keep pointers. */
struct as_resource {
    const struct api_resource *api;
    struct as_type_meta type;
    struct as_bucket *bucket;
    const struct as_field_alias *aliases;
    size_t alias_count;
    bool unconditional_update; /* PUT may leave resourceVersion out */
    bool create_on_update;     /* PUT creates what is missing */
    bool status_at_create;     /* a Node arrives with its status, from its kubelet */
    bool is_converted;         /* stored as core/v1 Event, shown as events.k8s.io */
    bool gone;                 /* its CRD was deleted */
    struct str crd;            /* name of the CRD, else empty */
};

struct as_registry;

struct as_registry *as_registry_new(struct as_store *store);
void as_registry_free(struct as_registry *registry); /* before the store; NULL is fine */

/* Borrowed, or NULL. */
struct as_resource *as_registry_find(const struct as_registry *registry, struct str group, struct str version,
                                     struct str plural);
/* Any version of it; for loading manifests by kind use as_registry_find_kind. */
struct as_resource *as_registry_find_kind(const struct as_registry *registry, struct str api_version,
                                          struct str kind);
/* Whether any served resource is of that group and version. */
bool as_registry_has_version(const struct as_registry *registry, struct str group, struct str version);

/* For discovery; rebuilt after changes, borrowed. */
const struct api_registry *as_registry_served(struct as_registry *registry);

/* Hears of a resource whose CRD was deleted; its objects are deleted afterwards. */
void as_registry_on_gone(struct as_registry *registry, void (*gone)(void *self, struct as_resource *resource),
                         void *self);
