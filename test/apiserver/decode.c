#include "base/rfc3339.h"
#include "quantity/quantity.h"
#include "test/apiserver/base64.h"
#include "test/apiserver/defaults.h"
#include "test/apiserver/schema.h"
#include "test/apiserver/tree.h"
#include "test/apiserver/types.h"
#include "test/apiserver/validate.h"

bool api_field_validation_parse(struct str text, enum api_field_validation *ret)
{
    static const struct {
        struct str name;
        enum api_field_validation value;
    } names[] = {
        { STR_INIT(""), API_FIELDS_WARN },
        { STR_INIT("Warn"), API_FIELDS_WARN },
        { STR_INIT("Ignore"), API_FIELDS_IGNORE },
        { STR_INIT("Strict"), API_FIELDS_STRICT },
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i].name, text)) {
            *ret = names[i].value;
            return true;
        }
    return false;
}

struct decoder {
    struct arena *arena;
    const struct api_resource *resource;
    struct api_causes unknown; /* fields dropped */
    struct api_error *error;
};

/* ---- scalars of built-in kinds ---- */

/* Always NULL, so that decoding functions can return it. */
static const struct json *cannot_handle(struct decoder *decoder, const struct api_path *path, const char *why,
                                        struct str value)
{
    const struct api_resource *resource = decoder->resource;
    struct str where = api_path_str(decoder->arena, path);
    api_fail(decoder->error, decoder->arena, 400,
             STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": " STR_FMT
                     ": %s" STR_FMT,
             STR_ARG(resource->kind), STR_ARG(resource->version), STR_ARG(resource->kind), STR_ARG(where),
             why, STR_ARG(value));
    return NULL;
}

static const struct json *wrong_type(struct decoder *decoder, const struct api_path *path,
                                     const struct json *value, const char *want)
{
    struct str text = arena_strf(decoder->arena, "cannot unmarshal %s into a field of type %s",
                                 json_type_name(value->type), want);
    return cannot_handle(decoder, path, text.ptr, STR_NULL);
}

static const struct json *decode_time(struct decoder *decoder, const struct json *value, bool micro,
                                      const struct api_path *path)
{
    struct wall_time time;
    if (!json_is(value, JSON_STRING))
        return wrong_type(decoder, path, value, micro ? "MicroTime" : "Time");
    bool ok = micro ? rfc3339_parse_micro(value->text, &time, NULL) : rfc3339_parse(value->text, &time, NULL);
    if (!ok)
        return cannot_handle(decoder, path,
                             micro ? "not a time like 2006-01-02T15:04:05.000000Z07:00: "
                                   : "not a time like 2006-01-02T15:04:05Z07:00: ",
                             value->text);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64);
    if (micro)
        rfc3339_format_micro(&out, time);
    else
        rfc3339_format(&out, time);
    return str_eq(strbuf_str(&out), value->text) ? value : json_new_str(decoder->arena, strbuf_str(&out));
}

/* Amounts of built-in kinds are kept to the thousandth, rounded up. */
static struct quantity to_milli(struct quantity quantity)
{
    if (!quantity_fits(quantity, true))
        return quantity;
    struct quantity milli = quantity_from_milli(quantity_milli_ceil(quantity), quantity.format);
    return quantity_cmp(milli, quantity) == 0 ? quantity : milli;
}

static const struct json *decode_quantity(struct decoder *decoder, const struct json *value,
                                          const struct api_path *path)
{
    static const enum json_event_type events[] = {
        [JSON_NULL] = JSON_EV_NULL, [JSON_NUMBER] = JSON_EV_NUMBER, [JSON_STRING] = JSON_EV_STRING
    };
    if (!json_is(value, JSON_NULL) && !json_is(value, JSON_NUMBER) && !json_is(value, JSON_STRING))
        return wrong_type(decoder, path, value, "Quantity");
    struct json_event event = { .type = events[value->type] };
    if (event.type != JSON_EV_NULL)
        event.text = value->text;
    struct quantity quantity;
    if (!quantity_from_event(&event, &quantity, NULL))
        return cannot_handle(decoder, path, "not a quantity: ", event.text);
    if (quantity.saturated)
        return json_is(value, JSON_STRING) ? value : json_new_str(decoder->arena, event.text);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(256);
    quantity_write(&out, to_milli(quantity));
    bool same = json_is(value, JSON_STRING) && str_eq(strbuf_str(&out), value->text);
    return same ? value : json_new_str(decoder->arena, strbuf_str(&out));
}

static const struct json *decode_integer(struct decoder *decoder, const struct json *value, bool is_int32,
                                         const struct api_path *path)
{
    int64_t number;
    if (!json_is(value, JSON_NUMBER) || !json_i64(value, &number) ||
        (is_int32 && (number < INT32_MIN || number > INT32_MAX)))
        return wrong_type(decoder, path, value, is_int32 ? "int32" : "int64");
    return value;
}

static const struct json *decode_object(struct decoder *decoder, const struct api_type *type,
                                        const struct json *value, const struct api_path *path);

static const struct json *expect(struct decoder *decoder, const struct json *value, enum json_type type,
                                 const char *name, const struct api_path *path)
{
    return json_is(value, type) ? value : wrong_type(decoder, path, value, name);
}

static const struct json *decode_bytes(struct decoder *decoder, const struct json *value,
                                       const struct api_path *path)
{
    if (!json_is(value, JSON_STRING))
        return wrong_type(decoder, path, value, "[]byte");
    return api_base64_valid(value->text) ? value
                                         : cannot_handle(decoder, path, "illegal base64 data", STR_NULL);
}

static const struct json *decode_one(struct decoder *decoder, const struct api_type_field *field,
                                     const struct json *value, const struct api_path *path)
{
    switch (field->kind) {
    case API_VALUE_ANY:
        return value;
    case API_VALUE_STRING:
        return expect(decoder, value, JSON_STRING, "string", path);
    case API_VALUE_BOOL:
        return expect(decoder, value, JSON_BOOL, "bool", path);
    case API_VALUE_INT32:
    case API_VALUE_INT64:
        return decode_integer(decoder, value, field->kind == API_VALUE_INT32, path);
    case API_VALUE_INT_OR_STRING:
        return json_is(value, JSON_STRING) ? value : decode_integer(decoder, value, true, path);
    case API_VALUE_TIME:
    case API_VALUE_MICROTIME:
        return decode_time(decoder, value, field->kind == API_VALUE_MICROTIME, path);
    case API_VALUE_QUANTITY:
        return decode_quantity(decoder, value, path);
    case API_VALUE_BYTES:
        return decode_bytes(decoder, value, path);
    case API_VALUE_OBJECT:
        return decode_object(decoder, field->type, value, path);
    }
    return NULL;
}

/* ---- containers of built-in kinds ---- */

static const struct json *decode_list(struct decoder *decoder, const struct api_type_field *field,
                                      const struct json *value, const struct api_path *path)
{
    if (!json_is(value, JSON_ARRAY))
        return wrong_type(decoder, path, value, "list");
    struct json *out = api_array(decoder->arena);
    bool changed = false;
    for (size_t i = 0; i < value->array.count; i++) {
        struct api_path below = API_INDEX(path, i);
        const struct json *item = decode_one(decoder, field, value->array.items[i], &below);
        if (!item)
            return NULL;
        changed = changed || item != value->array.items[i];
        json_push(decoder->arena, out, item);
    }
    return changed ? out : value;
}

/* A null in a map of strings reads as "", as Go's decoder leaves it. */
static const struct json *decode_map_value(struct decoder *decoder, const struct api_type_field *field,
                                           const struct json *value, const struct api_path *path)
{
    bool textual = field->kind == API_VALUE_STRING || field->kind == API_VALUE_BYTES;
    if (json_is(value, JSON_NULL) && textual)
        return json_new_str(decoder->arena, STR_NULL);
    return decode_one(decoder, field, value, path);
}

static const struct json *decode_map(struct decoder *decoder, const struct api_type_field *field,
                                     const struct json *value, const struct api_path *path)
{
    if (!json_is(value, JSON_OBJECT))
        return wrong_type(decoder, path, value, "map");
    struct api_change change = { .arena = decoder->arena, .object = value };
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct api_path below = API_KEY(path, member->key);
        const struct json *next = decode_map_value(decoder, field, member->value, &below);
        if (!next)
            return NULL;
        api_change_field(&change, member->key, member->value, next);
    }
    return api_change_done(&change);
}

static bool is_zero(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return !value->boolean;
    case JSON_NUMBER:
        return str_eq(value->text, STR("0"));
    case JSON_STRING:
        return value->text.len == 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(value) == 0;
    }
    return false;
}

/* True with *ret NULL: leave the field out. */
static bool decode_field(struct decoder *decoder, const struct api_type_field *field,
                         const struct json *value, const struct api_path *path, const struct json **ret)
{
    *ret = NULL;
    if (json_is(value, JSON_NULL))
        return true;
    const struct json *decoded = field->shape == API_SHAPE_LIST  ? decode_list(decoder, field, value, path)
                                 : field->shape == API_SHAPE_MAP ? decode_map(decoder, field, value, path)
                                                                 : decode_one(decoder, field, value, path);
    if (!decoded)
        return false;
    if ((field->omit_zero || field->shape != API_SHAPE_ONE) && is_zero(decoded))
        return true;
    *ret = decoded;
    return true;
}

static const struct api_type_field *find_field(const struct api_type *type, struct str name)
{
    for (size_t i = 0; i < type->count; i++)
        if (str_eq(str_c(type->fields[i].name), name))
            return &type->fields[i];
    return NULL;
}

static void add_unknown(struct decoder *decoder, const struct api_path *path)
{
    struct str name = api_path_str(decoder->arena, path);
    api_cause_add(&decoder->unknown, API_CAUSE_INVALID, path, "unknown field \"" STR_FMT "\"", STR_ARG(name));
}

static const struct json *decode_object(struct decoder *decoder, const struct api_type *type,
                                        const struct json *value, const struct api_path *path)
{
    if (!json_is(value, JSON_OBJECT))
        return wrong_type(decoder, path, value, "object");
    struct api_change change = { .arena = decoder->arena, .object = value };
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct api_path below = API_FIELD(path, member->key);
        const struct api_type_field *field = find_field(type, member->key);
        const struct json *next = NULL;
        if (field && !decode_field(decoder, field, member->value, &below, &next))
            return NULL;
        if (!field && type->open && !json_is(member->value, JSON_NULL))
            next = member->value;
        if (!field && !type->open)
            add_unknown(decoder, &below);
        api_change_field(&change, member->key, member->value, next);
    }
    return api_change_done(&change);
}

/* ---- the whole object ---- */

/* A custom resource of another kind is found out by its validation only. */
static bool fail_kind(struct decoder *decoder, const struct json *object, struct str kind)
{
    struct api_resource claimed = *decoder->resource;
    claimed.kind = kind;
    struct api_causes causes = API_CAUSES_INIT(decoder->arena);
    struct api_path path = API_FIELD(NULL, STR("kind"));
    api_cause_invalid(&causes, &path, api_get(object, "kind"), "must be " STR_FMT,
                      STR_ARG(decoder->resource->kind));
    return api_fail_invalid(decoder->error, decoder->arena, &claimed,
                            api_get_str(api_get(object, "metadata"), "name"), &causes);
}

static bool check_identity(struct decoder *decoder, const struct json *object)
{
    const struct api_resource *resource = decoder->resource;
    struct str version = api_get_str(object, "apiVersion"), kind = api_get_str(object, "kind");
    struct str want = arena_strf(decoder->arena, API_GV_FMT, API_GV_ARG(resource));
    if (resource->custom && (str_empty(version) || str_empty(kind)))
        return api_fail(decoder->error, decoder->arena, 400, "Object '%s' is missing in '" STR_FMT "'",
                        str_empty(kind) ? "Kind" : "apiVersion",
                        STR_ARG(api_text(decoder->arena, object, 256)));
    if (!str_empty(version) && !str_eq(version, want))
        return api_fail(decoder->error, decoder->arena, 400,
                        "the API version in the data (" STR_FMT
                        ") does not match the expected API version (" STR_FMT ")",
                        STR_ARG(version), STR_ARG(want));
    if (resource->custom && !str_eq(kind, resource->kind))
        return fail_kind(decoder, object, kind);
    if (!str_empty(kind) && !str_eq(kind, resource->kind))
        return api_fail(decoder->error, decoder->arena, 400,
                        "the kind in the data (" STR_FMT ") does not match the expected kind (" STR_FMT ")",
                        STR_ARG(kind), STR_ARG(resource->kind));
    return true;
}

/* apiVersion and kind come first, as clients expect to read them. */
static const struct json *with_identity(struct decoder *decoder, const struct json *object)
{
    if (!str_empty(api_get_str(object, "apiVersion")) && !str_empty(api_get_str(object, "kind")))
        return object;
    struct json *out = api_object(decoder->arena);
    api_set_str(decoder->arena, out, "kind", decoder->resource->kind);
    api_set_str(decoder->arena, out, "apiVersion",
                arena_strf(decoder->arena, API_GV_FMT, API_GV_ARG(decoder->resource)));
    for (size_t i = 0; i < object->object.count; i++) {
        const struct json_member *member = &object->object.members[i];
        if (!str_eq(member->key, STR("apiVersion")) && !str_eq(member->key, STR("kind")))
            json_set(decoder->arena, out, member->key, member->value);
    }
    return out;
}

static const struct json *decode_custom(struct decoder *decoder, const struct json *object)
{
    const struct api_schema *schema = decoder->resource->schema;
    const struct json *metadata = api_get(object, "metadata");
    struct api_path path = API_FIELD(NULL, STR("metadata"));
    if (metadata) {
        const struct json *decoded = decode_object(decoder, &api_type_metadata, metadata, &path);
        if (!decoded)
            return NULL;
        if (decoded != metadata)
            object = api_with(decoder->arena, object, "metadata", decoded);
    }
    if (!schema)
        return object;
    object = api_schema_prune(decoder->arena, schema, object, &decoder->unknown);
    return api_schema_default(decoder->arena, schema, object);
}

static bool judge_unknown(struct decoder *decoder, enum api_field_validation mode,
                          struct api_causes *warnings)
{
    const struct api_causes *unknown = &decoder->unknown;
    if (mode == API_FIELDS_STRICT && unknown->count > 0) {
        CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 * 1024);
        for (size_t i = 0; i < unknown->count; i++)
            strbuf_addf(&out, "%s" STR_FMT, i ? ", " : "", STR_ARG(unknown->items[i].message));
        const struct api_resource *resource = decoder->resource;
        return api_fail(decoder->error, decoder->arena, 400,
                        STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                                ": strict decoding error: %s",
                        STR_ARG(resource->kind), STR_ARG(resource->version), STR_ARG(resource->kind),
                        strbuf_cstr(&out));
    }
    for (size_t i = 0; mode == API_FIELDS_WARN && warnings && i < unknown->count; i++)
        api_cause_add(warnings, API_CAUSE_INVALID, NULL, STR_FMT, STR_ARG(unknown->items[i].message));
    return true;
}

bool api_object_decode(struct arena *arena, const struct api_resource *resource, const struct json *object,
                       enum api_field_validation field_validation, struct api_causes *warnings,
                       const struct json **ret, struct api_error *error)
{
    struct decoder decoder = {
        .arena = arena, .resource = resource, .unknown = API_CAUSES_INIT(arena), .error = error
    };
    if (!json_is(object, JSON_OBJECT))
        return api_fail(error, arena, 400, "the request body is not an object");
    if (!check_identity(&decoder, object))
        return false;
    const struct json *decoded = resource->custom
                                     ? decode_custom(&decoder, object)
                                     : decode_object(&decoder, api_type_of(resource), object, NULL);
    if (!decoded || !judge_unknown(&decoder, field_validation, warnings))
        return false;
    decoded = with_identity(&decoder, decoded);
    *ret = resource->custom ? decoded : api_defaults(arena, resource, decoded);
    return true;
}
