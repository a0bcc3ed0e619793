#pragma once
/* Role-based access control from the Roles and bindings in the store. */
#include "test/apiserver/auth.h"
#include "test/apiserver/store.h"

struct as_rbac;

/* Follows the rbac.authorization.k8s.io buckets. */
struct as_rbac *as_rbac_new(struct as_store *store);
void as_rbac_free(struct as_rbac *rbac); /* NULL is fine */

/* What somebody wants to do; a path instead of a resource for /version and the like. */
struct as_action {
    const char *verb; /* "get", "list", "deletecollection", ... */
    struct str group, resource, subresource, namespace, name;
    struct str path; /* empty for resources */
};

bool as_rbac_allows(struct as_rbac *rbac, const struct as_identity *identity, const struct as_action *action);
/* 403 with the usual sentence. */
bool as_rbac_check(struct as_rbac *rbac, struct arena *arena, const struct as_identity *identity,
                   const struct as_action *action, struct api_error *error) MUST_CHECK;
