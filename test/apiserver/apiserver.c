#include "test/apiserver/apiserver.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/rfc3339.h"
#include "test/apiserver/dispatch.h"
#include "test/apiserver/load.h"
#include "test/apiserver/media.h"
#include "test/apiserver/watch.h"

#define MAX_BODY (3 * 1024 * 1024)

/* ---- small services ---- */

uint64_t as_random(struct apiserver *server, uint64_t bound)
{
    server->random = server->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = server->random;
    bits ^= bits >> 33;
    bits *= UINT64_C(0xff51afd7ed558ccd);
    bits ^= bits >> 33;
    return bound ? bits % bound : bits;
}

struct str as_now_text(struct apiserver *server, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    rfc3339_format(&text, loop_wall(server->loop));
    return arena_str(arena, strbuf_str(&text));
}

struct str as_new_uid(struct apiserver *server, struct arena *arena)
{
    uint64_t high = (as_random(server, 0) & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
    uint64_t low = (as_random(server, 0) & (UINT64_MAX >> 2)) | (UINT64_C(1) << 63);
    return arena_strf(arena, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
                      (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xffff), (unsigned)(low >> 48),
                      (unsigned long long)(low & UINT64_C(0xffffffffffff)));
}

/* ---- life ---- */

static void on_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    (void)bucket, (void)change;
    as_requests_check_waits(self);
}

static void on_waiter_timer(void *self)
{
    as_requests_finish_waits(self);
}

static void on_gone(void *self, struct as_resource *resource)
{
    as_watch_end_all(self, false, resource);
}

static bool load_tokens(struct apiserver *server, const char *path, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    return (file_read(path, &text, err) && as_auth_load(&server->auth, strbuf_str(&text), err)) ||
           err_wrap(err, "%s", path);
}

static bool load_default_namespaces(struct apiserver *server, struct err *err)
{
    static const char *const names[] = { "default", "kube-system", "kube-public", "kube-node-lease" };
    struct as_bucket *bucket = as_store_bucket(server->store, STR(""), STR("namespaces"));
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (as_bucket_get(bucket, STR_NULL, str_c(names[i])))
            continue;
        struct str text = arena_strf(
            &arena, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
            names[i]);
        if (!apiserver_put(server, text, err))
            return false;
    }
    return true;
}

/* Observers are told in this order: what is served, what is allowed, the disk, and only
 * then the watches. */
static bool start_data(struct apiserver *server, const struct apiserver_options *options, struct err *err)
{
    server->store = as_store_new(options->window);
    server->registry = as_registry_new(server->store);
    as_registry_on_gone(server->registry, on_gone, server);
    if (options->rbac)
        server->rbac = as_rbac_new(server->store);
    if (options->data_dir) {
        server->persist = as_persist_open(options->data_dir, server->store, err);
        if (!server->persist)
            return false;
    }
    as_store_observe(server->store, as_watch_on_change, server);
    as_store_observe(server->store, on_change, server);
    return load_default_namespaces(server, err) &&
           (!options->crds_dir || as_load_dir(server, options->crds_dir, err)) &&
           (!options->token_file || load_tokens(server, options->token_file, err));
}

static bool start_http(struct apiserver *server, const struct apiserver_options *options, struct err *err)
{
    struct http_server_options http = {
        .address = options->address ? options->address : "127.0.0.1:0",
        .tls_cert_pem = options->tls_cert_pem,
        .tls_key_pem = options->tls_key_pem,
        .tls_client_ca_pem = options->client_ca_pem,
        .max_header_bytes = 64 * 1024,
        .max_body_bytes = MAX_BODY,
        .timeout_s = 90,
        .max_connections = SIZE_MAX,
        .handle = as_handle,
        .self = server,
    };
    server->http = http_server_new(server->loop, &http, err);
    return server->http != NULL;
}

struct apiserver *apiserver_new(struct loop *loop, const struct apiserver_options *options, struct err *err)
{
    struct apiserver *server = mem_zalloc(sizeof *server);
    server->loop = loop;
    server->control = options->control;
    server->watch_list = (enum as_watch_list)options->watch_list;
    server->watch_backlog_bytes =
        options->watch_backlog_bytes ? options->watch_backlog_bytes : 16 * 1024 * 1024;
    server->bookmark_interval_ms = options->bookmark_interval_ms ? options->bookmark_interval_ms : 60 * 1000;
    server->freshness_wait_ms = options->freshness_wait_ms ? options->freshness_wait_ms : 3000;
    server->random = options->seed ? options->seed : (uint64_t)loop_wall(loop).us;
    loop_timer_init(&server->waiter_timer, loop, on_waiter_timer, server);
    server->log = as_request_log_new(options->request_log, err);
    if (server->log && start_data(server, options, err) && start_http(server, options, err))
        return server;
    apiserver_free(server);
    return NULL;
}

void apiserver_free(struct apiserver *server)
{
    if (!server)
        return;
    while (server->requests) {
        struct as_request *request = server->requests;
        if (request->is_stream && !request->is_ended && request->closed)
            request->closed(request->closed_self);
        as_request_drop(request);
    }
    http_server_free(server->http);
    loop_timer_done(&server->waiter_timer);
    as_faults_clear(&server->faults);
    as_request_log_free(server->log);
    as_auth_done(&server->auth);
    as_rbac_free(server->rbac);
    as_registry_free(server->registry);
    as_persist_free(server->persist);
    as_store_free(server->store);
    free(server);
}

int apiserver_port(const struct apiserver *server)
{
    return http_server_port(server->http);
}

/* ---- objects ---- */

bool apiserver_put(struct apiserver *server, struct str json, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct json *object;
    return json_parse(&arena, json, NULL, &object, err) &&
           as_load_object(server, object, AS_LOAD_REPLACE, err);
}

bool apiserver_load(struct apiserver *server, struct str manifests, struct err *err)
{
    return as_load_text(server, manifests, AS_LOAD_REPLACE, err);
}

bool apiserver_load_missing(struct apiserver *server, struct str manifests, struct err *err)
{
    return as_load_text(server, manifests, AS_LOAD_MISSING, err);
}

/* "plural" or "plural.group" of whatever version is served first. */
static struct as_resource *find_resource(const struct apiserver *server, struct str name)
{
    struct str plural, group;
    str_cut(name, '.', &plural, &group);
    const struct api_registry *served = as_registry_served(server->registry);
    for (size_t i = 0; i < served->count; i++) {
        const struct api_resource *api = served->resources[i];
        if (str_eq(api->plural, plural) && str_eq(api->group, group))
            return as_registry_find(server->registry, group, api->version, plural);
    }
    return NULL;
}

const struct json *apiserver_get(struct apiserver *server, const struct apiserver_ref *ref,
                                 struct arena *arena)
{
    const struct as_resource *resource = find_resource(server, ref->resource);
    const struct as_object *object =
        resource ? as_bucket_get(resource->bucket, ref->namespace, ref->name) : NULL;
    return object ? as_media_tree(arena, resource, object, object->rv) : NULL;
}

bool apiserver_delete(struct apiserver *server, const struct apiserver_ref *ref)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct as_resource *resource = find_resource(server, ref->resource);
    return resource && as_bucket_delete(resource->bucket, as_key(&arena, ref->namespace, ref->name));
}

size_t apiserver_list(struct apiserver *server, struct str resource_name, struct arena *arena,
                      const struct json ***ret)
{
    const struct as_resource *resource = find_resource(server, resource_name);
    *ret = NULL;
    if (!resource)
        return 0;
    const struct as_omap *objects = &resource->bucket->objects;
    const struct json **trees = arena_array(arena, const struct json *, objects->count);
    size_t count = 0;
    for (struct as_omap_node *node = as_omap_seek(objects, STR_NULL); node; node = as_omap_next(node))
        trees[count++] = as_media_tree(arena, resource, as_omap_object(node), as_omap_object(node)->rv);
    *ret = trees;
    return count;
}

int64_t apiserver_resource_version(const struct apiserver *server)
{
    return as_store_rv(server->store);
}

size_t apiserver_watch_count(const struct apiserver *server)
{
    return as_watch_count(server);
}

/* ---- trouble ---- */

void apiserver_compact(struct apiserver *server)
{
    as_store_compact(server->store);
}

void apiserver_cut_watches(struct apiserver *server)
{
    as_watch_end_all(server, true, NULL);
}

void apiserver_end_watches(struct apiserver *server)
{
    as_watch_end_all(server, false, NULL);
}

void apiserver_bookmark(struct apiserver *server)
{
    as_watch_bookmark_all(server);
}

void apiserver_pause(struct apiserver *server)
{
    server->paused = true;
}

void apiserver_resume(struct apiserver *server)
{
    server->paused = false;
    as_release_held(server);
    as_watch_resume_all(server);
}

int64_t apiserver_fault(struct apiserver *server, const struct apiserver_fault *fault, struct err *err)
{
    int64_t id;
    return as_faults_add(&server->faults, fault, &id, err) ? id : 0;
}

void apiserver_clear_faults(struct apiserver *server)
{
    as_faults_clear(&server->faults);
}

size_t apiserver_request_count(const struct apiserver *server)
{
    return as_request_log_count(server->log);
}

const struct apiserver_request *apiserver_request_at(const struct apiserver *server, size_t index)
{
    return index < as_request_log_count(server->log) ? as_request_log_at(server->log, index) : NULL;
}

void apiserver_clear_requests(struct apiserver *server)
{
    as_request_log_clear(server->log);
}
