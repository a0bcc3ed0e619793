#include "test/apiserver/fieldtree.h"
#include "test/apiserver/listrule.h"
#include "test/apiserver/schema.h"
#include "test/apiserver/tree.h"

/* ---- shapes ---- */

struct api_shape api_shape_root(const struct api_resource *resource)
{
    return (struct api_shape){ .resource = resource, .schema = resource->schema, .is_root = true };
}

static struct api_shape shape_field(const struct api_shape *shape, struct str name)
{
    /* Metadata is the same type everywhere, whatever a schema calls it. */
    static const struct api_resource metadata = { .kind = STR_INIT("ObjectMeta") };
    if (shape->is_root && str_eq(name, STR("metadata")))
        return (struct api_shape){ .resource = &metadata, .field = name };
    const struct api_schema *schema = api_schema_property(shape->schema, name);
    return (struct api_shape){
        .resource = shape->resource,
        .schema = schema ? schema : api_schema_values(shape->schema),
        .field = name,
    };
}

static struct api_shape shape_item(const struct api_shape *shape)
{
    return (struct api_shape){ .resource = shape->resource, .schema = api_schema_items(shape->schema) };
}

/* NULL-terminated merge keys, at most this many. */
#define MAX_KEYS 4

struct list_kind {
    enum { LIST_ATOMIC, LIST_MAP, LIST_SET } kind;
    struct str keys[MAX_KEYS];
    size_t count;
};

static struct list_kind list_kind_custom(const struct api_shape *shape)
{
    struct list_kind kind = { LIST_ATOMIC, { STR_NULL }, 0 };
    const struct str *keys;
    bool set;
    size_t count = api_schema_list_keys(shape->schema, &keys, &set);
    if (set)
        kind.kind = LIST_SET;
    if (count == 0 || count > MAX_KEYS)
        return kind;
    kind.kind = LIST_MAP;
    for (; kind.count < count; kind.count++)
        kind.keys[kind.count] = keys[kind.count];
    return kind;
}

static struct list_kind list_kind_of(const struct api_shape *shape)
{
    struct list_kind kind = { LIST_ATOMIC, { STR_NULL }, 0 };
    if (shape->resource->custom && shape->schema)
        return list_kind_custom(shape);
    const struct api_list_rule *rule = api_list_rule_find(shape->resource, shape->field);
    if (!rule || rule->apply_atomic)
        return kind;
    kind.kind = rule->keys[0] ? LIST_MAP : LIST_SET;
    for (; kind.count < ARRAY_LEN(rule->keys) && rule->keys[kind.count]; kind.count++)
        kind.keys[kind.count] = str_c(rule->keys[kind.count]);
    return kind;
}

static bool map_is_atomic(const struct api_shape *shape)
{
    return api_schema_atomic(shape->schema) || api_map_rule_atomic(shape->resource, shape->field);
}

/* ---- path elements ---- */

static struct str field_key(struct arena *arena, struct str name)
{
    return arena_strf(arena, "f:" STR_FMT, STR_ARG(name));
}

/* k:{...} or v:...; empty when the element has no key, which makes the list atomic. */
static struct str item_key(struct arena *arena, const struct list_kind *kind, const struct json *item)
{
    if (kind->kind == LIST_SET) {
        struct str text = api_text(arena, item, SIZE_MAX);
        return arena_strf(arena, "v:" STR_FMT, STR_ARG(text));
    }
    struct json *keys = api_object(arena);
    for (size_t i = 0; i < kind->count; i++)
        if (json_get(item, kind->keys[i]))
            json_set(arena, keys, kind->keys[i], json_get(item, kind->keys[i]));
    if (json_count(keys) == 0)
        return STR_NULL;
    struct str text = api_text(arena, keys, SIZE_MAX);
    return arena_strf(arena, "k:" STR_FMT, STR_ARG(text));
}

static const struct json *find_item(struct arena *arena, const struct list_kind *kind,
                                    const struct json *list, struct str key)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->array.count; i++)
        if (str_eq(item_key(arena, kind, list->array.items[i]), key))
            return list->array.items[i];
    return NULL;
}

/* How a list can be taken apart: all its elements need a key. */
static struct list_kind usable_kind(struct arena *arena, const struct api_shape *shape,
                                    const struct json *list)
{
    struct list_kind kind = list_kind_of(shape);
    for (size_t i = 0; kind.kind == LIST_MAP && i < api_list_count(list); i++)
        if (str_empty(item_key(arena, &kind, list->array.items[i])))
            kind.kind = LIST_ATOMIC;
    return kind;
}

static bool is_branch(struct arena *arena, const struct api_shape *shape, const struct json *value)
{
    if (json_count(value) == 0)
        return false;
    if (json_is(value, JSON_OBJECT))
        return !map_is_atomic(shape);
    return usable_kind(arena, shape, value).kind != LIST_ATOMIC;
}

/* ---- the set of a value ---- */

static struct api_fields *fields_of_list(struct arena *arena, const struct api_shape *shape,
                                         const struct json *list)
{
    struct list_kind kind = usable_kind(arena, shape, list);
    struct api_shape item_shape = shape_item(shape);
    struct api_fields *set = api_fields_new(arena, false);
    for (size_t i = 0; i < list->array.count; i++) {
        const struct json *item = list->array.items[i];
        struct api_fields *below =
            kind.kind == LIST_MAP ? api_fields_of(arena, &item_shape, item) : api_fields_new(arena, true);
        below->member = true; /* the element itself */
        struct str key = item_key(arena, &kind, item);
        if (!api_fields_below(set, key))
            api_fields_add(arena, set, key, below);
    }
    return set;
}

struct api_fields *api_fields_of(struct arena *arena, const struct api_shape *shape, const struct json *value)
{
    if (!is_branch(arena, shape, value))
        return api_fields_new(arena, !shape->is_root);
    if (json_is(value, JSON_ARRAY))
        return fields_of_list(arena, shape, value);
    struct api_fields *set = api_fields_new(arena, false);
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct api_shape below = shape_field(shape, member->key);
        api_fields_add(arena, set, field_key(arena, member->key),
                       api_fields_of(arena, &below, member->value));
    }
    return set;
}

/* ---- comparison ---- */

struct comparison {
    struct arena *arena;
    struct api_fields *changed;
    struct api_fields *removed;
};

static void compare_child(struct comparison *comparison, struct str key, const struct api_shape *shape,
                          const struct json *before, const struct json *after, bool element)
{
    struct arena *arena = comparison->arena;
    if (before && after) {
        struct api_difference below = api_fields_compare(arena, shape, before, after);
        api_fields_add(arena, comparison->changed, key, below.changed);
        api_fields_add(arena, comparison->removed, key, below.removed);
        return;
    }
    struct api_fields *set = api_fields_of(arena, shape, before ? before : after);
    set->member = set->member || element;
    api_fields_add(arena, before ? comparison->removed : comparison->changed, key, set);
}

static void compare_objects(struct comparison *comparison, const struct api_shape *shape,
                            const struct json *before, const struct json *after)
{
    for (size_t i = 0; i < before->object.count; i++) {
        const struct json_member *member = &before->object.members[i];
        struct api_shape below = shape_field(shape, member->key);
        compare_child(comparison, field_key(comparison->arena, member->key), &below, member->value,
                      json_get(after, member->key), false);
    }
    for (size_t i = 0; i < after->object.count; i++) {
        const struct json_member *member = &after->object.members[i];
        struct api_shape below = shape_field(shape, member->key);
        if (!json_get(before, member->key))
            compare_child(comparison, field_key(comparison->arena, member->key), &below, NULL, member->value,
                          false);
    }
}

static void compare_lists(struct comparison *comparison, const struct api_shape *shape,
                          const struct json *before, const struct json *after)
{
    struct list_kind kind = usable_kind(comparison->arena, shape, after);
    struct api_shape below = shape_item(shape);
    for (size_t i = 0; i < before->array.count; i++) {
        struct str key = item_key(comparison->arena, &kind, before->array.items[i]);
        compare_child(comparison, key, &below, before->array.items[i],
                      find_item(comparison->arena, &kind, after, key), true);
    }
    for (size_t i = 0; i < after->array.count; i++) {
        struct str key = item_key(comparison->arena, &kind, after->array.items[i]);
        if (!find_item(comparison->arena, &kind, before, key))
            compare_child(comparison, key, &below, NULL, after->array.items[i], true);
    }
}

struct api_difference api_fields_compare(struct arena *arena, const struct api_shape *shape,
                                         const struct json *before, const struct json *after)
{
    struct comparison comparison = { arena, api_fields_new(arena, false), api_fields_new(arena, false) };
    bool branches = before && after && before->type == after->type && is_branch(arena, shape, before) &&
                    is_branch(arena, shape, after);
    if (branches && json_is(after, JSON_OBJECT))
        compare_objects(&comparison, shape, before, after);
    else if (branches)
        compare_lists(&comparison, shape, before, after);
    else if (!before || !after)
        *(before ? &comparison.removed : &comparison.changed) =
            api_fields_of(arena, shape, before ? before : after);
    else if (!json_equal(before, after)) {
        comparison.changed = api_fields_of(arena, shape, after);
        if (is_branch(arena, shape, before))
            comparison.removed = api_fields_of(arena, shape, before);
    }
    return (struct api_difference){ comparison.changed, comparison.removed };
}

/* ---- merging ---- */

static const struct json *merge_lists(struct arena *arena, const struct api_shape *shape,
                                      const struct json *live, const struct json *config)
{
    struct list_kind kind = usable_kind(arena, shape, config);
    struct api_shape below = shape_item(shape);
    struct json *out = api_array(arena);
    for (size_t i = 0; i < live->array.count; i++) {
        const struct json *item = live->array.items[i];
        const struct json *over = find_item(arena, &kind, config, item_key(arena, &kind, item));
        json_push(arena, out, over ? api_fields_merge(arena, &below, item, over) : item);
    }
    for (size_t i = 0; i < config->array.count; i++) {
        struct str key = item_key(arena, &kind, config->array.items[i]);
        if (!find_item(arena, &kind, live, key))
            json_push(arena, out, config->array.items[i]);
    }
    return out;
}

const struct json *api_fields_merge(struct arena *arena, const struct api_shape *shape,
                                    const struct json *live, const struct json *config)
{
    if (!live || live->type != config->type)
        return config;
    if (json_is(config, JSON_ARRAY) && is_branch(arena, shape, config) && is_branch(arena, shape, live))
        return merge_lists(arena, shape, live, config);
    if (!json_is(config, JSON_OBJECT) || map_is_atomic(shape))
        return config;
    struct api_change change = { .arena = arena, .object = live };
    for (size_t i = 0; i < config->object.count; i++) {
        const struct json_member *member = &config->object.members[i];
        struct api_shape below = shape_field(shape, member->key);
        const struct json *now = json_get(live, member->key);
        api_change_field(&change, member->key, now, api_fields_merge(arena, &below, now, member->value));
    }
    return api_change_done(&change);
}

/* ---- removal ---- */

static const struct json *remove_from_list(struct arena *arena, const struct api_shape *shape,
                                           const struct json *list, const struct api_fields *gone,
                                           const struct api_fields *kept)
{
    struct list_kind kind = usable_kind(arena, shape, list);
    struct api_shape below = shape_item(shape);
    struct json *out = api_array(arena);
    for (size_t i = 0; i < list->array.count; i++) {
        const struct json *item = list->array.items[i];
        struct str key = item_key(arena, &kind, item);
        const struct api_fields *drop = api_fields_below(gone, key), *keep = api_fields_below(kept, key);
        if (drop && drop->member && !keep)
            continue;
        const struct json *rest = drop ? api_fields_remove(arena, &below, item, drop, keep) : item;
        if (rest)
            json_push(arena, out, rest);
    }
    return json_count(out) > 0 ? out : NULL;
}

const struct json *api_fields_remove(struct arena *arena, const struct api_shape *shape,
                                     const struct json *value, const struct api_fields *gone,
                                     const struct api_fields *kept)
{
    if (!is_branch(arena, shape, value))
        return gone->member && !kept ? NULL : value;
    if (json_is(value, JSON_ARRAY))
        return remove_from_list(arena, shape, value, gone, kept);
    struct api_change change = { .arena = arena, .object = value };
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct str key = field_key(arena, member->key);
        const struct api_fields *drop = api_fields_below(gone, key);
        struct api_shape below = shape_field(shape, member->key);
        if (drop)
            api_change_field(
                &change, member->key, member->value,
                api_fields_remove(arena, &below, member->value, drop, api_fields_below(kept, key)));
    }
    const struct json *rest = api_change_done(&change);
    return json_count(rest) > 0 ? rest : NULL;
}
