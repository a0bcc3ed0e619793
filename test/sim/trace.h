#pragma once
/* A recorded CPU trace: percent of a machine, one sample per five minutes. */
#include "base/arena.h"
#include "base/err.h"

struct trace {
    const double *percent;
    size_t count;
};

/* CSV with a header line and the value in the last column. Pure. */
bool trace_parse(struct arena *arena, struct str text, struct trace *ret, struct err *err) MUST_CHECK;
/* Sample `step`, the trace repeating for ever. */
double trace_at(const struct trace *trace, size_t step);
/* The highest of the `window` samples that end at `step`. */
double trace_peak(const struct trace *trace, size_t step, size_t window);
