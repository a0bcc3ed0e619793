#pragma once
/* Percent-encoding and query strings. Pure. */
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

/* Everything but unreserved characters is encoded. */
void url_encode(struct strbuf *out, struct str text);
/* "%2F" to "/", "+" stays "+"; a bad escape is ERR_INVALID. */
bool url_decode(struct arena *arena, struct str text, struct str *ret, struct err *err) MUST_CHECK;

struct url_param {
    struct str name;
    struct str value;
};
/* "a=1&b=%20": decoded, "+" means blank, order kept. */
bool url_query_parse(struct arena *arena, struct str query, struct url_param **ret, size_t *ret_count,
                     struct err *err) MUST_CHECK;
/* Value of the first parameter of that name; *found tells absent from empty (may be NULL). */
struct str url_param(const struct url_param *params, size_t count, struct str name, bool *found);
