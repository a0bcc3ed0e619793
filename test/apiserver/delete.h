#pragma once
/* DELETE of one object and of collections. Each answers the request. */
#include "test/apiserver/request.h"

void as_delete(struct as_request *request);
void as_delete_collection(struct as_request *request);

/* Deletes at once, with everything inside when it is a namespace. */
void as_delete_now(struct apiserver *server, struct as_bucket *bucket, const struct as_object *object);
