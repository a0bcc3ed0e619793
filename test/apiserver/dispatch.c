#include "test/apiserver/dispatch.h"

#include "test/apiserver/builtin.h"
#include "test/apiserver/control.h"
#include "test/apiserver/delete.h"
#include "test/apiserver/fields.h"
#include "test/apiserver/media.h"
#include "test/apiserver/read.h"
#include "test/apiserver/subresource.h"
#include "test/apiserver/watch.h"
#include "test/apiserver/write.h"

/* ---- what is not a resource ---- */

static void answer_health(struct as_request *request)
{
    as_answer(request, 200, "text/plain; charset=utf-8", STR("ok"));
}

static const struct json *discovery(struct as_request *request, struct str path)
{
    struct arena *arena = &request->arena;
    const struct as_route *route = &request->route;
    const struct api_registry *served = as_registry_served(request->server->registry);
    struct str before, rest;
    if (str_eq(path, STR("/version")))
        return api_version_info(arena);
    if (str_eq(path, STR("/api")))
        return api_discovery_core(arena, http_exchange_header(request->exchange, "Host"));
    if (str_eq(path, STR("/apis")))
        return api_discovery_groups(arena, served);
    if (str_eq(path, STR("/openapi/v3")))
        return api_openapi_index(arena, served);
    if (str_eq(path, STR("/openapi/v3/api/v1")))
        return api_openapi_document(arena, served, STR_NULL, STR("v1"));
    if (str_starts_with(path, STR("/openapi/v3/apis/")) &&
        str_cut(str_slice(path, 17, path.len), '/', &before, &rest))
        return api_openapi_document(arena, served, before, rest);
    if (route->version.len)
        return api_discovery_resources(arena, served, route->group, route->version);
    if (str_starts_with(path, STR("/apis/")))
        return api_discovery_group(arena, served, str_slice(path, 6, path.len));
    return NULL;
}

static bool answer_openapi_v2(struct as_request *request, struct str path)
{
    if (!str_eq(path, STR("/openapi/v2")))
        return false;
    if (api_openapi_v2_wants_protobuf(request->accept))
        as_answer(request, 200, API_OPENAPI_V2_MEDIA_TYPE, api_openapi_v2_protobuf());
    else
        as_answer_json(request, 200, api_openapi_v2(&request->arena));
    return true;
}

static bool answer_aggregated(struct as_request *request, struct str path)
{
    bool core = str_eq(path, STR("/api"));
    if ((!core && !str_eq(path, STR("/apis"))) || !api_discovery_wants_aggregated(request->accept))
        return false;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    json_write(&text, api_discovery_aggregated(&request->arena, as_registry_served(request->server->registry),
                                               core));
    as_answer(request, 200, API_DISCOVERY_MEDIA_TYPE, strbuf_str(&text));
    return true;
}

/* What is no path at all is answered before anything knows of Status objects. */
static void answer_unknown(struct as_request *request)
{
    as_answer(request, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

static void answer_path(struct as_request *request)
{
    static const struct str health[] = { STR_INIT("/healthz"), STR_INIT("/livez"), STR_INIT("/readyz") };
    struct str path = request->path;
    while (path.len > 1 && str_ends_with(path, STR("/")))
        path.len--;
    for (size_t i = 0; i < ARRAY_LEN(health); i++) {
        if (str_starts_with(path, health[i])) {
            answer_health(request);
            return;
        }
    }
    if (answer_openapi_v2(request, path) || answer_aggregated(request, path))
        return;
    const struct json *answer = discovery(request, path);
    if (answer) {
        as_answer_json(request, 200, answer);
        return;
    }
    answer_unknown(request);
}

/* ---- resources ---- */

struct verb {
    const char *method;
    bool named;
    unsigned bit;
    const char *name; /* for RBAC */
    void (*handle)(struct as_request *request);
};

static const struct verb verbs[] = {
    { "GET", true, API_VERB_GET, "get", as_get },
    { "GET", false, API_VERB_LIST, "list", as_list },
    { "POST", false, API_VERB_CREATE, "create", as_create },
    { "PUT", true, API_VERB_UPDATE, "update", as_update },
    { "PATCH", true, API_VERB_PATCH, "patch", as_patch },
    { "DELETE", true, API_VERB_DELETE, "delete", as_delete },
    { "DELETE", false, API_VERB_DELETE_COLLECTION, "deletecollection", as_delete_collection },
};
static const struct verb watch_verb = { "GET", false, API_VERB_WATCH, "watch", as_watch_start };
/* Of subresources: any method, decided further down. */
static const struct verb post_verb = { "POST", true, API_VERB_CREATE, "create", as_subresource };

static const struct verb *find_verb(const struct as_request *request)
{
    const struct as_route *route = &request->route;
    struct str method = str_eq(request->method, STR("HEAD")) ? STR("GET") : request->method;
    bool named = route->name.len > 0;
    if (str_eq(method, STR("GET")) &&
        (route->is_watch_path || (!named && as_param_bool(&request->params, "watch"))))
        return &watch_verb;
    if (str_eq(method, STR("POST")) && route->subresource.len)
        return &post_verb;
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(method, str_c(verbs[i].method)) && verbs[i].named == named)
            return &verbs[i];
    return NULL;
}

static bool authorize(struct as_request *request, const char *verb, struct api_error *error)
{
    const struct as_route *route = &request->route;
    struct as_action action = {
        .verb = verb,
        .group = route->group,
        .resource = route->resource,
        .subresource = route->subresource,
        .namespace = route->namespace,
        .name = route->name,
    };
    if (str_empty(action.name) && !str_eq(request->method, STR("POST")))
        action.name = as_field_one_name(&request->arena, as_param(&request->params, "fieldSelector"));
    if (!route->is_resource)
        action = (struct as_action){ .verb = verb, .path = request->path };
    return as_rbac_check(request->server->rbac, &request->arena, &request->identity, &action, error);
}

/* The address must fit the resource: namespaced or not, subresource offered. */
static bool find_resource(struct as_request *request, struct api_error *error)
{
    const struct as_route *route = &request->route;
    struct as_resource *resource =
        as_registry_find(request->server->registry, route->group, route->version, route->resource);
    if (!resource || (!resource->api->namespaced && route->namespace.len) ||
        (resource->api->namespaced && route->name.len && str_empty(route->namespace)))
        return api_fail_no_resource(error, &request->arena);
    request->resource = resource;
    return as_media_parse(&request->arena, request->accept, &request->media, error);
}

static bool route_resource(struct as_request *request, struct api_error *error)
{
    const struct verb *verb = find_verb(request);
    struct arena *arena = &request->arena;
    if (!verb)
        return api_fail_method(error, arena);
    if (!authorize(request, verb->name, error) || !find_resource(request, error))
        return false;
    const struct api_resource *api = request->resource->api;
    bool status = str_eq(request->route.subresource, STR("status"));
    if (status && !api->has_status)
        return api_fail_no_resource(error, arena);
    if (request->route.subresource.len && !status) {
        as_subresource(request);
        return true;
    }
    bool offered = (api->verbs & verb->bit) &&
                   (!status || (verb->bit & (API_VERB_GET | API_VERB_UPDATE | API_VERB_PATCH)));
    if (!offered || (verb->bit == API_VERB_CREATE && api->namespaced && str_empty(request->route.namespace)))
        return api_fail_method(error, arena);
    if (str_eq(api->group, STR("authorization.k8s.io")))
        as_review(request);
    else
        verb->handle(request);
    return true;
}

/* Whether the address is one that built-in groups answer for; elsewhere nobody speaks of
 * resources before there are any. */
static bool is_known(const struct as_request *request)
{
    size_t count;
    const struct api_resource *builtin = api_builtin_resources(&count);
    for (size_t i = 0; i < count; i++)
        if (str_eq(builtin[i].group, request->route.group))
            return true;
    return request->resource != NULL;
}

static void execute(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct str authorization = http_exchange_header(request->exchange, "Authorization");
    struct str subject = http_exchange_peer_subject(request->exchange);
    bool answered = false;
    bool known = true;
    if (as_auth_identify(&request->server->auth, &request->arena, authorization, subject, &request->identity,
                         &error) &&
        as_route_parse(&request->arena, request->path, &request->route, &error) &&
        as_params_parse(&request->arena, request->query, &request->params, &error)) {
        if (request->route.is_resource) {
            answered = route_resource(request, &error);
            known = answered || is_known(request);
        } else if (authorize(request, "get", &error)) {
            answer_path(request);
            answered = true;
        }
    }
    if (!known && error.code == 404)
        answer_unknown(request);
    else if (!answered)
        as_answer_error(request, &error);
}

/* ---- faults ---- */

static void answer_fault(struct as_request *request)
{
    const struct apiserver_fault *fault = &request->fault;
    struct api_error error = API_ERROR_INIT;
    if (fault->code.value == 0) {
        as_request_drop(request);
        return;
    }
    (void)api_fail(&error, &request->arena, (int)fault->code.value, STR_FMT,
                   STR_ARG(fault->message.len ? fault->message : STR("scripted fault")));
    if (fault->reason.len)
        error.reason = fault->reason.ptr;
    if (fault->retry_after_s.set) {
        error.retry_after_s = fault->retry_after_s.value;
        http_exchange_set_header(
            request->exchange, "Retry-After",
            arena_strf(&request->arena, "%lld", (long long)fault->retry_after_s.value).ptr);
    }
    if (fault->no_status)
        as_answer(request, error.code, "text/plain", fault->body);
    else
        as_answer_error(request, &error);
}

static void begin(struct as_request *request)
{
    if (request->fault.hang)
        return;
    if (request->fault.code.set)
        answer_fault(request);
    else
        execute(request);
}

static void admit(struct as_request *request)
{
    struct apiserver *server = request->server;
    request->is_held = false;
    if (as_faults_match(&server->faults, &request->arena, request->method, request->path, request->query,
                        &request->fault) &&
        request->fault.delay_ms > 0)
        as_request_delay(request, request->fault.delay_ms, begin);
    else
        begin(request);
}

static void log_request(struct as_request *request)
{
    struct apiserver *server = request->server;
    struct api_error error = API_ERROR_INIT;
    struct as_identity identity = { 0 };
    /* Only for the name; the real check comes with execution. */
    if (!as_auth_identify(&server->auth, &request->arena,
                          http_exchange_header(request->exchange, "Authorization"),
                          http_exchange_peer_subject(request->exchange), &identity, &error))
        identity.user = STR("(refused)");
    struct apiserver_request draft = {
        .time = loop_wall(server->loop),
        .method = request->method,
        .path = request->path,
        .query = request->query,
        .user = identity.user,
        .user_agent = http_exchange_header(request->exchange, "User-Agent"),
        .content_type = request->content_type,
        .body = request->body,
    };
    request->log_id = as_request_log_add(server->log, &draft);
}

void as_handle(void *self, struct http_exchange *exchange)
{
    struct apiserver *server = self;
    struct as_request *request = as_request_new(server, exchange);
    if (server->control && str_starts_with(request->path, STR(AS_CONTROL_PREFIX))) {
        as_control(request);
        return;
    }
    log_request(request);
    if (server->paused)
        request->is_held = true;
    else
        admit(request);
}

void as_release_held(struct apiserver *server)
{
    for (;;) {
        /* The list is newest first; the oldest goes first. */
        struct as_request *oldest = NULL;
        for (struct as_request *request = server->requests; request; request = request->next)
            if (request->is_held)
                oldest = request;
        if (!oldest)
            return;
        admit(oldest);
    }
}
