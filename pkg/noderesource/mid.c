#include "noderesource/mid.h"

/* --- names ------------------------------------------------------------------------- */

static const char *const mode_names[] = {
    [MID_DYNAMIC] = "dynamic",
    [MID_STATIC] = "static",
    [MID_RECLAIMABLE] = "reclaimable",
    [MID_MIXED] = "mixed",
};

enum mid_mode mid_mode_from_name(struct str name, bool *known)
{
    *known = true;
    if (str_empty(name))
        return MID_DYNAMIC;
    for (size_t i = 0; i < ARRAY_LEN(mode_names); i++) {
        if (str_eq(str_c(mode_names[i]), name))
            return (enum mid_mode)i;
    }
    *known = false;
    return MID_DYNAMIC;
}

const char *mid_mode_name(enum mid_mode mode)
{
    return mode_names[mode];
}

const char *mid_bound_name(enum mid_bound bound)
{
    static const char *const names[] = {
        [MID_BOUND_RECLAIMABLE] = "reclaimable",
        [MID_BOUND_UNUSED] = "unused",
        [MID_BOUND_CAP] = "cap",
        [MID_BOUND_STATIC] = "static",
        [MID_BOUND_ALLOCATABLE] = "allocatable",
    };
    return names[bound];
}

/* --- amounts ------------------------------------------------------------------------ */

static int64_t units(__int128 nano, const struct mid_input *in, bool *saturated)
{
    return exact_units(nano, in->unit_nano, saturated);
}

/* A share that is never negative, whatever the percent. */
static int64_t share(int64_t value, int64_t percent, bool *saturated)
{
    return max_i64(0, exact_percent_of(value, percent, saturated));
}

/* --- the modes ----------------------------------------------------------------------- */

static void calculate_dynamic(const struct mid_input *in, struct mid_result *out)
{
    bool *saturated = &out->saturated;
    __int128 capacity = exact_max(in->capacity, 0);
    __int128 host_used = exact_max(in->host_used, 0);
    __int128 system_used = exact_max(in->system_usage, 0) + host_used;
    __int128 kubelet = exact_max(capacity - exact_max(in->allocatable, 0), 0);
    __int128 annotation = exact_max(in->reserved_by_annotation, 0);
    __int128 reserved = exact_max(system_used, exact_max(kubelet, annotation));
    __int128 prod = exact_max(in->prod_allocated, 0);
    __int128 unused = in->has_usage ? capacity - exact_max(in->usage, 0) : 0;

    out->capacity = units(capacity, in, saturated);
    out->allocatable = units(exact_max(in->allocatable, 0), in, saturated);
    out->usage = in->has_usage ? units(exact_max(in->usage, 0), in, saturated) : 0;
    out->unused = units(unused, in, saturated);
    out->host_used = units(host_used, in, saturated);
    out->system_used = units(system_used, in, saturated);
    out->kubelet_reserved = units(kubelet, in, saturated);
    out->annotation_reserved = units(annotation, in, saturated);
    out->node_reserved = units(reserved, in, saturated);
    out->prod_allocated = units(prod, in, saturated);
    out->unallocated = units(exact_max(capacity - reserved - prod, 0), in, saturated);
    out->reclaimable = units(exact_max(in->reclaimable, 0), in, saturated);

    out->part = max_i64(0, min_i64(out->reclaimable, out->unused));
    out->extra = share(out->unallocated, in->unallocated_percent, saturated);
    out->cap = share(out->capacity, in->threshold_percent, saturated);
    __int128 wanted = (__int128)out->part + out->extra;
    out->mid = wanted > out->cap ? out->cap : (int64_t)wanted;
    if (wanted > out->cap)
        out->bound = MID_BOUND_CAP;
    else
        out->bound = out->unused < out->reclaimable ? MID_BOUND_UNUSED : MID_BOUND_RECLAIMABLE;
}

static void calculate_static(const struct mid_input *in, struct mid_result *out)
{
    out->capacity = units(exact_max(in->capacity, 0), in, &out->saturated);
    out->static_share = share(out->capacity, in->static_percent, &out->saturated);
    out->cap = share(out->capacity, in->threshold_percent, &out->saturated);
    out->mid = min_i64(out->static_share, out->cap);
    out->bound = out->static_share > out->cap ? MID_BOUND_CAP : MID_BOUND_STATIC;
}

static void calculate_reclaimable(const struct mid_input *in, struct mid_result *out)
{
    out->allocatable = units(exact_max(in->lendable, 0), in, &out->saturated);
    out->reclaimable = units(exact_max(in->reclaimable, 0), in, &out->saturated);
    out->cap = share(out->allocatable, in->threshold_percent, &out->saturated);
    out->part = min_i64(out->reclaimable, out->cap);
    out->mid = out->part;
    out->bound = out->reclaimable > out->cap ? MID_BOUND_CAP : MID_BOUND_RECLAIMABLE;
}

/* Both operands of the difference are read in whole units first: were the difference
 * rounded instead, a fraction nobody has could be lent. */
static void calculate_mixed(const struct mid_input *in, struct mid_result *out)
{
    calculate_reclaimable(in, out);
    out->prod_allocated = units(exact_max(in->prod_allocated, 0), in, &out->saturated);
    out->unallocated = max_i64(0, out->allocatable - out->prod_allocated);
    __int128 wanted = (__int128)out->part + out->unallocated;
    out->mid = wanted > out->allocatable ? out->allocatable : (int64_t)wanted;
    if (wanted > out->allocatable)
        out->bound = MID_BOUND_ALLOCATABLE;
}

static void (*const modes[])(const struct mid_input *in, struct mid_result *out) = {
    [MID_DYNAMIC] = calculate_dynamic,
    [MID_STATIC] = calculate_static,
    [MID_RECLAIMABLE] = calculate_reclaimable,
    [MID_MIXED] = calculate_mixed,
};

struct mid_result mid_calculate(const struct mid_input *in)
{
    struct mid_result result = { 0 };
    modes[in->mode](in, &result);
    return result;
}

/* --- terms ---------------------------------------------------------------------------- */

enum mode_set {
    IN_DYNAMIC = 1 << MID_DYNAMIC,
    IN_STATIC = 1 << MID_STATIC,
    IN_RECLAIMABLE = 1 << MID_RECLAIMABLE,
    IN_MIXED = 1 << MID_MIXED,
};
enum {
    OF_CAPACITY = IN_DYNAMIC | IN_STATIC,
    OF_ALLOCATABLE = IN_DYNAMIC | IN_RECLAIMABLE | IN_MIXED,
    OF_ALL = OF_CAPACITY | OF_ALLOCATABLE,
};

/* In the order in which the formula makes them. */
static const struct term_row {
    const char *cpu_name;
    const char *memory_name; /* NULL: the same */
    unsigned modes;
    bool from_input;
    size_t offset;
} term_rows[] = {
    { "C", NULL, OF_CAPACITY, false, offsetof(struct mid_result, capacity) },
    { "A", NULL, OF_ALLOCATABLE, false, offsetof(struct mid_result, allocatable) },
    { "U", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, usage) },
    { "unused", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, unused) },
    { "hostUsed", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, host_used) },
    { "systemUsed", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, system_used) },
    { "kubeletRes", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, kubelet_reserved) },
    { "annoRes", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, annotation_reserved) },
    { "nodeReserved", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, node_reserved) },
    { "prodAlloc", NULL, IN_DYNAMIC | IN_MIXED, false, offsetof(struct mid_result, prod_allocated) },
    { "unallocated", NULL, IN_DYNAMIC | IN_MIXED, false, offsetof(struct mid_result, unallocated) },
    { "reclaimable", NULL, OF_ALLOCATABLE, false, offsetof(struct mid_result, reclaimable) },
    { "midUnallocatedPercent", NULL, IN_DYNAMIC, true, offsetof(struct mid_input, unallocated_percent) },
    { "midStaticCPUReservedPercent", "midStaticMemoryReservedPercent", IN_STATIC, true,
      offsetof(struct mid_input, static_percent) },
    { "thresholdPercent", NULL, OF_ALL, true, offsetof(struct mid_input, threshold_percent) },
    { "part", NULL, OF_ALLOCATABLE, false, offsetof(struct mid_result, part) },
    { "extra", NULL, IN_DYNAMIC, false, offsetof(struct mid_result, extra) },
    { "static", NULL, IN_STATIC, false, offsetof(struct mid_result, static_share) },
    { "cap", NULL, OF_ALL, false, offsetof(struct mid_result, cap) },
    { "mid", NULL, OF_ALL, false, offsetof(struct mid_result, mid) },
};
_Static_assert(ARRAY_LEN(term_rows) <= NODERESOURCE_TERMS_MAX, "every term has room");

size_t mid_terms(const struct mid_input *in, const struct mid_result *result, bool cpu,
                 struct noderesource_term terms[NODERESOURCE_TERMS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(term_rows); i++) {
        const struct term_row *row = &term_rows[i];
        if (!(row->modes & 1u << in->mode))
            continue;
        const char *base = row->from_input ? (const char *)in : (const char *)result;
        terms[count].name = cpu || !row->memory_name ? row->cpu_name : row->memory_name;
        memcpy(&terms[count].value, base + row->offset, sizeof terms[count].value);
        count++;
    }
    return count;
}
