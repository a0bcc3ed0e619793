#pragma once
/* JSON as an immutable tree in an arena. Numbers keep their text. Of duplicate keys the
 * last wins and stands where it stood; members keep the order of the input.
 *
 *     const struct json *root;
 *     if (!json_parse(&arena, text, NULL, &root, err)) ...
 *     const struct json *name = json_get(json_get(root, STR("metadata")), STR("name"));
 */
#include "base/arena.h"
#include "base/strbuf.h"
#include "json/event.h"
#include "json/parser.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json {
    enum json_type type;
    union {
        bool boolean;
        struct str text; /* JSON_NUMBER (as written), JSON_STRING (decoded) */
        struct {
            const struct json **items;
            size_t count;
        } array;
        struct {
            struct json_member *members;
            size_t count;
        } object;
    };
};

struct json_member {
    struct str key;
    const struct json *value;
};

bool json_parse(struct arena *arena, struct str text, const struct json_limits *limits,
                const struct json **ret, struct err *err) MUST_CHECK;

/* The tree as events, in order. */
bool json_walk(const struct json *value, struct json_sink sink, struct err *err) MUST_CHECK;

/* A tree builder as a sink: feed it one value's events, then take the root. */
struct json_builder;
struct json_builder *json_builder_new(struct arena *arena); /* lives in the arena */
struct json_sink json_builder_sink(struct json_builder *builder);
/* The finished value, or NULL while incomplete. */
const struct json *json_builder_root(const struct json_builder *builder);
/* Ready for the next value; finished trees stay valid. */
void json_builder_reset(struct json_builder *builder);

/* Reading. All of these take NULL and answer NULL or false. */
const struct json *json_get(const struct json *object, struct str key);
/* Go's rule for config files: exact match first, then ASCII case-insensitive; the last wins. */
const struct json *json_get_nocase(const struct json *object, struct str key);
/* json_path(root, "metadata", "name", NULL) */
const struct json *json_path(const struct json *root, ...) __attribute__((sentinel));
bool json_is(const struct json *value, enum json_type type);
struct str json_str(const struct json *value);                    /* empty unless a string */
bool json_i64(const struct json *value, int64_t *ret) MUST_CHECK; /* a number written as a plain integer */
bool json_bool(const struct json *value);                         /* false unless true */
size_t json_count(const struct json *value);                      /* items or members, else 0 */

/* Deep equality; numbers by text, objects regardless of member order. */
bool json_equal(const struct json *a, const struct json *b);
const char *json_type_name(enum json_type type);

/* Building. A value under construction is not const; adding it somewhere freezes it. */
struct json *json_new(struct arena *arena, enum json_type type);
struct json *json_new_str(struct arena *arena, struct str text);    /* copies */
struct json *json_new_number(struct arena *arena, struct str text); /* copies; must be a JSON number */
struct json *json_new_i64(struct arena *arena, int64_t number);
struct json *json_new_bool(struct arena *arena, bool boolean);
/* Replaces an existing member of that name, keeping its place; copies the key. */
void json_set(struct arena *arena, struct json *object, struct str key, const struct json *value);
void json_remove(struct json *object, struct str key);
void json_push(struct arena *arena, struct json *array, const struct json *value);
/* A shallow copy that may be changed with json_set. */
struct json *json_copy(struct arena *arena, const struct json *value);

/* RFC 7396: `patch` applied to `target` (NULL: absent). Shares untouched parts with both. */
const struct json *json_merge_patch(struct arena *arena, const struct json *target, const struct json *patch);

/* Compact JSON. Escapes ", \ and U+0000-001F; invalid UTF-8 becomes U+FFFD. */
void json_write(struct strbuf *out, const struct json *value);
/* The same with two-space indentation, for people. */
void json_write_pretty(struct strbuf *out, const struct json *value);
/* A quoted, escaped JSON string. */
void json_write_str(struct strbuf *out, struct str text);
