#pragma once
/* One request from arrival to the last byte of its answer. It ends with as_answer_*,
 * as_stream_end or as_stream_abort, or when the peer goes away; then it is gone.
 *
 * Everything an answer sends passes through here, so that faults on bytes and the
 * request log need no other place. */
#include "test/apiserver/server.h"

enum as_media {
    AS_MEDIA_JSON,
    AS_MEDIA_METADATA, /* PartialObjectMetadata */
    AS_MEDIA_TABLE,
};

struct as_request {
    struct apiserver *server;
    struct http_exchange *exchange;
    struct arena arena; /* lives as long as the request */
    struct as_request *previous, *next;

    struct str method, path, query, accept, content_type, body; /* borrowed from the exchange */
    struct as_route route;
    struct as_params params;
    struct as_identity identity;
    struct as_resource *resource;
    enum as_media media;
    int64_t log_id;
    bool is_held; /* not yet executed: the server is paused */

    struct apiserver_fault fault; /* {0}: none; texts in the server's table */
    struct loop_timer timer;      /* delays, and the pumping of what a fault dribbles */

    void (*after_delay)(struct as_request *request);

    /* Waiting for a resourceVersion (see as_request_wait). */
    int64_t wait_rv; /* 0: not waiting */
    struct mono_time wait_until;
    void (*wait_done)(struct as_request *request);

    /* An answer in the making. */
    bool is_stream;
    bool header_sent;
    bool is_ended; /* the handler is through; bytes may be pending */
    bool is_closing;
    int stream_status;
    const char *stream_type;
    void (*closed)(void *self);
    void *closed_self;
    struct strbuf pending;
    size_t pending_sent;
    int64_t passed; /* bytes given to the connection */
};

struct as_request *as_request_new(struct apiserver *server, struct http_exchange *exchange);
/* Ends it without an answer; the connection is dropped. */
void as_request_drop(struct as_request *request);

/* Goes on with `go` later. */
void as_request_delay(struct as_request *request, int64_t delay_ms, void (*go)(struct as_request *request));

/* Complete answers. Each ends the request. */
void as_answer(struct as_request *request, int status, const char *content_type, struct str body);
void as_answer_json(struct as_request *request, int status, const struct json *value);
void as_answer_error(struct as_request *request, const struct api_error *error);

/* Streams. `closed` fires when the peer, or a fault, ends it first. */
void as_stream_start(struct as_request *request, int status, const char *content_type,
                     void (*closed)(void *self), void *self);
void as_stream_send(struct as_request *request, struct str chunk);
size_t as_stream_backlog(const struct as_request *request);
void as_stream_end(struct as_request *request);
void as_stream_abort(struct as_request *request);

/* Calls `done` once the store has reached `rv`, from the loop; 504 when it does not in
 * time. */
void as_request_wait(struct as_request *request, int64_t rv, void (*done)(struct as_request *request));
/* For the server: a change or its timer may have ended a wait; the second one answers. */
void as_requests_check_waits(struct apiserver *server);
void as_requests_finish_waits(struct apiserver *server);
