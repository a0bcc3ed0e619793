#include "test/apiserver/delete.h"

#include <stdlib.h>

#include "test/apiserver/body.h"
#include "test/apiserver/media.h"
#include "test/apiserver/meta.h"
#include "test/apiserver/snapshot.h"

static void empty_namespace(struct as_bucket *bucket, struct str prefix)
{
    for (;;) {
        const struct as_omap_node *node = as_omap_seek(&bucket->objects, prefix);
        if (!node || !str_starts_with(as_omap_object(node)->key, prefix))
            return;
        as_bucket_delete(bucket, as_omap_object(node)->key);
    }
}

void as_delete_now(struct apiserver *server, struct as_bucket *bucket, const struct as_object *object)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str key = arena_str(&arena, object->key);
    if (str_eq(bucket->resource, STR("namespaces")) && str_empty(bucket->group)) {
        struct str prefix = arena_strf(&arena, STR_FMT "/", STR_ARG(key));
        for (struct as_bucket *each = as_store_first(server->store); each; each = each->next)
            empty_namespace(each, prefix);
    }
    as_bucket_delete(bucket, key);
}

struct delete_options {
    bool dry_run;
    const struct json *preconditions;
};

static bool options_parse(struct as_request *request, struct delete_options *ret, struct api_error *error)
{
    const struct json *body = NULL;
    struct as_write_options write = { 0 };
    if (!as_write_options_parse(request, &write, error) || !as_body_parse(request, &body, error))
        return false;
    if (body && !json_is(body, JSON_OBJECT))
        return api_fail(error, &request->arena, 400, "DeleteOptions is not an object");
    const struct json *dry_run = json_get(body, STR("dryRun"));
    *ret = (struct delete_options){
        .dry_run = write.dry_run || (json_is(dry_run, JSON_ARRAY) && json_count(dry_run) > 0),
        .preconditions = json_get(body, STR("preconditions")),
    };
    return true;
}

/* True when the object stays for now, marked, because finalizers have work to do. */
static bool delete_one(struct as_request *request, const struct as_object *object, bool dry_run)
{
    const struct as_resource *resource = request->resource;
    struct arena *arena = &request->arena;
    const struct json *stored = as_object_tree(arena, object, NULL, object->rv);
    if (as_meta_finalizers(stored) == 0) {
        if (!dry_run)
            as_delete_now(request->server, resource->bucket, object);
        return false;
    }
    if (!dry_run && !as_meta_is_deleting(stored))
        as_bucket_put(resource->bucket,
                      as_meta_deleting(arena, resource, stored, as_now_text(request->server, arena)));
    return true;
}

static bool delete (struct as_request *request, struct api_error *error)
{
    struct arena *arena = &request->arena;
    struct delete_options options = { 0 };
    if (!options_parse(request, &options, error))
        return false;
    const struct as_object *object =
        as_bucket_get(request->resource->bucket, request->route.namespace, request->route.name);
    if (!object)
        return api_fail_not_found(error, arena, request->resource->api, request->route.name);
    if (!as_meta_check(arena, request->resource, object, options.preconditions, error))
        return false;
    struct str uid = arena_str(arena, object->uid);
    if (!delete_one(request, object, options.dry_run)) {
        as_answer_json(request, 200,
                       api_status_success(arena, request->resource->api, request->route.name, uid));
        return true;
    }
    object = as_bucket_get(request->resource->bucket, request->route.namespace, request->route.name);
    as_answer_json(request, 200, as_media_tree(arena, request->resource, object, object->rv));
    return true;
}

void as_delete(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    if (!delete (request, &error))
        as_answer_error(request, &error);
}

static bool delete_collection(struct as_request *request, struct api_error *error)
{
    struct arena *arena = &request->arena;
    struct delete_options options = { 0 };
    struct as_list_options list = { 0 };
    struct as_filter filter;
    if (!options_parse(request, &options, error) ||
        !as_list_options_parse(arena, &request->params, false, request->server->watch_list, &list, error))
        return false;
    struct as_filter_source source = {
        .bucket = request->resource->bucket,
        .aliases = request->resource->aliases,
        .alias_count = request->resource->alias_count,
        .namespace = request->route.namespace,
        .label_selector = list.label_selector,
        .field_selector = list.field_selector,
    };
    if (!as_filter_parse(arena, &source, &filter, error))
        return false;
    CLEANUP(as_snapshot_done) struct as_snapshot found = { 0 };
    struct as_snapshot_query query = {
        .rv = as_store_rv(request->server->store),
        .prefix = filter.prefix,
        .limit = (size_t)list.limit,
        .matches = as_filter_matches_fn,
        .self = &filter,
    };
    struct str next_key;
    size_t remaining;
    as_snapshot_take(&found, arena, request->resource->bucket, &query, &next_key, &remaining);
    struct json *items = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < found.count; i++) {
        json_push(arena, items,
                  as_media_tree(arena, request->resource, found.objects[i], found.objects[i]->rv));
        delete_one(request, found.objects[i], options.dry_run);
    }
    struct json *answer = json_new(arena, JSON_OBJECT);
    json_set(arena, answer, STR("kind"), json_new_str(arena, request->resource->api->list_kind));
    json_set(arena, answer, STR("apiVersion"), json_new_str(arena, request->resource->type.api_version));
    json_set(arena, answer, STR("metadata"), json_new(arena, JSON_OBJECT));
    json_set(arena, answer, STR("items"), items);
    as_answer_json(request, 200, answer);
    return true;
}

void as_delete_collection(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    if (!delete_collection(request, &error))
        as_answer_error(request, &error);
}
