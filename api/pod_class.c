/* How a pod counts: its priority class and QoS class. */
#include "api/pod_internal.h"

/* --- Kubernetes' own QoS class ------------------------------------------------------ */

enum kube_qos { KUBE_GUARANTEED, KUBE_BURSTABLE, KUBE_BEST_EFFORT };

static bool is_positive(const struct opt_quantity *quantity)
{
    return quantity->set && quantity_sign(quantity->value) > 0;
}

/* What was found while walking the containers. */
struct qos_sums {
    bool any;       /* something is requested or limited */
    bool unlimited; /* some container lacks a limit of cpu or memory */
    struct quantity request[2];
    struct quantity limit[2];
};

static void qos_count(struct qos_sums *sums, const struct pod_resources *resources)
{
    const struct opt_quantity *limits[2] = { &resources->limits.cpu, &resources->limits.memory };
    const struct opt_quantity requests[2] = {
        pod_request_or_limit(&resources->requests.cpu, limits[0]),
        pod_request_or_limit(&resources->requests.memory, limits[1]),
    };
    for (size_t i = 0; i < 2; i++) {
        if (is_positive(&requests[i])) {
            sums->any = true;
            sums->request[i] = quantity_add(sums->request[i], requests[i].value);
        }
        if (is_positive(limits[i])) {
            sums->any = true;
            sums->limit[i] = quantity_add(sums->limit[i], limits[i]->value);
        } else {
            sums->unlimited = true;
        }
    }
}

static void qos_count_all(struct qos_sums *sums, const struct json_items *containers)
{
    const struct pod_container *items = containers->items;
    for (size_t i = 0; i < containers->count; i++)
        qos_count(sums, &items[i].resources);
}

static enum kube_qos kube_qos_computed(const struct pod_spec *spec)
{
    struct qos_sums sums = { 0 };
    qos_count(&sums, &spec->resources);
    if (!sums.any) { /* nothing at pod level: the containers decide */
        sums = (struct qos_sums){ 0 };
        qos_count_all(&sums, &spec->containers);
        qos_count_all(&sums, &spec->init_containers);
    }
    if (!sums.any)
        return KUBE_BEST_EFFORT;
    bool equal = quantity_cmp(sums.request[0], sums.limit[0]) == 0 &&
                 quantity_cmp(sums.request[1], sums.limit[1]) == 0;
    return !sums.unlimited && equal ? KUBE_GUARANTEED : KUBE_BURSTABLE;
}

static enum kube_qos kube_qos(const struct pod_decoded *pod)
{
    struct str given = pod->status.qos_class;
    if (str_eq(given, STR("Guaranteed")))
        return KUBE_GUARANTEED;
    if (str_eq(given, STR("Burstable")))
        return KUBE_BURSTABLE;
    if (str_eq(given, STR("BestEffort")))
        return KUBE_BEST_EFFORT;
    return kube_qos_computed(&pod->spec);
}

/* --- ours --------------------------------------------------------------------------- */

enum qos_class pod_qos(const struct pod_decoded *pod)
{
    static const struct str names[] = {
        [QOS_BE] = STR_INIT("BE"),   [QOS_LS] = STR_INIT("LS"),         [QOS_LSR] = STR_INIT("LSR"),
        [QOS_LSE] = STR_INIT("LSE"), [QOS_SYSTEM] = STR_INIT("SYSTEM"),
    };
    static const enum qos_class from_kube[] = {
        [KUBE_GUARANTEED] = QOS_LSR,
        [KUBE_BURSTABLE] = QOS_LS,
        [KUBE_BEST_EFFORT] = QOS_BE,
    };
    const struct opt_text *label = &pod->metadata.labels.qos;
    for (size_t i = 0; label->set && i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], label->text))
            return (enum qos_class)i;
    }
    return from_kube[kube_qos(pod)];
}

static const struct priority_row {
    struct str name;
    int64_t first;
    int64_t last;
} priorities[] = {
    [PRIORITY_FREE] = { STR_INIT("koord-free"), 3000, 3999 },
    [PRIORITY_BATCH] = { STR_INIT("koord-batch"), 5000, 5999 },
    [PRIORITY_MID] = { STR_INIT("koord-mid"), 7000, 7999 },
    [PRIORITY_PROD] = { STR_INIT("koord-prod"), 9000, 9999 },
};

enum priority_class priority_class_from_name(struct str name, bool *known)
{
    for (size_t i = 0; i < ARRAY_LEN(priorities); i++) {
        if (str_eq(priorities[i].name, name)) {
            *known = true;
            return (enum priority_class)i;
        }
    }
    *known = false;
    return PRIORITY_PROD;
}

const char *priority_class_name(enum priority_class priority)
{
    return priorities[priority].name.ptr;
}

static enum priority_class priority_from_qos(enum qos_class qos)
{
    return qos == QOS_BE ? PRIORITY_BATCH : PRIORITY_PROD;
}

/* A label that names no class hides spec.priority as well. */
enum priority_class pod_priority(const struct pod_decoded *pod, enum qos_class qos)
{
    const struct opt_text *label = &pod->metadata.labels.priority;
    if (label->set) {
        bool known;
        enum priority_class priority = priority_class_from_name(label->text, &known);
        return known ? priority : priority_from_qos(qos);
    }
    int64_t number = pod->spec.priority.set ? pod->spec.priority.value : 0;
    for (size_t i = 0; i < ARRAY_LEN(priorities); i++) {
        if (number >= priorities[i].first && number <= priorities[i].last)
            return (enum priority_class)i;
    }
    return priority_from_qos(qos);
}
