#include "metrics/metrics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static int setup(void **state)
{
    *state = metric_registry_new();
    return 0;
}

static int teardown(void **state)
{
    metric_registry_free(*state);
    return 0;
}

static void expect(struct metric_registry *registry, enum metric_text text, const char *want)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100000);
    metric_write(registry, text, &out);
    assert_string_equal(strbuf_cstr(&out), want);
}

static void an_empty_registry_writes_nothing_but_eof(void **state)
{
    expect(*state, METRIC_TEXT_PROMETHEUS, "");
    expect(*state, METRIC_TEXT_OPENMETRICS, "# EOF\n");
}

static void families_and_series_are_sorted(void **state)
{
    struct metric *later = metric_counter(*state, "b_total", "Second.", "x", "y", NULL);
    struct metric *sooner = metric_gauge(*state, "a", "First.", NULL);
    metric_add(later, 3, STR("2"), STR("a"));
    metric_add(later, 1, STR("1"), STR("b"));
    metric_add(later, 2, STR("10"), STR("a"));
    metric_set(sooner, 1.5);
    expect(*state, METRIC_TEXT_PROMETHEUS,
           "# HELP a First.\n# TYPE a gauge\na 1.5\n"
           "# HELP b_total Second.\n# TYPE b_total counter\n"
           "b_total{x=\"1\",y=\"b\"} 1\nb_total{x=\"10\",y=\"a\"} 2\nb_total{x=\"2\",y=\"a\"} 3\n");
}

static void openmetrics_names_counters_without_total(void **state)
{
    metric_add(metric_counter(*state, "b_total", "B.", "x", NULL), 3, STR("1"));
    metric_add(metric_counter(*state, "old_style", "O.", NULL), 4);
    metric_set(metric_gauge(*state, "g_total", "G.", NULL), 5);
    expect(*state, METRIC_TEXT_OPENMETRICS,
           "# HELP b B.\n# TYPE b counter\nb_total{x=\"1\"} 3\n"
           "# HELP g_total G.\n# TYPE g_total gauge\ng_total 5\n"
           "# HELP old_style O.\n# TYPE old_style counter\nold_style_total 4\n"
           "# EOF\n");
}

static void a_family_with_labels_appears_with_its_first_series(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "G.", "x", NULL);
    expect(*state, METRIC_TEXT_PROMETHEUS, "");
    metric_set(metric, 1, STR("a"));
    metric_remove(metric, STR("a"));
    expect(*state, METRIC_TEXT_PROMETHEUS, "");
}

static void label_values_are_escaped(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "", "x", NULL);
    metric_set(metric, 1, STR("a\\b\n\"c\" \xC3\xBC\t"));
    expect(*state, METRIC_TEXT_PROMETHEUS,
           "# HELP g \n# TYPE g gauge\ng{x=\"a\\\\b\\n\\\"c\\\" \xC3\xBC\t\"} 1\n");
}

static void invalid_utf8_is_replaced(void **state)
{
    metric_set(metric_gauge(*state, "g", "\xFF", "x", NULL), 1, STR("\xC0\x80|\xE2\x82"));
    expect(*state, METRIC_TEXT_PROMETHEUS,
           "# HELP g \xEF\xBF\xBD\n# TYPE g gauge\n"
           "g{x=\"\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\"} 1\n");
}

static void help_quotes_are_escaped_in_openmetrics_only(void **state)
{
    metric_gauge(*state, "g", "a \"b\" \\ c\nd", NULL);
    expect(*state, METRIC_TEXT_PROMETHEUS, "# HELP g a \"b\" \\\\ c\\nd\n# TYPE g gauge\ng 0\n");
    expect(*state, METRIC_TEXT_OPENMETRICS, "# HELP g a \\\"b\\\" \\\\ c\\nd\n# TYPE g gauge\ng 0\n# EOF\n");
}

static const double bounds[] = { 0.005, 1, 2.5, 100 };

static void histograms_are_cumulative(void **state)
{
    struct metric *metric = metric_histogram(*state, "h", "H.", bounds, ARRAY_LEN(bounds), "k", NULL);
    static const double seen[] = { 0.001, 1, 1.5, 100, 101, -1 };
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        metric_observe(metric, seen[i], STR("v"));
    expect(*state, METRIC_TEXT_PROMETHEUS,
           "# HELP h H.\n# TYPE h histogram\n"
           "h_bucket{k=\"v\",le=\"0.005\"} 2\nh_bucket{k=\"v\",le=\"1\"} 3\nh_bucket{k=\"v\",le=\"2.5\"} 4\n"
           "h_bucket{k=\"v\",le=\"100\"} 5\nh_bucket{k=\"v\",le=\"+Inf\"} 6\n"
           "h_sum{k=\"v\"} 202.501\nh_count{k=\"v\"} 6\n");
}

static void openmetrics_bounds_look_like_floats(void **state)
{
    metric_histogram(*state, "h", "H.", bounds, ARRAY_LEN(bounds), NULL);
    expect(*state, METRIC_TEXT_OPENMETRICS,
           "# HELP h H.\n# TYPE h histogram\n"
           "h_bucket{le=\"0.005\"} 0\nh_bucket{le=\"1.0\"} 0\nh_bucket{le=\"2.5\"} 0\n"
           "h_bucket{le=\"100.0\"} 0\nh_bucket{le=\"+Inf\"} 0\nh_sum 0\nh_count 0\n# EOF\n");
}

static void a_histogram_without_bounds_counts_and_sums(void **state)
{
    struct metric *metric = metric_histogram(*state, "h", "", NULL, 0, NULL);
    metric_observe(metric, 2);
    metric_observe(metric, INFINITY);
    metric_observe(metric, NAN);
    expect(*state, METRIC_TEXT_PROMETHEUS,
           "# HELP h \n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum +Inf\nh_count 2\n");
}

static void too_much_text_overflows_the_buffer(void **state)
{
    metric_gauge(*state, "g", "G.", NULL);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10);
    metric_write(*state, METRIC_TEXT_PROMETHEUS, &out);
    assert_true(out.overflow);
}

static const struct number_row {
    const char *name;
    double value;
    const char *want;
} number_rows[] = {
    { "number: zero", 0, "0" },
    { "number: minus zero", -0.0, "0" },
    { "number: whole", 42, "42" },
    { "number: negative", -42, "-42" },
    { "number: bytes stay readable", 17179869184, "17179869184" },
    { "number: largest exact whole number", 9007199254740991, "9007199254740991" },
    { "number: beyond that, shortest", 1e300, "1e+300" },
    { "number: tenth", 0.1, "0.1" },
    { "number: sum with a rounding error", 0.1 + 0.2, "0.30000000000000004" },
    { "number: third", 1.0 / 3, "0.3333333333333333" },
    { "number: small", 1e-9, "1e-09" },
    { "number: smallest", 5e-324, "5e-324" },
    { "number: largest", 1.7976931348623157e308, "1.7976931348623157e+308" },
    { "number: epoch with a fraction", 1784880000.25, "1784880000.25" },
    { "number: NaN", NAN, "NaN" },
    { "number: infinity", INFINITY, "+Inf" },
    { "number: minus infinity", -INFINITY, "-Inf" },
};

static void number_row(void **state)
{
    const struct number_row *row = *state;
    struct metric_registry *registry = metric_registry_new();
    metric_set(metric_gauge(registry, "g", "", NULL), row->value);
    struct strbuf out = STRBUF_INIT(1000);
    metric_write(registry, METRIC_TEXT_PROMETHEUS, &out);
    struct str before, got = str_trim(strbuf_str(&out));
    while (str_cut(got, ' ', &before, &got) && str_find_byte(got, ' ') >= 0)
        ;
    bool equal = str_eq(got, str_c(row->want));
    if (!equal)
        print_error("got " STR_FMT ", want %s\n", STR_ARG(got), row->want);
    strbuf_done(&out);
    metric_registry_free(registry);
    assert_true(equal);
}

#define EXPOSITION_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        EXPOSITION_TEST(an_empty_registry_writes_nothing_but_eof),
        EXPOSITION_TEST(families_and_series_are_sorted),
        EXPOSITION_TEST(openmetrics_names_counters_without_total),
        EXPOSITION_TEST(a_family_with_labels_appears_with_its_first_series),
        EXPOSITION_TEST(label_values_are_escaped),
        EXPOSITION_TEST(invalid_utf8_is_replaced),
        EXPOSITION_TEST(help_quotes_are_escaped_in_openmetrics_only),
        EXPOSITION_TEST(histograms_are_cumulative),
        EXPOSITION_TEST(openmetrics_bounds_look_like_floats),
        EXPOSITION_TEST(a_histogram_without_bounds_counts_and_sums),
        EXPOSITION_TEST(too_much_text_overflows_the_buffer),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(number_rows)];
    memcpy(tests, fixed, sizeof fixed);
    for (size_t i = 0; i < ARRAY_LEN(number_rows); i++)
        tests[ARRAY_LEN(fixed) + i] =
            (struct CMUnitTest){ number_rows[i].name, number_row, NULL, NULL, (void *)&number_rows[i] };
    return cmocka_run_group_tests_name("metrics/exposition", tests, NULL, NULL);
}
