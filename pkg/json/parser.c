#include "json/parser.h"
#include "base/strbuf.h"
#include "json/text.h"
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#define DEFAULT_MAX_DEPTH 1000
#define DEFAULT_MAX_VALUE_BYTES (16u * 1024 * 1024)
#define MAX_PIECE (32u * 1024)
#define MAX_NUMBER_BYTES 4096
#define KEPT_BYTES (64u * 1024)

struct json_parser {
    yajl_handle yajl;
    struct json_sink sink;
    struct json_limits limits;
    bool multiple_values;

    struct str piece; /* what yajl is reading now */
    bool piece_is_ascii;
    size_t text_end;      /* behind the last string or number that was complete in `piece` */
    size_t fed;           /* bytes in all earlier pieces, for messages */
    ptrdiff_t value_from; /* where the current value began, relative to `piece`; negative: earlier */
    size_t value_bytes;   /* of the value left open by earlier pieces; 0: none is open */
    size_t depth;
    size_t values; /* complete top-level values */
    bool failed;
    bool reading; /* yajl is at work on `piece` */

    bool in_string;      /* the input was cut inside a string */
    bool escaped;        /* and the byte before was a backslash */
    size_t string_bytes; /* of that string, in the piece that was cut */
    size_t number_bytes; /* of a number that was cut */
    struct strbuf held;  /* what came since, not yet seen by yajl */

    struct err *err;        /* of the running feed or finish */
    struct strbuf replaced; /* a string whose surrogates were replaced */
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
    return parser->fed + (parser->reading ? yajl_get_bytes_consumed(parser->yajl) : parser->held.len);
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

/* A string without escapes is handed out where it lies in the input, unless a cut went
 * through it. */
static bool is_verbatim(const struct json_parser *parser, struct str text)
{
    return text.ptr >= parser->piece.ptr && text.ptr < parser->piece.ptr + parser->piece.len;
}

/* yajl's own check lets overlong forms and code points above U+10FFFF pass. */
static bool check_text(struct json_parser *parser, struct str *text)
{
    if ((parser->piece_is_ascii && is_verbatim(parser, *text)) || json_text_is_ascii(*text) ||
        str_is_utf8(*text))
        return true;
    *text = json_text_replace_surrogates(*text, &parser->replaced);
    return str_is_utf8(*text) || fail(parser, "invalid UTF-8 in a string");
}

/* Only an escape can make one: yajl refuses the raw byte. */
static bool has_nul(const struct json_parser *parser, struct str text)
{
    return !is_verbatim(parser, text) && text.len > 0 && memchr(text.ptr, 0, text.len) != NULL;
}

/* --- values --- */

/* The text tells where it ends unless it was decoded or cut; then yajl knows. */
static void mark_text_end(struct json_parser *parser, struct str text, size_t quote)
{
    if (is_verbatim(parser, text))
        parser->text_end = (size_t)(text.ptr - parser->piece.ptr) + text.len + quote;
    else
        parser->text_end = yajl_get_bytes_consumed(parser->yajl);
}

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
    struct json_parser *parser = self;
    struct json_event event = { .type = JSON_EV_NUMBER, .text = { text, len } };
    if (len > MAX_NUMBER_BYTES)
        return fail(parser, "number too long");
    mark_text_end(parser, event.text, 0);
    parser->number_bytes = 0;
    return scalar(parser, &event);
}

static int on_string(void *self, const unsigned char *text, size_t len)
{
    struct json_event event = { .type = JSON_EV_STRING, .text = { (const char *)text, len } };
    mark_text_end(self, event.text, 1);
    return check_text(self, &event.text) && scalar(self, &event);
}

static int on_key(void *self, const unsigned char *text, size_t len)
{
    struct json_event event = { .type = JSON_EV_KEY, .text = { (const char *)text, len } };
    mark_text_end(self, event.text, 1);
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
    parser->held = parser->replaced = STRBUF_INIT(SIZE_MAX);

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
    strbuf_done(&parser->replaced);
    strbuf_done(&parser->held);
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

static size_t count_number_bytes_at_end(struct str text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[text.len - n - 1] != '\0' &&
           strchr("0123456789+-.eE", text.ptr[text.len - n - 1]))
        n++;
    return n;
}

/* yajl begins an unfinished token anew with each piece, which for a long one in many
 * pieces takes the square of its length. So when the input is cut inside a string, what
 * follows is held back until the string ends, and numbers may not be long.
 *
 * Behind the last complete string, the first quote begins an unfinished one. */
static bool note_cut(struct json_parser *parser)
{
    struct str rest = str_slice(parser->piece, parser->text_end, parser->piece.len);
    ptrdiff_t quote = str_find_byte(rest, '"');
    parser->in_string = quote >= 0;
    if (parser->in_string) {
        bool closed;
        rest = str_slice(rest, (size_t)quote + 1, rest.len);
        parser->escaped = false;
        parser->string_bytes = json_text_string_end(rest, &parser->escaped, &closed);
        parser->number_bytes = 0;
        return true;
    }
    size_t number = count_number_bytes_at_end(rest);
    parser->number_bytes = number + (number == parser->piece.len ? parser->number_bytes : 0);
    return parser->number_bytes <= MAX_NUMBER_BYTES || fail(parser, "number too long");
}

static bool feed_piece(struct json_parser *parser, struct str piece)
{
    parser->piece = piece;
    parser->piece_is_ascii = json_text_is_ascii(piece);
    parser->text_end = 0;
    if (parser->value_bytes > 0)
        parser->value_from = -(ptrdiff_t)parser->value_bytes;
    else
        parser->value_from = (ptrdiff_t)skip_blanks(piece, 0);
    if (!parser->multiple_values && parser->values > 0 && parser->value_from < (ptrdiff_t)piece.len)
        return fail(parser, "text after the JSON document");

    parser->reading = true;
    if (!check_status(parser, yajl_parse(parser->yajl, (const unsigned char *)piece.ptr, piece.len)))
        return false;
    parser->reading = false;
    parser->fed += piece.len;
    parser->value_bytes = (size_t)((ptrdiff_t)piece.len - parser->value_from);
    return (parser->value_bytes <= parser->limits.max_value_bytes || fail_too_large(parser)) &&
           note_cut(parser);
}

/* Large inputs go in pieces: yajl should not collect more of an oversized value than the
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

/* Even where values may be of any size, a string in one must fit into memory. */
static bool check_held(struct json_parser *parser)
{
    size_t limit = parser->limits.max_value_bytes;
    if (limit == SIZE_MAX && parser->string_bytes + parser->held.len > DEFAULT_MAX_VALUE_BYTES + 1)
        return fail(parser, "string too long");
    return parser->value_bytes + parser->held.len <= limit || fail_too_large(parser);
}

/* Takes from `chunk` what belongs to the string that was cut. */
static bool feed_string(struct json_parser *parser, struct str *chunk)
{
    bool closed;
    size_t len = json_text_string_end(*chunk, &parser->escaped, &closed);
    strbuf_add(&parser->held, str_slice(*chunk, 0, len));
    *chunk = str_slice(*chunk, len, chunk->len);
    if (!check_held(parser))
        return false;
    if (!closed)
        return true;
    bool ok = feed_piece(parser, strbuf_str(&parser->held));
    if (parser->held.cap > KEPT_BYTES)
        strbuf_done(&parser->held);
    strbuf_clear(&parser->held);
    return ok;
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
        if (parser->in_string) {
            if (!feed_string(parser, &chunk))
                return false;
            continue;
        }
        struct str piece = { chunk.ptr, piece_size(parser, chunk.len) };
        if (!feed_piece(parser, piece))
            return false;
        chunk = str_slice(chunk, piece.len, chunk.len);
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
    if (parser->in_string)
        return fail(parser, "malformed JSON: premature EOF");
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
