#include "metrics/metrics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

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

static bool same(double a, double b)
{
    return fabs(a - b) <= 0;
}

static double value_of(const struct metric *metric, struct str label)
{
    return metric_value(metric, (const struct str[]){ label });
}

static void counters_add_up(void **state)
{
    struct metric *metric = metric_counter(*state, "writes_total", "Writes.", "kind", NULL);
    metric_add(metric, 1, STR("Node"));
    metric_add(metric, 2.5, STR("Node"));
    metric_add(metric, 1, STR("Pod"));
    assert_true(same(value_of(metric, STR("Node")), 3.5));
    assert_true(same(value_of(metric, STR("Pod")), 1));
    assert_true(same(value_of(metric, STR("Lease")), 0));
}

static void counters_never_go_down(void **state)
{
    struct metric *metric = metric_counter(*state, "c_total", "", NULL);
    metric_add(metric, 5);
    metric_add(metric, -3);
    metric_add(metric, NAN);
    assert_true(same(metric_value(metric, NULL), 5));
}

static void gauges_are_set_and_go_both_ways(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "", NULL);
    metric_set(metric, 5);
    metric_add(metric, -7);
    assert_true(same(metric_value(metric, NULL), -2));
}

static void a_null_metric_is_ignored(void **state)
{
    (void)state;
    metric_add((struct metric *)NULL, 1);
    metric_set((struct metric *)NULL, 1, STR("x"));
    metric_observe((struct metric *)NULL, 1);
    metric_remove((struct metric *)NULL, STR("x"));
    assert_true(same(metric_value(NULL, NULL), 0));
}

static void label_values_are_copied_and_compared_bytewise(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "", "a", "b", NULL);
    char text[] = "xy";
    struct str whole = { text, 2 };
    metric_set(metric, 1, whole, STR(""));
    metric_set(metric, 2, STR("x"), STR("y"));
    metric_set(metric, 3, STR(""), STR("xy"));
    memset(text, 'z', 2);
    assert_true(same(metric_value(metric, (const struct str[]){ STR("xy"), STR("") }), 1));
    assert_true(same(metric_value(metric, (const struct str[]){ STR("x"), STR("y") }), 2));
    assert_true(same(metric_value(metric, (const struct str[]){ STR(""), STR("xy") }), 3));
}

static void removed_series_start_again_at_zero(void **state)
{
    struct metric *metric = metric_counter(*state, "c_total", "", "node", NULL);
    for (int i = 0; i < 3; i++)
        metric_add(metric, 1, STR("n1"));
    metric_add(metric, 1, STR("n2"));
    metric_remove(metric, STR("n1"));
    metric_remove(metric, STR("n1"));
    assert_true(same(value_of(metric, STR("n1")), 0));
    assert_true(same(value_of(metric, STR("n2")), 1));
    metric_add(metric, 1, STR("n1"));
    assert_true(same(value_of(metric, STR("n1")), 1));
}

static void the_same_family_twice_is_one(void **state)
{
    struct metric *first = metric_counter(*state, "c_total", "One.", "a", NULL);
    struct metric *second = metric_counter(*state, "c_total", "Another.", "a", NULL);
    assert_ptr_equal(first, second);
    static const double bounds[] = { 1, 2 };
    assert_ptr_equal(metric_histogram(*state, "h", "", bounds, 2, NULL),
                     metric_histogram(*state, "h", "", bounds, 2, NULL));
}

static void number_name(char *text, size_t size, int i)
{
    snprintf(text, size, "n%d", i);
}

static void mgr_10_the_thousand_and_first_series_overflows(void **state)
{
    struct metric *metric = metric_counter(*state, "c_total", "", "node", NULL);
    char name[16];
    for (int i = 0; i < 1010; i++) {
        number_name(name, sizeof name, i);
        metric_add(metric, 1, str_c(name));
    }
    number_name(name, sizeof name, 999);
    assert_true(same(value_of(metric, str_c(name)), 1));
    number_name(name, sizeof name, 1000);
    assert_true(same(value_of(metric, str_c(name)), 0));

    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1024 * 1024);
    metric_write(*state, METRIC_TEXT_PROMETHEUS, &out);
    assert_true(str_ends_with(strbuf_str(&out), STR("\nc_total{node=\"overflow\"} 10\n")));
}

static void mgr_10_existing_series_keep_counting_when_full(void **state)
{
    struct metric *metric = metric_counter(*state, "c_total", "", "node", NULL);
    char name[16];
    for (int i = 0; i < 1001; i++) {
        number_name(name, sizeof name, i);
        metric_add(metric, 1, str_c(name));
    }
    metric_add(metric, 1, STR("n5"));
    assert_true(same(value_of(metric, STR("n5")), 2));
}

static void mgr_10_removing_makes_room_again(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "", "node", NULL);
    char name[16];
    for (int i = 0; i < 1000; i++) {
        number_name(name, sizeof name, i);
        metric_set(metric, 1, str_c(name));
    }
    metric_remove(metric, STR("n0"));
    metric_set(metric, 7, STR("new"));
    assert_true(same(value_of(metric, STR("new")), 7));
}

static void bump(void *self)
{
    metric_add((struct metric *)self, 1);
}

static void collectors_refresh_what_is_written(void **state)
{
    struct metric *metric = metric_gauge(*state, "g", "", NULL);
    metric_on_collect(*state, bump, metric);
    metric_on_collect(*state, bump, metric);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1024);
    metric_write(*state, METRIC_TEXT_PROMETHEUS, &out);
    assert_non_null(strstr(strbuf_cstr(&out), "\ng 2\n"));
    strbuf_clear(&out);
    metric_write(*state, METRIC_TEXT_PROMETHEUS, &out);
    assert_non_null(strstr(strbuf_cstr(&out), "\ng 4\n"));
}

static void free_of_null_is_fine(void **state)
{
    (void)state;
    metric_registry_free(NULL);
}

#define REGISTRY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(counters_add_up),
        REGISTRY_TEST(counters_never_go_down),
        REGISTRY_TEST(gauges_are_set_and_go_both_ways),
        REGISTRY_TEST(a_null_metric_is_ignored),
        REGISTRY_TEST(label_values_are_copied_and_compared_bytewise),
        REGISTRY_TEST(removed_series_start_again_at_zero),
        REGISTRY_TEST(the_same_family_twice_is_one),
        REGISTRY_TEST(mgr_10_the_thousand_and_first_series_overflows),
        REGISTRY_TEST(mgr_10_existing_series_keep_counting_when_full),
        REGISTRY_TEST(mgr_10_removing_makes_room_again),
        REGISTRY_TEST(collectors_refresh_what_is_written),
        cmocka_unit_test(free_of_null_is_fine),
    };
    return cmocka_run_group_tests_name("metrics/registry", tests, NULL, NULL);
}
