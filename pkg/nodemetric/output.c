/* The spec on the wire: whole for a create, the difference for an update. */
#include "nodemetric/spec.h"

/* Members of one object under construction. */
struct members {
    struct strbuf *out;
    bool any;
};

static void key(struct members *members, const char *name)
{
    if (members->any)
        strbuf_addc(members->out, ',');
    members->any = true;
    strbuf_addf(members->out, "\"%s\":", name);
}

static void number(struct members *members, const char *name, int64_t value)
{
    key(members, name);
    strbuf_addf(members->out, "%lld", (long long)value);
}

static void durations(struct members *members, struct str list)
{
    key(members, "nodeAggregatePolicy");
    strbuf_addf(members->out, "{\"durations\":" STR_FMT "}", STR_ARG(list));
}

static void text(struct members *members, const char *name, struct str value)
{
    key(members, name);
    json_write_str(members->out, value);
}

static struct members open_object(struct strbuf *out)
{
    strbuf_addc(out, '{');
    return (struct members){ .out = out };
}

/* --- whole ---------------------------------------------------------------------------------- */

static void write_collect(struct strbuf *out, const struct nodemetric_desired *desired)
{
    struct members members = open_object(out);
    number(&members, "aggregateDurationSeconds", desired->aggregate_duration_s);
    number(&members, "reportIntervalSeconds", desired->report_interval_s);
    durations(&members, desired->durations);
    text(&members, "nodeMemoryCollectPolicy", desired->memory_collect_policy);
    strbuf_addc(out, '}');
}

static void write_predict(struct strbuf *out, const struct nodemetric_desired *desired)
{
    struct members members = open_object(out);
    if (desired->predict_diff_percent.set)
        number(&members, "resourceDiffThresholdPercent", desired->predict_diff_percent.value);
    if (desired->predict_cold_start_s.set)
        number(&members, "coldStartPeriodSeconds", desired->predict_cold_start_s.value);
    strbuf_addc(out, '}');
}

void nodemetric_spec_write(struct strbuf *out, const struct nodemetric_desired *desired)
{
    struct members members = open_object(out);
    key(&members, "metricCollectPolicy");
    write_collect(out, desired);
    if (desired->has_predict_policy) {
        key(&members, "predictPolicy");
        write_predict(out, desired);
    }
    strbuf_addc(out, '}');
}

void nodemetric_create_write(struct strbuf *out, struct str name, const struct nodemetric_desired *desired)
{
    strbuf_addf(out,
                "{\"apiVersion\":\"%s/%s\",\"kind\":\"%s\",\"metadata\":{\"name\":", nodemetric_kind.group,
                nodemetric_kind.version, nodemetric_kind.kind);
    json_write_str(out, name);
    strbuf_add(out, STR("},\"spec\":"));
    nodemetric_spec_write(out, desired);
    strbuf_addc(out, '}');
}

/* --- the difference --------------------------------------------------------------------------- */

static bool number_differs(struct opt_i64 have, int64_t wanted)
{
    return !have.set || have.value != wanted;
}

static void patch_collect(struct members *spec, const struct nodemetric_spec *have,
                          const struct nodemetric_desired *wanted)
{
    key(spec, "metricCollectPolicy");
    struct members members = open_object(spec->out);
    if (number_differs(have->aggregate_duration_s, wanted->aggregate_duration_s))
        number(&members, "aggregateDurationSeconds", wanted->aggregate_duration_s);
    if (number_differs(have->report_interval_s, wanted->report_interval_s))
        number(&members, "reportIntervalSeconds", wanted->report_interval_s);
    if (!str_eq(istr_str(have->durations), wanted->durations))
        durations(&members, wanted->durations);
    if (!str_eq(istr_str(have->memory_collect_policy), wanted->memory_collect_policy))
        text(&members, "nodeMemoryCollectPolicy", wanted->memory_collect_policy);
    strbuf_addc(spec->out, '}');
}

static void patch_number(struct members *members, const char *name, struct opt_i64 have,
                         struct opt_i64 wanted)
{
    if (wanted.set && number_differs(have, wanted.value)) {
        number(members, name, wanted.value);
    } else if (!wanted.set && have.set) {
        key(members, name);
        strbuf_add(members->out, STR("null"));
    }
}

static bool opt_differs(struct opt_i64 have, struct opt_i64 wanted)
{
    return have.set != wanted.set || (wanted.set && have.value != wanted.value);
}

static bool predict_differs(const struct nodemetric_spec *have, const struct nodemetric_desired *wanted)
{
    if (have->has_predict_policy != wanted->has_predict_policy)
        return true;
    return wanted->has_predict_policy &&
           (opt_differs(have->predict_diff_percent, wanted->predict_diff_percent) ||
            opt_differs(have->predict_cold_start_s, wanted->predict_cold_start_s));
}

static void patch_predict(struct members *spec, const struct nodemetric_spec *have,
                          const struct nodemetric_desired *wanted)
{
    if (!predict_differs(have, wanted))
        return;
    key(spec, "predictPolicy");
    if (!wanted->has_predict_policy) {
        strbuf_add(spec->out, STR("null"));
        return;
    }
    struct members members = open_object(spec->out);
    patch_number(&members, "resourceDiffThresholdPercent", have->predict_diff_percent,
                 wanted->predict_diff_percent);
    patch_number(&members, "coldStartPeriodSeconds", have->predict_cold_start_s,
                 wanted->predict_cold_start_s);
    strbuf_addc(spec->out, '}');
}

void nodemetric_patch_write(struct strbuf *out, const struct nodemetric_spec *spec,
                            const struct nodemetric_desired *desired, bool predict_pruned)
{
    strbuf_add(out, STR("{\"spec\":"));
    struct members members = open_object(out);
    if (!nodemetric_spec_matches(spec, desired, true))
        patch_collect(&members, spec, desired);
    if (!predict_pruned)
        patch_predict(&members, spec, desired);
    strbuf_add(out, STR("}}"));
}
