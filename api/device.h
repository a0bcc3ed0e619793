#pragma once
/* scheduling.koordinator.sh/v1alpha1 Device: the accelerators of one node, summed up. */
#include "api/kind.h"
#include "api/node.h"

extern const struct kube_kind device_kind;

enum device_label { DEVICE_GPU_VENDOR, DEVICE_GPU_MODEL, DEVICE_GPU_DRIVER_VERSION, DEVICE_LABEL_COUNT };
/* "node.koordinator.sh/gpu-vendor", ... */
extern const char *const device_label_keys[DEVICE_LABEL_COUNT];

/* What we keep of a Device. Only healthy entries count. */
struct device {
    struct kube_object object;
    uint32_t gpu_count;
    uint32_t rdma_count;
    uint32_t has;                          /* bit 1 << enum owned_resource: some healthy GPU names it */
    __int128 sums[OWNED_RDMA - OWNED_GPU]; /* of GPUs, from OWNED_GPU on, in billionths */
    const struct istr *labels[DEVICE_LABEL_COUNT]; /* NULL when absent */
};

static inline const struct device *device_of(const struct kube_object *object)
{
    return (const struct device *)(const void *)object;
}
