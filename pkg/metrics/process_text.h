#pragma once
/* What the kernel writes into /proc, as numbers. Pure: the text comes from the caller. */
#include "base/err.h"
#include "base/str.h"

struct metrics_process_stat {
    int64_t cpu_ticks;   /* user and system, in clock ticks */
    int64_t start_ticks; /* since boot, in clock ticks */
    int64_t virtual_bytes;
    int64_t resident_pages;
};

/* /proc/<pid>/stat */
bool metrics_process_stat_parse(struct str text, struct metrics_process_stat *ret,
                                struct err *err) MUST_CHECK;

/* /proc/stat: when the machine started, in seconds since 1970. */
bool metrics_process_boot_parse(struct str text, int64_t *ret_s, struct err *err) MUST_CHECK;
