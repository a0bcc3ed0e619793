#include "objects.h"

#include "base/rfc3339.h"
#include "cluster.h"
#include "quantity/quantity.h"
#include "real.h"

static int64_t or_else(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

/* --- nodes and pods ------------------------------------------------------------------ */

static void post(struct e2e *e2e, const char *path, struct str body)
{
    struct rest_answer answer = e2e_call(e2e, "POST", NULL, body, "%s", path);
    if (answer.code != 201)
        fail_msg("POST %s: %d " STR_FMT, path, answer.code, STR_ARG(answer.body));
}

void e2e_add_node(struct e2e *e2e, const struct e2e_node *node)
{
    int64_t cpu = or_else(node->cpu_milli, 16000), memory = or_else(node->memory_bytes, 64 * GIB);
    int64_t keep = 100 - node->reserved_percent;
    post(e2e, "/api/v1/nodes",
         e2e_json(e2e,
                  "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{" REAL_NODE_LABEL
                  "%s%s},'annotations':{%s}}}",
                  node->name, node->labels ? "," : "", node->labels ? node->labels : "",
                  node->annotations ? node->annotations : ""));
    e2e_patch(e2e, arena_strf(&e2e->arena, "/api/v1/nodes/%s/status", node->name).ptr,
              "{'status':{'capacity':{'cpu':'%lldm','memory':'%lld','pods':'110'},"
              "'allocatable':{'cpu':'%lldm','memory':'%lld','pods':'110'}}}",
              (long long)cpu, (long long)memory, (long long)(cpu * keep / 100),
              (long long)(memory / 100 * keep + (keep == 100 ? memory % 100 : 0)));
}

const char *e2e_node_name(struct e2e *e2e, size_t index)
{
    return arena_strf(&e2e->arena, "node-%03zu", index).ptr;
}

void e2e_add_nodes(struct e2e *e2e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        e2e_add_node(e2e, &(struct e2e_node){ .name = e2e_node_name(e2e, i) });
}

/* Nobody may say a priority; it comes from a class. */
static void add_class(struct e2e *e2e, const char *name, int value)
{
    struct str body = e2e_json(e2e,
                               "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':"
                               "{'name':'%s'},'value':%d}",
                               name, value);
    int code = e2e_call(e2e, "POST", NULL, body, "/apis/scheduling.k8s.io/v1/priorityclasses").code;
    assert_true(code == 201 || code == 409);
}

void e2e_add_pod(struct e2e *e2e, const char *name, const char *node, int64_t cpu_milli, int64_t memory_bytes)
{
    add_class(e2e, "koord-prod", 9500);
    post(
        e2e, "/api/v1/namespaces/default/pods",
        e2e_json(e2e,
                 "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default','labels':"
                 "{'koordinator.sh/qosClass':'LS'}},'spec':{'nodeName':'%s','priorityClassName':'koord-prod',"
                 "'automountServiceAccountToken':false,'containers':[{'name':'c','image':'c:1',"
                 "'resources':{'requests':{'cpu':'%lldm','memory':'%lld'}}}]}}",
                 name, node, (long long)cpu_milli, (long long)memory_bytes));
    e2e_patch(e2e, arena_strf(&e2e->arena, "/api/v1/namespaces/default/pods/%s/status", name).ptr,
              "{'status':{'phase':'Running'}}");
}

/* --- reports ------------------------------------------------------------------------- */

static struct str report_time(struct e2e *e2e, int64_t age_s)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    rfc3339_format(&text, (struct wall_time){ wall_now().us - age_s * US_PER_S });
    return arena_str(&e2e->arena, strbuf_str(&text));
}

void e2e_report(struct e2e *e2e, const char *node, const struct e2e_report *report)
{
    EVENTUALLY(e2e, e2e_nodemetric(e2e, node));
    struct str time = STR("null");
    if (!report->without_time)
        time = arena_strf(&e2e->arena, "\"" STR_FMT "\"", STR_ARG(report_time(e2e, report->age_s)));
    e2e_patch(e2e, arena_strf(&e2e->arena, NODEMETRIC_PATH "/%s/status", node).ptr,
              "{'status':{'updateTime':" STR_FMT ",'nodeMetric':{'nodeUsage':{'resources':"
              "{'cpu':'%lldm','memory':'%lld'}}},'prodReclaimableMetric':{'resource':{'resources':"
              "{'cpu':'%lldm','memory':'%lld'}}}}}",
              STR_ARG(time), (long long)or_else(report->cpu_used_milli, 2000),
              (long long)or_else(report->memory_used_bytes, 8 * GIB),
              (long long)or_else(report->cpu_reclaimable_milli, 4000),
              (long long)or_else(report->memory_reclaimable_bytes, 10 * GIB));
}

void e2e_report_all(struct e2e *e2e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        e2e_report(e2e, e2e_node_name(e2e, i), &(struct e2e_report){ 0 });
}

/* --- the policy ----------------------------------------------------------------------- */

struct rest_answer e2e_try_policy_text(struct e2e *e2e, struct str text)
{
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT((size_t)64 * 1024 * 1024);
    strbuf_add(&body, STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":"
                          "\"kube-system\",\"name\":\"slo-controller-config\"},\"data\":"
                          "{\"colocation-config\":"));
    json_write_str(&body, text);
    strbuf_add(&body, STR("}}"));
    struct rest_answer answer = e2e_call(e2e, "PUT", NULL, strbuf_str(&body), E2E_CONFIGMAP_PATH);
    if (answer.code == 404)
        answer = e2e_call(e2e, "POST", NULL, strbuf_str(&body), "/api/v1/namespaces/kube-system/configmaps");
    return answer;
}

void e2e_set_policy_text(struct e2e *e2e, struct str text)
{
    struct rest_answer answer = e2e_try_policy_text(e2e, text);
    if (answer.code != 200 && answer.code != 201)
        fail_msg("ConfigMap: %d " STR_FMT, answer.code, STR_ARG(answer.body));
}

void e2e_set_policy(struct e2e *e2e, const char *format, ...)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    va_list args;
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    e2e_set_policy_text(e2e, e2e_json(e2e, STR_FMT, STR_ARG(strbuf_str(&text))));
}

void e2e_delete_policy(struct e2e *e2e)
{
    e2e_delete(e2e, E2E_CONFIGMAP_PATH);
}

/* --- what came of it ------------------------------------------------------------------ */

int64_t e2e_amount(struct str quantity)
{
    struct quantity amount;
    struct err err = ERR_INIT;
    if (!quantity_parse(quantity, &amount, &err))
        fail_msg(STR_FMT ": %s", STR_ARG(quantity), err.text);
    return quantity_ceil(amount);
}

int64_t e2e_resource(const struct json *node, const char *map, const char *key)
{
    const struct json *value = json_get(json_path(node, "status", map, NULL), str_c(key));
    if (!value)
        return -1;
    return e2e_amount(json_str(value));
}

static bool mid_matches(const struct json *node, int64_t cpu_milli, int64_t memory_bytes)
{
    static const char *const maps[] = { "capacity", "allocatable" };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        if (e2e_resource(node, maps[i], "kubernetes.io/mid-cpu") != cpu_milli ||
            e2e_resource(node, maps[i], "kubernetes.io/mid-memory") != memory_bytes)
            return false;
    return true;
}

bool e2e_mid_is(struct e2e *e2e, const char *node, int64_t cpu_milli, int64_t memory_bytes)
{
    return mid_matches(e2e_get(e2e, "/api/v1/nodes/%s", node), cpu_milli, memory_bytes);
}

size_t e2e_mid_count(struct e2e *e2e, int64_t cpu_milli, int64_t memory_bytes)
{
    const struct json *nodes = json_get(e2e_get(e2e, "/api/v1/nodes"), STR("items"));
    size_t count = 0;
    for (size_t i = 0; i < json_count(nodes); i++)
        count += mid_matches(nodes->array.items[i], cpu_milli, memory_bytes);
    return count;
}

const struct json *e2e_nodemetric(struct e2e *e2e, const char *name)
{
    return e2e_get(e2e, NODEMETRIC_PATH "/%s", name);
}

static struct str name_of(const struct json *object)
{
    return json_str(json_path(object, "metadata", "name", NULL));
}

size_t e2e_nodemetric_count(struct e2e *e2e)
{
    const struct json *items = json_get(e2e_get(e2e, NODEMETRIC_PATH), STR("items"));
    size_t count = 0;
    for (size_t i = 0; i < json_count(items); i++)
        count += !str_starts_with(name_of(items->array.items[i]), STR("fence-"));
    return count;
}

size_t e2e_interval_count(struct e2e *e2e, int64_t seconds)
{
    const struct json *items = json_get(e2e_get(e2e, NODEMETRIC_PATH), STR("items"));
    size_t count = 0;
    for (size_t i = 0; i < json_count(items); i++) {
        int64_t interval = 0;
        const struct json *value =
            json_path(items->array.items[i], "spec", "metricCollectPolicy", "reportIntervalSeconds", NULL);
        count += !str_starts_with(name_of(items->array.items[i]), STR("fence-")) &&
                 json_i64(value, &interval) && interval == seconds;
    }
    return count;
}

struct str e2e_uid(const struct json *object)
{
    return json_str(json_path(object, "metadata", "uid", NULL));
}

struct str e2e_rv(const struct json *object)
{
    return json_str(json_path(object, "metadata", "resourceVersion", NULL));
}

size_t e2e_event_count(struct e2e *e2e, const char *kind, const char *name, const char *reason)
{
    const struct json *items = json_get(e2e_get(e2e, "/apis/events.k8s.io/v1/events"), STR("items"));
    size_t count = 0;
    for (size_t i = 0; i < json_count(items); i++) {
        const struct json *event = items->array.items[i];
        count += str_eq(json_str(json_path(event, "regarding", "kind", NULL)), str_c(kind)) &&
                 str_eq(json_str(json_path(event, "regarding", "name", NULL)), str_c(name)) &&
                 str_eq(json_str(json_get(event, STR("reason"))), str_c(reason));
    }
    return count;
}
