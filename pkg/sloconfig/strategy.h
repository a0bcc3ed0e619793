#pragma once
/* One colocation strategy: the knobs of `colocation-config`, as one struct whose fields
 * may each be unset. The same struct serves the cluster strategy, a node entry, a node
 * annotation and the effective result; merging is "what is set replaces".
 *
 * Percentages are whole numbers; seconds and minutes as the names say. */
#include "base/arena.h"
#include "json/json.h"
#include "quantity/quantity.h"

struct opt_str {
    bool set;
    struct str value;
};

/* An exact decimal with the text it came from. */
struct opt_decimal {
    bool set;
    struct str text;
    struct quantity value;
};

struct strategy {
    struct opt_bool enable;
    struct opt_i64 metric_aggregate_duration_s;
    struct opt_i64 metric_report_interval_s;
    const struct json *metric_aggregate_durations; /* list of canonical duration strings; NULL: unset */
    struct opt_str metric_memory_collect_policy;
    struct opt_i64 cpu_reclaim_percent;
    struct opt_str cpu_calculate_policy;
    struct opt_i64 memory_reclaim_percent;
    struct opt_str memory_calculate_policy;
    struct opt_i64 degrade_minutes;
    struct opt_i64 update_time_threshold_s;
    struct opt_decimal resource_diff_threshold;
    struct opt_str mid_reclaim_mode;
    struct opt_i64 mid_cpu_percent;
    struct opt_i64 mid_memory_percent;
    struct opt_i64 mid_unallocated_percent;
    struct opt_i64 mid_static_cpu_percent;
    struct opt_i64 mid_static_memory_percent;
    struct opt_i64 batch_cpu_percent;
    struct opt_i64 batch_memory_percent;
    bool has_predict_policy; /* nodePredictPolicy is given, even if empty */
    struct opt_i64 predict_diff_percent;
    struct opt_i64 predict_cold_start_s;
    const struct json *extensions; /* free map; NULL: unset */
};
