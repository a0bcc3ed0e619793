#pragma once
/* Subresources other than status: scale, pods/binding, pods/eviction; and reviews, which
 * are answered but never stored. */
#include "test/apiserver/request.h"

/* Answers the request; 404 for what is not offered. */
void as_subresource(struct as_request *request);
/* POST of a SelfSubjectAccessReview. */
void as_review(struct as_request *request);
