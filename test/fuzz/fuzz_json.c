/* JSON text: a tree written and read again is the same tree, and a stream gives the
 * same events however it is cut. */
#include "json/json.h"
#include <stdlib.h>

#define OUT_BYTES ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* --- trees --- */

static void round_trip(struct arena *arena, const struct json *root,
                       void (*write)(struct strbuf *, const struct json *))
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(OUT_BYTES);
    const struct json *again = NULL;
    write(&out, root);
    check(!out.overflow && str_is_utf8(strbuf_str(&out)));
    /* Short escapes grow when written out, so the size limit is not the default. */
    const struct json_limits limits = { .max_value_bytes = SIZE_MAX };
    check(json_parse(arena, strbuf_str(&out), &limits, &again, NULL));
    check(json_equal(root, again) && json_equal(again, root));
}

static void tree(struct str text)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    if (json_parse(&arena, text, NULL, &root, &err)) {
        round_trip(&arena, root, json_write);
        round_trip(&arena, root, json_write_pretty);
        check(json_equal(root, json_merge_patch(&arena, NULL, root)) || json_is(root, JSON_OBJECT));
    } else {
        check(err.kind == ERR_INVALID && err.text[0] != '\0');
    }
    arena_done(&arena);
}

/* --- streams --- */

/* Everything a sink hears, as bytes. */
struct trace {
    struct strbuf out;
    size_t depth;
};

static bool trace_event(void *self, const struct json_event *event, struct err *err)
{
    (void)err;
    struct trace *trace = self;
    bool start = event->type == JSON_EV_OBJECT_START || event->type == JSON_EV_ARRAY_START;
    bool end = event->type == JSON_EV_OBJECT_END || event->type == JSON_EV_ARRAY_END;
    check(!end || trace->depth > 0);
    trace->depth = trace->depth + start - end;
    strbuf_addf(&trace->out, "%d%d%zu:", (int)event->type, event->boolean, event->text.len);
    strbuf_add(&trace->out, event->text);
    check(str_is_utf8(event->text));
    check(event->type != JSON_EV_KEY || event->text.len == 0 || !memchr(event->text.ptr, 0, event->text.len));
    return true;
}

/* Cuts of `chunk` bytes, the last one shorter; 0 feeds all at once. */
static bool feed(struct str text, size_t chunk, const struct json_limits *limits, struct trace *trace)
{
    struct json_sink sink = { .event = trace_event, .self = trace };
    struct json_parser *parser = json_parser_new(limits, true, sink);
    bool ok = true;
    for (size_t at = 0; ok && at < text.len;) {
        struct str piece = str_slice(text, at, chunk ? chunk : text.len);
        /* A copy of its own, so that the sanitizer sees one byte too far. */
        char *copy = mem_alloc(piece.len);
        memcpy(copy, piece.ptr, piece.len);
        ok = json_parser_feed(parser, (struct str){ copy, piece.len }, NULL);
        free(copy);
        at += piece.len;
        if (ok && trace->depth > 0)
            check(!json_parser_idle(parser));
    }
    ok = ok && json_parser_finish(parser, NULL);
    if (ok)
        check(json_parser_idle(parser) && trace->depth == 0);
    json_parser_free(parser);
    return ok;
}

static void stream(struct str text, size_t chunk, const struct json_limits *limits)
{
    struct trace whole = { .out = STRBUF_INIT(OUT_BYTES) }, cut = whole;
    bool whole_ok = feed(text, 0, limits, &whole);
    bool cut_ok = feed(text, chunk, limits, &cut);
    check(whole_ok == cut_ok);
    /* What was heard before an error may differ: yajl reads ahead inside a chunk. */
    if (whole_ok)
        check(str_eq(strbuf_str(&whole.out), strbuf_str(&cut.out)));
    strbuf_done(&whole.out);
    strbuf_done(&cut.out);
}

/* The first byte says where to cut, the second how large a value may be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct str text = { (const char *)data + 2, size - 2 };
    const struct json_limits small = { .max_depth = 20, .max_value_bytes = data[1] };
    tree(text);
    stream(text, (size_t)data[0] % 64 + 1, NULL);
    stream(text, (size_t)data[0] % 64 + 1, &small);
    return 0;
}
