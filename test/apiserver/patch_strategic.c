#include "test/apiserver/listrule.h"
#include "test/apiserver/patch.h"
#include "test/apiserver/tree.h"

#define ORDER_PREFIX "$setElementOrder/"
#define DELETE_PREFIX "$deleteFromPrimitiveList/"

struct merger {
    struct arena *arena;
    const struct api_resource *resource;
    struct api_error *error;
};

static const struct json *merge_map(const struct merger *merger, const struct json *original,
                                    const struct json *patch);

static const struct json *bad_patch(const struct merger *merger, int code, const char *what, struct str field)
{
    api_fail(merger->error, merger->arena, code, "unable to apply the strategic merge patch: %s: " STR_FMT,
             what, STR_ARG(field));
    return NULL;
}

/* ---- lists ---- */

/* Same element: by merge key, or by value in a set. `key` is empty for sets. */
static bool same_element(const struct json *a, const struct json *b, struct str key)
{
    if (str_empty(key))
        return json_equal(a, b);
    const struct json *left = json_get(a, key);
    return left && json_equal(left, json_get(b, key));
}

static size_t find_element(const struct json *list, const struct json *element, struct str key)
{
    size_t count = api_list_count(list);
    for (size_t i = 0; i < count; i++)
        if (same_element(list->array.items[i], element, key))
            return i;
    return count;
}

/* Elements named in `order` come in that order; the others keep their place in
 * `original` relative to them. */
static const struct json *order_list(struct arena *arena, const struct json *merged, const struct json *order,
                                     const struct json *original, struct str key)
{
    struct json *named = json_new(arena, JSON_ARRAY), *rest = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < order->array.count; i++) {
        size_t at = find_element(merged, order->array.items[i], key);
        if (at < merged->array.count && find_element(named, order->array.items[i], key) == named->array.count)
            json_push(arena, named, merged->array.items[at]);
    }
    for (size_t i = 0; i < merged->array.count; i++)
        if (find_element(order, merged->array.items[i], key) == order->array.count)
            json_push(arena, rest, merged->array.items[i]);

    struct json *out = json_new(arena, JSON_ARRAY);
    size_t i = 0, j = 0, known = api_list_count(original);
    while (i < rest->array.count || j < named->array.count) {
        bool take_rest = j == named->array.count;
        if (i < rest->array.count && !take_rest) {
            size_t a = find_element(original, rest->array.items[i], key);
            size_t b = find_element(original, named->array.items[j], key);
            take_rest = a < known && b < known && a < b;
        }
        json_push(arena, out, take_rest ? rest->array.items[i++] : named->array.items[j++]);
    }
    return out;
}

static struct json *copy_list(struct arena *arena, const struct json *list)
{
    struct json *out = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < api_list_count(list); i++)
        json_push(arena, out, list->array.items[i]);
    return out;
}

static struct json *list_without(struct arena *arena, const struct json *list, const struct json *element,
                                 struct str key)
{
    struct json *out = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < list->array.count; i++)
        if (!same_element(list->array.items[i], element, key))
            json_push(arena, out, list->array.items[i]);
    return out;
}

static struct json *list_replaced(struct arena *arena, const struct json *list, size_t at,
                                  const struct json *value)
{
    struct json *out = copy_list(arena, list);
    out->array.items[at] = value;
    return out;
}

/* {"$patch":"replace"} as an element: the patch's other elements are the whole list. */
static bool replaces_list(const struct json *patch)
{
    for (size_t i = 0; i < patch->array.count; i++)
        if (str_eq(api_get_str(patch->array.items[i], "$patch"), STR("replace")))
            return true;
    return false;
}

static const struct json *merge_element(const struct merger *merger, struct json **merged,
                                        const struct json *element, struct str key)
{
    struct str directive = api_get_str(element, "$patch");
    if (str_eq(directive, STR("replace")))
        return *merged;
    if (!json_get(element, key))
        return bad_patch(merger, 422, "a list element lacks its merge key", key);
    if (str_eq(directive, STR("delete")))
        return *merged = list_without(merger->arena, *merged, element, key);
    size_t at = find_element(*merged, element, key);
    bool exists = at < (*merged)->array.count;
    const struct json *result = merge_map(merger, exists ? (*merged)->array.items[at] : NULL, element);
    if (!result)
        return NULL;
    if (exists)
        *merged = list_replaced(merger->arena, *merged, at, result);
    else
        json_push(merger->arena, *merged, result);
    return *merged;
}

static const struct json *merge_map_list(const struct merger *merger, const struct json *original,
                                         const struct json *patch, struct str key)
{
    struct json *merged = copy_list(merger->arena, replaces_list(patch) ? NULL : original);
    for (size_t i = 0; i < patch->array.count; i++) {
        const struct json *element = patch->array.items[i];
        if (!json_is(element, JSON_OBJECT))
            return bad_patch(merger, 422, "a list with a merge key holds something else than objects", key);
        if (!merge_element(merger, &merged, element, key))
            return NULL;
    }
    return merged;
}

static const struct json *merge_set(const struct merger *merger, const struct json *original,
                                    const struct json *patch)
{
    struct json *merged = copy_list(merger->arena, original);
    for (size_t i = 0; i < patch->array.count; i++)
        if (find_element(merged, patch->array.items[i], STR_NULL) == merged->array.count)
            json_push(merger->arena, merged, patch->array.items[i]);
    return merged;
}

static struct str merge_key(const struct api_list_rule *rule)
{
    return str_c(rule->keys[0]);
}

static const struct json *merge_list(const struct merger *merger, struct str field,
                                     const struct json *original, const struct json *patch)
{
    const struct api_list_rule *rule = api_list_rule_find(merger->resource, field);
    if (!rule || rule->patch_atomic)
        return patch;
    if (original && original->type != JSON_ARRAY)
        original = NULL;
    struct str key = merge_key(rule);
    const struct json *merged =
        rule->keys[0] ? merge_map_list(merger, original, patch, key) : merge_set(merger, original, patch);
    return merged ? order_list(merger->arena, merged, patch, original, key) : NULL;
}

/* ---- directives of a map ---- */

/* The fields that $retainKeys does not name go away before merging. */
static const struct json *retain_keys(const struct merger *merger, const struct json *original,
                                      const struct json *keys)
{
    if (!json_is(keys, JSON_ARRAY))
        return bad_patch(merger, 400, "not a list", STR("$retainKeys"));
    struct json *out = api_object(merger->arena);
    for (size_t i = 0; i < original->object.count; i++) {
        const struct json_member *member = &original->object.members[i];
        for (size_t k = 0; k < keys->array.count; k++)
            if (str_eq(json_str(keys->array.items[k]), member->key))
                json_set(merger->arena, out, member->key, member->value);
    }
    return out;
}

static const struct json *delete_scalars(const struct merger *merger, const struct json *list,
                                         const struct json *gone)
{
    struct json *out = copy_list(merger->arena, list);
    for (size_t i = 0; i < gone->array.count; i++)
        out = list_without(merger->arena, out, gone->array.items[i], STR_NULL);
    return out;
}

static bool apply_list_directive(const struct merger *merger, struct json *result,
                                 const struct json *original, const struct json_member *member)
{
    bool deletes = str_starts_with(member->key, STR(DELETE_PREFIX));
    struct str field =
        str_slice(member->key, deletes ? sizeof DELETE_PREFIX - 1 : sizeof ORDER_PREFIX - 1, member->key.len);
    if (!json_is(member->value, JSON_ARRAY))
        return bad_patch(merger, 400, "not a list", member->key) != NULL;
    const struct json *now = json_get(result, field);
    if (!json_is(now, JSON_ARRAY))
        return true;
    if (deletes) {
        json_set(merger->arena, result, field, delete_scalars(merger, now, member->value));
        return true;
    }
    const struct api_list_rule *rule = api_list_rule_find(merger->resource, field);
    if (rule)
        json_set(merger->arena, result, field,
                 order_list(merger->arena, now, member->value, json_get(original, field), merge_key(rule)));
    return true;
}

/* ---- maps ---- */

static bool is_directive(struct str key)
{
    return key.len > 0 && key.ptr[0] == '$' &&
           (str_eq(key, STR("$patch")) || str_eq(key, STR("$retainKeys")) ||
            str_starts_with(key, STR(ORDER_PREFIX)) || str_starts_with(key, STR(DELETE_PREFIX)));
}

static bool merge_field(const struct merger *merger, struct json *result, const struct json_member *member)
{
    const struct json *now = json_get(result, member->key), *next = member->value;
    if (json_is(next, JSON_NULL)) {
        json_remove(result, member->key);
        return true;
    }
    if (json_is(next, JSON_OBJECT))
        next = merge_map(merger, json_is(now, JSON_OBJECT) ? now : NULL, next);
    else if (json_is(next, JSON_ARRAY))
        next = merge_list(merger, member->key, now, next);
    if (!next)
        return false;
    json_set(merger->arena, result, member->key, next);
    return true;
}

static const struct json *without_directive(struct arena *arena, const struct json *patch)
{
    return api_with(arena, patch, "$patch", NULL);
}

static const struct json *merge_map(const struct merger *merger, const struct json *original,
                                    const struct json *patch)
{
    const struct json *directive = api_get(patch, "$patch");
    const struct json *retain = api_get(patch, "$retainKeys");
    if (!original)
        original = api_object(merger->arena);
    if (directive && str_eq(json_str(directive), STR("replace")))
        return without_directive(merger->arena, patch);
    if (directive && str_eq(json_str(directive), STR("delete")))
        return api_object(merger->arena);
    if (directive && !str_eq(json_str(directive), STR("merge")))
        return bad_patch(merger, 400, "unknown directive", api_text(merger->arena, directive, 64));

    const struct json *base = retain ? retain_keys(merger, original, retain) : original;
    if (!base)
        return NULL;
    struct json *result = json_copy(merger->arena, base);
    for (size_t i = 0; i < patch->object.count; i++)
        if (!is_directive(patch->object.members[i].key) &&
            !merge_field(merger, result, &patch->object.members[i]))
            return NULL;
    for (size_t i = 0; i < patch->object.count; i++) {
        const struct json_member *member = &patch->object.members[i];
        bool of_list = is_directive(member->key) && str_find_byte(member->key, '/') >= 0;
        if (of_list && !apply_list_directive(merger, result, original, member))
            return NULL;
    }
    return result;
}

bool api_patch_strategic(struct arena *arena, const struct api_resource *resource, const struct json *current,
                         const struct json *patch, const struct json **ret, struct api_error *error)
{
    if (!json_is(patch, JSON_OBJECT))
        return api_fail(error, arena, 400, "error decoding patch: a strategic merge patch is an object");
    struct merger merger = { .arena = arena, .resource = resource, .error = error };
    const struct json *result = merge_map(&merger, current, patch);
    if (!result)
        return false;
    *ret = result;
    return true;
}
