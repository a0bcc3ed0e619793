#pragma once
/* GET of one object and of collections. Both answer the request, now or later. */
#include "test/apiserver/request.h"

void as_get(struct as_request *request);
void as_list(struct as_request *request);
