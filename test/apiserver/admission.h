#pragma once
/* What a real server's default admission plugins decide about new objects, as far as
 * anybody here can tell the difference: the priority of Pods. */
#include "test/apiserver/request.h"

/* The decoded object of a create as it goes on, or 403. */
bool as_admit_create(struct as_request *request, const struct json *object, const struct json **ret,
                     struct api_error *error) MUST_CHECK;
