#pragma once
/* `koordctl plan`: what the controllers would want, given a snapshot. The decisions are
 * the controllers' own functions; this only asks them about every node and keeps the
 * answers in order. */
#include "nodemetric/spec.h"
#include "nodeslo/spec.h"
#include "noderesource/plan.h"
#include "sloconfig/state.h"
#include "source.h"

struct plan_options {
    struct source_choice config;
    const struct configmap *proposed; /* instead of the snapshot's; NULL: none */
    struct noderesource_plugins plugins;
    struct wall_time now;
};

struct plan_node {
    struct str name;
    bool exists;                 /* false: only a NodeMetric or NodeSLO of that name */
    const struct json *strategy; /* effective; NULL on hold */
    struct noderesource_plan resources;
    struct nodemetric_plan metric;
    struct nodeslo_plan slo;
};

enum { PLAN_NORMALIZATION, PLAN_AMPLIFICATION, PLAN_RATIO_KEYS };

struct plan {
    enum colocation_state state; /* accepted, default or rejected */
    bool configured;             /* there is a ConfigMap: ns and name below */
    struct str config_ns;
    struct str config_name;
    const struct findings *findings;
    const struct findings *ratio_findings[PLAN_RATIO_KEYS]; /* of the other keys about nodes */
    const struct json *cluster;                             /* NULL: rejected */
    struct plan_node *nodes;                                /* sorted by name */
    size_t count;
    const struct snapshot *snapshot; /* its warnings are the plan's */

    struct colocation_policy *policy; /* owned; owns the findings */
    struct ratio_policy *ratios[PLAN_RATIO_KEYS];
    struct slo_policy *slo; /* of the NodeSLO keys */
    struct arena arena;
};

/* `snapshot` is sealed, outlives the plan and gets warnings added. False with
 * ERR_INVALID: several ConfigMaps qualify. */
bool plan_make(struct snapshot *snapshot, const struct plan_options *options, struct plan *ret,
               struct err *err) MUST_CHECK;
void plan_done(struct plan *plan);

/* What the NodeSLO keys of `configmap` (NULL: none) say; then what that means for a node. */
void plan_slo_observe(struct plan *plan, const struct configmap *configmap);
void plan_slo_node(struct plan *plan, const struct node *node, const struct nodeslo *slo,
                   struct findings *findings, struct plan_node *ret);
/* What admission would refuse or nobody would understand: levels FINDING_ADMISSION, _WARNING. */
void plan_slo_warnings(const struct plan *plan, const struct configmap *configmap, struct findings *findings);

/* The documented tree; lives in `arena` and the plan. */
const struct json *plan_to_json(const struct plan *plan, struct arena *arena);

/* For people: what changes where, and the totals. */
void plan_table(struct strbuf *out, const struct plan *plan);
