#pragma once
/* The connections to the API server. What TLS is made of may change while running; each
 * change begins a generation with connections of its own. New requests use the newest,
 * requests under way end where they began, and a generation goes with its last request.
 *
 * The files of authority, certificate and key are looked at every 10 s (AUT-5). What they
 * hold is taken when all of it can be used and certificate and key belong together;
 * until then the old stays in force, and the log says why once. */
#include "http/client.h"
#include "kube/kubeconfig.h"
#include "metrics/metrics.h"

struct transport;
struct transport_line; /* a generation */

struct transport_options {
    const struct kube_config *config; /* copied */
    const char *user_agent;           /* copied */
    struct metric_registry *metrics;  /* NULL: none */
    void (*renewed)(void *self);      /* a generation after the first began; may be NULL */
    void *self;
};

struct transport *transport_new(struct loop *loop, const struct transport_options *options, struct err *err);
void transport_free(struct transport *transport); /* cancels what is running; NULL is fine */

/* The newest generation, for one request: hold before sending, release after its end. */
struct transport_line *transport_hold(struct transport *transport);
void transport_release(struct transport_line *line); /* NULL is fine */
/* False: a later generation has begun. Not after transport_free. */
bool transport_is_newest(const struct transport_line *line);
struct http_client *transport_http(const struct transport_line *line);

/* A client certificate from elsewhere than the configuration; both empty: none. The same
 * one again changes nothing. What cannot be used is an error, and nothing changes. */
bool transport_set_pair(struct transport *transport, struct str cert_pem, struct str key_pem,
                        struct err *err) MUST_CHECK;
