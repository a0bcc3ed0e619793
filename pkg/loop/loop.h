#pragma once
/* The event loop: one thread, owner of "now". Built on libevent.
 *
 * Callbacks run from loop_run, never inside the call that starts something. Timers and
 * deferrals are cancellable; cancelling inside their own callback is fine. Everything
 * here is called from the loop's thread. */
#include "base/clock.h"
#include "base/err.h"

struct loop;
struct event_base;

struct loop *loop_new(struct err *err);
void loop_free(struct loop *loop); /* NULL is fine; every timer must be gone by then */
DEFINE_CLEANUP(loop_free, struct loop)

/* Runs until loop_stop. False when the loop itself failed. */
bool loop_run(struct loop *loop, struct err *err) MUST_CHECK;
void loop_stop(struct loop *loop);

/* Time at the start of the current turn. */
struct mono_time loop_mono(const struct loop *loop);
struct wall_time loop_wall(const struct loop *loop);

/* A one-shot timer; its memory is the caller's and must be zeroed before first use. */
struct loop_timer {
    struct loop *loop;
    void (*fire)(void *self);
    void *self;
    void *event; /* libevent's */
};
void loop_timer_init(struct loop_timer *timer, struct loop *loop, void (*fire)(void *self), void *self);
/* (Re)arms it; at or below 0 fires on the next turn. */
void loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_cancel(struct loop_timer *timer);
bool loop_timer_armed(const struct loop_timer *timer);
void loop_timer_done(struct loop_timer *timer); /* cancels and releases */

/* Calls `handler` in the loop when the signal arrives; once per signal number. */
bool loop_on_signal(struct loop *loop, int signal, void (*handler)(void *self, int signal), void *self,
                    struct err *err) MUST_CHECK;

/* For the two libraries that need it: libcurl's socket interface and evhttp. */
struct event_base *loop_event_base(struct loop *loop);
