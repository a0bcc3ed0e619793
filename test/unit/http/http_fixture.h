#pragma once
/* What the HTTP tests share: one loop, a client and a server in it, calls that remember
 * their answers, a scripted server that misbehaves, and a client that sends raw bytes.
 * Nothing sleeps: every callback stops the loop, and RUN_UNTIL looks again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "http/client.h"
#include "http/server.h"
#include "test_tls.h"

struct fixture;

/* An exchange kept by the handler. */
struct kept {
    struct fixture *fixture;
    struct http_exchange *exchange;
    bool closed;
};

struct fixture {
    struct loop *loop;
    struct loop_timer failsafe;
    bool failed;
    struct http_client *client;
    struct http_server *server;
    struct kept kept[8];
    size_t kept_count;
    size_t handled;
    size_t done_count;
    struct loop_timer later;
    struct http_exchange *late;
    struct test_ca ca;
    struct test_pair pair;
    const void *row; /* of a table test */
};

int fixture_setup(void **state);     /* plain server and client */
int fixture_setup_tls(void **state); /* the same over TLS, with its own CA */
int fixture_teardown(void **state);

/* Replaces the fixture's server or client by one with these options; `address`, `handle`
 * and `self` of the server are filled in. */
void fixture_server(struct fixture *fixture, struct http_server_options options);
void fixture_client(struct fixture *fixture, struct http_client_options options);
const char *fixture_url(struct fixture *fixture, const char *path); /* valid until the next call */

void fixture_turn(struct fixture *fixture);
#define RUN_UNTIL(fixture, condition)                                                                        \
    do {                                                                                                     \
        while (!(condition))                                                                                 \
            fixture_turn(fixture);                                                                           \
    } while (0)

/* Lets everything that is pending in the loop happen. */
void fixture_settle(struct fixture *fixture);

/* ---- a call and its answer ---- */

struct reply {
    struct fixture *fixture;
    struct http_call *call;
    bool done;
    enum http_outcome outcome;
    int status;
    bool any_response_byte;
    int64_t retry_after_ms;
    struct strbuf content_type;
    struct strbuf body;
    struct err err;
    int header_count;
    int chunk_count;
    struct strbuf encoding;
    /* Asked inside the callbacks when set; false from on_chunk aborts. */
    void (*on_header)(struct reply *reply);
    bool (*on_chunk)(struct reply *reply, struct err *err);
    void (*on_done)(struct reply *reply);
};

void reply_init(struct reply *reply, struct fixture *fixture);
void reply_done(struct reply *reply);
/* Sends; the body is collected by the client. */
void reply_send(struct reply *reply, struct http_request request);
/* Sends; the body comes through on_data. */
void reply_stream(struct reply *reply, struct http_request request);
void reply_wait(struct reply *reply);
void reply_get(struct reply *reply, const char *url);
#define assert_body(reply, text) assert_string_equal(strbuf_cstr(&(reply)->body), text)

/* ---- a server that follows a script ---- */

struct step {
    const char *text; /* NULL: nothing */
    enum { STEP_KEEP, STEP_CLOSE, STEP_RESET } then;
};

struct script;
struct script *script_new(struct fixture *fixture, struct step (*answer)(int connection, int request));
void script_free(struct script *script);
const char *script_url(struct script *script);
int script_connections(const struct script *script);
int script_requests(const struct script *script);
/* The last request, as it came. */
const char *script_received(const struct script *script);
/* Closes the connections that wait for a next request. */
void script_close_idle(struct script *script);

/* ---- a client that sends bytes ---- */

struct raw {
    struct fixture *fixture;
    struct bufferevent *bev;
    struct strbuf received;
    bool closed;
};

void raw_init(struct raw *raw, struct fixture *fixture, const char *text);
void raw_send(struct raw *raw, const char *text);
void raw_done(struct raw *raw);
bool raw_has(const struct raw *raw, const char *text);
