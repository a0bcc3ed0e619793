/* How each type of field takes a value. */
#include "json/decode_frame.h"

static const char *event_name(const struct json_event *event)
{
    static const char *const names[] = {
        [JSON_EV_NULL] = "null",
        [JSON_EV_BOOL] = "a bool",
        [JSON_EV_NUMBER] = "a number",
        [JSON_EV_STRING] = "a string",
        [JSON_EV_OBJECT_START] = "an object",
        [JSON_EV_KEY] = "a key",
        [JSON_EV_OBJECT_END] = "an end",
        [JSON_EV_ARRAY_START] = "an array",
        [JSON_EV_ARRAY_END] = "an end",
    };
    return names[event->type];
}

bool json_decoder_expected(struct json_decoder *decoder, const char *what, const struct json_event *event)
{
    return err_set(&decoder->why, ERR_INVALID, "expected %s, got %s", what, event_name(event));
}

static bool is(struct json_decoder *decoder, enum json_event_type type, const char *what,
               const struct json_event *event)
{
    return event->type == type || json_decoder_expected(decoder, what, event);
}

/* --- scalars --- */

static bool into_str(struct json_decoder *decoder, const struct json_field *field, void *dst,
                     const struct json_event *event)
{
    if (!is(decoder, JSON_EV_STRING, "a string", event))
        return false;
    if (field->required && event->text.len > 0 && memchr(event->text.ptr, 0, event->text.len))
        return err_set(&decoder->why, ERR_INVALID, "NUL in an identity");
    *(struct str *)dst = arena_str(decoder->arena, event->text);
    return true;
}

static bool to_bool(struct json_decoder *decoder, const struct json_event *event, bool *ret)
{
    *ret = event->boolean;
    return is(decoder, JSON_EV_BOOL, "true or false", event);
}

static bool to_i64(struct json_decoder *decoder, const struct json_event *event, int64_t *ret)
{
    if (!is(decoder, JSON_EV_NUMBER, "an integer", event))
        return false;
    return str_to_i64(event->text, ret) ||
           err_set(&decoder->why, ERR_INVALID, "expected a plain integer of 64 bits");
}

static bool into_bool(struct json_decoder *decoder, const struct json_field *field, void *dst,
                      const struct json_event *event)
{
    (void)field;
    bool value;
    if (!to_bool(decoder, event, &value))
        return false;
    *(bool *)dst = value;
    return true;
}

static bool into_i64(struct json_decoder *decoder, const struct json_field *field, void *dst,
                     const struct json_event *event)
{
    (void)field;
    int64_t value;
    if (!to_i64(decoder, event, &value))
        return false;
    *(int64_t *)dst = value;
    return true;
}

static bool into_opt_i64(struct json_decoder *decoder, const struct json_field *field, void *dst,
                         const struct json_event *event)
{
    (void)field;
    int64_t value;
    if (!to_i64(decoder, event, &value))
        return false;
    *(struct opt_i64 *)dst = (struct opt_i64){ .set = true, .value = value };
    return true;
}

static bool into_opt_bool(struct json_decoder *decoder, const struct json_field *field, void *dst,
                          const struct json_event *event)
{
    (void)field;
    bool value;
    if (!to_bool(decoder, event, &value))
        return false;
    *(struct opt_bool *)dst = (struct opt_bool){ .set = true, .value = value };
    return true;
}

static bool into_scalar(struct json_decoder *decoder, const struct json_field *field, void *dst,
                        const struct json_event *event)
{
    if (event->type == JSON_EV_OBJECT_START || event->type == JSON_EV_ARRAY_START)
        return json_decoder_expected(decoder, "a single value", event);
    return field->scalar(decoder->arena, event, dst, &decoder->why);
}

/* --- objects --- */

void json_decoder_begin_object(struct json_decoder *decoder, const struct json_table *table, void *dst)
{
    struct frame *frame = json_decoder_push(decoder, FRAME_OBJECT);
    frame->table = table;
    frame->dst = dst;
}

static bool into_object(struct json_decoder *decoder, const struct json_field *field, void *dst,
                        const struct json_event *event)
{
    if (!is(decoder, JSON_EV_OBJECT_START, "an object", event))
        return false;
    memset(dst, 0, field->table->size); /* an earlier object of the same name loses whole */
    json_decoder_begin_object(decoder, field->table, dst);
    return true;
}

static bool into_object_ptr(struct json_decoder *decoder, const struct json_field *field, void *dst,
                            const struct json_event *event)
{
    if (!is(decoder, JSON_EV_OBJECT_START, "an object", event))
        return false;
    void *object = arena_alloc(decoder->arena, field->table->size);
    *(void **)dst = object;
    json_decoder_begin_object(decoder, field->table, object);
    return true;
}

/* --- arrays and maps --- */

void *json_decoder_append(struct json_decoder *decoder, struct frame *frame, size_t entry_size)
{
    struct json_items *items = frame->dst;
    if (items->count == frame->capacity) {
        size_t capacity = frame->capacity ? frame->capacity * 2 : 2;
        items->items =
            arena_grow(decoder->arena, items->items, frame->capacity * entry_size, capacity * entry_size);
        frame->capacity = capacity;
    }
    return (char *)items->items + items->count++ * entry_size;
}

static bool begin_items(struct json_decoder *decoder, enum frame_kind kind, const struct json_field *field,
                        void *dst)
{
    struct frame *frame = json_decoder_push(decoder, kind);
    frame->table = field->table;
    frame->dst = dst;
    *(struct json_items *)dst = (struct json_items){ 0 };
    return true;
}

static bool into_array(struct json_decoder *decoder, const struct json_field *field, void *dst,
                       const struct json_event *event)
{
    return is(decoder, JSON_EV_ARRAY_START, "an array", event) &&
           begin_items(decoder, FRAME_ITEMS, field, dst);
}

static bool into_str_array(struct json_decoder *decoder, const struct json_field *field, void *dst,
                           const struct json_event *event)
{
    return is(decoder, JSON_EV_ARRAY_START, "an array", event) &&
           begin_items(decoder, FRAME_STRS, field, dst);
}

static bool into_str_map(struct json_decoder *decoder, const struct json_field *field, void *dst,
                         const struct json_event *event)
{
    return is(decoder, JSON_EV_OBJECT_START, "an object", event) &&
           begin_items(decoder, FRAME_MAP, field, dst);
}

/* The scratch memory for a streamed array that begins now: the one below the innermost
 * streamed array that is open. */
static struct scratch *next_scratch(struct json_decoder *decoder)
{
    struct scratch **slot = &decoder->scratch;
    for (size_t i = 0; i < decoder->depth; i++) {
        if (decoder->frames[i].kind == FRAME_EACH)
            slot = &decoder->frames[i].scratch->deeper;
    }
    if (!*slot)
        *slot = mem_zalloc(sizeof **slot);
    return *slot;
}

static bool into_each(struct json_decoder *decoder, const struct json_field *field, void *dst,
                      const struct json_event *event)
{
    (void)dst;
    if (!is(decoder, JSON_EV_ARRAY_START, "an array", event))
        return false;
    struct scratch *scratch = next_scratch(decoder);
    if (scratch->element_size < field->table->size) {
        scratch->element = mem_realloc(scratch->element, field->table->size);
        scratch->element_size = field->table->size;
    }
    struct frame *frame = json_decoder_push(decoder, FRAME_EACH);
    frame->table = field->table;
    frame->field = field;
    frame->scratch = scratch;
    frame->outer = decoder->arena;
    decoder->arena = &scratch->arena;
    return true;
}

/* --- trees --- */

bool json_decoder_capture(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    struct json_sink sink = json_builder_sink(decoder->builder);
    if (!sink.event(sink.self, event, err))
        return false;
    const struct json *root = json_builder_root(decoder->builder);
    if (root) {
        *decoder->tree = root;
        decoder->builder = NULL;
    }
    return true;
}

/* The coming value becomes a tree; *ret is set when it is complete. */
static bool begin_tree(struct json_decoder *decoder, const struct json **ret, const struct json_event *event)
{
    decoder->builder = json_builder_new(decoder->arena);
    decoder->tree = ret;
    return json_decoder_capture(decoder, event, &decoder->why);
}

static bool into_tree(struct json_decoder *decoder, const struct json_field *field, void *dst,
                      const struct json_event *event)
{
    (void)field;
    return begin_tree(decoder, dst, event);
}

static struct pending *find_pending(const struct frame *frame, const struct json_field *field)
{
    for (struct pending *pending = frame->pending; pending; pending = pending->next) {
        if (pending->field == field)
            return pending;
    }
    return NULL;
}

static struct pending *postpone(struct json_decoder *decoder, const struct json_field *field)
{
    struct frame *frame = decoder_top(decoder);
    struct pending *pending = arena_new(decoder->arena, struct pending);
    *pending = (struct pending){ .field = field, .next = frame->pending };
    frame->pending = pending;
    return pending;
}

static bool into_select(struct json_decoder *decoder, const struct json_field *field, void *dst,
                        const struct json_event *event)
{
    (void)dst;
    const struct frame *frame = decoder_top(decoder);
    struct pending *pending = find_pending(frame, field);
    struct pending chosen = pending ? *pending : (struct pending){ 0 };
    if (!chosen.table)
        field->select(decoder->options.user, frame->dst, decoder->arena, &chosen.table, &chosen.dst);
    if (!chosen.table)
        return begin_tree(decoder, pending ? &pending->tree : &postpone(decoder, field)->tree, event);
    if (pending)
        pending->tree = NULL; /* this value is that tree, or comes in its place */
    if (!is(decoder, JSON_EV_OBJECT_START, "an object", event))
        return false;
    memset(chosen.dst, 0, chosen.table->size);
    json_decoder_begin_object(decoder, chosen.table, chosen.dst);
    return true;
}

/* --- the table --- */

static const struct {
    bool (*take)(struct json_decoder *decoder, const struct json_field *field, void *dst,
                 const struct json_event *event);
    size_t size; /* of the destination; 0: not ours to know */
} types[] = {
    [JSON_INTO_STR] = { into_str, sizeof(struct str) },
    [JSON_INTO_BOOL] = { into_bool, sizeof(bool) },
    [JSON_INTO_I64] = { into_i64, sizeof(int64_t) },
    [JSON_INTO_OPT_I64] = { into_opt_i64, sizeof(struct opt_i64) },
    [JSON_INTO_OPT_BOOL] = { into_opt_bool, sizeof(struct opt_bool) },
    [JSON_INTO_SCALAR] = { into_scalar, 0 },
    [JSON_INTO_OBJECT] = { into_object, 0 },
    [JSON_INTO_OBJECT_PTR] = { into_object_ptr, sizeof(void *) },
    [JSON_INTO_ARRAY] = { into_array, sizeof(struct json_items) },
    [JSON_INTO_STR_ARRAY] = { into_str_array, sizeof(struct json_items) },
    [JSON_INTO_STR_MAP] = { into_str_map, sizeof(struct json_items) },
    [JSON_INTO_EACH] = { into_each, 0 },
    [JSON_INTO_SELECT] = { into_select, 0 },
    [JSON_INTO_TREE] = { into_tree, sizeof(const struct json *) },
};

bool json_decoder_into(struct json_decoder *decoder, const struct json_field *field, void *dst,
                       const struct json_event *event)
{
    return types[field->type].take(decoder, field, dst, event);
}

void json_decoder_reset_field(struct json_decoder *decoder, const struct json_field *field, void *dst)
{
    struct pending *pending = find_pending(decoder_top(decoder), field);
    if (pending)
        pending->tree = NULL;
    size_t size = field->type == JSON_INTO_OBJECT ? field->table->size : types[field->type].size;
    if (size > 0)
        memset(dst, 0, size);
}
