#include "metrics/private.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SERIES_MAX 1000

/* Like assert, but in release builds too: a wrong name would break every scrape. */
static void require(bool holds, const char *rule, const char *name)
{
    if (holds)
        return;
    fprintf(stderr, "metric %s: %s\n", name, rule);
    abort();
}

/* ---------------------------------------------------------------- families */

static bool is_name(const char *name, bool colon_allowed)
{
    for (const char *c = name; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        bool digit = *c >= '0' && *c <= '9' && c != name;
        if (!letter && !digit && !(colon_allowed && *c == ':'))
            return false;
    }
    return *name != '\0';
}

static bool is_label_name(const char *name)
{
    bool reserved = strncmp(name, "__", 2) == 0 || strcmp(name, "le") == 0 || strcmp(name, "quantile") == 0;
    return is_name(name, false) && !reserved;
}

struct metric_registry *metric_registry_new(void)
{
    return mem_zalloc(sizeof(struct metric_registry));
}

void metric_registry_free(struct metric_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->metric_count; i++) {
        struct metric *metric = registry->metrics[i];
        for (size_t j = 0; j < metric->series_count; j++)
            free(metric->series[j]);
        free(metric->series);
        free(metric->overflow);
    }
    free(registry->metrics);
    free(registry->collectors);
    arena_done(&registry->arena);
    free(registry);
}

/* Position of the family, or where it belongs. */
static size_t find_metric(const struct metric_registry *registry, struct str name, bool *ret_found)
{
    size_t low = 0, high = registry->metric_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(name, registry->metrics[middle]->name);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_found = false;
    return low;
}

static bool same_shape(const struct metric *a, const struct metric *b)
{
    if (a->type != b->type || a->label_count != b->label_count || a->bound_count != b->bound_count)
        return false;
    for (size_t i = 0; i < a->label_count; i++)
        if (!str_eq(a->labels[i], b->labels[i]))
            return false;
    for (size_t i = 0; i < a->bound_count; i++)
        if (a->bounds[i] < b->bounds[i] || a->bounds[i] > b->bounds[i])
            return false;
    return true;
}

static void take_labels(struct metric_registry *registry, struct metric *metric, va_list names)
{
    struct str *labels = NULL;
    for (const char *name; (name = va_arg(names, const char *));) {
        require(is_label_name(name), "bad label name", name);
        labels = arena_grow(&registry->arena, labels, metric->label_count * sizeof *labels,
                            (metric->label_count + 1) * sizeof *labels);
        labels[metric->label_count++] = arena_str(&registry->arena, str_c(name));
    }
    metric->labels = labels;
}

static struct metric_series *series_at(struct metric *metric, const struct str *values);

static struct metric *add_metric(struct metric_registry *registry, const struct metric *wanted)
{
    bool found;
    size_t at = find_metric(registry, wanted->name, &found);
    if (found) {
        require(same_shape(registry->metrics[at], wanted), "registered twice, differently", wanted->name.ptr);
        return registry->metrics[at];
    }
    struct metric *metric = arena_new(&registry->arena, struct metric);
    *metric = *wanted;
    registry->metrics =
        mem_realloc(registry->metrics, (registry->metric_count + 1) * sizeof *registry->metrics);
    memmove(registry->metrics + at + 1, registry->metrics + at,
            (registry->metric_count - at) * sizeof *registry->metrics);
    registry->metrics[at] = metric;
    registry->metric_count++;
    if (metric->label_count == 0)
        series_at(metric, NULL);
    return metric;
}

static struct metric *make(struct metric_registry *registry, struct metric wanted, const char *name,
                           const char *help, va_list labels)
{
    require(is_name(name, true), "bad metric name", name);
    wanted.name = arena_str(&registry->arena, str_c(name));
    wanted.help = arena_str(&registry->arena, str_c(help));
    take_labels(registry, &wanted, labels);
    return add_metric(registry, &wanted);
}

struct metric *metric_counter(struct metric_registry *registry, const char *name, const char *help, ...)
{
    va_list labels;
    va_start(labels, help);
    struct metric *metric =
        make(registry, (struct metric){ .type = METRIC_TYPE_COUNTER }, name, help, labels);
    va_end(labels);
    return metric;
}

struct metric *metric_gauge(struct metric_registry *registry, const char *name, const char *help, ...)
{
    va_list labels;
    va_start(labels, help);
    struct metric *metric = make(registry, (struct metric){ .type = METRIC_TYPE_GAUGE }, name, help, labels);
    va_end(labels);
    return metric;
}

struct metric *metric_histogram(struct metric_registry *registry, const char *name, const char *help,
                                const double *bounds, size_t bound_count, ...)
{
    for (size_t i = 0; i < bound_count; i++)
        require(isfinite(bounds[i]) && (i == 0 || bounds[i - 1] < bounds[i]), "bounds do not ascend", name);
    struct metric wanted = { .type = METRIC_TYPE_HISTOGRAM, .bounds = bounds, .bound_count = bound_count };
    va_list labels;
    va_start(labels, bound_count);
    struct metric *metric = make(registry, wanted, name, help, labels);
    va_end(labels);
    return metric;
}

void metric_on_collect(struct metric_registry *registry, void (*collect)(void *self), void *self)
{
    registry->collectors =
        mem_realloc(registry->collectors, (registry->collector_count + 1) * sizeof *registry->collectors);
    registry->collectors[registry->collector_count++] =
        (struct metric_collector){ .collect = collect, .self = self };
}

void *metric_registry_alloc(struct metric_registry *registry, size_t size)
{
    return arena_alloc(&registry->arena, size);
}

/* ------------------------------------------------------------------ series */

/* Position of the series, or where it belongs. */
static size_t find_series(const struct metric *metric, const struct str *values, bool *ret_found)
{
    size_t low = 0, high = metric->series_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = 0;
        for (size_t i = 0; i < metric->label_count && order == 0; i++)
            order = str_cmp(values[i], metric->series[middle]->values[i]);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_found = false;
    return low;
}

static struct metric_series *new_series(const struct metric *metric, const struct str *values)
{
    size_t buckets_at = sizeof(struct metric_series);
    size_t values_at = buckets_at + metric->bound_count * sizeof(uint64_t);
    size_t text_at = values_at + metric->label_count * sizeof(struct str);
    size_t size = text_at;
    for (size_t i = 0; i < metric->label_count; i++)
        size += values[i].len;

    char *block = mem_zalloc(size);
    struct metric_series *series = (void *)block;
    struct str *copies = (void *)(block + values_at);
    char *text = block + text_at;
    for (size_t i = 0; i < metric->label_count; i++) {
        copies[i] = (struct str){ .ptr = text, .len = values[i].len };
        if (values[i].len)
            memcpy(text, values[i].ptr, values[i].len);
        text += values[i].len;
    }
    series->values = copies;
    series->buckets = metric->bound_count ? (void *)(block + buckets_at) : NULL;
    return series;
}

/* Labels made of foreign names must not fill the memory (here or in Prometheus). */
static struct metric_series *overflow_series(struct metric *metric)
{
    if (!metric->overflow) {
        struct str *values = mem_zalloc(metric->label_count * sizeof *values);
        for (size_t i = 0; i < metric->label_count; i++)
            values[i] = STR("overflow");
        metric->overflow = new_series(metric, values);
        free(values);
    }
    return metric->overflow;
}

static struct metric_series *series_at(struct metric *metric, const struct str *values)
{
    bool found;
    size_t at = find_series(metric, values, &found);
    if (found)
        return metric->series[at];
    if (metric->series_count >= SERIES_MAX)
        return overflow_series(metric);
    if (metric->series_count == metric->series_room) {
        metric->series_room = metric->series_room ? metric->series_room * 2 : 4;
        metric->series = mem_realloc(metric->series, metric->series_room * sizeof *metric->series);
    }
    memmove(metric->series + at + 1, metric->series + at,
            (metric->series_count - at) * sizeof *metric->series);
    metric->series_count++;
    return metric->series[at] = new_series(metric, values);
}

void metric_add_values(struct metric *metric, double amount, const struct str *values)
{
    if (!metric)
        return;
    require(metric->type != METRIC_TYPE_HISTOGRAM, "a histogram observes", metric->name.ptr);
    if (metric->type == METRIC_TYPE_COUNTER && !(amount >= 0))
        amount = 0;
    series_at(metric, values)->value += amount;
}

void metric_set_values(struct metric *metric, double value, const struct str *values)
{
    if (!metric)
        return;
    require(metric->type != METRIC_TYPE_HISTOGRAM, "a histogram observes", metric->name.ptr);
    series_at(metric, values)->value = value;
}

void metric_observe_values(struct metric *metric, double value, const struct str *values)
{
    if (!metric || isnan(value))
        return;
    require(metric->type == METRIC_TYPE_HISTOGRAM, "only a histogram observes", metric->name.ptr);
    struct metric_series *series = series_at(metric, values);
    series->value += value;
    series->observations++;
    for (size_t i = 0; i < metric->bound_count; i++)
        if (value <= metric->bounds[i]) {
            series->buckets[i]++;
            return;
        }
}

void metric_remove_values(struct metric *metric, const struct str *values)
{
    bool found;
    if (!metric)
        return;
    size_t at = find_series(metric, values, &found);
    if (!found)
        return;
    free(metric->series[at]);
    metric->series_count--;
    memmove(metric->series + at, metric->series + at + 1,
            (metric->series_count - at) * sizeof *metric->series);
}

double metric_value(const struct metric *metric, const struct str *values)
{
    bool found = false;
    size_t at = metric ? find_series(metric, values, &found) : 0;
    return found ? metric->series[at]->value : 0;
}
