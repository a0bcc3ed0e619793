#include "metrics/private.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
    struct strbuf *out;
    bool openmetrics;
    const struct metric *metric;
    struct str base; /* the family's name as this format spells it */
};

/* The fewest digits that read back as the same double. Whole numbers that a double
 * holds exactly stay plain: nobody wants to read 1.234567e+06 bytes. */
static void add_number(struct strbuf *out, double value)
{
    if (isnan(value)) {
        strbuf_add(out, STR("NaN"));
    } else if (isinf(value)) {
        strbuf_add(out, value < 0 ? STR("-Inf") : STR("+Inf"));
    } else if (fabs(value) < 0x1p53 && fabs(value - trunc(value)) <= 0) {
        strbuf_addf(out, "%.0f", fabs(value) > 0 ? value : 0); /* no -0 */
    } else {
        char text[40];
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, value);
            double back = strtod(text, NULL);
            if (!(back < value) && !(back > value))
                break;
        }
        strbuf_add(out, str_c(text));
    }
}

/* OpenMetrics wants bounds to look like floats: 1.0, not 1. */
static void add_bound(const struct writer *writer, double bound)
{
    size_t before = writer->out->len;
    add_number(writer->out, bound);
    struct str text = str_slice(strbuf_str(writer->out), before, writer->out->len);
    bool whole = str_find_byte(text, '.') < 0 && str_find_byte(text, 'e') < 0;
    if (writer->openmetrics && whole)
        strbuf_add(writer->out, STR(".0"));
}

/* Invalid UTF-8 would make Prometheus refuse the whole scrape. */
static void add_escaped(struct strbuf *out, struct str text, bool escape_quotes)
{
    while (text.len) {
        size_t len = str_utf8_len(text);
        if (len == 0)
            strbuf_add(out, STR("\xEF\xBF\xBD"));
        else if (text.ptr[0] == '\\')
            strbuf_add(out, STR("\\\\"));
        else if (text.ptr[0] == '\n')
            strbuf_add(out, STR("\\n"));
        else if (text.ptr[0] == '"' && escape_quotes)
            strbuf_add(out, STR("\\\""));
        else
            strbuf_add(out, str_slice(text, 0, len));
        text = str_slice(text, len ? len : 1, text.len);
    }
}

/* `bound` is NULL except for buckets. */
static void add_labels(const struct writer *writer, const struct metric_series *series, const double *bound)
{
    const struct metric *metric = writer->metric;
    if (metric->label_count == 0 && !bound)
        return;
    strbuf_addc(writer->out, '{');
    for (size_t i = 0; i < metric->label_count; i++) {
        strbuf_addf(writer->out, "%s" STR_FMT "=\"", i ? "," : "", STR_ARG(metric->labels[i]));
        add_escaped(writer->out, series->values[i], true);
        strbuf_addc(writer->out, '"');
    }
    if (bound) {
        strbuf_addf(writer->out, "%sle=\"", metric->label_count ? "," : "");
        if (isinf(*bound))
            strbuf_add(writer->out, STR("+Inf"));
        else
            add_bound(writer, *bound);
        strbuf_addc(writer->out, '"');
    }
    strbuf_addc(writer->out, '}');
}

static void add_sample(const struct writer *writer, const char *suffix, const struct metric_series *series,
                       const double *bound, double value)
{
    strbuf_addf(writer->out, STR_FMT "%s", STR_ARG(writer->base), suffix);
    add_labels(writer, series, bound);
    strbuf_addc(writer->out, ' ');
    add_number(writer->out, value);
    strbuf_addc(writer->out, '\n');
}

static void add_histogram(const struct writer *writer, const struct metric_series *series)
{
    uint64_t below = 0;
    for (size_t i = 0; i < writer->metric->bound_count; i++) {
        below += series->buckets[i];
        add_sample(writer, "_bucket", series, &writer->metric->bounds[i], (double)below);
    }
    double infinity = INFINITY;
    add_sample(writer, "_bucket", series, &infinity, (double)series->observations);
    add_sample(writer, "_sum", series, NULL, series->value);
    add_sample(writer, "_count", series, NULL, (double)series->observations);
}

static void add_series(const struct writer *writer, const struct metric_series *series)
{
    if (writer->metric->type == METRIC_TYPE_HISTOGRAM)
        add_histogram(writer, series);
    else if (writer->metric->type == METRIC_TYPE_COUNTER && writer->openmetrics)
        add_sample(writer, "_total", series, NULL, series->value);
    else
        add_sample(writer, "", series, NULL, series->value);
}

static void add_family(struct writer *writer, const struct metric *metric)
{
    static const char *const type_names[] = {
        [METRIC_TYPE_COUNTER] = "counter",
        [METRIC_TYPE_GAUGE] = "gauge",
        [METRIC_TYPE_HISTOGRAM] = "histogram",
    };
    if (metric->series_count == 0 && !metric->overflow)
        return;
    writer->metric = metric;
    writer->base = metric->name;
    if (writer->openmetrics && metric->type == METRIC_TYPE_COUNTER &&
        str_ends_with(metric->name, STR("_total")))
        writer->base.len -= strlen("_total");

    strbuf_addf(writer->out, "# HELP " STR_FMT " ", STR_ARG(writer->base));
    add_escaped(writer->out, metric->help, writer->openmetrics);
    strbuf_addf(writer->out, "\n# TYPE " STR_FMT " %s\n", STR_ARG(writer->base), type_names[metric->type]);
    for (size_t i = 0; i < metric->series_count; i++)
        add_series(writer, metric->series[i]);
    if (metric->overflow)
        add_series(writer, metric->overflow);
}

void metric_write(struct metric_registry *registry, enum metric_text text, struct strbuf *out)
{
    for (size_t i = 0; i < registry->collector_count; i++)
        registry->collectors[i].collect(registry->collectors[i].self);

    struct writer writer = { .out = out, .openmetrics = text == METRIC_TEXT_OPENMETRICS };
    for (size_t i = 0; i < registry->metric_count; i++)
        add_family(&writer, registry->metrics[i]);
    if (writer.openmetrics)
        strbuf_add(out, STR("# EOF\n"));
}
