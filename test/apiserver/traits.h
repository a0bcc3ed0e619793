#pragma once
/* How single built-in kinds differ from the rest. A table; see registry.h. */
#include "test/apiserver/fields.h"

struct as_traits {
    const char *group;
    const char *plural;
    bool conditional_update; /* PUT must carry a resourceVersion */
    bool create_on_update;
    bool status_at_create;
    const struct as_field *fields;
    size_t field_count;
};

/* Never NULL. */
const struct as_traits *as_traits_of(struct str group, struct str plural);

/* Field names of events.k8s.io, in terms of the core ones under which Events are kept. */
extern const struct as_field_alias as_event_aliases[];
extern const size_t as_event_alias_count;
