#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "loop/loop.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_EVENTS 16

struct fixture {
    struct loop *loop;
    struct loop_timer a, b, failsafe;
    bool failed; /* the failsafe ended the run */
    char events[MAX_EVENTS + 1];
    size_t count;
    struct mono_time seen_mono[2];
    struct mono_time started;
    int again;
    int signal;
};

static void note(struct fixture *fixture, char event)
{
    if (fixture->count < MAX_EVENTS)
        fixture->events[fixture->count++] = event;
}

static void fire_failsafe(void *self)
{
    struct fixture *fixture = self;
    fixture->failed = true;
    loop_stop(fixture->loop);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->loop = loop_new(NULL);
    loop_timer_init(&fixture->failsafe, fixture->loop, fire_failsafe, fixture);
    loop_timer_set(&fixture->failsafe, 20000);
    *state = fixture;
    return fixture->loop ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_done(&fixture->a);
    loop_timer_done(&fixture->b);
    loop_timer_done(&fixture->failsafe);
    loop_free(fixture->loop);
    free(fixture);
    return 0;
}

static void run(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    assert_true(loop_run(fixture->loop, &err));
    assert_false(fixture->failed);
}

static void fire_a(void *self)
{
    note(self, 'a');
}

static void fire_stop(void *self)
{
    struct fixture *fixture = self;
    note(fixture, 's');
    loop_stop(fixture->loop);
}

static void loop__timers_fire_in_order_of_their_delay(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->b, fixture->loop, fire_stop, fixture);
    loop_timer_init(&fixture->a, fixture->loop, fire_a, fixture);
    loop_timer_set(&fixture->b, 2);
    loop_timer_set(&fixture->a, 1);
    assert_int_equal(fixture->count, 0); /* nothing fires inside the call that starts it */
    run(fixture);
    assert_string_equal(fixture->events, "as");
}

static void loop__a_cancelled_timer_does_not_fire(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->a, fixture->loop, fire_a, fixture);
    loop_timer_init(&fixture->b, fixture->loop, fire_stop, fixture);
    loop_timer_set(&fixture->a, 0);
    assert_true(loop_timer_armed(&fixture->a));
    loop_timer_cancel(&fixture->a);
    assert_false(loop_timer_armed(&fixture->a));
    loop_timer_set(&fixture->b, 1);
    run(fixture);
    assert_string_equal(fixture->events, "s");
}

static void loop__setting_again_replaces_the_delay(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->a, fixture->loop, fire_a, fixture);
    loop_timer_init(&fixture->b, fixture->loop, fire_stop, fixture);
    loop_timer_set(&fixture->a, 3600000);
    loop_timer_set(&fixture->a, 0);
    loop_timer_set(&fixture->b, 1);
    run(fixture);
    assert_string_equal(fixture->events, "as");
}

static void fire_a_again(void *self)
{
    struct fixture *fixture = self;
    note(fixture, 'a');
    assert_false(loop_timer_armed(&fixture->a));
    if (--fixture->again > 0)
        loop_timer_set(&fixture->a, 0);
    else
        loop_stop(fixture->loop);
}

static void loop__a_timer_may_set_itself_in_its_callback(void **state)
{
    struct fixture *fixture = *state;
    fixture->again = 3;
    loop_timer_init(&fixture->a, fixture->loop, fire_a_again, fixture);
    loop_timer_set(&fixture->a, -5);
    run(fixture);
    assert_string_equal(fixture->events, "aaa");
}

static void fire_release(void *self)
{
    struct fixture *fixture = self;
    note(fixture, 'r');
    loop_timer_done(&fixture->a);
    loop_stop(fixture->loop);
}

static void loop__a_timer_may_release_itself_in_its_callback(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->a, fixture->loop, fire_release, fixture);
    loop_timer_set(&fixture->a, 0);
    run(fixture);
    assert_string_equal(fixture->events, "r");
    assert_false(loop_timer_armed(&fixture->a));
}

static void loop__a_zeroed_timer_can_be_cancelled_and_released(void **state)
{
    (void)state;
    struct loop_timer timer = { 0 };
    assert_false(loop_timer_armed(&timer));
    loop_timer_cancel(&timer);
    loop_timer_done(&timer);
}

static void fire_compare(void *self)
{
    struct fixture *fixture = self;
    fixture->seen_mono[0] = loop_mono(fixture->loop);
    while (mono_now().ns <= fixture->seen_mono[0].ns + 2 * NS_PER_MS)
        continue;
    fixture->seen_mono[1] = loop_mono(fixture->loop);
    loop_stop(fixture->loop);
}

static void loop__now_stands_still_within_a_turn(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->a, fixture->loop, fire_compare, fixture);
    loop_timer_set(&fixture->a, 0);
    run(fixture);
    assert_int_equal(fixture->seen_mono[0].ns, fixture->seen_mono[1].ns);
}

static void fire_deadline(void *self)
{
    struct fixture *fixture = self;
    fixture->seen_mono[0] = loop_mono(fixture->loop);
    loop_stop(fixture->loop);
}

static void loop__a_timer_never_fires_before_its_deadline(void **state)
{
    struct fixture *fixture = *state;
    loop_timer_init(&fixture->a, fixture->loop, fire_deadline, fixture);
    for (int i = 0; i < 10; i++) {
        struct mono_time deadline = mono_add_ms(loop_mono(fixture->loop), 1);
        loop_timer_set(&fixture->a, 1);
        run(fixture);
        assert_false(mono_before(fixture->seen_mono[0], deadline));
    }
}

static void loop__wall_time_is_the_system_clock(void **state)
{
    struct fixture *fixture = *state;
    struct wall_time before = wall_now();
    struct wall_time asked = loop_wall(fixture->loop);
    assert_true(asked.us >= before.us);
    assert_true(asked.us - before.us < 60 * US_PER_S);
}

static void loop__a_stop_before_the_run_is_not_forgotten(void **state)
{
    struct fixture *fixture = *state;
    loop_stop(fixture->loop);
    run(fixture);
    loop_timer_init(&fixture->a, fixture->loop, fire_stop, fixture);
    loop_timer_set(&fixture->a, 0);
    run(fixture); /* and it counts once */
    assert_string_equal(fixture->events, "s");
}

static void handle_signal(void *self, int number)
{
    struct fixture *fixture = self;
    fixture->signal = number;
    loop_stop(fixture->loop);
}

static void fire_raise(void *self)
{
    (void)self;
    raise(SIGUSR1);
}

static void loop__a_signal_reaches_its_handler_in_the_loop(void **state)
{
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    assert_true(loop_on_signal(fixture->loop, SIGUSR1, handle_signal, fixture, &err));
    loop_timer_init(&fixture->a, fixture->loop, fire_raise, fixture);
    loop_timer_set(&fixture->a, 0);
    run(fixture);
    assert_int_equal(fixture->signal, SIGUSR1);
}

static void loop__a_signal_has_one_handler(void **state)
{
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    assert_true(loop_on_signal(fixture->loop, SIGUSR2, handle_signal, fixture, &err));
    assert_false(loop_on_signal(fixture->loop, SIGUSR2, handle_signal, fixture, &err));
    assert_int_equal(err.kind, ERR_INVALID);
}

static void loop__writing_to_a_closed_pipe_is_an_error_not_a_death(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(write(fds[1], "x", 1), -1);
    close(fds[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(loop__timers_fire_in_order_of_their_delay),
        TEST(loop__a_cancelled_timer_does_not_fire),
        TEST(loop__setting_again_replaces_the_delay),
        TEST(loop__a_timer_may_set_itself_in_its_callback),
        TEST(loop__a_timer_may_release_itself_in_its_callback),
        TEST(loop__a_zeroed_timer_can_be_cancelled_and_released),
        TEST(loop__now_stands_still_within_a_turn),
        TEST(loop__a_timer_never_fires_before_its_deadline),
        TEST(loop__wall_time_is_the_system_clock),
        TEST(loop__a_stop_before_the_run_is_not_forgotten),
        TEST(loop__a_signal_reaches_its_handler_in_the_loop),
        TEST(loop__a_signal_has_one_handler),
        TEST(loop__writing_to_a_closed_pipe_is_an_error_not_a_death),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
