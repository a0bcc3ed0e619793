#pragma once
/* Field ownership (metadata.managedFields) and server-side apply.
 *
 * Ownership is tracked per manager, operation and subresource as FieldsV1 sets. */
#include "base/clock.h"
#include "test/apiserver/status.h"

struct api_writer {
    struct str manager;     /* fieldManager, or the User-Agent up to the first '/' */
    struct str subresource; /* "status" or empty */
    struct wall_time now;
    bool force; /* apply only: take over what others own */
};

/* Server-side apply of `config` to `current` (NULL: create). The result has its
 * managedFields; a field that only this manager owned and that `config` leaves out is
 * gone. 409 with FieldManagerConflict causes unless forced; 400 when `config` lacks
 * apiVersion, kind or name or carries managedFields, 422 without a manager. When nothing
 * changes the result equals `current`, managedFields and times included. */
bool api_apply(struct arena *arena, const struct api_resource *resource, const struct json *current,
               const struct json *config, const struct api_writer *writer, const struct json **ret,
               struct api_error *error) MUST_CHECK;

/* managedFields after a create (`old` NULL), update or patch that turned `old` into
 * `object`: `writer` owns what changed, others lose what changed or went away. Returns
 * `object` with metadata.managedFields set; untouched when nothing but managedFields
 * differs. A client may clear the list by sending [{}]. */
const struct json *api_manage_update(struct arena *arena, const struct api_resource *resource,
                                     const struct json *old, const struct json *object,
                                     const struct api_writer *writer);
