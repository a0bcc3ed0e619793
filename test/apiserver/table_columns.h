#pragma once
/* Columns of built-in kinds. */
#include "test/apiserver/table.h"

struct api_cell_input {
    struct arena *arena;
    struct wall_time now;
    const struct json *object;
};

struct api_table_column {
    const char *name;
    const char *type;                                            /* "string", "integer" */
    const char *format;                                          /* "name" for the first column, else "" */
    int64_t priority;                                            /* above 0: only in -o wide */
    const struct json *(*cell)(const struct api_cell_input *in); /* never NULL */
};

/* Never empty: kinds without columns of their own get NAME and AGE. */
const struct api_table_column *api_table_columns(const struct api_resource *resource, size_t *count);

/* The age of a time field's text; "<unknown>" when there is none. */
const struct json *api_age_cell(const struct api_cell_input *in, const struct json *time);
