#pragma once
/* A small blocking HTTP client on libcurl's easy interface. It shares nothing with the
 * client under test, so that it cannot share its mistakes. */
#include "base/arena.h"

struct rest;

/* Credentials as files; NULL where there is none. Borrowed, must outlive the client. */
struct rest_credentials {
    const char *ca_file;
    const char *cert_file;
    const char *key_file;
    const char *token;
};

struct rest *rest_new(void);
void rest_free(struct rest *rest); /* NULL is fine */

struct rest_request {
    const char *method;
    const char *url;
    const char *content_type; /* NULL: application/json where there is a body */
    struct str body;
    const struct rest_credentials *credentials; /* NULL: none */
    int64_t timeout_ms;                         /* 0: 30 s */
};

struct rest_answer {
    int code; /* 0: no answer; `body` says why */
    struct str body;
};

/* Everything in the answer lives in the arena. */
struct rest_answer rest_call(struct rest *rest, const struct rest_request *request, struct arena *arena);
