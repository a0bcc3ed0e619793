/* GPUDeviceResource and RDMADeviceResource: what the node's Device reports, summed up. */
#include "noderesource/plan_internal.h"

enum { RDMA_PER_DEVICE = 100 };

/* Devices are followed where colocation is on; elsewhere everything stays as it is. */
static bool is_followed(const struct planning *planning)
{
    return planning_enabled(planning) && planning->in->device_known;
}

static void set(struct planning *planning, enum owned_resource resource, int64_t value, uint32_t healthy,
                bool saturated)
{
    struct noderesource_entry *entry = planning_entry(planning, resource);
    struct noderesource_term term = { "healthyDevices", healthy };
    entry->planned = (struct opt_i64){ .set = true, .value = value };
    entry->reason = NODERESOURCE_CALCULATED;
    entry->bound = "devices";
    entry->saturated = saturated;
    planning->plan->saturated |= saturated;
    planning_terms(planning, entry, &term, 1);
}

/* Only where something stands: a node without devices has nothing to show. */
static void withdraw(struct planning *planning, enum owned_resource resource)
{
    const struct node *node = planning->in->node;
    if (node->allocatable.owned[resource].set || node->capacity.owned[resource].set)
        planning_entry(planning, resource)->reason = NODERESOURCE_NO_DEVICE;
}

/* Labels are told, never taken back: something else may rely on them. */
static void copy_labels(struct planning *planning, const struct device *device)
{
    for (int i = 0; i < DEVICE_LABEL_COUNT; i++) {
        if (!device->labels[i])
            continue;
        bool found;
        struct str current = node_label(planning->in->node, str_c(device_label_keys[i]), &found);
        struct noderesource_meta *meta = planning_meta(planning, device_label_keys[i], NULL);
        meta->label = true;
        meta->current = (struct opt_str){ .set = found, .value = current };
        planning_meta_is(meta, istr_str(device->labels[i]));
    }
}

/* The amount of one key; false where no healthy GPU names it. */
static bool gpu_amount(const struct device *device, enum owned_resource resource, __int128 *ret)
{
    struct str vendor = istr_str(device->labels[DEVICE_GPU_VENDOR]);
    enum owned_resource from = resource;
    if (resource == OWNED_GPU && (str_empty(vendor) || str_eq(vendor, STR("nvidia"))))
        from = OWNED_GPU_CORE;
    *ret = device->sums[from - OWNED_GPU];
    return device->has & 1u << from;
}

void gpu_plan(struct planning *planning)
{
    const struct device *device = planning->in->device;
    if (!is_followed(planning))
        return;
    for (unsigned r = OWNED_GPU; r < OWNED_RDMA; r++) {
        enum owned_resource resource = (enum owned_resource)r;
        __int128 nano;
        bool saturated = false;
        if (!device || device->gpu_count == 0)
            withdraw(planning, resource);
        else if (gpu_amount(device, resource, &nano))
            set(planning, resource, exact_units(nano, API_NANO_PER_UNIT, &saturated), device->gpu_count,
                saturated);
    }
    if (device && device->gpu_count > 0)
        copy_labels(planning, device);
}

void rdma_plan(struct planning *planning)
{
    const struct device *device = planning->in->device;
    if (!is_followed(planning))
        return;
    if (!device || device->rdma_count == 0)
        withdraw(planning, OWNED_RDMA);
    else
        set(planning, OWNED_RDMA, (int64_t)device->rdma_count * RDMA_PER_DEVICE, device->rdma_count, false);
}
