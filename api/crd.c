#include "api/crd.h"

static const struct json_field crd_fields[] = {
    JSON_FIELD_OBJECT(struct crd, meta, "metadata", &meta_table),
};
static const struct json_table crd_table = JSON_TABLE(struct crd, crd_fields);

const struct kube_kind crd_kind = {
    .group = "apiextensions.k8s.io",
    .version = "v1",
    .kind = "CustomResourceDefinition",
    .plural = "customresourcedefinitions",
    .table = &crd_table,
};
