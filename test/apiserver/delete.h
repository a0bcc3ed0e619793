#pragma once
/* DELETE of one object and of collections. Each answers the request. */
#include "test/apiserver/request.h"

void as_delete(struct as_request *request);
void as_delete_collection(struct as_request *request);

/* A Pod that runs on a node is only marked, until the kubelet deletes it with a grace of 0;
 * whatever else has no finalizers goes now. `grace_s` as in DeleteOptions. Gives what is
 * left, or NULL. */
const struct as_object *as_delete_object(struct as_request *request, const struct as_object *object,
                                         struct opt_i64 grace_s);

/* Deletes at once, with everything inside when it is a namespace. */
void as_delete_now(struct apiserver *server, struct as_bucket *bucket, const struct as_object *object);
