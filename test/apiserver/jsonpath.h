#pragma once
/* The part of JSONPath that printer columns use: .a.b, .a[0], .a['b.c'], .a[*].b,
 * .a[?(@.type=="Ready")].b; a backslash escapes a dot in a name. */
#include "json/json.h"

/* The first match, or NULL. */
const struct json *api_jsonpath(struct arena *arena, const struct json *root, struct str path);
