#pragma once
/* Exact arithmetic of the tiers' formulas: amounts in billionths, results in whole units,
 * what does not fit int64 clamped and said so. */
#include "base/base.h"

/* One term of a formula, named as users read it in `koordctl plan`. */
struct noderesource_term {
    const char *name;
    int64_t value;
};
enum { NODERESOURCE_TERMS_MAX = 24 };

enum {
    EXACT_MILLI_NANO = 1000000,   /* billionths in a milli-core */
    EXACT_UNIT_NANO = 1000000000, /* in a byte */
};

static inline __int128 exact_max(__int128 a, __int128 b)
{
    return a > b ? a : b;
}

/* *saturated is set when the value does not fit, else left alone. */
int64_t exact_clamp(__int128 value, bool *saturated);

/* In whole units of `unit_nano`, rounded away from zero as upstream's Value and MilliValue. */
int64_t exact_units(__int128 nano, int64_t unit_nano, bool *saturated);

/* value * percent / 100, truncated toward zero. */
int64_t exact_percent_of(int64_t value, int64_t percent, bool *saturated);
