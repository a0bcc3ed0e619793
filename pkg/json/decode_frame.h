#pragma once
/* The decoder's inside, shared by decode.c (which event belongs to which frame) and
 * decode_into.c (how a value is stored). */
#include "base/strbuf.h"
#include "json/decode.h"

/* One open container of the input that the schema knows. Unknown ones are only counted
 * (`skip`), and trees are the builder's. */
enum frame_kind {
    FRAME_OBJECT, /* a struct */
    FRAME_ITEMS,  /* array of structs */
    FRAME_STRS,   /* array of strings */
    FRAME_MAP,    /* string map */
    FRAME_EACH,   /* streamed array */
};

/* Memory of streamed elements: one per level of streamed arrays inside streamed
 * elements, reused from element to element. */
struct scratch {
    struct arena arena;
    void *element;
    size_t element_size;
    struct scratch *deeper;
};

/* A JSON_INTO_SELECT value that came before its table was known. */
struct pending {
    const struct json_field *field;
    const struct json *tree;
    const struct json_table *table; /* once known */
    void *dst;
    struct pending *next;
};

struct frame {
    enum frame_kind kind;
    const struct json_table *table; /* OBJECT: its own; ITEMS, EACH: the elements' */
    void *dst;                      /* OBJECT: the struct; ITEMS, STRS, MAP: struct json_items */
    const struct json_field *field; /* OBJECT: of the last key, NULL if unknown; EACH: whose `each` hears */
    size_t index;                   /* OBJECT: the row to look at first; arrays: elements seen */
    size_t capacity;                /* ITEMS, STRS, MAP: entries there is room for */
    struct str key;                 /* MAP: of the value that comes next */
    struct arena *outer;            /* EACH: the arena around it */
    struct scratch *scratch;        /* EACH */
    struct pending *pending;        /* OBJECT */
};

struct json_decoder {
    struct arena *top_arena;
    const struct json_table *table;
    void *dst;
    struct json_decode_options options;
    json_each_fn done;

    struct arena *arena;     /* where values land now: the caller's, or an element's */
    struct scratch *scratch; /* of the outermost streamed array; deeper ones hang on it */
    struct frame *frames;
    size_t depth, frames_cap;
    size_t skip; /* open containers of a value being skipped */

    struct json_builder *builder; /* a tree is being captured */
    const struct json **tree;     /* goes here */

    struct err why;     /* the last mismatch */
    struct strbuf path; /* scratch for reports */
};

static inline struct frame *decoder_top(struct json_decoder *decoder)
{
    return &decoder->frames[decoder->depth - 1];
}

/* Valid until the next push. */
struct frame *json_decoder_push(struct json_decoder *decoder, enum frame_kind kind);

/* Takes the value that `event` is or begins into `dst`, which the field describes.
 * False with decoder->why: unexpected value, nothing was begun. */
bool json_decoder_into(struct json_decoder *decoder, const struct json_field *field, void *dst,
                       const struct json_event *event);
/* Begins an object whose struct lies zeroed at `dst`. */
void json_decoder_begin_object(struct json_decoder *decoder, const struct json_table *table, void *dst);
/* Adds to the tree that is being captured, which a builder never refuses, and stores it
 * when it is complete. */
bool json_decoder_capture(struct json_decoder *decoder, const struct json_event *event, struct err *err);
/* Room for one more entry of a growing array, zeroed and counted. */
void *json_decoder_append(struct json_decoder *decoder, struct frame *frame, size_t entry_size);
/* Sets decoder->why to "expected ..., got ..." and returns false. */
bool json_decoder_expected(struct json_decoder *decoder, const char *what, const struct json_event *event);
/* A field of the top frame back to "absent", where the size of its destination is known. */
void json_decoder_reset_field(struct json_decoder *decoder, const struct json_field *field, void *dst);
