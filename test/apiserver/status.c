#include "test/apiserver/status.h"
#include "test/apiserver/tree.h"
#include <stdio.h>

static const struct {
    int code;
    const char *reason;
} reasons[] = {
    { 400, "BadRequest" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "NotFound" },
    { 405, "MethodNotAllowed" },
    { 406, "NotAcceptable" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "RequestEntityTooLarge" },
    { 415, "UnsupportedMediaType" },
    { 422, "Invalid" },
    { 429, "TooManyRequests" },
    { 500, "InternalError" },
    { 503, "ServiceUnavailable" },
    { 504, "Timeout" },
};

const char *api_reason_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return "";
}

/* ---- causes ---- */

static struct str format_str(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

static struct str format_str(struct arena *arena, const char *format, va_list args)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)1024 * 1024);
    strbuf_addv(&out, format, args);
    return arena_str(arena, strbuf_str(&out));
}

static void add_cause(struct api_causes *causes, const char *reason, const struct api_path *path,
                      struct str message)
{
    if (causes->count == causes->cap) {
        size_t cap = causes->cap ? 2 * causes->cap : 4;
        causes->items = arena_grow(causes->arena, causes->items, causes->cap * sizeof(*causes->items),
                                   cap * sizeof(*causes->items));
        causes->cap = cap;
    }
    causes->items[causes->count++] = (struct api_cause){
        .reason = reason,
        .field = path ? api_path_str(causes->arena, path) : STR("<nil>"),
        .message = message,
    };
}

void api_cause_add(struct api_causes *causes, const char *reason, const struct api_path *path,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str message = format_str(causes->arena, format, args);
    va_end(args);
    add_cause(causes, reason, path, message);
}

void api_cause_unsupported(struct api_causes *causes, const struct api_path *path, struct str value,
                           const struct str *supported, size_t count)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 * 1024);
    strbuf_addf(&out, "Unsupported value: \"" STR_FMT "\": supported values:", STR_ARG(value));
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&out, "%s \"" STR_FMT "\"", i ? "," : "", STR_ARG(supported[i]));
    add_cause(causes, API_CAUSE_NOT_SUPPORTED, path, arena_str(causes->arena, strbuf_str(&out)));
}

void api_cause_invalid(struct api_causes *causes, const struct api_path *path, const struct json *value,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str detail = format_str(causes->arena, format, args);
    va_end(args);
    struct str shown = value ? api_text(causes->arena, value, 512) : STR("null");
    add_cause(
        causes, API_CAUSE_INVALID, path,
        arena_strf(causes->arena, "Invalid value: " STR_FMT ": " STR_FMT, STR_ARG(shown), STR_ARG(detail)));
}

void api_cause_required(struct api_causes *causes, const struct api_path *path)
{
    add_cause(causes, API_CAUSE_REQUIRED, path, STR("Required value"));
}

/* ---- the Status object ---- */

static const struct json *causes_json(struct arena *arena, const struct api_error *error)
{
    struct json *list = api_array(arena);
    for (size_t i = 0; i < error->cause_count; i++) {
        const struct api_cause *cause = &error->causes[i];
        struct json *item = api_object(arena);
        api_set_c(arena, item, "reason", cause->reason);
        api_set_str(arena, item, "message", cause->message);
        api_set_some(arena, item, "field", cause->field);
        json_push(arena, list, item);
    }
    return list;
}

static const struct json *details_json(struct arena *arena, const struct api_error *error)
{
    struct json *details = api_object(arena);
    api_set_some(arena, details, "name", error->name);
    api_set_some(arena, details, "group", error->group);
    api_set_some(arena, details, "kind", error->kind);
    api_set_some(arena, details, "uid", error->uid);
    if (error->cause_count > 0)
        api_set(arena, details, "causes", causes_json(arena, error));
    if (error->retry_after_s > 0)
        api_set_i64(arena, details, "retryAfterSeconds", error->retry_after_s);
    return details;
}

static struct json *status_start(struct arena *arena, struct str continue_token, const char *status)
{
    struct json *root = api_object(arena);
    struct json *metadata = api_object(arena);
    api_set_c(arena, root, "kind", "Status");
    api_set_c(arena, root, "apiVersion", "v1");
    api_set_some(arena, metadata, "continue", continue_token);
    api_set(arena, root, "metadata", metadata);
    api_set_c(arena, root, "status", status);
    return root;
}

const struct json *api_status_json(struct arena *arena, const struct api_error *error)
{
    struct json *root = status_start(arena, error->continue_token, "Failure");
    api_set_str(arena, root, "message", error->message);
    api_set_some(arena, root, "reason", str_c(error->reason));
    const struct json *details = details_json(arena, error);
    if (json_count(details) > 0)
        api_set(arena, root, "details", details);
    api_set_i64(arena, root, "code", error->code);
    return root;
}

const struct json *api_status_success(struct arena *arena, const struct api_resource *resource,
                                      struct str name, struct str uid)
{
    struct json *root = status_start(arena, STR_NULL, "Success");
    struct json *details = api_object(arena);
    api_set_some(arena, details, "name", name);
    api_set_some(arena, details, "group", resource->group);
    api_set_some(arena, details, "kind", resource->plural);
    api_set_some(arena, details, "uid", uid);
    api_set(arena, root, "details", details);
    return root;
}

/* ---- one function per way of failing ---- */

bool api_fail(struct api_error *error, struct arena *arena, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str message = format_str(arena, format, args);
    va_end(args);
    *error = (struct api_error){ .code = code, .reason = api_reason_of(code), .message = message };
    return false;
}

/* Details that name the resource, not the kind, as all but Invalid do. */
static bool fail_named(struct api_error *error, int code, const char *reason,
                       const struct api_resource *resource, struct str name, struct str message)
{
    *error = (struct api_error){
        .code = code,
        .reason = reason,
        .message = message,
        .group = resource->group,
        .kind = resource->plural,
        .name = name,
    };
    return false;
}

bool api_fail_not_found(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                        struct str name)
{
    return fail_named(error, 404, "NotFound", resource, name,
                      arena_strf(arena, API_RESOURCE_FMT " \"" STR_FMT "\" not found",
                                 API_RESOURCE_ARG(resource), STR_ARG(name)));
}

bool api_fail_no_resource(struct api_error *error, struct arena *arena)
{
    return api_fail(error, arena, 404, "the server could not find the requested resource");
}

bool api_fail_exists(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                     struct str name)
{
    return fail_named(error, 409, "AlreadyExists", resource, name,
                      arena_strf(arena, API_RESOURCE_FMT " \"" STR_FMT "\" already exists",
                                 API_RESOURCE_ARG(resource), STR_ARG(name)));
}

bool api_fail_conflict(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                       struct str name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str why = format_str(arena, format, args);
    va_end(args);
    return fail_named(
        error, 409, "Conflict", resource, name,
        arena_strf(arena, "Operation cannot be fulfilled on " API_RESOURCE_FMT " \"" STR_FMT "\": " STR_FMT,
                   API_RESOURCE_ARG(resource), STR_ARG(name), STR_ARG(why)));
}

bool api_fail_modified(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                       struct str name)
{
    return api_fail_conflict(
        error, arena, resource, name,
        "the object has been modified; please apply your changes to the latest version and "
        "try again");
}

static void add_causes_text(struct strbuf *out, const struct api_causes *causes)
{
    if (causes->count > 1)
        strbuf_addc(out, '[');
    for (size_t i = 0; i < causes->count; i++)
        strbuf_addf(out, "%s" STR_FMT ": " STR_FMT, i ? ", " : "", STR_ARG(causes->items[i].field),
                    STR_ARG(causes->items[i].message));
    if (causes->count > 1)
        strbuf_addc(out, ']');
}

bool api_fail_invalid(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                      struct str name, const struct api_causes *causes)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)1024 * 1024);
    strbuf_addf(&out, STR_FMT "%s" STR_FMT " \"" STR_FMT "\" is invalid: ", STR_ARG(resource->kind),
                resource->group.len ? "." : "", STR_ARG(resource->group), STR_ARG(name));
    add_causes_text(&out, causes);
    *error = (struct api_error){
        .code = 422,
        .reason = "Invalid",
        .message = arena_str(arena, strbuf_str(&out)),
        .group = resource->group,
        .kind = resource->kind,
        .name = name,
        .causes = causes->items,
        .cause_count = causes->count,
    };
    return false;
}

bool api_fail_options(struct api_error *error, struct arena *arena, const char *kind,
                      const struct api_causes *causes)
{
    const struct api_resource options = { .group = STR("meta.k8s.io"), .kind = str_c(kind) };
    return api_fail_invalid(error, arena, &options, STR_NULL, causes);
}

bool api_fail_forbidden(struct api_error *error, struct arena *arena, const struct api_resource *resource,
                        struct str name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str why = format_str(arena, format, args);
    va_end(args);
    struct str quoted = str_empty(name) ? STR_NULL : arena_strf(arena, " \"" STR_FMT "\"", STR_ARG(name));
    return fail_named(error, 403, "Forbidden", resource, name,
                      arena_strf(arena, API_RESOURCE_FMT STR_FMT " is forbidden: " STR_FMT,
                                 API_RESOURCE_ARG(resource), STR_ARG(quoted), STR_ARG(why)));
}

bool api_fail_expired(struct api_error *error, struct arena *arena, struct str continue_token)
{
    api_fail(error, arena, 410, "%s",
             str_empty(continue_token)
                 ? "The resourceVersion for the provided list is too old."
                 : "The provided continue parameter is too old to display a consistent list result. You can "
                   "start a "
                   "new list without the continue parameter, or use the continue token in this response to "
                   "retrieve the remainder of the results, which may then be inconsistent.");
    error->reason = "Expired";
    error->continue_token = continue_token;
    return false;
}

bool api_fail_gone(struct api_error *error, struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str message = format_str(arena, format, args);
    va_end(args);
    *error = (struct api_error){ .code = 410, .reason = "Gone", .message = message };
    return false;
}

bool api_fail_media_type(struct api_error *error, struct arena *arena, const char *accepted)
{
    return api_fail(error, arena, 415,
                    "the body of the request was in an unknown format - accepted media types include: %s",
                    accepted);
}

bool api_fail_not_acceptable(struct api_error *error, struct arena *arena)
{
    return api_fail(error, arena, 406,
                    "only the following media types are accepted: application/json, "
                    "application/json;as=Table;v=v1;g=meta.k8s.io, "
                    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
}

bool api_fail_method(struct api_error *error, struct arena *arena)
{
    return api_fail(error, arena, 405, "the server does not allow this method on the requested resource");
}

bool api_fail_too_many(struct api_error *error, struct arena *arena, int64_t retry_after_s,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str message = format_str(arena, format, args);
    va_end(args);
    *error = (struct api_error){
        .code = 429, .reason = "TooManyRequests", .message = message, .retry_after_s = retry_after_s
    };
    return false;
}

bool api_fail_version_too_large(struct api_error *error, struct arena *arena, struct str asked,
                                struct str current)
{
    struct api_causes causes = API_CAUSES_INIT(arena);
    api_cause_add(&causes, API_CAUSE_VERSION_TOO_LARGE, NULL, "Too large resource version");
    causes.items[0].field = STR_NULL;
    *error = (struct api_error){
        .code = 504,
        .reason = "Timeout",
        .message = arena_strf(arena, "Too large resource version: " STR_FMT ", current: " STR_FMT,
                              STR_ARG(asked), STR_ARG(current)),
        .causes = causes.items,
        .cause_count = causes.count,
        .retry_after_s = 1,
    };
    return false;
}
