#include "metrics/metrics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct row {
    const char *name;
    struct str accept;
    enum metric_text want;
} rows[] = {
    { "no header", STR_INIT(""), METRIC_TEXT_PROMETHEUS },
    { "anything", STR_INIT("*/*"), METRIC_TEXT_PROMETHEUS },
    { "a browser", STR_INIT("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
      METRIC_TEXT_PROMETHEUS },
    { "plain text", STR_INIT("text/plain"), METRIC_TEXT_PROMETHEUS },
    { "plain text, any subtype", STR_INIT("text/*"), METRIC_TEXT_PROMETHEUS },
    { "OpenMetrics alone", STR_INIT("application/openmetrics-text"), METRIC_TEXT_OPENMETRICS },
    { "OpenMetrics with a version", STR_INIT("application/openmetrics-text; version=1.0.0; charset=utf-8"),
      METRIC_TEXT_OPENMETRICS },
    { "OpenMetrics in capitals", STR_INIT("Application/OpenMetrics-Text; Version=1.0.0; Q=0.5"),
      METRIC_TEXT_OPENMETRICS },
    { "quoted version", STR_INIT("application/openmetrics-text; version=\"0.0.1\""),
      METRIC_TEXT_OPENMETRICS },
    { "unknown version", STR_INIT("application/openmetrics-text; version=2.0.0"), METRIC_TEXT_PROMETHEUS },
    { "Prometheus 2 prefers OpenMetrics",
      STR_INIT("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
               "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
      METRIC_TEXT_OPENMETRICS },
    { "Prometheus 3 with escaping parameters",
      STR_INIT(
          "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
          "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;"
          "q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"),
      METRIC_TEXT_OPENMETRICS },
    { "protobuf first, text second",
      STR_INIT(
          "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,"
          "text/plain;version=0.0.4;q=0.3,*/*;q=0.1"),
      METRIC_TEXT_PROMETHEUS },
    { "higher quality wins, whatever the order",
      STR_INIT("application/openmetrics-text;q=0.3, text/plain;q=0.4"), METRIC_TEXT_PROMETHEUS },
    { "a thousandth decides", STR_INIT("text/plain;q=0.500,application/openmetrics-text;q=0.501"),
      METRIC_TEXT_OPENMETRICS },
    { "equal quality stays with plain text", STR_INIT("application/openmetrics-text,text/plain"),
      METRIC_TEXT_PROMETHEUS },
    { "named beats wildcard at equal quality", STR_INIT("application/openmetrics-text, */*"),
      METRIC_TEXT_OPENMETRICS },
    { "named but less wanted than the wildcard", STR_INIT("application/openmetrics-text;q=0.2, */*;q=0.3"),
      METRIC_TEXT_PROMETHEUS },
    { "quality 0 excludes", STR_INIT("application/openmetrics-text;q=0"), METRIC_TEXT_PROMETHEUS },
    { "plain text excluded", STR_INIT("text/plain;q=0, */*"), METRIC_TEXT_OPENMETRICS },
    { "everything excluded", STR_INIT("*/*;q=0"), METRIC_TEXT_PROMETHEUS },
    { "nothing we have", STR_INIT("image/png"), METRIC_TEXT_PROMETHEUS },
    { "blanks everywhere", STR_INIT("  application/openmetrics-text ; q = 0.9 ,text/plain;q=0.1"),
      METRIC_TEXT_OPENMETRICS },
    { "bad quality does not count", STR_INIT("application/openmetrics-text;q=high"), METRIC_TEXT_PROMETHEUS },
    { "quality above one does not count", STR_INIT("application/openmetrics-text;q=1.5"),
      METRIC_TEXT_PROMETHEUS },
    { "negative quality does not count", STR_INIT("application/openmetrics-text;q=-1"),
      METRIC_TEXT_PROMETHEUS },
    { "rubbish", STR_INIT(",,;;q==,/,*/,/*;q=1,\"\xFF"), METRIC_TEXT_PROMETHEUS },
};

static void negotiate_row(void **state)
{
    static const char *const content_types[] = {
        [METRIC_TEXT_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
        [METRIC_TEXT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
    };
    const struct row *row = *state;
    enum metric_text got;
    const char *content_type = metric_negotiate(row->accept, &got);
    assert_int_equal(got, row->want);
    assert_string_equal(content_type, content_types[row->want]);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, negotiate_row, NULL, NULL, (void *)&rows[i] };
    return cmocka_run_group_tests_name("metrics/negotiate", tests, NULL, NULL);
}
