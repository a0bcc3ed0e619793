#pragma once
/* CustomResourceDefinitions (apiextensions.k8s.io/v1) to resources. */
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/resource.h"
#include "base/err.h"

/* One resource per served version, in the CRD's order; all in `arena`. *ret_storage is
 * the index of the storage version among them. */
bool api_crd_read(struct arena *arena, const struct json *crd, struct api_resource **ret, size_t *ret_count,
                  size_t *ret_storage, struct err *err) MUST_CHECK;
/* The CRD object with the status a live server would give it: accepted names, the
 * conditions NamesAccepted and Established, stored versions. `now_text` is RFC 3339. */
const struct json *api_crd_established(struct arena *arena, const struct json *crd, struct str now_text);
