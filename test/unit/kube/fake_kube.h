#pragma once
/* A loop and an API server that are only memory: time passes when the test says so, and a
 * request is a record that the test answers. For informer.c and runtime.c, which see no
 * difference. */
#include "core_support.h"
#include "kube/client.h"
#include "loop/loop.h"

/* --- the loop ---------------------------------------------------------------------- */

/* The timers that stand, and what time it is. */
struct loop {
    struct mono_time now;
    struct wall_time wall;
    struct fake_timer *timers;
};
struct loop *fake_loop_new(void);
void fake_loop_free(struct loop *loop); /* asserts that no timer is left */

/* Fires whatever is due now, until nothing more is. */
void fake_loop_settle(struct loop *loop);
/* Passes time, firing timers on the way, each at its own time. */
void fake_loop_pass(struct loop *loop, int64_t ms);
/* Until the next timer, at most `most_ms`; tells how long that was. */
int64_t fake_loop_next(struct loop *loop, int64_t most_ms);

/* --- the server -------------------------------------------------------------------- */

struct kube_call {
    struct kube_call *prev, *next;
    struct kube_client *client;
    struct kube_request request; /* its texts point into the arena */
    bool streaming;
    struct kube_stream stream;
    struct arena arena;
    char target[1024];
};

struct kube_client {
    struct loop *loop;
    struct kube_call *calls; /* unanswered, oldest first */
    size_t call_count;
    size_t sent; /* all there ever were */
    bool refuse; /* the next request cannot be built */
};
struct kube_client *fake_client_new(struct loop *loop);
void fake_client_free(struct kube_client *client); /* asserts that no call is left */

/* The oldest unanswered call; fails the test when there is none. */
struct kube_call *fake_call(struct kube_client *client);
/* A whole answer to a short request. */
void fake_answer(struct kube_call *call, int code, const char *body);
void fake_answer_after(struct kube_call *call, int code, const char *body, int64_t retry_after_ms);
/* No answer: unreachable, cut, ... */
void fake_fail(struct kube_call *call, enum kube_failure failure);

/* A good answer to a list or watch begins; bytes of it; its clean end. False: the receiver
 * gave up and the call is over. */
void fake_open(struct kube_call *call);
bool fake_data(struct kube_call *call, const char *bytes);
void fake_end(struct kube_call *call);
/* A whole list page. */
void fake_list(struct kube_call *call, const char *bytes);
