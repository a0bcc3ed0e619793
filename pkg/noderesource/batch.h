#pragma once
/* How much one node, or one NUMA zone of it, lends to the Batch tier: the formula for one
 * resource, as numbers only.
 *
 *     usage             C - margin - sysMax       - HPUsed
 *     request           C - margin - nodeReserved - HPRequest
 *     maxUsageRequest   C - margin - sysMax       - HPMax
 *
 * Amounts come in exactly, in billionths, and are summed exactly; only the result is
 * rounded up to a whole unit. `margin` and the cap are whole percents of the capacity in
 * whole units, truncated toward zero. What does not fit int64 is clamped and said so. The
 * result is never negative. */
#include "base/str.h"
#include "noderesource/exact.h"

enum batch_policy { BATCH_USAGE, BATCH_REQUEST, BATCH_MAX_USAGE_REQUEST };

/* cpuCalculatePolicy or memoryCalculatePolicy: `request` exists for memory only; whatever
 * is not known is `usage`. */
enum batch_policy batch_policy_from_name(struct str name, bool cpu);
const char *batch_policy_name(enum batch_policy policy);

struct batch_input {
    enum batch_policy policy;
    bool blind;        /* the report holds no node metrics: nothing is known to be idle */
    int64_t unit_nano; /* billionths in one unit of the result: 10^6 for cpu, 10^9 for memory */
    __int128 capacity;
    __int128 system_usage;
    __int128 host_used;        /* host applications of class koord-prod and koord-mid */
    __int128 kubelet_reserved; /* capacity less allocatable */
    __int128 reserved_by_annotation;
    __int128 hp_request; /* of pods of the higher tiers, Prod and Mid */
    __int128 hp_used;
    __int128 hp_max;
    int64_t reclaim_percent;          /* above 100 makes the margin negative */
    struct opt_i64 threshold_percent; /* unset: no cap */
};

enum batch_bound {
    BATCH_BOUND_POLICY, /* the policy's formula */
    BATCH_BOUND_CAP,    /* the threshold */
    BATCH_BOUND_BLIND,  /* the report holds no node metrics */
};
/* "usage", "request", "maxUsageRequest", "cap", "noNodeMetric" */
const char *batch_bound_name(enum batch_bound bound, enum batch_policy policy);

struct batch_result {
    int64_t capacity;
    int64_t margin; /* may be negative */
    int64_t host_used;
    int64_t system_used;
    int64_t kubelet_reserved;
    int64_t annotation_reserved;
    int64_t node_reserved;
    int64_t system_max;
    int64_t hp_request;
    int64_t hp_used;
    int64_t hp_max;
    int64_t cap;   /* 0 without a threshold */
    int64_t batch; /* the result */
    enum batch_bound bound;
    bool saturated;
};

struct batch_result batch_calculate(const struct batch_input *in);

/* Which percent fields a result belongs to decides their terms' names: `cpu` or memory. */
size_t batch_terms(const struct batch_input *in, const struct batch_result *result, bool cpu,
                   struct noderesource_term terms[NODERESOURCE_TERMS_MAX]);
