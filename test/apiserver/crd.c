#include "test/apiserver/crd.h"
#include "test/apiserver/schema.h"
#include "test/apiserver/tree.h"

static struct str *read_names(struct arena *arena, const struct json *list, size_t *count)
{
    *count = json_is(list, JSON_ARRAY) ? list->array.count : 0;
    struct str *names = arena_array(arena, struct str, *count);
    for (size_t i = 0; i < *count; i++)
        names[i] = json_str(list->array.items[i]);
    return names;
}

static int64_t read_priority(const struct json *column)
{
    int64_t priority;
    return json_i64(api_get(column, "priority"), &priority) ? priority : 0;
}

static void read_columns(struct arena *arena, const struct json *list, struct api_resource *resource)
{
    size_t count = json_is(list, JSON_ARRAY) ? list->array.count : 0;
    struct api_column *columns = arena_array(arena, struct api_column, count);
    for (size_t i = 0; i < count; i++) {
        const struct json *item = list->array.items[i];
        columns[i] = (struct api_column){
            .name = api_get_str(item, "name"),
            .type = api_get_str(item, "type"),
            .format = api_get_str(item, "format"),
            .description = api_get_str(item, "description"),
            .path = api_get_str(item, "jsonPath"),
            .priority = read_priority(item),
        };
    }
    resource->columns = columns;
    resource->column_count = count;
}

/* Singular and list kind have defaults; everything else must be stated. */
static bool read_identity(struct arena *arena, const struct json *crd, struct api_resource *ret,
                          struct err *err)
{
    const struct json *spec = api_get(crd, "spec"), *names = api_get(spec, "names");
    struct str scope = api_get_str(spec, "scope");
    *ret = (struct api_resource){
        .group = api_get_str(spec, "group"),
        .kind = api_get_str(names, "kind"),
        .list_kind = api_get_str(names, "listKind"),
        .plural = api_get_str(names, "plural"),
        .singular = api_get_str(names, "singular"),
        .namespaced = str_eq(scope, STR("Namespaced")),
        .verbs = API_VERBS_ALL,
        .counts_generation = true,
        .custom = true,
    };
    ret->short_names = read_names(arena, api_get(names, "shortNames"), &ret->short_name_count);
    ret->categories = read_names(arena, api_get(names, "categories"), &ret->category_count);
    if (str_empty(ret->group) || str_empty(ret->kind) || str_empty(ret->plural))
        return err_set(err, ERR_INVALID, "spec: group, names.kind and names.plural are required");
    if (!ret->namespaced && !str_eq(scope, STR("Cluster")))
        return err_set(err, ERR_INVALID, "spec.scope: must be Cluster or Namespaced");
    if (str_empty(ret->list_kind))
        ret->list_kind = arena_strf(arena, STR_FMT "List", STR_ARG(ret->kind));
    if (str_empty(ret->singular))
        ret->singular = api_lower(arena, ret->kind);
    struct str name = api_get_str(api_get(crd, "metadata"), "name");
    struct str want = arena_strf(arena, API_RESOURCE_FMT, API_RESOURCE_ARG(ret));
    if (!str_eq(name, want))
        return err_set(err, ERR_INVALID, "metadata.name: must be " STR_FMT, STR_ARG(want));
    return true;
}

static bool read_version(struct arena *arena, const struct json *version, const struct api_resource *identity,
                         struct api_resource *ret, struct err *err)
{
    const struct json *schema = json_path(version, "schema", "openAPIV3Schema", NULL);
    *ret = *identity;
    ret->version = api_get_str(version, "name");
    ret->has_status = json_is(json_path(version, "subresources", "status", NULL), JSON_OBJECT);
    read_columns(arena, api_get(version, "additionalPrinterColumns"), ret);
    if (str_empty(ret->version))
        return err_set(err, ERR_INVALID, "spec.versions: a name is required");
    if (!schema)
        return err_set(err, ERR_INVALID, "spec.versions: " STR_FMT " has no schema", STR_ARG(ret->version));
    return api_schema_compile(arena, schema, &ret->schema, err) ||
           err_wrap(err, "version " STR_FMT, STR_ARG(ret->version));
}

static bool read_versions(struct arena *arena, const struct json *crd, const struct api_resource *identity,
                          struct api_resource **ret, size_t *ret_count, size_t *ret_storage, struct err *err)
{
    const struct json *versions = json_path(crd, "spec", "versions", NULL);
    size_t total = json_is(versions, JSON_ARRAY) ? versions->array.count : 0;
    struct api_resource *resources = arena_array(arena, struct api_resource, total);
    size_t count = 0, storage = SIZE_MAX;
    for (size_t i = 0; i < total; i++) {
        const struct json *version = versions->array.items[i];
        if (!json_bool(api_get(version, "served")))
            continue;
        if (json_bool(api_get(version, "storage")))
            storage = count;
        if (!read_version(arena, version, identity, &resources[count++], err))
            return false;
    }
    if (storage == SIZE_MAX)
        return err_set(err, ERR_INVALID, "spec.versions: one served version must be the storage version");
    *ret = resources;
    *ret_count = count;
    *ret_storage = storage;
    return true;
}

bool api_crd_read(struct arena *arena, const struct json *crd, struct api_resource **ret, size_t *ret_count,
                  size_t *ret_storage, struct err *err)
{
    struct api_resource identity;
    return (read_identity(arena, crd, &identity, err) &&
            read_versions(arena, crd, &identity, ret, ret_count, ret_storage, err)) ||
           err_wrap(err, "CustomResourceDefinition " STR_FMT,
                    STR_ARG(api_get_str(api_get(crd, "metadata"), "name")));
}

/* ---- status ---- */

/* Since when the condition has held: a definition written again keeps the time. */
static struct str condition_since(const struct json *crd, const char *type, struct str now_text)
{
    const struct json *list = json_path(crd, "status", "conditions", NULL);
    for (size_t i = 0; i < api_list_count(list); i++) {
        const struct json *condition = list->array.items[i];
        struct str since = api_get_str(condition, "lastTransitionTime");
        if (str_eq(api_get_str(condition, "type"), str_c(type)) && since.len)
            return since;
    }
    return now_text;
}

static void add_condition(struct arena *arena, struct json *list, const char *type, const char *reason,
                          const char *message, struct str since)
{
    struct json *condition = api_object(arena);
    api_set_c(arena, condition, "type", type);
    api_set_c(arena, condition, "status", "True");
    api_set_str(arena, condition, "lastTransitionTime", since);
    api_set_c(arena, condition, "reason", reason);
    api_set_c(arena, condition, "message", message);
    json_push(arena, list, condition);
}

static const struct json *stored_versions(struct arena *arena, const struct json *versions)
{
    struct json *list = api_array(arena);
    for (size_t i = 0; i < api_list_count(versions); i++)
        if (json_bool(api_get(versions->array.items[i], "storage")))
            json_push(arena, list, json_new_str(arena, api_get_str(versions->array.items[i], "name")));
    return list;
}

const struct json *api_crd_established(struct arena *arena, const struct json *crd, struct str now_text)
{
    const struct json *spec = api_get(crd, "spec");
    struct json *names = json_is(api_get(spec, "names"), JSON_OBJECT)
                             ? json_copy(arena, api_get(spec, "names"))
                             : api_object(arena);
    struct api_resource identity;
    if (read_identity(arena, crd, &identity, NULL)) {
        api_set_str(arena, names, "listKind", identity.list_kind);
        api_set_str(arena, names, "singular", identity.singular);
    }
    struct json *conditions = api_array(arena);
    add_condition(arena, conditions, "NamesAccepted", "NoConflicts", "no conflicts found",
                  condition_since(crd, "NamesAccepted", now_text));
    add_condition(arena, conditions, "Established", "InitialNamesAccepted",
                  "the initial names have been accepted", condition_since(crd, "Established", now_text));
    struct json *status = api_object(arena);
    api_set(arena, status, "conditions", conditions);
    api_set(arena, status, "acceptedNames", names);
    api_set(arena, status, "storedVersions", stored_versions(arena, api_get(spec, "versions")));
    spec = api_with(arena, spec, "names", names);
    if (!api_get(spec, "conversion")) {
        struct json *conversion = api_object(arena);
        api_set_c(arena, conversion, "strategy", "None");
        spec = api_with(arena, spec, "conversion", conversion);
    }
    return api_with(arena, api_with(arena, crd, "spec", spec), "status", status);
}
