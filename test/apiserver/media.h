#pragma once
/* How an object is shown: whole, its metadata only, or as a row of a table; and under
 * which API version. */
#include "test/apiserver/request.h"
#include "test/apiserver/table.h"

/* What Accept asks for, first acceptable clause first. 406 when nothing JSON is accepted. */
bool as_media_parse(struct arena *arena, struct str accept, enum as_media *ret,
                    struct api_error *error) MUST_CHECK;

/* The object as `resource` shows it, as a tree. */
const struct json *as_media_tree(struct arena *arena, const struct as_resource *resource,
                                 const struct as_object *object, int64_t rv);

/* One object as JSON text. `in_list` leaves out what items of typed lists lack. */
struct as_view {
    const struct as_resource *resource;
    enum as_media media;
    enum api_include_object include;
    bool in_list;
    bool no_columns; /* of tables: the reader has seen them */
    struct wall_time now;
};
void as_media_write(struct strbuf *out, const struct as_view *view, const struct as_object *object,
                    int64_t rv);
