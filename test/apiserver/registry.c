#include "test/apiserver/registry.h"

#include <stdlib.h>

#include "test/apiserver/builtin.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/edit.h"
#include "test/apiserver/traits.h"

struct as_registry {
    struct as_store *store;
    struct arena arena; /* grows with every version of every CRD, until the end */
    struct as_resource **resources;
    size_t count;
    struct as_bucket *crds;
    struct api_registry served;
    const struct api_resource **served_items;
    bool served_stale;
    void (*gone)(void *self, struct as_resource *resource);
    void *gone_self;
};

static struct as_resource *add(struct as_registry *registry, const struct api_resource *api)
{
    struct as_resource *resource = arena_new(&registry->arena, struct as_resource);
    registry->resources =
        mem_realloc(registry->resources, (registry->count + 1) * sizeof(struct as_resource *));
    registry->resources[registry->count++] = resource;
    registry->served_stale = true;
    resource->api = api;
    return resource;
}

static void fill(struct as_registry *registry, struct as_resource *resource, const struct api_resource *api)
{
    resource->api = api;
    resource->type.api_version = arena_strf(&registry->arena, API_GV_FMT, API_GV_ARG(api));
    resource->type.kind = api->kind;
    resource->gone = false;
    resource->bucket = as_store_bucket(registry->store, api->group, api->plural);
    registry->served_stale = true;
}

static void add_builtin(struct as_registry *registry, const struct api_resource *api)
{
    struct as_resource *resource = add(registry, api);
    const struct as_traits *traits = as_traits_of(api->group, api->plural);
    fill(registry, resource, api);
    resource->is_converted = str_eq(api->group, STR("events.k8s.io"));
    if (resource->is_converted) {
        resource->bucket = as_store_bucket(registry->store, STR(""), STR("events"));
        resource->aliases = as_event_aliases;
        resource->alias_count = as_event_alias_count;
    }
    resource->unconditional_update = !traits->conditional_update;
    resource->create_on_update = traits->create_on_update;
    resource->status_at_create = traits->status_at_create;
    as_bucket_set_fields(resource->bucket, traits->fields, traits->field_count);
}

/* The fields that a CRD version lets selectors name: jsonPath without its first dot. */
static void set_selectable_fields(struct as_registry *registry, struct as_bucket *bucket,
                                  const struct json *crd, struct str version)
{
    const struct json *versions = as_list_of(json_path(crd, "spec", "versions", NULL));
    for (size_t i = 0; i < json_count(versions); i++) {
        const struct json *row = versions->array.items[i];
        const struct json *paths = as_list_of(json_get(row, STR("selectableFields")));
        if (!str_eq(json_str(json_get(row, STR("name"))), version) || !json_count(paths))
            continue;
        struct as_field *fields = arena_array(&registry->arena, struct as_field, json_count(paths));
        for (size_t f = 0; f < json_count(paths); f++) {
            struct str path = json_str(json_get(paths->array.items[f], STR("jsonPath")));
            fields[f].name = arena_str(&registry->arena, str_slice(path, 1, path.len)).ptr;
        }
        as_bucket_set_fields(bucket, fields, json_count(paths));
    }
}

static struct as_resource *find_any(const struct as_registry *registry, struct str group, struct str version,
                                    struct str plural)
{
    for (size_t i = 0; i < registry->count; i++) {
        const struct api_resource *api = registry->resources[i]->api;
        if (str_eq(api->plural, plural) && str_eq(api->version, version) && str_eq(api->group, group))
            return registry->resources[i];
    }
    return NULL;
}

static void withdraw(struct as_registry *registry, struct str crd)
{
    for (size_t i = 0; i < registry->count; i++)
        if (str_eq(registry->resources[i]->crd, crd))
            registry->resources[i]->gone = true;
    registry->served_stale = true;
}

static void install(struct as_registry *registry, struct str name, const struct json *crd)
{
    struct api_resource *versions = NULL;
    size_t count = 0;
    size_t storage = 0;
    withdraw(registry, name);
    if (!api_crd_read(&registry->arena, crd, &versions, &count, &storage, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        struct as_resource *resource =
            find_any(registry, versions[i].group, versions[i].version, versions[i].plural);
        if (!resource)
            resource = add(registry, &versions[i]);
        fill(registry, resource, &versions[i]);
        resource->crd = arena_str(&registry->arena, name);
        if (i == storage)
            set_selectable_fields(registry, resource->bucket, crd, versions[i].version);
    }
}

static void delete_objects(struct as_bucket *bucket)
{
    while (bucket->objects.count) {
        const struct as_omap_node *first = as_omap_seek(&bucket->objects, STR_NULL);
        as_bucket_delete(bucket, as_omap_object(first)->key);
    }
}

static void uninstall(struct as_registry *registry, struct str name)
{
    withdraw(registry, name);
    for (size_t i = 0; i < registry->count; i++) {
        struct as_resource *resource = registry->resources[i];
        if (!str_eq(resource->crd, name))
            continue;
        delete_objects(resource->bucket);
        if (registry->gone)
            registry->gone(registry->gone_self, resource);
    }
}

static void on_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    struct as_registry *registry = self;
    if (bucket != registry->crds)
        return;
    if (!change->after) {
        uninstall(registry, change->before->name);
        return;
    }
    install(registry, change->after->name, as_object_tree(&registry->arena, change->after, NULL, change->rv));
}

struct as_registry *as_registry_new(struct as_store *store)
{
    struct as_registry *registry = mem_zalloc(sizeof *registry);
    registry->store = store;
    registry->crds = as_store_bucket(store, STR("apiextensions.k8s.io"), STR("customresourcedefinitions"));
    size_t count;
    const struct api_resource *builtins = api_builtin_resources(&count);
    for (size_t i = 0; i < count; i++)
        add_builtin(registry, &builtins[i]);
    as_store_observe(store, on_change, registry);
    return registry;
}

void as_registry_free(struct as_registry *registry)
{
    if (!registry)
        return;
    free(registry->resources);
    free(registry->served_items);
    arena_done(&registry->arena);
    free(registry);
}

struct as_resource *as_registry_find(const struct as_registry *registry, struct str group, struct str version,
                                     struct str plural)
{
    struct as_resource *resource = find_any(registry, group, version, plural);
    return resource && !resource->gone ? resource : NULL;
}

struct as_resource *as_registry_find_kind(const struct as_registry *registry, struct str api_version,
                                          struct str kind)
{
    for (size_t i = 0; i < registry->count; i++) {
        struct as_resource *resource = registry->resources[i];
        if (!resource->gone && str_eq(resource->type.kind, kind) &&
            str_eq(resource->type.api_version, api_version))
            return resource;
    }
    return NULL;
}

bool as_registry_has_version(const struct as_registry *registry, struct str group, struct str version)
{
    for (size_t i = 0; i < registry->count; i++) {
        const struct as_resource *resource = registry->resources[i];
        if (!resource->gone && str_eq(resource->api->group, group) && str_eq(resource->api->version, version))
            return true;
    }
    return false;
}

const struct api_registry *as_registry_served(struct as_registry *registry)
{
    if (registry->served_stale) {
        registry->served_items =
            mem_realloc(registry->served_items, registry->count * sizeof(const struct api_resource *));
        registry->served.count = 0;
        for (size_t i = 0; i < registry->count; i++)
            if (!registry->resources[i]->gone)
                registry->served_items[registry->served.count++] = registry->resources[i]->api;
        registry->served.resources = registry->served_items;
        registry->served_stale = false;
    }
    return &registry->served;
}

void as_registry_on_gone(struct as_registry *registry, void (*gone)(void *self, struct as_resource *resource),
                         void *self)
{
    registry->gone = gone;
    registry->gone_self = self;
}
