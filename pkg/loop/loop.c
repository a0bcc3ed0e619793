#include "loop/loop.h"
#include <event2/event.h>
#include <event2/event_struct.h>
#include <signal.h>
#include <stdlib.h>

struct signal_watch {
    struct signal_watch *next;
    struct event *event;
    int number;
    void (*handler)(void *self, int signal);
    void *self;
};

/* The clocks as read for one turn. libevent keeps its own time stamp per turn, so a
 * different stamp means a new turn; outside loop_run every question is a new turn. */
struct turn {
    struct timeval stamp;
    bool read;
    struct mono_time mono;
    struct wall_time wall;
};

struct loop {
    struct event_base *base;
    struct signal_watch *signals;
    struct turn *turn; /* behind a pointer: asking a const loop may have to read the clocks */
    bool stop;
};

struct timer_event {
    struct event event;
    struct mono_time due;
};

static struct event_base *base_new(void)
{
    struct event_config *config = event_config_new();
    if (!config)
        return NULL;
    /* The coarse clock would let timers fire up to 4 ms early. */
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

struct loop *loop_new(struct err *err)
{
    struct event_base *base = base_new();
    if (!base) {
        err_set(err, ERR_FATAL, "no event loop: libevent found no usable backend");
        return NULL;
    }
    /* A peer that went away must be an error of one write, not the end of the process. */
    signal(SIGPIPE, SIG_IGN);
    struct loop *loop = mem_zalloc(sizeof *loop);
    loop->base = base;
    loop->turn = mem_zalloc(sizeof *loop->turn);
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    while (loop->signals) {
        struct signal_watch *watch = loop->signals;
        loop->signals = watch->next;
        event_free(watch->event);
        free(watch);
    }
    /* libevent lets go of a bufferevent in the turn after it was freed. */
    event_base_loop(loop->base, EVLOOP_NONBLOCK);
    event_base_loop(loop->base, EVLOOP_NONBLOCK);
    event_base_free(loop->base);
    free(loop->turn);
    free(loop);
}

bool loop_run(struct loop *loop, struct err *err)
{
    int status = 0;
    while (!loop->stop && status >= 0)
        status = event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
    loop->stop = false;
    return status >= 0 || err_set(err, ERR_FATAL, "event loop failed");
}

void loop_stop(struct loop *loop)
{
    /* The flag keeps a stop that comes before loop_run, which libevent forgets. */
    loop->stop = true;
    event_base_loopbreak(loop->base);
}

static const struct turn *current_turn(const struct loop *loop)
{
    struct timeval stamp;
    event_base_gettimeofday_cached(loop->base, &stamp);
    struct turn *turn = loop->turn;
    if (turn->read && stamp.tv_sec == turn->stamp.tv_sec && stamp.tv_usec == turn->stamp.tv_usec)
        return turn;
    *turn = (struct turn){ .stamp = stamp, .read = true, .mono = mono_now(), .wall = wall_now() };
    return turn;
}

struct mono_time loop_mono(const struct loop *loop)
{
    return current_turn(loop)->mono;
}

struct wall_time loop_wall(const struct loop *loop)
{
    return current_turn(loop)->wall;
}

static void timer_add(struct timer_event *event, int64_t delay_ns)
{
    struct timeval delay = {
        .tv_sec = delay_ns / NS_PER_S,
        .tv_usec = (delay_ns % NS_PER_S + 999) / 1000,
    };
    if (delay.tv_usec == 1000000) {
        delay.tv_sec++;
        delay.tv_usec = 0;
    }
    event_add(&event->event, &delay);
}

static void timer_on_event(evutil_socket_t fd, short what, void *self)
{
    (void)fd, (void)what;
    struct loop_timer *timer = self;
    struct timer_event *event = timer->event;
    /* libevent counts from its own stamp, which lies a little before ours. Whoever
     * compares loop_mono with a deadline must find it passed. */
    int64_t early_ns = event->due.ns - loop_mono(timer->loop).ns;
    if (early_ns > 0)
        timer_add(event, early_ns);
    else
        timer->fire(timer->self);
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, void (*fire)(void *self), void *self)
{
    loop_timer_done(timer);
    struct timer_event *event = mem_zalloc(sizeof *event);
    event_assign(&event->event, loop->base, -1, 0, timer_on_event, timer);
    *timer = (struct loop_timer){ .loop = loop, .fire = fire, .self = self, .event = event };
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    const int64_t century_ms = INT64_C(100) * 366 * 86400 * 1000; /* keeps the sums in range */
    struct timer_event *event = timer->event;
    int64_t delay = min_i64(max_i64(delay_ms, 0), century_ms);
    event->due = mono_add_ms(loop_mono(timer->loop), delay);
    timer_add(event, delay * NS_PER_MS);
}

void loop_timer_cancel(struct loop_timer *timer)
{
    if (timer->event)
        event_del(&((struct timer_event *)timer->event)->event);
}

bool loop_timer_armed(const struct loop_timer *timer)
{
    return timer->event && event_pending(&((struct timer_event *)timer->event)->event, EV_TIMEOUT, NULL);
}

void loop_timer_done(struct loop_timer *timer)
{
    loop_timer_cancel(timer);
    free(timer->event);
    timer->event = NULL;
}

static void signal_on_event(evutil_socket_t number, short what, void *self)
{
    (void)what;
    struct signal_watch *watch = self;
    watch->handler(watch->self, (int)number);
}

bool loop_on_signal(struct loop *loop, int signal, void (*handler)(void *self, int signal), void *self,
                    struct err *err)
{
    for (struct signal_watch *watch = loop->signals; watch; watch = watch->next) {
        if (watch->number == signal)
            return err_set(err, ERR_INVALID, "signal %d already has a handler", signal);
    }
    struct signal_watch *watch = mem_zalloc(sizeof *watch);
    watch->event = evsignal_new(loop->base, signal, signal_on_event, watch);
    if (!watch->event || event_add(watch->event, NULL) < 0) {
        if (watch->event)
            event_free(watch->event);
        free(watch);
        return err_set(err, ERR_INVALID, "signal %d cannot be handled", signal);
    }
    watch->number = signal;
    watch->handler = handler;
    watch->self = self;
    watch->next = loop->signals;
    loop->signals = watch;
    return true;
}

struct event_base *loop_event_base(struct loop *loop)
{
    return loop->base;
}
