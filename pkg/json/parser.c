#include "json/parser.h"
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#define DEFAULT_MAX_DEPTH 1000
#define DEFAULT_MAX_VALUE_BYTES (16u * 1024 * 1024)
#define MAX_PIECE (32u * 1024)

struct json_parser {
    yajl_handle yajl;
    struct json_sink sink;
    struct json_limits limits;
    bool multiple_values;

    struct str piece; /* what yajl is reading now */
    bool piece_is_ascii;
    size_t fed;           /* bytes in all earlier pieces, for messages */
    ptrdiff_t value_from; /* where the current value began, relative to `piece`; negative: earlier */
    size_t value_bytes;   /* of the value left open by earlier pieces; 0: none is open */
    size_t depth;
    size_t values; /* complete top-level values */
    bool failed;
    bool finishing;
    struct err *err; /* of the running feed or finish */
    char *replaced;  /* a string whose surrogates were replaced */
    size_t replaced_cap;
};

/* What yajl takes for white space. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t skip_blanks(struct str text, size_t from)
{
    while (from < text.len && is_blank(text.ptr[from]))
        from++;
    return from;
}

/* How many bytes have been read, the offending one included. */
static size_t position(const struct json_parser *parser)
{
    return parser->fed + (parser->finishing ? 0 : yajl_get_bytes_consumed(parser->yajl));
}

static bool fail(struct json_parser *parser, const char *what)
{
    return err_set(parser->err, ERR_INVALID, "byte %zu: %s", position(parser), what);
}

static bool fail_too_large(struct json_parser *parser)
{
    return err_set(parser->err, ERR_INVALID, "JSON value larger than %zu bytes",
                   parser->limits.max_value_bytes);
}

/* --- text --- */

static bool is_ascii(struct str text)
{
    uint64_t seen = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= text.len; i += sizeof word) {
        memcpy(&word, text.ptr + i, sizeof word);
        seen |= word;
    }
    for (; i < text.len; i++)
        seen |= (unsigned char)text.ptr[i];
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

/* A string without escapes is handed out where it lies in the input, unless a cut went
 * through it. */
static bool is_verbatim(const struct json_parser *parser, struct str text)
{
    return text.ptr >= parser->piece.ptr && text.ptr < parser->piece.ptr + parser->piece.len;
}

/* yajl decodes a lone low surrogate escape to the three bytes of an encoded surrogate,
 * which are not UTF-8. Go reads such an escape as U+FFFD, three bytes as well. */
static struct str replace_surrogates(struct json_parser *parser, struct str text)
{
    if (parser->replaced_cap < text.len) {
        parser->replaced_cap = text.len;
        parser->replaced = mem_realloc(parser->replaced, text.len);
    }
    char *out = parser->replaced;
    memcpy(out, text.ptr, text.len);
    for (size_t i = 0; i + 3 <= text.len; i++) {
        if ((unsigned char)out[i] == 0xED && (unsigned char)out[i + 1] >= 0xA0)
            memcpy(out + i, "\xEF\xBF\xBD", 3);
    }
    return (struct str){ out, text.len };
}

/* yajl's own check lets overlong forms and code points above U+10FFFF pass. */
static bool check_text(struct json_parser *parser, struct str *text)
{
    if ((parser->piece_is_ascii && is_verbatim(parser, *text)) || is_ascii(*text) || str_is_utf8(*text))
        return true;
    *text = replace_surrogates(parser, *text);
    return str_is_utf8(*text) || fail(parser, "invalid UTF-8 in a string");
}

/* Only an escape can make one: yajl refuses the raw byte. */
static bool has_nul(const struct json_parser *parser, struct str text)
{
    return !is_verbatim(parser, text) && text.len > 0 && memchr(text.ptr, 0, text.len) != NULL;
}

/* --- values --- */

static bool value_ended(struct json_parser *parser)
{
    size_t end = yajl_get_bytes_consumed(parser->yajl);
    if ((size_t)((ptrdiff_t)end - parser->value_from) > parser->limits.max_value_bytes)
        return fail_too_large(parser);
    parser->values++;
    size_t next = skip_blanks(parser->piece, end);
    if (!parser->multiple_values && next < parser->piece.len)
        return fail(parser, "text after the JSON document");
    parser->value_from = (ptrdiff_t)next;
    return true;
}

static bool emit(struct json_parser *parser, const struct json_event *event)
{
    return parser->sink.event(parser->sink.self, event, parser->err);
}

static bool scalar(struct json_parser *parser, const struct json_event *event)
{
    return emit(parser, event) && (parser->depth > 0 || value_ended(parser));
}

static bool start(struct json_parser *parser, enum json_event_type type)
{
    if (parser->depth == parser->limits.max_depth)
        return fail(parser, "JSON nested too deeply");
    parser->depth++;
    return emit(parser, &(struct json_event){ .type = type });
}

static bool end(struct json_parser *parser, enum json_event_type type)
{
    parser->depth--;
    return scalar(parser, &(struct json_event){ .type = type });
}

/* --- yajl's callbacks --- */

static int on_null(void *self)
{
    return scalar(self, &(struct json_event){ .type = JSON_EV_NULL });
}

static int on_boolean(void *self, int boolean)
{
    return scalar(self, &(struct json_event){ .type = JSON_EV_BOOL, .boolean = boolean != 0 });
}

static int on_number(void *self, const char *text, size_t len)
{
    return scalar(self, &(struct json_event){ .type = JSON_EV_NUMBER, .text = { text, len } });
}

static int on_string(void *self, const unsigned char *text, size_t len)
{
    struct json_event event = { .type = JSON_EV_STRING, .text = { (const char *)text, len } };
    return check_text(self, &event.text) && scalar(self, &event);
}

static int on_key(void *self, const unsigned char *text, size_t len)
{
    struct json_event event = { .type = JSON_EV_KEY, .text = { (const char *)text, len } };
    if (has_nul(self, event.text))
        return fail(self, "NUL in an object key");
    return check_text(self, &event.text) && emit(self, &event);
}

static int on_object_start(void *self)
{
    return start(self, JSON_EV_OBJECT_START);
}

static int on_object_end(void *self)
{
    return end(self, JSON_EV_OBJECT_END);
}

static int on_array_start(void *self)
{
    return start(self, JSON_EV_ARRAY_START);
}

static int on_array_end(void *self)
{
    return end(self, JSON_EV_ARRAY_END);
}

/* With `yajl_number` set, yajl converts nothing: its own conversion refuses numbers
 * beyond int64 and double. */
static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object_start,
    .yajl_map_key = on_key,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array_start,
    .yajl_end_array = on_array_end,
};

/* --- memory: yajl does not check for NULL --- */

static void *yajl_malloc(void *self, size_t size)
{
    (void)self;
    return mem_alloc(size);
}

static void *yajl_realloc(void *self, void *ptr, size_t size)
{
    (void)self;
    return mem_realloc(ptr, size);
}

static void yajl_release(void *self, void *ptr)
{
    (void)self;
    free(ptr);
}

/* --- the parser --- */

struct json_parser *json_parser_new(const struct json_limits *limits, bool multiple_values,
                                    struct json_sink sink)
{
    struct json_parser *parser = mem_zalloc(sizeof *parser);
    if (limits)
        parser->limits = *limits;
    if (parser->limits.max_depth == 0)
        parser->limits.max_depth = DEFAULT_MAX_DEPTH;
    if (parser->limits.max_value_bytes == 0)
        parser->limits.max_value_bytes = DEFAULT_MAX_VALUE_BYTES;
    parser->multiple_values = multiple_values;
    parser->sink = sink;

    yajl_alloc_funcs memory = { yajl_malloc, yajl_realloc, yajl_release, NULL };
    parser->yajl = yajl_alloc(&callbacks, &memory, parser);
    if (multiple_values)
        yajl_config(parser->yajl, yajl_allow_multiple_values, 1);
    return parser;
}

void json_parser_free(struct json_parser *parser)
{
    if (!parser)
        return;
    yajl_free(parser->yajl);
    free(parser->replaced);
    free(parser);
}

bool json_parser_idle(const struct json_parser *parser)
{
    return parser->value_bytes == 0;
}

/* yajl's text, without its "parse error: " and its trailing newline, on one line. */
static bool fail_syntax(struct json_parser *parser)
{
    unsigned char *owned = yajl_get_error(parser->yajl, 0, NULL, 0);
    struct str text = str_trim(str_c((const char *)owned));
    struct str before, after;
    if (str_cut(text, ':', &before, &after))
        text = str_trim(after);
    if (str_ends_with(text, STR(".")))
        text.len--;
    err_set(parser->err, ERR_INVALID, "byte %zu: malformed JSON: " STR_FMT, position(parser), STR_ARG(text));
    yajl_free_error(parser->yajl, owned);
    return false;
}

/* A cancelled parse means that a callback has set the error. */
static bool check_status(struct json_parser *parser, yajl_status status)
{
    if (status == yajl_status_error)
        return fail_syntax(parser);
    return status == yajl_status_ok;
}

static bool feed_piece(struct json_parser *parser, struct str piece)
{
    parser->piece = piece;
    parser->piece_is_ascii = is_ascii(piece);
    if (parser->value_bytes > 0)
        parser->value_from = -(ptrdiff_t)parser->value_bytes;
    else
        parser->value_from = (ptrdiff_t)skip_blanks(piece, 0);
    if (!parser->multiple_values && parser->values > 0 && parser->value_from < (ptrdiff_t)piece.len)
        return fail(parser, "text after the JSON document");

    if (!check_status(parser, yajl_parse(parser->yajl, (const unsigned char *)piece.ptr, piece.len)))
        return false;
    parser->fed += piece.len;
    parser->value_bytes = (size_t)((ptrdiff_t)piece.len - parser->value_from);
    return parser->value_bytes <= parser->limits.max_value_bytes || fail_too_large(parser);
}

/* Large inputs go in pieces: yajl should not collect more of an oversized string than the
 * limit, and most pieces are ASCII, which settles the question for all their strings. */
static size_t piece_size(const struct json_parser *parser, size_t available)
{
    size_t room = parser->limits.max_value_bytes - parser->value_bytes;
    if (room == 0)
        room = 1;
    if (room > MAX_PIECE)
        room = MAX_PIECE;
    return available < room ? available : room;
}

static bool guard(struct json_parser *parser, struct err *err)
{
    if (parser->failed)
        return err_set(err, ERR_INVALID, "the JSON parser has failed before");
    parser->err = err;
    parser->failed = true; /* until the call succeeds */
    return true;
}

bool json_parser_feed(struct json_parser *parser, struct str chunk, struct err *err)
{
    if (!guard(parser, err))
        return false;
    while (chunk.len > 0) {
        struct str piece = { chunk.ptr, piece_size(parser, chunk.len) };
        if (!feed_piece(parser, piece))
            return false;
        chunk = str_slice(chunk, piece.len, chunk.len - piece.len);
    }
    parser->failed = false;
    return true;
}

bool json_parser_finish(struct json_parser *parser, struct err *err)
{
    if (!guard(parser, err))
        return false;
    if (parser->value_bytes == 0 && (parser->values > 0 || parser->multiple_values)) {
        parser->failed = false;
        return true;
    }
    /* yajl ends a number by reading one blank; a string left open it would let pass
     * between values, so what counts is whether the value really ended. */
    size_t before = parser->values;
    parser->finishing = true;
    parser->piece = STR(" ");
    parser->value_from = -(ptrdiff_t)parser->value_bytes;
    if (!check_status(parser, yajl_complete_parse(parser->yajl)))
        return false;
    if (parser->values == before)
        return fail(parser, "malformed JSON: cut short");
    parser->value_bytes = 0;
    parser->failed = false;
    return true;
}

bool json_parse_events(struct str text, const struct json_limits *limits, struct json_sink sink,
                       struct err *err)
{
    struct json_parser *parser = json_parser_new(limits, false, sink);
    bool ok = json_parser_feed(parser, text, err) && json_parser_finish(parser, err);
    json_parser_free(parser);
    return ok;
}
