#include "test/apiserver/rbac.h"

#include <stdlib.h>

#include "test/apiserver/edit.h"

#define GROUP "rbac.authorization.k8s.io"

/* A binding with the rules it grants, resolved. */
struct grant {
    struct str namespace; /* empty: everywhere */
    const struct json *subjects;
    const struct json *rules;
    struct grant *next;
};

struct as_rbac {
    struct as_bucket *roles, *cluster_roles, *bindings, *cluster_bindings;
    bool is_stale;
    struct arena arena; /* of the grants */
    struct grant *grants;
};

static void on_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    struct as_rbac *rbac = self;
    (void)change;
    if (str_eq(bucket->group, STR(GROUP)))
        rbac->is_stale = true;
}

struct as_rbac *as_rbac_new(struct as_store *store)
{
    struct as_rbac *rbac = mem_zalloc(sizeof *rbac);
    rbac->roles = as_store_bucket(store, STR(GROUP), STR("roles"));
    rbac->cluster_roles = as_store_bucket(store, STR(GROUP), STR("clusterroles"));
    rbac->bindings = as_store_bucket(store, STR(GROUP), STR("rolebindings"));
    rbac->cluster_bindings = as_store_bucket(store, STR(GROUP), STR("clusterrolebindings"));
    rbac->is_stale = true;
    as_store_observe(store, on_change, rbac);
    return rbac;
}

void as_rbac_free(struct as_rbac *rbac)
{
    if (!rbac)
        return;
    arena_done(&rbac->arena);
    free(rbac);
}

static void collect(struct as_rbac *rbac, const struct as_bucket *bindings)
{
    for (struct as_omap_node *node = as_omap_seek(&bindings->objects, STR_NULL); node;
         node = as_omap_next(node)) {
        const struct as_object *object = as_omap_object(node);
        const struct json *binding = as_object_tree(&rbac->arena, object, NULL, object->rv);
        const struct json *ref = json_get(binding, STR("roleRef"));
        bool local = str_eq(json_str(json_get(ref, STR("kind"))), STR("Role"));
        const struct as_object *role =
            as_bucket_get(local ? rbac->roles : rbac->cluster_roles, local ? object->namespace : STR_NULL,
                          json_str(json_get(ref, STR("name"))));
        if (!role)
            continue;
        struct grant *grant = arena_new(&rbac->arena, struct grant);
        grant->namespace = arena_str(&rbac->arena, object->namespace);
        grant->subjects = json_get(binding, STR("subjects"));
        grant->rules = as_list_of(json_get(as_object_tree(&rbac->arena, role, NULL, role->rv), STR("rules")));
        grant->next = rbac->grants;
        rbac->grants = grant;
    }
}

static void refresh(struct as_rbac *rbac)
{
    if (!rbac->is_stale)
        return;
    arena_clear(&rbac->arena);
    rbac->grants = NULL;
    collect(rbac, rbac->bindings);
    collect(rbac, rbac->cluster_bindings);
    rbac->is_stale = false;
}

static bool is_subject(const struct json *subject, const struct as_identity *identity)
{
    struct str kind = json_str(json_get(subject, STR("kind")));
    struct str name = json_str(json_get(subject, STR("name")));
    if (str_eq(kind, STR("User")))
        return str_eq(name, identity->user);
    if (str_eq(kind, STR("Group")))
        return as_identity_in_group(identity, name);
    if (!str_eq(kind, STR("ServiceAccount")))
        return false;
    struct str user = identity->user;
    struct str prefix = STR("system:serviceaccount:");
    struct str namespace, account;
    return str_starts_with(user, prefix) &&
           str_cut(str_slice(user, prefix.len, user.len), ':', &namespace, &account) &&
           str_eq(account, name) && str_eq(namespace, json_str(json_get(subject, STR("namespace"))));
}

static bool has_subject(const struct json *subjects, const struct as_identity *identity)
{
    subjects = as_list_of(subjects);
    for (size_t i = 0; i < json_count(subjects); i++)
        if (is_subject(subjects->array.items[i], identity))
            return true;
    return false;
}

static bool list_has(const struct json *list, struct str wanted)
{
    list = as_list_of(list);
    for (size_t i = 0; i < json_count(list); i++) {
        struct str item = json_str(list->array.items[i]);
        if (str_eq(item, STR("*")) || str_eq(item, wanted))
            return true;
    }
    return false;
}

static bool path_matches(const struct json *paths, struct str path)
{
    paths = as_list_of(paths);
    for (size_t i = 0; i < json_count(paths); i++) {
        struct str item = json_str(paths->array.items[i]);
        bool open = str_ends_with(item, STR("*"));
        struct str fixed = open ? str_slice(item, 0, item.len - 1) : item;
        if (open ? str_starts_with(path, fixed) : str_eq(path, fixed))
            return true;
    }
    return false;
}

static bool resource_matches(const struct json *resources, const struct as_action *action)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    if (str_empty(action->subresource))
        return list_has(resources, action->resource);
    struct str whole =
        arena_strf(&arena, STR_FMT "/" STR_FMT, STR_ARG(action->resource), STR_ARG(action->subresource));
    struct str any = arena_strf(&arena, "*/" STR_FMT, STR_ARG(action->subresource));
    return list_has(resources, whole) || list_has(resources, any);
}

static bool rule_allows(const struct json *rule, const struct as_action *action)
{
    if (!list_has(json_get(rule, STR("verbs")), str_c(action->verb)))
        return false;
    if (action->path.len)
        return path_matches(json_get(rule, STR("nonResourceURLs")), action->path);
    const struct json *names = json_get(rule, STR("resourceNames"));
    return list_has(json_get(rule, STR("apiGroups")), action->group) &&
           resource_matches(json_get(rule, STR("resources")), action) &&
           (json_count(names) == 0 || (action->name.len && list_has(names, action->name)));
}

/* Everybody may ask what the server is and whether it is well. */
static bool is_public(const struct as_action *action)
{
    static const struct str open[] = { STR_INIT("/version"), STR_INIT("/healthz"), STR_INIT("/livez"),
                                       STR_INIT("/readyz"),  STR_INIT("/api"),     STR_INIT("/apis"),
                                       STR_INIT("/openapi") };
    for (size_t i = 0; i < ARRAY_LEN(open) && action->path.len; i++)
        if (str_starts_with(action->path, open[i]))
            return true;
    return str_eq(action->group, STR("authorization.k8s.io")) &&
           str_starts_with(action->resource, STR("selfsubject"));
}

bool as_rbac_allows(struct as_rbac *rbac, const struct as_identity *identity, const struct as_action *action)
{
    if (!rbac || as_identity_in_group(identity, STR("system:masters")) || is_public(action))
        return true;
    refresh(rbac);
    for (const struct grant *grant = rbac->grants; grant; grant = grant->next) {
        if (grant->namespace.len && (action->path.len || !str_eq(grant->namespace, action->namespace)))
            continue;
        if (!has_subject(grant->subjects, identity))
            continue;
        for (size_t i = 0; i < json_count(grant->rules); i++)
            if (rule_allows(grant->rules->array.items[i], action))
                return true;
    }
    return false;
}

bool as_rbac_check(struct as_rbac *rbac, struct arena *arena, const struct as_identity *identity,
                   const struct as_action *action, struct api_error *error)
{
    if (as_rbac_allows(rbac, identity, action))
        return true;
    if (action->path.len)
        return api_fail(error, arena, 403, "forbidden: User \"" STR_FMT "\" cannot %s path \"" STR_FMT "\"",
                        STR_ARG(identity->user), action->verb, STR_ARG(action->path));
    struct api_resource resource = { .group = action->group,
                                     .plural = action->resource,
                                     .kind = action->resource };
    return api_fail_forbidden(error, arena, &resource, action->name,
                              "User \"" STR_FMT "\" cannot %s resource \"" STR_FMT "%s" STR_FMT
                              "\" in API group \"" STR_FMT "\"%s" STR_FMT "%s",
                              STR_ARG(identity->user), action->verb, STR_ARG(action->resource),
                              action->subresource.len ? "/" : "", STR_ARG(action->subresource),
                              STR_ARG(action->group),
                              action->namespace.len ? " in the namespace \"" : " at the cluster scope",
                              STR_ARG(action->namespace), action->namespace.len ? "\"" : "");
}
