#include "api/node.h"
#include <stdlib.h>

const struct str owned_resource_names[OWNED_COUNT] = {
    [OWNED_MID_CPU] = STR_INIT("kubernetes.io/mid-cpu"),
    [OWNED_MID_MEMORY] = STR_INIT("kubernetes.io/mid-memory"),
    [OWNED_BATCH_CPU] = STR_INIT("kubernetes.io/batch-cpu"),
    [OWNED_BATCH_MEMORY] = STR_INIT("kubernetes.io/batch-memory"),
    [OWNED_GPU] = STR_INIT("koordinator.sh/gpu"),
    [OWNED_GPU_SHARED] = STR_INIT("koordinator.sh/gpu.shared"),
    [OWNED_GPU_CORE] = STR_INIT("koordinator.sh/gpu-core"),
    [OWNED_GPU_MEMORY] = STR_INIT("koordinator.sh/gpu-memory"),
    [OWNED_GPU_MEMORY_RATIO] = STR_INIT("koordinator.sh/gpu-memory-ratio"),
    [OWNED_NPU_CORE] = STR_INIT("huawei.com/npu-core"),
    [OWNED_NPU_CPU] = STR_INIT("huawei.com/npu-cpu"),
    [OWNED_NPU_DVPP] = STR_INIT("huawei.com/npu-dvpp"),
    [OWNED_RDMA] = STR_INIT("koordinator.sh/rdma"),
};

/* --- as decoded -------------------------------------------------------------------- */

struct owned_value {
    bool set;
    bool readable;
    __int128 nano;
};

struct resource_map {
    struct api_resources base;
    struct owned_value owned[OWNED_COUNT];
};

struct node_decoded {
    struct {
        struct meta meta;
        struct node_annotations {
            struct opt_text colocation_strategy;
            struct opt_text reservation;
            struct opt_text raw_allocatable;
            struct opt_text third_party;
            struct opt_text origin_extended;
            struct opt_text cpu_normalization;
            struct opt_text amplification;
            struct opt_text network_bandwidth;
        } annotations;
    } metadata;
    struct node_status {
        struct resource_map *capacity;
        struct resource_map *allocatable;
    } status;
};

/* Something of ours that is no quantity still stands there, and has to be put right. */
static bool into_owned(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    struct owned_value *ret = dst;
    *ret = (struct owned_value){ .set = true };
    struct opt_quantity quantity;
    if (!api_into_quantity(arena, event, &quantity, err))
        return false;
    ret->readable = true;
    ret->nano = api_nano_from_quantity(quantity.value);
    return true;
}

#define OWNED_FIELD(which_, name_) JSON_FIELD_SCALAR(struct resource_map, owned[which_], name_, into_owned)
static const struct json_field resource_map_fields[] = {
    JSON_FIELD_SCALAR(struct resource_map, base.cpu, "cpu", api_into_quantity),
    JSON_FIELD_SCALAR(struct resource_map, base.memory, "memory", api_into_quantity),
    OWNED_FIELD(OWNED_MID_CPU, "kubernetes.io/mid-cpu"),
    OWNED_FIELD(OWNED_MID_MEMORY, "kubernetes.io/mid-memory"),
    OWNED_FIELD(OWNED_BATCH_CPU, "kubernetes.io/batch-cpu"),
    OWNED_FIELD(OWNED_BATCH_MEMORY, "kubernetes.io/batch-memory"),
    OWNED_FIELD(OWNED_GPU, "koordinator.sh/gpu"),
    OWNED_FIELD(OWNED_GPU_SHARED, "koordinator.sh/gpu.shared"),
    OWNED_FIELD(OWNED_GPU_CORE, "koordinator.sh/gpu-core"),
    OWNED_FIELD(OWNED_GPU_MEMORY, "koordinator.sh/gpu-memory"),
    OWNED_FIELD(OWNED_GPU_MEMORY_RATIO, "koordinator.sh/gpu-memory-ratio"),
    OWNED_FIELD(OWNED_NPU_CORE, "huawei.com/npu-core"),
    OWNED_FIELD(OWNED_NPU_CPU, "huawei.com/npu-cpu"),
    OWNED_FIELD(OWNED_NPU_DVPP, "huawei.com/npu-dvpp"),
    OWNED_FIELD(OWNED_RDMA, "koordinator.sh/rdma"),
};
static const struct json_table resource_map_table = JSON_TABLE(struct resource_map, resource_map_fields);

static const struct json_field status_fields[] = {
    JSON_FIELD_OBJECT_PTR(struct node_status, capacity, "capacity", &resource_map_table),
    JSON_FIELD_OBJECT_PTR(struct node_status, allocatable, "allocatable", &resource_map_table),
};
static const struct json_table status_table = JSON_TABLE(struct node_status, status_fields);

/* The annotations that are read; all others are skipped without allocation. */
static const struct json_field annotation_fields[] = {
    JSON_FIELD_SCALAR(struct node_annotations, colocation_strategy, "node.koordinator.sh/colocation-strategy",
                      api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, reservation, "node.koordinator.sh/reservation", api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, raw_allocatable, "node.koordinator.sh/raw-allocatable",
                      api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, third_party, "node.koordinator.sh/thirdPartyAllocations",
                      api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, origin_extended,
                      "node.koordinator.sh/originExtendedAllocatable", api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, cpu_normalization,
                      "node.koordinator.sh/cpu-normalization-ratio", api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, amplification,
                      "node.koordinator.sh/resource-amplification-ratio", api_into_text),
    JSON_FIELD_SCALAR(struct node_annotations, network_bandwidth, "node.koordinator.sh/network-bandwidth",
                      api_into_text),
};
static const struct json_table annotation_table = JSON_TABLE(struct node_annotations, annotation_fields);

#define NODE_META __typeof__(((struct node_decoded *)NULL)->metadata)
static const struct json_field metadata_fields[] = {
    META_IDENTITY_FIELDS(NODE_META, meta),
    JSON_FIELD_STR_MAP(NODE_META, meta.labels, "labels"),
    JSON_FIELD_OBJECT(NODE_META, annotations, "annotations", &annotation_table),
};
static const struct json_table metadata_table = JSON_TABLE(NODE_META, metadata_fields);

static const struct json_field node_fields[] = {
    JSON_FIELD_OBJECT(struct node_decoded, metadata, "metadata", &metadata_table),
    JSON_FIELD_OBJECT(struct node_decoded, status, "status", &status_table),
};
static const struct json_table node_table = JSON_TABLE(struct node_decoded, node_fields);

/* --- as kept ----------------------------------------------------------------------- */

static struct node_resources take_resources(const struct resource_map *map, const struct json_report *report,
                                            const char *path)
{
    struct node_resources kept = { 0 };
    if (!map)
        return kept;
    kept.amounts = api_take_amounts(&map->base, report, path);
    kept.present = map->base.cpu.set || map->base.memory.set;
    for (size_t i = 0; i < OWNED_COUNT; i++) {
        const struct owned_value *value = &map->owned[i];
        kept.owned[i].set = value->set;
        kept.owned[i].readable = value->readable;
        kept.owned[i].nano = value->nano;
        kept.present |= value->set;
    }
    return kept;
}

static const struct istr *take_text(const struct opt_text *text, struct intern *pool)
{
    return text->set ? intern_get(pool, text->text) : NULL;
}

static int label_order(const void *a, const void *b)
{
    const struct node_label *first = a, *second = b;
    return str_cmp(istr_str(first->key), istr_str(second->key));
}

static void take_labels(struct node *node, const struct json_items *labels, struct intern *pool)
{
    const struct json_pair *pairs = labels->items;
    for (size_t i = 0; i < labels->count; i++)
        node->labels[i] =
            (struct node_label){ intern_get(pool, pairs[i].key), intern_get(pool, pairs[i].value) };
    node->label_count = (uint32_t)labels->count;
    if (labels->count)
        qsort(node->labels, labels->count, sizeof *node->labels, label_order);
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    const struct node_decoded *in = decoded;
    const struct json_items *labels = &in->metadata.meta.labels;
    size_t size = sizeof(struct node) + labels->count * sizeof(struct node_label);
    struct kube_object *object = kube_object_new(&node_kind, size, &in->metadata.meta, pool, err);
    if (!object)
        return NULL;
    struct node *node = (struct node *)(void *)object;
    node->capacity = take_resources(in->status.capacity, report, "status.capacity");
    node->allocatable = take_resources(in->status.allocatable, report, "status.allocatable");
    const struct node_annotations *annotations = &in->metadata.annotations;
    node->colocation_strategy = take_text(&annotations->colocation_strategy, pool);
    node->reservation = take_text(&annotations->reservation, pool);
    node->raw_allocatable = take_text(&annotations->raw_allocatable, pool);
    node->third_party = take_text(&annotations->third_party, pool);
    node->origin_extended = take_text(&annotations->origin_extended, pool);
    node->cpu_normalization = take_text(&annotations->cpu_normalization, pool);
    node->amplification = take_text(&annotations->amplification, pool);
    node->network_bandwidth = take_text(&annotations->network_bandwidth, pool);
    take_labels(node, labels, pool);
    return object;
}

static void release(struct kube_object *object)
{
    const struct node *node = node_of(object);
    istr_unref(node->colocation_strategy);
    istr_unref(node->reservation);
    istr_unref(node->raw_allocatable);
    istr_unref(node->third_party);
    istr_unref(node->origin_extended);
    istr_unref(node->cpu_normalization);
    istr_unref(node->amplification);
    istr_unref(node->network_bandwidth);
    for (uint32_t i = 0; i < node->label_count; i++) {
        istr_unref(node->labels[i].key);
        istr_unref(node->labels[i].value);
    }
}

/* --- comparing --------------------------------------------------------------------- */

static bool resources_same(const struct node_resources *a, const struct node_resources *b)
{
    if (a->present != b->present || !api_amounts_same(&a->amounts, &b->amounts))
        return false;
    for (size_t i = 0; i < OWNED_COUNT; i++) {
        if (a->owned[i].set != b->owned[i].set || a->owned[i].readable != b->owned[i].readable ||
            a->owned[i].nano != b->owned[i].nano)
            return false;
    }
    return true;
}

/* Texts of one pool are equal exactly when they are one pointer. */
static bool same(const struct kube_object *a, const struct kube_object *b)
{
    const struct node *x = node_of(a), *y = node_of(b);
    if (x->colocation_strategy != y->colocation_strategy || x->reservation != y->reservation ||
        x->raw_allocatable != y->raw_allocatable || x->third_party != y->third_party ||
        x->origin_extended != y->origin_extended || x->cpu_normalization != y->cpu_normalization ||
        x->amplification != y->amplification || x->network_bandwidth != y->network_bandwidth ||
        x->label_count != y->label_count)
        return false;
    for (uint32_t i = 0; i < x->label_count; i++) {
        if (x->labels[i].key != y->labels[i].key || x->labels[i].value != y->labels[i].value)
            return false;
    }
    return resources_same(&x->capacity, &y->capacity) && resources_same(&x->allocatable, &y->allocatable);
}

const struct kube_kind node_kind = {
    .group = "",
    .version = "v1",
    .kind = "Node",
    .plural = "nodes",
    .table = &node_table,
    .project = project,
    .release = release,
    .same = same,
};

/* --- labels ------------------------------------------------------------------------ */

struct labels node_labels(const struct node *node, struct arena *arena)
{
    struct label *items = arena_array(arena, struct label, node->label_count);
    for (uint32_t i = 0; i < node->label_count; i++)
        items[i] = (struct label){ istr_str(node->labels[i].key), istr_str(node->labels[i].value) };
    return (struct labels){ .items = items, .count = node->label_count };
}

static int label_find(const void *key, const void *label)
{
    const struct str *wanted = key;
    const struct node_label *at = label;
    return str_cmp(*wanted, istr_str(at->key));
}

struct str node_label(const struct node *node, struct str key, bool *found)
{
    const struct node_label *label =
        node->label_count ? bsearch(&key, node->labels, node->label_count, sizeof *node->labels, label_find)
                          : NULL;
    if (found)
        *found = label != NULL;
    return label ? istr_str(label->value) : STR_NULL;
}
