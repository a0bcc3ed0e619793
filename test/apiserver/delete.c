#include "test/apiserver/delete.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/rfc3339.h"
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
    struct opt_i64 grace_s;
    const struct json *preconditions;
};

/* From the body or from the query. */
static bool parse_grace(struct as_request *request, const struct json *body, struct opt_i64 *ret,
                        struct api_error *error)
{
    struct str text = as_param(&request->params, "gracePeriodSeconds");
    *ret = (struct opt_i64){ 0 };
    if (json_i64(json_get(body, STR("gracePeriodSeconds")), &ret->value)) {
        ret->set = true;
        return true;
    }
    if (str_empty(text))
        return true;
    ret->set = str_to_i64(text, &ret->value);
    return ret->set || api_fail(error, &request->arena, 400,
                                "gracePeriodSeconds: \"" STR_FMT "\" is not a number", STR_ARG(text));
}

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
    return parse_grace(request, body, &ret->grace_s, error);
}

static bool is_pod(const struct as_request *request)
{
    const struct api_resource *api = request->resource->api;
    return str_empty(api->group) && str_eq(api->kind, STR("Pod"));
}

/* What runs nowhere needs no time to end. */
static int64_t pod_grace(const struct json *pod, struct opt_i64 asked)
{
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    int64_t seconds = 30;
    if (asked.set)
        seconds = asked.value;
    else if (!json_i64(json_path(pod, "spec", "terminationGracePeriodSeconds", NULL), &seconds))
        seconds = 30;
    if (str_empty(json_str(json_path(pod, "spec", "nodeName", NULL))) || str_eq(phase, STR("Succeeded")) ||
        str_eq(phase, STR("Failed")))
        return 0;
    return seconds < 0 ? 1 : seconds;
}

static struct str time_after(struct as_request *request, int64_t seconds)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    rfc3339_format(&text, (struct wall_time){ loop_wall(request->server->loop).us + seconds * US_PER_S });
    return arena_str(&request->arena, strbuf_str(&text));
}

/* The object as deleting it leaves it behind, and whether it stays at all. */
static const struct json *deleted_form(struct as_request *request, const struct json *stored,
                                       struct opt_i64 asked, bool *ret_stays)
{
    int64_t grace = is_pod(request) ? pod_grace(stored, asked) : 0;
    bool marked = as_meta_is_deleting(stored);
    *ret_stays = grace > 0 || as_meta_finalizers(stored) > 0;
    if (marked && (!asked.set || grace >= as_meta_grace(stored))) {
        *ret_stays = *ret_stays || as_meta_grace(stored) > 0;
        return stored;
    }
    return as_meta_deleting(&request->arena, request->resource, stored, time_after(request, grace), grace);
}

const struct as_object *as_delete_object(struct as_request *request, const struct as_object *object,
                                         struct opt_i64 grace_s)
{
    struct as_bucket *bucket = request->resource->bucket;
    const struct json *stored = as_object_tree(&request->arena, object, NULL, object->rv);
    bool stays;
    const struct json *next = deleted_form(request, stored, grace_s, &stays);
    if (!stays) {
        as_delete_now(request->server, bucket, object);
        return NULL;
    }
    return next == stored ? object : as_bucket_put(bucket, next);
}

/* The answer to a delete: what stays, and Pods even when they are gone. */
static const struct json *delete_one(struct as_request *request, const struct as_object *object,
                                     const struct delete_options *options)
{
    struct arena *arena = &request->arena;
    const struct as_resource *resource = request->resource;
    const struct json *shown = as_media_tree(arena, resource, object, object->rv);
    struct str name = arena_str(arena, object->name), uid = arena_str(arena, object->uid);
    bool stays;
    shown = deleted_form(request, shown, options->grace_s, &stays);
    if (!options->dry_run) {
        const struct as_object *left = as_delete_object(request, object, options->grace_s);
        if (left)
            return as_media_tree(arena, resource, left, left->rv);
    }
    return stays || is_pod(request) ? shown : api_status_success(arena, resource->api, name, uid);
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
    as_answer_json(request, 200, delete_one(request, object, &options));
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
        if (!options.dry_run)
            as_delete_object(request, found.objects[i], options.grace_s);
    }
    struct json *answer = json_new(arena, JSON_OBJECT);
    json_set(arena, answer, STR("kind"), json_new_str(arena, request->resource->api->list_kind));
    json_set(arena, answer, STR("apiVersion"), json_new_str(arena, request->resource->type.api_version));
    struct json *metadata = json_new(arena, JSON_OBJECT);
    json_set(arena, metadata, STR("resourceVersion"),
             json_new_str(arena, arena_strf(arena, "%" PRId64, as_store_rv(request->server->store))));
    json_set(arena, answer, STR("metadata"), metadata);
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
