#pragma once
/* Short words for building and reading JSON trees; keys are C literals. */
#include "base/arena.h"
#include "json/json.h"

struct json *api_object(struct arena *arena);
struct json *api_array(struct arena *arena);

void api_set(struct arena *arena, struct json *object, const char *key, const struct json *value);
void api_set_str(struct arena *arena, struct json *object, const char *key, struct str value);
void api_set_c(struct arena *arena, struct json *object, const char *key, const char *value);
void api_set_i64(struct arena *arena, struct json *object, const char *key, int64_t value);
void api_set_bool(struct arena *arena, struct json *object, const char *key, bool value);
/* Nothing when the text is empty. */
void api_set_some(struct arena *arena, struct json *object, const char *key, struct str value);

const struct json *api_get(const struct json *object, const char *key);
struct str api_get_str(const struct json *object, const char *key);

/* How many items or members there are to visit; 0 for anything but a list or a map, so
 * that a loop never reads one as the other. */
size_t api_list_count(const struct json *list);
size_t api_map_count(const struct json *map);

/* `object` with one field replaced (NULL: removed); the rest is shared. A NULL object
 * counts as empty. */
const struct json *api_with(struct arena *arena, const struct json *object, const char *key,
                            const struct json *value);

struct str api_lower(struct arena *arena, struct str text); /* ASCII letters */

/* The JSON text of a value in the arena, cut with "..." beyond `max` bytes. */
struct str api_text(struct arena *arena, const struct json *value, size_t max);

/* Copy on write: `object` as it is until a field changes.
 *
 *     struct api_change change = { .arena = arena, .object = object };
 *     api_change_field(&change, key, now, next);   // NULL next removes, next == now does nothing
 *     return api_change_done(&change);
 */
struct api_change {
    struct arena *arena;
    const struct json *object;
    struct json *copy;
};
void api_change_field(struct api_change *change, struct str key, const struct json *now,
                      const struct json *next);
const struct json *api_change_done(const struct api_change *change);
