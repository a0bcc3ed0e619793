#pragma once
/* The head of an HTTP/1.x request, as a server reads it. Pure and strict: what two
 * readers could understand differently is refused, because a proxy in front may be one
 * of them. */
#include "base/arena.h"
#include "base/str.h"

struct http_head_field {
    struct str name;
    struct str value; /* without surrounding blanks */
};

struct http_head {
    struct str method;
    struct str path;  /* still percent-encoded, without query */
    struct str query; /* without "?" */
    int minor;        /* 0 or 1, of HTTP/1.x */
    struct http_head_field *fields;
    size_t field_count;
    int64_t content_length; /* 0 when there is no body or it is chunked */
    bool chunked;
    bool keep_alive;
    bool expects_continue;
};

/* `text` is everything up to and with the empty line. 0, or the status to refuse with.
 * Strings in *ret point into `text`. */
int http_head_parse(struct arena *arena, struct str text, struct http_head *ret);

/* Value of the first field of that name, any case; empty when absent. */
struct str http_head_field(const struct http_head *head, struct str name);

/* A chunk-size line without its CRLF; extensions are skipped. -1 when malformed. */
int64_t http_chunk_size(struct str line);
