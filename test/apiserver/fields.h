#pragma once
/* Which objects a list or watch wants: namespace, labels, fields. Pure. */
#include "selector/selector.h"
#include "test/apiserver/status.h"
#include "test/apiserver/store.h"

struct as_field_term {
    struct str field;
    bool not_equal;
    struct str value;
    int index; /* in the bucket's table; or one of the two below */
};

#define AS_FIELD_NAME (-1)
#define AS_FIELD_NAMESPACE (-2)

struct as_filter {
    struct str prefix; /* of the key: "namespace/", or empty */
    struct selector labels;
    const struct as_field_term *terms;
    size_t term_count;
    bool selective; /* labels or fields were asked for */
};

/* 400 for bad syntax and for fields the kind does not offer. `alias` maps the field
 * names of a second API version to the bucket's (NULL: none). */
struct as_field_alias {
    const char *name;
    const char *stored;
};

struct as_filter_source {
    const struct as_bucket *bucket;
    const struct as_field_alias *aliases;
    size_t alias_count;
    struct str namespace;
    struct str label_selector, field_selector;
};

bool as_filter_parse(struct arena *arena, const struct as_filter_source *source, struct as_filter *ret,
                     struct api_error *error) MUST_CHECK;
/* The one name that a selector leaves, metadata.name=NAME, else empty: a list of one object
 * is allowed to whoever may list that object. */
struct str as_field_one_name(struct arena *arena, struct str field_selector);
bool as_filter_matches(const struct as_filter *filter, const struct as_object *object);
/* The same as a callback of as_snapshot_query. */
bool as_filter_matches_fn(void *filter, const struct as_object *object);
