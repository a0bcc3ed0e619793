#include "test/apiserver/admission.h"

#include <inttypes.h>

#include "test/apiserver/edit.h"
#include "test/apiserver/media.h"

struct priority {
    int64_t value;
    struct str class;      /* the default one's name, when the Pod named none */
    struct str preemption; /* "PreemptLowerPriority", "Never" */
};

/* These two exist in every cluster. */
static const struct {
    struct str name;
    int64_t value;
} system_classes[] = {
    { STR_INIT("system-cluster-critical"), 2000000000 },
    { STR_INIT("system-node-critical"), 2000001000 },
};

static void read_class(const struct json *class, struct priority *ret)
{
    struct str policy = json_str(json_get(class, STR("preemptionPolicy")));
    if (!json_i64(json_get(class, STR("value")), &ret->value))
        ret->value = 0;
    if (policy.len)
        ret->preemption = policy;
}

static bool find_class(struct as_request *request, struct str pod, struct str name, struct priority *ret,
                       struct api_error *error)
{
    struct arena *arena = &request->arena;
    for (size_t i = 0; i < ARRAY_LEN(system_classes); i++) {
        if (str_eq(system_classes[i].name, name)) {
            ret->value = system_classes[i].value;
            return true;
        }
    }
    const struct as_bucket *bucket =
        as_store_bucket(request->server->store, STR("scheduling.k8s.io"), STR("priorityclasses"));
    const struct as_object *class = as_bucket_get(bucket, STR_NULL, name);
    if (!class)
        return api_fail_forbidden(error, arena, request->resource->api, pod,
                                  "no PriorityClass with name " STR_FMT " was found", STR_ARG(name));
    read_class(as_object_tree(arena, class, NULL, class->rv), ret);
    return true;
}

static void find_default(struct as_request *request, struct priority *ret)
{
    struct as_bucket *bucket =
        as_store_bucket(request->server->store, STR("scheduling.k8s.io"), STR("priorityclasses"));
    const struct as_omap_node *node = as_omap_seek(&bucket->objects, STR_NULL);
    for (; node; node = as_omap_next(node)) {
        const struct as_object *class = as_omap_object(node);
        const struct json *tree = as_object_tree(&request->arena, class, NULL, class->rv);
        if (json_bool(json_get(tree, STR("globalDefault")))) {
            read_class(tree, ret);
            ret->class = arena_str(&request->arena, class->name);
        }
    }
}

/* A Pod gets its priority from its class and must not say another one. */
static bool admit_pod(struct as_request *request, const struct json *pod, const struct json **ret,
                      struct api_error *error)
{
    struct arena *arena = &request->arena;
    struct str name = as_edit_meta_str(pod, "name");
    struct str class = json_str(json_path(pod, "spec", "priorityClassName", NULL));
    struct priority priority = { .preemption = STR("PreemptLowerPriority") };
    if (str_empty(class))
        find_default(request, &priority);
    else if (!find_class(request, name, class, &priority, error))
        return false;
    const struct json *spec = json_get(pod, STR("spec"));
    const struct json *given = json_get(spec, STR("priority"));
    int64_t said;
    if (given && (!json_i64(given, &said) || said != priority.value))
        return api_fail_forbidden(error, arena, request->resource->api, name,
                                  "the integer value of priority (" STR_FMT
                                  ") must not be provided in pod spec; priority admission controller "
                                  "computed %" PRId64 " from the given PriorityClass name",
                                  STR_ARG(given->text), priority.value);
    struct json *copy = json_copy(arena, spec);
    if (priority.class.len)
        json_set(arena, copy, STR("priorityClassName"), json_new_str(arena, priority.class));
    json_set(arena, copy, STR("priority"), json_new_i64(arena, priority.value));
    if (!json_get(spec, STR("preemptionPolicy")))
        json_set(arena, copy, STR("preemptionPolicy"), json_new_str(arena, priority.preemption));
    *ret = as_edit_with(arena, pod, STR("spec"), copy);
    return true;
}

bool as_admit_create(struct as_request *request, const struct json *object, const struct json **ret,
                     struct api_error *error)
{
    const struct api_resource *api = request->resource->api;
    *ret = object;
    bool is_pod = str_empty(api->group) && str_eq(api->kind, STR("Pod"));
    return !is_pod || admit_pod(request, object, ret, error);
}
