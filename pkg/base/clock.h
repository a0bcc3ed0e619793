#pragma once
/* Two clocks that do not mix: passing one for the other does not compile.
 *
 * Monotonic time counts suspend (CLOCK_BOOTTIME) and never jumps: deadlines, backoff,
 * ages of what this process did. Wall time is what other machines wrote into objects. */
#include "base/base.h"

struct mono_time {
    int64_t ns; /* since an unspecified start */
};

struct wall_time {
    int64_t us; /* since 1970-01-01T00:00:00Z, without leap seconds */
};

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define US_PER_S INT64_C(1000000)

/* Reads the system's clocks. Only the loop and programs call these; everything that
 * decides gets `now` as an argument. */
struct mono_time mono_now(void);
struct wall_time wall_now(void);

static inline int64_t mono_ms_between(struct mono_time from, struct mono_time to)
{
    return (to.ns - from.ns) / NS_PER_MS;
}

static inline struct mono_time mono_add_ms(struct mono_time t, int64_t ms)
{
    return (struct mono_time){ t.ns + ms * NS_PER_MS };
}

static inline bool mono_before(struct mono_time a, struct mono_time b)
{
    return a.ns < b.ns;
}
