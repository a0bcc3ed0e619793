#include "nodemetric/spec.h"

enum {
    DEFAULT_AGGREGATE_DURATION_S = 300,
    DEFAULT_REPORT_INTERVAL_S = 60,
    DURATIONS_MAX_BYTES = 1024 * 1024,
};
static const struct str default_durations = STR_INIT("[\"5m0s\",\"10m0s\",\"30m0s\"]");
static const struct str default_memory_policy = STR_INIT("usageWithoutPageCache");

/* --- desired ----------------------------------------------------------------------------- */

static struct str durations_text(const struct json *durations, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(DURATIONS_MAX_BYTES);
    json_write(&text, durations);
    return text.overflow ? default_durations : arena_str(arena, strbuf_str(&text));
}

void nodemetric_desired_make(const struct strategy *strategy, struct arena *arena,
                             struct nodemetric_desired *ret)
{
    *ret = (struct nodemetric_desired){
        .aggregate_duration_s = DEFAULT_AGGREGATE_DURATION_S,
        .report_interval_s = DEFAULT_REPORT_INTERVAL_S,
        .durations = default_durations,
        .memory_collect_policy = default_memory_policy,
    };
    if (!strategy || !strategy->enable.value)
        return;
    if (strategy->metric_aggregate_duration_s.set)
        ret->aggregate_duration_s = strategy->metric_aggregate_duration_s.value;
    if (strategy->metric_report_interval_s.set)
        ret->report_interval_s = strategy->metric_report_interval_s.value;
    if (strategy->metric_aggregate_durations)
        ret->durations = durations_text(strategy->metric_aggregate_durations, arena);
    if (strategy->metric_memory_collect_policy.set)
        ret->memory_collect_policy = arena_str(arena, strategy->metric_memory_collect_policy.value);
    ret->has_predict_policy = strategy->has_predict_policy;
    if (ret->has_predict_policy) {
        ret->predict_diff_percent = strategy->predict_diff_percent;
        ret->predict_cold_start_s = strategy->predict_cold_start_s;
    }
}

/* --- comparing --------------------------------------------------------------------------- */

static bool is_number(struct opt_i64 value, int64_t wanted)
{
    return value.set && value.value == wanted;
}

static bool same_opt(struct opt_i64 a, struct opt_i64 b)
{
    return a.set == b.set && (!a.set || a.value == b.value);
}

/* An empty list is kept as none. */
static bool same_durations(const struct istr *have, struct str wanted)
{
    if (!have)
        return str_eq(wanted, STR("[]"));
    return str_eq(istr_str(have), wanted);
}

static bool same_text(const struct istr *have, struct str wanted)
{
    return have && str_eq(istr_str(have), wanted);
}

static bool same_predict(const struct nodemetric_spec *spec, const struct nodemetric_desired *desired)
{
    if (spec->has_predict_policy != desired->has_predict_policy)
        return false;
    return !desired->has_predict_policy ||
           (same_opt(spec->predict_diff_percent, desired->predict_diff_percent) &&
            same_opt(spec->predict_cold_start_s, desired->predict_cold_start_s));
}

bool nodemetric_spec_matches(const struct nodemetric_spec *spec, const struct nodemetric_desired *desired,
                             bool predict_pruned)
{
    return is_number(spec->aggregate_duration_s, desired->aggregate_duration_s) &&
           is_number(spec->report_interval_s, desired->report_interval_s) &&
           same_durations(spec->durations, desired->durations) &&
           same_text(spec->memory_collect_policy, desired->memory_collect_policy) &&
           (predict_pruned || same_predict(spec, desired));
}

bool nodemetric_predict_was_pruned(const struct nodemetric_desired *desired,
                                   const struct nodemetric_spec *answer)
{
    if (!desired->has_predict_policy)
        return false;
    return !answer->has_predict_policy ||
           (desired->predict_diff_percent.set && !answer->predict_diff_percent.set) ||
           (desired->predict_cold_start_s.set && !answer->predict_cold_start_s.set);
}

/* --- plan --------------------------------------------------------------------------------- */

const char *nodemetric_action_name(enum nodemetric_action action)
{
    static const char *const names[] = {
        [NODEMETRIC_NONE] = "none",
        [NODEMETRIC_CREATE] = "create",
        [NODEMETRIC_UPDATE] = "update",
        [NODEMETRIC_DELETE] = "delete",
    };
    return names[action];
}

void nodemetric_plan_make(const struct nodemetric_input *in, struct arena *arena, struct nodemetric_plan *ret)
{
    *ret = (struct nodemetric_plan){ .action = NODEMETRIC_NONE };
    if (in->hold)
        return;
    if (!in->node_exists) {
        ret->action = in->metric ? NODEMETRIC_DELETE : NODEMETRIC_NONE;
        return;
    }
    nodemetric_desired_make(in->strategy, arena, &ret->spec);
    if (in->predict_pruned) {
        ret->spec.has_predict_policy = false;
        ret->spec.predict_diff_percent = (struct opt_i64){ 0 };
        ret->spec.predict_cold_start_s = (struct opt_i64){ 0 };
    }
    ret->has_spec = true;
    if (!in->metric)
        ret->action = NODEMETRIC_CREATE;
    else if (!in->keep_existing &&
             !nodemetric_spec_matches(&in->metric->spec, &ret->spec, in->predict_pruned))
        ret->action = NODEMETRIC_UPDATE;
}
