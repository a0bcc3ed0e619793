#pragma once
/* From a request to whoever answers it: faults, authentication, routing, authorization. */
#include "test/apiserver/request.h"

/* The HTTP server's handler; `self` is the server. */
void as_handle(void *self, struct http_exchange *exchange);
/* Executes what arrived while the server was paused. */
void as_release_held(struct apiserver *server);
