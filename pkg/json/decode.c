/* Which event belongs to which frame: the way from the parser's events to the fields. */
#include "json/decode.h"
#include "json/decode_frame.h"
#include "json/keys.h"
#include <stdlib.h>

#define PATH_BYTES 1024

_Static_assert(offsetof(struct json_pair, key) == 0, "keys.h wants the key first");

struct frame *json_decoder_push(struct json_decoder *decoder, enum frame_kind kind)
{
    if (decoder->depth == decoder->frames_cap) {
        decoder->frames_cap = decoder->frames_cap ? decoder->frames_cap * 2 : 16;
        decoder->frames = mem_realloc(decoder->frames, decoder->frames_cap * sizeof *decoder->frames);
    }
    struct frame *frame = &decoder->frames[decoder->depth++];
    *frame = (struct frame){ .kind = kind };
    return frame;
}

/* --- values that do not fit --- */

static void add_step(struct strbuf *path, const struct frame *frame)
{
    const char *dot = path->len > 0 ? "." : "";
    switch (frame->kind) {
    case FRAME_OBJECT:
        if (frame->field)
            strbuf_addf(path, "%s%s", dot, frame->field->name);
        break;
    case FRAME_MAP:
        strbuf_addf(path, "%s" STR_FMT, dot, STR_ARG(frame->key));
        break;
    case FRAME_ITEMS:
    case FRAME_STRS:
    case FRAME_EACH:
        strbuf_addf(path, "[%zu]", frame->index - 1);
        break;
    }
}

/* Where the current value stands in the document. */
static struct str current_path(struct json_decoder *decoder)
{
    strbuf_clear(&decoder->path);
    for (size_t i = 0; i < decoder->depth; i++)
        add_step(&decoder->path, &decoder->frames[i]);
    return strbuf_str(&decoder->path);
}

static bool is_start(const struct json_event *event)
{
    return event->type == JSON_EV_OBJECT_START || event->type == JSON_EV_ARRAY_START;
}

static bool is_end(const struct json_event *event)
{
    return event->type == JSON_EV_OBJECT_END || event->type == JSON_EV_ARRAY_END;
}

static struct str value_text(const struct json_event *event)
{
    switch (event->type) {
    case JSON_EV_OBJECT_START:
        return STR("object");
    case JSON_EV_ARRAY_START:
        return STR("array");
    case JSON_EV_BOOL:
        return event->boolean ? STR("true") : STR("false");
    default:
        return event->text;
    }
}

static void report(struct json_decoder *decoder, const struct json_event *event)
{
    const struct json_report *to = &decoder->options.report;
    if (to->mismatch)
        to->mismatch(to->self, current_path(decoder), value_text(event), decoder->why.text);
}

static void skip_value(struct json_decoder *decoder, const struct json_event *event)
{
    if (is_start(event))
        decoder->skip = 1;
}

/* Gives up the element of the streamed array at `each`: its frames go, and what is left
 * of it in the input is skipped. */
static void drop_element(struct json_decoder *decoder, size_t each, const struct json_event *event)
{
    decoder->skip = decoder->depth - (each + 1) + (is_start(event) ? 1 : 0);
    decoder->depth = each + 1;
}

/* A required value of the wrong type fails its object: the element of a streamed array
 * is dropped and the others go on, anything else ends the decoding. */
static bool fail_object(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    for (size_t i = decoder->depth; i-- > 0;) {
        if (decoder->frames[i].kind == FRAME_EACH) {
            report(decoder, event);
            drop_element(decoder, i, event);
            return true;
        }
    }
    return err_set(err, ERR_INVALID, STR_FMT ": %s", STR_ARG(current_path(decoder)), decoder->why.text);
}

static bool mismatch(struct json_decoder *decoder, const struct json_event *event)
{
    report(decoder, event);
    skip_value(decoder, event);
    return true;
}

/* --- what a value means in each kind of frame --- */

static bool object_value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    const struct frame *frame = decoder_top(decoder);
    const struct json_field *field = frame->field;
    if (!field) {
        skip_value(decoder, event);
        return true;
    }
    void *dst = (char *)frame->dst + field->offset;
    if (event->type != JSON_EV_NULL && json_decoder_into(decoder, field, dst, event))
        return true;
    json_decoder_reset_field(decoder, field, dst); /* of duplicate keys the last wins, even with nothing */
    if (event->type == JSON_EV_NULL)
        return true;
    return field->required ? fail_object(decoder, event, err) : mismatch(decoder, event);
}

static bool items_value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    (void)err;
    struct frame *frame = decoder_top(decoder);
    frame->index++;
    if (event->type == JSON_EV_NULL)
        return true;
    if (event->type != JSON_EV_OBJECT_START) {
        json_decoder_expected(decoder, "an object", event);
        return mismatch(decoder, event);
    }
    const struct json_table *table = frame->table;
    json_decoder_begin_object(decoder, table, json_decoder_append(decoder, frame, table->size));
    return true;
}

static bool strs_value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    (void)err;
    struct frame *frame = decoder_top(decoder);
    frame->index++;
    if (event->type == JSON_EV_NULL)
        return true;
    if (event->type != JSON_EV_STRING) {
        json_decoder_expected(decoder, "a string", event);
        return mismatch(decoder, event);
    }
    struct str *entry = json_decoder_append(decoder, frame, sizeof *entry);
    *entry = arena_str(decoder->arena, event->text);
    return true;
}

/* A null keeps its key with an empty value, as it does in Go's map[string]string. */
static bool map_value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    (void)err;
    struct frame *frame = decoder_top(decoder);
    if (event->type != JSON_EV_STRING && event->type != JSON_EV_NULL) {
        json_decoder_expected(decoder, "a string", event);
        return mismatch(decoder, event);
    }
    struct json_pair *entry = json_decoder_append(decoder, frame, sizeof *entry);
    *entry = (struct json_pair){ .key = frame->key, .value = arena_str(decoder->arena, event->text) };
    return true;
}

static bool each_value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    (void)err;
    struct frame *frame = decoder_top(decoder);
    frame->index++;
    if (event->type == JSON_EV_NULL)
        return true;
    if (event->type != JSON_EV_OBJECT_START) {
        json_decoder_expected(decoder, "an object", event);
        return mismatch(decoder, event);
    }
    arena_clear(&frame->scratch->arena);
    memset(frame->scratch->element, 0, frame->table->size);
    json_decoder_begin_object(decoder, frame->table, frame->scratch->element);
    return true;
}

static bool value(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    static bool (*const takers[])(struct json_decoder * decoder, const struct json_event *event,
                                  struct err *err) = {
        [FRAME_OBJECT] = object_value, [FRAME_ITEMS] = items_value, [FRAME_STRS] = strs_value,
        [FRAME_MAP] = map_value,       [FRAME_EACH] = each_value,
    };
    return takers[decoder_top(decoder)->kind](decoder, event, err);
}

/* --- keys --- */

/* Writers keep an order, so the next key is mostly the row after the last one found. */
static const struct json_field *find_field(struct frame *frame, struct str key)
{
    const struct json_table *table = frame->table;
    size_t row = frame->index;
    for (size_t n = table->count; n > 0 && key.len > 0; n--, row++) {
        if (row >= table->count)
            row = 0;
        const char *name = table->fields[row].name;
        if (name[0] == key.ptr[0] && strlen(name) == key.len && memcmp(name, key.ptr, key.len) == 0) {
            frame->index = row + 1;
            return &table->fields[row];
        }
    }
    return NULL;
}

static void take_key(struct json_decoder *decoder, struct str key)
{
    struct frame *frame = decoder_top(decoder);
    if (frame->kind == FRAME_OBJECT)
        frame->field = find_field(frame, key);
    else
        frame->key = arena_str(decoder->arena, key);
}

/* --- ends --- */

static bool on_event(void *self, const struct json_event *event, struct err *err);

/* What was kept as a tree is decoded now that the parent is complete. */
static bool select_pending(struct json_decoder *decoder, struct err *err)
{
    for (struct pending *pending = decoder_top(decoder)->pending; pending; pending = pending->next) {
        struct frame *frame = decoder_top(decoder);
        if (!pending->tree)
            continue;
        pending->field->select(decoder->options.user, frame->dst, decoder->arena, &pending->table,
                               &pending->dst);
        if (!pending->table)
            continue;
        frame->field = pending->field;
        if (!json_walk(pending->tree, json_decoder_sink(decoder), err))
            return false;
        if (decoder->skip > 0)
            return true; /* the element around it was dropped */
    }
    return true;
}

static void keep_last_pairs(struct frame *frame)
{
    struct json_items *items = frame->dst;
    items->count = json_keys_keep_last(items->items, items->count, sizeof(struct json_pair));
}

static bool document_ended(struct json_decoder *decoder, struct err *err)
{
    if (!decoder->done)
        return true;
    bool go_on = decoder->done(decoder->options.user, decoder->dst, err);
    arena_clear(decoder->top_arena);
    return go_on;
}

/* The struct of the object that ended is complete. */
static bool object_ended(struct json_decoder *decoder, struct err *err)
{
    if (decoder->depth == 0)
        return document_ended(decoder, err);
    const struct frame *around = decoder_top(decoder);
    if (around->kind != FRAME_EACH)
        return true;
    return around->field->each(decoder->options.user, around->scratch->element, err);
}

static bool end(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    struct frame *frame = decoder_top(decoder);
    if (frame->kind == FRAME_OBJECT && frame->pending) {
        if (!select_pending(decoder, err))
            return false;
        if (decoder->skip > 0)
            return on_event(decoder, event, err);
        frame = decoder_top(decoder);
    }
    enum frame_kind kind = frame->kind;
    if (kind == FRAME_MAP)
        keep_last_pairs(frame);
    if (kind == FRAME_EACH) {
        arena_clear(&frame->scratch->arena);
        decoder->arena = frame->outer;
    }
    decoder->depth--;
    return kind != FRAME_OBJECT || object_ended(decoder, err);
}

/* --- the sink --- */

static bool begin_document(struct json_decoder *decoder, const struct json_event *event, struct err *err)
{
    memset(decoder->dst, 0, decoder->table->size);
    if (event->type == JSON_EV_NULL)
        return document_ended(decoder, err);
    if (event->type != JSON_EV_OBJECT_START) {
        json_decoder_expected(decoder, "an object", event);
        return err_set(err, ERR_INVALID, "%s", decoder->why.text);
    }
    json_decoder_begin_object(decoder, decoder->table, decoder->dst);
    return true;
}

static bool on_event(void *self, const struct json_event *event, struct err *err)
{
    struct json_decoder *decoder = self;
    if (decoder->skip > 0) {
        decoder->skip += is_start(event);
        decoder->skip -= is_end(event);
        return true;
    }
    if (decoder->builder)
        return json_decoder_capture(decoder, event, err);
    if (decoder->depth == 0)
        return begin_document(decoder, event, err);
    if (event->type == JSON_EV_KEY) {
        take_key(decoder, event->text);
        return true;
    }
    return is_end(event) ? end(decoder, event, err) : value(decoder, event, err);
}

struct json_sink json_decoder_sink(struct json_decoder *decoder)
{
    return (struct json_sink){ .event = on_event, .self = decoder };
}

/* --- the decoder --- */

struct json_decoder *json_decoder_new(struct arena *arena, const struct json_table *table, void *dst,
                                      const struct json_decode_options *options, json_each_fn done)
{
    struct json_decoder *decoder = mem_zalloc(sizeof *decoder);
    decoder->top_arena = decoder->arena = arena;
    decoder->table = table;
    decoder->dst = dst;
    decoder->done = done;
    if (options)
        decoder->options = *options;
    decoder->path = STRBUF_INIT(PATH_BYTES);
    return decoder;
}

void json_decoder_free(struct json_decoder *decoder)
{
    if (!decoder)
        return;
    for (struct scratch *scratch = decoder->scratch, *deeper; scratch; scratch = deeper) {
        deeper = scratch->deeper;
        arena_done(&scratch->arena);
        free(scratch->element);
        free(scratch);
    }
    strbuf_done(&decoder->path);
    free(decoder->frames);
    free(decoder);
}

bool json_decode(struct arena *arena, struct str text, const struct json_table *table, void *dst,
                 const struct json_decode_options *options, struct err *err)
{
    struct json_decoder *decoder = json_decoder_new(arena, table, dst, options, NULL);
    bool ok = json_parse_events(text, options ? &options->limits : NULL, json_decoder_sink(decoder), err);
    json_decoder_free(decoder);
    return ok;
}

bool json_decode_tree(struct arena *arena, const struct json *tree, const struct json_table *table, void *dst,
                      const struct json_decode_options *options, struct err *err)
{
    struct json_decoder *decoder = json_decoder_new(arena, table, dst, options, NULL);
    bool ok = json_walk(tree, json_decoder_sink(decoder), err);
    json_decoder_free(decoder);
    return ok;
}
