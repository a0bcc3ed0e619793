#include "test/apiserver/jsonpath.h"

#define MAX_DEPTH 64

static const struct json *follow(struct arena *arena, const struct json *node, struct str path, size_t depth);

/* A name up to an unescaped '.' or '['. */
static struct str take_name(struct arena *arena, struct str *path)
{
    char *out = arena_array(arena, char, path->len + 1);
    size_t len = 0, i = 0;
    for (; i < path->len && path->ptr[i] != '.' && path->ptr[i] != '['; i++) {
        if (path->ptr[i] == '\\' && i + 1 < path->len)
            i++;
        out[len++] = path->ptr[i];
    }
    *path = str_slice(*path, i, path->len);
    return (struct str){ .ptr = out, .len = len };
}

static struct str unquote(struct str text)
{
    text = str_trim(text);
    bool quoted =
        text.len >= 2 && (text.ptr[0] == '\'' || text.ptr[0] == '"') && text.ptr[text.len - 1] == text.ptr[0];
    return quoted ? str_slice(text, 1, text.len - 2) : text;
}

/* The inside of "[...]"; quotes may hold a bracket. */
static bool take_brackets(struct str *path, struct str *ret)
{
    char quote = '\0';
    for (size_t i = 1; i < path->len; i++) {
        char byte = path->ptr[i];
        if (quote != '\0') {
            if (byte == quote)
                quote = '\0';
        } else if (byte == '\'' || byte == '"') {
            quote = byte;
        } else if (byte == ']') {
            *ret = str_slice(*path, 1, i - 1);
            *path = str_slice(*path, i + 1, path->len);
            return true;
        }
    }
    return false;
}

static bool text_equals(const struct json *value, struct str want)
{
    if (json_is(value, JSON_STRING) || json_is(value, JSON_NUMBER))
        return str_eq(value->text, want);
    if (json_is(value, JSON_BOOL))
        return str_eq(want, value->boolean ? STR("true") : STR("false"));
    return false;
}

/* ?(@.type=="Ready") */
static bool condition_holds(struct arena *arena, const struct json *item, struct str filter, size_t depth)
{
    struct str left, right;
    filter = str_trim(str_slice(filter, 1, filter.len));
    if (!str_starts_with(filter, STR("(@")) || !str_ends_with(filter, STR(")")))
        return false;
    filter = str_slice(filter, 2, filter.len - 3);
    if (!str_cut(filter, '=', &left, &right) || !str_starts_with(right, STR("=")))
        return false;
    const struct json *value = follow(arena, item, str_trim(left), depth + 1);
    return text_equals(value, unquote(str_slice(right, 1, right.len)));
}

static const struct json *follow_each(struct arena *arena, const struct json *list, struct str filter,
                                      struct str path, size_t depth)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->array.count; i++) {
        if (!str_eq(filter, STR("*")) && !condition_holds(arena, list->array.items[i], filter, depth))
            continue;
        const struct json *found = follow(arena, list->array.items[i], path, depth + 1);
        if (found)
            return found;
    }
    return NULL;
}

static const struct json *follow_brackets(struct arena *arena, const struct json *node, struct str path,
                                          size_t depth)
{
    struct str inside;
    int64_t index;
    if (!take_brackets(&path, &inside))
        return NULL;
    inside = str_trim(inside);
    if (str_eq(inside, STR("*")) || str_starts_with(inside, STR("?")))
        return follow_each(arena, node, inside, path, depth);
    if (str_to_i64(inside, &index)) {
        int64_t count = json_is(node, JSON_ARRAY) ? (int64_t)node->array.count : 0;
        index += index < 0 ? count : 0;
        return index >= 0 && index < count ? follow(arena, node->array.items[index], path, depth + 1) : NULL;
    }
    return follow(arena, json_get(node, unquote(inside)), path, depth + 1);
}

static const struct json *follow(struct arena *arena, const struct json *node, struct str path, size_t depth)
{
    if (!node || path.len == 0)
        return node;
    if (depth > MAX_DEPTH)
        return NULL;
    if (path.ptr[0] == '[')
        return follow_brackets(arena, node, path, depth);
    path = path.ptr[0] == '.' ? str_slice(path, 1, path.len) : path;
    if (path.len > 0 && path.ptr[0] == '[')
        return follow_brackets(arena, node, path, depth);
    struct str name = take_name(arena, &path);
    return follow(arena, name.len ? json_get(node, name) : node, path, depth + 1);
}

const struct json *api_jsonpath(struct arena *arena, const struct json *root, struct str path)
{
    if (str_starts_with(path, STR("{")) && str_ends_with(path, STR("}")))
        path = str_slice(path, 1, path.len - 2);
    if (str_starts_with(path, STR("$")))
        path = str_slice(path, 1, path.len);
    return follow(arena, root, path, 0);
}
