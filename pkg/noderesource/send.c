/* Whether planned values are written now: small differences wait, and nothing that is
 * equal is ever sent. */
#include "noderesource/plan_internal.h"

enum { DEFAULT_UPDATE_TIME_THRESHOLD_S = 300, DEFAULT_DIFF_THRESHOLD_NANO = 100000000 };

/* --- differences ------------------------------------------------------------------------ */

static bool differs(const struct noderesource_current *current, const struct opt_i64 *planned)
{
    if (!planned->set)
        return current->set;
    return !current->set || !current->readable ||
           current->nano != (__int128)planned->value * API_NANO_PER_UNIT;
}

/* |new - old| > old * threshold, exactly. A product beyond 128 bits is larger than any
 * difference; a difference beyond them is larger than any threshold. */
static bool exceeds(__int128 old_nano, __int128 new_nano, __int128 threshold_nano)
{
    __int128 difference = new_nano > old_nano ? new_nano - old_nano : old_nano - new_nano;
    __int128 old = old_nano < 0 ? -old_nano : old_nano;
    __int128 left, right;
    if (__builtin_mul_overflow(difference, (__int128)API_NANO_PER_UNIT, &left))
        return true;
    if (__builtin_mul_overflow(old, threshold_nano, &right))
        return false;
    return left > right;
}

/* Too different to wait: presence, unreadable text, or beyond the threshold. */
static bool triggers(const struct noderesource_current *current, const struct opt_i64 *planned,
                     __int128 threshold_nano)
{
    if (!differs(current, planned))
        return false;
    if (!planned->set || !current->set || !current->readable)
        return true;
    return exceeds(current->nano, (__int128)planned->value * API_NANO_PER_UNIT, threshold_nano);
}

static __int128 diff_threshold(const struct strategy *strategy)
{
    if (!strategy || !strategy->resource_diff_threshold.set)
        return DEFAULT_DIFF_THRESHOLD_NANO;
    __int128 nano = api_nano_from_quantity(strategy->resource_diff_threshold.value);
    return nano < 0 ? 0 : nano;
}

/* --- directions ------------------------------------------------------------------------- */

static bool lowers(const struct noderesource_current *current, const struct opt_i64 *planned)
{
    if (!current->set || !differs(current, planned))
        return false;
    return !planned->set || !current->readable ||
           current->nano > (__int128)planned->value * API_NANO_PER_UNIT;
}

static bool raises(const struct noderesource_current *current, const struct opt_i64 *planned)
{
    return planned->set && differs(current, planned) && !lowers(current, planned);
}

/* --- the decision ------------------------------------------------------------------------ */

static bool find_differences(struct noderesource_plan *plan, __int128 threshold_nano)
{
    bool triggered = false;
    for (size_t i = 0; i < plan->count; i++) {
        struct noderesource_entry *entry = &plan->entries[i];
        if (entry->keep)
            continue;
        entry->differs_allocatable = differs(&entry->allocatable, &entry->planned);
        entry->differs_capacity = differs(&entry->capacity, &entry->planned);
        entry->write = entry->differs_allocatable || entry->differs_capacity;
        plan->write |= entry->write;
        triggered |= triggers(&entry->allocatable, &entry->planned, threshold_nano) ||
                     triggers(&entry->capacity, &entry->planned, threshold_nano);
    }
    return triggered;
}

static bool zones_trigger(const struct noderesource_plan *plan, __int128 threshold_nano)
{
    for (size_t i = 0; i < plan->zone_count; i++) {
        for (size_t v = 0; v < ARRAY_LEN(plan->zones[i].values); v++) {
            const struct noderesource_zone_value *value = &plan->zones[i].values[v];
            if (value->write && (!value->current.set || !value->current.readable ||
                                 value->current.nano == value->planned_nano ||
                                 exceeds(value->current.nano, value->planned_nano, threshold_nano)))
                return true;
        }
    }
    return false;
}

static bool time_is_up(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    struct node_history fresh = { 0 };
    const struct node_history *history = in->history;
    if (!history || !history->seen) {
        node_history_observe(&fresh, kube_object_name(&in->node->object), in->mono);
        history = &fresh;
    }
    int64_t threshold_s = DEFAULT_UPDATE_TIME_THRESHOLD_S;
    if (in->strategy && in->strategy->update_time_threshold_s.set)
        threshold_s = in->strategy->update_time_threshold_s.value;
    struct mono_time due = node_history_due(history, threshold_s);
    if (mono_before(due, in->mono))
        return true;
    plan->wait_ms = mono_ms_between(in->mono, due) + 1;
    plan_recheck(plan, plan->wait_ms);
    return false;
}

/* One key that triggers takes every key of ours that differs along. */
static void send_all(struct noderesource_plan *plan)
{
    plan->send = true;
    for (size_t i = 0; i < plan->count; i++) {
        struct noderesource_entry *entry = &plan->entries[i];
        if (!entry->write)
            continue;
        entry->send = true;
        plan->withdrawal |=
            lowers(&entry->allocatable, &entry->planned) || lowers(&entry->capacity, &entry->planned);
        plan->increase |=
            raises(&entry->allocatable, &entry->planned) || raises(&entry->capacity, &entry->planned);
    }
}

/* What waits for the status is the status's own wait. */
static bool zones_time_is_up(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    int64_t wait_ms = plan->wait_ms;
    bool up = time_is_up(in, plan);
    plan->wait_ms = wait_ms;
    return up;
}

/* A meta that belongs to the status waits with it. */
static void send_metas(struct noderesource_plan *plan)
{
    bool waits = plan->write && !plan->send;
    for (size_t i = 0; i < plan->meta_count; i++) {
        struct noderesource_meta *meta = &plan->metas[i];
        meta->send = meta->send && !(waits && meta->follows_status);
        plan->send_meta |= meta->send;
    }
}

void plan_decide_sending(const struct noderesource_input *in, struct noderesource_plan *plan)
{
    bool triggered = find_differences(plan, diff_threshold(in->strategy));
    if (plan->write && (triggered || time_is_up(in, plan)))
        send_all(plan);
    send_metas(plan);
    if (!str_empty(plan->zones_patch))
        plan->send_zones = zones_trigger(plan, diff_threshold(in->strategy)) || zones_time_is_up(in, plan);
}
