#include "server_internal.h"
#include <stdlib.h>

#define MAX_CHUNK_LINE 1024

static void move_body(struct conn *conn, struct evbuffer *input)
{
    int64_t there = (int64_t)evbuffer_get_length(input);
    size_t count = (size_t)min_i64(there, conn->body_left);
    evbuffer_remove_buffer(input, conn->exchange->body, count);
    conn->body_left -= (int64_t)count;
}

/* One line without its CRLF, as a heap string; NULL when it has not ended yet. */
static char *take_line(struct evbuffer *input, struct str *ret)
{
    size_t len;
    char *line = evbuffer_readln(input, &len, EVBUFFER_EOL_CRLF_STRICT);
    *ret = (struct str){ .ptr = line, .len = line ? len : 0 };
    return line;
}

static enum body_result read_chunk_size(struct conn *conn, struct evbuffer *input)
{
    struct str text;
    char *line = take_line(input, &text);
    if (!line)
        return evbuffer_get_length(input) > MAX_CHUNK_LINE ? BODY_MALFORMED : BODY_MORE;
    int64_t size = text.len > MAX_CHUNK_LINE ? -1 : http_chunk_size(text);
    free(line);
    if (size < 0)
        return BODY_MALFORMED;
    size_t have = evbuffer_get_length(conn->exchange->body);
    if ((uint64_t)size > conn->server->max_body_bytes - have)
        return BODY_TOO_LARGE;
    conn->body_left = size;
    conn->chunk_state = size ? CHUNK_DATA : CHUNK_TRAILER;
    return BODY_COMPLETE;
}

static enum body_result read_chunk_data(struct conn *conn, struct evbuffer *input)
{
    move_body(conn, input);
    if (conn->body_left > 0)
        return BODY_MORE;
    conn->chunk_state = CHUNK_DATA_END;
    return BODY_COMPLETE;
}

static enum body_result read_chunk_data_end(struct conn *conn, struct evbuffer *input)
{
    char end[2];
    if (evbuffer_get_length(input) < sizeof end)
        return BODY_MORE;
    evbuffer_remove(input, end, sizeof end);
    conn->chunk_state = CHUNK_SIZE;
    return end[0] == '\r' && end[1] == '\n' ? BODY_COMPLETE : BODY_MALFORMED;
}

/* Trailers are read and forgotten. */
static enum body_result read_trailer(struct conn *conn, struct evbuffer *input, bool *ret_last)
{
    struct str text;
    char *line = take_line(input, &text);
    size_t pending = line ? text.len + 2 : evbuffer_get_length(input);
    free(line);
    if (conn->trailer_bytes + pending > conn->server->max_header_bytes)
        return BODY_MALFORMED;
    if (!line)
        return BODY_MORE;
    conn->trailer_bytes += pending;
    *ret_last = str_empty(text);
    return BODY_COMPLETE;
}

static enum body_result read_chunked(struct conn *conn, struct evbuffer *input)
{
    bool last = false;
    while (!last) {
        enum body_result step = BODY_MALFORMED;
        switch (conn->chunk_state) {
        case CHUNK_SIZE:
            step = read_chunk_size(conn, input);
            break;
        case CHUNK_DATA:
            step = read_chunk_data(conn, input);
            break;
        case CHUNK_DATA_END:
            step = read_chunk_data_end(conn, input);
            break;
        case CHUNK_TRAILER:
            step = read_trailer(conn, input, &last);
            break;
        }
        if (step != BODY_COMPLETE) /* of this step */
            return step;
    }
    return BODY_COMPLETE;
}

enum body_result conn_read_body(struct conn *conn, struct evbuffer *input)
{
    if (conn->exchange->head.chunked)
        return read_chunked(conn, input);
    move_body(conn, input);
    return conn->body_left > 0 ? BODY_MORE : BODY_COMPLETE;
}
