#include "test/apiserver/traits.h"

static const struct as_field pod_fields[] = {
    { .name = "spec.nodeName" },
    { .name = "spec.restartPolicy" },
    { .name = "spec.schedulerName" },
    { .name = "spec.serviceAccountName" },
    { .name = "spec.hostNetwork", .absent = "false" },
    { .name = "status.phase" },
    { .name = "status.podIP" },
    { .name = "status.nominatedNodeName" },
};

static const struct as_field node_fields[] = {
    { .name = "spec.unschedulable", .absent = "false" },
};

static const struct as_field event_fields[] = {
    { .name = "involvedObject.kind" },
    { .name = "involvedObject.namespace" },
    { .name = "involvedObject.name" },
    { .name = "involvedObject.uid" },
    { .name = "involvedObject.apiVersion" },
    { .name = "involvedObject.resourceVersion" },
    { .name = "involvedObject.fieldPath" },
    { .name = "reason" },
    { .name = "reportingComponent" },
    { .name = "source", .path = "source.component" },
    { .name = "type" },
};

const struct as_field_alias as_event_aliases[] = {
    { "regarding.kind", "involvedObject.kind" },
    { "regarding.namespace", "involvedObject.namespace" },
    { "regarding.name", "involvedObject.name" },
    { "regarding.uid", "involvedObject.uid" },
    { "regarding.apiVersion", "involvedObject.apiVersion" },
    { "regarding.resourceVersion", "involvedObject.resourceVersion" },
    { "regarding.fieldPath", "involvedObject.fieldPath" },
    { "reportingController", "reportingComponent" },
};
const size_t as_event_alias_count = ARRAY_LEN(as_event_aliases);

static const struct as_field namespace_fields[] = { { .name = "status.phase" } };
static const struct as_field secret_fields[] = { { .name = "type" } };
static const struct as_field service_fields[] = { { .name = "spec.clusterIP" }, { .name = "spec.type" } };
static const struct as_field replica_set_fields[] = { { .name = "status.replicas", .absent = "0" } };

#define FIELDS(table_) .fields = (table_), .field_count = ARRAY_LEN(table_)

static const struct as_traits traits[] = {
    { "", "nodes", .status_at_create = true, FIELDS(node_fields) },
    { "", "pods", FIELDS(pod_fields) },
    { "", "namespaces", FIELDS(namespace_fields) },
    { "", "secrets", FIELDS(secret_fields) },
    { "", "services", .create_on_update = true, FIELDS(service_fields) },
    { "", "endpoints", .create_on_update = true },
    { "", "events", .create_on_update = true, FIELDS(event_fields) },
    { "events.k8s.io", "events", .create_on_update = true, FIELDS(event_fields) },
    { "coordination.k8s.io", "leases", .conditional_update = true, .create_on_update = true },
    { "apps", "replicasets", FIELDS(replica_set_fields) },
    { "policy", "poddisruptionbudgets", .conditional_update = true },
    { "rbac.authorization.k8s.io", "roles", .create_on_update = true },
    { "rbac.authorization.k8s.io", "rolebindings", .create_on_update = true },
    { "rbac.authorization.k8s.io", "clusterroles", .create_on_update = true },
    { "rbac.authorization.k8s.io", "clusterrolebindings", .create_on_update = true },
    { "apiextensions.k8s.io", "customresourcedefinitions", .conditional_update = true },
    { "admissionregistration.k8s.io", "validatingwebhookconfigurations", .conditional_update = true },
};

const struct as_traits *as_traits_of(struct str group, struct str plural)
{
    static const struct as_traits plain = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(traits); i++)
        if (str_eq(str_c(traits[i].plural), plural) && str_eq(str_c(traits[i].group), group))
            return &traits[i];
    return &plain;
}
