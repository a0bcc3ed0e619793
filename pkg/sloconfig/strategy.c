/* Strategies from JSON, the way Go's decoder would read them into a struct of pointers. */
#include "base/duration.h"
#include "sloconfig/colocation.h"

/* Where decoding stands, for the error that ends it. */
struct reader {
    struct arena *arena;
    struct str path;
    const struct json *bad;
    struct err *err;
};

static bool refuse(struct reader *reader, struct str path, const struct json *value, const char *wanted)
{
    reader->path = path;
    reader->bad = value;
    return err_set(reader->err, ERR_INVALID, "must be %s, not %s", wanted, json_type_name(value->type));
}

static bool read_i64(struct reader *reader, struct str path, const struct json *value, struct opt_i64 *ret)
{
    if (!json_is(value, JSON_NUMBER))
        return refuse(reader, path, value, "an integer");
    ret->set = json_i64(value, &ret->value);
    if (ret->set)
        return true;
    reader->path = path;
    reader->bad = value;
    return err_set(reader->err, ERR_INVALID, "must be written as a plain 64-bit integer");
}

static bool read_decimal(struct reader *reader, struct str path, const struct json *value,
                         struct opt_decimal *ret)
{
    if (!json_is(value, JSON_NUMBER))
        return refuse(reader, path, value, "a number");
    ret->text = value->text;
    ret->set = quantity_parse(value->text, &ret->value, reader->err);
    if (ret->set)
        return true;
    reader->path = path;
    reader->bad = value;
    return false;
}

static bool read_duration(struct reader *reader, struct str path, const struct json *value, struct json *list)
{
    int64_t ns = 0;
    if (!json_is(value, JSON_STRING))
        return refuse(reader, path, value, "a duration string");
    if (!duration_parse(json_str(value), &ns, reader->err)) {
        reader->path = path;
        reader->bad = value;
        return false;
    }
    CLEANUP(strbuf_done) struct strbuf canonical = STRBUF_INIT(64);
    duration_format(&canonical, ns);
    json_push(reader->arena, list, json_new_str(reader->arena, strbuf_str(&canonical)));
    return true;
}

static bool read_durations(struct reader *reader, struct str path, const struct json *value,
                           const struct json **ret)
{
    if (!json_is(value, JSON_ARRAY))
        return refuse(reader, path, value, "an array of durations");
    struct json *list = json_new(reader->arena, JSON_ARRAY);
    for (size_t i = 0; i < value->array.count; i++) {
        struct str at = arena_strf(reader->arena, STR_FMT "[%zu]", STR_ARG(path), i);
        if (!read_duration(reader, at, value->array.items[i], list))
            return false;
    }
    *ret = list;
    return true;
}

static bool read_map(struct reader *reader, struct str path, const struct json *value,
                     const struct json **ret)
{
    if (!json_is(value, JSON_OBJECT))
        return refuse(reader, path, value, "an object");
    if (json_count(value) > COLOCATION_MAX_EXTENSIONS) {
        reader->path = path;
        reader->bad = value;
        return err_set(reader->err, ERR_INVALID, "has %zu keys; at most %d are kept", json_count(value),
                       COLOCATION_MAX_EXTENSIONS);
    }
    *ret = value;
    return true;
}

static bool read_text(struct reader *reader, struct str path, const struct json *value, struct opt_str *ret)
{
    if (!json_is(value, JSON_STRING))
        return refuse(reader, path, value, "a string");
    *ret = (struct opt_str){ true, json_str(value) };
    return true;
}

static bool read_bool(struct reader *reader, struct str path, const struct json *value, struct opt_bool *ret)
{
    if (!json_is(value, JSON_BOOL))
        return refuse(reader, path, value, "true or false");
    *ret = (struct opt_bool){ true, value->boolean };
    return true;
}

static bool read_field(struct reader *reader, const struct strategy_field *field, const struct json *value,
                       struct strategy *ret)
{
    void *slot = (char *)ret + field->offset;
    struct str path = strategy_field_path(field, reader->arena);
    bool unset = json_is(value, JSON_NULL);
    switch (field->type) {
    case STRATEGY_BOOL:
        *(struct opt_bool *)slot = (struct opt_bool){ 0 };
        return unset || read_bool(reader, path, value, slot);
    case STRATEGY_I64:
        *(struct opt_i64 *)slot = (struct opt_i64){ 0 };
        return unset || read_i64(reader, path, value, slot);
    case STRATEGY_DECIMAL:
        *(struct opt_decimal *)slot = (struct opt_decimal){ 0 };
        return unset || read_decimal(reader, path, value, slot);
    case STRATEGY_TEXT:
        *(struct opt_str *)slot = (struct opt_str){ 0 };
        return unset || read_text(reader, path, value, slot);
    case STRATEGY_DURATIONS:
        *(const struct json **)slot = NULL;
        return unset || read_durations(reader, path, value, slot);
    case STRATEGY_MAP:
        *(const struct json **)slot = NULL;
        return unset || read_map(reader, path, value, slot);
    }
    return true;
}

static bool name_is(const char *name, struct str key)
{
    return str_eq_nocase(str_c(name), key);
}

/* The row for `key` inside `parent` (NULL: at the top), or NULL. */
static const struct strategy_field *find_field(const char *parent, struct str key)
{
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_field *field = &strategy_fields[i];
        bool here = parent ? field->parent && strcmp(field->parent, parent) == 0 : !field->parent;
        if (here && name_is(field->name, key))
            return field;
    }
    return NULL;
}

static const char *find_parent(struct str key)
{
    for (size_t i = 0; i < strategy_field_count; i++)
        if (strategy_fields[i].parent && name_is(strategy_fields[i].parent, key))
            return strategy_fields[i].parent;
    return NULL;
}

static bool read_members(struct reader *reader, const char *parent, const struct json *object,
                         struct strategy *ret)
{
    for (size_t i = 0; i < json_count(object); i++) {
        const struct strategy_field *field = find_field(parent, object->object.members[i].key);
        if (field && !read_field(reader, field, object->object.members[i].value, ret))
            return false;
    }
    return true;
}

static bool read_group(struct reader *reader, const char *parent, const struct json *value,
                       struct strategy *ret)
{
    bool unset = json_is(value, JSON_NULL);
    if (strcmp(parent, "nodePredictPolicy") == 0)
        ret->has_predict_policy = !unset;
    if (!unset && !json_is(value, JSON_OBJECT))
        return refuse(reader, str_c(parent), value, "an object");
    if (!unset)
        return read_members(reader, parent, value, ret);
    for (size_t i = 0; i < strategy_field_count; i++)
        if (strategy_fields[i].parent && strcmp(strategy_fields[i].parent, parent) == 0 &&
            !read_field(reader, &strategy_fields[i], value, ret))
            return false;
    return true;
}

static bool read_strategy(struct reader *reader, const struct json *object, struct strategy *ret)
{
    if (!json_is(object, JSON_OBJECT))
        return refuse(reader, STR_NULL, object, "an object");
    if (!read_members(reader, NULL, object, ret))
        return false;
    for (size_t i = 0; i < object->object.count; i++) {
        const char *parent = find_parent(object->object.members[i].key);
        if (parent && !read_group(reader, parent, object->object.members[i].value, ret))
            return false;
    }
    return true;
}

bool strategy_from_json(const struct json *object, struct arena *arena, struct strategy *ret,
                        struct str *path, const struct json **bad, struct err *err)
{
    struct reader reader = { .arena = arena, .err = err };
    struct strategy strategy = { 0 };
    if (read_strategy(&reader, object, &strategy)) {
        *ret = strategy;
        return true;
    }
    if (path)
        *path = reader.path;
    if (bad)
        *bad = reader.bad;
    return false;
}
