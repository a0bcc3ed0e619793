#pragma once
/* create, update, patch and server-side apply, on objects and their status. Each answers
 * the request. */
#include "test/apiserver/body.h"

void as_create(struct as_request *request);
void as_update(struct as_request *request);
void as_patch(struct as_request *request);

/* For subresources that change the object in their own way: `object` replaces `old` as a
 * PUT of the whole would. Answers with `answer`, or with the object when NULL. */
void as_write_object(struct as_request *request, const struct as_object *old, const struct json *object,
                     const struct json *answer);
