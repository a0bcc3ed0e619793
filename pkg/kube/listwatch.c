#include "kube/listwatch.h"

#include <stdlib.h>

#include "base/arena.h"

/* etcd keeps no object beyond 1.5 MB; this only stops a peer that never ends one. */
#define MAX_ITEM_BYTES (64u * 1024 * 1024)
#define LIST_PIECE_BYTES (64u * 1024)

/* --- list ------------------------------------------------------------------------ */

struct list_envelope {
    struct str kind;
    struct str rv;
    struct str continue_token;
};

static const struct json_field list_meta_fields[] = {
    JSON_REQUIRED_STR(struct list_envelope, rv, "resourceVersion"),
    JSON_REQUIRED_STR(struct list_envelope, continue_token, "continue"),
};

/* The members of a list's metadata land in the envelope itself: at offset 0 and of size 0,
 * so that decoding them touches nothing else. */
static const struct json_table list_meta_table = { .fields = list_meta_fields,
                                                   .count = ARRAY_LEN(list_meta_fields) };

enum { LIST_KIND, LIST_META, LIST_ITEMS, LIST_FIELDS };

struct list_decoder {
    struct list_decoder_options options;
    struct json_field fields[LIST_FIELDS];
    struct json_table table;
    struct arena arena;
    struct list_envelope envelope;
    struct json_decoder *decoder;
    struct json_parser *parser;
    size_t item_bytes; /* read since the last item ended */
};

static void tell_bad(struct list_decoder *decoder, const struct err *err)
{
    decoder->item_bytes = 0;
    if (decoder->options.on_bad)
        decoder->options.on_bad(decoder->options.self, err);
}

static bool on_item(void *user, const void *element, struct err *err)
{
    (void)err;
    struct list_decoder *decoder = user;
    struct err bad = ERR_INIT;
    struct kube_object *object = decoder->options.kind->project(element, decoder->options.pool, NULL, &bad);
    decoder->item_bytes = 0;
    if (object)
        decoder->options.on_object(decoder->options.self, object);
    else
        tell_bad(decoder, &bad);
    return true; /* one bad object must not cost the others */
}

/* "items[7]" or "items[7].metadata.uid": the JSON decoder dropped the whole item. */
static bool is_dropped_item(struct str path)
{
    static const struct str identity[] = {
        STR_INIT(""),
        STR_INIT(".metadata.name"),
        STR_INIT(".metadata.namespace"),
        STR_INIT(".metadata.uid"),
        STR_INIT(".metadata.resourceVersion"),
    };
    struct str index, rest;
    if (!str_starts_with(path, STR("items[")) || !str_cut(path, ']', &index, &rest))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(identity); i++) {
        if (str_eq(rest, identity[i]))
            return true;
    }
    return false;
}

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    (void)value;
    struct err bad = ERR_INIT;
    if (!is_dropped_item(path))
        return;
    err_set(&bad, ERR_INVALID, STR_FMT ": %s", STR_ARG(path), message);
    tell_bad(self, &bad);
}

struct list_decoder *list_decoder_new(const struct list_decoder_options *options)
{
    struct list_decoder *decoder = mem_zalloc(sizeof *decoder);
    decoder->options = *options;
    decoder->fields[LIST_KIND] = (struct json_field)JSON_FIELD_STR(struct list_envelope, kind, "kind");
    decoder->fields[LIST_META] = (struct json_field){
        .name = "metadata", .type = JSON_INTO_OBJECT, .offset = 0, .table = &list_meta_table
    };
    decoder->fields[LIST_ITEMS] = (struct json_field)JSON_FIELD_EACH("items", options->kind->table, on_item);
    decoder->fields[LIST_ITEMS].required = true; /* items that are no array are not "none" */
    decoder->table = (struct json_table){ decoder->fields, LIST_FIELDS, sizeof(struct list_envelope) };
    struct json_decode_options decode = { .limits.max_value_bytes = SIZE_MAX,
                                          .report = { .mismatch = on_mismatch, .self = decoder },
                                          .user = decoder };
    decoder->decoder = json_decoder_new(&decoder->arena, &decoder->table, &decoder->envelope, &decode, NULL);
    decoder->parser = json_parser_new(&decode.limits, false, json_decoder_sink(decoder->decoder));
    return decoder;
}

void list_decoder_free(struct list_decoder *decoder)
{
    if (!decoder)
        return;
    json_parser_free(decoder->parser);
    json_decoder_free(decoder->decoder);
    arena_done(&decoder->arena);
    free(decoder);
}

bool list_decoder_feed(struct list_decoder *decoder, struct str chunk, struct err *err)
{
    while (chunk.len > 0) {
        struct str piece = str_slice(chunk, 0, LIST_PIECE_BYTES);
        decoder->item_bytes += piece.len;
        if (!json_parser_feed(decoder->parser, piece, err))
            return false;
        if (decoder->item_bytes > MAX_ITEM_BYTES)
            return err_set(err, ERR_INVALID, "item larger than %u bytes in list of %s", MAX_ITEM_BYTES,
                           decoder->options.kind->plural);
        chunk = str_slice(chunk, piece.len, chunk.len - piece.len);
    }
    return true;
}

static bool is_list_of(const struct kube_kind *kind, struct str name)
{
    struct str item = str_c(kind->kind);
    return str_starts_with(name, item) && str_eq(str_slice(name, item.len, name.len), STR("List"));
}

bool list_decoder_finish(struct list_decoder *decoder, struct str *ret_rv, struct str *ret_continue,
                         struct err *err)
{
    if (!json_parser_finish(decoder->parser, err))
        return false;
    const struct list_envelope *envelope = &decoder->envelope;
    const struct kube_kind *kind = decoder->options.kind;
    if (!is_list_of(kind, envelope->kind))
        return err_set(err, ERR_TRANSIENT, "expected a %sList, got kind \"" STR_FMT "\"", kind->kind,
                       STR_ARG(envelope->kind));
    if (str_empty(envelope->rv) || str_eq(envelope->rv, STR("0")))
        return err_set(err, ERR_TRANSIENT, "list of %s has no metadata.resourceVersion", kind->plural);
    *ret_rv = envelope->rv;
    *ret_continue = envelope->continue_token;
    return true;
}

/* --- watch ----------------------------------------------------------------------- */

struct watch_envelope {
    struct str type;
    struct api_status status;
    struct str bookmark_rv;
    void *object; /* decoded by the kind's table, starts with its meta; NULL while absent */
};

/* Of a bookmark only this is of use, and nothing else of it can be wrong. */
static const struct json_field bookmark_meta_fields[] = {
    JSON_FIELD_STR(struct watch_envelope, bookmark_rv, "resourceVersion"),
};
static const struct json_table bookmark_meta_table = { .fields = bookmark_meta_fields,
                                                       .count = ARRAY_LEN(bookmark_meta_fields) };
static const struct json_field bookmark_fields[] = {
    { .name = "metadata", .type = JSON_INTO_OBJECT, .offset = 0, .table = &bookmark_meta_table },
};
static const struct json_table bookmark_table = { .fields = bookmark_fields,
                                                  .count = ARRAY_LEN(bookmark_fields) };
static const struct json_table skip_table = { 0 };

struct watch_decoder {
    struct watch_decoder_options options;
    struct json_field fields[2];
    struct json_table table;
    struct arena arena;
    struct watch_envelope envelope;
    struct json_decoder *decoder;
    struct json_parser *parser;
};

static const struct {
    struct str name;
    enum watch_event_type type;
} watch_types[] = {
    { STR_INIT("ADDED"), WATCH_ADDED },     { STR_INIT("MODIFIED"), WATCH_MODIFIED },
    { STR_INIT("DELETED"), WATCH_DELETED }, { STR_INIT("BOOKMARK"), WATCH_BOOKMARK },
    { STR_INIT("ERROR"), WATCH_ERROR },
};

static enum watch_event_type watch_type(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(watch_types); i++) {
        if (str_eq(watch_types[i].name, name))
            return watch_types[i].type;
    }
    return WATCH_UNKNOWN;
}

/* `type` comes first from every server we know; where it does not, the object waits as a
 * tree until the event ends. */
static void select_table(void *user, void *parent, struct arena *arena, const struct json_table **table,
                         void **dst)
{
    struct watch_decoder *decoder = user;
    struct watch_envelope *envelope = parent;
    if (str_empty(envelope->type)) {
        *table = NULL;
        return;
    }
    *dst = envelope; /* the tables of size 0 write into the envelope */
    switch (watch_type(envelope->type)) {
    case WATCH_ERROR:
        *table = &api_status_table;
        *dst = &envelope->status;
        return;
    case WATCH_BOOKMARK:
        *table = &bookmark_table;
        return;
    case WATCH_UNKNOWN:
        *table = &skip_table; /* WAT-6: not interpreted */
        return;
    default:
        *table = decoder->options.kind->table;
        envelope->object = arena_alloc(arena, (*table)->size);
        *dst = envelope->object;
    }
}

static void fill_object(struct watch_decoder *decoder, const struct watch_envelope *envelope,
                        struct watch_event *event)
{
    const struct kube_kind *kind = decoder->options.kind;
    const struct meta *meta = envelope->object;
    if (!meta || str_empty(meta->rv)) {
        err_set(&event->err, ERR_INVALID, "%s event without an object that has a resourceVersion",
                kind->kind);
        event->type = WATCH_BAD;
        return;
    }
    event->rv = meta->rv;
    event->object = kind->project(envelope->object, decoder->options.pool, NULL, &event->err);
    if (!event->object)
        event->type = WATCH_BAD;
}

static bool on_event(void *user, const void *element, struct err *err)
{
    struct watch_decoder *decoder = user;
    const struct watch_envelope *envelope = element;
    struct watch_event event = { .type = watch_type(envelope->type) };
    switch (event.type) {
    case WATCH_ADDED:
    case WATCH_MODIFIED:
    case WATCH_DELETED:
        fill_object(decoder, envelope, &event);
        break;
    case WATCH_BOOKMARK:
        event.rv = envelope->bookmark_rv;
        break;
    case WATCH_ERROR:
        event.status = &envelope->status;
        break;
    default:
        break;
    }
    if (decoder->options.on_event(decoder->options.self, &event))
        return true;
    return err_set(err, ERR_TRANSIENT, "stopped after a %s event", kube_watch_type_name(event.type));
}

const char *kube_watch_type_name(enum watch_event_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(watch_types); i++) {
        if (watch_types[i].type == type)
            return watch_types[i].name.ptr;
    }
    return type == WATCH_BAD ? "BAD" : "UNKNOWN";
}

struct watch_decoder *watch_decoder_new(const struct watch_decoder_options *options)
{
    struct watch_decoder *decoder = mem_zalloc(sizeof *decoder);
    decoder->options = *options;
    decoder->fields[0] = (struct json_field)JSON_FIELD_STR(struct watch_envelope, type, "type");
    decoder->fields[1] = (struct json_field)JSON_FIELD_SELECT("object", select_table);
    decoder->table = (struct json_table)JSON_TABLE(struct watch_envelope, decoder->fields);
    struct json_decode_options decode = { .user = decoder };
    decoder->decoder =
        json_decoder_new(&decoder->arena, &decoder->table, &decoder->envelope, &decode, on_event);
    decoder->parser = json_parser_new(&decode.limits, true, json_decoder_sink(decoder->decoder));
    return decoder;
}

void watch_decoder_free(struct watch_decoder *decoder)
{
    if (!decoder)
        return;
    json_parser_free(decoder->parser);
    json_decoder_free(decoder->decoder);
    arena_done(&decoder->arena);
    free(decoder);
}

bool watch_decoder_feed(struct watch_decoder *decoder, struct str chunk, struct err *err)
{
    return json_parser_feed(decoder->parser, chunk, err);
}

bool watch_decoder_idle(const struct watch_decoder *decoder)
{
    return json_parser_idle(decoder->parser);
}
