#pragma once
/* How much one node lends to the Mid tier: the formula for one resource, as numbers only.
 *
 * Amounts come in exactly, in billionths (nano-cores, nano-bytes). Every term that leaves
 * is a whole number of the resource's unit (milli-cores, bytes), rounded away from zero
 * where it is read; percents truncate toward zero. What does not fit int64 is clamped and
 * said so in `saturated`. The result is never negative. */
#include "api/meta.h"
#include "base/str.h"
#include "noderesource/exact.h"

enum mid_mode {
    MID_DYNAMIC,     /* min(min(reclaimable, unused) + unallocated share, share of capacity) */
    MID_STATIC,      /* min(static share of capacity, share of capacity) */
    MID_RECLAIMABLE, /* min(reclaimable, share of allocatable) */
    MID_MIXED,       /* that + max(allocatable - Prod requests, 0), at most allocatable */
};

/* midReclaimMode. Empty is dynamic; so is an unknown name, with *known false. */
enum mid_mode mid_mode_from_name(struct str name, bool *known);
const char *mid_mode_name(enum mid_mode mode); /* "dynamic", "static", ... */

struct mid_input {
    enum mid_mode mode;
    int64_t unit_nano;    /* billionths in one unit of the result: 10^6 for cpu, 10^9 for memory */
    __int128 capacity;    /* status.capacity */
    __int128 allocatable; /* status.allocatable: what kubelet holds back is capacity minus this */
    __int128
        lendable;   /* what the thresholds of `reclaimable` and `mixed` refer to: raw or status allocatable */
    bool has_usage; /* nodeUsage names both cpu and memory; else nothing counts as unused */
    __int128 usage;
    __int128 system_usage;
    __int128 host_used; /* host applications of class koord-prod */
    __int128 reserved_by_annotation;
    __int128 prod_allocated;
    __int128 reclaimable; /* negative counts as 0 */
    int64_t threshold_percent;
    int64_t unallocated_percent;
    int64_t static_percent;
};

enum mid_bound {
    MID_BOUND_RECLAIMABLE, /* the prediction, plus what is unallocated where the mode adds it */
    MID_BOUND_UNUSED,      /* node usage */
    MID_BOUND_CAP,         /* the threshold */
    MID_BOUND_STATIC,      /* the static share */
    MID_BOUND_ALLOCATABLE, /* the sum would exceed allocatable */
};
const char *mid_bound_name(enum mid_bound bound); /* "reclaimable", "unused", "cap", ... */

/* Terms that the mode does not use are 0. */
struct mid_result {
    int64_t capacity;
    int64_t allocatable; /* `reclaimable` and `mixed`: the lendable one */
    int64_t usage;
    int64_t unused; /* may be negative */
    int64_t host_used;
    int64_t system_used;
    int64_t kubelet_reserved;
    int64_t annotation_reserved;
    int64_t node_reserved;
    int64_t prod_allocated;
    int64_t unallocated;
    int64_t reclaimable;
    int64_t part;
    int64_t extra;
    int64_t static_share;
    int64_t cap;
    int64_t mid; /* the result */
    enum mid_bound bound;
    bool saturated;
};

struct mid_result mid_calculate(const struct mid_input *in);

/* The terms that the mode uses, named as users read them in `koordctl plan`. */
/* Which static percent field a result belongs to decides its term's name: `cpu` or memory. */
size_t mid_terms(const struct mid_input *in, const struct mid_result *result, bool cpu,
                 struct noderesource_term terms[NODERESOURCE_TERMS_MAX]);
