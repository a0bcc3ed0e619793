#include "metrics/process.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

static double scraped(struct metric_registry *registry, const char *name)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100000), needle = STRBUF_INIT(100);
    metric_write(registry, METRIC_TEXT_PROMETHEUS, &out);
    strbuf_addf(&needle, "\n%s ", name);
    const char *sample = strstr(strbuf_cstr(&out), strbuf_cstr(&needle));
    assert_non_null(sample);
    return strtod(sample + needle.len, NULL);
}

static void mgr_9_process_figures_are_plausible(void **state)
{
    metrics_process_register(*state);
    assert_true(scraped(*state, "process_cpu_seconds_total") >= 0);
    assert_true(scraped(*state, "process_resident_memory_bytes") > 100000);
    assert_true(scraped(*state, "process_virtual_memory_bytes") >=
                scraped(*state, "process_resident_memory_bytes"));
    assert_true(scraped(*state, "process_max_fds") >= scraped(*state, "process_open_fds"));
    double now_s = (double)wall_now().us / (double)US_PER_S;
    double start_s = scraped(*state, "process_start_time_seconds");
    assert_true(start_s > now_s - 3600 && start_s < now_s + 60);
}

static void mgr_9_open_fds_follow_what_is_opened(void **state)
{
    metrics_process_register(*state);
    double before = scraped(*state, "process_open_fds");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    double with_one_more = scraped(*state, "process_open_fds");
    close(fd);
    assert_int_equal((int)(with_one_more - before), 1);
    assert_int_equal((int)(scraped(*state, "process_open_fds") - before), 0);
}

static void mgr_9_build_info_names_version_commit_and_compiler(void **state)
{
    metrics_process_register(*state);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100000);
    metric_write(*state, METRIC_TEXT_PROMETHEUS, &out);
    const char *sample =
        strstr(strbuf_cstr(&out), "\nkoord_build_info{version=\"" KOORD_VERSION "\",commit=\"");
    assert_non_null(sample);
    assert_non_null(strstr(sample, ",compiler=\""));
    assert_non_null(strstr(sample, "\"} 1\n"));
}

#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(mgr_9_process_figures_are_plausible),
        PROCESS_TEST(mgr_9_open_fds_follow_what_is_opened),
        PROCESS_TEST(mgr_9_build_info_names_version_commit_and_compiler),
    };
    return cmocka_run_group_tests_name("metrics/process", tests, NULL, NULL);
}
