#pragma once
/* What to ask the API server, as a value, and what its answers mean. Pure. */
#include "api/kind.h"
#include "base/strbuf.h"

enum kube_verb {
    KUBE_GET,
    KUBE_LIST,
    KUBE_WATCH,
    KUBE_CREATE,
    KUBE_UPDATE,
    KUBE_PATCH_MERGE,
    KUBE_DELETE,
};

struct kube_request {
    enum kube_verb verb;
    const struct kube_kind *kind;
    struct str ns;             /* empty: cluster-scoped, or all namespaces for list and watch */
    struct str name;           /* empty for list, watch, create */
    const char *subresource;   /* "status"; NULL: none */
    struct str body;           /* JSON */
    struct str field_selector; /* in addition to the kind's own */

    /* list and watch */
    int64_t limit;             /* 0: none */
    struct str continue_token; /* excludes resource_version */
    bool has_resource_version;
    struct str resource_version;
    const char *resource_version_match; /* NULL: none */
    bool bookmarks;
    int64_t timeout_s; /* timeoutSeconds of a watch; also bounds its life on our side (+30 s) */

    int64_t request_timeout_ms; /* short requests and lists; 0: 30 s, lists 60 s without progress */

    /* The fence: asked at the last moment before the request is written, and before every
     * repetition; false: KUBE_FENCED. Has to read the clock itself. NULL: always. */
    bool (*may_send)(void *self);
    void *may_send_self;
};

/* "GET", "POST", ... */
const char *kube_request_method(const struct kube_request *request);
/* Path and query behind the server's URL, every part percent-encoded. */
void kube_request_target(const struct kube_request *request, struct strbuf *out);

/* What an answer means to whoever asked. */
enum kube_failure {
    KUBE_OK,
    KUBE_NOT_FOUND,      /* 404 */
    KUBE_ALREADY_EXISTS, /* 409 AlreadyExists */
    KUBE_CONFLICT,       /* 409 Conflict, failed precondition */
    KUBE_EXPIRED,        /* 410: resourceVersion or continue token too old */
    KUBE_TOO_LARGE_RV,   /* our resourceVersion is in the server's future */
    KUBE_INVALID,        /* 400, 405, 406, 413, 415, 422: repeating cannot help */
    KUBE_UNAUTHORIZED,   /* 401 */
    KUBE_FORBIDDEN,      /* 403 */
    KUBE_THROTTLED,      /* 429: not executed */
    KUBE_SERVER,         /* 500 and its kin: the server stumbled over this very request */
    KUBE_UNAVAILABLE,    /* 408, 502, 503, 504: nobody there to answer it just now */
    KUBE_PROTOCOL,       /* not what an API server says: HTML, wrong media type, bad JSON */
    KUBE_UNREACHABLE,    /* no connection: certainly not executed */
    KUBE_TRANSPORT,      /* cut or timed out: executed or not is unknown */
    KUBE_FENCED,         /* may_send said no: not executed */
};
#define KUBE_FAILURE_COUNT (KUBE_FENCED + 1)
const char *kube_failure_name(enum kube_failure failure);
enum err_kind kube_failure_err_kind(enum kube_failure failure);

/* From the HTTP code and, when the body was a Status, its fields; reason first, then code
 * (ERR-1, ERR-2). `status` may be NULL. */
enum kube_failure kube_classify(int code, const struct api_status *status, bool is_create);
