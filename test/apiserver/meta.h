#pragma once
/* What the server itself decides about an object on its way to the store: identity,
 * times, generation, and which side of a write the status comes from. Pure: trees in,
 * trees out. */
#include "test/apiserver/registry.h"
#include "test/apiserver/status.h"

struct as_meta_facts {
    struct str now;       /* RFC 3339 */
    struct str uid;       /* for a new object */
    struct str suffix;    /* for generateName */
    struct str namespace; /* of the address; empty when cluster-scoped */
    struct str name;      /* of the address; empty at POST */
};

/* A new object: name and namespace checked against the address (400) or made up, system
 * fields set, status dropped where a client cannot set it. */
bool as_meta_create(struct arena *arena, const struct as_resource *resource,
                    const struct as_meta_facts *facts, const struct json *object, const struct json **ret,
                    struct api_error *error) MUST_CHECK;

/* `object` as the successor of `old`, both whole trees: system fields from `old`, status
 * from the side that `is_status` says, generation raised when the rest changed. 400 for
 * another name, 409 for another uid. */
bool as_meta_update(struct arena *arena, const struct as_resource *resource, const struct json *old,
                    const struct json *object, bool is_status, const struct json **ret,
                    struct api_error *error) MUST_CHECK;

/* Whether anything but metadata and status differs. */
bool as_meta_rest_changed(struct arena *arena, const struct json *old, const struct json *object);
const struct json *as_meta_raise_generation(struct arena *arena, const struct json *object);

/* `old` marked as being deleted: at `when`, in `grace_s` seconds, or as soon as its
 * finalizers have done their work. */
const struct json *as_meta_deleting(struct arena *arena, const struct as_resource *resource,
                                    const struct json *old, struct str when, int64_t grace_s);
bool as_meta_is_deleting(const struct json *object);
int64_t as_meta_grace(const struct json *object); /* deletionGracePeriodSeconds */
size_t as_meta_finalizers(const struct json *object);

/* {uid, resourceVersion} of DeleteOptions against the object: 409. */
bool as_meta_check(struct arena *arena, const struct as_resource *resource, const struct as_object *object,
                   const struct json *preconditions, struct api_error *error) MUST_CHECK;
