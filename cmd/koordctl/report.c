#include "report.h"

static void set_str(struct arena *arena, struct json *object, const char *key, struct str value)
{
    json_set(arena, object, str_c(key), json_new_str(arena, value));
}

static const struct json *finding_json(const struct finding *finding, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    set_str(arena, object, "key", finding->key);
    set_str(arena, object, "path", finding->path);
    set_str(arena, object, "value", finding->value);
    set_str(arena, object, "reason", str_c(finding->reason));
    set_str(arena, object, "message", finding->message);
    return object;
}

const struct json *findings_to_json(const struct findings *findings, const struct finding_levels *levels,
                                    struct arena *arena)
{
    struct json *list = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < findings->count; i++)
        if (levels->include[findings->items[i].level])
            json_push(arena, list, finding_json(&findings->items[i], arena));
    if (findings->omitted > 0) {
        struct finding rest = { .reason = "",
                                .message = arena_strf(arena, "%zu more are not listed", findings->omitted) };
        json_push(arena, list, finding_json(&rest, arena));
    }
    return list;
}
