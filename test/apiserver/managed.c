#include "test/apiserver/managed.h"
#include "base/rfc3339.h"
#include "test/apiserver/fieldtree.h"
#include "test/apiserver/tree.h"

struct api_owners api_owners_read(struct arena *arena, const struct json *object)
{
    const struct json *list = json_path(object, "metadata", "managedFields", NULL);
    struct api_owners owners = { .arena = arena };
    owners.items = arena_array(arena, struct api_owner, api_list_count(list));
    for (size_t i = 0; i < api_list_count(list); i++) {
        const struct json *entry = list->array.items[i];
        struct api_fields *fields = api_fields_read(arena, api_get(entry, "fieldsV1"));
        if (!fields)
            continue;
        owners.items[owners.count++] = (struct api_owner){
            .manager = api_get_str(entry, "manager"),
            .operation = api_get_str(entry, "operation"),
            .api_version = api_get_str(entry, "apiVersion"),
            .subresource = api_get_str(entry, "subresource"),
            .time = api_get_str(entry, "time"),
            .fields = fields,
        };
    }
    return owners;
}

static const struct json *owner_json(struct arena *arena, const struct api_owner *owner)
{
    struct json *entry = api_object(arena);
    api_set_str(arena, entry, "manager", owner->manager);
    api_set_str(arena, entry, "operation", owner->operation);
    api_set_str(arena, entry, "apiVersion", owner->api_version);
    api_set_some(arena, entry, "time", owner->time);
    api_set_c(arena, entry, "fieldsType", "FieldsV1");
    api_set(arena, entry, "fieldsV1", api_fields_json(arena, owner->fields));
    api_set_some(arena, entry, "subresource", owner->subresource);
    return entry;
}

const struct json *api_owners_write(const struct api_owners *owners, const struct json *object)
{
    struct json *list = api_array(owners->arena);
    for (size_t i = 0; i < owners->count; i++)
        if (!api_fields_empty(owners->items[i].fields))
            json_push(owners->arena, list, owner_json(owners->arena, &owners->items[i]));
    const struct json *metadata = api_get(object, "metadata");
    metadata = api_with(owners->arena, metadata, "managedFields", json_count(list) > 0 ? list : NULL);
    return api_with(owners->arena, object, "metadata", metadata);
}

struct api_owner *api_owners_of(struct api_owners *owners, const struct api_resource *resource,
                                const struct api_writer *writer, struct str operation)
{
    struct str version = arena_strf(owners->arena, API_GV_FMT, API_GV_ARG(resource));
    for (size_t i = 0; i < owners->count; i++) {
        struct api_owner *owner = &owners->items[i];
        if (str_eq(owner->manager, writer->manager) && str_eq(owner->operation, operation) &&
            str_eq(owner->subresource, writer->subresource) && str_eq(owner->api_version, version))
            return owner;
    }
    owners->items = arena_grow(owners->arena, owners->items, owners->count * sizeof(*owners->items),
                               (owners->count + 1) * sizeof(*owners->items));
    struct api_owner *owner = &owners->items[owners->count++];
    *owner = (struct api_owner){
        .manager = writer->manager,
        .operation = operation,
        .api_version = version,
        .subresource = writer->subresource,
    };
    return owner;
}

void api_owner_assign(struct arena *arena, struct api_owner *owner, struct api_fields *fields,
                      const struct api_writer *writer)
{
    bool same = json_equal(api_fields_json(arena, owner->fields), api_fields_json(arena, fields));
    owner->fields = fields;
    if (same && !str_empty(owner->time))
        return;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64);
    rfc3339_format(&out, writer->now);
    owner->time = arena_str(arena, strbuf_str(&out));
}

const struct json *api_ownable(struct arena *arena, const struct json *object)
{
    static const char *const never[] = { "name",
                                         "generateName",
                                         "namespace",
                                         "uid",
                                         "generation",
                                         "resourceVersion",
                                         "managedFields",
                                         "creationTimestamp",
                                         "selfLink",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds" };
    if (!object)
        return NULL;
    struct json *out = json_copy(arena, object);
    json_remove(out, STR("apiVersion"));
    json_remove(out, STR("kind"));
    const struct json *metadata = api_get(object, "metadata");
    if (!json_is(metadata, JSON_OBJECT))
        return out;
    struct json *rest = json_copy(arena, metadata);
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        json_remove(rest, str_c(never[i]));
    if (json_count(rest) > 0)
        api_set(arena, out, "metadata", rest);
    else
        json_remove(out, STR("metadata"));
    return out;
}

/* ---- ordinary writes ---- */

/* managedFields: [{}] */
static bool clears_owners(const struct json *list)
{
    return json_is(list, JSON_ARRAY) && list->array.count == 1 && json_count(list->array.items[0]) == 0;
}

/* The list to start from: what the client sends counts, unless it sends nothing. */
static const struct json *starting_point(struct arena *arena, const struct json *old,
                                         const struct json *object)
{
    const struct json *sent = json_path(object, "metadata", "managedFields", NULL);
    const struct json *had = json_path(old, "metadata", "managedFields", NULL);
    if (json_count(sent) > 0 || json_count(had) == 0)
        return object;
    return api_with(arena, object, "metadata",
                    api_with(arena, api_get(object, "metadata"), "managedFields", had));
}

const struct json *api_manage_update(struct arena *arena, const struct api_resource *resource,
                                     const struct json *old, const struct json *object,
                                     const struct api_writer *writer)
{
    const struct json *metadata = api_get(object, "metadata");
    if (clears_owners(api_get(metadata, "managedFields")))
        return api_with(arena, object, "metadata", api_with(arena, metadata, "managedFields", NULL));
    /* Events are shown under two APIs whose field names differ, and nobody applies them. */
    if (str_eq(resource->kind, STR("Event")) && !resource->custom)
        return api_with(arena, object, "metadata", api_with(arena, metadata, "managedFields", NULL));
    object = starting_point(arena, old, object);
    struct api_shape shape = api_shape_root(resource);
    struct api_difference difference =
        api_fields_compare(arena, &shape, api_ownable(arena, old), api_ownable(arena, object));
    if (api_fields_empty(difference.changed) && api_fields_empty(difference.removed))
        return object;
    struct api_owners owners = api_owners_read(arena, object);
    struct api_owner *self = api_owners_of(&owners, resource, writer, STR("Update"));
    struct api_fields *mine = api_fields_union(arena, self->fields, difference.changed);
    api_owner_assign(arena, self, api_fields_minus(arena, mine, difference.removed), writer);
    for (size_t i = 0; i < owners.count; i++) {
        struct api_owner *other = &owners.items[i];
        if (other == self)
            continue;
        other->fields = api_fields_minus(arena, other->fields, difference.changed);
        other->fields = api_fields_minus(arena, other->fields, difference.removed);
    }
    return api_owners_write(&owners, object);
}
