#include "kube/request.h"
#include "http/url.h"

static const struct {
    const char *name;
    enum err_kind kind;
} failures[KUBE_FAILURE_COUNT] = {
    [KUBE_OK] = { "ok", ERR_NONE },
    [KUBE_NOT_FOUND] = { "not-found", ERR_NOT_FOUND },
    [KUBE_ALREADY_EXISTS] = { "already-exists", ERR_CONFLICT },
    [KUBE_CONFLICT] = { "conflict", ERR_CONFLICT },
    [KUBE_EXPIRED] = { "expired", ERR_TRANSIENT },
    [KUBE_TOO_LARGE_RV] = { "too-large-resource-version", ERR_TRANSIENT },
    [KUBE_INVALID] = { "invalid", ERR_INVALID },
    [KUBE_UNAUTHORIZED] = { "unauthorized", ERR_TRANSIENT },
    [KUBE_FORBIDDEN] = { "forbidden", ERR_TRANSIENT },
    [KUBE_THROTTLED] = { "throttled", ERR_TRANSIENT },
    [KUBE_SERVER] = { "server-error", ERR_TRANSIENT },
    [KUBE_UNAVAILABLE] = { "unavailable", ERR_TRANSIENT },
    [KUBE_PROTOCOL] = { "protocol-error", ERR_TRANSIENT },
    [KUBE_UNREACHABLE] = { "unreachable", ERR_TRANSIENT },
    [KUBE_TRANSPORT] = { "transport-error", ERR_TRANSIENT },
    [KUBE_FENCED] = { "fenced", ERR_TRANSIENT },
};

const char *kube_failure_name(enum kube_failure failure)
{
    return failures[failure].name;
}

enum err_kind kube_failure_err_kind(enum kube_failure failure)
{
    return failures[failure].kind;
}

const char *kube_request_method(const struct kube_request *request)
{
    static const char *const methods[] = {
        [KUBE_GET] = "GET",    [KUBE_LIST] = "GET",          [KUBE_WATCH] = "GET",     [KUBE_CREATE] = "POST",
        [KUBE_UPDATE] = "PUT", [KUBE_PATCH_MERGE] = "PATCH", [KUBE_DELETE] = "DELETE",
    };
    return methods[request->verb];
}

static void add_segment(struct strbuf *out, struct str segment)
{
    strbuf_addc(out, '/');
    url_encode(out, segment);
}

static void add_param(struct strbuf *out, char *separator, const char *name, struct str value)
{
    strbuf_addc(out, *separator);
    *separator = '&';
    strbuf_add(out, str_c(name));
    strbuf_addc(out, '=');
    url_encode(out, value);
}

static void add_number(struct strbuf *out, char *separator, const char *name, int64_t value)
{
    strbuf_addf(out, "%c%s=%lld", *separator, name, (long long)value);
    *separator = '&';
}

/* The kind's own selector and the request's: both must hold. */
static void add_field_selectors(struct strbuf *out, char *separator, const struct kube_request *request)
{
    struct str own = str_c(request->kind->field_selector);
    struct str more = request->field_selector;
    if (str_empty(own) && str_empty(more))
        return;
    add_param(out, separator, "fieldSelector", own);
    if (!str_empty(own) && !str_empty(more))
        url_encode(out, STR(","));
    url_encode(out, more);
}

static void add_query(struct strbuf *out, const struct kube_request *request)
{
    char separator = '?';
    if (request->verb == KUBE_WATCH) {
        add_param(out, &separator, "watch", STR("true"));
        if (request->bookmarks)
            add_param(out, &separator, "allowWatchBookmarks", STR("true"));
        if (request->timeout_s > 0)
            add_number(out, &separator, "timeoutSeconds", request->timeout_s);
    }
    if (request->verb == KUBE_LIST || request->verb == KUBE_WATCH)
        add_field_selectors(out, &separator, request);
    if (request->limit > 0)
        add_number(out, &separator, "limit", request->limit);
    if (!str_empty(request->continue_token)) {
        /* LST-2: the token names its own snapshot; a resourceVersion beside it is refused. */
        add_param(out, &separator, "continue", request->continue_token);
        return;
    }
    if (request->has_resource_version)
        add_param(out, &separator, "resourceVersion", request->resource_version);
    if (request->resource_version_match)
        add_param(out, &separator, "resourceVersionMatch", str_c(request->resource_version_match));
}

void kube_request_target(const struct kube_request *request, struct strbuf *out)
{
    const struct kube_kind *kind = request->kind;
    if (*kind->group) {
        strbuf_add(out, STR("/apis"));
        add_segment(out, str_c(kind->group));
    } else {
        strbuf_add(out, STR("/api"));
    }
    add_segment(out, str_c(kind->version));
    if (kind->namespaced && !str_empty(request->ns)) {
        strbuf_add(out, STR("/namespaces"));
        add_segment(out, request->ns);
    }
    add_segment(out, str_c(kind->plural));
    if (!str_empty(request->name))
        add_segment(out, request->name);
    if (request->subresource)
        add_segment(out, str_c(request->subresource));
    add_query(out, request);
}

/* --- answers --------------------------------------------------------------------- */

static bool says_too_large(const struct api_status *status)
{
    static const struct str text = STR_INIT("Too large resource version");
    const struct api_cause *causes = status->causes.items;
    for (size_t i = 0; i < status->causes.count; i++) {
        if (str_eq(causes[i].reason, STR("ResourceVersionTooLarge")) ||
            str_starts_with(causes[i].message, text))
            return true;
    }
    return str_starts_with(status->message, text);
}

static const struct {
    const char *reason;
    enum kube_failure failure;
} reasons[] = {
    { "NotFound", KUBE_NOT_FOUND },
    { "AlreadyExists", KUBE_ALREADY_EXISTS },
    { "Conflict", KUBE_CONFLICT },
    { "Gone", KUBE_EXPIRED },
    { "Expired", KUBE_EXPIRED },
    { "Invalid", KUBE_INVALID },
    { "BadRequest", KUBE_INVALID },
    { "MethodNotAllowed", KUBE_INVALID },
    { "NotAcceptable", KUBE_INVALID },
    { "UnsupportedMediaType", KUBE_INVALID },
    { "RequestEntityTooLarge", KUBE_INVALID },
    { "Unauthorized", KUBE_UNAUTHORIZED },
    { "Forbidden", KUBE_FORBIDDEN },
    { "TooManyRequests", KUBE_THROTTLED },
    { "InternalError", KUBE_SERVER },
    { "ServerTimeout", KUBE_UNAVAILABLE },
    { "ServiceUnavailable", KUBE_UNAVAILABLE },
    { "Timeout", KUBE_UNAVAILABLE },
};

static enum kube_failure classify_code(int code, bool is_create)
{
    switch (code) {
    case 401:
        return KUBE_UNAUTHORIZED;
    case 403:
        return KUBE_FORBIDDEN;
    case 404:
        return KUBE_NOT_FOUND;
    case 409:
        return is_create ? KUBE_ALREADY_EXISTS : KUBE_CONFLICT;
    case 408:
    case 502:
    case 503:
    case 504:
        return KUBE_UNAVAILABLE;
    case 410:
        return KUBE_EXPIRED;
    case 429:
        return KUBE_THROTTLED;
    default:
        break;
    }
    if (code >= 200 && code < 300)
        return KUBE_OK;
    if (code >= 400 && code < 500)
        return KUBE_INVALID;
    return code >= 500 ? KUBE_SERVER : KUBE_PROTOCOL;
}

/* Some servers leave "Failure" out of an error's Status. In a good answer only that word
 * makes one: other objects have a reason and a message, too. */
static bool is_failure(int code, const struct api_status *status)
{
    if (!status || str_eq(status->status, STR("Success")))
        return false;
    return str_eq(status->status, STR("Failure")) || code < 200 || code >= 300;
}

enum kube_failure kube_classify(int code, const struct api_status *status, bool is_create)
{
    if (!is_failure(code, status))
        return classify_code(code, is_create);
    if (says_too_large(status))
        return KUBE_TOO_LARGE_RV;
    if (code == 429) /* by reason or by code: either means "not executed, later" */
        return KUBE_THROTTLED;
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (str_eq(status->reason, str_c(reasons[i].reason)))
            return reasons[i].failure;
    }
    bool says_code = status->code >= 300 && status->code < 600;
    enum kube_failure failure = classify_code(says_code ? (int)status->code : code, is_create);
    return failure == KUBE_OK ? KUBE_SERVER : failure; /* ERR-4: a 200 that carries a Failure */
}
