#pragma once
/* The kinds every cluster has, as far as our clients and kubectl ask for them. */
#include "test/apiserver/resource.h"

/* A static table. The two Event rows (core and events.k8s.io) share one store: see event.h. */
const struct api_resource *api_builtin_resources(size_t *count);
