/* Table decoding: every type of field, streamed arrays, selected values. Text and tree
 * give the same; what is reported has a path; nothing decoded lies outside its arena. */
#include "json/decode.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

struct part {
    struct str name;
    int64_t number;
    struct part *inner;
    struct json_items parts;
};

struct thing {
    struct str type;
    struct str text;
    bool flag;
    int64_t number;
    struct opt_i64 maybe_number;
    struct opt_bool maybe_flag;
    size_t scalar_bytes;
    struct part part;
    struct part *part_ptr;
    struct json_items parts;
    struct json_items texts;
    struct json_items map;
    const struct json *tree;
    struct part *selected;
};

/* A digest of what was decoded and reported, in order. */
struct seen {
    struct strbuf out;
};

static void see(struct seen *seen, struct str text)
{
    strbuf_addf(&seen->out, "%zu:", text.len);
    strbuf_add(&seen->out, text); /* reads every byte */
}

static const struct json_field part_fields[4];
static const struct json_table part_table = JSON_TABLE(struct part, part_fields);

static void see_part(struct seen *seen, const struct part *part)
{
    see(seen, part->name);
    strbuf_addf(&seen->out, "%lld;", (long long)part->number);
    if (part->inner)
        see_part(seen, part->inner);
    const struct part *parts = part->parts.items;
    for (size_t i = 0; i < part->parts.count; i++)
        see_part(seen, &parts[i]);
}

static const struct json_field part_fields[4] = {
    JSON_REQUIRED_STR(struct part, name, "name"),
    JSON_FIELD_I64(struct part, number, "number"),
    JSON_FIELD_OBJECT_PTR(struct part, inner, "inner", &part_table),
    JSON_FIELD_ARRAY(struct part, parts, "parts", &part_table),
};

static bool take_scalar(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    (void)arena;
    check(event->type == JSON_EV_BOOL || event->type == JSON_EV_NUMBER || event->type == JSON_EV_STRING);
    *(size_t *)dst = event->text.len;
    return event->text.len != 3 || err_set(err, ERR_INVALID, "three bytes");
}

static bool on_part(void *user, const void *element, struct err *err)
{
    struct seen *seen = user;
    see_part(seen, element);
    return seen->out.len < 1u << 20 || err_set(err, ERR_TRANSIENT, "enough");
}

static void select_part(void *user, void *parent, struct arena *arena, const struct json_table **table,
                        void **dst)
{
    (void)user;
    struct thing *thing = parent;
    if (!str_eq(thing->type, STR("part")))
        return;
    thing->selected = arena_new(arena, struct part);
    *table = &part_table;
    *dst = thing->selected;
}

static void see_thing(struct seen *seen, const struct thing *thing);

static bool on_thing(void *user, const void *element, struct err *err)
{
    (void)err;
    see_thing(user, element);
    return true;
}

static const struct json_field thing_fields[15];
static const struct json_table thing_table = JSON_TABLE(struct thing, thing_fields);

static const struct json_field thing_fields[15] = {
    JSON_FIELD_STR(struct thing, type, "type"),
    JSON_FIELD_STR(struct thing, text, "text"),
    JSON_FIELD_BOOL(struct thing, flag, "flag"),
    JSON_FIELD_I64(struct thing, number, "number"),
    JSON_FIELD_OPT_I64(struct thing, maybe_number, "maybeNumber"),
    JSON_FIELD_OPT_BOOL(struct thing, maybe_flag, "maybeFlag"),
    JSON_FIELD_SCALAR(struct thing, scalar_bytes, "scalar", take_scalar),
    JSON_FIELD_OBJECT(struct thing, part, "part", &part_table),
    JSON_FIELD_OBJECT_PTR(struct thing, part_ptr, "partPtr", &part_table),
    JSON_FIELD_ARRAY(struct thing, parts, "parts", &part_table),
    JSON_FIELD_STR_ARRAY(struct thing, texts, "texts"),
    JSON_FIELD_STR_MAP(struct thing, map, "map"),
    JSON_FIELD_TREE(struct thing, tree, "tree"),
    JSON_FIELD_EACH("each", &part_table, on_part),
    JSON_FIELD_SELECT("object", select_part),
};

/* Things in things: streams inside streams, selected values inside streamed elements. */
struct outer {
    struct thing thing;
};
static const struct json_field outer_fields[] = {
    JSON_FIELD_OBJECT(struct outer, thing, "thing", &thing_table),
    JSON_FIELD_EACH("things", &thing_table, on_thing),
};
static const struct json_table outer_table = JSON_TABLE(struct outer, outer_fields);

static void see_thing(struct seen *seen, const struct thing *thing)
{
    see(seen, thing->type);
    see(seen, thing->text);
    strbuf_addf(&seen->out, "%d,%lld,%d,%lld,%d,%d,%zu;", thing->flag, (long long)thing->number,
                thing->maybe_number.set, (long long)thing->maybe_number.value, thing->maybe_flag.set,
                thing->maybe_flag.value, thing->scalar_bytes);
    see_part(seen, &thing->part);
    if (thing->part_ptr)
        see_part(seen, thing->part_ptr);
    if (thing->selected)
        see_part(seen, thing->selected);
    const struct part *parts = thing->parts.items;
    for (size_t i = 0; i < thing->parts.count; i++)
        see_part(seen, &parts[i]);
    const struct str *texts = thing->texts.items;
    for (size_t i = 0; i < thing->texts.count; i++)
        see(seen, texts[i]);
    const struct json_pair *pairs = thing->map.items;
    for (size_t i = 0; i < thing->map.count; i++) {
        see(seen, pairs[i].key);
        see(seen, pairs[i].value);
    }
    if (thing->tree)
        json_write(&seen->out, thing->tree);
}

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    check(message[0] != '\0');
    struct seen *seen = self;
    see(seen, path);
    see(seen, value);
    see(seen, str_c(message));
}

static struct json_decode_options options_for(struct seen *seen)
{
    return (struct json_decode_options){ .report = { .mismatch = on_mismatch, .self = seen }, .user = seen };
}

static bool on_document(void *user, const void *element, struct err *err)
{
    (void)err;
    see_thing(user, &((const struct outer *)element)->thing);
    return true;
}

static void decode_text(struct str text, struct seen *seen, bool *ok)
{
    struct arena arena = ARENA_INIT;
    struct json_decode_options options = options_for(seen);
    struct outer outer;
    *ok = json_decode(&arena, text, &outer_table, &outer, &options, NULL);
    if (*ok)
        see_thing(seen, &outer.thing);
    arena_done(&arena);
}

static void decode_tree(struct str text, struct seen *seen, bool *ok)
{
    struct arena arena = ARENA_INIT;
    struct json_decode_options options = options_for(seen);
    struct outer outer;
    const struct json *tree = NULL;
    *ok = json_parse(&arena, text, NULL, &tree, NULL) &&
          json_decode_tree(&arena, tree, &outer_table, &outer, &options, NULL);
    if (*ok)
        see_thing(seen, &outer.thing);
    arena_done(&arena);
}

static void decode_stream(struct str text, size_t chunk, struct seen *seen, bool *ok)
{
    struct arena arena = ARENA_INIT;
    struct json_decode_options options = options_for(seen);
    struct outer outer;
    struct json_decoder *decoder = json_decoder_new(&arena, &outer_table, &outer, &options, on_document);
    struct json_parser *parser = json_parser_new(NULL, true, json_decoder_sink(decoder));
    *ok = true;
    for (size_t at = 0; *ok && at < text.len; at += chunk)
        *ok = json_parser_feed(parser, str_slice(text, at, chunk), NULL);
    *ok = *ok && json_parser_finish(parser, NULL);
    json_parser_free(parser);
    json_decoder_free(decoder);
    arena_done(&arena);
}

/* The first byte says where to cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct str text = { (const char *)data + 1, size - 1 };
    struct seen by_text = { STRBUF_INIT(8u << 20) }, by_stream = by_text, by_tree = by_text;
    bool text_ok, stream_ok, tree_ok;
    decode_text(text, &by_text, &text_ok);
    decode_stream(text, (size_t)data[0] % 64 + 1, &by_stream, &stream_ok);
    decode_tree(text, &by_tree, &tree_ok);
    /* One document: the stream must agree. The tree has lost duplicate keys, which for
     * streamed arrays and reports makes a difference, so only success is compared. */
    if (text_ok) {
        check(stream_ok);
        check(str_eq(strbuf_str(&by_text.out), strbuf_str(&by_stream.out)));
        check(tree_ok);
    }
    strbuf_done(&by_text.out);
    strbuf_done(&by_stream.out);
    strbuf_done(&by_tree.out);
    return 0;
}
