#pragma once
/* Bytes to events: a push parser over yajl's SAX interface. Input may be cut at any
 * byte. Refuses nesting deeper than `max_depth`, single values larger than
 * `max_value_bytes`, numbers longer than 4096 bytes, invalid UTF-8, NUL in keys, and text
 * after the document. Tolerates escapes of lone surrogates: a high one arrives as '?', a
 * low one as U+FFFD. NUL inside a string value arrives as it is. Errors are ERR_INVALID,
 * one line, and begin with the number of bytes read, the offending one included; those of
 * the sink pass unchanged. */
#include "json/event.h"

struct json_limits {
    size_t max_depth;       /* 0: 1000 */
    size_t max_value_bytes; /* of one top-level value; 0: 16 MiB. SIZE_MAX: unlimited (streamed lists),
                               except that one string in it may have 16 MiB */
};

struct json_parser;

/* `multiple_values` accepts any concatenation of documents, as in a watch stream; the
 * sink sees them one after another at depth 0. Never NULL. */
struct json_parser *json_parser_new(const struct json_limits *limits, bool multiple_values,
                                    struct json_sink sink);
void json_parser_free(struct json_parser *parser); /* NULL is fine */

/* After an error the parser is dead: free it. */
bool json_parser_feed(struct json_parser *parser, struct str chunk, struct err *err) MUST_CHECK;
/* The end of the input, once: a value cut short is an error; with multiple_values an
 * empty input is not. A number may end here, so the sink may still be called. */
bool json_parser_finish(struct json_parser *parser, struct err *err) MUST_CHECK;
/* True between values: nothing of a next value has been seen. */
bool json_parser_idle(const struct json_parser *parser);

/* One document in memory, from first to last byte. */
bool json_parse_events(struct str text, const struct json_limits *limits, struct json_sink sink,
                       struct err *err) MUST_CHECK;
