#include "test/apiserver/listrule.h"

static const struct api_list_rule rules[] = {
    /* metadata */
    { NULL, "ownerReferences", { "uid" }, false, false },
    { NULL, "finalizers", { NULL }, false, false },
    /* status */
    { NULL, "conditions", { "type" }, false, false },
    { "Node", "addresses", { "type" }, false, false },
    { "Pod", "podIPs", { "ip" }, false, false },
    { "Pod", "hostIPs", { "ip" }, true, false },
    /* Node and Namespace spec */
    { "Node", "taints", { "key" }, true, false },
    { "Node", "podCIDRs", { NULL }, false, false },
    /* pod templates, wherever they stand */
    { NULL, "containers", { "name" }, false, false },
    { NULL, "initContainers", { "name" }, false, false },
    { NULL, "ephemeralContainers", { "name" }, false, false },
    { NULL, "volumes", { "name" }, false, false },
    { NULL, "env", { "name" }, false, false },
    { NULL, "volumeMounts", { "mountPath" }, false, false },
    { NULL, "volumeDevices", { "devicePath" }, false, false },
    { NULL, "imagePullSecrets", { "name" }, false, false },
    { NULL, "hostAliases", { "ip" }, false, false },
    { NULL, "resourceClaims", { "name" }, false, false },
    { NULL, "schedulingGates", { "name" }, false, false },
    { NULL, "topologySpreadConstraints", { "topologyKey", "whenUnsatisfiable" }, false, false },
    { "Service", "ports", { "port", "protocol" }, false, false },
    { NULL, "ports", { "containerPort", "protocol" }, false, false },
    /* others */
    { "ServiceAccount", "secrets", { "name" }, false, false },
    { NULL, "webhooks", { "name" }, false, false },
};

const struct api_list_rule *api_list_rule_find(const struct api_resource *resource, struct str field)
{
    if (resource->custom)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const struct api_list_rule *rule = &rules[i];
        if (str_eq(str_c(rule->field), field) && (!rule->kind || str_eq(str_c(rule->kind), resource->kind)))
            return rule;
    }
    return NULL;
}

static const char *const atomic_maps[] = { "selector",          "nodeSelector",   "labelSelector",
                                           "namespaceSelector", "secretRef",      "configMapKeyRef",
                                           "secretKeyRef",      "fieldRef",       "resourceFieldRef",
                                           "claimRef",          "involvedObject", "roleRef" };

bool api_map_rule_atomic(const struct api_resource *resource, struct str field)
{
    if (resource->custom)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(atomic_maps); i++)
        if (str_eq(str_c(atomic_maps[i]), field))
            return true;
    return false;
}
