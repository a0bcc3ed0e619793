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
    return as_load_object(server, object, AS_LOAD_MISSING, err);
}

static const struct json *set_default_namespace(struct arena *arena, const struct as_resource *resource,
                                                const struct json *object)
{
    if (!resource->api->namespaced || as_edit_meta_str(object, "namespace").len)
        return object;
    return as_edit_meta(arena, object, STR("namespace"), json_new_str(arena, STR("default")));
}

static const struct json *fill(struct arena *arena, const struct json *object, const char *field,
                               const struct json *value)
{
    return json_path(object, "metadata", field, NULL) ? object
                                                      : as_edit_meta(arena, object, str_c(field), value);
}

/* Where the manifest is silent: what the object had before, else what the server gives. */
static const struct json *fill_metadata(struct apiserver *server, struct arena *arena, const struct json *old,
                                        const struct json *object)
{
    const struct json *uid = json_path(old, "metadata", "uid", NULL);
    const struct json *created = json_path(old, "metadata", "creationTimestamp", NULL);
    object = as_edit_meta(arena, object, STR("resourceVersion"), NULL);
    object = fill(arena, object, "uid", uid ? uid : json_new_str(arena, as_new_uid(server, arena)));
    return fill(arena, object, "creationTimestamp",
                created ? created : json_new_str(arena, as_now_text(server, arena)));
}

static const struct json *fill_generation(struct arena *arena, const struct as_resource *resource,
                                          const struct json *old, const struct json *object)
{
    const struct json *generation = json_path(old, "metadata", "generation", NULL);
    if (!resource->api->counts_generation || json_path(object, "metadata", "generation", NULL))
        return object;
    object = as_edit_meta(arena, object, STR("generation"), generation ? generation : json_new_i64(arena, 1));
    return old && as_meta_rest_changed(arena, old, object) ? as_meta_raise_generation(arena, object) : object;
}

/* As the store keeps it. A definition that comes again keeps the conditions it has. */
static const struct json *stored_form(struct apiserver *server, struct arena *arena,
                                      const struct as_resource *resource, const struct json *old,
                                      const struct json *object)
{
    if (resource->is_converted)
        return api_event_to_core(arena, object);
    if (!str_eq(resource->api->kind, STR("CustomResourceDefinition")))
        return object;
    if (old && !json_get(object, STR("status")))
        object = as_edit_with(arena, object, STR("status"), json_get(old, STR("status")));
    return api_crd_established(arena, object, as_now_text(server, arena));
}

static bool is_same(struct arena *arena, const struct json *old, const struct json *object)
{
    static const struct str typing[] = { STR_INIT("kind"), STR_INIT("apiVersion") };
    for (size_t i = 0; i < ARRAY_LEN(typing); i++)
        object = as_edit_with(arena, object, typing[i], NULL);
    return json_equal(as_edit_meta(arena, old, STR("resourceVersion"), NULL),
                      as_edit_meta(arena, object, STR("resourceVersion"), NULL));
}

static bool put(struct apiserver *server, struct arena *arena, const struct as_resource *resource,
                const struct json *object, enum as_load_mode mode, struct err *err)
{
    struct api_error error = API_ERROR_INIT;
    if (!as_edit_meta_str(object, "name").len)
        return err_set(err, ERR_INVALID, "an object without metadata.name");
    object = set_default_namespace(arena, resource, object);
    struct str namespace = as_edit_meta_str(object, "namespace");
    const struct as_object *kept =
        as_bucket_get(resource->bucket, namespace, as_edit_meta_str(object, "name"));
    if (kept && mode == AS_LOAD_MISSING)
        return true;
    const struct json *old = kept ? as_object_tree(arena, kept, NULL, kept->rv) : NULL;
    object = fill_metadata(server, arena, old, object);
    if (!api_object_decode(arena, resource->api, object, API_FIELDS_IGNORE, NULL, &object, &error))
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(error.message));
    if (resource->api->namespaced && !ensure_namespace(server, arena, namespace, err))
        return false;
    object = fill_generation(arena, resource, old, stored_form(server, arena, resource, old, object));
    if (!old || !is_same(arena, old, object))
        as_bucket_put(resource->bucket, object);
    return true;
}

static bool load_items(struct apiserver *server, const struct json *items, enum as_load_mode mode,
                       struct err *err)
{
    for (size_t i = 0; i < json_count(items); i++)
        if (!as_load_object(server, items->array.items[i], mode, err))
            return false;
    return true;
}

bool as_load_object(struct apiserver *server, const struct json *object, enum as_load_mode mode,
                    struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str api_version = json_str(json_get(object, STR("apiVersion")));
    struct str kind = json_str(json_get(object, STR("kind")));
    const struct json *items = json_get(object, STR("items"));
    if (str_ends_with(kind, STR("List")) && json_is(items, JSON_ARRAY))
        return load_items(server, items, mode, err);
    const struct as_resource *resource = as_registry_find_kind(server->registry, api_version, kind);
    if (!resource)
        return err_set(err, ERR_INVALID, "kind \"" STR_FMT "\" of \"" STR_FMT "\" is not served",
                       STR_ARG(kind), STR_ARG(api_version));
    if (!put(server, &arena, resource, object, mode, err))
        return err_wrap(err, STR_FMT " " STR_FMT, STR_ARG(kind), STR_ARG(as_edit_meta_str(object, "name")));
    return true;
}

struct loader {
    struct apiserver *server;
    enum as_load_mode mode;
};

static bool on_document(void *self, size_t document, const struct json *root, struct err *err)
{
    const struct loader *loader = self;
    return as_load_object(loader->server, root, loader->mode, err) ||
           err_wrap(err, "document %zu", document + 1);
}

bool as_load_text(struct apiserver *server, struct str manifests, enum as_load_mode mode, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kyaml_limits limits = { .max_bytes = MANIFEST_BYTES, .max_nodes = SIZE_MAX };
    struct loader loader = { server, mode };
    return kyaml_each(&arena, manifests, &limits, on_document, &loader, err);
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
    return (file_read(path, &text, err) && as_load_text(server, strbuf_str(&text), AS_LOAD_REPLACE, err)) ||
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
