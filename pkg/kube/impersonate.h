#pragma once
/* The headers that make the API server take us for somebody else. Pure. */
#include "http/client.h"
#include "kube/kubeconfig.h"

struct impersonation {
    const struct http_header *headers; /* Impersonate-User first; NULL when nobody is meant */
    size_t count;
};

/* Everything lands in the arena. Keys of extra fields are lower-cased, as the server would,
 * and what a header name cannot hold is percent-encoded. Without a user the rest is
 * ERR_INVALID, as are control characters; the error names the field, never its value. */
bool impersonation_make(struct arena *arena, const struct kube_config *config, struct impersonation *ret,
                        struct err *err) MUST_CHECK;
