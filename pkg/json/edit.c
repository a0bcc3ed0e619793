/* Trees under construction. Their arrays have room for a power of two of entries, so a
 * count tells when to grow; finished trees, which have their exact size, are const. */
#include "json/json.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define FIRST_ROOM 4

static size_t room_for(size_t count)
{
    size_t room = FIRST_ROOM;
    while (room < count)
        room *= 2;
    return room;
}

/* Room for one entry more than `count`. */
static void *one_more(struct arena *arena, void *entries, size_t count, size_t size)
{
    if (count == 0)
        return arena_alloc(arena, FIRST_ROOM * size);
    if (room_for(count) > count)
        return entries;
    return arena_grow(arena, entries, count * size, 2 * count * size);
}

struct json *json_new(struct arena *arena, enum json_type type)
{
    struct json *value = arena_new(arena, struct json);
    value->type = type;
    return value;
}

struct json *json_new_str(struct arena *arena, struct str text)
{
    struct json *value = json_new(arena, JSON_STRING);
    value->text = arena_str(arena, text);
    return value;
}

struct json *json_new_number(struct arena *arena, struct str text)
{
    assert(text.len > 0 && (text.ptr[0] == '-' || (text.ptr[0] >= '0' && text.ptr[0] <= '9')));
    struct json *value = json_new(arena, JSON_NUMBER);
    value->text = arena_str(arena, text);
    return value;
}

struct json *json_new_i64(struct arena *arena, int64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, number);
    return json_new_number(arena, (struct str){ digits, (size_t)len });
}

struct json *json_new_bool(struct arena *arena, bool boolean)
{
    struct json *value = json_new(arena, JSON_BOOL);
    value->boolean = boolean;
    return value;
}

void json_set(struct arena *arena, struct json *object, struct str key, const struct json *value)
{
    assert(object->type == JSON_OBJECT);
    for (size_t i = 0; i < object->object.count; i++) {
        if (str_eq(object->object.members[i].key, key)) {
            object->object.members[i].value = value;
            return;
        }
    }
    size_t count = object->object.count;
    object->object.members = one_more(arena, object->object.members, count, sizeof(struct json_member));
    object->object.members[count] = (struct json_member){ .key = arena_str(arena, key), .value = value };
    object->object.count = count + 1;
}

void json_remove(struct json *object, struct str key)
{
    assert(object->type == JSON_OBJECT);
    struct json_member *members = object->object.members;
    size_t kept = 0;
    for (size_t i = 0; i < object->object.count; i++) {
        if (!str_eq(members[i].key, key))
            members[kept++] = members[i];
    }
    object->object.count = kept;
}

void json_push(struct arena *arena, struct json *array, const struct json *value)
{
    assert(array->type == JSON_ARRAY);
    size_t count = array->array.count;
    array->array.items = one_more(arena, array->array.items, count, sizeof *array->array.items);
    array->array.items[count] = value;
    array->array.count = count + 1;
}

struct json *json_copy(struct arena *arena, const struct json *value)
{
    struct json *copy = arena_new(arena, struct json);
    *copy = *value;
    if (json_is(value, JSON_OBJECT) && value->object.count > 0) {
        size_t count = value->object.count;
        copy->object.members = arena_array(arena, struct json_member, room_for(count));
        memcpy(copy->object.members, value->object.members, count * sizeof(struct json_member));
    } else if (json_is(value, JSON_ARRAY) && value->array.count > 0) {
        size_t count = value->array.count;
        copy->array.items = arena_array(arena, const struct json *, room_for(count));
        memcpy(copy->array.items, value->array.items, count * sizeof *copy->array.items);
    }
    return copy;
}

const struct json *json_merge_patch(struct arena *arena, const struct json *target, const struct json *patch)
{
    if (!json_is(patch, JSON_OBJECT))
        return patch;
    struct json *merged =
        json_is(target, JSON_OBJECT) ? json_copy(arena, target) : json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < patch->object.count; i++) {
        const struct json_member *member = &patch->object.members[i];
        if (json_is(member->value, JSON_NULL)) {
            json_remove(merged, member->key);
            continue;
        }
        const struct json *old = json_get(merged, member->key);
        json_set(arena, merged, member->key, json_merge_patch(arena, old, member->value));
    }
    return merged;
}
