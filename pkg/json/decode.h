#pragma once
/* Events straight into C structs: one table of fields per struct is the schema.
 * Unknown fields are skipped without allocation; no tree is built on the way.
 *
 *     struct pair { struct str name; int64_t count; };
 *     static const struct json_field pair_fields[] = {
 *         JSON_FIELD_STR(struct pair, name, "name"),
 *         JSON_FIELD_I64(struct pair, count, "count"),
 *     };
 *     static const struct json_table pair_table = JSON_TABLE(struct pair, pair_fields);
 *
 *     struct pair pair = { 0 };
 *     if (!json_decode(&arena, text, &pair_table, &pair, NULL, err)) ...
 *
 * Absent, null and the zero value read alike (`opt_` types keep absent apart from zero).
 * Of duplicate keys the last wins; an array that is streamed (JSON_INTO_EACH) was handed
 * out already, and what a scalar function stored stays when null or a wrong type follows.
 * A field of an unexpected type is skipped and reported. When the field is marked required
 * (identity) its object fails: inside a streamed array that element is dropped and
 * reported, elsewhere it is an error. Strings and arrays land in the arena. */
#include "base/arena.h"
#include "json/event.h"
#include "json/json.h"
#include "json/parser.h"

enum json_field_type {
    JSON_INTO_STR,     /* struct str */
    JSON_INTO_BOOL,    /* bool */
    JSON_INTO_I64,     /* int64_t; plain integers only */
    JSON_INTO_OPT_I64, /* struct opt_i64 */
    JSON_INTO_OPT_BOOL,
    JSON_INTO_SCALAR,     /* any scalar, through `scalar` */
    JSON_INTO_OBJECT,     /* an embedded struct described by `table` */
    JSON_INTO_OBJECT_PTR, /* pointer to such a struct in the arena; NULL while absent */
    JSON_INTO_ARRAY,      /* struct json_items of structs described by `table`; null items are skipped */
    JSON_INTO_STR_ARRAY,  /* struct json_items of struct str */
    JSON_INTO_STR_MAP,    /* struct json_items of struct json_pair, string values only */
    JSON_INTO_EACH,       /* array: each element decoded by `table` into scratch, then handed to `each` */
    JSON_INTO_SELECT,     /* value decoded by the table that `select` names, see json_select_fn */
    JSON_INTO_TREE,       /* const struct json * */
};

struct json_items {
    void *items; /* count elements; NULL when 0 */
    size_t count;
};

struct json_pair {
    struct str key;
    struct str value;
};

struct json_table;

/* Stores one scalar event (null never reaches it). False with err: unexpected value. */
typedef bool (*json_scalar_fn)(struct arena *arena, const struct json_event *event, void *dst,
                               struct err *err);

/* One element of a streamed array is complete. The element, its strings and its arrays lie
 * in scratch memory of the decoder, which the next element reuses: copy what is to stay.
 * The caller's arena holds nothing of it, so what the parent decoded before survives.
 * `user` is json_decode_options.user. False stops decoding. */
typedef bool (*json_each_fn)(void *user, const void *element, struct err *err);

/* Chooses how to decode a value from what its parent holds so far. Sets *table and
 * *dst (zeroed by the decoder); NULL *table means not known yet: the value is kept as a
 * tree and offered again when the parent object ends (then NULL means skip). A table
 * without fields skips at once. */
typedef void (*json_select_fn)(void *user, void *parent, struct arena *arena, const struct json_table **table,
                               void **dst);

struct json_field {
    const char *name;
    enum json_field_type type;
    bool required; /* a value of the wrong type is an error, not a report; absence is not checked */
    size_t offset;
    json_scalar_fn scalar;
    const struct json_table *table;
    json_each_fn each;
    json_select_fn select;
};

struct json_table {
    const struct json_field *fields;
    size_t count;
    size_t size; /* of the struct */
};

#define JSON_TABLE(type_, fields_)                                                                           \
    {                                                                                                        \
        .fields = (fields_), .count = ARRAY_LEN(fields_), .size = sizeof(type_)                              \
    }

#define JSON_FIELD_OF(type_, member_, name_, kind_, ...)                                                     \
    {                                                                                                        \
        .name = (name_), .type = (kind_), .offset = offsetof(type_, member_) __VA_OPT__(, ) __VA_ARGS__      \
    }
#define JSON_FIELD_STR(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_STR)
/* Identity: a wrong type fails the object. */
#define JSON_REQUIRED_STR(type_, member_, name_)                                                             \
    JSON_FIELD_OF(type_, member_, name_, JSON_INTO_STR, .required = true)
#define JSON_FIELD_BOOL(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_BOOL)
#define JSON_FIELD_I64(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_I64)
#define JSON_FIELD_OPT_I64(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_OPT_I64)
#define JSON_FIELD_OPT_BOOL(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_OPT_BOOL)
#define JSON_FIELD_SCALAR(type_, member_, name_, fn_)                                                        \
    JSON_FIELD_OF(type_, member_, name_, JSON_INTO_SCALAR, .scalar = (fn_))
#define JSON_FIELD_OBJECT(type_, member_, name_, table_)                                                     \
    JSON_FIELD_OF(type_, member_, name_, JSON_INTO_OBJECT, .table = (table_))
#define JSON_FIELD_OBJECT_PTR(type_, member_, name_, table_)                                                 \
    JSON_FIELD_OF(type_, member_, name_, JSON_INTO_OBJECT_PTR, .table = (table_))
#define JSON_FIELD_ARRAY(type_, member_, name_, table_)                                                      \
    JSON_FIELD_OF(type_, member_, name_, JSON_INTO_ARRAY, .table = (table_))
#define JSON_FIELD_STR_ARRAY(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_STR_ARRAY)
#define JSON_FIELD_STR_MAP(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_STR_MAP)
#define JSON_FIELD_TREE(type_, member_, name_) JSON_FIELD_OF(type_, member_, name_, JSON_INTO_TREE)
#define JSON_FIELD_EACH(name_, table_, fn_)                                                                  \
    {                                                                                                        \
        .name = (name_), .type = JSON_INTO_EACH, .table = (table_), .each = (fn_)                            \
    }
#define JSON_FIELD_SELECT(name_, fn_)                                                                        \
    {                                                                                                        \
        .name = (name_), .type = JSON_INTO_SELECT, .select = (fn_)                                           \
    }

/* Hears of every skipped value: `path` like "status.allocatable.cpu" or "items[3].spec",
 * `value` the scalar's text or "object"/"array". Borrowed. */
struct json_report {
    void (*mismatch)(void *self, struct str path, struct str value, const char *message);
    void *self;
};

struct json_decode_options {
    struct json_limits limits;
    struct json_report report; /* mismatch NULL: silent */
    void *user;                /* for each and select */
};

/* A decoder as a sink, for streams: one top-level value after another. `dst` is zeroed
 * at each value's start; `done` (may be NULL) hears of each value's end, after which the
 * arena is cleared. With `done` NULL nothing is cleared. */
struct json_decoder;
struct json_decoder *json_decoder_new(struct arena *arena, const struct json_table *table, void *dst,
                                      const struct json_decode_options *options, json_each_fn done);
void json_decoder_free(struct json_decoder *decoder);
struct json_sink json_decoder_sink(struct json_decoder *decoder);

/* One document from text, or one tree (YAML, a ConfigMap value). */
bool json_decode(struct arena *arena, struct str text, const struct json_table *table, void *dst,
                 const struct json_decode_options *options, struct err *err) MUST_CHECK;
bool json_decode_tree(struct arena *arena, const struct json *tree, const struct json_table *table, void *dst,
                      const struct json_decode_options *options, struct err *err) MUST_CHECK;
