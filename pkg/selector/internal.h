#pragma once
/* Shared by the files of this folder only. */
#include "base/err.h"
#include "selector/selector.h"

/* Terms being gathered in an arena. */
struct selector_terms {
    struct selector_term *items;
    size_t count;
    size_t capacity;
};

/* Checks the term's key, its values and their number, then appends it. The error has no
 * path: the caller wraps it with its own. */
bool selector_add_term(struct arena *arena, struct selector_terms *terms, struct selector_term term,
                       struct err *err) MUST_CHECK;

/* Values being gathered in an arena. */
struct selector_values {
    struct str *items;
    size_t count;
    size_t capacity;
};

void selector_add_value(struct arena *arena, struct selector_values *values, struct str value);

/* Foreign text for an error message: long ones are cut. */
struct str selector_quote(struct str text);
