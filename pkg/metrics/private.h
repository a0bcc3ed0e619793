#pragma once
/* What the registry and the exposition share; nobody else looks. */
#include "metrics/metrics.h"
#include "base/arena.h"

enum metric_type { METRIC_TYPE_COUNTER, METRIC_TYPE_GAUGE, METRIC_TYPE_HISTOGRAM };

/* One block: the struct, its buckets, its label values and their text. */
struct metric_series {
    const struct str *values; /* as many as the family has labels */
    double value;             /* counter, gauge; for a histogram the sum */
    uint64_t observations;    /* of a histogram */
    uint64_t *buckets;        /* observations per bound, not cumulative; NULL otherwise */
};

struct metric {
    struct str name, help;
    enum metric_type type;
    const struct str *labels;
    size_t label_count;
    const double *bounds;
    size_t bound_count;
    struct metric_series **series; /* sorted by values */
    size_t series_count, series_room;
    struct metric_series *overflow; /* not in `series`; NULL until needed */
};

struct metric_collector {
    void (*collect)(void *self);
    void *self;
};

struct metric_registry {
    struct arena arena;      /* families, names, help texts */
    struct metric **metrics; /* sorted by name */
    size_t metric_count;
    struct metric_collector *collectors;
    size_t collector_count;
};
