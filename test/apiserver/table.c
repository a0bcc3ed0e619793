#include "test/apiserver/table.h"
#include "base/rfc3339.h"
#include "test/apiserver/accept.h"
#include "test/apiserver/jsonpath.h"
#include "test/apiserver/table_columns.h"
#include "test/apiserver/tree.h"

bool api_table_wanted(struct str accept)
{
    struct api_media_range range;
    while (api_media_next(&accept, &range)) {
        bool json = str_eq_nocase(range.type, STR("application/json"));
        if (json && str_eq(range.as, STR("Table")) && str_eq(range.group, STR("meta.k8s.io")) &&
            str_eq(range.version, STR("v1")))
            return true;
        if (json && str_empty(range.as))
            return false;
    }
    return false;
}

bool api_table_include_parse(struct str text, enum api_include_object *ret)
{
    static const struct {
        struct str name;
        enum api_include_object include;
    } names[] = {
        { STR_INIT(""), API_INCLUDE_METADATA },
        { STR_INIT("Metadata"), API_INCLUDE_METADATA },
        { STR_INIT("None"), API_INCLUDE_NONE },
        { STR_INIT("Object"), API_INCLUDE_OBJECT },
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i].name, text)) {
            *ret = names[i].include;
            return true;
        }
    return false;
}

/* ---- ages ---- */

#define MINUTE_S INT64_C(60)
#define HOUR_S (60 * MINUTE_S)
#define DAY_S (24 * HOUR_S)
#define YEAR_S (365 * DAY_S)

/* Up to `below_s` an age is shown in `unit_s`, with a second unit when it has one. */
static const struct {
    int64_t below_s, unit_s, rest_s;
    char unit, rest;
} age_steps[] = {
    { 2 * MINUTE_S, 1, 0, 's', 0 },      { 10 * MINUTE_S, MINUTE_S, 1, 'm', 's' },
    { 3 * HOUR_S, MINUTE_S, 0, 'm', 0 }, { 8 * HOUR_S, HOUR_S, MINUTE_S, 'h', 'm' },
    { 2 * DAY_S, HOUR_S, 0, 'h', 0 },    { 8 * DAY_S, DAY_S, HOUR_S, 'd', 'h' },
    { 2 * YEAR_S, DAY_S, 0, 'd', 0 },    { 8 * YEAR_S, YEAR_S, DAY_S, 'y', 'd' },
    { INT64_MAX, YEAR_S, 0, 'y', 0 },
};

struct str api_age(struct arena *arena, struct wall_time then, struct wall_time now)
{
    int64_t age_s = (now.us - then.us) / US_PER_S;
    if (age_s < -1)
        return STR("<invalid>");
    age_s = max_i64(age_s, 0);
    size_t i = 0;
    while (age_s >= age_steps[i].below_s)
        i++;
    int64_t rest = age_steps[i].rest_s ? age_s % age_steps[i].unit_s / age_steps[i].rest_s : 0;
    if (rest > 0)
        return arena_strf(arena, "%lld%c%lld%c", (long long)(age_s / age_steps[i].unit_s), age_steps[i].unit,
                          (long long)rest, age_steps[i].rest);
    return arena_strf(arena, "%lld%c", (long long)(age_s / age_steps[i].unit_s), age_steps[i].unit);
}

const struct json *api_age_cell(const struct api_cell_input *in, const struct json *time)
{
    struct wall_time then;
    if (!rfc3339_parse(json_str(time), &then, NULL))
        return json_new_str(in->arena, STR("<unknown>"));
    return json_new_str(in->arena, api_age(in->arena, then, in->now));
}

/* ---- custom resources ---- */

static const struct json *custom_cell(const struct api_cell_input *in, const struct api_column *column)
{
    const struct json *value = api_jsonpath(in->arena, in->object, column->path);
    int64_t ignored;
    if (!value || json_is(value, JSON_NULL))
        return json_new(in->arena, JSON_NULL);
    if (str_eq(column->type, STR("date")))
        return api_age_cell(in, value);
    bool fits = str_eq(column->type, STR("integer"))   ? json_i64(value, &ignored)
                : str_eq(column->type, STR("number"))  ? json_is(value, JSON_NUMBER)
                : str_eq(column->type, STR("boolean")) ? json_is(value, JSON_BOOL)
                                                       : json_is(value, JSON_STRING);
    if (fits)
        return value;
    if (!str_eq(column->type, STR("string")))
        return json_new(in->arena, JSON_NULL);
    return json_new_str(in->arena, api_text(in->arena, value, 1024));
}

/* ---- the table ---- */

static void push_definition(struct arena *arena, struct json *list, struct str name, struct str type,
                            struct str format, struct str description, int64_t priority)
{
    struct json *column = api_object(arena);
    api_set_str(arena, column, "name", name);
    api_set_str(arena, column, "type", type);
    api_set_str(arena, column, "format", format);
    api_set_str(arena, column, "description", description);
    api_set_i64(arena, column, "priority", priority);
    json_push(arena, list, column);
}

static const struct json *definitions(struct arena *arena, const struct api_resource *resource)
{
    struct json *list = api_array(arena);
    if (resource->column_count > 0) {
        push_definition(arena, list, STR("Name"), STR("string"), STR("name"), STR("Name of the object."), 0);
        for (size_t i = 0; i < resource->column_count; i++) {
            const struct api_column *column = &resource->columns[i];
            push_definition(arena, list, column->name, column->type, column->format, column->description,
                            column->priority);
        }
        return list;
    }
    size_t count;
    const struct api_table_column *columns = api_table_columns(resource, &count);
    for (size_t i = 0; i < count; i++)
        push_definition(arena, list, str_c(columns[i].name), str_c(columns[i].type), str_c(columns[i].format),
                        str_c(columns[i].name), columns[i].priority);
    return list;
}

static const struct json *cells(const struct api_cell_input *in, const struct api_resource *resource)
{
    struct json *list = api_array(in->arena);
    if (resource->column_count > 0) {
        json_push(in->arena, list,
                  json_new_str(in->arena, api_get_str(api_get(in->object, "metadata"), "name")));
        for (size_t i = 0; i < resource->column_count; i++)
            json_push(in->arena, list, custom_cell(in, &resource->columns[i]));
        return list;
    }
    size_t count;
    const struct api_table_column *columns = api_table_columns(resource, &count);
    for (size_t i = 0; i < count; i++)
        json_push(in->arena, list, columns[i].cell(in));
    return list;
}

static const struct json *row_object(struct arena *arena, const struct json *object,
                                     enum api_include_object include)
{
    if (include == API_INCLUDE_OBJECT)
        return object;
    struct json *partial = api_object(arena);
    const struct json *metadata = api_get(object, "metadata");
    api_set_c(arena, partial, "kind", "PartialObjectMetadata");
    api_set_c(arena, partial, "apiVersion", "meta.k8s.io/v1");
    api_set(arena, partial, "metadata", metadata ? metadata : api_object(arena));
    return partial;
}

const struct json *api_table(struct arena *arena, const struct api_resource *resource,
                             const struct json *const *objects, size_t count,
                             const struct api_table_options *options)
{
    struct json *root = api_object(arena), *rows = api_array(arena);
    for (size_t i = 0; i < count; i++) {
        struct api_cell_input in = { .arena = arena, .now = options->now, .object = objects[i] };
        struct json *row = api_object(arena);
        api_set(arena, row, "cells", cells(&in, resource));
        if (options->include != API_INCLUDE_NONE)
            api_set(arena, row, "object", row_object(arena, objects[i], options->include));
        json_push(arena, rows, row);
    }
    api_set_c(arena, root, "kind", "Table");
    api_set_c(arena, root, "apiVersion", "meta.k8s.io/v1");
    api_set(arena, root, "metadata", options->list_metadata ? options->list_metadata : api_object(arena));
    api_set(arena, root, "columnDefinitions",
            options->no_columns ? api_array(arena) : definitions(arena, resource));
    api_set(arena, root, "rows", rows);
    return root;
}
