/* Events to a tree. Members of all open containers lie on one stack; a container that
 * ends takes its own from the top, so finished arrays have their exact size. */
#include "json/json.h"
#include "json/keys.h"

struct open_container {
    enum json_type type;
    size_t first;   /* its first entry on the stack */
    struct str key; /* of the member whose value comes next */
};

struct json_builder {
    struct arena *arena;
    struct json_member *stack;
    size_t stack_len, stack_cap;
    struct open_container *open;
    size_t open_len, open_cap;
    const struct json *root;
};

struct json_builder *json_builder_new(struct arena *arena)
{
    struct json_builder *builder = arena_new(arena, struct json_builder);
    builder->arena = arena;
    return builder;
}

const struct json *json_builder_root(const struct json_builder *builder)
{
    return builder->root;
}

void json_builder_reset(struct json_builder *builder)
{
    builder->stack_len = 0;
    builder->open_len = 0;
    builder->root = NULL;
}

static void *grown(struct arena *arena, void *old, size_t *cap, size_t size)
{
    size_t next = *cap ? *cap * 2 : 8;
    void *items = arena_grow(arena, old, *cap * size, next * size);
    *cap = next;
    return items;
}

static void put(struct json_builder *builder, const struct json *value)
{
    if (builder->open_len == 0) {
        builder->root = value;
        return;
    }
    if (builder->stack_len == builder->stack_cap)
        builder->stack = grown(builder->arena, builder->stack, &builder->stack_cap, sizeof *builder->stack);
    builder->stack[builder->stack_len++] =
        (struct json_member){ .key = builder->open[builder->open_len - 1].key, .value = value };
}

static void open_container(struct json_builder *builder, enum json_type type)
{
    if (builder->open_len == builder->open_cap)
        builder->open = grown(builder->arena, builder->open, &builder->open_cap, sizeof *builder->open);
    builder->open[builder->open_len++] = (struct open_container){ .type = type, .first = builder->stack_len };
}

static void close_container(struct json_builder *builder)
{
    const struct open_container *top = &builder->open[--builder->open_len];
    const struct json_member *entries = builder->stack ? builder->stack + top->first : NULL;
    size_t count = builder->stack_len - top->first;
    builder->stack_len = top->first;

    struct json *value = json_new(builder->arena, top->type);
    if (count > 0 && top->type == JSON_OBJECT) {
        value->object.members = arena_array(builder->arena, struct json_member, count);
        memcpy(value->object.members, entries, count * sizeof *entries);
        value->object.count = json_keys_keep_last(value->object.members, count, sizeof *entries);
    } else if (count > 0) {
        value->array.items = arena_array(builder->arena, const struct json *, count);
        for (size_t i = 0; i < count; i++)
            value->array.items[i] = entries[i].value;
        value->array.count = count;
    }
    put(builder, value);
}

static const struct json *new_text(struct arena *arena, enum json_type type, struct str text)
{
    struct json *value = json_new(arena, type);
    value->text = arena_str(arena, text);
    return value;
}

static bool on_event(void *self, const struct json_event *event, struct err *err)
{
    struct json_builder *builder = self;
    if (builder->root)
        return err_set(err, ERR_INVALID, "more than one JSON value");
    switch (event->type) {
    case JSON_EV_NULL:
        put(builder, json_new(builder->arena, JSON_NULL));
        break;
    case JSON_EV_BOOL:
        put(builder, json_new_bool(builder->arena, event->boolean));
        break;
    case JSON_EV_NUMBER:
        put(builder, new_text(builder->arena, JSON_NUMBER, event->text));
        break;
    case JSON_EV_STRING:
        put(builder, new_text(builder->arena, JSON_STRING, event->text));
        break;
    case JSON_EV_KEY:
        builder->open[builder->open_len - 1].key = arena_str(builder->arena, event->text);
        break;
    case JSON_EV_OBJECT_START:
        open_container(builder, JSON_OBJECT);
        break;
    case JSON_EV_ARRAY_START:
        open_container(builder, JSON_ARRAY);
        break;
    case JSON_EV_OBJECT_END:
    case JSON_EV_ARRAY_END:
        close_container(builder);
        break;
    }
    return true;
}

struct json_sink json_builder_sink(struct json_builder *builder)
{
    return (struct json_sink){ .event = on_event, .self = builder };
}

bool json_parse(struct arena *arena, struct str text, const struct json_limits *limits,
                const struct json **ret, struct err *err)
{
    struct json_builder *builder = json_builder_new(arena);
    if (!json_parse_events(text, limits, json_builder_sink(builder), err))
        return false;
    *ret = json_builder_root(builder);
    return true;
}

/* --- a tree to events --- */

static bool walk_array(const struct json *value, struct json_sink sink, struct err *err)
{
    for (size_t i = 0; i < value->array.count; i++) {
        if (!json_walk(value->array.items[i], sink, err))
            return false;
    }
    return true;
}

static bool walk_object(const struct json *value, struct json_sink sink, struct err *err)
{
    for (size_t i = 0; i < value->object.count; i++) {
        const struct json_member *member = &value->object.members[i];
        struct json_event key = { .type = JSON_EV_KEY, .text = member->key };
        if (!sink.event(sink.self, &key, err) || !json_walk(member->value, sink, err))
            return false;
    }
    return true;
}

/* Recursion is bounded: whoever makes trees from foreign bytes limits their depth. */
bool json_walk(const struct json *value, struct json_sink sink, struct err *err)
{
    struct json_event event = { 0 };
    switch (value->type) {
    case JSON_NULL:
        event.type = JSON_EV_NULL;
        break;
    case JSON_BOOL:
        event = (struct json_event){ .type = JSON_EV_BOOL, .boolean = value->boolean };
        break;
    case JSON_NUMBER:
        event = (struct json_event){ .type = JSON_EV_NUMBER, .text = value->text };
        break;
    case JSON_STRING:
        event = (struct json_event){ .type = JSON_EV_STRING, .text = value->text };
        break;
    case JSON_ARRAY:
        return sink.event(sink.self, &(struct json_event){ .type = JSON_EV_ARRAY_START }, err) &&
               walk_array(value, sink, err) &&
               sink.event(sink.self, &(struct json_event){ .type = JSON_EV_ARRAY_END }, err);
    case JSON_OBJECT:
        return sink.event(sink.self, &(struct json_event){ .type = JSON_EV_OBJECT_START }, err) &&
               walk_object(value, sink, err) &&
               sink.event(sink.self, &(struct json_event){ .type = JSON_EV_OBJECT_END }, err);
    }
    return sink.event(sink.self, &event, err);
}
