#pragma once
/* What the API fills in when a client leaves it out, for built-in kinds. */
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/resource.h"

const struct json *api_defaults(struct arena *arena, const struct api_resource *resource,
                                const struct json *object);
