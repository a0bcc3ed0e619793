#pragma once
/* Requests to the API server: addressing, credentials, classification of answers. What to
 * send is a plain value; sending is asynchronous, answers come from the loop. */
#include "api/kind.h"
#include "http/client.h"
#include "kube/kubeconfig.h"
#include "kube/request.h"
#include "metrics/metrics.h"

struct kube_client;
struct kube_call;

struct kube_client_options {
    const struct kube_config *config; /* copied */
    struct metric_registry *metrics;  /* NULL: none */
    const char *user_agent;           /* "koord-manager/0.1.0 (linux/amd64)" */
};

struct kube_client *kube_client_new(struct loop *loop, const struct kube_client_options *options,
                                    struct err *err);
void kube_client_free(struct kube_client *client); /* NULL is fine; no callback fires any more */

/* The answer to one short request; borrowed, valid during the callback. */
struct kube_response {
    int code;                  /* HTTP status; 0 when none arrived */
    enum kube_failure failure; /* KUBE_OK or the class of what went wrong */
    int64_t retry_after_ms;    /* -1: not given */
    struct str body;
    struct err err; /* for people: server's message or the transport's; kind set per class */
};

typedef void (*kube_done_fn)(void *self, const struct kube_response *response);

/* `done` fires exactly once, from the loop, unless cancelled. NULL with err only for a
 * request that cannot be built. Credentials are refreshed and a 401 is retried once. */
struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request, kube_done_fn done,
                            void *self, struct err *err);

/* A list page or a watch: the body goes to on_data as it comes, but only when the answer
 * is 200 with a JSON media type and no Content-Encoding; anything else is collected and
 * classified into the response. on_open (may be NULL) tells that a good answer began. */
struct kube_stream {
    void (*on_open)(void *self);
    bool (*on_data)(void *self, struct str chunk, struct err *err); /* false: give up, KUBE_PROTOCOL */
    kube_done_fn done;
    void *self;
};
struct kube_call *kube_send_stream(struct kube_client *client, const struct kube_request *request,
                                   const struct kube_stream *stream, struct err *err);

void kube_cancel(struct kube_call *call);

struct loop *kube_client_loop(struct kube_client *client);
