#include "json/json.h"
#include "json/keys.h"
#include <stdarg.h>
#include <stdlib.h>

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = { "null", "bool", "number", "string", "array", "object" };
    return names[type];
}

bool json_is(const struct json *value, enum json_type type)
{
    return value && value->type == type;
}

static const struct json *find(const struct json *object, struct str key,
                               bool (*same)(struct str, struct str))
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    for (size_t i = object->object.count; i-- > 0;) {
        if (same(object->object.members[i].key, key))
            return object->object.members[i].value;
    }
    return NULL;
}

const struct json *json_get(const struct json *object, struct str key)
{
    return find(object, key, str_eq);
}

const struct json *json_get_nocase(const struct json *object, struct str key)
{
    const struct json *exact = find(object, key, str_eq);
    return exact ? exact : find(object, key, str_eq_nocase);
}

const struct json *json_path(const struct json *root, ...)
{
    va_list names;
    va_start(names, root);
    for (const char *name; root && (name = va_arg(names, const char *)) != NULL;)
        root = json_get(root, str_c(name));
    va_end(names);
    return root;
}

struct str json_str(const struct json *value)
{
    return json_is(value, JSON_STRING) ? value->text : STR_NULL;
}

bool json_i64(const struct json *value, int64_t *ret)
{
    return json_is(value, JSON_NUMBER) && str_to_i64(value->text, ret);
}

bool json_bool(const struct json *value)
{
    return json_is(value, JSON_BOOL) && value->boolean;
}

size_t json_count(const struct json *value)
{
    if (json_is(value, JSON_ARRAY))
        return value->array.count;
    return json_is(value, JSON_OBJECT) ? value->object.count : 0;
}

/* --- equality --- */

static bool equal_arrays(const struct json *a, const struct json *b)
{
    if (a->array.count != b->array.count)
        return false;
    for (size_t i = 0; i < a->array.count; i++) {
        if (!json_equal(a->array.items[i], b->array.items[i]))
            return false;
    }
    return true;
}

static bool equal_values(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < a->object.count; i++) {
        if (!json_equal(a->object.members[i].value, b->object.members[i].value))
            return false;
    }
    return true;
}

static bool same_keys_in_order(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < a->object.count; i++) {
        if (!str_eq(a->object.members[i].key, b->object.members[i].key))
            return false;
    }
    return true;
}

static const struct json_member *member_of(const struct str *key)
{
    _Static_assert(offsetof(struct json_member, key) == 0, "keys.h wants the key first");
    return (const struct json_member *)(const void *)key;
}

static bool equal_sorted(const struct json *a, const struct json *b)
{
    size_t count = a->object.count;
    const struct str **left = json_keys_sorted(a->object.members, count, sizeof(struct json_member));
    const struct str **right = json_keys_sorted(b->object.members, count, sizeof(struct json_member));
    bool equal = true;
    for (size_t i = 0; i < count && equal; i++)
        equal =
            str_eq(*left[i], *right[i]) && json_equal(member_of(left[i])->value, member_of(right[i])->value);
    free(left);
    free(right);
    return equal;
}

static bool equal_objects(const struct json *a, const struct json *b)
{
    if (a->object.count != b->object.count)
        return false;
    /* Objects from one writer come in one order; only others are worth sorting. */
    return same_keys_in_order(a, b) ? equal_values(a, b) : equal_sorted(a, b);
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_NUMBER:
    case JSON_STRING:
        return str_eq(a->text, b->text);
    case JSON_ARRAY:
        return equal_arrays(a, b);
    case JSON_OBJECT:
        return equal_objects(a, b);
    }
    return false;
}
