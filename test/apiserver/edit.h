#pragma once
/* Small edits of immutable JSON trees: each makes the copies it needs along the path
 * and shares the rest. */
#include "json/json.h"

/* Parses text this program wrote itself; anything else is a bug and aborts. */
const struct json *as_parse_own(struct arena *arena, struct str text);

/* The value when it is an array (an object), else NULL, so that json_count says 0. */
static inline const struct json *as_list_of(const struct json *value)
{
    return json_is(value, JSON_ARRAY) ? value : NULL;
}

static inline const struct json *as_map_of(const struct json *value)
{
    return json_is(value, JSON_OBJECT) ? value : NULL;
}

/* `root` with root[key] = value; NULL `value` removes the key. `root` NULL is {}. */
struct json *as_edit_with(struct arena *arena, const struct json *root, struct str key,
                          const struct json *value);

/* `root` with root[parent][key] = value; NULL `value` removes the key. */
const struct json *as_edit_with2(struct arena *arena, const struct json *root, struct str parent,
                                 struct str key, const struct json *value);

/* Shorthand for metadata members. */
const struct json *as_edit_meta(struct arena *arena, const struct json *root, struct str key,
                                const struct json *value);
struct str as_edit_meta_str(const struct json *root, const char *key);

/* The tree without null members, at any depth (arrays keep theirs). */
const struct json *as_edit_without_nulls(struct arena *arena, const struct json *value);
