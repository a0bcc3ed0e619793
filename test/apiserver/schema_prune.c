#include "test/apiserver/schema_node.h"
#include "test/apiserver/tree.h"

/* ---- pruning ---- */

struct pruner {
    struct arena *arena;
    struct api_causes *unknown; /* may be NULL */
};

static const struct json *prune(const struct pruner *pruner, const struct api_schema *schema,
                                const struct json *value, bool resource_root, const struct api_path *path);

/* Type metadata and object metadata exist without being declared, wherever a whole
 * resource may stand. */
static bool implied_field(struct str name)
{
    return str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")) || str_eq(name, STR("metadata"));
}

/* NULL: to be dropped. */
static const struct json *prune_field(const struct pruner *pruner, const struct api_schema *schema,
                                      const struct json_member *member, bool resource_root,
                                      const struct api_path *path)
{
    struct api_path below = API_FIELD(path, member->key);
    const struct api_schema *property = api_schema_property(schema, member->key);
    if (!property)
        property = schema->values;
    if (resource_root && implied_field(member->key))
        return member->value;
    if (property)
        return prune(pruner, property, member->value, false, &below);
    if (schema->preserve_unknown || schema->values_free)
        return member->value;
    if (pruner->unknown) {
        struct str name = api_path_str(pruner->arena, &below);
        api_cause_add(pruner->unknown, API_CAUSE_INVALID, &below, "unknown field \"" STR_FMT "\"",
                      STR_ARG(name));
    }
    return NULL;
}

static const struct json *prune_object(const struct pruner *pruner, const struct api_schema *schema,
                                       const struct json *value, bool resource_root,
                                       const struct api_path *path)
{
    struct api_change change = { .arena = pruner->arena, .object = value };
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        api_change_field(&change, member->key, member->value,
                         prune_field(pruner, schema, member, resource_root, path));
    }
    return api_change_done(&change);
}

static const struct json *prune_array(const struct pruner *pruner, const struct api_schema *schema,
                                      const struct json *value, const struct api_path *path)
{
    if (!schema->items)
        return value;
    struct json *out = json_new(pruner->arena, JSON_ARRAY);
    bool changed = false;
    for (size_t i = 0; i < value->array.count; i++) {
        struct api_path below = API_INDEX(path, i);
        const struct json *kept = prune(pruner, schema->items, value->array.items[i], false, &below);
        changed = changed || kept != value->array.items[i];
        json_push(pruner->arena, out, kept);
    }
    return changed ? out : value;
}

static const struct json *prune(const struct pruner *pruner, const struct api_schema *schema,
                                const struct json *value, bool resource_root, const struct api_path *path)
{
    if (json_is(value, JSON_OBJECT))
        return prune_object(pruner, schema, value, resource_root || schema->embedded_resource, path);
    if (json_is(value, JSON_ARRAY))
        return prune_array(pruner, schema, value, path);
    return value;
}

const struct json *api_schema_prune(struct arena *arena, const struct api_schema *schema,
                                    const struct json *value, struct api_causes *unknown)
{
    struct pruner pruner = { .arena = arena, .unknown = unknown };
    return prune(&pruner, schema, value, true, NULL);
}

/* ---- defaulting ---- */

static bool unset(const struct json *value, const struct api_schema *schema)
{
    return !value || (value->type == JSON_NULL && !schema->nullable);
}

static const struct json *default_array(struct arena *arena, const struct api_schema *schema,
                                        const struct json *value)
{
    if (!schema->items)
        return value;
    struct json *out = json_new(arena, JSON_ARRAY);
    bool changed = false;
    for (size_t i = 0; i < value->array.count; i++) {
        const struct json *item = api_schema_default(arena, schema->items, value->array.items[i]);
        changed = changed || item != value->array.items[i];
        json_push(arena, out, item);
    }
    return changed ? out : value;
}

static const struct json *default_value(struct arena *arena, const struct api_schema *schema,
                                        const struct json *value)
{
    if (unset(value, schema))
        value = schema->default_value;
    return value ? api_schema_default(arena, schema, value) : NULL;
}

static const struct json *default_object(struct arena *arena, const struct api_schema *schema,
                                         const struct json *value)
{
    struct api_change change = { .arena = arena, .object = value };
    for (size_t i = 0; i < schema->property_count; i++) {
        const struct api_schema_property *property = &schema->properties[i];
        const struct json *now = json_get(value, property->name);
        api_change_field(&change, property->name, now, default_value(arena, property->schema, now));
    }
    if (schema->values)
        for (size_t i = 0; i < value->object.count; i++) {
            const struct json_member *member = &value->object.members[i];
            api_change_field(&change, member->key, member->value,
                             default_value(arena, schema->values, member->value));
        }
    return api_change_done(&change);
}

const struct json *api_schema_default(struct arena *arena, const struct api_schema *schema,
                                      const struct json *value)
{
    if (json_is(value, JSON_OBJECT))
        return default_object(arena, schema, value);
    if (json_is(value, JSON_ARRAY))
        return default_array(arena, schema, value);
    return value;
}
