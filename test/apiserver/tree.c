#include "test/apiserver/tree.h"

struct json *api_object(struct arena *arena)
{
    return json_new(arena, JSON_OBJECT);
}

struct json *api_array(struct arena *arena)
{
    return json_new(arena, JSON_ARRAY);
}

void api_set(struct arena *arena, struct json *object, const char *key, const struct json *value)
{
    json_set(arena, object, str_c(key), value);
}

void api_set_str(struct arena *arena, struct json *object, const char *key, struct str value)
{
    api_set(arena, object, key, json_new_str(arena, value));
}

void api_set_c(struct arena *arena, struct json *object, const char *key, const char *value)
{
    api_set_str(arena, object, key, str_c(value));
}

void api_set_i64(struct arena *arena, struct json *object, const char *key, int64_t value)
{
    api_set(arena, object, key, json_new_i64(arena, value));
}

void api_set_bool(struct arena *arena, struct json *object, const char *key, bool value)
{
    api_set(arena, object, key, json_new_bool(arena, value));
}

void api_set_some(struct arena *arena, struct json *object, const char *key, struct str value)
{
    if (!str_empty(value))
        api_set_str(arena, object, key, value);
}

const struct json *api_get(const struct json *object, const char *key)
{
    return json_get(object, str_c(key));
}

struct str api_get_str(const struct json *object, const char *key)
{
    return json_str(api_get(object, key));
}

size_t api_list_count(const struct json *list)
{
    return json_is(list, JSON_ARRAY) ? json_count(list) : 0;
}

size_t api_map_count(const struct json *map)
{
    return json_is(map, JSON_OBJECT) ? json_count(map) : 0;
}

const struct json *api_with(struct arena *arena, const struct json *object, const char *key,
                            const struct json *value)
{
    struct json *copy = json_is(object, JSON_OBJECT) ? json_copy(arena, object) : api_object(arena);
    if (value)
        api_set(arena, copy, key, value);
    else
        json_remove(copy, str_c(key));
    return copy;
}

struct str api_lower(struct arena *arena, struct str text)
{
    char *out = arena_array(arena, char, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        bool upper = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z';
        out[i] = (char)(text.ptr[i] + (upper ? 'a' - 'A' : 0));
    }
    return (struct str){ .ptr = out, .len = text.len };
}

struct str api_text(struct arena *arena, const struct json *value, size_t max)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)16 * 1024 * 1024);
    json_write(&out, value);
    if (out.len <= max)
        return arena_str(arena, strbuf_str(&out));
    return arena_strf(arena, "%.*s...", (int)max, out.ptr);
}

void api_change_field(struct api_change *change, struct str key, const struct json *now,
                      const struct json *next)
{
    if (next == now)
        return;
    if (!change->copy)
        change->copy = json_copy(change->arena, change->object);
    if (next)
        json_set(change->arena, change->copy, key, next);
    else
        json_remove(change->copy, key);
}

const struct json *api_change_done(const struct api_change *change)
{
    return change->copy ? change->copy : change->object;
}
