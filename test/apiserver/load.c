#include "test/apiserver/load.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/edit.h"
#include "test/apiserver/event.h"
#include "test/apiserver/media.h"
#include "test/apiserver/meta.h"
#include "test/apiserver/validate.h"
#include "yaml/yaml.h"

#define MANIFEST_BYTES (256 * 1024 * 1024)

/* Everything lives in a namespace that exists. */
static bool ensure_namespace(struct apiserver *server, struct arena *arena, struct str name, struct err *err)
{
    struct as_bucket *bucket = as_store_bucket(server->store, STR(""), STR("namespaces"));
    if (as_bucket_get(bucket, STR_NULL, name))
        return true;
    struct json *metadata = json_new(arena, JSON_OBJECT);
    struct json *object = json_new(arena, JSON_OBJECT);
    json_set(arena, metadata, STR("name"), json_new_str(arena, name));
    json_set(arena, object, STR("apiVersion"), json_new_str(arena, STR("v1")));
    json_set(arena, object, STR("kind"), json_new_str(arena, STR("Namespace")));
    json_set(arena, object, STR("metadata"), metadata);
    return as_load_object(server, object, err);
}

/* What the server would have given it, where the manifest does not say. */
static const struct json *fill_metadata(struct apiserver *server, struct arena *arena,
                                        const struct as_resource *resource, const struct json *object)
{
    struct str namespace = as_edit_meta_str(object, "namespace");
    if (resource->api->namespaced && str_empty(namespace)) {
        namespace = STR("default");
        object = as_edit_meta(arena, object, STR("namespace"), json_new_str(arena, namespace));
    }
    const struct as_object *old =
        as_bucket_get(resource->bucket, namespace, as_edit_meta_str(object, "name"));
    const struct json *before = old ? as_object_tree(arena, old, NULL, old->rv) : NULL;
    struct str uid = old ? old->uid : as_new_uid(server, arena);
    struct str created = old ? as_edit_meta_str(before, "creationTimestamp") : as_now_text(server, arena);
    object = as_edit_meta(arena, object, STR("resourceVersion"), NULL);
    if (!as_edit_meta_str(object, "uid").len)
        object = as_edit_meta(arena, object, STR("uid"), json_new_str(arena, uid));
    if (!as_edit_meta_str(object, "creationTimestamp").len)
        object = as_edit_meta(arena, object, STR("creationTimestamp"), json_new_str(arena, created));
    if (resource->api->counts_generation && !json_path(object, "metadata", "generation", NULL)) {
        int64_t generation = 0;
        if (!json_i64(json_path(before, "metadata", "generation", NULL), &generation))
            generation = 0;
        object = as_edit_meta(arena, object, STR("generation"), json_new_i64(arena, generation + 1));
    }
    return object;
}

static bool put(struct apiserver *server, struct arena *arena, const struct as_resource *resource,
                const struct json *object, struct err *err)
{
    struct api_error error = API_ERROR_INIT;
    if (!as_edit_meta_str(object, "name").len)
        return err_set(err, ERR_INVALID, "an object without metadata.name");
    object = fill_metadata(server, arena, resource, object);
    if (!api_object_decode(arena, resource->api, object, API_FIELDS_IGNORE, NULL, &object, &error))
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(error.message));
    struct str namespace = as_edit_meta_str(object, "namespace");
    if (resource->api->namespaced && !ensure_namespace(server, arena, namespace, err))
        return false;
    if (resource->is_converted)
        object = api_event_to_core(arena, object);
    if (str_eq(resource->api->kind, STR("CustomResourceDefinition")))
        object = api_crd_established(arena, object, as_now_text(server, arena));
    as_bucket_put(resource->bucket, object);
    return true;
}

bool as_load_object(struct apiserver *server, const struct json *object, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str api_version = json_str(json_get(object, STR("apiVersion")));
    struct str kind = json_str(json_get(object, STR("kind")));
    const struct json *items = json_get(object, STR("items"));
    if (str_ends_with(kind, STR("List")) && json_is(items, JSON_ARRAY)) {
        for (size_t i = 0; i < json_count(items); i++)
            if (!as_load_object(server, items->array.items[i], err))
                return false;
        return true;
    }
    const struct as_resource *resource = as_registry_find_kind(server->registry, api_version, kind);
    if (!resource)
        return err_set(err, ERR_INVALID, "kind \"" STR_FMT "\" of \"" STR_FMT "\" is not served",
                       STR_ARG(kind), STR_ARG(api_version));
    if (!put(server, &arena, resource, object, err))
        return err_wrap(err, STR_FMT " " STR_FMT, STR_ARG(kind), STR_ARG(as_edit_meta_str(object, "name")));
    return true;
}

static bool on_document(void *self, size_t document, const struct json *root, struct err *err)
{
    return as_load_object(self, root, err) || err_wrap(err, "document %zu", document + 1);
}

bool as_load_text(struct apiserver *server, struct str manifests, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kyaml_limits limits = { .max_bytes = MANIFEST_BYTES, .max_nodes = SIZE_MAX };
    return kyaml_each(&arena, manifests, &limits, on_document, server, err);
}

static int is_manifest(const struct dirent *entry)
{
    struct str name = str_c(entry->d_name);
    return str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml")) ||
           str_ends_with(name, STR(".json"));
}

static bool load_file(struct apiserver *server, const char *path, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES);
    return (file_read(path, &text, err) && as_load_text(server, strbuf_str(&text), err)) ||
           err_wrap(err, "%s", path);
}

bool as_load_dir(struct apiserver *server, const char *dir, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct dirent **entries;
    int count = scandir(dir, &entries, is_manifest, alphasort);
    if (count < 0)
        return err_errno(err, "read folder %s", dir);
    bool ok = true;
    for (int i = 0; i < count; i++) {
        ok = ok && load_file(server, arena_strf(&arena, "%s/%s", dir, entries[i]->d_name).ptr, err);
        free(entries[i]);
    }
    free(entries);
    return ok;
}
