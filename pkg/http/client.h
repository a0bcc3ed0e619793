#pragma once
/* HTTP client on libcurl's multi interface, driven by the loop.
 *
 * A call is one request. Its callbacks fire from the loop, never inside http_send;
 * after `done` (exactly once, unless cancelled) the call no longer exists. Redirects,
 * cookies and environment proxies are off. HTTP/1.1. TLS 1.2 or newer. */
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct http_client;
struct http_call;

/* TLS and transport of one API server; borrowed strings, copied by http_client_new.
 * PEM blobs, so a rotated file means new options and new connections. */
struct http_client_options {
    struct str ca_pem;          /* empty: the system's */
    struct str client_cert_pem; /* both or neither */
    struct str client_key_pem;
    bool insecure_skip_verify;
    struct str tls_server_name; /* empty: the URL's host */
    struct str proxy_url;       /* empty: none */
    struct str user_agent;
    int64_t max_connections; /* kept and used at once for short requests, others wait; 0: 8 */
};

struct http_client *http_client_new(struct loop *loop, const struct http_client_options *options,
                                    struct err *err);
void http_client_free(struct http_client *client); /* cancels what is running; NULL is fine */

struct http_header {
    struct str name;
    struct str value;
};

enum http_outcome {
    HTTP_COMPLETE,  /* the response ended properly; `status` is valid */
    HTTP_REFUSED,   /* no connection or TLS handshake, or not in time: the request was not sent */
    HTTP_BROKEN,    /* the transfer failed after the request may have been executed */
    HTTP_TIMED_OUT, /* one of the limits below; executed or not is unknown */
    HTTP_TOO_LARGE, /* the response body exceeded max_body */
    HTTP_ABORTED,   /* on_data refused the data */
    HTTP_FENCED,    /* may_send said no: the request was not sent */
};

struct http_result {
    enum http_outcome outcome;
    int status; /* 0 when no response header arrived */
    bool any_response_byte;
    int64_t retry_after_ms; /* Retry-After, seconds or date, clamped to [0, 60 s]; -1: absent or bad */
    struct str content_type;
    struct str body; /* collected unless on_data was given */
    struct err err;  /* for people, when outcome is not HTTP_COMPLETE */
};

struct http_request {
    const char *method;
    struct str url;
    const struct http_header *headers; /* copied; CR or LF inside is ERR_INVALID */
    size_t header_count;
    struct str body;            /* copied */
    size_t max_body;            /* of a collected response; 0: 16 MiB */
    int64_t connect_timeout_ms; /* 0: 10 s, TLS handshake included */
    int64_t header_timeout_ms;  /* until the response header; 0: total_timeout_ms */
    int64_t total_timeout_ms;   /* 0: 30 s; -1: none */
    int64_t idle_timeout_ms;    /* longest silence inside the response body; 0: none */
    bool fresh_connection;      /* a new connection that is not reused afterwards: watches, the lease */

    /* Asked when the connection stands, right before the request is written, and before it is
     * repeated; it has to read the clock itself. What is cancelled later leaves no byte
     * behind in the kernel. NULL: always. */
    bool (*may_send)(void *self);
    /* Streaming: called with the response header once, then with the body as it comes.
     * Either may be NULL. Returning false from either aborts the call. An encoding that
     * only on_header could tell about fails the call when there is no on_header. */
    bool (*on_header)(void *self, int status, struct str content_type, struct str content_encoding);
    bool (*on_data)(void *self, struct str chunk, struct err *err);
    void (*done)(void *self, const struct http_result *result); /* borrowed, valid during the call */
    void *self;
};

/* NULL with err only for unusable input. A GET, HEAD, PUT, PATCH or DELETE that hit an idle
 * connection the server had closed is sent once more on a new one; a POST never is. */
struct http_call *http_send(struct http_client *client, const struct http_request *request, struct err *err);
/* No callback fires any more; the connection is closed. */
void http_cancel(struct http_call *call);
