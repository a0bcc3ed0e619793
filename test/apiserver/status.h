#pragma once
/* What an API server answers when it refuses: the error as a value, and the Status
 * object it becomes on the wire.
 *
 *     if (!found)
 *         return api_fail_not_found(error, arena, resource, name);
 *
 * Every function that fills an error returns false. All texts live in the arena that was
 * passed; an error is dead once that arena is cleared. */
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/path.h"
#include "test/apiserver/resource.h"

/* Reasons of causes (field errors). */
#define API_CAUSE_INVALID "FieldValueInvalid"
#define API_CAUSE_REQUIRED "FieldValueRequired"
#define API_CAUSE_NOT_SUPPORTED "FieldValueNotSupported"
#define API_CAUSE_DUPLICATE "FieldValueDuplicate"
#define API_CAUSE_FORBIDDEN "FieldValueForbidden"
#define API_CAUSE_TOO_LONG "FieldValueTooLong"
#define API_CAUSE_TOO_MANY "FieldValueTooMany"
#define API_CAUSE_TYPE_INVALID "FieldValueTypeInvalid"
#define API_CAUSE_MANAGER_CONFLICT "FieldManagerConflict"
#define API_CAUSE_VERSION_TOO_LARGE "ResourceVersionTooLarge"
#define API_CAUSE_NAMESPACE_TERMINATING "NamespaceTerminating"

struct api_cause {
    const char *reason; /* static */
    struct str field;
    struct str message; /* without the field in front */
};

/* Field errors as a validator collects them. */
struct api_causes {
    struct arena *arena;
    struct api_cause *items;
    size_t count;
    size_t cap;
};

#define API_CAUSES_INIT(arena_) ((struct api_causes){ .arena = (arena_) })

void api_cause_add(struct api_causes *causes, const char *reason, const struct api_path *path,
                   const char *format, ...) PRINTF_LIKE(4, 5);
/* `Unsupported value: "x": supported values: "a", "b"` */
void api_cause_unsupported(struct api_causes *causes, const struct api_path *path, struct str value,
                           const struct str *supported, size_t count);
/* `Invalid value: VALUE: message`; VALUE is the JSON, strings quoted, objects named by type. */
void api_cause_invalid(struct api_causes *causes, const struct api_path *path, const struct json *value,
                       const char *format, ...) PRINTF_LIKE(4, 5);
void api_cause_required(struct api_causes *causes, const struct api_path *path);

struct api_error {
    int code;           /* HTTP status; 0: no error */
    const char *reason; /* static; "NotFound", "Conflict", ... */
    struct str message;
    struct str group, kind, name, uid; /* details, left out when empty */
    const struct api_cause *causes;
    size_t cause_count;
    int64_t retry_after_s;     /* 0: left out. Also the Retry-After header */
    struct str continue_token; /* metadata.continue, of an expired list */
};

#define API_ERROR_INIT ((struct api_error){ 0 })

/* {"kind":"Status",...,"status":"Failure",...} */
const struct json *api_status_json(struct arena *arena, const struct api_error *error);
/* {"kind":"Status",...,"status":"Success","details":{name,group,kind,uid}}: the answer to a delete. */
const struct json *api_status_success(struct arena *arena, const struct api_resource *resource,
                                      struct str name, struct str uid);
/* The reason that goes with an HTTP code when nothing better is known; "" when none. */
const char *api_reason_of(int code);

/* Any code with its usual reason. */
bool api_fail(struct api_error *error, struct arena *arena, int code, const char *format, ...)
    PRINTF_LIKE(4, 5);

bool api_fail_not_found(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                        struct str name); /* 404 with details */
/* 404 without a name: the path or the resource is unknown. */
bool api_fail_no_resource(struct api_error *error, struct arena *arena);
bool api_fail_exists(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                     struct str name); /* 409 AlreadyExists */
/* 409 Conflict: somebody else changed the object. */
bool api_fail_modified(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                       struct str name);
/* 409 Conflict with a text, such as a failed precondition. */
bool api_fail_conflict(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                       struct str name, const char *format, ...) PRINTF_LIKE(5, 6);
/* 422 Invalid; `causes` must hold at least one. */
bool api_fail_invalid(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                      struct str name, const struct api_causes *causes);
/* 422 for query parameters: "ListOptions", "CreateOptions", ... */
bool api_fail_options(struct api_error *error, struct arena *arena, const char *kind,
                      const struct api_causes *causes);
bool api_fail_forbidden(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                        struct str name, const char *format, ...) PRINTF_LIKE(5, 6); /* 403 */
bool api_fail_expired(struct api_error *error, struct arena *arena,
                      struct str continue_token); /* 410 Expired */
bool api_fail_gone(struct api_error *error, struct arena *arena, const char *format, ...) PRINTF_LIKE(3, 4);
bool api_fail_media_type(struct api_error *error, struct arena *arena, const char *accepted); /* 415 */
bool api_fail_not_acceptable(struct api_error *error, struct arena *arena);                   /* 406 */
bool api_fail_method(struct api_error *error, struct arena *arena);                           /* 405 */
bool api_fail_too_many(struct api_error *error, struct arena *arena, int64_t retry_after_s,
                       const char *format, ...) PRINTF_LIKE(4, 5); /* 429 */
/* 504 Timeout with the cause ResourceVersionTooLarge: the asked version is in the future. */
bool api_fail_version_too_large(struct api_error *error, struct arena *arena, struct str asked,
                                struct str current);
