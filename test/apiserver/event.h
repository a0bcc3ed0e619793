#pragma once
/* One store behind two APIs: Events are kept as core/v1 and shown as either. Neither
 * direction loses a field. */
#include "base/arena.h"
#include "json/json.h"

const struct json *api_event_to_core(struct arena *arena, const struct json *events_v1);
const struct json *api_event_from_core(struct arena *arena, const struct json *core_v1);
