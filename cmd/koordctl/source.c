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

/* "ConfigMap NAME" or "ConfigMap NAMESPACE/NAME". */
static bool names_configmap(struct str object, struct str name)
{
    struct str rest;
    if (!str_starts_with(object, STR("ConfigMap ")) || !str_ends_with(object, name))
        return false;
    rest = str_slice(object, 0, object.len - name.len);
    return str_ends_with(rest, STR(" ")) || str_ends_with(rest, STR("/"));
}

bool source_check_data(const struct snapshot *snapshot, struct str name, struct err *err)
{
    for (size_t i = 0; i < snapshot->warning_count; i++) {
        const struct snapshot_warning *w = &snapshot->warnings[i];
        if (names_configmap(w->object, name) && str_starts_with(w->path, STR("data")))
            return err_set(err, ERR_INVALID, STR_FMT ": " STR_FMT " " STR_FMT, STR_ARG(w->object),
                           STR_ARG(w->path), STR_ARG(w->message));
    }
    return true;
}
