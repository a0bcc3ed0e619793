#include "sloconfig/fields.h"

/* --- the table ------------------------------------------------------------------- */

/* Bounds are given as { controller, admission }. */
#define FIELD(member, name_, type_)                                                                          \
    .name = (name_), .type = (type_), .offset = offsetof(struct strategy, member)

static const char *const memory_collect_words[] = {
    "usageWithHotPageCache",
    "usageWithoutPageCache",
    "usageWithPageCache",
    NULL,
};
static const char *const cpu_policies[] = { "usage", "request", "maxUsageRequest", NULL };
static const char *const memory_policies[] = { "usage", "request", "maxUsageRequest", NULL };
static const char *const mid_modes[] = { "", "dynamic", "static", "reclaimable", "mixed", NULL };

const struct strategy_field strategy_fields[] = {
    { FIELD(enable, "enable", STRATEGY_BOOL), .default_json = "false",
      .description = "lend idle resources at all; cluster and node must both say so" },
    { FIELD(metric_aggregate_duration_s, "metricAggregateDurationSeconds", STRATEGY_I64),
      .default_json = "300", .range = { RANGE_ABOVE(0), RANGE_ABOVE(0) },
      .description = "window the agent averages usage over" },
    { FIELD(metric_report_interval_s, "metricReportIntervalSeconds", STRATEGY_I64), .default_json = "60",
      .range = { RANGE_ABOVE(0), RANGE_ABOVE(0) }, .description = "how often the agent reports" },
    { FIELD(metric_aggregate_durations, "durations", STRATEGY_DURATIONS), .parent = "metricAggregatePolicy",
      .default_json = "[\"5m0s\",\"10m0s\",\"30m0s\"]",
      .description = "windows the agent also reports percentiles for" },
    { FIELD(metric_memory_collect_policy, "metricMemoryCollectPolicy", STRATEGY_TEXT),
      .default_json = "\"usageWithoutPageCache\"", .words = memory_collect_words,
      .description = "which page cache counts as used memory" },
    { FIELD(cpu_reclaim_percent, "cpuReclaimThresholdPercent", STRATEGY_I64), .default_json = "60",
      .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "share of the CPU that Batch may count on; may exceed 100" },
    { FIELD(cpu_calculate_policy, "cpuCalculatePolicy", STRATEGY_TEXT), .default_json = "\"usage\"",
      .known = cpu_policies, .unknown_is = "usage",
      .description = "what of the higher tiers Batch CPU subtracts" },
    { FIELD(memory_reclaim_percent, "memoryReclaimThresholdPercent", STRATEGY_I64), .default_json = "65",
      .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "share of the memory that Batch may count on; may exceed 100" },
    { FIELD(memory_calculate_policy, "memoryCalculatePolicy", STRATEGY_TEXT), .default_json = "\"usage\"",
      .known = memory_policies, .unknown_is = "usage",
      .description = "what of the higher tiers Batch memory subtracts" },
    { FIELD(degrade_minutes, "degradeTimeMinutes", STRATEGY_I64), .default_json = "15",
      .range = { RANGE_ABOVE(0), RANGE_ABOVE(0) },
      .description = "age at which a report counts for nothing" },
    { FIELD(update_time_threshold_s, "updateTimeThresholdSeconds", STRATEGY_I64), .default_json = "300",
      .range = { RANGE_ABOVE(0), RANGE_ABOVE(0) },
      .description = "age at which even a small difference is written" },
    { FIELD(resource_diff_threshold, "resourceDiffThreshold", STRATEGY_DECIMAL), .default_json = "0.1",
      .range = { RANGE_ABOVE(0), RANGE_ABOVE_UP_TO(0, 1) },
      .description = "relative difference that is written at once" },
    { FIELD(mid_reclaim_mode, "midReclaimMode", STRATEGY_TEXT), .known = mid_modes, .unknown_is = "dynamic",
      .description = "formula of the Mid tier: dynamic, static, reclaimable or mixed" },
    { FIELD(mid_cpu_percent, "midCPUThresholdPercent", STRATEGY_I64), .default_json = "100",
      .range = { RANGE_BETWEEN(0, 100), RANGE_BETWEEN(0, 100) },
      .description = "most of the node's CPU that Mid may get" },
    { FIELD(mid_memory_percent, "midMemoryThresholdPercent", STRATEGY_I64), .default_json = "100",
      .range = { RANGE_BETWEEN(0, 100), RANGE_BETWEEN(0, 100) },
      .description = "most of the node's memory that Mid may get" },
    { FIELD(mid_unallocated_percent, "midUnallocatedPercent", STRATEGY_I64), .default_json = "0",
      .range = { RANGE_BETWEEN(0, 100), RANGE_BETWEEN(0, 100) },
      .description = "share of what Prod did not request that Mid may also get" },
    { FIELD(mid_static_cpu_percent, "midStaticCPUReservedPercent", STRATEGY_I64), .default_json = "0",
      .range = { RANGE_AT_LEAST(0), RANGE_BETWEEN(0, 100) },
      .description = "Mid's share of the CPU in static mode" },
    { FIELD(mid_static_memory_percent, "midStaticMemoryReservedPercent", STRATEGY_I64), .default_json = "0",
      .range = { RANGE_AT_LEAST(0), RANGE_BETWEEN(0, 100) },
      .description = "Mid's share of the memory in static mode" },
    { FIELD(batch_cpu_percent, "batchCPUThresholdPercent", STRATEGY_I64),
      .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "most of the node's CPU that Batch may get" },
    { FIELD(batch_memory_percent, "batchMemoryThresholdPercent", STRATEGY_I64),
      .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "most of the node's memory that Batch may get" },
    { FIELD(predict_diff_percent, "resourceDiffThresholdPercent", STRATEGY_I64),
      .parent = "nodePredictPolicy", .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "difference at which the agent reports a prediction at once" },
    { FIELD(predict_cold_start_s, "coldStartPeriodSeconds", STRATEGY_I64), .parent = "nodePredictPolicy",
      .range = { RANGE_AT_LEAST(0), RANGE_AT_LEAST(0) },
      .description = "age below which the agent does not predict for a pod" },
    { FIELD(extensions, "extensions", STRATEGY_MAP), .description = "free map for extensions" },
};
const size_t strategy_field_count = ARRAY_LEN(strategy_fields);

/* --- access ---------------------------------------------------------------------- */

static const void *field_at(const struct strategy_field *field, const struct strategy *strategy)
{
    return (const char *)strategy + field->offset;
}

static void *field_in(const struct strategy_field *field, struct strategy *strategy)
{
    return (char *)strategy + field->offset;
}

static const struct opt_i64 *as_i64(const struct strategy_field *field, const struct strategy *strategy)
{
    return field_at(field, strategy);
}

static const struct opt_decimal *as_decimal(const struct strategy_field *field,
                                            const struct strategy *strategy)
{
    return field_at(field, strategy);
}

static const struct opt_str *as_text(const struct strategy_field *field, const struct strategy *strategy)
{
    return field_at(field, strategy);
}

static const struct json *as_json(const struct strategy_field *field, const struct strategy *strategy)
{
    return *(const struct json *const *)field_at(field, strategy);
}

bool strategy_field_is_set(const struct strategy_field *field, const struct strategy *strategy)
{
    switch (field->type) {
    case STRATEGY_BOOL:
        return ((const struct opt_bool *)field_at(field, strategy))->set;
    case STRATEGY_I64:
        return as_i64(field, strategy)->set;
    case STRATEGY_DECIMAL:
        return as_decimal(field, strategy)->set;
    case STRATEGY_TEXT:
        return as_text(field, strategy)->set;
    case STRATEGY_DURATIONS:
    case STRATEGY_MAP:
        return as_json(field, strategy) != NULL;
    }
    return false;
}

const struct json *strategy_field_json(const struct strategy_field *field, const struct strategy *strategy,
                                       struct arena *arena)
{
    if (!strategy_field_is_set(field, strategy))
        return NULL;
    switch (field->type) {
    case STRATEGY_BOOL:
        return json_new_bool(arena, ((const struct opt_bool *)field_at(field, strategy))->value);
    case STRATEGY_I64:
        return json_new_i64(arena, as_i64(field, strategy)->value);
    case STRATEGY_DECIMAL:
        return json_new_number(arena, as_decimal(field, strategy)->text);
    case STRATEGY_TEXT:
        return json_new_str(arena, as_text(field, strategy)->value);
    case STRATEGY_DURATIONS:
    case STRATEGY_MAP:
        return as_json(field, strategy);
    }
    return NULL;
}

struct str strategy_field_path(const struct strategy_field *field, struct arena *arena)
{
    return field->parent ? arena_strf(arena, "%s.%s", field->parent, field->name) : str_c(field->name);
}

/* --- rules ----------------------------------------------------------------------- */

static bool range_admits(const struct strategy_range *range, struct quantity value)
{
    if (range->has_min) {
        int order = quantity_cmp(value, quantity_from_i64(range->min, QUANTITY_DECIMAL_SI));
        if (order < 0 || (order == 0 && range->above_min))
            return false;
    }
    return !range->has_max || quantity_cmp(value, quantity_from_i64(range->max, QUANTITY_DECIMAL_SI)) <= 0;
}

bool strategy_range_admits(const struct strategy_range *range, int64_t value)
{
    return range_admits(range, quantity_from_i64(value, QUANTITY_DECIMAL_SI));
}

struct str strategy_range_rule(const struct strategy_range *range, struct arena *arena)
{
    long long min = range->min, max = range->max;
    if (range->has_min && range->has_max)
        return range->above_min ? arena_strf(arena, "must be above %lld and at most %lld", min, max)
                                : arena_strf(arena, "must be between %lld and %lld", min, max);
    if (range->has_min)
        return arena_strf(arena, range->above_min ? "must be above %lld" : "must be at least %lld", min);
    return arena_strf(arena, "must be at most %lld", max);
}

static bool word_in(const char *const *words, struct str text)
{
    for (; *words; words++)
        if (str_eq(str_c(*words), text))
            return true;
    return false;
}

static struct str words_rule(const char *const *words, struct arena *arena)
{
    struct str rule = STR("must be one of");
    for (size_t i = 0; words[i]; i++)
        rule = arena_strf(arena, STR_FMT "%s %s", STR_ARG(rule), i ? "," : "", words[i]);
    return rule;
}

bool strategy_field_in_range(const struct strategy_field *field, const struct strategy *strategy,
                             enum rule_level level, struct arena *arena, struct str *rule)
{
    const struct strategy_range *range = &field->range[level];
    bool ok = true;
    if (!strategy_field_is_set(field, strategy))
        return true;
    if (field->type == STRATEGY_I64)
        ok = strategy_range_admits(range, as_i64(field, strategy)->value);
    else if (field->type == STRATEGY_DECIMAL)
        ok = range_admits(range, as_decimal(field, strategy)->value);
    else if (field->words)
        ok = word_in(field->words, as_text(field, strategy)->value);
    if (!ok && rule)
        *rule = field->words ? words_rule(field->words, arena) : strategy_range_rule(range, arena);
    return ok;
}

bool strategy_field_is_known(const struct strategy_field *field, const struct strategy *strategy)
{
    if (!field->known || !strategy_field_is_set(field, strategy))
        return true;
    return word_in(field->known, as_text(field, strategy)->value);
}

/* --- whole strategies ------------------------------------------------------------ */

static const struct json *merge_maps(const struct json *base, const struct json *over, struct arena *arena)
{
    if (!base)
        return over;
    struct json *merged = json_new(arena, JSON_OBJECT);
    const struct json *parts[] = { base, over };
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (size_t i = 0; i < parts[p]->object.count; i++)
            json_set(arena, merged, parts[p]->object.members[i].key, parts[p]->object.members[i].value);
    return merged;
}

static size_t field_size(const struct strategy_field *field)
{
    switch (field->type) {
    case STRATEGY_BOOL:
        return sizeof(struct opt_bool);
    case STRATEGY_I64:
        return sizeof(struct opt_i64);
    case STRATEGY_DECIMAL:
        return sizeof(struct opt_decimal);
    case STRATEGY_TEXT:
        return sizeof(struct opt_str);
    case STRATEGY_DURATIONS:
    case STRATEGY_MAP:
        break;
    }
    return sizeof(const struct json *);
}

void strategy_merge(struct strategy *base, const struct strategy *over, struct arena *arena)
{
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_field *field = &strategy_fields[i];
        if (!strategy_field_is_set(field, over))
            continue;
        if (field->type == STRATEGY_MAP)
            *(const struct json **)field_in(field, base) =
                merge_maps(as_json(field, base), as_json(field, over), arena);
        else
            memcpy(field_in(field, base), field_at(field, over), field_size(field));
    }
    base->has_predict_policy = base->has_predict_policy || over->has_predict_policy;
}

static bool field_equal(const struct strategy_field *field, const struct strategy *a,
                        const struct strategy *b)
{
    bool set = strategy_field_is_set(field, a);
    if (set != strategy_field_is_set(field, b) || !set)
        return set == strategy_field_is_set(field, b);
    switch (field->type) {
    case STRATEGY_BOOL:
        return ((const struct opt_bool *)field_at(field, a))->value ==
               ((const struct opt_bool *)field_at(field, b))->value;
    case STRATEGY_I64:
        return as_i64(field, a)->value == as_i64(field, b)->value;
    case STRATEGY_DECIMAL:
        return quantity_cmp(as_decimal(field, a)->value, as_decimal(field, b)->value) == 0;
    case STRATEGY_TEXT:
        return str_eq(as_text(field, a)->value, as_text(field, b)->value);
    case STRATEGY_DURATIONS:
    case STRATEGY_MAP:
        return json_equal(as_json(field, a), as_json(field, b));
    }
    return false;
}

bool strategy_equal(const struct strategy *a, const struct strategy *b)
{
    for (size_t i = 0; i < strategy_field_count; i++)
        if (!field_equal(&strategy_fields[i], a, b))
            return false;
    return a->has_predict_policy == b->has_predict_policy;
}

static bool same_parent(const char *a, const char *b)
{
    return a == b || (a && b && str_eq(str_c(a), str_c(b)));
}

/* Rows with one parent stand together; this writes them, from row *at on, as one object. */
static const struct json *group_to_json(const struct strategy *strategy, size_t *at, struct arena *arena)
{
    struct json *group = json_new(arena, JSON_OBJECT);
    const char *parent = strategy_fields[*at].parent;
    for (; *at < strategy_field_count && same_parent(strategy_fields[*at].parent, parent); (*at)++) {
        const struct json *value = strategy_field_json(&strategy_fields[*at], strategy, arena);
        if (value)
            json_set(arena, group, str_c(strategy_fields[*at].name), value);
    }
    bool given = str_eq(str_c(parent), STR("nodePredictPolicy")) && strategy->has_predict_policy;
    return json_count(group) || given ? group : NULL;
}

const struct json *strategy_to_json(const struct strategy *strategy, struct arena *arena)
{
    struct json *root = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < strategy_field_count;) {
        const char *parent = strategy_fields[i].parent;
        const char *name = parent ? parent : strategy_fields[i].name;
        const struct json *value = parent ? group_to_json(strategy, &i, arena)
                                          : strategy_field_json(&strategy_fields[i++], strategy, arena);
        if (value)
            json_set(arena, root, str_c(name), value);
    }
    return root;
}

/* --- defaults -------------------------------------------------------------------- */

static void set_default(const struct strategy_field *field, struct strategy *strategy, struct arena *arena)
{
    void *slot = field_in(field, strategy);
    struct str text = str_c(field->default_json);
    int64_t number = 0;
    switch (field->type) {
    case STRATEGY_BOOL:
        *(struct opt_bool *)slot = (struct opt_bool){ true, str_eq(text, STR("true")) };
        return;
    case STRATEGY_I64:
        *(struct opt_i64 *)slot = (struct opt_i64){ str_to_i64(text, &number), number };
        return;
    case STRATEGY_DECIMAL: {
        struct opt_decimal *decimal = slot;
        decimal->text = text;
        decimal->set = quantity_parse(text, &decimal->value, NULL);
        return;
    }
    case STRATEGY_TEXT:
    case STRATEGY_DURATIONS:
    case STRATEGY_MAP:
        break;
    }
    const struct json *value = NULL;
    if (!json_parse(arena, text, NULL, &value, NULL))
        return;
    if (field->type == STRATEGY_TEXT)
        *(struct opt_str *)slot = (struct opt_str){ true, json_str(value) };
    else
        *(const struct json **)slot = value;
}

void strategy_defaults(struct strategy *ret, struct arena *arena)
{
    *ret = (struct strategy){ 0 };
    for (size_t i = 0; i < strategy_field_count; i++)
        if (strategy_fields[i].default_json)
            set_default(&strategy_fields[i], ret, arena);
}
