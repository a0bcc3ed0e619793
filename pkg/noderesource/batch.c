#include "noderesource/batch.h"

/* --- names ------------------------------------------------------------------------- */

static const char *const policy_names[] = {
    [BATCH_USAGE] = "usage",
    [BATCH_REQUEST] = "request",
    [BATCH_MAX_USAGE_REQUEST] = "maxUsageRequest",
};

const char *batch_policy_name(enum batch_policy policy)
{
    return policy_names[policy];
}

enum batch_policy batch_policy_from_name(struct str name, bool cpu)
{
    if (str_eq(name, STR("maxUsageRequest")))
        return BATCH_MAX_USAGE_REQUEST;
    return !cpu && str_eq(name, STR("request")) ? BATCH_REQUEST : BATCH_USAGE;
}

const char *batch_bound_name(enum batch_bound bound, enum batch_policy policy)
{
    static const char *const names[] = {
        [BATCH_BOUND_POLICY] = NULL,
        [BATCH_BOUND_CAP] = "cap",
        [BATCH_BOUND_BLIND] = "noNodeMetric",
    };
    return names[bound] ? names[bound] : policy_names[policy];
}

/* --- the formula --------------------------------------------------------------------- */

/* The same amounts with nothing negative among them: what is subtracted never adds. */
static struct batch_input without_negatives(const struct batch_input *in)
{
    struct batch_input out = *in;
    __int128 *const amounts[] = { &out.capacity,         &out.system_usage,
                                  &out.host_used,        &out.hp_request,
                                  &out.hp_used,          &out.hp_max,
                                  &out.kubelet_reserved, &out.reserved_by_annotation };
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
        *amounts[i] = exact_max(*amounts[i], 0);
    return out;
}

/* What the policy takes away besides the margin. */
static __int128 taken(const struct batch_input *in, __int128 system_used, __int128 reserved)
{
    __int128 system_max = exact_max(system_used, reserved);
    switch (in->policy) {
    case BATCH_REQUEST:
        return reserved + in->hp_request;
    case BATCH_MAX_USAGE_REQUEST:
        return system_max + in->hp_max;
    case BATCH_USAGE:
        break;
    }
    return system_max + in->hp_used;
}

struct batch_result batch_calculate(const struct batch_input *given)
{
    struct batch_result out = { 0 };
    const struct batch_input in = without_negatives(given);
    bool *saturated = &out.saturated;
    int64_t unit = in.unit_nano;
    __int128 system_used = in.system_usage + in.host_used;
    __int128 reserved = exact_max(in.kubelet_reserved, in.reserved_by_annotation);

    out.capacity = exact_units(in.capacity, unit, saturated);
    out.host_used = exact_units(in.host_used, unit, saturated);
    out.system_used = exact_units(system_used, unit, saturated);
    out.kubelet_reserved = exact_units(in.kubelet_reserved, unit, saturated);
    out.annotation_reserved = exact_units(in.reserved_by_annotation, unit, saturated);
    out.node_reserved = exact_units(reserved, unit, saturated);
    out.system_max = exact_units(exact_max(system_used, reserved), unit, saturated);
    out.hp_request = exact_units(in.hp_request, unit, saturated);
    out.hp_used = exact_units(in.hp_used, unit, saturated);
    out.hp_max = exact_units(in.hp_max, unit, saturated);
    out.margin = exact_percent_of(out.capacity, 100 - max_i64(in.reclaim_percent, 0), saturated);
    if (in.blind) {
        out.bound = BATCH_BOUND_BLIND;
        return out;
    }
    __int128 spare = in.capacity - (__int128)out.margin * unit - taken(&in, system_used, reserved);
    out.batch = exact_units(exact_max(spare, 0), unit, saturated);
    if (!in.threshold_percent.set)
        return out;
    out.cap = max_i64(0, exact_percent_of(out.capacity, in.threshold_percent.value, saturated));
    if (out.batch > out.cap) {
        out.batch = out.cap;
        out.bound = BATCH_BOUND_CAP;
    }
    return out;
}

/* --- terms ---------------------------------------------------------------------------- */

/* In the order in which the formula makes them. */
static const struct term_row {
    const char *cpu_name;
    const char *memory_name; /* NULL: the same */
    bool with_cap;           /* only where a threshold is set */
    bool from_input;
    size_t offset;
} term_rows[] = {
    { "C", NULL, false, false, offsetof(struct batch_result, capacity) },
    { "cpuReclaimThresholdPercent", "memoryReclaimThresholdPercent", false, true,
      offsetof(struct batch_input, reclaim_percent) },
    { "margin", NULL, false, false, offsetof(struct batch_result, margin) },
    { "hostUsed", NULL, false, false, offsetof(struct batch_result, host_used) },
    { "systemUsed", NULL, false, false, offsetof(struct batch_result, system_used) },
    { "kubeletRes", NULL, false, false, offsetof(struct batch_result, kubelet_reserved) },
    { "annoRes", NULL, false, false, offsetof(struct batch_result, annotation_reserved) },
    { "nodeReserved", NULL, false, false, offsetof(struct batch_result, node_reserved) },
    { "sysMax", NULL, false, false, offsetof(struct batch_result, system_max) },
    { "HPRequest", NULL, false, false, offsetof(struct batch_result, hp_request) },
    { "HPUsed", NULL, false, false, offsetof(struct batch_result, hp_used) },
    { "HPMax", NULL, false, false, offsetof(struct batch_result, hp_max) },
    { "batchCPUThresholdPercent", "batchMemoryThresholdPercent", true, true,
      offsetof(struct batch_input, threshold_percent.value) },
    { "cap", NULL, true, false, offsetof(struct batch_result, cap) },
    { "batch", NULL, false, false, offsetof(struct batch_result, batch) },
};
_Static_assert(ARRAY_LEN(term_rows) + 4 <= NODERESOURCE_TERMS_MAX, "every term has room, and what is added");

size_t batch_terms(const struct batch_input *in, const struct batch_result *result, bool cpu,
                   struct noderesource_term terms[NODERESOURCE_TERMS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(term_rows); i++) {
        const struct term_row *row = &term_rows[i];
        if (row->with_cap && !in->threshold_percent.set)
            continue;
        const char *base = row->from_input ? (const char *)in : (const char *)result;
        terms[count].name = cpu || !row->memory_name ? row->cpu_name : row->memory_name;
        memcpy(&terms[count].value, base + row->offset, sizeof terms[count].value);
        count++;
    }
    return count;
}
