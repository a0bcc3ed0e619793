/* OpenAPI v3, as little of it as clients need: that the server validates fields itself,
 * and schemas for `kubectl explain`. */
#include "test/apiserver/discovery.h"
#include "test/apiserver/schema.h"
#include "test/apiserver/tree.h"
#include "test/apiserver/types.h"

static struct str gv_path(struct arena *arena, const struct api_resource *resource)
{
    return arena_strf(arena, "%s" STR_FMT "%s" STR_FMT, resource->group.len ? "apis/" : "api",
                      STR_ARG(resource->group), "/", STR_ARG(resource->version));
}

static const struct json *kind_json(struct arena *arena, const struct api_resource *resource)
{
    struct json *object = api_object(arena);
    api_set_str(arena, object, "group", resource->group);
    api_set_str(arena, object, "version", resource->version);
    api_set_str(arena, object, "kind", resource->kind);
    return object;
}

static void push_parameter(struct arena *arena, struct json *list, const char *name, const char *in)
{
    struct json *parameter = api_object(arena), *schema = api_object(arena);
    api_set_c(arena, schema, "type", "string");
    api_set_c(arena, parameter, "name", name);
    api_set_c(arena, parameter, "in", in);
    api_set_bool(arena, parameter, "required", str_eq(str_c(in), STR("path")));
    api_set(arena, parameter, "schema", schema);
    json_push(arena, list, parameter);
}

/* No strategic-merge-patch schema is offered, so that kubectl merges by its own types. */
static const struct json *operation(struct arena *arena, const struct api_resource *resource,
                                    const char *action)
{
    static const char *const parameters[] = { "dryRun", "fieldManager", "fieldValidation", "force" };
    struct json *object = api_object(arena), *list = api_array(arena), *responses = api_object(arena);
    struct json *ok = api_object(arena);
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        push_parameter(arena, list, parameters[i], "query");
    api_set_c(arena, ok, "description", "OK");
    api_set(arena, responses, "200", ok);
    api_set(arena, object, "parameters", list);
    api_set(arena, object, "responses", responses);
    api_set_c(arena, object, "x-kubernetes-action", action);
    api_set(arena, object, "x-kubernetes-group-version-kind", kind_json(arena, resource));
    return object;
}

static void add_paths(struct arena *arena, struct json *paths, const struct api_resource *resource)
{
    struct json *one = api_object(arena), *many = api_object(arena), *parameters = api_array(arena);
    struct str base = gv_path(arena, resource);
    struct str collection =
        arena_strf(arena, "/" STR_FMT "%s/" STR_FMT, STR_ARG(base),
                   resource->namespaced ? "/namespaces/{namespace}" : "", STR_ARG(resource->plural));
    if (resource->verbs & API_VERB_PATCH) {
        push_parameter(arena, parameters, "name", "path");
        if (resource->namespaced)
            push_parameter(arena, parameters, "namespace", "path");
        api_set(arena, one, "get", operation(arena, resource, "get"));
        api_set(arena, one, "put", operation(arena, resource, "put"));
        api_set(arena, one, "patch", operation(arena, resource, "patch"));
        api_set(arena, one, "parameters", parameters);
        json_set(arena, paths, arena_strf(arena, STR_FMT "/{name}", STR_ARG(collection)), one);
    }
    api_set(arena, many, "post", operation(arena, resource, "post"));
    json_set(arena, paths, collection, many);
}

/* ---- schemas ---- */

static struct json *type_schema(struct arena *arena, const struct api_type *type);

static struct json *value_schema(struct arena *arena, const struct api_type_field *field)
{
    static const struct {
        const char *type, *format;
    } names[] = {
        [API_VALUE_ANY] = { "object", NULL },
        [API_VALUE_STRING] = { "string", NULL },
        [API_VALUE_BOOL] = { "boolean", NULL },
        [API_VALUE_INT32] = { "integer", "int32" },
        [API_VALUE_INT64] = { "integer", "int64" },
        [API_VALUE_INT_OR_STRING] = { "string", "int-or-string" },
        [API_VALUE_TIME] = { "string", "date-time" },
        [API_VALUE_MICROTIME] = { "string", "date-time" },
        [API_VALUE_QUANTITY] = { "string", NULL },
        [API_VALUE_BYTES] = { "string", "byte" },
        [API_VALUE_OBJECT] = { "object", NULL },
    };
    if (field->kind == API_VALUE_OBJECT)
        return type_schema(arena, field->type);
    struct json *schema = api_object(arena);
    api_set_c(arena, schema, "type", names[field->kind].type);
    api_set_some(arena, schema, "format", str_c(names[field->kind].format));
    return schema;
}

static struct json *field_schema(struct arena *arena, const struct api_type_field *field)
{
    struct json *value = value_schema(arena, field);
    if (field->shape == API_SHAPE_ONE)
        return value;
    struct json *schema = api_object(arena);
    api_set_c(arena, schema, "type", field->shape == API_SHAPE_LIST ? "array" : "object");
    api_set(arena, schema, field->shape == API_SHAPE_LIST ? "items" : "additionalProperties", value);
    return schema;
}

static struct json *type_schema(struct arena *arena, const struct api_type *type)
{
    struct json *schema = api_object(arena), *properties = api_object(arena);
    for (size_t i = 0; i < type->count; i++)
        api_set(arena, properties, type->fields[i].name, field_schema(arena, &type->fields[i]));
    api_set_c(arena, schema, "type", "object");
    api_set(arena, schema, "properties", properties);
    return schema;
}

/* metadata of a custom resource is declared as just "object": show the real thing. */
static const struct json *custom_schema(struct arena *arena, const struct api_schema *schema)
{
    const struct json *raw = api_schema_raw(schema);
    const struct json *properties =
        api_with(arena, api_get(raw, "properties"), "metadata", type_schema(arena, &api_type_metadata));
    return api_with(arena, raw, "properties", properties);
}

static void add_schema(struct arena *arena, struct json *schemas, const struct api_resource *resource)
{
    struct json *kinds = api_array(arena);
    const struct json *schema = resource->schema   ? custom_schema(arena, resource->schema)
                                : resource->custom ? api_object(arena)
                                                   : type_schema(arena, api_type_of(resource));
    json_push(arena, kinds, kind_json(arena, resource));
    struct str name = arena_strf(arena, STR_FMT "." STR_FMT "." STR_FMT,
                                 STR_ARG(resource->group.len ? resource->group : STR("core")),
                                 STR_ARG(resource->version), STR_ARG(resource->kind));
    json_set(arena, schemas, name, api_with(arena, schema, "x-kubernetes-group-version-kind", kinds));
}

/* ---- documents ---- */

const struct json *api_openapi_document(struct arena *arena, const struct api_registry *registry,
                                        struct str group, struct str version)
{
    struct json *root = api_object(arena), *info = api_object(arena), *paths = api_object(arena);
    struct json *components = api_object(arena), *schemas = api_object(arena);
    for (size_t i = 0; i < registry->count; i++) {
        const struct api_resource *resource = registry->resources[i];
        if (!str_eq(resource->group, group) || !str_eq(resource->version, version))
            continue;
        add_paths(arena, paths, resource);
        add_schema(arena, schemas, resource);
    }
    if (json_count(paths) == 0)
        return NULL;
    api_set_c(arena, info, "title", "Kubernetes");
    api_set_c(arena, info, "version", "v1.32.0");
    api_set(arena, components, "schemas", schemas);
    api_set_c(arena, root, "openapi", "3.0.0");
    api_set(arena, root, "info", info);
    api_set(arena, root, "paths", paths);
    api_set(arena, root, "components", components);
    return root;
}

const struct json *api_openapi_index(struct arena *arena, const struct api_registry *registry)
{
    struct json *root = api_object(arena), *paths = api_object(arena);
    for (size_t i = 0; i < registry->count; i++) {
        const struct api_resource *resource = registry->resources[i];
        struct str path = gv_path(arena, resource);
        if (json_get(paths, path))
            continue;
        /* Clients cache a document under its hash, so it has to follow the content. */
        const struct json *document =
            api_openapi_document(arena, registry, resource->group, resource->version);
        uint64_t hash = str_hash(api_text(arena, document, SIZE_MAX));
        struct json *entry = api_object(arena);
        api_set_str(arena, entry, "serverRelativeURL",
                    arena_strf(arena, "/openapi/v3/" STR_FMT "?hash=%016llX", STR_ARG(path),
                               (unsigned long long)hash));
        json_set(arena, paths, path, entry);
    }
    api_set(arena, root, "paths", paths);
    return root;
}

/* ---- version 2 ---- */

/* Asked for with "@" before the version, answered with "." there, as a media type must. */
bool api_openapi_v2_wants_protobuf(struct str accept)
{
    return str_starts_with(accept, STR("application/com.github.proto-openapi.spec.v2"));
}

/* swagger = 1; info = 2 { title = 1; version = 2 } */
struct str api_openapi_v2_protobuf(void)
{
    return STR("\x0a\x03"
               "2.0"
               "\x12\x15"
               "\x0a\x0a"
               "Kubernetes"
               "\x12\x07"
               "v1.32.0");
}

const struct json *api_openapi_v2(struct arena *arena)
{
    struct json *root = api_object(arena), *info = api_object(arena);
    api_set_c(arena, info, "title", "Kubernetes");
    api_set_c(arena, info, "version", "v1.32.0");
    api_set_c(arena, root, "swagger", "2.0");
    api_set(arena, root, "info", info);
    api_set(arena, root, "paths", api_object(arena));
    return root;
}
