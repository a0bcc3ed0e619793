/* A plan as text: the patch for the server, the reason for people. */
#include "noderesource/plan.h"

/* --- quantities --------------------------------------------------------------------------- */

static enum quantity_format format_of(enum owned_resource resource)
{
    const unsigned bytes = 1u << OWNED_MID_MEMORY | 1u << OWNED_BATCH_MEMORY | 1u << OWNED_GPU_MEMORY;
    return bytes & 1u << resource ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI;
}

void noderesource_value_write(struct strbuf *out, enum owned_resource resource, int64_t value)
{
    quantity_write(out, quantity_from_i64(value, format_of(resource)));
}

void noderesource_current_write(struct strbuf *out, enum owned_resource resource,
                                const struct noderesource_current *current)
{
    if (!current->set)
        return;
    if (!current->readable) {
        strbuf_addc(out, '?');
        return;
    }
    quantity_write(out, (struct quantity){
                            .mantissa = current->nano, .scale = -9, .format = (uint8_t)format_of(resource) });
}

/* --- the patch ----------------------------------------------------------------------------- */

static bool is_sent(const struct noderesource_entry *entry, bool capacity)
{
    return entry->send && (capacity ? entry->differs_capacity : entry->differs_allocatable);
}

static void write_key(struct strbuf *out, const struct noderesource_entry *entry)
{
    json_write_str(out, owned_resource_names[entry->resource]);
    strbuf_addc(out, ':');
    if (!entry->planned.set) {
        strbuf_add(out, STR("null"));
        return;
    }
    strbuf_addc(out, '"');
    noderesource_value_write(out, entry->resource, entry->planned.value);
    strbuf_addc(out, '"');
}

/* Nothing at all when the map needs no change. */
static bool write_map(struct strbuf *out, const struct noderesource_plan *plan, bool capacity, bool first_map)
{
    bool any = false;
    for (size_t i = 0; i < plan->count; i++) {
        const struct noderesource_entry *entry = &plan->entries[i];
        if (!is_sent(entry, capacity))
            continue;
        if (!any)
            strbuf_addf(out, "%s\"%s\":{", first_map ? "{\"status\":{" : ",",
                        capacity ? "capacity" : "allocatable");
        else
            strbuf_addc(out, ',');
        write_key(out, entry);
        any = true;
    }
    if (any)
        strbuf_addc(out, '}');
    return any;
}

bool noderesource_patch(const struct noderesource_plan *plan, struct strbuf *out)
{
    bool capacity = write_map(out, plan, true, true);
    bool allocatable = write_map(out, plan, false, !capacity);
    if (!capacity && !allocatable)
        return false;
    strbuf_add(out, STR("}}"));
    return true;
}

static bool write_metas(struct strbuf *out, const struct noderesource_plan *plan, bool labels, bool first_map)
{
    bool any = false;
    for (size_t i = 0; i < plan->meta_count; i++) {
        const struct noderesource_meta *meta = &plan->metas[i];
        if (!meta->send || meta->label != labels)
            continue;
        if (!any)
            strbuf_addf(out, "%s\"%s\":{", first_map ? "{\"metadata\":{" : ",",
                        labels ? "labels" : "annotations");
        else
            strbuf_addc(out, ',');
        json_write_str(out, str_c(meta->key));
        strbuf_addc(out, ':');
        if (meta->planned.set)
            json_write_str(out, meta->planned.value);
        else
            strbuf_add(out, STR("null"));
        any = true;
    }
    if (any)
        strbuf_addc(out, '}');
    return any;
}

bool noderesource_meta_patch(const struct noderesource_plan *plan, struct strbuf *out)
{
    bool annotations = write_metas(out, plan, false, true);
    bool labels = write_metas(out, plan, true, !annotations);
    if (!annotations && !labels)
        return false;
    strbuf_add(out, STR("}}"));
    return true;
}

/* --- the reason ----------------------------------------------------------------------------- */

static const struct {
    const char *word;
    const char *sentence; /* NULL: made from the bound */
} reasons[] = {
    [NODERESOURCE_CALCULATED] = { "calculated", NULL },
    [NODERESOURCE_DISABLED] = { "disabled", "colocation is disabled for this node" },
    [NODERESOURCE_NO_METRIC] = { "noMetric", "the node has no NodeMetric" },
    [NODERESOURCE_NEVER_REPORTED] = { "neverReported", "the NodeMetric has no usable updateTime" },
    [NODERESOURCE_STALE] = { "staleMetric", "the last report is older than degradeTimeMinutes" },
    [NODERESOURCE_FROM_FUTURE] = { "futureMetric", "updateTime is more than degradeTimeMinutes ahead" },
    [NODERESOURCE_OLDER_REPORT] = { "olderReport", "a newer report was used before, so nothing is raised" },
    [NODERESOURCE_FEED_DOWN] = { "metricFeedDown", "reports may be missing on our side, so nothing is raised "
                                                   "and nothing withdrawn for its age" },
    [NODERESOURCE_CONFIG_REJECTED] = { "configRejected", "the configuration is rejected and no earlier one "
                                                         "is known: left as it is" },
    [NODERESOURCE_NO_DEVICE] = { "noDevice", "no healthy device of this kind is reported" },
};

const char *noderesource_reason_word(enum noderesource_reason reason)
{
    return reasons[reason].word;
}

enum { MS_PER_S = 1000 };

void noderesource_explain(const struct noderesource_plan *plan, const struct noderesource_entry *entry,
                          struct strbuf *out)
{
    strbuf_addf(out, "%s: ", reasons[entry->reason].word);
    if (reasons[entry->reason].sentence)
        strbuf_add(out, str_c(reasons[entry->reason].sentence));
    else
        strbuf_addf(out, "bound by %s", entry->bound);
    if (entry->saturated)
        strbuf_add(out, STR("; a term is out of range and was clamped"));
    if (entry->write && !entry->send && plan->wait_ms >= 0)
        strbuf_addf(out, "; within resourceDiffThreshold: a running manager waits up to %lld s",
                    (long long)((plan->wait_ms + MS_PER_S - 1) / MS_PER_S));
}
