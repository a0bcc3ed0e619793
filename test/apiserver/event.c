#include "test/apiserver/event.h"
#include "test/apiserver/tree.h"

/* Every field that is called something else on the other side; the rest keep their names. */
static const struct {
    const char *core;
    const char *new;
} renamed[] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static struct str translate(struct str name, bool to_core)
{
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++) {
        const char *from = to_core ? renamed[i].new : renamed[i].core;
        if (str_eq(str_c(from), name))
            return str_c(to_core ? renamed[i].core : renamed[i].new);
    }
    return name;
}

static const struct json *convert(struct arena *arena, const struct json *event, bool to_core)
{
    struct json *out = api_object(arena);
    for (size_t i = 0; json_is(event, JSON_OBJECT) && i < event->object.count; i++) {
        const struct json_member *member = &event->object.members[i];
        json_set(arena, out, translate(member->key, to_core), member->value);
    }
    if (api_get(event, "apiVersion"))
        api_set_c(arena, out, "apiVersion", to_core ? "v1" : "events.k8s.io/v1");
    return out;
}

const struct json *api_event_to_core(struct arena *arena, const struct json *events_v1)
{
    return convert(arena, events_v1, true);
}

const struct json *api_event_from_core(struct arena *arena, const struct json *core_v1)
{
    return convert(arena, core_v1, false);
}
