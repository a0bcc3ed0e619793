#include "api/device.h"

#include <stdlib.h>

const char *const device_label_keys[DEVICE_LABEL_COUNT] = {
    [DEVICE_GPU_VENDOR] = "node.koordinator.sh/gpu-vendor",
    [DEVICE_GPU_MODEL] = "node.koordinator.sh/gpu-model",
    [DEVICE_GPU_DRIVER_VERSION] = "node.koordinator.sh/gpu-driver-version",
};

/* --- as decoded -------------------------------------------------------------------- */

struct device_info {
    struct str type;
    bool health;
    struct device_resources {
        struct opt_quantity gpu[OWNED_RDMA - OWNED_GPU];
    } resources;
};

#define RESOURCE(which_, name_)                                                                              \
    JSON_FIELD_SCALAR(struct device_resources, gpu[which_ - OWNED_GPU], name_, api_into_quantity)
static const struct json_field resource_fields[] = {
    RESOURCE(OWNED_GPU, "koordinator.sh/gpu"),
    RESOURCE(OWNED_GPU_SHARED, "koordinator.sh/gpu.shared"),
    RESOURCE(OWNED_GPU_CORE, "koordinator.sh/gpu-core"),
    RESOURCE(OWNED_GPU_MEMORY, "koordinator.sh/gpu-memory"),
    RESOURCE(OWNED_GPU_MEMORY_RATIO, "koordinator.sh/gpu-memory-ratio"),
    RESOURCE(OWNED_NPU_CORE, "huawei.com/npu-core"),
    RESOURCE(OWNED_NPU_CPU, "huawei.com/npu-cpu"),
    RESOURCE(OWNED_NPU_DVPP, "huawei.com/npu-dvpp"),
};
static const struct json_table resource_table = JSON_TABLE(struct device_resources, resource_fields);

static const struct json_field info_fields[] = {
    JSON_FIELD_STR(struct device_info, type, "type"),
    JSON_FIELD_BOOL(struct device_info, health, "health"),
    JSON_FIELD_OBJECT(struct device_info, resources, "resources", &resource_table),
};
static const struct json_table info_table = JSON_TABLE(struct device_info, info_fields);

struct device_decoded {
    struct {
        struct meta meta;
        struct device_labels {
            struct opt_text items[DEVICE_LABEL_COUNT];
        } labels;
    } metadata;
    struct device_spec {
        struct json_items devices; /* struct device_info */
    } spec;
};

static const struct json_field label_fields[] = {
    JSON_FIELD_SCALAR(struct device_labels, items[DEVICE_GPU_VENDOR], "node.koordinator.sh/gpu-vendor",
                      api_into_text),
    JSON_FIELD_SCALAR(struct device_labels, items[DEVICE_GPU_MODEL], "node.koordinator.sh/gpu-model",
                      api_into_text),
    JSON_FIELD_SCALAR(struct device_labels, items[DEVICE_GPU_DRIVER_VERSION],
                      "node.koordinator.sh/gpu-driver-version", api_into_text),
};
static const struct json_table label_table = JSON_TABLE(struct device_labels, label_fields);

#define DEVICE_META __typeof__(((struct device_decoded *)NULL)->metadata)
static const struct json_field metadata_fields[] = {
    META_IDENTITY_FIELDS(DEVICE_META, meta),
    JSON_FIELD_OBJECT(DEVICE_META, labels, "labels", &label_table),
};
static const struct json_table metadata_table = JSON_TABLE(DEVICE_META, metadata_fields);

static const struct json_field spec_fields[] = {
    JSON_FIELD_ARRAY(struct device_spec, devices, "devices", &info_table),
};
static const struct json_table spec_table = JSON_TABLE(struct device_spec, spec_fields);

static const struct json_field device_fields[] = {
    JSON_FIELD_OBJECT(struct device_decoded, metadata, "metadata", &metadata_table),
    JSON_FIELD_OBJECT(struct device_decoded, spec, "spec", &spec_table),
};
static const struct json_table device_table = JSON_TABLE(struct device_decoded, device_fields);

/* --- as kept ----------------------------------------------------------------------- */

static void add_gpu(struct device *device, const struct device_info *info, size_t index,
                    const struct json_report *report)
{
    device->gpu_count++;
    for (int r = OWNED_GPU; r < OWNED_RDMA; r++) {
        int at = r - OWNED_GPU;
        __int128 nano;
        if (!api_take_amount(&info->resources.gpu[at], &nano, report, "spec.devices[%zu].resources." STR_FMT,
                             index, STR_ARG(owned_resource_names[r])))
            continue;
        device->has |= 1u << r;
        device->sums[at] = api_nano_add(device->sums[at], nano);
    }
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    const struct device_decoded *in = decoded;
    struct kube_object *object =
        kube_object_new(&device_kind, sizeof(struct device), &in->metadata.meta, pool, err);
    if (!object)
        return NULL;
    struct device *device = (struct device *)(void *)object;
    const struct device_info *items = in->spec.devices.items;
    for (size_t i = 0; i < in->spec.devices.count; i++) {
        if (items[i].health && str_eq(items[i].type, STR("gpu")))
            add_gpu(device, &items[i], i, report);
        device->rdma_count += items[i].health && str_eq(items[i].type, STR("rdma"));
    }
    for (int i = 0; i < DEVICE_LABEL_COUNT; i++) {
        const struct opt_text *label = &in->metadata.labels.items[i];
        device->labels[i] = label->set ? intern_get(pool, label->text) : NULL;
    }
    return object;
}

static void release(struct kube_object *object)
{
    for (int i = 0; i < DEVICE_LABEL_COUNT; i++)
        istr_unref(device_of(object)->labels[i]);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    const struct device *x = device_of(a), *y = device_of(b);
    for (size_t i = 0; i < ARRAY_LEN(x->sums); i++) {
        if (x->sums[i] != y->sums[i])
            return false;
    }
    for (int i = 0; i < DEVICE_LABEL_COUNT; i++) {
        if (x->labels[i] != y->labels[i])
            return false;
    }
    return x->gpu_count == y->gpu_count && x->rdma_count == y->rdma_count && x->has == y->has;
}

const struct kube_kind device_kind = {
    .group = "scheduling.koordinator.sh",
    .version = "v1alpha1",
    .kind = "Device",
    .plural = "devices",
    .table = &device_table,
    .project = project,
    .release = release,
    .same = same,
};
