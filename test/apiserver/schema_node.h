#pragma once
/* The compiled schema, shared by the files that implement schema.h. */
#include "test/apiserver/schema.h"

enum api_schema_type {
    API_SCHEMA_ANY, /* preserved without a type */
    API_SCHEMA_OBJECT,
    API_SCHEMA_ARRAY,
    API_SCHEMA_STRING,
    API_SCHEMA_INTEGER,
    API_SCHEMA_NUMBER,
    API_SCHEMA_BOOLEAN,
    API_SCHEMA_INT_OR_STRING,
};

struct api_schema_property {
    struct str name;
    const struct api_schema *schema;
};

struct api_schemas {
    const struct api_schema **items;
    size_t count;
};

struct api_schema {
    const struct json *raw;
    enum api_schema_type type;
    bool nullable;
    bool preserve_unknown;
    bool embedded_resource;
    bool atomic_map;
    struct api_schema_property *properties;
    size_t property_count;
    const struct api_schema *values; /* additionalProperties */
    bool values_free;                /* additionalProperties: true */
    const struct api_schema *items;
    struct str *required;
    size_t required_count;
    struct str *list_keys;
    size_t list_key_count;
    bool list_set;

    const struct json *default_value;
    const struct json *enum_values;
    const struct json *minimum, *maximum, *multiple_of;
    bool exclusive_minimum, exclusive_maximum, unique_items;
    struct opt_i64 min_length, max_length, min_items, max_items, min_properties, max_properties;
    struct str pattern;
    struct str format;
    struct api_schemas all_of, any_of, one_of;
    const struct api_schema *not_schema;
};
