#pragma once
/* Values and their field sets: what a value contains, how two differ, merging and
 * removing by path. Which lists and maps are taken apart, and by which keys, comes from
 * the resource: merge keys for built-ins, list types of the schema for custom ones. */
#include "test/apiserver/fieldset.h"
#include "test/apiserver/resource.h"

/* The kind of one spot of an object. */
struct api_shape {
    const struct api_resource *resource;
    const struct api_schema *schema; /* custom resources; NULL where the schema ends */
    struct str field;                /* built-ins: the name of the field it is in */
    bool is_root;
};

struct api_shape api_shape_root(const struct api_resource *resource);

/* The leaves of a value. */
struct api_fields *api_fields_of(struct arena *arena, const struct api_shape *shape,
                                 const struct json *value);

/* What is new or different in `after`, and what only `before` has. Either may be NULL. */
struct api_difference {
    struct api_fields *changed;
    struct api_fields *removed;
};
struct api_difference api_fields_compare(struct arena *arena, const struct api_shape *shape,
                                         const struct json *before, const struct json *after);

/* `config` laid over `live` (NULL: nothing). */
const struct json *api_fields_merge(struct arena *arena, const struct api_shape *shape,
                                    const struct json *live, const struct json *config);

/* `value` without the paths of `gone`. An object that loses its last field goes too; a
 * list element stays while `kept` names something below it. NULL: nothing is left. */
const struct json *api_fields_remove(struct arena *arena, const struct api_shape *shape,
                                     const struct json *value, const struct api_fields *gone,
                                     const struct api_fields *kept);
