#include "core_support.h"
#include "kube/backoff.h"
#include "kube/workqueue.h"

static struct workqueue *queue_new(void)
{
    return workqueue_new(&(struct workqueue_options){ .seed = 1 });
}

static void add(struct workqueue *queue, const char *key, int64_t now_ms)
{
    workqueue_add(queue, str_c(key), WORK_NORMAL, at_ms(now_ms));
}

static void done(struct workqueue *queue, const char *key, int64_t now_ms)
{
    workqueue_done(queue, str_c(key), at_ms(now_ms));
}

static void assert_none(struct workqueue *queue, int64_t now_ms)
{
    struct str key;
    assert_false(workqueue_get(queue, at_ms(now_ms), &key));
}

static void assert_next(struct workqueue *queue, int64_t now_ms, const char *want)
{
    struct str key;
    assert_true(workqueue_get(queue, at_ms(now_ms), &key));
    assert_str(key, want);
}

/* --- adding and doing -------------------------------------------------------------- */

static void empty_queue_gives_nothing(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    assert_none(queue, 0);
    assert_int_equal(workqueue_next_ms(queue, at_ms(0)), -1);
    done(queue, "a", 0); /* never handed out: ignored */
    workqueue_forget(queue, STR("a"));
    assert_none(queue, 0);
    workqueue_free(queue);
    workqueue_free(NULL);
}

static void t_56_a_thousand_adds_are_one_run(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    for (int i = 0; i < 1000; i++)
        add(queue, "a", i);
    assert_int_equal(workqueue_stats(queue).ready, 1);
    assert_int_equal(workqueue_stats(queue).adds, 1);
    assert_next(queue, 1000, "a");
    assert_none(queue, 1000);
    done(queue, "a", 1000);
    assert_none(queue, 1000);
    workqueue_free(queue);
}

static void t_56_adds_while_processed_are_one_more_run(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    assert_next(queue, 0, "a");
    for (int i = 0; i < 5; i++)
        add(queue, "a", 1);
    assert_none(queue, 1);
    assert_int_equal(workqueue_stats(queue).adds, 2);
    done(queue, "a", 2);
    assert_next(queue, 2, "a");
    done(queue, "a", 3);
    assert_none(queue, 3);
    workqueue_free(queue);
}

static void first_in_first_out(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    add(queue, "b", 0);
    add(queue, "a", 0); /* keeps its place */
    add(queue, "c", 0);
    assert_next(queue, 0, "a");
    assert_next(queue, 0, "b");
    assert_next(queue, 0, "c");
    workqueue_free(queue);
}

static void the_key_handed_out_stays_valid_until_done(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    char text[] = "key";
    workqueue_add(queue, str_c(text), WORK_NORMAL, at_ms(0));
    text[0] = 'x'; /* it was copied */
    struct str key;
    assert_true(workqueue_get(queue, at_ms(0), &key));
    workqueue_forget(queue, key);
    add(queue, "key", 1);
    for (int i = 0; i < 100; i++) {
        char other[16];
        snprintf(other, sizeof other, "k%d", i);
        add(queue, other, 1);
    }
    assert_str(key, "key");
    workqueue_done(queue, key, at_ms(1));
    workqueue_free(queue);
}

static void keys_may_be_empty_or_hold_any_byte(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add(queue, STR_NULL, WORK_NORMAL, at_ms(0));
    workqueue_add(queue, STR("a\0b"), WORK_NORMAL, at_ms(0));
    workqueue_add(queue, STR("a\0c"), WORK_NORMAL, at_ms(0));
    struct str key;
    assert_true(workqueue_get(queue, at_ms(0), &key));
    assert_int_equal(key.len, 0);
    workqueue_done(queue, key, at_ms(0));
    assert_true(workqueue_get(queue, at_ms(0), &key));
    assert_true(str_eq(key, STR("a\0b")));
    assert_true(workqueue_get(queue, at_ms(0), &key));
    assert_true(str_eq(key, STR("a\0c")));
    workqueue_free(queue);
}

/* --- priority ---------------------------------------------------------------------- */

static void higher_priority_goes_first(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add(queue, STR("low1"), WORK_LOW, at_ms(0));
    workqueue_add(queue, STR("low2"), WORK_LOW, at_ms(0));
    add(queue, "news", 0);
    assert_next(queue, 0, "news");
    assert_next(queue, 0, "low1");
    assert_next(queue, 0, "low2");
    workqueue_free(queue);
}

static void an_add_raises_but_never_lowers(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add(queue, STR("a"), WORK_LOW, at_ms(0));
    workqueue_add(queue, STR("b"), WORK_LOW, at_ms(0));
    add(queue, "b", 0);
    workqueue_add(queue, STR("b"), WORK_LOW, at_ms(0));
    assert_next(queue, 0, "b");
    assert_next(queue, 0, "a");
    workqueue_free(queue);
}

static void adds_while_processed_keep_the_highest_priority(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add(queue, STR("a"), WORK_LOW, at_ms(0));
    assert_next(queue, 0, "a");
    add(queue, "a", 0);
    workqueue_add(queue, STR("a"), WORK_LOW, at_ms(0));
    workqueue_add(queue, STR("b"), WORK_LOW, at_ms(0));
    done(queue, "a", 0);
    assert_next(queue, 0, "a");
    assert_next(queue, 0, "b");
    workqueue_free(queue);
}

static void t_62_low_priority_is_not_starved(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add(queue, STR("low"), WORK_LOW, at_ms(0));
    add(queue, "news", 0);
    int64_t now = 0;
    for (;; now += 10) {
        struct str key;
        assert_true(workqueue_get(queue, at_ms(now), &key));
        bool low = str_eq(key, STR("low"));
        workqueue_done(queue, key, at_ms(now));
        if (low)
            break;
        add(queue, "news", now); /* there is always news */
        add(queue, "more", now);
    }
    assert_between(now, 60 * 1000, 60 * 1000 + 40);
    workqueue_free(queue);
}

/* --- delays ------------------------------------------------------------------------ */

struct delay_row {
    const char *name;
    int64_t delay_ms;
    int64_t due_ms;
};

static const struct delay_row delay_rows[] = {
    { "t_58 delay of zero is now", 0, 0 },
    { "t_58 negative delay is now", -5, 0 },
    { "t_58 smallest delay is now", INT64_MIN, 0 },
    { "t_58 one millisecond", 1, 1 },
    { "t_58 an hour", 3600 * 1000, 3600 * 1000 },
    { "t_58_wq_4 the longest delay is capped", INT64_MAX, INT64_C(180) * 24 * 3600 * 1000 },
};

static void delay__row(void **state)
{
    const struct delay_row *row = *state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("a"), row->delay_ms, at_ms(7));
    assert_int_equal(workqueue_next_ms(queue, at_ms(7)), row->due_ms);
    if (row->due_ms > 0) {
        assert_int_equal(workqueue_stats(queue).waiting, 1);
        assert_none(queue, 7 + row->due_ms - 1);
    }
    assert_next(queue, 7 + row->due_ms, "a");
    assert_int_equal(workqueue_stats(queue).waiting, 0);
    done(queue, "a", 7 + row->due_ms);
    assert_int_equal(workqueue_next_ms(queue, at_ms(7)), -1);
    workqueue_free(queue);
}

static void t_58_the_earlier_of_two_delays_stands(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("a"), 100, at_ms(0));
    workqueue_add_after(queue, STR("a"), 50, at_ms(0));
    workqueue_add_after(queue, STR("a"), 200, at_ms(0));
    assert_none(queue, 49);
    assert_next(queue, 50, "a");
    done(queue, "a", 50);
    assert_none(queue, 1000);
    workqueue_free(queue);
}

static void delayed_keys_come_in_order_of_time(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("c"), 30, at_ms(0));
    workqueue_add_after(queue, STR("a"), 10, at_ms(0));
    workqueue_add_after(queue, STR("b"), 20, at_ms(0));
    assert_int_equal(workqueue_next_ms(queue, at_ms(0)), 10);
    assert_next(queue, 100, "a");
    assert_next(queue, 100, "b");
    assert_next(queue, 100, "c");
    workqueue_free(queue);
}

static void next_ms_rounds_up(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("a"), 10, at_ms(0));
    struct mono_time just_before = { .ns = 10 * NS_PER_MS - 1 };
    assert_int_equal(workqueue_next_ms(queue, just_before), 1);
    struct str key;
    assert_false(workqueue_get(queue, just_before, &key));
    assert_int_equal(workqueue_next_ms(queue, at_ms(11)), 0);
    workqueue_free(queue);
}

static void t_59_wq_5_an_add_now_replaces_the_one_that_waits(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("a"), 100, at_ms(0));
    add(queue, "a", 1);
    assert_next(queue, 1, "a");
    done(queue, "a", 2);
    assert_none(queue, 1000);
    workqueue_free(queue);
}

static void t_59_a_delay_while_ready_changes_nothing(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    workqueue_add_after(queue, STR("a"), 100, at_ms(0));
    assert_next(queue, 0, "a");
    done(queue, "a", 1);
    assert_none(queue, 1000);
    workqueue_free(queue);
}

static void a_delay_set_while_processed_starts_then(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    assert_next(queue, 0, "a");
    workqueue_add_after(queue, STR("a"), 100, at_ms(0));
    done(queue, "a", 1);
    assert_none(queue, 99);
    assert_next(queue, 100, "a");
    workqueue_free(queue);
}

static void a_delay_that_ends_while_processed_runs_once_after(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    assert_next(queue, 0, "a");
    workqueue_add_after(queue, STR("a"), 10, at_ms(0));
    assert_none(queue, 50);
    done(queue, "a", 60);
    assert_next(queue, 60, "a");
    done(queue, "a", 61);
    assert_none(queue, 1000);
    workqueue_free(queue);
}

static void t_59_free_with_keys_in_every_state_leaks_nothing(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "processed", 0);
    assert_next(queue, 0, "processed");
    add(queue, "processed", 0);
    add(queue, "ready", 0);
    workqueue_add_after(queue, STR("waiting"), 1000, at_ms(0));
    workqueue_add_rate_limited(queue, STR("failed"), at_ms(0));
    workqueue_free(queue);
}

/* --- retries ----------------------------------------------------------------------- */

static int64_t retry_ms(struct workqueue *queue, const char *key, int64_t now)
{
    workqueue_add_rate_limited(queue, str_c(key), at_ms(now));
    int64_t wait = workqueue_next_ms(queue, at_ms(now));
    assert_next(queue, now + wait, key);
    done(queue, key, now + wait);
    return wait;
}

static void t_60_wq_6_retries_double_to_300_s_with_a_tenth_of_jitter(void **state)
{
    (void)state;
    static const int64_t want[] = { 5,    10,    20,    40,    80,    160,    320,    640,    1280,  2560,
                                    5120, 10240, 20480, 40960, 81920, 163840, 300000, 300000, 300000 };
    struct workqueue *queue = queue_new();
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_between(retry_ms(queue, "a", 0), want[i] - want[i] / 10, want[i] + want[i] / 10);
    assert_int_equal(workqueue_stats(queue).retries, ARRAY_LEN(want));
    workqueue_free(queue);
}

static void t_60_forget_starts_over(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    for (int i = 0; i < 8; i++)
        retry_ms(queue, "a", 0);
    workqueue_forget(queue, STR("a"));
    assert_between(retry_ms(queue, "a", 0), 5, 5);
    workqueue_free(queue);
}

static void t_60_keys_count_their_own_failures(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    for (int i = 0; i < 8; i++)
        retry_ms(queue, "a", 0);
    assert_between(retry_ms(queue, "b", 0), 5, 5);
    workqueue_free(queue);
}

static void t_60_options_change_base_and_cap(void **state)
{
    (void)state;
    struct workqueue *queue =
        workqueue_new(&(struct workqueue_options){ .base_delay_ms = 1000, .max_delay_ms = 1500, .seed = 1 });
    assert_between(retry_ms(queue, "a", 0), 900, 1100);
    assert_between(retry_ms(queue, "a", 0), 1350, 1650);
    workqueue_free(queue);
}

static void wq_6_keys_that_failed_together_come_back_apart(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    char key[16];
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "k%d", i);
            workqueue_add_rate_limited(queue, str_c(key), at_ms(0));
        }
        struct str taken;
        while (workqueue_get(queue, at_ms(1000000), &taken))
            workqueue_done(queue, taken, at_ms(1000000));
    }
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "k%d", i);
        workqueue_add_rate_limited(queue, str_c(key), at_ms(0)); /* the ninth: 1280 ms */
    }
    int64_t distinct = 0, last = -1;
    struct str taken;
    for (int64_t now = 0; now < 2000; now++) {
        while (workqueue_get(queue, at_ms(now), &taken)) {
            distinct += now != last;
            last = now;
            workqueue_done(queue, taken, at_ms(now));
        }
    }
    assert_true(distinct > 25);
    workqueue_free(queue);
}

static void news_overtakes_a_backoff(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    for (int i = 0; i < 15; i++)
        retry_ms(queue, "a", 0);
    workqueue_add_rate_limited(queue, STR("a"), at_ms(0));
    add(queue, "a", 1);
    assert_next(queue, 1, "a");
    done(queue, "a", 1);
    assert_none(queue, 1000000);
    /* The failures are remembered: nothing succeeded. */
    assert_between(retry_ms(queue, "a", 0), 270000, 330000);
    workqueue_free(queue);
}

/* --- figures ----------------------------------------------------------------------- */

static void stats_tell_waiting_time_and_the_oldest_run(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    add(queue, "a", 0);
    add(queue, "b", 10);
    assert_next(queue, 100, "a");
    assert_int_equal(workqueue_stats(queue).last_queue_ns, 100 * NS_PER_MS);
    assert_next(queue, 200, "b");
    assert_int_equal(workqueue_stats(queue).last_queue_ns, 190 * NS_PER_MS);
    struct workqueue_stats stats = workqueue_stats(queue);
    assert_int_equal(stats.processing, 2);
    assert_int_equal(stats.oldest_processing.ns, 100 * NS_PER_MS);
    done(queue, "a", 300);
    assert_int_equal(workqueue_stats(queue).oldest_processing.ns, 200 * NS_PER_MS);
    done(queue, "b", 300);
    assert_int_equal(workqueue_stats(queue).processing, 0);
    workqueue_free(queue);
}

static void a_delay_counts_as_waiting_from_when_it_is_due(void **state)
{
    (void)state;
    struct workqueue *queue = queue_new();
    workqueue_add_after(queue, STR("a"), 100, at_ms(0));
    assert_next(queue, 150, "a");
    assert_between(workqueue_stats(queue).last_queue_ns, 0, 50 * NS_PER_MS);
    workqueue_free(queue);
}

/* --- against a naive model --------------------------------------------------------- */

#define KEYS 24

/* Everything by scanning an array; `order` is what makes FIFO. */
struct model_key {
    bool ready, processing, dirty, waiting;
    enum work_priority priority;
    int64_t due_ms;
    uint64_t order;
    int64_t ready_ms;
};
struct model {
    struct model_key keys[KEYS];
    uint64_t order;
};

static void model_add(struct model *model, int key, enum work_priority priority, int64_t now)
{
    struct model_key *it = &model->keys[key];
    it->waiting = false;
    if (it->ready) {
        if (priority > it->priority) {
            it->priority = priority;
            it->order = ++model->order;
        }
    } else if (it->processing) {
        it->priority = it->dirty && it->priority > priority ? it->priority : priority;
        it->dirty = true;
    } else {
        it->ready = true;
        it->priority = priority;
        it->order = ++model->order;
        it->ready_ms = now;
    }
}

static void model_wake(struct model *model, int64_t now)
{
    for (;;) { /* earliest first; equal times in any order are avoided by the test */
        int best = -1;
        for (int i = 0; i < KEYS; i++) {
            if (model->keys[i].waiting && model->keys[i].due_ms <= now &&
                (best < 0 || model->keys[i].due_ms < model->keys[best].due_ms))
                best = i;
        }
        if (best < 0)
            return;
        model_add(model, best, WORK_NORMAL, now);
    }
}

static int model_get(struct model *model, int64_t now)
{
    model_wake(model, now);
    int best = -1;
    for (int i = 0; i < KEYS; i++) {
        const struct model_key *it = &model->keys[i], *than = best < 0 ? NULL : &model->keys[best];
        if (it->ready && (!than || it->priority > than->priority ||
                          (it->priority == than->priority && it->order < than->order)))
            best = i;
    }
    if (best >= 0) {
        model->keys[best].ready = false;
        model->keys[best].processing = true;
    }
    return best;
}

static void model_done(struct model *model, int key, int64_t now)
{
    struct model_key *it = &model->keys[key];
    if (!it->processing)
        return;
    it->processing = false;
    if (it->dirty) {
        it->dirty = false;
        it->ready = true;
        it->order = ++model->order;
        it->ready_ms = now;
    }
}

static void model_add_after(struct model *model, int key, int64_t delay, int64_t now)
{
    struct model_key *it = &model->keys[key];
    if (delay <= 0) {
        model_add(model, key, WORK_NORMAL, now);
        return;
    }
    if (it->ready || it->dirty)
        return;
    if (!it->waiting || now + delay < it->due_ms)
        it->due_ms = now + delay;
    it->waiting = true;
}

static int64_t model_next(const struct model *model, int64_t now)
{
    int64_t next = -1;
    for (int i = 0; i < KEYS; i++) {
        const struct model_key *it = &model->keys[i];
        int64_t wait = it->ready ? 0 : it->waiting ? max_i64(0, it->due_ms - now) : -1;
        if (wait >= 0 && (next < 0 || wait < next))
            next = wait;
    }
    return next;
}

static void check_model(const struct model *model, const struct workqueue *queue, int64_t now)
{
    size_t ready = 0, waiting = 0, processing = 0;
    for (int i = 0; i < KEYS; i++) {
        ready += model->keys[i].ready;
        waiting += model->keys[i].waiting;
        processing += model->keys[i].processing;
    }
    struct workqueue_stats stats = workqueue_stats(queue);
    assert_int_equal(stats.ready, ready);
    assert_int_equal(stats.waiting, waiting);
    assert_int_equal(stats.processing, processing);
    assert_int_equal(workqueue_next_ms(queue, at_ms(now)), model_next(model, now));
}

static struct str key_text(int key, char *buf, size_t size)
{
    snprintf(buf, size, "key-%d", key);
    return str_c(buf);
}

static void random_step(struct random *random, struct model *model, struct workqueue *queue, int64_t now)
{
    char buf[16], got_buf[16];
    int key = (int)random_between(random, 0, KEYS - 1);
    struct str text = key_text(key, buf, sizeof buf);
    enum work_priority priority = random_between(random, 0, 1) ? WORK_NORMAL : WORK_LOW;
    /* Due times end in the key's number: no two keys are ever due at once. */
    int64_t delay = random_between(random, -1, 40) * KEYS + key - now % KEYS;
    struct str got;
    switch (random_between(random, 0, 6)) {
    case 0:
    case 1:
        workqueue_add(queue, text, priority, at_ms(now));
        model_add(model, key, priority, now);
        break;
    case 2:
        workqueue_add_after(queue, text, delay, at_ms(now));
        model_add_after(model, key, delay, now);
        break;
    case 3:
        workqueue_done(queue, text, at_ms(now));
        model_done(model, key, now);
        break;
    case 4:
        workqueue_forget(queue, text);
        break;
    default: {
        int want = model_get(model, now);
        assert_int_equal(workqueue_get(queue, at_ms(now), &got), want >= 0);
        if (want >= 0)
            assert_true(str_eq(got, key_text(want, got_buf, sizeof got_buf)));
    }
    }
}

/* Time stays below the age at which keys rise, which has a test of its own. */
static void any_sequence_agrees_with_a_naive_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random random = { .state = seed };
        struct model model = { 0 };
        struct workqueue *queue = queue_new();
        int64_t now = 0;
        for (int i = 0; i < 2000; i++) {
            now += random_between(&random, 0, 29);
            if (now >= 59 * 1000)
                break;
            random_step(&random, &model, queue, now);
            check_model(&model, queue, now);
        }
        workqueue_free(queue);
    }
}

static void t_57_no_key_is_handed_out_twice_at_once(void **state)
{
    (void)state;
    struct random random = { .state = 99 };
    struct workqueue *queue = queue_new();
    bool processing[KEYS] = { false };
    for (int i = 0; i < 20000; i++) {
        char buf[16];
        int key = (int)random_between(&random, 0, KEYS - 1);
        workqueue_add(queue, key_text(key, buf, sizeof buf), WORK_NORMAL, at_ms(i));
        struct str got;
        if (random_between(&random, 0, 1) && workqueue_get(queue, at_ms(i), &got)) {
            int64_t number;
            assert_true(str_to_i64(str_slice(got, 4, got.len), &number));
            assert_false(processing[number]);
            processing[number] = true;
        }
        if (processing[key] && random_between(&random, 0, 2) == 0) {
            workqueue_done(queue, key_text(key, buf, sizeof buf), at_ms(i));
            processing[key] = false;
        }
    }
    workqueue_free(queue);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(empty_queue_gives_nothing),
        cmocka_unit_test(t_56_a_thousand_adds_are_one_run),
        cmocka_unit_test(t_56_adds_while_processed_are_one_more_run),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(the_key_handed_out_stays_valid_until_done),
        cmocka_unit_test(keys_may_be_empty_or_hold_any_byte),
        cmocka_unit_test(higher_priority_goes_first),
        cmocka_unit_test(an_add_raises_but_never_lowers),
        cmocka_unit_test(adds_while_processed_keep_the_highest_priority),
        cmocka_unit_test(t_62_low_priority_is_not_starved),
        cmocka_unit_test(t_58_the_earlier_of_two_delays_stands),
        cmocka_unit_test(delayed_keys_come_in_order_of_time),
        cmocka_unit_test(next_ms_rounds_up),
        cmocka_unit_test(t_59_wq_5_an_add_now_replaces_the_one_that_waits),
        cmocka_unit_test(t_59_a_delay_while_ready_changes_nothing),
        cmocka_unit_test(a_delay_set_while_processed_starts_then),
        cmocka_unit_test(a_delay_that_ends_while_processed_runs_once_after),
        cmocka_unit_test(t_59_free_with_keys_in_every_state_leaks_nothing),
        cmocka_unit_test(t_60_wq_6_retries_double_to_300_s_with_a_tenth_of_jitter),
        cmocka_unit_test(t_60_forget_starts_over),
        cmocka_unit_test(t_60_keys_count_their_own_failures),
        cmocka_unit_test(t_60_options_change_base_and_cap),
        cmocka_unit_test(wq_6_keys_that_failed_together_come_back_apart),
        cmocka_unit_test(news_overtakes_a_backoff),
        cmocka_unit_test(stats_tell_waiting_time_and_the_oldest_run),
        cmocka_unit_test(a_delay_counts_as_waiting_from_when_it_is_due),
        cmocka_unit_test(any_sequence_agrees_with_a_naive_model),
        cmocka_unit_test(t_57_no_key_is_handed_out_twice_at_once),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(delay_rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(delay_rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ delay_rows[i].name, delay__row, NULL, NULL, (void *)&delay_rows[i] };
    return cmocka_run_group_tests_name("kube/workqueue", tests, NULL, NULL);
}
