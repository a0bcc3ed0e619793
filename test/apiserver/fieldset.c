#include "test/apiserver/fieldset.h"
#include "test/apiserver/tree.h"

#define MAX_DEPTH 200

bool api_fields_empty(const struct api_fields *set)
{
    return !set || (!set->member && set->count == 0);
}

struct api_fields *api_fields_new(struct arena *arena, bool member)
{
    struct api_fields *set = arena_new(arena, struct api_fields);
    set->member = member;
    return set;
}

void api_fields_add(struct arena *arena, struct api_fields *set, struct str key, struct api_fields *below)
{
    if (api_fields_empty(below))
        return;
    if (set->count == set->cap) {
        size_t cap = set->cap ? 2 * set->cap : 4;
        set->items = arena_grow(arena, set->items, set->cap * sizeof(*set->items), cap * sizeof(*set->items));
        set->cap = cap;
    }
    set->items[set->count++] = (struct api_fields_child){ .key = arena_str(arena, key), .below = below };
}

const struct api_fields *api_fields_below(const struct api_fields *set, struct str key)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (str_eq(set->items[i].key, key))
            return set->items[i].below;
    return NULL;
}

/* ---- FieldsV1 ---- */

static struct api_fields *read_node(struct arena *arena, const struct json *node, size_t depth)
{
    struct api_fields *set = api_fields_new(arena, json_count(node) == 0);
    for (size_t i = 0; json_is(node, JSON_OBJECT) && depth < MAX_DEPTH && i < node->object.count; i++) {
        const struct json_member *member = &node->object.members[i];
        if (str_eq(member->key, STR(".")))
            set->member = true;
        else
            api_fields_add(arena, set, member->key, read_node(arena, member->value, depth + 1));
    }
    return set;
}

struct api_fields *api_fields_read(struct arena *arena, const struct json *fields_v1)
{
    if (!json_is(fields_v1, JSON_OBJECT) || json_count(fields_v1) == 0)
        return NULL;
    return read_node(arena, fields_v1, 0);
}

const struct json *api_fields_json(struct arena *arena, const struct api_fields *set)
{
    struct json *object = api_object(arena);
    if (set && set->member && set->count > 0)
        api_set(arena, object, ".", api_object(arena));
    for (size_t i = 0; set && i < set->count; i++)
        json_set(arena, object, set->items[i].key, api_fields_json(arena, set->items[i].below));
    return object;
}

/* ---- algebra ---- */

/* An empty result is NULL, so that emptiness travels up. */
static struct api_fields *unless_empty(struct api_fields *set)
{
    return api_fields_empty(set) ? NULL : set;
}

struct api_fields *api_fields_union(struct arena *arena, const struct api_fields *a,
                                    const struct api_fields *b)
{
    struct api_fields *set = api_fields_new(arena, (a && a->member) || (b && b->member));
    for (size_t i = 0; a && i < a->count; i++)
        api_fields_add(arena, set, a->items[i].key,
                       api_fields_union(arena, a->items[i].below, api_fields_below(b, a->items[i].key)));
    for (size_t i = 0; b && i < b->count; i++)
        if (!api_fields_below(a, b->items[i].key))
            api_fields_add(arena, set, b->items[i].key, b->items[i].below);
    return unless_empty(set);
}

struct api_fields *api_fields_minus(struct arena *arena, const struct api_fields *a,
                                    const struct api_fields *b)
{
    if (!a)
        return NULL;
    struct api_fields *set = api_fields_new(arena, a->member && !(b && b->member));
    for (size_t i = 0; i < a->count; i++)
        api_fields_add(arena, set, a->items[i].key,
                       api_fields_minus(arena, a->items[i].below, api_fields_below(b, a->items[i].key)));
    return unless_empty(set);
}

struct api_fields *api_fields_common(struct arena *arena, const struct api_fields *a,
                                     const struct api_fields *b)
{
    if (!a || !b)
        return NULL;
    struct api_fields *set = api_fields_new(arena, a->member && b->member);
    for (size_t i = 0; i < a->count; i++)
        api_fields_add(arena, set, a->items[i].key,
                       api_fields_common(arena, a->items[i].below, api_fields_below(b, a->items[i].key)));
    return unless_empty(set);
}

/* ---- paths for people ---- */

static void write_key(struct arena *arena, struct strbuf *out, struct str key)
{
    struct str rest = str_slice(key, 2, key.len);
    const struct json *parts = NULL;
    if (str_starts_with(key, STR("k:")) && json_parse(arena, rest, NULL, &parts, NULL) &&
        json_is(parts, JSON_OBJECT)) {
        strbuf_addc(out, '[');
        for (size_t i = 0; i < parts->object.count; i++) {
            struct str value = api_text(arena, parts->object.members[i].value, 256);
            strbuf_addf(out, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(parts->object.members[i].key),
                        STR_ARG(value));
        }
        strbuf_addc(out, ']');
    } else if (str_starts_with(key, STR("v:"))) {
        strbuf_addf(out, "[=" STR_FMT "]", STR_ARG(rest));
    } else {
        strbuf_addf(out, "." STR_FMT, STR_ARG(rest));
    }
}

static void each_below(struct arena *arena, const struct api_fields *set, struct str prefix,
                       void (*path)(void *self, struct str path), void *self)
{
    if (set->member)
        path(self, prefix);
    for (size_t i = 0; i < set->count; i++) {
        CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 * 1024);
        strbuf_add(&out, prefix);
        write_key(arena, &out, set->items[i].key);
        each_below(arena, set->items[i].below, arena_str(arena, strbuf_str(&out)), path, self);
    }
}

void api_fields_each(struct arena *arena, const struct api_fields *set,
                     void (*path)(void *self, struct str path), void *self)
{
    if (set)
        each_below(arena, set, STR_NULL, path, self);
}
