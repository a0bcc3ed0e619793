#include "test/apiserver/discovery.h"
#include "test/apiserver/accept.h"
#include "test/apiserver/tree.h"

static const struct {
    unsigned verb;
    const char *name;
} verb_names[] = {
    { API_VERB_CREATE, "create" },
    { API_VERB_DELETE, "delete" },
    { API_VERB_DELETE_COLLECTION, "deletecollection" },
    { API_VERB_GET, "get" },
    { API_VERB_LIST, "list" },
    { API_VERB_PATCH, "patch" },
    { API_VERB_UPDATE, "update" },
    { API_VERB_WATCH, "watch" },
};

#define STATUS_VERBS (API_VERB_GET | API_VERB_PATCH | API_VERB_UPDATE)

static const struct json *verbs_json(struct arena *arena, unsigned verbs)
{
    struct json *list = api_array(arena);
    for (size_t i = 0; i < ARRAY_LEN(verb_names); i++)
        if (verbs & verb_names[i].verb)
            json_push(arena, list, json_new_str(arena, str_c(verb_names[i].name)));
    return list;
}

static void set_names(struct arena *arena, struct json *object, const char *key, const struct str *names,
                      size_t count)
{
    struct json *list = api_array(arena);
    for (size_t i = 0; i < count; i++)
        json_push(arena, list, json_new_str(arena, names[i]));
    if (count > 0)
        api_set(arena, object, key, list);
}

static struct str group_version(struct arena *arena, const struct api_resource *resource)
{
    return arena_strf(arena, API_GV_FMT, API_GV_ARG(resource));
}

/* ---- which versions a group has, best first ---- */

struct version_rank {
    int stability; /* 3 stable, 2 beta, 1 alpha, 0 anything else */
    int64_t major, minor;
};

static struct version_rank rank_version(struct str version)
{
    static const struct {
        struct str word;
        int stability;
    } words[] = { { STR_INIT("alpha"), 1 }, { STR_INIT("beta"), 2 } };
    struct version_rank rank = { 0 };
    if (version.len < 2 || version.ptr[0] != 'v')
        return rank;
    size_t digits = 1;
    while (digits < version.len && version.ptr[digits] >= '0' && version.ptr[digits] <= '9')
        digits++;
    struct str tail = str_slice(version, digits, version.len);
    if (!str_to_i64(str_slice(version, 1, digits - 1), &rank.major))
        return (struct version_rank){ 0 };
    if (tail.len == 0)
        rank.stability = 3;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts_with(tail, words[i].word) &&
            str_to_i64(str_slice(tail, words[i].word.len, tail.len), &rank.minor))
            rank.stability = words[i].stability;
    return rank;
}

static bool version_before(struct str a, struct str b)
{
    struct version_rank x = rank_version(a), y = rank_version(b);
    if (x.stability != y.stability)
        return x.stability > y.stability;
    if (x.major != y.major)
        return x.major > y.major;
    return x.minor > y.minor;
}

struct names {
    struct str *items;
    size_t count;
};

static bool has_name(const struct names *names, struct str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (str_eq(names->items[i], name))
            return true;
    return false;
}

static struct names versions_of(struct arena *arena, const struct api_registry *registry, struct str group)
{
    struct names names = { .items = arena_array(arena, struct str, registry->count) };
    for (size_t i = 0; i < registry->count; i++) {
        struct str version = registry->resources[i]->version;
        if (!str_eq(registry->resources[i]->group, group) || has_name(&names, version))
            continue;
        size_t at = names.count++;
        for (; at > 0 && version_before(version, names.items[at - 1]); at--)
            names.items[at] = names.items[at - 1];
        names.items[at] = version;
    }
    return names;
}

/* Named groups in order of appearance; the core group is not among them. */
static struct names groups_of(struct arena *arena, const struct api_registry *registry)
{
    struct names names = { .items = arena_array(arena, struct str, registry->count) };
    for (size_t i = 0; i < registry->count; i++) {
        struct str group = registry->resources[i]->group;
        if (!str_empty(group) && !has_name(&names, group))
            names.items[names.count++] = group;
    }
    return names;
}

/* ---- the classic documents ---- */

const struct json *api_discovery_core(struct arena *arena, struct str server_address)
{
    struct json *root = api_object(arena), *versions = api_array(arena), *addresses = api_array(arena);
    struct json *address = api_object(arena);
    api_set_c(arena, root, "kind", "APIVersions");
    json_push(arena, versions, json_new_str(arena, STR("v1")));
    api_set(arena, root, "versions", versions);
    api_set_c(arena, address, "clientCIDR", "0.0.0.0/0");
    api_set_str(arena, address, "serverAddress", server_address);
    json_push(arena, addresses, address);
    api_set(arena, root, "serverAddressByClientCIDRs", addresses);
    return root;
}

static const struct json *version_json(struct arena *arena, struct str group, struct str version)
{
    struct json *object = api_object(arena);
    api_set_str(arena, object, "groupVersion",
                arena_strf(arena, STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version)));
    api_set_str(arena, object, "version", version);
    return object;
}

static void fill_group(struct arena *arena, struct json *object, const struct api_registry *registry,
                       struct str group)
{
    struct names versions = versions_of(arena, registry, group);
    struct json *list = api_array(arena);
    for (size_t i = 0; i < versions.count; i++)
        json_push(arena, list, version_json(arena, group, versions.items[i]));
    api_set_str(arena, object, "name", group);
    api_set(arena, object, "versions", list);
    api_set(arena, object, "preferredVersion", version_json(arena, group, versions.items[0]));
}

const struct json *api_discovery_groups(struct arena *arena, const struct api_registry *registry)
{
    struct names groups = groups_of(arena, registry);
    struct json *root = api_object(arena), *list = api_array(arena);
    for (size_t i = 0; i < groups.count; i++) {
        struct json *group = api_object(arena);
        fill_group(arena, group, registry, groups.items[i]);
        json_push(arena, list, group);
    }
    api_set_c(arena, root, "kind", "APIGroupList");
    api_set_c(arena, root, "apiVersion", "v1");
    api_set(arena, root, "groups", list);
    return root;
}

const struct json *api_discovery_group(struct arena *arena, const struct api_registry *registry,
                                       struct str group)
{
    if (str_empty(group) || versions_of(arena, registry, group).count == 0)
        return NULL;
    struct json *root = api_object(arena);
    api_set_c(arena, root, "kind", "APIGroup");
    api_set_c(arena, root, "apiVersion", "v1");
    fill_group(arena, root, registry, group);
    return root;
}

static void push_resource(struct arena *arena, struct json *list, const struct api_resource *resource)
{
    struct json *entry = api_object(arena);
    api_set_str(arena, entry, "name", resource->plural);
    api_set_str(arena, entry, "singularName", resource->singular);
    api_set_bool(arena, entry, "namespaced", resource->namespaced);
    api_set_str(arena, entry, "kind", resource->kind);
    api_set(arena, entry, "verbs", verbs_json(arena, resource->verbs));
    set_names(arena, entry, "shortNames", resource->short_names, resource->short_name_count);
    set_names(arena, entry, "categories", resource->categories, resource->category_count);
    json_push(arena, list, entry);
    if (!resource->has_status)
        return;
    struct json *status = api_object(arena);
    api_set_str(arena, status, "name", arena_strf(arena, STR_FMT "/status", STR_ARG(resource->plural)));
    api_set_c(arena, status, "singularName", "");
    api_set_bool(arena, status, "namespaced", resource->namespaced);
    api_set_str(arena, status, "kind", resource->kind);
    api_set(arena, status, "verbs", verbs_json(arena, STATUS_VERBS));
    json_push(arena, list, status);
}

const struct json *api_discovery_resources(struct arena *arena, const struct api_registry *registry,
                                           struct str group, struct str version)
{
    struct json *root = api_object(arena), *list = api_array(arena);
    for (size_t i = 0; i < registry->count; i++) {
        const struct api_resource *resource = registry->resources[i];
        if (!str_eq(resource->group, group) || !str_eq(resource->version, version))
            continue;
        if (json_count(list) == 0)
            api_set_str(arena, root, "groupVersion", group_version(arena, resource));
        push_resource(arena, list, resource);
    }
    if (json_count(list) == 0)
        return NULL;
    api_set_c(arena, root, "kind", "APIResourceList");
    api_set_c(arena, root, "apiVersion", "v1");
    api_set(arena, root, "resources", list);
    return root;
}

/* ---- aggregated discovery ---- */

static const struct json *response_kind(struct arena *arena, const struct api_resource *resource)
{
    struct json *object = api_object(arena);
    api_set_str(arena, object, "group", resource->group);
    api_set_str(arena, object, "version", resource->version);
    api_set_str(arena, object, "kind", resource->kind);
    return object;
}

static const struct json *aggregated_resource(struct arena *arena, const struct api_resource *resource)
{
    struct json *entry = api_object(arena);
    api_set_str(arena, entry, "resource", resource->plural);
    api_set(arena, entry, "responseKind", response_kind(arena, resource));
    api_set_c(arena, entry, "scope", resource->namespaced ? "Namespaced" : "Cluster");
    api_set_str(arena, entry, "singularResource", resource->singular);
    api_set(arena, entry, "verbs", verbs_json(arena, resource->verbs));
    set_names(arena, entry, "shortNames", resource->short_names, resource->short_name_count);
    set_names(arena, entry, "categories", resource->categories, resource->category_count);
    if (resource->has_status) {
        struct json *list = api_array(arena), *status = api_object(arena);
        api_set_c(arena, status, "subresource", "status");
        api_set(arena, status, "responseKind", response_kind(arena, resource));
        api_set(arena, status, "verbs", verbs_json(arena, STATUS_VERBS));
        json_push(arena, list, status);
        api_set(arena, entry, "subresources", list);
    }
    return entry;
}

static const struct json *aggregated_version(struct arena *arena, const struct api_registry *registry,
                                             struct str group, struct str version)
{
    struct json *object = api_object(arena), *list = api_array(arena);
    for (size_t i = 0; i < registry->count; i++)
        if (str_eq(registry->resources[i]->group, group) && str_eq(registry->resources[i]->version, version))
            json_push(arena, list, aggregated_resource(arena, registry->resources[i]));
    api_set_str(arena, object, "version", version);
    api_set(arena, object, "resources", list);
    api_set_c(arena, object, "freshness", "Current");
    return object;
}

static void push_aggregated_group(struct arena *arena, struct json *items,
                                  const struct api_registry *registry, struct str group)
{
    struct names versions = versions_of(arena, registry, group);
    struct json *item = api_object(arena), *metadata = api_object(arena), *list = api_array(arena);
    api_set_some(arena, metadata, "name", group);
    api_set(arena, metadata, "creationTimestamp", json_new(arena, JSON_NULL));
    for (size_t i = 0; i < versions.count; i++)
        json_push(arena, list, aggregated_version(arena, registry, group, versions.items[i]));
    api_set(arena, item, "metadata", metadata);
    api_set(arena, item, "versions", list);
    json_push(arena, items, item);
}

const struct json *api_discovery_aggregated(struct arena *arena, const struct api_registry *registry,
                                            bool core)
{
    struct json *root = api_object(arena), *items = api_array(arena);
    struct names groups = groups_of(arena, registry);
    if (core)
        push_aggregated_group(arena, items, registry, STR_NULL);
    for (size_t i = 0; !core && i < groups.count; i++)
        push_aggregated_group(arena, items, registry, groups.items[i]);
    api_set_c(arena, root, "kind", "APIGroupDiscoveryList");
    api_set_c(arena, root, "apiVersion", "apidiscovery.k8s.io/v2");
    api_set(arena, root, "metadata", api_object(arena));
    api_set(arena, root, "items", items);
    return root;
}

/* The first range that we can answer decides. */
bool api_discovery_wants_aggregated(struct str accept)
{
    struct api_media_range range;
    while (api_media_next(&accept, &range)) {
        bool json = str_eq_nocase(range.type, STR("application/json"));
        if (json && str_eq(range.as, STR("APIGroupDiscoveryList")) &&
            str_eq(range.group, STR("apidiscovery.k8s.io")) && str_eq(range.version, STR("v2")))
            return true;
        if ((json && str_empty(range.as)) || str_eq(range.type, STR("*/*")))
            return false;
    }
    return false;
}

const struct json *api_version_info(struct arena *arena)
{
    struct json *root = api_object(arena);
    api_set_c(arena, root, "major", "1");
    api_set_c(arena, root, "minor", "32");
    api_set_c(arena, root, "gitVersion", "v1.32.0");
    api_set_c(arena, root, "gitCommit", "");
    api_set_c(arena, root, "gitTreeState", "clean");
    api_set_c(arena, root, "buildDate", "2024-12-11T00:00:00Z");
    api_set_c(arena, root, "goVersion", "none");
    api_set_c(arena, root, "compiler", "gcc");
    api_set_c(arena, root, "platform", "linux/amd64");
    return root;
}
