#include "kube/backoff.h"

/* splitmix64: tiny, seedable, good enough to spread clients apart. */
uint64_t random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    if (high <= low)
        return low;
    uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int64_t)(random_next(random) % span);
}

int64_t backoff_next(struct backoff *backoff, struct random *random)
{
    if (backoff->next_ms == 0)
        backoff->next_ms = backoff->start_ms;
    int64_t delay = backoff->next_ms;
    backoff->next_ms = min_i64(delay * 2, backoff->cap_ms);
    return min_i64(random_between(random, delay, delay * 2 - 1), backoff->cap_ms);
}

void backoff_reset(struct backoff *backoff)
{
    backoff->next_ms = 0;
}

void token_bucket_init(struct token_bucket *bucket, double rate, double burst, struct mono_time now)
{
    /* A bucket that cannot hold one token would never give one. */
    if (burst < 1)
        burst = 1;
    *bucket = (struct token_bucket){ .rate = rate, .burst = burst, .tokens = burst, .updated = now };
}

static void refill(struct token_bucket *bucket, struct mono_time now)
{
    double elapsed_s = (double)(now.ns - bucket->updated.ns) / (double)NS_PER_S;
    if (elapsed_s <= 0)
        return;
    bucket->updated = now;
    bucket->tokens += elapsed_s * bucket->rate;
    if (bucket->tokens > bucket->burst)
        bucket->tokens = bucket->burst;
}

bool token_bucket_take(struct token_bucket *bucket, struct mono_time now)
{
    if (bucket->rate <= 0)
        return true;
    refill(bucket, now);
    if (bucket->tokens < 1)
        return false;
    bucket->tokens -= 1;
    return true;
}

int64_t token_bucket_wait_ms(struct token_bucket *bucket, struct mono_time now)
{
    if (bucket->rate <= 0)
        return 0;
    refill(bucket, now);
    if (bucket->tokens >= 1)
        return 0;
    return (int64_t)((1 - bucket->tokens) / bucket->rate * 1000) + 1;
}
