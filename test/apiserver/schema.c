#include "test/apiserver/schema_node.h"
#include "test/apiserver/tree.h"

static const struct {
    struct str name;
    enum api_schema_type type;
} types[] = {
    { STR_INIT("object"), API_SCHEMA_OBJECT }, { STR_INIT("array"), API_SCHEMA_ARRAY },
    { STR_INIT("string"), API_SCHEMA_STRING }, { STR_INIT("integer"), API_SCHEMA_INTEGER },
    { STR_INIT("number"), API_SCHEMA_NUMBER }, { STR_INIT("boolean"), API_SCHEMA_BOOLEAN },
};

/* Below allOf, anyOf, oneOf and not, a schema only restricts values and needs no type. */
static bool compile(struct arena *arena, const struct json *raw, bool structural, const struct api_path *path,
                    const struct api_schema **ret, struct err *err);

static bool fail_at(struct arena *arena, const struct api_path *path, const char *message, struct err *err)
{
    struct str where = api_path_str(arena, path);
    return err_set(err, ERR_INVALID, "schema" STR_FMT STR_FMT ": %s",
                   STR_ARG(where.len ? STR(" at ") : STR_NULL), STR_ARG(where), message);
}

static bool read_type(struct arena *arena, const struct json *raw, bool structural,
                      const struct api_path *path, struct api_schema *schema, struct err *err)
{
    if (json_bool(api_get(raw, "x-kubernetes-int-or-string"))) {
        schema->type = API_SCHEMA_INT_OR_STRING;
        return true;
    }
    struct str name = api_get_str(raw, "type");
    if (str_empty(name)) {
        schema->type = API_SCHEMA_ANY;
        return schema->preserve_unknown || !structural || fail_at(arena, path, "a type is required", err);
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(types[i].name, name)) {
            schema->type = types[i].type;
            return true;
        }
    return fail_at(arena, path, "unknown type", err);
}

static struct str *read_strings(struct arena *arena, const struct json *list, size_t *count)
{
    *count = json_is(list, JSON_ARRAY) ? list->array.count : 0;
    struct str *strings = arena_array(arena, struct str, *count);
    for (size_t i = 0; i < *count; i++)
        strings[i] = json_str(list->array.items[i]);
    return strings;
}

static bool read_properties(struct arena *arena, const struct json *raw, bool structural,
                            const struct api_path *path, struct api_schema *schema, struct err *err)
{
    const struct json *properties = api_get(raw, "properties");
    if (!json_is(properties, JSON_OBJECT))
        return true;
    schema->property_count = properties->object.count;
    schema->properties = arena_array(arena, struct api_schema_property, schema->property_count);
    for (size_t i = 0; i < schema->property_count; i++) {
        const struct json_member *member = &properties->object.members[i];
        struct api_path below = API_FIELD(path, member->key);
        schema->properties[i].name = member->key;
        if (!compile(arena, member->value, structural, &below, &schema->properties[i].schema, err))
            return false;
    }
    return true;
}

static bool read_values(struct arena *arena, const struct json *raw, bool structural,
                        const struct api_path *path, struct api_schema *schema, struct err *err)
{
    const struct json *additional = api_get(raw, "additionalProperties");
    if (json_is(additional, JSON_BOOL)) {
        schema->values_free = additional->boolean;
        return true;
    }
    if (!additional || json_is(additional, JSON_NULL))
        return true;
    if (json_count(api_get(raw, "properties")) > 0)
        return fail_at(arena, path, "additionalProperties and properties exclude each other", err);
    if (json_count(additional) == 0) {
        schema->values_free = true;
        return true;
    }
    struct api_path below = API_FIELD(path, STR("*"));
    return compile(arena, additional, structural, &below, &schema->values, err);
}

static bool read_items(struct arena *arena, const struct json *raw, bool structural,
                       const struct api_path *path, struct api_schema *schema, struct err *err)
{
    const struct json *items = api_get(raw, "items");
    if (!items) {
        if (schema->type == API_SCHEMA_ARRAY && structural)
            return fail_at(arena, path, "an array needs items", err);
        return true;
    }
    struct api_path below = API_FIELD(path, STR("items"));
    return compile(arena, items, structural, &below, &schema->items, err);
}

static bool read_schemas(struct arena *arena, const struct json *list, const struct api_path *path,
                         struct api_schemas *ret, struct err *err)
{
    ret->count = json_is(list, JSON_ARRAY) ? list->array.count : 0;
    ret->items = arena_array(arena, const struct api_schema *, ret->count);
    for (size_t i = 0; i < ret->count; i++)
        if (!compile(arena, list->array.items[i], false, path, &ret->items[i], err))
            return false;
    return true;
}

static struct opt_i64 read_limit(const struct json *raw, const char *name)
{
    struct opt_i64 limit = { 0 };
    limit.set = json_i64(api_get(raw, name), &limit.value);
    return limit;
}

static void read_rules(struct arena *arena, const struct json *raw, struct api_schema *schema)
{
    schema->nullable = json_bool(api_get(raw, "nullable"));
    schema->preserve_unknown = json_bool(api_get(raw, "x-kubernetes-preserve-unknown-fields"));
    schema->embedded_resource = json_bool(api_get(raw, "x-kubernetes-embedded-resource"));
    schema->atomic_map = str_eq(api_get_str(raw, "x-kubernetes-map-type"), STR("atomic"));
    schema->list_set = str_eq(api_get_str(raw, "x-kubernetes-list-type"), STR("set"));
    schema->list_keys =
        read_strings(arena, api_get(raw, "x-kubernetes-list-map-keys"), &schema->list_key_count);
    schema->required = read_strings(arena, api_get(raw, "required"), &schema->required_count);
    schema->default_value = api_get(raw, "default");
    schema->enum_values = json_is(api_get(raw, "enum"), JSON_ARRAY) ? api_get(raw, "enum") : NULL;
    schema->minimum = api_get(raw, "minimum");
    schema->maximum = api_get(raw, "maximum");
    schema->multiple_of = api_get(raw, "multipleOf");
    schema->exclusive_minimum = json_bool(api_get(raw, "exclusiveMinimum"));
    schema->exclusive_maximum = json_bool(api_get(raw, "exclusiveMaximum"));
    schema->unique_items = json_bool(api_get(raw, "uniqueItems"));
    schema->min_length = read_limit(raw, "minLength");
    schema->max_length = read_limit(raw, "maxLength");
    schema->min_items = read_limit(raw, "minItems");
    schema->max_items = read_limit(raw, "maxItems");
    schema->min_properties = read_limit(raw, "minProperties");
    schema->max_properties = read_limit(raw, "maxProperties");
    schema->pattern = api_get_str(raw, "pattern");
    schema->format = api_get_str(raw, "format");
}

static bool compile(struct arena *arena, const struct json *raw, bool structural, const struct api_path *path,
                    const struct api_schema **ret, struct err *err)
{
    if (!json_is(raw, JSON_OBJECT))
        return fail_at(arena, path, "not an object", err);
    struct api_schema *schema = arena_new(arena, struct api_schema);
    schema->raw = raw;
    read_rules(arena, raw, schema);
    const struct json *not = api_get(raw, "not");
    *ret = schema;
    return read_type(arena, raw, structural, path, schema, err) &&
           read_properties(arena, raw, structural, path, schema, err) &&
           read_values(arena, raw, structural, path, schema, err) &&
           read_items(arena, raw, structural, path, schema, err) &&
           read_schemas(arena, api_get(raw, "allOf"), path, &schema->all_of, err) &&
           read_schemas(arena, api_get(raw, "anyOf"), path, &schema->any_of, err) &&
           read_schemas(arena, api_get(raw, "oneOf"), path, &schema->one_of, err) &&
           (!not || compile(arena, not, false, path, &schema->not_schema, err));
}

bool api_schema_compile(struct arena *arena, const struct json *openapi_v3_schema,
                        const struct api_schema **ret, struct err *err)
{
    const struct api_schema *schema = NULL;
    if (!compile(arena, openapi_v3_schema, true, NULL, &schema, err) || !schema)
        return false;
    if (schema->type != API_SCHEMA_OBJECT)
        return err_set(err, ERR_INVALID, "schema: the root must be an object");
    *ret = schema;
    return true;
}

const struct json *api_schema_raw(const struct api_schema *schema)
{
    return schema->raw;
}

const struct api_schema *api_schema_property(const struct api_schema *schema, struct str name)
{
    if (!schema)
        return NULL;
    for (size_t i = 0; i < schema->property_count; i++)
        if (str_eq(schema->properties[i].name, name))
            return schema->properties[i].schema;
    return NULL;
}

const struct api_schema *api_schema_items(const struct api_schema *schema)
{
    return schema ? schema->items : NULL;
}

const struct api_schema *api_schema_values(const struct api_schema *schema)
{
    return schema ? schema->values : NULL;
}

size_t api_schema_list_keys(const struct api_schema *schema, const struct str **ret_keys, bool *ret_set)
{
    *ret_set = schema && schema->list_set;
    *ret_keys = schema ? schema->list_keys : NULL;
    return schema ? schema->list_key_count : 0;
}

bool api_schema_atomic(const struct api_schema *schema)
{
    return schema && schema->atomic_map;
}
