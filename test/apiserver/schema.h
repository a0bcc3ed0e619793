#pragma once
/* Structural schemas (openAPIV3Schema of a CRD): prune, default, validate. */
#include "base/err.h"
#include "test/apiserver/status.h"

struct api_schema;

/* Everything lands in `arena`, which must outlive the schema and must not be cleared.
 * The raw JSON is kept by reference. Errors name the path inside the schema. */
bool api_schema_compile(struct arena *arena, const struct json *openapi_v3_schema,
                        const struct api_schema **ret, struct err *err) MUST_CHECK;
/* The raw schema it came from, for OpenAPI documents. */
const struct json *api_schema_raw(const struct api_schema *schema);

/* Without the fields the schema does not name (x-kubernetes-preserve-unknown-fields
 * keeps them). apiVersion, kind and metadata at the root always stay. Unchanged parts are
 * shared with `value`. `unknown` (may be NULL) collects the paths dropped, each as
 * `unknown field "spec.x"`. */
const struct json *api_schema_prune(struct arena *arena, const struct api_schema *schema,
                                    const struct json *value, struct api_causes *unknown);
/* With absent fields (and null ones that are not nullable) set to their defaults. */
const struct json *api_schema_default(struct arena *arena, const struct api_schema *schema,
                                      const struct json *value);
/* Adds a cause per violation; metadata is not looked at. */
void api_schema_validate(const struct api_schema *schema, const struct json *value,
                         struct api_causes *causes);

/* For merge-key lists of custom resources: `properties.x` or `items` of a schema, NULL
 * when it has none. */
const struct api_schema *api_schema_property(const struct api_schema *schema, struct str name);
const struct api_schema *api_schema_items(const struct api_schema *schema);
/* Of additionalProperties; NULL when there are none. */
const struct api_schema *api_schema_values(const struct api_schema *schema);
/* x-kubernetes-list-type map: the keys; 0 for atomic lists. *ret_set for sets. */
size_t api_schema_list_keys(const struct api_schema *schema, const struct str **ret_keys, bool *ret_set);
/* x-kubernetes-map-type: atomic. */
bool api_schema_atomic(const struct api_schema *schema);
