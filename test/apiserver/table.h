#pragma once
/* Server-side tables: what `kubectl get` prints. */
#include "base/clock.h"
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/resource.h"

enum api_include_object { API_INCLUDE_METADATA, API_INCLUDE_NONE, API_INCLUDE_OBJECT };

struct api_table_options {
    enum api_include_object include;
    bool no_columns; /* columnDefinitions left empty: events of a watch after the first */
    struct wall_time now;
    const struct json *list_metadata; /* resourceVersion, continue, ...; may be NULL */
};

/* Whether Accept asks for `as=Table;v=v1;g=meta.k8s.io`, and which objects it wants
 * (query parameter includeObject: "", None, Metadata, Object). */
bool api_table_wanted(struct str accept);
bool api_table_include_parse(struct str text, enum api_include_object *ret);

const struct json *api_table(struct arena *arena, const struct api_resource *resource,
                             const struct json *const *objects, size_t count,
                             const struct api_table_options *options);

/* "5s", "2m30s", "3h", "4d2h", "2y": ages as kubectl prints them. */
struct str api_age(struct arena *arena, struct wall_time then, struct wall_time now);
