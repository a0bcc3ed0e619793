#pragma once
/* CustomResourceDefinitions: only to be addressed and for their generation. */
#include "api/kind.h"

/* Not projected: `project` is NULL, so it is for single requests, not for caches. */
extern const struct kube_kind crd_kind;

/* What is decoded of one. */
struct crd {
    struct meta meta;
};
