/* The NodeSLO side of a plan. */
#include "plan.h"
#include "sloconfig/network.h"

void plan_slo_observe(struct plan *plan, const struct configmap *configmap)
{
    struct slo_input in = { .source = configmap ? SOURCE_PRESENT : SOURCE_ABSENT };
    for (int i = 0; configmap && i < SLO_KEY_COUNT; i++)
        in.values[i].text = configmap_value(configmap, slo_keys[i].key, &in.values[i].present);
    plan->slo = slo_policy_new(0);
    slo_policy_observe(plan->slo, &in);
}

void plan_slo_node(struct plan *plan, const struct node *node, const struct nodeslo *slo,
                   struct findings *findings, struct plan_node *ret)
{
    struct nodeslo_input in = { .node = node, .slo = slo, .policy = slo_policy_status(plan->slo) };
    nodeslo_plan_make(&in, &plan->arena, findings, &ret->slo);
}

void plan_slo_warnings(const struct plan *plan, const struct configmap *configmap, struct findings *findings)
{
    const struct slo_status *status = slo_policy_status(plan->slo);
    for (int i = 0; i < SLO_KEY_COUNT; i++)
        if (status->in_force[i])
            node_entries_check_overlaps(&status->in_force[i]->list, findings);
    if (configmap && status->in_force[SLO_QOS])
        network_check(status->in_force[SLO_QOS], configmap_value(configmap, slo_keys[SLO_SYSTEM].key, NULL),
                      findings);
}
