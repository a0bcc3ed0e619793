#include "source.h"

bool source_find(const struct snapshot *snapshot, const struct source_choice *choice,
                 const struct configmap **ret, struct err *err)
{
    const struct kube_object *found = NULL;
    for (size_t i = 0; i < snapshot->lists[SNAPSHOT_CONFIGMAP].count; i++) {
        const struct kube_object *object = snapshot_at(snapshot, SNAPSHOT_CONFIGMAP, i);
        if (!str_eq(kube_object_name(object), choice->name))
            continue;
        if (!str_empty(choice->ns) && !str_eq(kube_object_namespace(object), choice->ns))
            continue;
        if (found)
            return err_set(err, ERR_INVALID,
                           "ConfigMap " STR_FMT " is given in namespaces " STR_FMT " and " STR_FMT
                           "; choose one with --config-namespace",
                           STR_ARG(choice->name), STR_ARG(kube_object_namespace(found)),
                           STR_ARG(kube_object_namespace(object)));
        found = object;
    }
    *ret = found ? configmap_of(found) : NULL;
    return true;
}
