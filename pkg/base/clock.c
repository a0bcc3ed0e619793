#include "base/clock.h"
#include <time.h>

struct mono_time mono_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (struct mono_time){ .ns = now.tv_sec * NS_PER_S + now.tv_nsec };
}

struct wall_time wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct wall_time){ .us = now.tv_sec * US_PER_S + now.tv_nsec / 1000 };
}
