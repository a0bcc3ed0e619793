#pragma once
/* Which lists of built-in kinds are merged by key (strategic patches, server-side
 * apply); all others are replaced whole. */
#include "test/apiserver/resource.h"
#include "json/json.h"

struct api_list_rule {
    const char *kind;    /* NULL: any */
    const char *field;   /* the list's own name; enough to tell lists apart within a kind */
    const char *keys[3]; /* the first is the strategic merge key; NULL-terminated. None: a set of scalars */
    bool apply_atomic;   /* merged by strategic patches, but one unit to server-side apply */
    bool patch_atomic;   /* the other way round */
};

/* NULL: atomic. Never a rule for custom resources. */
const struct api_list_rule *api_list_rule_find(const struct api_resource *resource, struct str field);

/* Maps and structs that server-side apply treats as one value, such as label selectors. */
bool api_map_rule_atomic(const struct api_resource *resource, struct str field);
