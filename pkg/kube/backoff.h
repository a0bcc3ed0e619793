#pragma once
/* Pure helpers of waiting: exponential backoff with jitter, a token bucket, a small
 * random generator with a seed. */
#include "base/clock.h"

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *random);
/* Uniform in [low, high]. */
int64_t random_between(struct random *random, int64_t low, int64_t high);

/* 800 ms, doubling to 30 s; each wait is uniform in [d, 2d), capped (REF-1). */
struct backoff {
    int64_t start_ms;
    int64_t cap_ms;
    int64_t next_ms; /* 0: start */
};
int64_t backoff_next(struct backoff *backoff, struct random *random);
void backoff_reset(struct backoff *backoff);

/* `rate` tokens a second, at most `burst` saved. Rate 0: no limit. */
struct token_bucket {
    double rate;
    double burst;
    double tokens;
    struct mono_time updated;
};
void token_bucket_init(struct token_bucket *bucket, double rate, double burst, struct mono_time now);
bool token_bucket_take(struct token_bucket *bucket, struct mono_time now);
/* Milliseconds until a token is there; 0: now. */
int64_t token_bucket_wait_ms(struct token_bucket *bucket, struct mono_time now);
