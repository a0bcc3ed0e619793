#include "test/apiserver/validate.h"
#include "selector/selector.h"
#include "test/apiserver/kindrules.h"
#include "test/apiserver/names.h"
#include "test/apiserver/schema.h"
#include "test/apiserver/tree.h"

#define MAX_ANNOTATION_BYTES 262144

static const struct {
    const char *kind;
    const char *(*name)(struct str name); /* NULL: a DNS subdomain */
    void (*check)(const struct api_kind_input *in);
} rules[] = {
    { "Node", NULL, api_validate_node },
    { "Pod", NULL, api_validate_pod },
    { "Deployment", NULL, api_validate_workload },
    { "DaemonSet", NULL, api_validate_workload },
    { "ReplicaSet", NULL, api_validate_workload },
    { "Lease", NULL, api_validate_lease },
    { "Event", NULL, api_validate_event },
    { "ConfigMap", NULL, api_validate_config_map },
    { "Secret", NULL, api_validate_secret },
    { "Namespace", api_name_label, NULL },
    { "Service", api_name_label, NULL },
    { "Role", api_name_path_segment, NULL },
    { "RoleBinding", api_name_path_segment, NULL },
    { "ClusterRole", api_name_path_segment, NULL },
    { "ClusterRoleBinding", api_name_path_segment, NULL },
};

/* ---- metadata ---- */

static void check_name(const struct api_kind_input *in, const struct json *metadata,
                       const struct api_path *path, const char *(*syntax)(struct str name))
{
    struct api_path at = API_FIELD(path, STR("name"));
    struct str name = api_get_str(metadata, "name");
    const char *why = syntax ? syntax(name) : api_name_subdomain(name);
    if (str_empty(name))
        api_cause_add(in->causes, API_CAUSE_REQUIRED, &at,
                      "Required value: name or generateName is required");
    else if (why)
        api_cause_invalid(in->causes, &at, api_get(metadata, "name"), "%s", why);
}

static void check_scope(const struct api_kind_input *in, const struct json *metadata,
                        const struct api_path *path)
{
    struct api_path at = API_FIELD(path, STR("namespace"));
    struct str namespace = api_get_str(metadata, "namespace");
    if (in->resource->namespaced && str_empty(namespace))
        api_cause_required(in->causes, &at);
    else if (in->resource->namespaced && api_name_label(namespace))
        api_cause_invalid(in->causes, &at, api_get(metadata, "namespace"), "%s", api_name_label(namespace));
    else if (!in->resource->namespaced && !str_empty(namespace))
        api_cause_add(in->causes, API_CAUSE_FORBIDDEN, &at, "Forbidden: not allowed on this type");
}

static void check_labels(const struct api_kind_input *in, const struct json *labels,
                         const struct api_path *path)
{
    struct api_path at = API_FIELD(path, STR("labels"));
    for (size_t i = 0; i < api_map_count(labels); i++) {
        const struct json_member *label = &labels->object.members[i];
        if (api_name_qualified(label->key))
            api_cause_invalid(in->causes, &at, json_new_str(in->arena, label->key), "%s",
                              api_name_qualified(label->key));
        if (!label_value_valid(json_str(label->value)))
            api_cause_invalid(
                in->causes, &at, label->value,
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
                "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
                "'my_value',  or '12345', regex used for validation is "
                "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), at most 63 bytes long");
    }
}

static void check_annotations(const struct api_kind_input *in, const struct json *annotations,
                              const struct api_path *path)
{
    struct api_path at = API_FIELD(path, STR("annotations"));
    size_t total = 0;
    for (size_t i = 0; i < api_map_count(annotations); i++) {
        const struct json_member *annotation = &annotations->object.members[i];
        total += annotation->key.len + json_str(annotation->value).len;
        if (api_name_qualified(annotation->key))
            api_cause_invalid(in->causes, &at, json_new_str(in->arena, annotation->key), "%s",
                              api_name_qualified(annotation->key));
    }
    if (total > MAX_ANNOTATION_BYTES)
        api_cause_add(in->causes, API_CAUSE_TOO_LONG, &at, "Too long: may not be more than %d bytes",
                      MAX_ANNOTATION_BYTES);
}

static void check_finalizers(const struct api_kind_input *in, const struct json *finalizers,
                             const struct api_path *path)
{
    struct api_path at = API_FIELD(path, STR("finalizers"));
    for (size_t i = 0; i < api_list_count(finalizers); i++) {
        const char *why = api_name_qualified(json_str(finalizers->array.items[i]));
        if (why)
            api_cause_invalid(in->causes, &at, finalizers->array.items[i], "%s", why);
    }
}

static void check_owners(const struct api_kind_input *in, const struct json *owners,
                         const struct api_path *path)
{
    static const char *const required[] = { "apiVersion", "kind", "name", "uid" };
    struct api_path list = API_FIELD(path, STR("ownerReferences"));
    size_t controllers = 0;
    for (size_t i = 0; i < api_list_count(owners); i++) {
        struct api_path owner = API_INDEX(&list, i);
        for (size_t k = 0; k < ARRAY_LEN(required); k++) {
            struct api_path at = API_FIELD(&owner, str_c(required[k]));
            const struct json *value = api_get(owners->array.items[i], required[k]);
            if (str_empty(json_str(value)))
                api_cause_invalid(in->causes, &at, value ? value : json_new_str(in->arena, STR_NULL),
                                  "must not be empty");
        }
        controllers += json_bool(api_get(owners->array.items[i], "controller"));
    }
    if (controllers > 1)
        api_cause_add(in->causes, API_CAUSE_INVALID, &list,
                      "Invalid value: only one reference can have Controller set to true, found %zu",
                      controllers);
}

void api_validate_immutable(const struct api_kind_input *in, const struct json *now,
                            const struct json *before, const struct api_path *parent, const char *key)
{
    struct api_path path = API_FIELD(parent, str_c(key));
    const struct json *value = api_get(now, key), *was = api_get(before, key);
    if (!in->old || (!value && !was) || (value && was && json_equal(value, was)))
        return;
    api_cause_invalid(in->causes, &path, value, "field is immutable");
}

static void check_metadata(const struct api_kind_input *in, const char *(*name_syntax)(struct str name))
{
    static const char *const immutable[] = { "name", "namespace", "uid", "creationTimestamp" };
    const struct json *metadata = api_get(in->object, "metadata");
    struct api_path path = API_FIELD(NULL, STR("metadata"));
    check_name(in, metadata, &path, name_syntax);
    check_scope(in, metadata, &path);
    check_labels(in, api_get(metadata, "labels"), &path);
    check_annotations(in, api_get(metadata, "annotations"), &path);
    check_finalizers(in, api_get(metadata, "finalizers"), &path);
    check_owners(in, api_get(metadata, "ownerReferences"), &path);
    for (size_t i = 0; i < ARRAY_LEN(immutable); i++)
        api_validate_immutable(in, metadata, api_get(in->old, "metadata"), &path, immutable[i]);
}

/* ---- the whole object ---- */

bool api_object_validate(struct arena *arena, const struct api_resource *resource, const struct json *object,
                         const struct json *old, struct api_error *error)
{
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_kind_input in = {
        .arena = arena, .resource = resource, .object = object, .old = old, .causes = &causes
    };
    const char *(*name_syntax)(struct str name) = NULL;
    void (*check)(const struct api_kind_input *in) = NULL;
    for (size_t i = 0; !resource->custom && i < ARRAY_LEN(rules); i++)
        if (str_eq(str_c(rules[i].kind), resource->kind)) {
            name_syntax = rules[i].name;
            check = rules[i].check;
        }
    check_metadata(&in, name_syntax);
    if (check)
        check(&in);
    if (resource->schema)
        api_schema_validate(resource->schema, object, &causes);
    return causes.count == 0 || api_fail_invalid(error, arena, resource,
                                                 api_get_str(api_get(object, "metadata"), "name"), &causes);
}
