#pragma once
/* Inside of the client. A call waits in its engine's queue, runs on the engine's multi
 * handle, ends, and is freed. While libcurl or a callback of ours is on the stack
 * (`busy`), nothing is added to or taken from a multi handle: libcurl forbids it. Sends
 * wait, cancelled calls are put aside, and client_leave catches up. */
#include "http/client.h"
#include "base/strbuf.h"
#include <curl/curl.h>
#include <sys/queue.h>

TAILQ_HEAD(call_list, http_call);

/* One multi handle. Two of them, because libcurl counts busy connections when it
 * decides which idle ones to drop: watches would push out every pooled connection. */
struct engine {
    struct http_client *client;
    CURLM *multi;
    struct loop_timer timer;
    struct call_list waiting;
    struct call_list running;
    struct call_list cancelled; /* still known to `multi` */
    size_t running_count;
    size_t limit;
};

struct http_client {
    struct loop *loop;
    struct engine pooled;
    struct engine fresh;
    int busy;
    bool dead; /* freed by a callback: no callback any more, gone at client_leave */
    char *ca_pem, *cert_pem, *key_pem;
    size_t ca_len, cert_len, key_len;
    char *tls_server_name;
    char *proxy_url;
    char *user_agent;
    bool insecure_skip_verify;
};

struct http_call {
    TAILQ_ENTRY(http_call) link;
    struct http_client *client;
    struct engine *engine;
    struct loop_timer guard;

    /* The request, owned. */
    char *method;
    char *url;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct str body;
    size_t max_body;
    int64_t connect_timeout_ms;
    struct mono_time header_deadline; /* ns 0: none */
    struct mono_time total_deadline;
    int64_t idle_timeout_ms;
    bool fresh_connection;
    bool (*may_send)(void *self);
    bool (*on_header)(void *self, int status, struct str content_type, struct str content_encoding);
    bool (*on_data)(void *self, struct str chunk, struct err *err);
    void (*done)(void *self, const struct http_result *result);
    void *self;

    /* The attempt. */
    CURL *easy;
    curl_socket_t fd; /* of its connection; CURL_SOCKET_BAD: none yet */
    bool cancelled;
    bool retried;
    bool stale; /* libcurl was about to repeat the request on its own */
    int requests_begun;
    CURLcode early_code; /* the transfer could not even start */
    bool failed;         /* a callback ended the transfer; `failure` and `err` say how */
    enum http_outcome failure;
    struct err err;
    char curl_text[CURL_ERROR_SIZE];

    /* The response. */
    size_t header_bytes;
    bool any_response_byte;
    bool header_done;
    int status;
    struct mono_time last_progress;
    struct strbuf content_type;
    struct strbuf content_encoding;
    struct strbuf retry_after;
    struct strbuf response;
};

/* client_engine.c */
bool engine_init(struct engine *engine, struct http_client *client, size_t limit, struct err *err) MUST_CHECK;
void engine_done(struct engine *engine);
/* Lets waiting calls start while there is room. Not while busy. */
void engine_start(struct engine *engine);
void engine_reap(struct engine *engine);
/* Takes the call off the multi handle and every list, and frees it. Not while busy in libcurl. */
void engine_forget(struct http_call *call);

/* client.c */
void client_enter(struct http_client *client);
void client_leave(struct http_client *client);

/* client_request.c: what a request says, checked and copied; false: unusable. */
bool call_take_request(struct http_call *call, const struct http_request *request,
                       struct err *err) MUST_CHECK;
/* A new easy handle carrying the request. */
CURL *call_easy(struct http_call *call);

/* client_call.c */
struct http_call *call_new(struct http_client *client, const struct http_request *request, struct err *err);
void call_free(struct http_call *call);
/* The transfer ended: answers the caller, or starts over. The call may be gone after it. */
void call_ended(struct http_call *call, CURLcode code);
/* Ends the call with `outcome` and calls done. */
void call_finish(struct http_call *call, enum http_outcome outcome, const struct err *reason);
void call_guard_set(struct http_call *call);
size_t call_on_header(char *data, size_t size, size_t count, void *self);
size_t call_on_body(char *data, size_t size, size_t count, void *self);
int call_on_request(void *self, char *remote_ip, char *local_ip, int remote_port, int local_port);
