#include "api/nodemetric.h"
#include "api/pod.h"
#include "base/duration.h"
#include <stdlib.h>

/* --- as decoded -------------------------------------------------------------------- */

/* {"resources":{"cpu":..,"memory":..}} */
struct resource_map {
    struct api_resources resources;
};
static const struct json_field resource_map_fields[] = {
    JSON_FIELD_OBJECT(struct resource_map, resources, "resources", &api_resources_table),
};
static const struct json_table resource_map_table = JSON_TABLE(struct resource_map, resource_map_fields);

struct host_application {
    struct resource_map usage;
    struct str priority;
};
static const struct json_field host_application_fields[] = {
    JSON_FIELD_OBJECT(struct host_application, usage, "usage", &resource_map_table),
    JSON_FIELD_STR(struct host_application, priority, "priority"),
};
static const struct json_table host_application_table =
    JSON_TABLE(struct host_application, host_application_fields);

struct pod_row {
    struct str name;
    struct str ns;
    struct str priority;
    struct resource_map usage;
};
static const struct json_field pod_row_fields[] = {
    JSON_FIELD_STR(struct pod_row, name, "name"),
    JSON_FIELD_STR(struct pod_row, ns, "namespace"),
    JSON_FIELD_STR(struct pod_row, priority, "priority"),
    JSON_FIELD_OBJECT(struct pod_row, usage, "podUsage", &resource_map_table),
};
static const struct json_table pod_row_table = JSON_TABLE(struct pod_row, pod_row_fields);

struct node_metric {
    struct resource_map node_usage;
    struct resource_map system_usage;
};
static const struct json_field node_metric_fields[] = {
    JSON_FIELD_OBJECT(struct node_metric, node_usage, "nodeUsage", &resource_map_table),
    JSON_FIELD_OBJECT(struct node_metric, system_usage, "systemUsage", &resource_map_table),
};
static const struct json_table node_metric_table = JSON_TABLE(struct node_metric, node_metric_fields);

struct reclaimable_metric {
    struct resource_map *resource;
};
static const struct json_field reclaimable_fields[] = {
    JSON_FIELD_OBJECT_PTR(struct reclaimable_metric, resource, "resource", &resource_map_table),
};
static const struct json_table reclaimable_table = JSON_TABLE(struct reclaimable_metric, reclaimable_fields);

struct aggregate_policy {
    struct json_items durations; /* struct str */
};
static const struct json_field aggregate_fields[] = {
    JSON_FIELD_STR_ARRAY(struct aggregate_policy, durations, "durations"),
};
static const struct json_table aggregate_table = JSON_TABLE(struct aggregate_policy, aggregate_fields);

struct collect_policy {
    struct opt_i64 aggregate_duration_s;
    struct opt_i64 report_interval_s;
    struct aggregate_policy aggregate;
    struct opt_text memory_collect_policy;
};
static const struct json_field collect_fields[] = {
    JSON_FIELD_OPT_I64(struct collect_policy, aggregate_duration_s, "aggregateDurationSeconds"),
    JSON_FIELD_OPT_I64(struct collect_policy, report_interval_s, "reportIntervalSeconds"),
    JSON_FIELD_OBJECT(struct collect_policy, aggregate, "nodeAggregatePolicy", &aggregate_table),
    JSON_FIELD_SCALAR(struct collect_policy, memory_collect_policy, "nodeMemoryCollectPolicy", api_into_text),
};
static const struct json_table collect_table = JSON_TABLE(struct collect_policy, collect_fields);

struct predict_policy {
    struct opt_i64 diff_percent;
    struct opt_i64 cold_start_s;
};
static const struct json_field predict_fields[] = {
    JSON_FIELD_OPT_I64(struct predict_policy, diff_percent, "resourceDiffThresholdPercent"),
    JSON_FIELD_OPT_I64(struct predict_policy, cold_start_s, "coldStartPeriodSeconds"),
};
static const struct json_table predict_table = JSON_TABLE(struct predict_policy, predict_fields);

struct nodemetric_decoded {
    struct meta meta;
    struct metric_spec {
        struct collect_policy collect;
        struct predict_policy *predict;
    } spec;
    struct metric_status {
        struct opt_time update_time;
        struct node_metric *node_metric;
        struct json_items pods;              /* struct pod_row */
        struct json_items host_applications; /* struct host_application */
        struct reclaimable_metric reclaimable;
    } status;
};
static const struct json_field spec_fields[] = {
    JSON_FIELD_OBJECT(struct metric_spec, collect, "metricCollectPolicy", &collect_table),
    JSON_FIELD_OBJECT_PTR(struct metric_spec, predict, "predictPolicy", &predict_table),
};
static const struct json_table spec_table = JSON_TABLE(struct metric_spec, spec_fields);

static const struct json_field status_fields[] = {
    JSON_FIELD_SCALAR(struct metric_status, update_time, "updateTime", api_into_time),
    JSON_FIELD_OBJECT_PTR(struct metric_status, node_metric, "nodeMetric", &node_metric_table),
    JSON_FIELD_ARRAY(struct metric_status, pods, "podsMetric", &pod_row_table),
    JSON_FIELD_ARRAY(struct metric_status, host_applications, "hostApplicationMetric",
                     &host_application_table),
    JSON_FIELD_OBJECT(struct metric_status, reclaimable, "prodReclaimableMetric", &reclaimable_table),
};
static const struct json_table status_table = JSON_TABLE(struct metric_status, status_fields);

static const struct json_field nodemetric_fields[] = {
    JSON_FIELD_OBJECT(struct nodemetric_decoded, meta, "metadata", &meta_table),
    JSON_FIELD_OBJECT(struct nodemetric_decoded, spec, "spec", &spec_table),
    JSON_FIELD_OBJECT(struct nodemetric_decoded, status, "status", &status_table),
};
static const struct json_table nodemetric_table = JSON_TABLE(struct nodemetric_decoded, nodemetric_fields);

/* --- spec -------------------------------------------------------------------------- */

enum { DURATIONS_MAX_BYTES = 64 * 1024 };

/* One spelling per duration, so that equal lists are equal texts; what is no duration
 * stays as it is. */
static const struct istr *take_durations(const struct json_items *durations, struct intern *pool)
{
    if (durations->count == 0)
        return NULL;
    CLEANUP(strbuf_done) struct strbuf list = STRBUF_INIT(DURATIONS_MAX_BYTES);
    CLEANUP(strbuf_done) struct strbuf one = STRBUF_INIT(64);
    const struct str *items = durations->items;
    for (size_t i = 0; i < durations->count; i++) {
        int64_t ns;
        struct str text = items[i];
        if (duration_parse(text, &ns, NULL)) {
            strbuf_clear(&one);
            duration_format(&one, ns);
            text = strbuf_str(&one);
        }
        strbuf_addc(&list, i == 0 ? '[' : ',');
        json_write_str(&list, text);
    }
    strbuf_addc(&list, ']');
    return list.overflow ? NULL : intern_get(pool, strbuf_str(&list));
}

static struct nodemetric_spec take_spec(const struct metric_spec *in, struct intern *pool)
{
    const struct opt_text *memory = &in->collect.memory_collect_policy;
    struct nodemetric_spec spec = {
        .aggregate_duration_s = in->collect.aggregate_duration_s,
        .report_interval_s = in->collect.report_interval_s,
        .durations = take_durations(&in->collect.aggregate.durations, pool),
        .memory_collect_policy = memory->set ? intern_get(pool, memory->text) : NULL,
        .has_predict_policy = in->predict != NULL,
    };
    if (in->predict) {
        spec.predict_diff_percent = in->predict->diff_percent;
        spec.predict_cold_start_s = in->predict->cold_start_s;
    }
    return spec;
}

/* --- status ------------------------------------------------------------------------ */

static void add(struct amounts *sum, const struct amounts *more)
{
    sum->has_cpu |= more->has_cpu;
    sum->has_memory |= more->has_memory;
    sum->cpu_nano = api_nano_add(sum->cpu_nano, more->cpu_nano);
    sum->memory_nano = api_nano_add(sum->memory_nano, more->memory_nano);
}

static void tell_class(const struct json_report *report, size_t index, struct str class)
{
    if (!report || !report->mismatch)
        return;
    CLEANUP(strbuf_done) struct strbuf path = STRBUF_INIT(128);
    strbuf_addf(&path, "status.hostApplicationMetric[%zu].priority", index);
    report->mismatch(report->self, strbuf_str(&path), class, "unknown class, counted as koord-prod");
}

/* An application of no class counts for none, as upstream has it; one of a class nobody
 * knows counts as Prod, which lends less. */
static void take_host_applications(struct nodemetric *metric, const struct json_items *applications,
                                   const struct json_report *report)
{
    const struct host_application *items = applications->items;
    for (size_t i = 0; i < applications->count; i++) {
        if (str_empty(items[i].priority))
            continue;
        bool known;
        enum priority_class class = priority_class_from_name(items[i].priority, &known);
        if (!known)
            tell_class(report, i, items[i].priority);
        if (class != PRIORITY_PROD && class != PRIORITY_MID)
            continue;
        CLEANUP(strbuf_done) struct strbuf at = STRBUF_INIT(80);
        strbuf_addf(&at, "status.hostApplicationMetric[%zu].usage.resources", i);
        struct amounts usage = api_take_amounts(&items[i].usage.resources, report, strbuf_cstr(&at));
        add(class == PRIORITY_PROD ? &metric->host_prod : &metric->host_mid, &usage);
    }
}

/* Kept as written, for a negative prediction says something; told all the same. */
static struct amounts take_reclaimable(const struct api_resources *in, const struct json_report *report)
{
    struct amounts kept = api_take_amounts(in, report, "status.prodReclaimableMetric.resource.resources");
    if (in->cpu.set && !kept.has_cpu)
        kept.cpu_nano = api_nano_from_quantity(in->cpu.value);
    if (in->memory.set && !kept.has_memory)
        kept.memory_nano = api_nano_from_quantity(in->memory.value);
    kept.has_cpu = in->cpu.set;
    kept.has_memory = in->memory.set;
    return kept;
}

static void take_status(struct nodemetric *metric, const struct metric_status *in,
                        const struct json_report *report)
{
    metric->update_time = in->update_time;
    metric->has_node_metric = in->node_metric != NULL;
    if (in->node_metric) {
        metric->node_usage = api_take_amounts(&in->node_metric->node_usage.resources, report,
                                              "status.nodeMetric.nodeUsage.resources");
        metric->system_usage = api_take_amounts(&in->node_metric->system_usage.resources, report,
                                                "status.nodeMetric.systemUsage.resources");
    }
    take_host_applications(metric, &in->host_applications, report);
    metric->has_reclaimable = in->reclaimable.resource != NULL;
    if (in->reclaimable.resource)
        metric->reclaimable = take_reclaimable(&in->reclaimable.resource->resources, report);
}

/* --- pods -------------------------------------------------------------------------- */

enum { NANO_PER_MILLI = 1000000, MAX_SIZE = 64 * 1024 * 1024 };

static int64_t clamp_i64(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* A row that says nothing about usage says nothing; the pod counts as one without. */
static bool take_pod(const struct pod_row *row, size_t index, const struct json_report *report,
                     struct pod_metric *ret)
{
    if (!row->usage.resources.cpu.set && !row->usage.resources.memory.set)
        return false;
    CLEANUP(strbuf_done) struct strbuf at = STRBUF_INIT(80);
    strbuf_addf(&at, "status.podsMetric[%zu].podUsage.resources", index);
    struct amounts usage = api_take_amounts(&row->usage.resources, report, strbuf_cstr(&at));
    *ret = (struct pod_metric){
        .id = pod_id_of(row->ns, row->name),
        .cpu_nano = clamp_i64(usage.cpu_nano),
        .memory_milli = clamp_i64((usage.memory_nano + NANO_PER_MILLI - 1) / NANO_PER_MILLI),
        .has_cpu = usage.has_cpu,
        .has_memory = usage.has_memory,
        .lent = str_eq(row->priority, STR("koord-batch")) || str_eq(row->priority, STR("koord-free")),
    };
    return usage.has_cpu || usage.has_memory;
}

static int pod_order(const void *a, const void *b)
{
    const struct pod_metric *x = a, *y = b;
    return pod_id_order(x->id, y->id);
}

/* Of two rows for one pod the larger amounts count, and the class that lends less. */
static void merge_pod(struct pod_metric *row, const struct pod_metric *other)
{
    row->cpu_nano = max_i64(row->cpu_nano, other->cpu_nano);
    row->memory_milli = max_i64(row->memory_milli, other->memory_milli);
    row->has_cpu |= other->has_cpu;
    row->has_memory |= other->has_memory;
    row->lent &= other->lent;
}

static void take_pods(struct nodemetric *metric, const struct json_items *pods,
                      const struct json_report *report)
{
    const struct pod_row *rows = pods->items;
    uint32_t count = 0, kept = 0;
    for (size_t i = 0; i < pods->count; i++)
        count += take_pod(&rows[i], i, report, &metric->pods[count]);
    if (count > 1)
        qsort(metric->pods, count, sizeof *metric->pods, pod_order);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && pod_id_order(metric->pods[kept - 1].id, metric->pods[i].id) == 0)
            merge_pod(&metric->pods[kept - 1], &metric->pods[i]);
        else
            metric->pods[kept++] = metric->pods[i];
    }
    metric->pod_count = kept;
}

ptrdiff_t nodemetric_find_pod(const struct nodemetric *metric, struct pod_id id)
{
    struct pod_metric key = { .id = id };
    const struct pod_metric *row =
        metric->pod_count ? bsearch(&key, metric->pods, metric->pod_count, sizeof key, pod_order) : NULL;
    return row ? row - metric->pods : -1;
}

/* --- projection -------------------------------------------------------------------- */

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    const struct nodemetric_decoded *in = decoded;
    size_t size = sizeof(struct nodemetric) + in->status.pods.count * sizeof(struct pod_metric);
    if (size > MAX_SIZE)
        return err_set(err, ERR_INVALID, "podsMetric has %zu rows", in->status.pods.count), NULL;
    struct kube_object *object = kube_object_new(&nodemetric_kind, size, &in->meta, pool, err);
    if (!object)
        return NULL;
    struct nodemetric *metric = (struct nodemetric *)(void *)object;
    metric->generation = in->meta.generation;
    metric->spec = take_spec(&in->spec, pool);
    take_status(metric, &in->status, report);
    take_pods(metric, &in->status.pods, report);
    return object;
}

static void release(struct kube_object *object)
{
    istr_unref(nodemetric_of(object)->spec.durations);
    istr_unref(nodemetric_of(object)->spec.memory_collect_policy);
}

/* --- comparing --------------------------------------------------------------------- */

static bool opt_same(struct opt_i64 a, struct opt_i64 b)
{
    return a.set == b.set && a.value == b.value;
}

static bool spec_same(const struct nodemetric_spec *a, const struct nodemetric_spec *b)
{
    return opt_same(a->aggregate_duration_s, b->aggregate_duration_s) &&
           opt_same(a->report_interval_s, b->report_interval_s) && a->durations == b->durations &&
           a->memory_collect_policy == b->memory_collect_policy &&
           a->has_predict_policy == b->has_predict_policy &&
           opt_same(a->predict_diff_percent, b->predict_diff_percent) &&
           opt_same(a->predict_cold_start_s, b->predict_cold_start_s);
}

static bool pods_same(const struct nodemetric *a, const struct nodemetric *b)
{
    return a->pod_count == b->pod_count &&
           (a->pod_count == 0 || memcmp(a->pods, b->pods, a->pod_count * sizeof *a->pods) == 0);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    const struct nodemetric *x = nodemetric_of(a), *y = nodemetric_of(b);
    return x->generation == y->generation && spec_same(&x->spec, &y->spec) &&
           x->update_time.set == y->update_time.set && x->update_time.value.us == y->update_time.value.us &&
           x->has_node_metric == y->has_node_metric && api_amounts_same(&x->node_usage, &y->node_usage) &&
           api_amounts_same(&x->system_usage, &y->system_usage) &&
           api_amounts_same(&x->host_prod, &y->host_prod) && api_amounts_same(&x->host_mid, &y->host_mid) &&
           x->has_reclaimable == y->has_reclaimable && api_amounts_same(&x->reclaimable, &y->reclaimable) &&
           pods_same(x, y);
}

const struct kube_kind nodemetric_kind = {
    .group = "slo.koordinator.sh",
    .version = "v1alpha1",
    .kind = "NodeMetric",
    .plural = "nodemetrics",
    .table = &nodemetric_table,
    .project = project,
    .release = release,
    .same = same,
};
