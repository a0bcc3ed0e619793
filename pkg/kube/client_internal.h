#pragma once
/* Inside of the client. A call waits for credentials (client_wait.c), is sent (client.c),
 * and its answer is told (client_answer.c). Only a credential plugin makes it wait. */
#include "kube/client.h"

#include "kube/auth.h"
#include "kube/exec_plugin.h"
#include "kube/impersonate.h"
#include "kube/transport.h"

#define CALL_MAX_REFUSED_BYTES ((size_t)64 << 10)

struct kube_client {
    struct loop *loop;
    struct transport *transport;
    struct kube_auth *auth;
    struct exec_plugin *plugin; /* NULL: none */
    struct loop_timer mover;    /* of watches on older connections */
    int64_t move_ms;
    uint64_t waves; /* how often the plugin ended a run */
    bool *gone;     /* set by kube_client_free while calls are told */
    char *server;
    struct arena arena; /* of what never changes */
    struct impersonation impersonation;
    struct kube_call *calls;
    struct metric *requests, *durations;
};

/* One request of a user; a repetition after a 401 is a second http_call of the same. */
struct kube_call {
    struct kube_call *prev, *next;
    struct kube_client *client;
    struct http_call *http;      /* NULL: waits */
    struct transport_line *line; /* of `http` */

    enum kube_verb verb;
    const char *method;
    char *url;
    char *body; /* NULL: none */
    size_t body_len;
    int64_t request_timeout_ms;
    int64_t timeout_s;
    bool (*may_send)(void *self);
    void *may_send_self;

    bool streaming;
    struct kube_stream stream; /* of a short request: done and self only */

    /* Waiting for credentials. */
    bool waits;
    uint64_t wave; /* only later runs of the plugin end it */
    struct loop_timer patience;
    struct err refusal; /* ERR_NONE: no valid credential was there */
    struct mono_time waits_since;
    int64_t waited_ms;

    /* The attempt. */
    struct mono_time started;
    uint64_t credential;
    bool retried;
    bool good; /* the body belongs to stream.on_data */
    bool counted;
    struct strbuf refused; /* body of a stream's answer that is not good */
    struct strbuf content_encoding;
};

/* client.c: sends it, with the present credentials. False: it cannot be sent. */
bool kube_call_attempt(struct kube_call *call, struct err *err) MUST_CHECK;
/* No longer among the client's calls. */
void kube_call_free(struct kube_call *call);
/* How long a short request may take; 0: a stream, whose limits are others. */
int64_t kube_call_patience_ms(const struct kube_call *call);

/* client_answer.c: what http_send calls back. */
bool kube_call_on_header(void *self, int status, struct str content_type, struct str content_encoding);
bool kube_call_on_data(void *self, struct str chunk, struct err *err);
void kube_call_on_done(void *self, const struct http_result *result);
/* Ends a call that no answer, or no more of it, will come for. The client may be gone after it. */
void kube_call_end(struct kube_call *call, int code, enum kube_failure failure, const struct err *reason);

/* client_move.c: fills in who hears of a new generation of connections. */
void kube_client_move_init(struct kube_client *client, struct transport_options *options);

/* client_wait.c */
void kube_client_wait_init(struct kube_client *client, const struct kube_client_options *options);
/* True: credentials are there, or none are needed. */
bool kube_client_may_send(const struct kube_client *client);
/* Puts the call aside until the plugin gave another credential. `refusal` is the 401 that
 * the present one met; NULL: there is none. */
void kube_call_wait(struct kube_call *call, const struct err *refusal);
void kube_call_wait_done(struct kube_call *call);
uint64_t kube_client_credential(const struct kube_client *client);
/* After a 401: true when the call was sent again, or waits to be. */
bool kube_call_try_again(struct kube_call *call, const struct err *refusal);
/* Why credentials could not be renewed; empty: they could. */
const char *kube_client_trouble(const struct kube_client *client);
