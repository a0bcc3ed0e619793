#include "test/apiserver/meta.h"

#include <inttypes.h>

#include "test/apiserver/edit.h"

/* Members of metadata that only the server writes. */
static const char *const system_fields[] = {
    "uid",        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation", "resourceVersion",   "selfLink",
};

static bool check_namespace(struct arena *arena, const struct as_resource *resource,
                            const struct json *object, struct str wanted, struct api_error *error)
{
    struct str given = as_edit_meta_str(object, "namespace");
    if (given.len && !str_eq(given, wanted) && (resource->api->namespaced || wanted.len))
        return api_fail(error, arena, 400,
                        "the namespace of the object (" STR_FMT
                        ") differs from the one in the address (" STR_FMT ")",
                        STR_ARG(given), STR_ARG(wanted));
    return true;
}

static const struct json *set_namespace(struct arena *arena, const struct as_resource *resource,
                                        const struct json *object, struct str namespace)
{
    return as_edit_meta(arena, object, STR("namespace"),
                        resource->api->namespaced ? json_new_str(arena, namespace) : NULL);
}

static bool settle_name(struct arena *arena, const struct as_meta_facts *facts, const struct json *object,
                        const struct json **ret, struct api_error *error)
{
    struct str name = as_edit_meta_str(object, "name");
    struct str prefix = as_edit_meta_str(object, "generateName");
    if (facts->name.len && name.len && !str_eq(facts->name, name))
        return api_fail(error, arena, 400,
                        "the name of the object (" STR_FMT ") differs from the one in the address (" STR_FMT
                        ")",
                        STR_ARG(name), STR_ARG(facts->name));
    if (str_empty(name))
        name = facts->name;
    if (str_empty(name) && prefix.len)
        name = arena_strf(arena, STR_FMT STR_FMT, STR_ARG(str_slice(prefix, 0, 58)), STR_ARG(facts->suffix));
    *ret = name.len ? as_edit_meta(arena, object, STR("name"), json_new_str(arena, name)) : object;
    return true;
}

bool as_meta_create(struct arena *arena, const struct as_resource *resource,
                    const struct as_meta_facts *facts, const struct json *object, const struct json **ret,
                    struct api_error *error)
{
    if (as_edit_meta_str(object, "resourceVersion").len)
        return api_fail(error, arena, 400, "resourceVersion cannot be set on an object to be created");
    if (!check_namespace(arena, resource, object, facts->namespace, error) ||
        !settle_name(arena, facts, object, &object, error))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(system_fields); i++)
        object = as_edit_meta(arena, object, str_c(system_fields[i]), NULL);
    object = set_namespace(arena, resource, object, facts->namespace);
    object = as_edit_meta(arena, object, STR("uid"), json_new_str(arena, facts->uid));
    object = as_edit_meta(arena, object, STR("creationTimestamp"), json_new_str(arena, facts->now));
    if (resource->api->counts_generation)
        object = as_edit_meta(arena, object, STR("generation"), json_new_i64(arena, 1));
    if (resource->api->has_status && !resource->status_at_create)
        object = as_edit_with(arena, object, STR("status"), NULL);
    *ret = object;
    return true;
}

static bool check_identity(struct arena *arena, const struct as_resource *resource, const struct json *old,
                           const struct json *object, struct api_error *error)
{
    struct str name = as_edit_meta_str(object, "name");
    struct str old_name = as_edit_meta_str(old, "name");
    struct str uid = as_edit_meta_str(object, "uid");
    struct str old_uid = as_edit_meta_str(old, "uid");
    if (!str_eq(name, old_name))
        return api_fail(error, arena, 400,
                        "the name of the object (" STR_FMT ") differs from the one in the address (" STR_FMT
                        ")",
                        STR_ARG(name), STR_ARG(old_name));
    if (uid.len && !str_eq(uid, old_uid))
        return api_fail_conflict(error, arena, resource->api, old_name,
                                 "Precondition failed: UID in precondition: " STR_FMT
                                 ", UID in object meta: " STR_FMT,
                                 STR_ARG(uid), STR_ARG(old_uid));
    return check_namespace(arena, resource, object, as_edit_meta_str(old, "namespace"), error);
}

bool as_meta_rest_changed(struct arena *arena, const struct json *old, const struct json *object)
{
    static const struct str apart[] = { STR_INIT("metadata"), STR_INIT("status"), STR_INIT("kind"),
                                        STR_INIT("apiVersion") };
    for (size_t i = 0; i < ARRAY_LEN(apart); i++) {
        old = as_edit_with(arena, old, apart[i], NULL);
        object = as_edit_with(arena, object, apart[i], NULL);
    }
    return !json_equal(old, object);
}

const struct json *as_meta_raise_generation(struct arena *arena, const struct json *object)
{
    int64_t generation = 0;
    if (!json_i64(json_path(object, "metadata", "generation", NULL), &generation))
        generation = 0;
    return as_edit_meta(arena, object, STR("generation"), json_new_i64(arena, generation + 1));
}

/* On the status endpoint only the status counts; of built-ins also labels and the like. */
static const struct json *only_status(struct arena *arena, const struct as_resource *resource,
                                      const struct json *old, const struct json *object)
{
    const struct json *merged = as_edit_with(arena, old, STR("status"), json_get(object, STR("status")));
    if (resource->api->custom)
        return merged;
    return as_edit_with(arena, merged, STR("metadata"), json_get(object, STR("metadata")));
}

bool as_meta_update(struct arena *arena, const struct as_resource *resource, const struct json *old,
                    const struct json *object, bool is_status, const struct json **ret,
                    struct api_error *error)
{
    if (!check_identity(arena, resource, old, object, error))
        return false;
    if (is_status)
        object = only_status(arena, resource, old, object);
    else if (resource->api->has_status)
        object = as_edit_with(arena, object, STR("status"), json_get(old, STR("status")));
    for (size_t i = 0; i < ARRAY_LEN(system_fields); i++) {
        struct str field = str_c(system_fields[i]);
        object = as_edit_meta(arena, object, field, json_get(json_get(old, STR("metadata")), field));
    }
    object = set_namespace(arena, resource, object, as_edit_meta_str(old, "namespace"));
    if (resource->api->counts_generation && !is_status && as_meta_rest_changed(arena, old, object))
        object = as_meta_raise_generation(arena, object);
    *ret = object;
    return true;
}

const struct json *as_meta_deleting(struct arena *arena, const struct as_resource *resource,
                                    const struct json *old, struct str when, int64_t grace_s)
{
    old = as_edit_meta(arena, old, STR("deletionTimestamp"), json_new_str(arena, when));
    old = as_edit_meta(arena, old, STR("deletionGracePeriodSeconds"), json_new_i64(arena, grace_s));
    return resource->api->counts_generation ? as_meta_raise_generation(arena, old) : old;
}

bool as_meta_is_deleting(const struct json *object)
{
    return as_edit_meta_str(object, "deletionTimestamp").len > 0;
}

int64_t as_meta_grace(const struct json *object)
{
    int64_t seconds;
    bool told = json_i64(json_path(object, "metadata", "deletionGracePeriodSeconds", NULL), &seconds);
    return told ? seconds : 0;
}

size_t as_meta_finalizers(const struct json *object)
{
    return json_count(as_list_of(json_path(object, "metadata", "finalizers", NULL)));
}

bool as_meta_check(struct arena *arena, const struct as_resource *resource, const struct as_object *object,
                   const struct json *preconditions, struct api_error *error)
{
    struct str uid = json_str(json_get(preconditions, STR("uid")));
    struct str rv = json_str(json_get(preconditions, STR("resourceVersion")));
    if (uid.len && !str_eq(uid, object->uid))
        return api_fail_conflict(error, arena, resource->api, object->name,
                                 "Precondition failed: UID in precondition: " STR_FMT
                                 ", UID in object meta: " STR_FMT,
                                 STR_ARG(uid), STR_ARG(object->uid));
    struct str now = arena_strf(arena, "%" PRId64, object->rv);
    if (rv.len && !str_eq(rv, now))
        return api_fail_conflict(error, arena, resource->api, object->name,
                                 "Precondition failed: ResourceVersion in precondition: " STR_FMT
                                 ", ResourceVersion in object meta: " STR_FMT,
                                 STR_ARG(rv), STR_ARG(now));
    return true;
}
