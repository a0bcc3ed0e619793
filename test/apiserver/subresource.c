#include "test/apiserver/subresource.h"

#include "test/apiserver/delete.h"
#include "test/apiserver/edit.h"
#include "test/apiserver/media.h"
#include "test/apiserver/meta.h"
#include "test/apiserver/patch.h"
#include "test/apiserver/write.h"

static const struct as_object *need_object(struct as_request *request, struct api_error *error)
{
    const struct as_object *object =
        as_bucket_get(request->resource->bucket, request->route.namespace, request->route.name);
    if (!object)
        (void)api_fail_not_found(error, &request->arena, request->resource->api, request->route.name);
    return object;
}

/* {"kind":"Status","status":"Success"}, as bindings and evictions are answered. */
static const struct json *success(struct as_request *request)
{
    return api_status_success(&request->arena, request->resource->api, request->route.name, STR_NULL);
}

/* ---- scale ---- */

static const struct api_resource scale_resource = {
    .group = STR_INIT("autoscaling"),
    .version = STR_INIT("v1"),
    .kind = STR_INIT("Scale"),
    .plural = STR_INIT("scales"),
};

static const struct json *scale_of(struct arena *arena, const struct json *object)
{
    static const char *const copied[] = { "name", "namespace", "uid", "resourceVersion",
                                          "creationTimestamp" };
    struct json *metadata = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < ARRAY_LEN(copied); i++)
        if (json_path(object, "metadata", copied[i], NULL))
            json_set(arena, metadata, str_c(copied[i]), json_path(object, "metadata", copied[i], NULL));
    struct json *scale = json_new(arena, JSON_OBJECT);
    json_set(arena, scale, STR("kind"), json_new_str(arena, scale_resource.kind));
    json_set(arena, scale, STR("apiVersion"), json_new_str(arena, STR("autoscaling/v1")));
    json_set(arena, scale, STR("metadata"), metadata);
    const struct json *wanted = json_path(object, "spec", "replicas", NULL);
    const struct json *have = json_path(object, "status", "replicas", NULL);
    struct json *spec = json_new(arena, JSON_OBJECT);
    json_set(arena, spec, STR("replicas"), wanted ? wanted : json_new_i64(arena, 1));
    json_set(arena, scale, STR("spec"), spec);
    struct json *status = json_new(arena, JSON_OBJECT);
    json_set(arena, status, STR("replicas"), have ? have : json_new_i64(arena, 0));
    json_set(arena, scale, STR("status"), status);
    return scale;
}

static bool scale_body(struct as_request *request, const struct json *current, const struct json **ret,
                       struct api_error *error)
{
    if (str_eq(request->method, STR("PUT")))
        return as_body_object(request, ret, error);
    enum api_patch_type type;
    const struct json *body;
    if (!api_patch_type_parse(&request->arena, &scale_resource, request->content_type, &type, error) ||
        !as_body_object(request, &body, error))
        return false;
    if (type == API_PATCH_APPLY)
        return api_fail_media_type(error, &request->arena, "application/merge-patch+json");
    return api_patch(&request->arena, &scale_resource, type, current, body, ret, error);
}

static void scale(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct arena *arena = &request->arena;
    const struct json *wanted;
    const struct as_object *object = need_object(request, &error);
    if (!object) {
        as_answer_error(request, &error);
        return;
    }
    const struct json *tree = as_media_tree(arena, request->resource, object, object->rv);
    const struct json *now = scale_of(arena, tree);
    if (str_eq(request->method, STR("GET"))) {
        as_answer_json(request, 200, now);
        return;
    }
    int64_t replicas;
    if (!scale_body(request, now, &wanted, &error)) {
        as_answer_error(request, &error);
    } else if (!json_i64(json_path(wanted, "spec", "replicas", NULL), &replicas) || replicas < 0) {
        (void)api_fail(&error, arena, 422, "spec.replicas: must be a number from 0");
        as_answer_error(request, &error);
    } else {
        tree = as_edit_with2(arena, tree, STR("spec"), STR("replicas"), json_new_i64(arena, replicas));
        as_write_object(request, object, tree, scale_of(arena, tree));
    }
}

/* ---- pods ---- */

static void binding(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct arena *arena = &request->arena;
    const struct json *body;
    const struct as_object *pod = need_object(request, &error);
    if (!pod || !as_body_object(request, &body, &error)) {
        as_answer_error(request, &error);
        return;
    }
    struct str node = json_str(json_path(body, "target", "name", NULL));
    const struct json *tree = as_media_tree(arena, request->resource, pod, pod->rv);
    struct str bound = json_str(json_path(tree, "spec", "nodeName", NULL));
    if (str_empty(node)) {
        (void)api_fail(&error, arena, 400, "target.name is missing");
        as_answer_error(request, &error);
    } else if (bound.len) {
        (void)api_fail_conflict(&error, arena, request->resource->api, request->route.name,
                                "pod is already assigned to node \"" STR_FMT "\"", STR_ARG(bound));
        as_answer_error(request, &error);
    } else {
        as_bucket_put(request->resource->bucket,
                      as_edit_with2(arena, tree, STR("spec"), STR("nodeName"), json_new_str(arena, node)));
        as_answer_json(request, 201, success(request));
    }
}

/* No disruption budgets are computed here: nothing updates their status. */
static void eviction(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    const struct as_object *pod = need_object(request, &error);
    if (!pod) {
        as_answer_error(request, &error);
        return;
    }
    (void)as_delete_object(request, pod, (struct opt_i64){ 0 });
    as_answer_json(request, 201, success(request));
}

/* ---- routing ---- */

static const struct {
    const char *group;
    const char *resource;
    const char *subresource;
    bool post; /* else GET, PUT, PATCH */
    void (*handle)(struct as_request *request);
} subresources[] = {
    { "apps", "deployments", "scale", false, scale },
    { "apps", "replicasets", "scale", false, scale },
    { "", "pods", "binding", true, binding },
    { "", "pods", "eviction", true, eviction },
};

void as_subresource(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    const struct as_route *route = &request->route;
    bool post = str_eq(request->method, STR("POST"));
    for (size_t i = 0; i < ARRAY_LEN(subresources); i++) {
        if (!str_eq(route->group, str_c(subresources[i].group)) ||
            !str_eq(route->resource, str_c(subresources[i].resource)) ||
            !str_eq(route->subresource, str_c(subresources[i].subresource)))
            continue;
        if (post == subresources[i].post && !str_eq(request->method, STR("DELETE"))) {
            subresources[i].handle(request);
            return;
        }
        (void)api_fail_method(&error, &request->arena);
        as_answer_error(request, &error);
        return;
    }
    (void)api_fail_no_resource(&error, &request->arena);
    as_answer_error(request, &error);
}

/* ---- reviews ---- */

void as_review(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct arena *arena = &request->arena;
    const struct json *body;
    if (!as_body_object(request, &body, &error)) {
        as_answer_error(request, &error);
        return;
    }
    const struct json *asked = json_path(body, "spec", "resourceAttributes", NULL);
    const struct json *path = json_path(body, "spec", "nonResourceAttributes", NULL);
    struct as_action action = {
        .verb = arena_str(arena, json_str(json_get(asked ? asked : path, STR("verb")))).ptr,
        .group = json_str(json_get(asked, STR("group"))),
        .resource = json_str(json_get(asked, STR("resource"))),
        .subresource = json_str(json_get(asked, STR("subresource"))),
        .namespace = json_str(json_get(asked, STR("namespace"))),
        .name = json_str(json_get(asked, STR("name"))),
        .path = json_str(json_get(path, STR("path"))),
    };
    bool allowed = as_rbac_allows(request->server->rbac, &request->identity, &action);
    struct json *status = json_new(arena, JSON_OBJECT);
    json_set(arena, status, STR("allowed"), json_new_bool(arena, allowed));
    as_answer_json(request, 201, as_edit_with(arena, body, STR("status"), status));
}
