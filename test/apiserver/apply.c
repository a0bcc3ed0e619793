#include "test/apiserver/apply.h"
#include "test/apiserver/fieldtree.h"
#include "test/apiserver/managed.h"
#include "test/apiserver/tree.h"

struct applier {
    struct arena *arena;
    const struct api_resource *resource;
    const struct api_writer *writer;
    struct api_error *error;
};

/* ---- the request ---- */

static bool check_manager(const struct applier *applier)
{
    static const struct api_resource options = { .group = STR_INIT("meta.k8s.io"),
                                                 .kind = STR_INIT("PatchOptions") };
    struct api_path path = API_FIELD(NULL, STR("fieldManager"));
    struct api_causes causes = API_CAUSES_INIT(applier->arena);
    if (!str_empty(applier->writer->manager))
        return true;
    api_cause_add(&causes, API_CAUSE_REQUIRED, &path, "Required value: is required for apply patch");
    return api_fail_invalid(applier->error, applier->arena, &options, STR_NULL, &causes);
}

static bool check_config(const struct applier *applier, const struct json *config)
{
    const struct json *metadata = api_get(config, "metadata");
    static const char *const required[] = { "apiVersion", "kind" };
    if (!json_is(config, JSON_OBJECT))
        return api_fail(applier->error, applier->arena, 400, "an apply patch must be an object");
    for (size_t i = 0; i < ARRAY_LEN(required); i++)
        if (str_empty(api_get_str(config, required[i])))
            return api_fail(applier->error, applier->arena, 400, "invalid object: %s is required",
                            required[i]);
    if (str_empty(api_get_str(metadata, "name")))
        return api_fail(applier->error, applier->arena, 400, "invalid object: metadata.name is required");
    if (json_count(api_get(metadata, "managedFields")) > 0)
        return api_fail(applier->error, applier->arena, 400, "metadata.managedFields must be nil");
    return true;
}

static bool check_preconditions(const struct applier *applier, const struct json *current,
                                const struct json *config)
{
    const struct json *wants = api_get(config, "metadata"), *has = api_get(current, "metadata");
    struct str name = api_get_str(wants, "name");
    struct str version = api_get_str(wants, "resourceVersion"), uid = api_get_str(wants, "uid");
    if (!str_empty(uid) && !str_eq(uid, api_get_str(has, "uid")))
        return api_fail_conflict(applier->error, applier->arena, applier->resource, name,
                                 "uid mismatch: the provided object specified uid " STR_FMT
                                 ", and no existing object was found with it",
                                 STR_ARG(uid));
    if (!str_empty(version) && !str_eq(version, api_get_str(has, "resourceVersion")))
        return api_fail_modified(applier->error, applier->arena, applier->resource, name);
    return true;
}

static const struct json *without_nulls(struct arena *arena, const struct json *value)
{
    if (json_is(value, JSON_ARRAY)) {
        struct json *out = api_array(arena);
        for (size_t i = 0; i < value->array.count; i++)
            json_push(arena, out, without_nulls(arena, value->array.items[i]));
        return out;
    }
    if (!json_is(value, JSON_OBJECT))
        return value;
    struct api_change change = { .arena = arena, .object = value };
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        const struct json *next =
            json_is(member->value, JSON_NULL) ? NULL : without_nulls(arena, member->value);
        api_change_field(&change, member->key, member->value, next);
    }
    return api_change_done(&change);
}

/* Only what this endpoint may write: the status, or everything but the status. */
static const struct json *for_endpoint(const struct applier *applier, const struct json *config)
{
    if (!applier->resource->has_status)
        return config;
    if (str_empty(applier->writer->subresource))
        return api_with(applier->arena, config, "status", NULL);
    struct json *out = api_object(applier->arena), *metadata = api_object(applier->arena);
    api_set(applier->arena, out, "apiVersion", api_get(config, "apiVersion"));
    api_set(applier->arena, out, "kind", api_get(config, "kind"));
    api_set_some(applier->arena, metadata, "name", api_get_str(api_get(config, "metadata"), "name"));
    api_set_some(applier->arena, metadata, "namespace",
                 api_get_str(api_get(config, "metadata"), "namespace"));
    api_set(applier->arena, out, "metadata", metadata);
    if (api_get(config, "status"))
        api_set(applier->arena, out, "status", api_get(config, "status"));
    return out;
}

/* ---- conflicts ---- */

struct conflicts {
    struct arena *arena;
    struct api_causes causes;
    const struct api_owner *owner;
    struct strbuf *text;
};

static void add_conflict(void *self, struct str path)
{
    struct conflicts *conflicts = self;
    const struct api_owner *owner = conflicts->owner;
    struct str subresource =
        str_empty(owner->subresource)
            ? STR_NULL
            : arena_strf(conflicts->arena, " with subresource \"" STR_FMT "\"", STR_ARG(owner->subresource));
    struct str using = str_eq(owner->operation, STR("Apply"))
                           ? STR_NULL
                           : arena_strf(conflicts->arena, " using " STR_FMT, STR_ARG(owner->api_version));
    struct str who = arena_strf(conflicts->arena, "conflict with \"" STR_FMT "\"" STR_FMT STR_FMT,
                                STR_ARG(owner->manager), STR_ARG(subresource), STR_ARG(using));
    api_cause_add(&conflicts->causes, API_CAUSE_MANAGER_CONFLICT, NULL, STR_FMT, STR_ARG(who));
    conflicts->causes.items[conflicts->causes.count - 1].field = path;
    strbuf_addf(conflicts->text, "%s" STR_FMT ": " STR_FMT, conflicts->causes.count > 1 ? ", " : "",
                STR_ARG(who), STR_ARG(path));
}

static bool fail_conflicts(const struct applier *applier, const struct conflicts *conflicts, struct str name)
{
    *applier->error = (struct api_error){
        .code = 409,
        .reason = "Conflict",
        .message =
            arena_strf(applier->arena, "Apply failed with %zu conflict%s: " STR_FMT, conflicts->causes.count,
                       conflicts->causes.count == 1 ? "" : "s", STR_ARG(strbuf_str(conflicts->text))),
        .group = applier->resource->group,
        .kind = applier->resource->plural,
        .name = name,
        .causes = conflicts->causes.items,
        .cause_count = conflicts->causes.count,
    };
    return false;
}

/* What others own and this apply changes: an error, or taken from them by force. */
static bool settle_conflicts(const struct applier *applier, struct api_owners *owners,
                             const struct api_owner *self, const struct api_fields *changed, struct str name)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)64 * 1024);
    struct conflicts conflicts = { .arena = applier->arena,
                                   .causes = API_CAUSES_INIT(applier->arena),
                                   .text = &text };
    for (size_t i = 0; i < owners->count; i++) {
        struct api_owner *other = &owners->items[i];
        struct api_fields *disputed = api_fields_common(applier->arena, other->fields, changed);
        if (other == self || !disputed)
            continue;
        if (applier->writer->force)
            other->fields = api_fields_minus(applier->arena, other->fields, disputed);
        conflicts.owner = other;
        api_fields_each(applier->arena, disputed, add_conflict, &conflicts);
    }
    return applier->writer->force || conflicts.causes.count == 0 || fail_conflicts(applier, &conflicts, name);
}

/* ---- the result ---- */

static struct api_fields *owned_by_others(struct arena *arena, const struct api_owners *owners,
                                          const struct api_owner *self)
{
    struct api_fields *all = NULL;
    for (size_t i = 0; i < owners->count; i++)
        if (&owners->items[i] != self)
            all = api_fields_union(arena, all, owners->items[i].fields);
    return all;
}

static const struct json *keep_identity(struct arena *arena, const struct json *merged,
                                        const struct json *current)
{
    static const char *const kept[] = { "uid", "resourceVersion", "creationTimestamp", "generation",
                                        "managedFields" };
    const struct json *had = api_get(current, "metadata");
    struct json *metadata = json_copy(arena, api_get(merged, "metadata"));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        json_remove(metadata, str_c(kept[i]));
        if (api_get(had, kept[i]))
            api_set(arena, metadata, kept[i], api_get(had, kept[i]));
    }
    return api_with(arena, merged, "metadata", metadata);
}

static bool apply(const struct applier *applier, const struct json *current, const struct json *config,
                  const struct json **ret)
{
    struct arena *arena = applier->arena;
    struct api_shape shape = api_shape_root(applier->resource);
    struct str name = api_get_str(api_get(config, "metadata"), "name");
    const struct json *merged = api_fields_merge(arena, &shape, current, config);
    struct api_fields *wanted = api_fields_of(arena, &shape, api_ownable(arena, config));
    struct api_difference difference =
        api_fields_compare(arena, &shape, api_ownable(arena, current), api_ownable(arena, merged));

    struct api_owners owners = api_owners_read(arena, current);
    struct api_owner *self = api_owners_of(&owners, applier->resource, applier->writer, STR("Apply"));
    if (!settle_conflicts(applier, &owners, self, difference.changed, name))
        return false;
    struct api_fields *others = owned_by_others(arena, &owners, self);
    struct api_fields *gone = api_fields_minus(arena, api_fields_minus(arena, self->fields, wanted), others);
    if (gone)
        merged = api_fields_remove(arena, &shape, merged, gone, api_fields_union(arena, wanted, others));
    api_owner_assign(arena, self, wanted, applier->writer);
    *ret = api_owners_write(&owners, keep_identity(arena, merged, current));
    return true;
}

bool api_apply(struct arena *arena, const struct api_resource *resource, const struct json *current,
               const struct json *config, const struct api_writer *writer, const struct json **ret,
               struct api_error *error)
{
    struct applier applier = { arena, resource, writer, error };
    if (!check_manager(&applier) || !check_config(&applier, config) ||
        !check_preconditions(&applier, current, config))
        return false;
    config = for_endpoint(&applier, without_nulls(arena, config));
    const struct json *result;
    if (!apply(&applier, current, config, &result))
        return false;
    *ret = current && json_equal(current, result) ? current : result;
    return true;
}
