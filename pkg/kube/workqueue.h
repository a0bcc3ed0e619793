#pragma once
/* Keys that need work: de-duplicating, delaying, retrying with backoff. Pure: time comes
 * in as an argument, nobody sleeps.
 *
 * A key is never handed out twice at once. Added while queued, it stays queued once;
 * added while processed, it runs exactly once more afterwards. Higher priority first,
 * FIFO within one; what has waited a minute rises, so that nothing waits forever. */
#include "base/clock.h"
#include "base/str.h"

struct workqueue;

enum work_priority { WORK_LOW, WORK_NORMAL, WORK_PRIORITIES };

struct workqueue_options {
    int64_t base_delay_ms; /* first retry; 0: 5 ms */
    int64_t max_delay_ms;  /* 0: 300 s */
    uint64_t seed;         /* of the +-10 % jitter */
};

struct workqueue *workqueue_new(const struct workqueue_options *options);
void workqueue_free(struct workqueue *queue); /* NULL is fine */

/* The key is copied. */
void workqueue_add(struct workqueue *queue, struct str key, enum work_priority priority,
                   struct mono_time now);
/* At `delay_ms` or earlier if added earlier; at or below 0 is workqueue_add. */
void workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct mono_time now);
/* After the key's backoff, which grows with each call until workqueue_forget. */
void workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct mono_time now);
void workqueue_forget(struct workqueue *queue, struct str key);

/* The next ready key, now processing; borrowed until workqueue_done. False: none ready. */
bool workqueue_get(struct workqueue *queue, struct mono_time now, struct str *ret_key);
void workqueue_done(struct workqueue *queue, struct str key, struct mono_time now);

/* Milliseconds until something becomes ready (0: now), or -1 when nothing waits. */
int64_t workqueue_next_ms(const struct workqueue *queue, struct mono_time now);

struct workqueue_stats {
    size_t ready;
    size_t waiting;
    size_t processing;
    uint64_t adds;
    uint64_t retries;
    int64_t last_queue_ns;              /* time the key last handed out had waited */
    struct mono_time oldest_processing; /* valid while processing > 0 */
};
struct workqueue_stats workqueue_stats(const struct workqueue *queue);
