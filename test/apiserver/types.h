#pragma once
/* The shape of built-in kinds as far as the server knows it: one row per field. It
 * drives decoding (types, times, quantities, unknown fields) the way a schema does for
 * custom resources. */
#include "test/apiserver/resource.h"

enum api_value_kind {
    API_VALUE_ANY, /* kept as it is */
    API_VALUE_STRING,
    API_VALUE_BOOL,
    API_VALUE_INT32,
    API_VALUE_INT64,
    API_VALUE_INT_OR_STRING,
    API_VALUE_TIME,      /* RFC 3339, shown in UTC with whole seconds */
    API_VALUE_MICROTIME, /* exactly six fractional digits */
    API_VALUE_QUANTITY,  /* shown in canonical form */
    API_VALUE_BYTES,     /* base64 */
    API_VALUE_OBJECT,    /* described by `type` */
};

enum api_value_shape { API_SHAPE_ONE, API_SHAPE_LIST, API_SHAPE_MAP };

struct api_type;

struct api_type_field {
    const char *name;
    enum api_value_kind kind;
    enum api_value_shape shape; /* empty lists and maps are left out */
    bool omit_zero;             /* "", false and 0 mean absent */
    const struct api_type *type;
};

struct api_type {
    const struct api_type_field *fields;
    size_t count;
    bool open; /* the table is partial: other fields are kept unchecked */
};

/* NULL for custom resources; never NULL for built-ins. */
const struct api_type *api_type_of(const struct api_resource *resource);
extern const struct api_type api_type_metadata;
