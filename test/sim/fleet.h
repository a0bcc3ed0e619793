#pragma once
/* A simulated cluster: nodes, their Prod pods, and what an agent would report of them.
 * Pure: the same number, traces and step give the same objects. */
#include "base/clock.h"
#include "base/strbuf.h"
#include "trace.h"

struct fleet {
    const struct trace *traces;
    size_t trace_count;
    size_t nodes;
};

#define FLEET_PODS_PER_NODE 3

void fleet_node_name(size_t node, struct strbuf *out);
void fleet_pod_name(size_t node, size_t pod, struct strbuf *out);
/* The PriorityClass of the pods, which has to be there before them. */
void fleet_class_json(struct strbuf *out);
/* Objects to create; the node's status goes through its subresource. */
void fleet_node_json(size_t node, struct strbuf *out);
void fleet_node_status_json(size_t node, struct strbuf *out);
void fleet_pod_json(size_t node, size_t pod, struct strbuf *out);
void fleet_pod_status_json(struct strbuf *out);
/* A merge patch for the NodeMetric's status: usage from the trace, reclaimable from the
 * peak of the last two hours plus a tenth. */
void fleet_report_json(const struct fleet *fleet, size_t node, size_t step, struct wall_time now,
                       struct strbuf *out);
