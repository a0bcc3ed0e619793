#pragma once
/* metadata.managedFields as a list of who owns what. */
#include "test/apiserver/apply.h"
#include "test/apiserver/fieldset.h"

struct api_owner {
    struct str manager, operation, api_version, subresource;
    struct str time;
    struct api_fields *fields;
};

struct api_owners {
    struct arena *arena;
    struct api_owner *items;
    size_t count;
};

/* Of an object's metadata. Entries that cannot be read are dropped. */
struct api_owners api_owners_read(struct arena *arena, const struct json *object);
/* `object` with the list, owners of nothing left out; without the field when it is empty. */
const struct json *api_owners_write(const struct api_owners *owners, const struct json *object);

/* The entry of this writer; made when there is none (pointers to other entries die). */
struct api_owner *api_owners_of(struct api_owners *owners, const struct api_resource *resource,
                                const struct api_writer *writer, struct str operation);
/* Gives `owner` that set, with a new time if it differs. */
void api_owner_assign(struct arena *arena, struct api_owner *owner, struct api_fields *fields,
                      const struct api_writer *writer);

/* The object without what nobody can own: identity and what the server writes. */
const struct json *api_ownable(struct arena *arena, const struct json *object);
