#pragma once
/* One loop with a client under test and an HTTPS server that answers by a script and
 * remembers what it was asked. Nothing sleeps: the loop runs until a condition holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "http/server.h"
#include "kube/client.h"
#include "scratch_dir.h"
#include "test_tls.h"

enum canned_how {
    CANNED_REPLY,
    CANNED_STREAM, /* the header and the body's beginning; the rest is up to the test */
    CANNED_NEVER,  /* kept without an answer */
    CANNED_ABORT,  /* the connection is reset */
};

struct canned {
    enum canned_how how;
    int status;       /* 0: 200 */
    const char *type; /* NULL: JSON */
    const char *body; /* NULL: "{}" */
    const char *headers[3][2];
    const struct canned *then; /* for the next request; NULL: the same again */
};

/* What the server was asked; texts end with the fixture. */
struct asked {
    const char *method;
    const char *target; /* path and query as sent */
    const char *accept;
    const char *accept_encoding;
    const char *content_type;
    const char *authorization;
    const char *impersonate;
    const char *impersonate_uid;
    const char *impersonate_group; /* the first one */
    const char *impersonate_extra; /* of "acme.com/a" */
    const char *user_agent;
    const char *peer; /* CN of the client certificate */
    const char *body;
};

struct kube_fixture {
    struct loop *loop;
    struct loop_timer failsafe;
    struct loop_timer tick; /* ends a turn in which no callback of a test ran */
    bool failed;
    struct test_ca ca;
    struct test_pair pair;
    struct http_server *server;
    struct canned canned;
    struct asked *asked;
    size_t asked_count;
    struct http_exchange *open[16]; /* streams and unanswered ones; NULL: over */
    size_t open_count;
    struct arena arena;
    struct scratch_dir dir;
    struct kube_config config;
    struct metric_registry *metrics;
    struct kube_client *client;
    const void *row; /* of a table test */
};

int kube_fixture_setup(void **state);       /* over TLS, with token "t0ken" */
int kube_fixture_setup_plain(void **state); /* over plain HTTP */
int kube_fixture_teardown(void **state);

/* (Re)starts the client with what `config` says now. */
void kube_fixture_client(struct kube_fixture *fixture);

void kube_fixture_turn(struct kube_fixture *fixture);
#define RUN_UNTIL(fixture, condition)                                                                        \
    do {                                                                                                     \
        while (!(condition))                                                                                 \
            kube_fixture_turn(fixture);                                                                      \
    } while (0)
/* Some turns for what should not happen. */
void kube_fixture_settle(struct kube_fixture *fixture);

/* A copy of a response, and of a stream on the way to it. */
struct got {
    struct kube_fixture *fixture;
    struct kube_call *call;
    size_t done;
    size_t opened;
    struct kube_response response;
    struct strbuf body;
    struct strbuf data;
    void (*on_open)(struct got *got);
    bool (*on_data)(struct got *got, struct err *err);
    void (*on_done)(struct got *got);
};

void got_init(struct got *got, struct kube_fixture *fixture);
void got_done(struct got *got);
void got_send(struct got *got, struct kube_request request);
void got_stream(struct got *got, struct kube_request request);
void got_wait(struct got *got);

extern const struct kube_kind thing_kind; /* namespaced */
