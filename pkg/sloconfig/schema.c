#include "sloconfig/schema.h"
#include "sloconfig/crumb.h"

/* --- reading --------------------------------------------------------------------- */

struct reader {
    struct arena *arena;
    struct schema_fault *fault;
};

static bool read_object(struct reader *reader, const struct schema *schema, const struct crumb *at,
                        const struct json *value, const struct json **ret);

static bool refuse(struct reader *reader, const struct crumb *at, const struct json *value,
                   const char *wanted)
{
    reader->fault->path = crumb_text(at, reader->arena);
    reader->fault->bad = value;
    return err_set(&reader->fault->err, ERR_INVALID, "must be %s, not %s", wanted,
                   json_type_name(value->type));
}

static bool fits_int(const struct json *value, bool is_int32)
{
    int64_t number = 0;
    return json_i64(value, &number) && (!is_int32 || (number >= INT32_MIN && number <= INT32_MAX));
}

static bool read_int(struct reader *reader, const struct crumb *at, const struct json *value, bool is_int32)
{
    if (!json_is(value, JSON_NUMBER))
        return refuse(reader, at, value, "an integer");
    if (fits_int(value, is_int32))
        return true;
    reader->fault->path = crumb_text(at, reader->arena);
    reader->fault->bad = value;
    return err_set(&reader->fault->err, ERR_INVALID, "must be written as a plain %d-bit integer",
                   is_int32 ? 32 : 64);
}

static bool to_quantity(const struct json *value, struct quantity *ret, struct err *err)
{
    struct json_event event = { .type = json_is(value, JSON_STRING) ? JSON_EV_STRING : JSON_EV_NUMBER,
                                .text = value->text };
    return quantity_from_event(&event, ret, err);
}

static bool read_quantity(struct reader *reader, const struct crumb *at, const struct json *value,
                          const struct json **ret)
{
    struct quantity quantity;
    if (!json_is(value, JSON_STRING) && !json_is(value, JSON_NUMBER))
        return refuse(reader, at, value, "a quantity");
    if (!to_quantity(value, &quantity, &reader->fault->err)) {
        reader->fault->path = crumb_text(at, reader->arena);
        reader->fault->bad = value;
        return false;
    }
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    quantity_write(&text, quantity);
    *ret = json_new_str(reader->arena, strbuf_str(&text));
    return true;
}

static bool read_bools(struct reader *reader, const struct crumb *at, const struct json *value,
                       const struct json **ret)
{
    if (!json_is(value, JSON_OBJECT))
        return refuse(reader, at, value, "an object");
    if (json_count(value) > SCHEMA_MAX_MAP) {
        reader->fault->path = crumb_text(at, reader->arena);
        reader->fault->bad = value;
        return err_set(&reader->fault->err, ERR_INVALID, "has %zu keys; at most %d are kept",
                       json_count(value), SCHEMA_MAX_MAP);
    }
    struct json *map = json_new(reader->arena, JSON_OBJECT);
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct crumb here = { .up = at, .kind = CRUMB_KEY, .name = member->key };
        bool null = json_is(member->value, JSON_NULL);
        if (!null && !json_is(member->value, JSON_BOOL))
            return refuse(reader, &here, member->value, "true or false");
        json_set(reader->arena, map, member->key, null ? json_new_bool(reader->arena, false) : member->value);
    }
    *ret = map;
    return true;
}

static bool read_list(struct reader *reader, const struct schema *schema, const struct crumb *at,
                      const struct json *value, const struct json **ret)
{
    if (!json_is(value, JSON_ARRAY))
        return refuse(reader, at, value, "an array");
    struct json *list = json_new(reader->arena, JSON_ARRAY);
    for (size_t i = 0; i < value->array.count; i++) {
        const struct json *item = value->array.items[i];
        if (json_is(item, JSON_NULL))
            continue;
        struct crumb here = { .up = at, .kind = CRUMB_INDEX, .index = i };
        if (!read_object(reader, schema, &here, item, &item))
            return false;
        json_push(reader->arena, list, item);
    }
    *ret = list;
    return true;
}

/* One value that is not null. */
static bool read_value(struct reader *reader, const struct schema_field *field, const struct crumb *at,
                       const struct json *value, const struct json **ret)
{
    *ret = value;
    switch (field->type) {
    case SCHEMA_BOOL:
        return json_is(value, JSON_BOOL) || refuse(reader, at, value, "true or false");
    case SCHEMA_INT:
        return read_int(reader, at, value, field->is_int32);
    case SCHEMA_TEXT:
        return json_is(value, JSON_STRING) || refuse(reader, at, value, "a string");
    case SCHEMA_QUANTITY:
        return read_quantity(reader, at, value, ret);
    case SCHEMA_SHARE:
        return json_is(value, JSON_STRING) || read_int(reader, at, value, true);
    case SCHEMA_BOOLS:
        return read_bools(reader, at, value, ret);
    case SCHEMA_OBJECT:
        return read_object(reader, field->object, at, value, ret);
    case SCHEMA_LIST:
        return read_list(reader, field->object, at, value, ret);
    }
    return false;
}

/* Every spelling of the name in the order of the text, as Go would assign them: the last
 * one wins, but objects add up. */
static bool read_field(struct reader *reader, const struct schema_field *field, const struct crumb *at,
                       const struct json *object, const struct json **ret)
{
    *ret = NULL;
    for (size_t i = 0; i < object->object.count; i++) {
        const struct json_member *member = &object->object.members[i];
        const struct json *value = NULL;
        if (!str_eq_nocase(member->key, str_c(field->name)))
            continue;
        if (!json_is(member->value, JSON_NULL) && !read_value(reader, field, at, member->value, &value))
            return false;
        if (field->type == SCHEMA_TEXT && !field->empty_counts && str_empty(json_str(value)))
            value = NULL;
        bool adds = value && *ret && (field->type == SCHEMA_OBJECT || field->type == SCHEMA_BOOLS);
        *ret = adds ? schema_merge(*ret, value, reader->arena) : value;
    }
    return true;
}

static bool read_object(struct reader *reader, const struct schema *schema, const struct crumb *at,
                        const struct json *value, const struct json **ret)
{
    if (!json_is(value, JSON_OBJECT))
        return refuse(reader, at, value, "an object");
    struct json *object = json_new(reader->arena, JSON_OBJECT);
    for (size_t i = 0; i < schema->count && value->object.count > 0; i++) {
        const struct schema_field *field = &schema->fields[i];
        const struct json *read = NULL;
        struct crumb here = { .up = at, .name = str_c(field->name) };
        if (!read_field(reader, field, &here, value, &read))
            return false;
        if (read)
            json_set(reader->arena, object, str_c(field->name), read);
    }
    *ret = object;
    return true;
}

bool schema_read(const struct schema *schema, const struct json *object, struct arena *arena,
                 const struct json **ret, struct schema_fault *fault)
{
    *fault = (struct schema_fault){ 0 };
    struct reader reader = { arena, fault };
    return read_object(&reader, schema, NULL, object, ret);
}

/* What was read holds no null, so merging is what a merge patch does. */
const struct json *schema_merge(const struct json *base, const struct json *over, struct arena *arena)
{
    return json_merge_patch(arena, base, over);
}

/* --- difference ------------------------------------------------------------------ */

static bool same_quantity(const struct json *a, const struct json *b)
{
    struct quantity x, y;
    bool scalars = (json_is(a, JSON_STRING) || json_is(a, JSON_NUMBER)) &&
                   (json_is(b, JSON_STRING) || json_is(b, JSON_NUMBER));
    return scalars && to_quantity(a, &x, NULL) && to_quantity(b, &y, NULL) && quantity_cmp(x, y) == 0;
}

static const struct json *diff_bools(const struct json *have, const struct json *want, struct arena *arena)
{
    if (!json_is(have, JSON_OBJECT))
        return want;
    struct json *patch = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < want->object.count; i++) {
        const struct json_member *member = &want->object.members[i];
        if (!json_equal(json_get(have, member->key), member->value))
            json_set(arena, patch, member->key, member->value);
    }
    for (size_t i = 0; i < have->object.count; i++)
        if (!json_get(want, have->object.members[i].key))
            json_set(arena, patch, have->object.members[i].key, json_new(arena, JSON_NULL));
    return json_count(patch) ? patch : NULL;
}

static bool same_list(const struct schema *schema, const struct json *have, const struct json *want,
                      struct arena *arena)
{
    if (!json_is(have, JSON_ARRAY) || json_count(have) != json_count(want))
        return false;
    for (size_t i = 0; i < want->array.count; i++)
        if (schema_diff(schema, have->array.items[i], want->array.items[i], arena))
            return false;
    return true;
}

static bool is_none(const struct json *value)
{
    return !value || json_is(value, JSON_NULL) || (json_is(value, JSON_ARRAY) && json_count(value) == 0);
}

static bool put_by_server(const struct schema_field *field, const struct json *have, struct arena *arena)
{
    const struct json *value = NULL;
    return field->server_default && json_parse(arena, str_c(field->server_default), NULL, &value, NULL) &&
           json_equal(value, have);
}

/* What to put under the field's name; NULL: nothing. */
static const struct json *diff_field(const struct schema_field *field, const struct json *have,
                                     const struct json *want, struct arena *arena)
{
    if (is_none(want))
        return is_none(have) || put_by_server(field, have, arena) ? NULL : json_new(arena, JSON_NULL);
    if (is_none(have))
        return want;
    switch (field->type) {
    case SCHEMA_OBJECT:
        return schema_diff(field->object, have, want, arena);
    case SCHEMA_BOOLS:
        return diff_bools(have, want, arena);
    case SCHEMA_LIST:
        return same_list(field->object, have, want, arena) ? NULL : want;
    case SCHEMA_QUANTITY:
        return same_quantity(have, want) ? NULL : want;
    case SCHEMA_BOOL:
    case SCHEMA_INT:
    case SCHEMA_TEXT:
    case SCHEMA_SHARE:
        break;
    }
    return json_equal(have, want) ? NULL : want;
}

const struct json *schema_diff(const struct schema *schema, const struct json *have, const struct json *want,
                               struct arena *arena)
{
    if (!json_is(have, JSON_OBJECT))
        return want;
    struct json *patch = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        struct str name = str_c(field->name);
        const struct json *change = diff_field(field, json_get(have, name), json_get(want, name), arena);
        if (change)
            json_set(arena, patch, name, change);
    }
    return json_count(patch) ? patch : NULL;
}
