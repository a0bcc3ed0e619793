#pragma once
/* Nodes, reports and policies as a cluster has them. */
#include "harness.h"

struct e2e_node {
    const char *name;
    const char *labels;       /* JSON members with ' for "; NULL: none */
    const char *annotations;  /* likewise */
    int64_t cpu_milli;        /* 0: 16000 */
    int64_t memory_bytes;     /* 0: 64 GiB */
    int64_t reserved_percent; /* capacity that is not allocatable */
};

/* Through the front door: the object, then its status. */
void e2e_add_node(struct e2e *e2e, const struct e2e_node *node);
/* "node-000" and so on, with plain nodes. */
void e2e_add_nodes(struct e2e *e2e, size_t count);
const char *e2e_node_name(struct e2e *e2e, size_t index);

/* One Prod pod, running. */
void e2e_add_pod(struct e2e *e2e, const char *name, const char *node, int64_t cpu_milli,
                 int64_t memory_bytes);

/* What a node's agent reports. Zero is replaced: usage 2 cores and 8 GiB, reclaimable 4
 * cores and 10 GiB; a plain node then lends just the reclaimable part. */
struct e2e_report {
    int64_t age_s; /* of the report; negative: dated in the future */
    int64_t cpu_used_milli, memory_used_bytes;
    int64_t cpu_reclaimable_milli, memory_reclaimable_bytes;
    bool without_time;
};
/* Waits for the NodeMetric first. */
void e2e_report(struct e2e *e2e, const char *node, const struct e2e_report *report);
void e2e_report_all(struct e2e *e2e, size_t count);

/* Creates or changes the ConfigMap; colocation-config is JSON with ' for ". */
void e2e_set_policy(struct e2e *e2e, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same with any text, as it is. */
void e2e_set_policy_text(struct e2e *e2e, struct str text);
struct rest_answer e2e_try_policy_text(struct e2e *e2e, struct str text);
void e2e_delete_policy(struct e2e *e2e);
#define E2E_CONFIGMAP_PATH "/api/v1/namespaces/kube-system/configmaps/slo-controller-config"

/* --- what came of it ----------------------------------------------------------------- */

int64_t e2e_amount(struct str quantity);
/* A key of one map ("capacity", "allocatable"); -1 when it is absent. */
int64_t e2e_resource(const struct json *node, const char *map, const char *key);
/* Both maps of the node say so; -1 means absent. */
bool e2e_mid_is(struct e2e *e2e, const char *node, int64_t cpu_milli, int64_t memory_bytes);
/* How many nodes have exactly that in both maps. */
size_t e2e_mid_count(struct e2e *e2e, int64_t cpu_milli, int64_t memory_bytes);

/* NULL: there is none. */
const struct json *e2e_nodemetric(struct e2e *e2e, const char *name);
/* Fences (manager.h) not counted. */
size_t e2e_nodemetric_count(struct e2e *e2e);
/* How many NodeMetrics have this spec.metricCollectPolicy.reportIntervalSeconds. */
size_t e2e_interval_count(struct e2e *e2e, int64_t seconds);
struct str e2e_uid(const struct json *object);
struct str e2e_rv(const struct json *object);

/* Events with this reason about an object of that name. */
size_t e2e_event_count(struct e2e *e2e, const char *kind, const char *name, const char *reason);
