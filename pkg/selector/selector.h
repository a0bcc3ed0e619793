#pragma once
/* Kubernetes label selectors, both spellings: the LabelSelector object of API types and
 * ConfigMaps, and the query string of list requests. Matching is pure. */
#include "base/arena.h"
#include "json/json.h"

/* One label of an object; arrays of them are sorted by key, bytewise, keys unique. */
struct label {
    struct str key;
    struct str value;
};

struct labels {
    const struct label *items;
    size_t count;
};

/* NULL when absent. */
const struct label *labels_find(struct labels labels, struct str key);

enum selector_op {
    SELECTOR_IN,
    SELECTOR_NOT_IN, /* also matches objects without the key */
    SELECTOR_EXISTS,
    SELECTOR_NOT_EXISTS,
};

struct selector_term {
    struct str key;
    enum selector_op op;
    const struct str *values;
    size_t value_count;
};

/* All terms must match. `nothing` matches no object (an absent selector); no terms
 * match every object (an empty one). */
struct selector {
    bool nothing;
    const struct selector_term *terms;
    size_t count;
};

/* {"matchLabels":{...},"matchExpressions":[...]}; NULL or JSON null gives `nothing`.
 * Field names match as in Go (case-insensitively), unknown ones are ignored. Errors name
 * the path inside the selector and the offending value. Strings are copied. */
bool selector_from_json(struct arena *arena, const struct json *object, struct selector *ret,
                        struct err *err) MUST_CHECK;

/* "a=b,c!=d,e in (x,y),f notin (z),g,!h"; empty matches everything. */
bool selector_from_query(struct arena *arena, struct str query, struct selector *ret,
                         struct err *err) MUST_CHECK;

bool selector_matches(const struct selector *selector, struct labels labels);

/* Syntax of label keys ([prefix/]name) and values as the API server checks them. */
bool label_key_valid(struct str key);
bool label_value_valid(struct str value);
