#include "snapshot.h"
#include <stdlib.h>

const struct kube_kind *const snapshot_kinds[SNAPSHOT_KINDS] = {
    [SNAPSHOT_CONFIGMAP] = &configmap_kind,
    [SNAPSHOT_NODE] = &node_kind,
    [SNAPSHOT_POD] = &pod_kind,
    [SNAPSHOT_NODEMETRIC] = &nodemetric_kind,
    [SNAPSHOT_DEVICE] = &device_kind,
    [SNAPSHOT_TOPOLOGY] = &nrt_kind,
    [SNAPSHOT_NODESLO] = &nodeslo_kind,
};

void snapshot_init(struct snapshot *snapshot)
{
    *snapshot = (struct snapshot){ .pool = intern_new() };
}

void snapshot_done(struct snapshot *snapshot)
{
    for (size_t kind = 0; kind < SNAPSHOT_KINDS; kind++) {
        struct snapshot_list *list = &snapshot->lists[kind];
        for (size_t i = 0; i < list->count; i++)
            kube_object_unref(list->items[i].object);
        free(list->items);
    }
    intern_free(snapshot->pool);
    arena_done(&snapshot->arena);
    *snapshot = (struct snapshot){ 0 };
}

void snapshot_add(struct snapshot *snapshot, enum snapshot_kind kind, struct kube_object *object)
{
    struct snapshot_list *list = &snapshot->lists[kind];
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 64;
        list->items = mem_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count] = (struct snapshot_item){ object, list->count };
    list->count++;
}

void snapshot_warn(struct snapshot *snapshot, struct str object, struct str path, struct str value,
                   struct str message)
{
    struct arena *arena = &snapshot->arena;
    if (snapshot->warning_count == SNAPSHOT_WARNINGS_MAX) {
        snapshot->warnings_omitted++;
        return;
    }
    if (!snapshot->warnings)
        snapshot->warnings = arena_array(arena, struct snapshot_warning, SNAPSHOT_WARNINGS_MAX);
    snapshot->warnings[snapshot->warning_count++] = (struct snapshot_warning){
        arena_str(arena, object),
        arena_str(arena, path),
        arena_str(arena, value),
        arena_str(arena, message),
    };
}

struct str snapshot_object_name(struct arena *arena, const char *kind, struct str ns, struct str name)
{
    if (str_empty(ns))
        return arena_strf(arena, "%s " STR_FMT, kind, STR_ARG(name));
    return arena_strf(arena, "%s " STR_FMT "/" STR_FMT, kind, STR_ARG(ns), STR_ARG(name));
}

/* --- sealing --------------------------------------------------------------------- */

static int identity_order(const struct kube_object *a, const struct kube_object *b)
{
    int order = str_cmp(kube_object_namespace(a), kube_object_namespace(b));
    return order ? order : str_cmp(kube_object_name(a), kube_object_name(b));
}

static int item_order(const void *a, const void *b)
{
    const struct snapshot_item *x = a, *y = b;
    int order = identity_order(x->object, y->object);
    return order ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void warn_twice(struct snapshot *snapshot, const struct kube_object *object)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    snapshot_warn(snapshot,
                  snapshot_object_name(&scratch, object->kind->kind, kube_object_namespace(object),
                                       kube_object_name(object)),
                  STR_NULL, STR_NULL, STR("given more than once; the last one counts"));
}

static void seal_list(struct snapshot *snapshot, struct snapshot_list *list)
{
    size_t kept = 0;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, item_order);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && identity_order(list->items[kept - 1].object, list->items[i].object) == 0) {
            warn_twice(snapshot, list->items[i].object);
            kube_object_unref(list->items[--kept].object);
        }
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static int pod_order(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    int order = str_cmp(istr_str(x->node_name), istr_str(y->node_name));
    return order ? order : identity_order(&x->object, &y->object);
}

static void index_pods(struct snapshot *snapshot)
{
    const struct snapshot_list *list = &snapshot->lists[SNAPSHOT_POD];
    snapshot->pods_by_node = arena_array(&snapshot->arena, const struct pod *, list->count);
    snapshot->pods_by_node_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct pod *pod = pod_of(list->items[i].object);
        if (pod->node_name)
            snapshot->pods_by_node[snapshot->pods_by_node_count++] = pod;
    }
    if (snapshot->pods_by_node_count > 1)
        qsort(snapshot->pods_by_node, snapshot->pods_by_node_count, sizeof *snapshot->pods_by_node,
              pod_order);
}

void snapshot_seal(struct snapshot *snapshot)
{
    for (size_t kind = 0; kind < SNAPSHOT_KINDS; kind++)
        seal_list(snapshot, &snapshot->lists[kind]);
    index_pods(snapshot);
}

const struct kube_object *snapshot_at(const struct snapshot *snapshot, enum snapshot_kind kind, size_t index)
{
    return snapshot->lists[kind].items[index].object;
}

static int name_order(const void *key, const void *item)
{
    const struct str *name = key;
    const struct snapshot_item *at = item;
    return str_cmp(*name, kube_object_name(at->object));
}

const struct kube_object *snapshot_find(const struct snapshot *snapshot, enum snapshot_kind kind,
                                        struct str name)
{
    const struct snapshot_list *list = &snapshot->lists[kind];
    const struct snapshot_item *item =
        list->count ? bsearch(&name, list->items, list->count, sizeof *item, name_order) : NULL;
    return item ? item->object : NULL;
}

/* The first pod whose node name is not below `node`. */
static size_t lower_bound(const struct snapshot *snapshot, struct str node)
{
    size_t low = 0, high = snapshot->pods_by_node_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(istr_str(snapshot->pods_by_node[middle]->node_name), node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct pod *const *snapshot_pods_on(const struct snapshot *snapshot, struct str node, size_t *count)
{
    size_t first = lower_bound(snapshot, node), end = first;
    while (end < snapshot->pods_by_node_count &&
           str_eq(istr_str(snapshot->pods_by_node[end]->node_name), node))
        end++;
    *count = end - first;
    return snapshot->pods_by_node + first;
}
