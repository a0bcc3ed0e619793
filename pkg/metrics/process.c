#include "metrics/process.h"
#include "metrics/process_text.h"
#include "base/file.h"
#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef KOORD_COMMIT
#define KOORD_COMMIT "unknown"
#endif
#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

struct process_metrics {
    struct metric *cpu_seconds, *start_time, *virtual_bytes, *resident_bytes, *open_fds, *max_fds;
};

static void refresh_stat(const struct process_metrics *metrics)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(16 * 1024);
    struct metrics_process_stat stat;
    if (!file_read("/proc/self/stat", &text, NULL) ||
        !metrics_process_stat_parse(strbuf_str(&text), &stat, NULL))
        return;
    double ticks_per_second = (double)sysconf(_SC_CLK_TCK);
    metric_set(metrics->cpu_seconds, (double)stat.cpu_ticks / ticks_per_second);
    metric_set(metrics->virtual_bytes, (double)stat.virtual_bytes);
    metric_set(metrics->resident_bytes, (double)stat.resident_pages * (double)sysconf(_SC_PAGESIZE));

    CLEANUP(strbuf_done) struct strbuf boot = STRBUF_INIT(4 * 1024 * 1024);
    int64_t boot_s;
    /* Once is enough; and the boot time drifts with clock corrections. */
    if (metric_value(metrics->start_time, NULL) <= 0 && file_read("/proc/stat", &boot, NULL) &&
        metrics_process_boot_parse(strbuf_str(&boot), &boot_s, NULL))
        metric_set(metrics->start_time, (double)boot_s + (double)stat.start_ticks / ticks_per_second);
}

static void dir_close(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static void refresh_fds(const struct process_metrics *metrics)
{
    CLEANUP(dir_close) DIR *dir = opendir("/proc/self/fd");
    int64_t count = -1; /* the directory itself is open, too */
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        metric_set(metrics->open_fds, (double)count);

    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metric_set(metrics->max_fds, (double)limit.rlim_cur);
}

static void refresh(void *self)
{
    refresh_stat(self);
    refresh_fds(self);
}

void metrics_process_register(struct metric_registry *registry)
{
    struct process_metrics *metrics = metric_registry_alloc(registry, sizeof *metrics);
    *metrics = (struct process_metrics){
        .cpu_seconds = metric_counter(registry, "process_cpu_seconds_total",
                                      "Seconds of CPU used, user and kernel.", NULL),
        .start_time = metric_gauge(registry, "process_start_time_seconds",
                                   "When the process started, in seconds since 1970.", NULL),
        .virtual_bytes =
            metric_gauge(registry, "process_virtual_memory_bytes", "Address space in use.", NULL),
        .resident_bytes =
            metric_gauge(registry, "process_resident_memory_bytes", "Memory held in RAM.", NULL),
        .open_fds = metric_gauge(registry, "process_open_fds", "File descriptors in use.", NULL),
        .max_fds = metric_gauge(registry, "process_max_fds", "File descriptors allowed.", NULL),
    };
    metric_on_collect(registry, refresh, metrics);
    metric_set(metric_gauge(registry, "koord_build_info", "1, with what was built and how as labels.",
                            "version", "commit", "compiler", NULL),
               1, STR(KOORD_VERSION), STR(KOORD_COMMIT), STR(COMPILER));
}
