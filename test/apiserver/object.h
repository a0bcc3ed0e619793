#pragma once
/* One version of one stored object: immutable, counted, a single block of memory.
 *
 * What is kept is the JSON text behind `"metadata":{"resourceVersion":"N",`, so that an
 * object can be sent with any resourceVersion (a deletion, a selector exit) and under
 * any of its API versions without being parsed or written again. */
#include "json/json.h"
#include "selector/selector.h"

/* A path that field selectors may name, and where its value stands in the object. */
struct as_field {
    const char *name;   /* "spec.nodeName" */
    const char *path;   /* dotted, in the stored form; NULL: the same as `name` */
    const char *absent; /* the value when the object has none; NULL: empty */
};

struct as_object {
    size_t refs;
    int64_t rv;
    struct str key; /* "namespace/name", or "name" when cluster-scoped: the list order */
    struct str namespace;
    struct str name;
    struct str uid;
    struct labels labels;
    const struct str *fields; /* values in the order of the bucket's as_field table */
    size_t field_count;
    struct str rest;
    size_t metadata_len; /* of `rest` up to the brace that ends metadata */
};

/* From a complete tree; apiVersion, kind and metadata.resourceVersion are left out.
 * The tree must have metadata.name. Never NULL; one reference. */
struct as_object *as_object_new(const struct json *tree, const struct as_field *fields, size_t field_count);
struct as_object *as_object_ref(struct as_object *object);
void as_object_unref(struct as_object *object); /* NULL is fine */

/* The value of a dotted path as a selector compares it: strings as they are, numbers
 * and booleans by their text, anything else as `absent`. */
struct str as_field_value(struct arena *arena, const struct json *tree, const char *path, const char *absent);

/* How an object is introduced on the wire. */
struct as_type_meta {
    struct str api_version; /* "apps/v1" */
    struct str kind;
};

/* The object as JSON text, stamped with `rv`. `type` NULL leaves kind and apiVersion
 * out, as in the lists of built-in kinds. */
void as_object_write(struct strbuf *out, const struct as_object *object, const struct as_type_meta *type,
                     int64_t rv);

/* Only type and metadata: kind PartialObjectMetadata of meta.k8s.io/v1. */
void as_object_write_metadata(struct strbuf *out, const struct as_object *object, int64_t rv);

/* The object as a tree in the arena, apiVersion and kind first. */
const struct json *as_object_tree(struct arena *arena, const struct as_object *object,
                                  const struct as_type_meta *type, int64_t rv);
