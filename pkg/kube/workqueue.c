#include "kube/workqueue.h"

#include <stdlib.h>

#include "kube/backoff.h"

#define uthash_fatal(message) abort()
#include <uthash.h>
#include <utlist.h>

#define NOT_WAITING SIZE_MAX
#define AGE_TO_RISE_MS (60 * 1000) /* WQ-8 */

/* One key. It exists while it is queued, waits, is processed or has failures to remember. */
struct work {
    UT_hash_handle hh;
    struct work *prev, *next; /* in its ready list, or among those processed */
    bool ready;               /* in a ready list */
    bool processing;
    bool dirty; /* added again while processing */
    enum work_priority priority;
    uint32_t failures;
    struct mono_time added; /* when it became ready */
    struct mono_time started;
    struct mono_time due; /* while waiting */
    size_t heap_at;       /* NOT_WAITING, or its place in the heap */
    size_t key_len;
    char key[];
};

struct workqueue {
    struct workqueue_options options;
    struct random random;
    struct work *all;
    struct work *ready[WORK_PRIORITIES]; /* FIFO */
    struct work *running;                /* in the order they were handed out */
    struct work **heap;                  /* waiting, earliest due first */
    size_t heap_count, heap_cap;
    struct workqueue_stats stats;
};

/* --- heap of waiting keys -------------------------------------------------------- */

static void heap_place(struct workqueue *queue, size_t at, struct work *work)
{
    queue->heap[at] = work;
    work->heap_at = at;
}

static void heap_up(struct workqueue *queue, size_t at)
{
    struct work *work = queue->heap[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!mono_before(work->due, queue->heap[parent]->due))
            break;
        heap_place(queue, at, queue->heap[parent]);
        at = parent;
    }
    heap_place(queue, at, work);
}

static void heap_down(struct workqueue *queue, size_t at)
{
    struct work *work = queue->heap[at];
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= queue->heap_count)
            break;
        if (child + 1 < queue->heap_count &&
            mono_before(queue->heap[child + 1]->due, queue->heap[child]->due))
            child++;
        if (!mono_before(queue->heap[child]->due, work->due))
            break;
        heap_place(queue, at, queue->heap[child]);
        at = child;
    }
    heap_place(queue, at, work);
}

static void stop_waiting(struct workqueue *queue, struct work *work)
{
    size_t at = work->heap_at;
    if (at == NOT_WAITING)
        return;
    work->heap_at = NOT_WAITING;
    struct work *last = queue->heap[--queue->heap_count];
    if (last == work)
        return;
    heap_place(queue, at, last);
    heap_up(queue, at);
    heap_down(queue, last->heap_at);
}

static void wait_until(struct workqueue *queue, struct work *work, struct mono_time due)
{
    if (work->heap_at != NOT_WAITING) {
        if (!mono_before(due, work->due))
            return; /* the earlier time stands */
        work->due = due;
        heap_up(queue, work->heap_at);
        return;
    }
    if (queue->heap_count == queue->heap_cap) {
        queue->heap_cap = queue->heap_cap ? queue->heap_cap * 2 : 64;
        queue->heap = mem_realloc(queue->heap, queue->heap_cap * sizeof(*queue->heap));
    }
    work->due = due;
    heap_place(queue, queue->heap_count, work);
    heap_up(queue, queue->heap_count++);
}

/* --- keys ------------------------------------------------------------------------ */

static struct work *find(const struct workqueue *queue, struct str key)
{
    struct work *work;
    HASH_FIND(hh, queue->all, key.len ? key.ptr : "", key.len, work);
    return work;
}

static struct work *find_or_add(struct workqueue *queue, struct str key)
{
    struct work *work = find(queue, key);
    if (work)
        return work;
    work = mem_zalloc(sizeof *work + key.len);
    if (key.len)
        memcpy(work->key, key.ptr, key.len);
    work->key_len = key.len;
    work->heap_at = NOT_WAITING;
    HASH_ADD_KEYPTR(hh, queue->all, work->key, work->key_len, work);
    return work;
}

/* Forgets a key nobody needs, so that keys which vanish leave nothing behind (WQ-7). */
static void drop_if_idle(struct workqueue *queue, struct work *work)
{
    if (work->ready || work->processing || work->failures || work->heap_at != NOT_WAITING)
        return;
    HASH_DELETE(hh, queue->all, work);
    free(work);
}

static void make_ready(struct workqueue *queue, struct work *work, struct mono_time now)
{
    work->ready = true;
    work->added = now;
    DL_APPEND(queue->ready[work->priority], work);
    queue->stats.ready++;
}

static void add(struct workqueue *queue, struct work *work, enum work_priority priority, struct mono_time now)
{
    stop_waiting(queue, work); /* WQ-5: the run that starts now serves the later one too */
    if (work->ready) {
        if (priority > work->priority) {
            DL_DELETE(queue->ready[work->priority], work);
            work->priority = priority;
            DL_APPEND(queue->ready[priority], work);
        }
        return;
    }
    if (work->processing) {
        work->priority = work->dirty && work->priority > priority ? work->priority : priority;
        queue->stats.adds += work->dirty ? 0 : 1;
        work->dirty = true;
        return;
    }
    work->priority = priority;
    queue->stats.adds++;
    make_ready(queue, work, now);
}

/* --- interface ------------------------------------------------------------------- */

struct workqueue *workqueue_new(const struct workqueue_options *options)
{
    struct workqueue *queue = mem_zalloc(sizeof *queue);
    queue->options = *options;
    if (!queue->options.base_delay_ms)
        queue->options.base_delay_ms = 5;
    if (!queue->options.max_delay_ms)
        queue->options.max_delay_ms = 300 * 1000;
    queue->random.state = options->seed;
    return queue;
}

void workqueue_free(struct workqueue *queue)
{
    if (!queue)
        return;
    struct work *work, *next;
    HASH_ITER(hh, queue->all, work, next)
    {
        HASH_DELETE(hh, queue->all, work);
        free(work);
    }
    free(queue->heap);
    free(queue);
}

void workqueue_add(struct workqueue *queue, struct str key, enum work_priority priority, struct mono_time now)
{
    add(queue, find_or_add(queue, key), priority, now);
}

void workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct mono_time now)
{
    struct work *work = find_or_add(queue, key);
    if (delay_ms <= 0) {
        add(queue, work, WORK_NORMAL, now);
        return;
    }
    if (work->ready || work->dirty)
        return; /* it runs before that anyway, and will ask again */
    static const int64_t longest_ms = INT64_C(180) * 24 * 3600 * 1000; /* WQ-4 */
    wait_until(queue, work, mono_add_ms(now, min_i64(delay_ms, longest_ms)));
}

static int64_t retry_delay_ms(struct workqueue *queue, uint32_t failures)
{
    int64_t delay = queue->options.base_delay_ms;
    for (uint32_t i = 0; i < failures && delay < queue->options.max_delay_ms; i++)
        delay *= 2;
    delay = min_i64(delay, queue->options.max_delay_ms);
    /* WQ-6: keys that failed together must not come back together. */
    return max_i64(1, random_between(&queue->random, delay - delay / 10, delay + delay / 10));
}

void workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct mono_time now)
{
    struct work *work = find_or_add(queue, key);
    int64_t delay_ms = retry_delay_ms(queue, work->failures);
    work->failures++;
    queue->stats.retries++;
    workqueue_add_after(queue, key, delay_ms, now);
}

void workqueue_forget(struct workqueue *queue, struct str key)
{
    struct work *work = find(queue, key);
    if (!work)
        return;
    work->failures = 0;
    drop_if_idle(queue, work);
}

static void wake_due(struct workqueue *queue, struct mono_time now)
{
    while (queue->heap_count > 0 && !mono_before(now, queue->heap[0]->due))
        add(queue, queue->heap[0], WORK_NORMAL, now);
}

/* A key of low priority that has waited long queues up with the others. */
static void raise_aged(struct workqueue *queue, struct mono_time now)
{
    for (int priority = 0; priority + 1 < WORK_PRIORITIES; priority++) {
        struct work *work;
        while ((work = queue->ready[priority]) && mono_ms_between(work->added, now) >= AGE_TO_RISE_MS) {
            DL_DELETE(queue->ready[priority], work);
            work->priority++;
            DL_APPEND(queue->ready[work->priority], work);
        }
    }
}

bool workqueue_get(struct workqueue *queue, struct mono_time now, struct str *ret_key)
{
    wake_due(queue, now);
    raise_aged(queue, now);
    for (int priority = WORK_PRIORITIES - 1; priority >= 0; priority--) {
        struct work *work = queue->ready[priority];
        if (!work)
            continue;
        DL_DELETE(queue->ready[priority], work);
        queue->stats.ready--;
        work->ready = false;
        work->processing = true;
        work->started = now;
        DL_APPEND(queue->running, work);
        queue->stats.processing++;
        queue->stats.last_queue_ns = now.ns - work->added.ns;
        *ret_key = (struct str){ .ptr = work->key, .len = work->key_len };
        return true;
    }
    return false;
}

void workqueue_done(struct workqueue *queue, struct str key, struct mono_time now)
{
    struct work *work = find(queue, key);
    if (!work || !work->processing)
        return;
    work->processing = false;
    DL_DELETE(queue->running, work);
    queue->stats.processing--;
    if (work->dirty) {
        work->dirty = false;
        make_ready(queue, work, now);
        return;
    }
    drop_if_idle(queue, work);
}

int64_t workqueue_next_ms(const struct workqueue *queue, struct mono_time now)
{
    if (queue->stats.ready > 0)
        return 0;
    if (queue->heap_count == 0)
        return -1;
    int64_t ns = queue->heap[0]->due.ns - now.ns;
    return ns <= 0 ? 0 : (ns + NS_PER_MS - 1) / NS_PER_MS;
}

struct workqueue_stats workqueue_stats(const struct workqueue *queue)
{
    struct workqueue_stats stats = queue->stats;
    stats.waiting = queue->heap_count;
    if (queue->running)
        stats.oldest_processing = queue->running->started;
    return stats;
}
