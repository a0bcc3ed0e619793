#include "test/apiserver/edit.h"

#include <stdlib.h>

const struct json *as_parse_own(struct arena *arena, struct str text)
{
    const struct json *tree = NULL;
    if (!json_parse(arena, text, &(struct json_limits){ .max_value_bytes = SIZE_MAX }, &tree, NULL))
        abort();
    return tree;
}

struct json *as_edit_with(struct arena *arena, const struct json *root, struct str key,
                          const struct json *value)
{
    struct json *copy = json_is(root, JSON_OBJECT) ? json_copy(arena, root) : json_new(arena, JSON_OBJECT);
    if (value)
        json_set(arena, copy, key, value);
    else
        json_remove(copy, key);
    return copy;
}

const struct json *as_edit_with2(struct arena *arena, const struct json *root, struct str parent,
                                 struct str key, const struct json *value)
{
    const struct json *inner = json_get(root, parent);
    if (!value && !json_get(inner, key))
        return root;
    return as_edit_with(arena, root, parent, as_edit_with(arena, inner, key, value));
}

const struct json *as_edit_meta(struct arena *arena, const struct json *root, struct str key,
                                const struct json *value)
{
    return as_edit_with2(arena, root, STR("metadata"), key, value);
}

struct str as_edit_meta_str(const struct json *root, const char *key)
{
    return json_str(json_path(root, "metadata", key, NULL));
}

static bool has_null(const struct json *value)
{
    if (json_is(value, JSON_OBJECT)) {
        for (size_t i = 0; i < value->object.count; i++) {
            const struct json *member = value->object.members[i].value;
            if (member->type == JSON_NULL || has_null(member))
                return true;
        }
    } else if (json_is(value, JSON_ARRAY)) {
        for (size_t i = 0; i < value->array.count; i++)
            if (has_null(value->array.items[i]))
                return true;
    }
    return false;
}

const struct json *as_edit_without_nulls(struct arena *arena, const struct json *value)
{
    if (!has_null(value))
        return value;
    struct json *copy = json_new(arena, value->type);
    if (value->type == JSON_ARRAY) {
        for (size_t i = 0; i < value->array.count; i++)
            json_push(arena, copy, as_edit_without_nulls(arena, value->array.items[i]));
        return copy;
    }
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        if (member->value->type != JSON_NULL)
            json_set(arena, copy, member->key, as_edit_without_nulls(arena, member->value));
    }
    return copy;
}
