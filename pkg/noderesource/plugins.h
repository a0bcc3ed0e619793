#pragma once
/* The plugins of upstream's node-resource controller: which keys each owns, which of them
 * this build has, and the list syntax of --noderesource-plugins. */
#include "api/node.h"

enum noderesource_plugin {
    NODERESOURCE_MID,
    NODERESOURCE_BATCH,
    NODERESOURCE_CPU_NORMALIZATION,
    NODERESOURCE_AMPLIFICATION,
    NODERESOURCE_GPU,
    NODERESOURCE_RDMA,
    NODERESOURCE_PLUGIN_COUNT,
};

struct planning;

struct noderesource_plugin_info {
    const char *name;                        /* "MidResource", ... */
    uint32_t owns;                           /* bit 1 << enum owned_resource */
    bool built;                              /* false: the name is accepted, its keys are left alone */
    void (*plan)(struct planning *planning); /* of one node; see plan_internal.h */
};
extern const struct noderesource_plugin_info noderesource_plugin_table[NODERESOURCE_PLUGIN_COUNT];

struct noderesource_plugins {
    bool active[NODERESOURCE_PLUGIN_COUNT];
};

/* The default of the flag: every name. */
#define NODERESOURCE_PLUGINS_DEFAULT                                                                         \
    "MidResource,BatchResource,CPUNormalization,ResourceAmplification,GPUDeviceResource,RDMADeviceResource"

/* Comma-separated: `*` all, `name` that one, `-name` not that one. A name's first mention
 * decides; without one, `*` anywhere in the list does. Blanks around names and empty items
 * are ignored; an unknown name is ERR_INVALID and *ret stays as it was. */
bool noderesource_plugins_parse(struct str list, struct noderesource_plugins *ret,
                                struct err *err) MUST_CHECK;

/* The keys that active, built plugins manage: bit 1 << enum owned_resource. */
uint32_t noderesource_plugins_keys(const struct noderesource_plugins *plugins);
