#include "test/apiserver/write.h"

#include <inttypes.h>

#include "test/apiserver/admission.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/edit.h"
#include "test/apiserver/event.h"
#include "test/apiserver/media.h"
#include "test/apiserver/meta.h"
#include "test/apiserver/patch.h"
#include "test/apiserver/tree.h"

/* A write in the making. */
struct write {
    struct as_request *request;
    const struct as_resource *resource;
    struct as_write_options options;
    const struct as_object *old_object; /* NULL: create */
    const struct json *old;             /* as the resource shows it */
    bool is_status;
};

static bool write_begin(struct as_request *request, struct write *ret, struct api_error *error)
{
    *ret = (struct write){
        .request = request,
        .resource = request->resource,
        .is_status = str_eq(request->route.subresource, STR("status")),
    };
    return as_write_options_parse(request, &ret->options, error);
}

static void write_load(struct write *write)
{
    struct as_request *request = write->request;
    write->old_object =
        as_bucket_get(request->resource->bucket, request->route.namespace, request->route.name);
    if (write->old_object)
        write->old =
            as_media_tree(&request->arena, write->resource, write->old_object, write->old_object->rv);
}

static bool write_need(struct write *write, struct api_error *error)
{
    write_load(write);
    if (write->old_object)
        return true;
    return api_fail_not_found(error, &write->request->arena, write->resource->api,
                              write->request->route.name);
}

static bool is_crd(const struct as_resource *resource)
{
    return str_eq(resource->api->kind, STR("CustomResourceDefinition"));
}

/* Unknown fields gone, defaults set, quantities canonical; warnings go out with the answer. */
static bool write_decode(struct write *write, const struct json *object, const struct json **ret,
                         struct api_error *error)
{
    struct arena *arena = &write->request->arena;
    struct api_causes warnings = API_CAUSES_INIT(arena);
    if (!api_object_decode(arena, write->resource->api, object, write->options.field_validation, &warnings,
                           ret, error))
        return false;
    as_warn(write->request, &warnings);
    if (is_crd(write->resource)) /* its own defaults, before anything is compared */
        *ret = api_crd_established(arena, *ret, as_now_text(write->request->server, arena));
    return true;
}

/* What the store keeps: Events in their core form, CRDs with what a live server adds. */
static const struct json *stored_form(const struct write *write, const struct json *object)
{
    struct arena *arena = &write->request->arena;
    if (write->resource->is_converted)
        return api_event_to_core(arena, object);
    if (is_crd(write->resource))
        return api_crd_established(arena, object, as_now_text(write->request->server, arena));
    return object;
}

static void answer_object(struct write *write, int status, const struct as_object *object)
{
    struct as_request *request = write->request;
    struct as_view view = {
        .resource = write->resource,
        .media = request->media,
        .now = loop_wall(request->server->loop),
    };
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    as_media_write(&text, &view, object, object->rv);
    strbuf_addc(&text, '\n');
    as_answer(request, status, "application/json", strbuf_str(&text));
}

/* ---- create ---- */

static bool check_namespace_exists(const struct write *write, struct api_error *error)
{
    static const struct api_resource namespaces = { .kind = STR_INIT("Namespace"),
                                                    .plural = STR_INIT("namespaces") };
    const struct as_request *request = write->request;
    struct str name = request->route.namespace;
    if (!write->resource->api->namespaced)
        return true;
    struct as_bucket *bucket = as_store_bucket(request->server->store, STR(""), STR("namespaces"));
    const struct as_object *namespace = as_bucket_get(bucket, STR_NULL, name);
    struct arena *arena = &write->request->arena;
    if (!namespace)
        return api_fail_not_found(error, arena, &namespaces, name);
    if (!as_meta_is_deleting(as_object_tree(arena, namespace, NULL, namespace->rv)))
        return true;
    (void)api_fail_forbidden(error, arena, write->resource->api, STR_NULL,
                             "namespace \"" STR_FMT "\" is being terminated", STR_ARG(name));
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_path path = API_FIELD(NULL, STR("metadata.namespace"));
    api_cause_add(&causes, API_CAUSE_NAMESPACE_TERMINATING, &path, "namespace %.*s is being terminated",
                  STR_ARG(name));
    error->causes = causes.items;
    error->cause_count = causes.count;
    return false;
}

static struct str random_suffix(struct apiserver *server, struct arena *arena)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char text[5];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = letters[as_random(server, sizeof letters - 1)];
    return arena_str(arena, (struct str){ text, sizeof text });
}

static bool create_object(struct write *write, const struct json *object, const struct json **ret,
                          struct api_error *error)
{
    struct as_request *request = write->request;
    struct arena *arena = &request->arena;
    struct as_meta_facts facts = {
        .now = as_now_text(request->server, arena),
        .uid = as_new_uid(request->server, arena),
        .suffix = random_suffix(request->server, arena),
        .namespace = request->route.namespace,
        .name = request->route.name,
    };
    return as_meta_create(arena, write->resource, &facts, object, &object, error) &&
           write_decode(write, object, &object, error) && as_admit_create(request, object, ret, error) &&
           api_object_validate(arena, write->resource->api, *ret, NULL, error);
}

/* Stores a new, finished object and answers. */
static bool create_finish(struct write *write, const struct json *object, struct api_error *error)
{
    struct as_request *request = write->request;
    struct str name = as_edit_meta_str(object, "name");
    if (!check_namespace_exists(write, error))
        return false;
    if (as_bucket_get(write->resource->bucket, request->route.namespace, name))
        return api_fail_exists(error, &request->arena, write->resource->api, name);
    if (write->options.dry_run)
        as_answer_json(request, 201, object);
    else
        answer_object(write, 201, as_bucket_put(write->resource->bucket, stored_form(write, object)));
    return true;
}

static bool create(struct as_request *request, struct api_error *error)
{
    struct write write;
    const struct json *object;
    if (!write_begin(request, &write, error) || !as_body_object(request, &object, error) ||
        !create_object(&write, object, &object, error))
        return false;
    object = api_manage_update(&request->arena, write.resource->api, NULL, object, &write.options.writer);
    return create_finish(&write, object, error);
}

void as_create(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    if (!create(request, &error))
        as_answer_error(request, &error);
}

/* ---- changes ---- */

static bool same_but_version(struct arena *arena, const struct json *old, const struct json *object)
{
    const struct json *rv = json_path(old, "metadata", "resourceVersion", NULL);
    return json_equal(old, as_edit_meta(arena, object, STR("resourceVersion"), rv));
}

/* Stores `object` in the place of the old one, if it differs, and answers. */
static void change_finish(struct write *write, const struct json *object)
{
    struct as_request *request = write->request;
    struct as_bucket *bucket = write->resource->bucket;
    const struct json *stored = stored_form(write, object);
    const struct json *old_stored = stored_form(write, write->old);
    if (same_but_version(&request->arena, old_stored, stored)) {
        answer_object(write, 200, write->old_object);
    } else if (write->options.dry_run) {
        as_answer_json(request, 200, object);
    } else if (as_meta_is_deleting(object) && as_meta_grace(object) == 0 && as_meta_finalizers(object) == 0) {
        /* The last finalizer is gone: that was the deletion's last obstacle. */
        as_bucket_put(bucket, stored);
        struct str key = as_key(&request->arena, request->route.namespace, request->route.name);
        as_bucket_delete(bucket, key);
        as_answer_json(request, 200, object);
    } else {
        answer_object(write, 200, as_bucket_put(bucket, stored));
    }
}

static bool change_decoded(struct write *write, const struct json *object, const struct json **ret,
                           struct api_error *error)
{
    struct arena *arena = &write->request->arena;
    return as_meta_update(arena, write->resource, write->old, object, write->is_status, ret, error) &&
           api_object_validate(arena, write->resource->api, *ret, write->old, error);
}

static bool change_object(struct write *write, const struct json *object, const struct json **ret,
                          struct api_error *error)
{
    return write_decode(write, object, &object, error) && change_decoded(write, object, ret, error);
}

static bool check_version(const struct write *write, const struct json *object, struct api_error *error)
{
    struct arena *arena = &write->request->arena;
    const struct api_resource *api = write->resource->api;
    struct str given = as_edit_meta_str(object, "resourceVersion");
    if (str_empty(given) || str_eq(given, STR("0"))) {
        if (write->resource->unconditional_update)
            return true;
        struct api_causes causes = API_CAUSES_INIT(arena);
        struct api_path path = API_FIELD(NULL, STR("metadata.resourceVersion"));
        api_cause_add(&causes, API_CAUSE_INVALID, &path,
                      "Invalid value: 0x0: must be specified for an update");
        return api_fail_invalid(error, arena, api, write->request->route.name, &causes);
    }
    if (str_eq(given, as_edit_meta_str(write->old, "resourceVersion")))
        return true;
    return api_fail_modified(error, arena, api, write->request->route.name);
}

static bool update(struct as_request *request, struct api_error *error)
{
    struct write write;
    const struct json *object;
    if (!write_begin(request, &write, error) || !as_body_object(request, &object, error))
        return false;
    write_load(&write);
    if (!write.old_object && write.resource->create_on_update && !write.is_status) {
        object = as_edit_meta(&request->arena, object, STR("resourceVersion"), NULL);
        return create_object(&write, object, &object, error) && create_finish(&write, object, error);
    }
    if (!write_need(&write, error) || !check_version(&write, object, error) ||
        !change_object(&write, object, &object, error))
        return false;
    object =
        api_manage_update(&request->arena, write.resource->api, write.old, object, &write.options.writer);
    change_finish(&write, object);
    return true;
}

void as_update(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    if (!update(request, &error))
        as_answer_error(request, &error);
}

/* ---- patches ---- */

static bool apply_create(struct write *write, const struct json *config, struct api_error *error)
{
    const struct json *object;
    if (write->request->route.subresource.len)
        return write_need(write, error);
    return api_apply(&write->request->arena, write->resource->api, NULL, config, &write->options.writer,
                     &object, error) &&
           create_object(write, object, &object, error) && create_finish(write, object, error);
}

static bool apply(struct write *write, const struct json *config, struct api_error *error)
{
    const struct json *object;
    if (str_empty(as_param(&write->request->params, "fieldManager")))
        write->options.writer.manager = STR_NULL;
    write_load(write);
    if (!write->old_object)
        return apply_create(write, config, error);
    if (!api_apply(&write->request->arena, write->resource->api, write->old, config, &write->options.writer,
                   &object, error) ||
        !change_object(write, object, &object, error))
        return false;
    change_finish(write, object);
    return true;
}

static bool check_not_forced(const struct write *write, struct api_error *error)
{
    struct arena *arena = &write->request->arena;
    if (!write->options.force)
        return true;
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_path path = API_FIELD(NULL, STR("force"));
    api_cause_add(&causes, API_CAUSE_FORBIDDEN, &path, "Forbidden: may not be specified for non-apply patch");
    return api_fail_options(error, arena, "PatchOptions", &causes);
}

/* What a patch leaves behind is judged as invalid where the same in a PUT is a bad request. */
static bool patch_decode(struct write *write, const struct json *object, const struct json **ret,
                         struct api_error *error)
{
    static const struct api_resource nameless = { 0 };
    struct arena *arena = &write->request->arena;
    if (write_decode(write, object, ret, error))
        return true;
    if (error->code == 422)
        return false;
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_path path = API_FIELD(NULL, STR("patch"));
    const struct json *shown = json_new_str(arena, api_text(arena, object, 4096));
    api_cause_invalid(&causes, &path, shown, STR_FMT, STR_ARG(error->message));
    return api_fail_invalid(error, arena, &nameless, STR_NULL, &causes);
}

static bool patch(struct as_request *request, struct api_error *error)
{
    struct write write;
    const struct json *body;
    const struct json *object;
    enum api_patch_type type;
    if (!write_begin(request, &write, error) ||
        !api_patch_type_parse(&request->arena, request->resource->api, request->content_type, &type, error) ||
        !as_body_parse(request, &body, error))
        return false;
    if (!body)
        return api_fail(error, &request->arena, 400, "the body is empty");
    if (type != API_PATCH_APPLY && !check_not_forced(&write, error))
        return false;
    if (type == API_PATCH_APPLY)
        return apply(&write, body, error);
    if (!write_need(&write, error) ||
        !api_patch(&request->arena, write.resource->api, type, write.old, body, &object, error) ||
        !patch_decode(&write, object, &object, error) || !change_decoded(&write, object, &object, error))
        return false;
    object =
        api_manage_update(&request->arena, write.resource->api, write.old, object, &write.options.writer);
    change_finish(&write, object);
    return true;
}

void as_patch(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    if (!patch(request, &error))
        as_answer_error(request, &error);
}

void as_write_object(struct as_request *request, const struct as_object *old, const struct json *object,
                     const struct json *answer)
{
    struct api_error error = API_ERROR_INIT;
    struct write write;
    if (!write_begin(request, &write, &error)) {
        as_answer_error(request, &error);
        return;
    }
    write.old_object = old;
    write.old = as_media_tree(&request->arena, write.resource, old, old->rv);
    write.is_status = false;
    if (!change_object(&write, object, &object, &error)) {
        as_answer_error(request, &error);
    } else if (answer) {
        if (!write.options.dry_run && !same_but_version(&request->arena, write.old, object))
            as_bucket_put(write.resource->bucket, object);
        as_answer_json(request, 201, answer);
    } else {
        change_finish(&write, object);
    }
}
