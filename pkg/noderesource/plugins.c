#include "noderesource/plugins.h"
#include "noderesource/plan_internal.h"

enum {
    OWNS_MID = 1 << OWNED_MID_CPU | 1 << OWNED_MID_MEMORY,
    OWNS_BATCH = 1 << OWNED_BATCH_CPU | 1 << OWNED_BATCH_MEMORY,
    OWNS_GPU = (1 << OWNED_RDMA) - (1 << OWNED_GPU),
    OWNS_RDMA = 1 << OWNED_RDMA,
};

const struct noderesource_plugin_info noderesource_plugin_table[NODERESOURCE_PLUGIN_COUNT] = {
    [NODERESOURCE_MID] = { "MidResource", OWNS_MID, true, mid_plan },
    [NODERESOURCE_BATCH] = { "BatchResource", OWNS_BATCH, true, batch_plan },
    [NODERESOURCE_CPU_NORMALIZATION] = { "CPUNormalization", 0, true, normalization_plan },
    [NODERESOURCE_AMPLIFICATION] = { "ResourceAmplification", 0, true, amplification_plan },
    [NODERESOURCE_GPU] = { "GPUDeviceResource", OWNS_GPU, true, gpu_plan },
    [NODERESOURCE_RDMA] = { "RDMADeviceResource", OWNS_RDMA, true, rdma_plan },
};

enum mention { NOT_MENTIONED, WANTED, UNWANTED };

static bool take_item(struct str item, enum mention mentions[NODERESOURCE_PLUGIN_COUNT], bool *star,
                      struct err *err)
{
    if (str_empty(item))
        return true;
    if (str_eq(item, STR("*"))) {
        *star = true;
        return true;
    }
    bool minus = item.ptr[0] == '-';
    struct str name = str_slice(item, minus ? 1 : 0, item.len);
    for (size_t i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++) {
        if (!str_eq(str_c(noderesource_plugin_table[i].name), name))
            continue;
        if (mentions[i] == NOT_MENTIONED)
            mentions[i] = minus ? UNWANTED : WANTED;
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "unknown plugin \"" STR_FMT "\"; known are " NODERESOURCE_PLUGINS_DEFAULT, STR_ARG(name));
}

bool noderesource_plugins_parse(struct str list, struct noderesource_plugins *ret, struct err *err)
{
    enum mention mentions[NODERESOURCE_PLUGIN_COUNT] = { NOT_MENTIONED };
    bool star = false, more = true;
    while (more) {
        struct str item;
        more = str_cut(list, ',', &item, &list);
        if (!take_item(str_trim(item), mentions, &star, err))
            return false;
    }
    for (size_t i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++)
        ret->active[i] = mentions[i] == WANTED || (star && mentions[i] == NOT_MENTIONED);
    return true;
}

uint32_t noderesource_plugins_keys(const struct noderesource_plugins *plugins)
{
    uint32_t keys = 0;
    for (size_t i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++) {
        if (plugins->active[i] && noderesource_plugin_table[i].built)
            keys |= noderesource_plugin_table[i].owns;
    }
    return keys;
}
