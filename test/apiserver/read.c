#include "test/apiserver/read.h"

#include <inttypes.h>
#include <stdlib.h>

#include "test/apiserver/media.h"
#include "test/apiserver/snapshot.h"

/* ---- one object ---- */

static struct as_view view_of(const struct as_request *request)
{
    return (struct as_view){
        .resource = request->resource,
        .media = request->media,
        .now = loop_wall(request->server->loop),
    };
}

static bool view_parse(struct as_request *request, struct as_view *ret, struct api_error *error)
{
    *ret = view_of(request);
    if (!api_table_include_parse(as_param(&request->params, "includeObject"), &ret->include))
        return api_fail(error, &request->arena, 400, "unknown includeObject");
    return true;
}

static void get_now(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct as_view view;
    const struct as_object *object =
        as_bucket_get(request->resource->bucket, request->route.namespace, request->route.name);
    if (!object || !view_parse(request, &view, &error)) {
        if (!object)
            (void)api_fail_not_found(&error, &request->arena, request->resource->api, request->route.name);
        as_answer_error(request, &error);
        return;
    }
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    as_media_write(&text, &view, object, object->rv);
    strbuf_addc(&text, '\n');
    as_answer(request, 200, "application/json", strbuf_str(&text));
}

void as_get(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct opt_i64 rv;
    if (!as_rv_parse(&request->arena, as_param(&request->params, "resourceVersion"), 500, &rv, &error))
        as_answer_error(request, &error);
    else if (rv.set && rv.value > as_store_rv(request->server->store))
        as_request_wait(request, rv.value, get_now);
    else
        get_now(request);
}

/* ---- lists ---- */

/* A list on its way out. Long ones leave piece by piece, as fast as they are read, so
 * that memory holds references to objects and one piece of text. */
struct listing {
    struct as_request *request;
    struct as_view view;
    struct as_snapshot snapshot;
    size_t next; /* object to write */
    struct strbuf piece;
    struct loop_timer timer;
};

#define PIECE_BYTES (256 * 1024)
#define AHEAD_BYTES (2 * 1024 * 1024) /* how far it runs ahead of the reader */
#define PUMP_MS 2

static void listing_free(struct listing *listing)
{
    as_snapshot_done(&listing->snapshot);
    strbuf_done(&listing->piece);
    loop_timer_done(&listing->timer);
    free(listing);
}

static void listing_closed(void *self)
{
    listing_free(self);
}

static const struct json *list_metadata(struct arena *arena, bool custom, int64_t rv, struct str token,
                                        size_t remaining)
{
    struct json *metadata = json_new(arena, JSON_OBJECT);
    json_set(arena, metadata, STR("resourceVersion"), json_new_str(arena, arena_strf(arena, "%" PRId64, rv)));
    if (token.len || custom) /* of custom resources even when there is nothing to continue */
        json_set(arena, metadata, STR("continue"), json_new_str(arena, token));
    if (remaining)
        json_set(arena, metadata, STR("remainingItemCount"), json_new_i64(arena, (int64_t)remaining));
    return metadata;
}

static void write_head(struct listing *listing, const struct json *metadata)
{
    const struct as_resource *resource = listing->view.resource;
    bool partial = listing->view.media == AS_MEDIA_METADATA;
    struct strbuf *out = &listing->piece;
    strbuf_add(out, STR("{\"kind\":"));
    json_write_str(out, partial ? STR("PartialObjectMetadataList") : resource->api->list_kind);
    strbuf_add(out, STR(",\"apiVersion\":"));
    json_write_str(out, partial ? STR("meta.k8s.io/v1") : resource->type.api_version);
    strbuf_add(out, STR(",\"metadata\":"));
    json_write(out, metadata);
    strbuf_add(out, STR(",\"items\":["));
}

/* Fills the piece; true when the list is complete with it. */
static bool write_items(struct listing *listing)
{
    while (listing->next < listing->snapshot.count && listing->piece.len < PIECE_BYTES) {
        const struct as_object *object = listing->snapshot.objects[listing->next];
        if (listing->next++)
            strbuf_addc(&listing->piece, ',');
        as_media_write(&listing->piece, &listing->view, object, object->rv);
    }
    if (listing->next < listing->snapshot.count)
        return false;
    strbuf_add(&listing->piece, STR("]}\n"));
    return true;
}

static void listing_pump(void *self)
{
    struct listing *listing = self;
    struct as_request *request = listing->request;
    while (!request->server->paused && as_stream_backlog(request) < AHEAD_BYTES) {
        bool complete = write_items(listing);
        as_stream_send(request, strbuf_str(&listing->piece));
        strbuf_clear(&listing->piece);
        if (complete) {
            listing_free(listing);
            as_stream_end(request);
            return;
        }
    }
    loop_timer_set(&listing->timer, PUMP_MS);
}

static void list_table(struct listing *listing, const struct json *metadata)
{
    struct as_request *request = listing->request;
    size_t count = listing->snapshot.count;
    const struct json **trees = arena_array(&request->arena, const struct json *, count);
    for (size_t i = 0; i < count; i++) {
        const struct as_object *object = listing->snapshot.objects[i];
        trees[i] = as_media_tree(&request->arena, listing->view.resource, object, object->rv);
    }
    struct api_table_options options = {
        .include = listing->view.include,
        .now = listing->view.now,
        .list_metadata = metadata,
    };
    const struct json *table =
        api_table(&request->arena, listing->view.resource->api, trees, count, &options);
    listing_free(listing);
    as_answer_json(request, 200, table);
}

static void list_send(struct listing *listing, const struct json *metadata)
{
    struct as_request *request = listing->request;
    if (listing->view.media == AS_MEDIA_TABLE) {
        list_table(listing, metadata);
        return;
    }
    write_head(listing, metadata);
    if (write_items(listing)) {
        as_answer(request, 200, "application/json", strbuf_str(&listing->piece));
        listing_free(listing);
        return;
    }
    as_stream_start(request, 200, "application/json", listing_closed, listing);
    listing_pump(listing);
}

static bool list_take(struct as_request *request, struct listing *listing, const struct json **ret_metadata,
                      struct api_error *error)
{
    struct arena *arena = &request->arena;
    const struct as_bucket *bucket = request->resource->bucket;
    struct as_list_options options;
    struct as_read read;
    struct as_filter filter;
    struct as_filter_source source = {
        .bucket = bucket,
        .aliases = request->resource->aliases,
        .alias_count = request->resource->alias_count,
        .namespace = request->route.namespace,
    };
    if (!as_list_options_parse(arena, &request->params, false, request->server->watch_list, &options,
                               error) ||
        !as_list_options_read(arena, &options, &read, error))
        return false;
    source.label_selector = options.label_selector;
    source.field_selector = options.field_selector;
    if (!as_filter_parse(arena, &source, &filter, error) || !view_parse(request, &listing->view, error))
        return false;
    listing->view.in_list = true;

    int64_t rv = read.kind == AS_READ_EXACT ? read.rv : as_store_rv(bucket->store);
    if (rv < bucket->floor)
        return api_fail_expired(error, arena, read.from.len ? as_token_make(arena, -1, read.from) : STR_NULL);
    struct as_snapshot_query query = {
        .rv = rv,
        .prefix = filter.prefix,
        .from = read.from,
        .limit = (size_t)options.limit,
        .matches = as_filter_matches_fn,
        .self = &filter,
    };
    struct str next_key;
    size_t remaining;
    as_snapshot_take(&listing->snapshot, arena, bucket, &query, &next_key, &remaining);
    struct str token = next_key.len ? as_token_make(arena, rv, next_key) : STR_NULL;
    *ret_metadata =
        list_metadata(arena, request->resource->api->custom, rv, token, filter.selective ? 0 : remaining);
    return true;
}

static void list_now(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    const struct json *metadata = NULL;
    struct listing *listing = mem_zalloc(sizeof *listing);
    listing->request = request;
    listing->piece = STRBUF_INIT(SIZE_MAX);
    loop_timer_init(&listing->timer, request->server->loop, listing_pump, listing);
    if (list_take(request, listing, &metadata, &error)) {
        list_send(listing, metadata);
        return;
    }
    listing_free(listing);
    as_answer_error(request, &error);
}

void as_list(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct as_list_options options;
    struct as_read read;
    if (!as_list_options_parse(&request->arena, &request->params, false, request->server->watch_list,
                               &options, &error) ||
        !as_list_options_read(&request->arena, &options, &read, &error))
        as_answer_error(request, &error);
    else if (read.kind != AS_READ_LATEST && read.rv > as_store_rv(request->server->store))
        as_request_wait(request, read.rv, list_now);
    else
        list_now(request);
}
