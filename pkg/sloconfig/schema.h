#pragma once
/* What an object in a policy key may hold, as nested tables. One walk over a table reads a
 * tree the way Go would decode it into a struct, checks it, or compares two of them.
 *
 *     const struct json *tree;
 *     if (!schema_read(&schema, object, &arena, &tree, &fault)) ... fault.path, fault.bad
 *     schema_check(&schema, tree, tree, &place);
 *
 * A running manager insists on types only. Ranges, words and pairs are for admission. */
#include "sloconfig/fields.h"
#include "sloconfig/finding.h"

enum schema_type {
    SCHEMA_BOOL,
    SCHEMA_INT,      /* a plain integer of 64 bits, or 32 */
    SCHEMA_TEXT,     /* any string */
    SCHEMA_QUANTITY, /* a string or number; kept as its canonical string */
    SCHEMA_SHARE,    /* an integer percent or the string of a quantity; kept as written */
    SCHEMA_BOOLS,    /* a free map of booleans, merged key by key */
    SCHEMA_OBJECT,   /* merged field by field */
    SCHEMA_LIST,     /* of objects; replaced as a whole */
};

/* Keys a SCHEMA_BOOLS map may have: merging it is work for every node. */
#define SCHEMA_MAX_MAP 1024

struct schema;

struct schema_field {
    const char *name;
    enum schema_type type;
    bool is_int32;               /* SCHEMA_INT */
    struct strategy_range range; /* SCHEMA_INT */
    const char *below;           /* SCHEMA_INT: must be less than this field of the same object */
    const char *const *words;    /* SCHEMA_TEXT: the only allowed values, NULL-ended */
    const char *const *known;    /* SCHEMA_TEXT: others are allowed, with a warning */
    bool required;               /* SCHEMA_TEXT: must be given */
    bool empty_counts;           /* SCHEMA_TEXT: the empty string is a value, else it is unset */
    const struct schema *object; /* SCHEMA_OBJECT, SCHEMA_LIST */
    /* JSON that an API server may put where the field is missing: no difference to us. */
    const char *server_default;
};

struct schema {
    const struct schema_field *fields;
    size_t count;
};

#define SCHEMA(fields_)                                                                                      \
    {                                                                                                        \
        .fields = (fields_), .count = ARRAY_LEN(fields_)                                                     \
    }

/* Where a wrong type stands, and what it is. */
struct schema_fault {
    struct str path; /* "lsClass.cpuQOS.groupIdentity"; empty: the object itself */
    const struct json *bad;
    struct err err;
};

/* The members that the schema knows, under their own names and in its order; nulls, null
 * items and unknown members are left out. Lives in `arena` and the tree of `object`. False
 * with *fault: a wrong type. */
bool schema_read(const struct schema *schema, const struct json *object, struct arena *arena,
                 const struct json **ret, struct schema_fault *fault) MUST_CHECK;

/* What `over` holds replaces what `base` has; objects and maps merge. */
const struct json *schema_merge(const struct json *base, const struct json *over, struct arena *arena);

struct schema_place {
    struct str key;
    struct str prefix; /* "clusterStrategy"; empty: the whole key */
    struct findings *findings;
};

/* Findings of FINDING_ADMISSION and _WARNING for what `written` (as read) says. Pairs are
 * judged as they come into effect, in `effective`, when `written` has either half. */
void schema_check(const struct schema *schema, const struct json *written, const struct json *effective,
                  const struct schema_place *place);

/* A merge patch from `have`, as foreign as it may be, to `want`, as read; NULL when nothing
 * that the schema knows differs. An empty list is as good as none. */
const struct json *schema_diff(const struct schema *schema, const struct json *have, const struct json *want,
                               struct arena *arena);
