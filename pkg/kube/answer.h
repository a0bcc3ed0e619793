#pragma once
/* What an HTTP answer of the API server means. Pure: the client adds the transport. */
#include "base/arena.h"
#include "kube/client.h"

struct kube_answer {
    int code;
    struct str content_type;
    struct str content_encoding;
    int64_t retry_after_ms; /* from the header; -1: none */
    struct str body;        /* whole, or its beginning when the code says failure */
    enum kube_verb verb;
};

/* True for application/json, with or without parameters. */
bool kube_is_json(struct str content_type);
/* Fills everything of the response. Only 2xx with JSON, or with nothing where nothing is
 * due, is KUBE_OK; the message of a failure is the Status's, else the body's beginning. */
void kube_answer_read(struct arena *arena, const struct kube_answer *answer, struct kube_response *ret);
