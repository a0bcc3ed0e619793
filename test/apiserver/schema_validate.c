#include "base/rfc3339.h"
#include "base/duration.h"
#include "quantity/quantity.h"
#include "test/apiserver/pattern.h"
#include "test/apiserver/schema_node.h"
#include "test/apiserver/tree.h"
#include <math.h>
#include <stdlib.h>

static void validate(const struct api_schema *schema, const struct json *value, const struct api_path *path,
                     struct api_causes *causes);

static struct str where(struct api_causes *causes, const struct api_path *path)
{
    return path ? api_path_str(causes->arena, path) : STR("<root>");
}

/* `Invalid value: VALUE: PATH in body ...` */
static void refuse(struct api_causes *causes, const struct api_path *path, const struct json *value,
                   const char *format, ...) PRINTF_LIKE(4, 5);

static void refuse(struct api_causes *causes, const struct api_path *path, const struct json *value,
                   const char *format, ...)
{
    CLEANUP(strbuf_done) struct strbuf why = STRBUF_INIT((size_t)64 * 1024);
    va_list args;
    va_start(args, format);
    strbuf_addv(&why, format, args);
    va_end(args);
    struct str place = where(causes, path);
    api_cause_invalid(causes, path, value, STR_FMT " in body %s", STR_ARG(place), strbuf_cstr(&why));
}

/* ---- numbers ---- */

static double to_double(const struct json *number)
{
    char buf[64];
    if (!json_is(number, JSON_NUMBER) || number->text.len >= sizeof buf)
        return (double)NAN;
    memcpy(buf, number->text.ptr, number->text.len);
    buf[number->text.len] = '\0';
    return strtod(buf, NULL);
}

/* -1, 0, 1; exact when both are plain integers. */
static int compare_numbers(const struct json *a, const struct json *b)
{
    int64_t x, y;
    if (json_i64(a, &x) && json_i64(b, &y))
        return x < y ? -1 : x > y;
    double v = to_double(a), w = to_double(b);
    return v < w ? -1 : v > w;
}

static bool is_integer(const struct json *value)
{
    int64_t ignored;
    if (!json_is(value, JSON_NUMBER))
        return false;
    if (json_i64(value, &ignored))
        return true;
    double number = to_double(value);
    return fabs(number) <= 9007199254740991.0 && floor(number) >= number;
}

static void check_bounds(const struct api_schema *schema, const struct json *value,
                         const struct api_path *path, struct api_causes *causes)
{
    int low = json_is(schema->minimum, JSON_NUMBER) ? compare_numbers(value, schema->minimum) : 1;
    if (low < 0 || (low == 0 && schema->exclusive_minimum))
        refuse(causes, path, value, "should be greater than %s" STR_FMT,
               schema->exclusive_minimum ? "" : "or equal to ", STR_ARG(schema->minimum->text));
    int high = json_is(schema->maximum, JSON_NUMBER) ? compare_numbers(value, schema->maximum) : -1;
    if (high > 0 || (high == 0 && schema->exclusive_maximum))
        refuse(causes, path, value, "should be less than %s" STR_FMT,
               schema->exclusive_maximum ? "" : "or equal to ", STR_ARG(schema->maximum->text));
    double step = to_double(schema->multiple_of);
    if (step > 0 && fabs(remainder(to_double(value), step)) > 1e-9 * step)
        refuse(causes, path, value, "should be a multiple of " STR_FMT, STR_ARG(schema->multiple_of->text));
}

static void check_number_format(const struct api_schema *schema, const struct json *value,
                                const struct api_path *path, struct api_causes *causes)
{
    int64_t number;
    bool fits = json_i64(value, &number);
    bool int32 = str_eq(schema->format, STR("int32"));
    if (schema->type != API_SCHEMA_INTEGER || (!int32 && !str_eq(schema->format, STR("int64"))))
        return;
    if (!fits && is_integer(value)) /* 1.0, 1e3 */
        number = (int64_t)to_double(value);
    else if (!fits)
        return;
    if (int32 && (number < INT32_MIN || number > INT32_MAX))
        refuse(causes, path, value, "must be of type int32: \"integer\"");
}

/* ---- strings ---- */

/* Lengths count characters, not bytes. */
static int64_t count_chars(struct str text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
    return count;
}

static bool valid_date_time(struct str text)
{
    struct wall_time ignored;
    return rfc3339_parse(text, &ignored, NULL);
}

static bool valid_duration(struct str text)
{
    int64_t ignored;
    return duration_parse(text, &ignored, NULL);
}

static bool valid_byte(struct str text)
{
    return text.len % 4 == 0 && api_pattern_matches(STR("^[A-Za-z0-9+/]*=?=?$"), text);
}

/* Formats that are not listed are not checked, as on a real server. */
static const struct {
    struct str name;
    bool (*valid)(struct str text);
} formats[] = {
    { STR_INIT("date-time"), valid_date_time },
    { STR_INIT("duration"), valid_duration },
    { STR_INIT("byte"), valid_byte },
};

/* Amounts are most of what is ever checked here, and compiling their long pattern for
 * each of them would cost more than everything else: what parses as a quantity matches. */
static bool matches_pattern(const struct api_schema *schema, struct str text)
{
    struct quantity ignored;
    bool of_quantity = schema->type == API_SCHEMA_INT_OR_STRING &&
                       str_starts_with(schema->pattern, STR("^(\\+|-)?(([0-9]+"));
    return (of_quantity && quantity_parse(text, &ignored, NULL)) ||
           api_pattern_matches(schema->pattern, text);
}

static void check_string(const struct api_schema *schema, const struct json *value,
                         const struct api_path *path, struct api_causes *causes)
{
    struct str text = value->text;
    if (schema->max_length.set && count_chars(text) > schema->max_length.value)
        api_cause_add(causes, API_CAUSE_TOO_LONG, path, "Too long: may not be more than %lld bytes",
                      (long long)schema->max_length.value);
    if (schema->min_length.set && count_chars(text) < schema->min_length.value)
        refuse(causes, path, value, "should be at least %lld chars long",
               (long long)schema->min_length.value);
    if (schema->pattern.len > 0 && !matches_pattern(schema, text))
        refuse(causes, path, value, "should match '" STR_FMT "'", STR_ARG(schema->pattern));
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_eq(formats[i].name, schema->format) && !formats[i].valid(text))
            refuse(causes, path, value, "must be of type " STR_FMT ": \"" STR_FMT "\"",
                   STR_ARG(schema->format), STR_ARG(text));
}

/* ---- containers ---- */

static bool is_duplicate(const struct json *array, size_t index, const struct api_schema *schema)
{
    const struct json *item = array->array.items[index];
    for (size_t i = 0; i < index; i++) {
        const struct json *other = array->array.items[i];
        bool same = schema->list_key_count > 0;
        for (size_t k = 0; k < schema->list_key_count; k++)
            same = same &&
                   json_equal(json_get(item, schema->list_keys[k]), json_get(other, schema->list_keys[k]));
        if (same || ((schema->list_set || schema->unique_items) && json_equal(item, other)))
            return true;
    }
    return false;
}

static void check_array(const struct api_schema *schema, const struct json *value,
                        const struct api_path *path, struct api_causes *causes)
{
    int64_t count = (int64_t)value->array.count;
    if (schema->max_items.set && count > schema->max_items.value)
        api_cause_add(causes, API_CAUSE_TOO_MANY, path, "Too many: %lld: must have at most %lld items",
                      (long long)count, (long long)schema->max_items.value);
    if (schema->min_items.set && count < schema->min_items.value)
        refuse(causes, path, json_new_i64(causes->arena, count), "should have at least %lld items",
               (long long)schema->min_items.value);
    bool unique = schema->list_key_count > 0 || schema->list_set || schema->unique_items;
    for (size_t i = 0; i < value->array.count; i++) {
        struct api_path below = API_INDEX(path, i);
        if (unique && is_duplicate(value, i, schema))
            api_cause_add(causes, API_CAUSE_DUPLICATE, &below, "Duplicate value: " STR_FMT,
                          STR_ARG(api_text(causes->arena, value->array.items[i], 256)));
        if (schema->items)
            validate(schema->items, value->array.items[i], &below, causes);
    }
}

static void check_object(const struct api_schema *schema, const struct json *value,
                         const struct api_path *path, struct api_causes *causes)
{
    int64_t count = (int64_t)value->object.count;
    for (size_t i = 0; i < schema->required_count; i++) {
        struct api_path below = API_FIELD(path, schema->required[i]);
        if (!json_get(value, schema->required[i]))
            api_cause_required(causes, &below);
    }
    if (schema->max_properties.set && count > schema->max_properties.value)
        api_cause_add(causes, API_CAUSE_TOO_MANY, path, "Too many: %lld: must have at most %lld items",
                      (long long)count, (long long)schema->max_properties.value);
    if (schema->min_properties.set && count < schema->min_properties.value)
        refuse(causes, path, value, "should have at least %lld properties",
               (long long)schema->min_properties.value);
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        const struct api_schema *below_schema = api_schema_property(schema, member->key);
        struct api_path below = API_FIELD(path, member->key);
        if (!below_schema)
            below_schema = schema->values;
        if (below_schema && (path || !str_eq(member->key, STR("metadata"))))
            validate(below_schema, member->value, &below, causes);
    }
}

/* ---- one value ---- */

static bool type_fits(enum api_schema_type type, const struct json *value)
{
    switch (type) {
    case API_SCHEMA_ANY:
        return true;
    case API_SCHEMA_OBJECT:
        return json_is(value, JSON_OBJECT);
    case API_SCHEMA_ARRAY:
        return json_is(value, JSON_ARRAY);
    case API_SCHEMA_STRING:
        return json_is(value, JSON_STRING);
    case API_SCHEMA_INTEGER:
        return is_integer(value);
    case API_SCHEMA_NUMBER:
        return json_is(value, JSON_NUMBER);
    case API_SCHEMA_BOOLEAN:
        return json_is(value, JSON_BOOL);
    case API_SCHEMA_INT_OR_STRING:
        return json_is(value, JSON_STRING) || is_integer(value);
    }
    return false;
}

static void add_type_cause(const struct api_schema *schema, const struct json *value,
                           const struct api_path *path, struct api_causes *causes)
{
    const char *got = is_integer(value)           ? "integer"
                      : json_is(value, JSON_BOOL) ? "boolean"
                                                  : json_type_name(value->type);
    struct str want =
        schema->type == API_SCHEMA_INT_OR_STRING ? STR("integer,string") : api_get_str(schema->raw, "type");
    struct str place = where(causes, path);
    api_cause_add(causes, API_CAUSE_TYPE_INVALID, path,
                  "Invalid value: \"%s\": " STR_FMT " in body must be of type " STR_FMT ": \"%s\"", got,
                  STR_ARG(place), STR_ARG(want), got);
}

static void check_enum(const struct api_schema *schema, const struct json *value, const struct api_path *path,
                       struct api_causes *causes)
{
    size_t count = schema->enum_values->array.count;
    for (size_t i = 0; i < count; i++)
        if (json_equal(schema->enum_values->array.items[i], value))
            return;
    struct str *supported = arena_array(causes->arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        const struct json *item = schema->enum_values->array.items[i];
        supported[i] = json_is(item, JSON_STRING) ? item->text : api_text(causes->arena, item, 128);
    }
    struct str shown = json_is(value, JSON_STRING) ? value->text : api_text(causes->arena, value, 128);
    api_cause_unsupported(causes, path, shown, supported, count);
}

static size_t count_matches(const struct api_schemas *schemas, const struct json *value,
                            const struct api_path *path, struct arena *arena)
{
    size_t matches = 0;
    for (size_t i = 0; i < schemas->count; i++) {
        struct api_causes causes = API_CAUSES_INIT(arena);
        validate(schemas->items[i], value, path, &causes);
        matches += causes.count == 0;
    }
    return matches;
}

static void check_combinations(const struct api_schema *schema, const struct json *value,
                               const struct api_path *path, struct api_causes *causes)
{
    for (size_t i = 0; i < schema->all_of.count; i++)
        validate(schema->all_of.items[i], value, path, causes);
    if (schema->any_of.count > 0 && count_matches(&schema->any_of, value, path, causes->arena) == 0)
        refuse(causes, path, value, "must validate at least one schema (anyOf)");
    if (schema->one_of.count > 0 && count_matches(&schema->one_of, value, path, causes->arena) != 1)
        refuse(causes, path, value, "must validate one and only one schema (oneOf)");
    const struct api_schemas refused = { .items = (const struct api_schema *[]){ schema->not_schema },
                                         .count = 1 };
    if (schema->not_schema && count_matches(&refused, value, path, causes->arena) > 0)
        refuse(causes, path, value, "must not validate the schema (not)");
}

static void validate(const struct api_schema *schema, const struct json *value, const struct api_path *path,
                     struct api_causes *causes)
{
    if (json_is(value, JSON_NULL) && (schema->nullable || schema->type == API_SCHEMA_ANY))
        return;
    if (!type_fits(schema->type, value)) {
        add_type_cause(schema, value, path, causes);
        return;
    }
    if (schema->enum_values)
        check_enum(schema, value, path, causes);
    check_combinations(schema, value, path, causes);
    if (json_is(value, JSON_NUMBER)) {
        check_bounds(schema, value, path, causes);
        check_number_format(schema, value, path, causes);
    } else if (json_is(value, JSON_STRING)) {
        check_string(schema, value, path, causes);
    } else if (json_is(value, JSON_ARRAY)) {
        check_array(schema, value, path, causes);
    } else if (json_is(value, JSON_OBJECT)) {
        check_object(schema, value, path, causes);
    }
}

void api_schema_validate(const struct api_schema *schema, const struct json *value, struct api_causes *causes)
{
    validate(schema, value, NULL, causes);
}
