#pragma once
/* What a write goes through on its way to the store, in this order:
 *
 *     api_object_decode    syntax: types, times, quantities (400); pruning and defaults
 *     api_object_validate  rules of the kind (422)
 *
 * The caller fills metadata (uid, resourceVersion, creationTimestamp, generateName,
 * generation) and takes status from the right side. Both work for built-ins and for
 * custom resources. */
#include "test/apiserver/status.h"

enum api_field_validation { API_FIELDS_WARN, API_FIELDS_IGNORE, API_FIELDS_STRICT };

/* "Ignore", "Warn", "Strict", empty (Warn); else false. */
bool api_field_validation_parse(struct str text, enum api_field_validation *ret) MUST_CHECK;

/* The object as the server's own types would hold it: unknown fields gone, quantities of
 * built-in kinds canonical, defaults set, apiVersion and kind filled in. Refuses (400) an
 * apiVersion or kind that differs from the resource's, values of wrong types, Times that
 * do not parse, MicroTimes without exactly six fractional digits. With API_FIELDS_STRICT
 * unknown fields are a 400; with API_FIELDS_WARN they are added to `warnings` (may be
 * NULL), one message each. */
bool api_object_decode(struct arena *arena, const struct api_resource *resource, const struct json *object,
                       enum api_field_validation field_validation, struct api_causes *warnings,
                       const struct json **ret, struct api_error *error) MUST_CHECK;

/* `old` is NULL at create. Checks metadata (name, namespace, labels, annotations, finalizers,
 * owner references, immutable fields) and the kind's own rules. */
bool api_object_validate(struct arena *arena, const struct api_resource *resource, const struct json *object,
                         const struct json *old, struct api_error *error) MUST_CHECK;

/* DNS-1123 syntax: lower-case letters, digits, '-', and for subdomains '.'. */
bool api_dns_label_valid(struct str name);
bool api_dns_subdomain_valid(struct str name);
