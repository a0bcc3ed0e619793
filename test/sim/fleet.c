#include "fleet.h"

#include "base/rfc3339.h"

#define GIB (INT64_C(1024) * 1024 * 1024)
#define REQUESTED_PERCENT 72 /* of the node, by Prod pods: clusters request far more than they use */
#define WINDOW_STEPS 24      /* two hours */

static const struct shape {
    int64_t cores;
    int64_t memory_gib;
    const char *pool;
} shapes[] = {
    { 16, 64, "general" },
    { 32, 128, "general" },
    { 64, 256, "compute" },
    { 8, 64, "memory" },
};

static const struct shape *shape_of(size_t node)
{
    return &shapes[node % ARRAY_LEN(shapes)];
}

void fleet_node_name(size_t node, struct strbuf *out)
{
    strbuf_addf(out, "node-%03zu", node);
}

void fleet_pod_name(size_t node, size_t pod, struct strbuf *out)
{
    strbuf_addf(out, "web-%03zu-%zu", node, pod);
}

void fleet_node_json(size_t node, struct strbuf *out)
{
    strbuf_add(out, STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\""));
    fleet_node_name(node, out);
    strbuf_addf(out, "\",\"labels\":{\"kubernetes.io/arch\":\"amd64\",\"pool\":\"%s\"}}}",
                shape_of(node)->pool);
}

void fleet_node_status_json(size_t node, struct strbuf *out)
{
    const struct shape *shape = shape_of(node);
    strbuf_addf(
        out,
        "{\"status\":{\"capacity\":{\"cpu\":\"%lld\",\"memory\":\"%lldGi\",\"pods\":\"110\"},"
        "\"allocatable\":{\"cpu\":\"%lldm\",\"memory\":\"%lldGi\",\"pods\":\"110\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"KubeletReady\"}],"
        "\"nodeInfo\":{\"architecture\":\"amd64\",\"bootID\":\"\",\"containerRuntimeVersion\":\"sim://1\","
        "\"kernelVersion\":\"6.1\",\"kubeProxyVersion\":\"\",\"kubeletVersion\":\"v1.35.0\","
        "\"machineID\":\"\",\"operatingSystem\":\"linux\",\"osImage\":\"sim\",\"systemUUID\":\"\"}}}",
        (long long)shape->cores, (long long)shape->memory_gib, (long long)(shape->cores * 1000 - 200),
        (long long)(shape->memory_gib - 2));
}

void fleet_class_json(struct strbuf *out)
{
    strbuf_add(out, STR("{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
                        "\"metadata\":{\"name\":\"koord-prod\"},\"value\":9500}"));
}

void fleet_pod_json(size_t node, size_t pod, struct strbuf *out)
{
    const struct shape *shape = shape_of(node);
    strbuf_add(
        out,
        STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"default\",\"name\":\""));
    fleet_pod_name(node, pod, out);
    strbuf_add(
        out,
        STR("\",\"labels\":{\"app\":\"web\",\"koordinator.sh/qosClass\":\"LS\"}},\"spec\":{\"nodeName\":\""));
    fleet_node_name(node, out);
    strbuf_addf(out,
                "\",\"priorityClassName\":\"koord-prod\",\"containers\":[{\"name\":\"web\",\"image\":\"web:"
                "1\",\"resources\":"
                "{\"requests\":{\"cpu\":\"%lldm\",\"memory\":\"%lldMi\"}}}]}}",
                (long long)(shape->cores * 1000 * REQUESTED_PERCENT / 100 / FLEET_PODS_PER_NODE),
                (long long)(shape->memory_gib * 1024 * REQUESTED_PERCENT / 100 / FLEET_PODS_PER_NODE));
}

void fleet_pod_status_json(struct strbuf *out)
{
    strbuf_add(out, STR("{\"status\":{\"phase\":\"Running\",\"qosClass\":\"Burstable\"}}"));
}

/* Load in percent of what the Prod pods requested. */
static double load_percent(const struct fleet *fleet, size_t node, size_t step, bool peak)
{
    const struct trace *trace = &fleet->traces[node % fleet->trace_count];
    size_t at = step + node * 37; /* nodes of one trace are out of phase */
    return peak ? trace_peak(trace, at, WINDOW_STEPS) : trace_at(trace, at);
}

/* Memory follows load slowly: a base that is always there, and a part that grows with it. */
static double memory_percent(double load)
{
    return 35 + load * 0.3;
}

static int64_t share(int64_t whole, double percent)
{
    double part = (double)whole * percent / 100;
    return part < 0 ? 0 : (int64_t)part;
}

static void add_amounts(struct strbuf *out, int64_t cpu_milli, int64_t memory_bytes)
{
    strbuf_addf(out, "{\"resources\":{\"cpu\":\"%lldm\",\"memory\":\"%lld\"}}", (long long)cpu_milli,
                (long long)memory_bytes);
}

void fleet_report_json(const struct fleet *fleet, size_t node, size_t step, struct wall_time now,
                       struct strbuf *out)
{
    const struct shape *shape = shape_of(node);
    int64_t cpu = shape->cores * 1000, memory = shape->memory_gib * GIB;
    int64_t cpu_requested = cpu * REQUESTED_PERCENT / 100,
            memory_requested = memory / 100 * REQUESTED_PERCENT;
    double load = load_percent(fleet, node, step, false), peak = load_percent(fleet, node, step, true) * 1.1;
    int64_t cpu_used = share(cpu_requested, load),
            memory_used = share(memory_requested, memory_percent(load));
    int64_t cpu_system = cpu * 3 / 100, memory_system = memory / 100 * 4;

    strbuf_add(out, STR("{\"status\":{\"updateTime\":\""));
    rfc3339_format(out, now);
    strbuf_add(out, STR("\",\"nodeMetric\":{\"nodeUsage\":"));
    add_amounts(out, cpu_used + cpu_system, memory_used + memory_system);
    strbuf_add(out, STR(",\"systemUsage\":"));
    add_amounts(out, cpu_system, memory_system);
    strbuf_add(out, STR("},\"prodReclaimableMetric\":{\"resource\":"));
    add_amounts(out, max_i64(0, cpu_requested - share(cpu_requested, peak)),
                max_i64(0, memory_requested - share(memory_requested, memory_percent(peak))));
    strbuf_add(out, STR("}}}"));
}
