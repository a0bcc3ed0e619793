#pragma once
/* Counters, gauges and histograms, and their text for Prometheus.
 *
 *     static struct metric *writes;
 *     writes = metric_counter(registry, "koord_manager_writes_total", "Writes sent.", "kind", "code", NULL);
 *     metric_add(writes, 1, STR("Node"), STR("200"));
 *
 * Families and series come out sorted, so two scrapes diff. At most 1,000 series per
 * family; beyond that values go to a series whose labels all read "overflow". A family
 * without labels is there from the start, with 0. Loop thread only. */
#include "base/err.h"
#include "base/strbuf.h"

struct metric_registry;
struct metric;

struct metric_registry *metric_registry_new(void);
void metric_registry_free(struct metric_registry *registry);

/* Names and label names are checked by assertion: they are ours. The label names end
 * with NULL. The metric belongs to the registry. Asking again for a family that exists,
 * with the same type and labels, gives that one. */
struct metric *metric_counter(struct metric_registry *registry, const char *name, const char *help, ...)
    __attribute__((sentinel));
struct metric *metric_gauge(struct metric_registry *registry, const char *name, const char *help, ...)
    __attribute__((sentinel));
/* `bounds` ascending, without +Inf; borrowed for the registry's life. */
struct metric *metric_histogram(struct metric_registry *registry, const char *name, const char *help,
                                const double *bounds, size_t bound_count, ...) __attribute__((sentinel));

/* Label values in the order of the label names; as many as there are names. A NULL
 * metric is fine and ignored, so parts can run without a registry. */
#define metric_add(metric_, amount_, ...)                                                                    \
    metric_add_values((metric_), (amount_), (const struct str[]){ __VA_ARGS__ __VA_OPT__(, ) STR_NULL })
#define metric_set(metric_, value_, ...)                                                                     \
    metric_set_values((metric_), (value_), (const struct str[]){ __VA_ARGS__ __VA_OPT__(, ) STR_NULL })
#define metric_observe(metric_, value_, ...)                                                                 \
    metric_observe_values((metric_), (value_), (const struct str[]){ __VA_ARGS__ __VA_OPT__(, ) STR_NULL })
#define metric_remove(metric_, ...)                                                                          \
    metric_remove_values((metric_), (const struct str[]){ __VA_ARGS__ __VA_OPT__(, ) STR_NULL })

/* Counters and gauges; a counter never goes down, a negative amount is dropped. */
void metric_add_values(struct metric *metric, double amount, const struct str *values);
/* Gauges, and counters whose total somebody else keeps (the kernel, for instance). */
void metric_set_values(struct metric *metric, double value, const struct str *values);
/* Histograms. NaN is dropped: it would spoil the sum for good. */
void metric_observe_values(struct metric *metric, double value, const struct str *values);
void metric_remove_values(struct metric *metric, const struct str *values);
/* For tests: the current value of a counter or gauge series, 0 when absent. */
double metric_value(const struct metric *metric, const struct str *values);

/* Runs before each exposition: the place to refresh gauges that are cheaper to compute
 * on demand (process figures, queue depths). */
void metric_on_collect(struct metric_registry *registry, void (*collect)(void *self), void *self);

/* Zeroed memory that ends with the registry, for the `self` of a collector. */
void *metric_registry_alloc(struct metric_registry *registry, size_t size);

enum metric_text { METRIC_TEXT_PROMETHEUS, METRIC_TEXT_OPENMETRICS };
void metric_write(struct metric_registry *registry, enum metric_text text, struct strbuf *out);
/* Chooses by the Accept header; returns the Content-Type to answer with. */
const char *metric_negotiate(struct str accept, enum metric_text *ret);
