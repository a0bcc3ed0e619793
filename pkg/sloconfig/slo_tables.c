/* What the NodeSLO keys may hold. Ranges are admission's: a running manager passes on what
 * it is given, for the agent to judge. */
#include "sloconfig/slo.h"

#define BOOL(name_)                                                                                          \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_BOOL                                                                 \
    }
#define TEXT(name_)                                                                                          \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_TEXT                                                                 \
    }
#define INT(name_, ...)                                                                                      \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_INT, .range = __VA_ARGS__                                            \
    }
#define ANY_INT(name_)                                                                                       \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_INT                                                                  \
    }
#define BELOW(name_, high_, ...)                                                                             \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_INT, .below = (high_), .range = __VA_ARGS__                          \
    }
#define OBJECT(name_, schema_)                                                                               \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_OBJECT, .object = &(schema_)                                         \
    }
#define LIST(name_, schema_)                                                                                 \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_LIST, .object = &(schema_)                                           \
    }
#define PERCENT RANGE_BETWEEN(0, 100)
#define SWITCH RANGE_BETWEEN(0, 1)
#define KNOWN(name_, words_)                                                                                 \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_TEXT, .known = (words_)                                              \
    }
#define WORD(name_, words_)                                                                                  \
    {                                                                                                        \
        .name = (name_), .type = SCHEMA_TEXT, .words = (words_)                                              \
    }

/* --- resource-threshold-config --------------------------------------------------- */

static const char *const suppress_policies[] = { "cpuset", "cfsQuota", NULL };
static const char *const evict_policies[] = { "evictByRealLimit", "evictByAllocatable", NULL };

static const struct schema_field threshold_fields[] = {
    BOOL("enable"),
    INT("cpuSuppressThresholdPercent", PERCENT),
    INT("cpuSuppressMinPercent", PERCENT),
    KNOWN("cpuSuppressPolicy", suppress_policies),
    INT("memoryEvictThresholdPercent", PERCENT),
    BELOW("memoryEvictLowerPercent", "memoryEvictThresholdPercent", PERCENT),
    INT("memoryAllocatableEvictThresholdPercent", RANGE_AT_LEAST(0)),
    BELOW("memoryAllocatableEvictLowerPercent", "memoryAllocatableEvictThresholdPercent", RANGE_AT_LEAST(0)),
    INT("cpuEvictBESatisfactionUpperPercent", PERCENT),
    BELOW("cpuEvictBESatisfactionLowerPercent", "cpuEvictBESatisfactionUpperPercent", PERCENT),
    INT("cpuEvictBEUsageThresholdPercent", PERCENT),
    INT("cpuEvictTimeWindowSeconds", RANGE_ABOVE(0)),
    INT("cpuEvictThresholdPercent", PERCENT),
    BELOW("cpuEvictLowerPercent", "cpuEvictThresholdPercent", PERCENT),
    INT("cpuAllocatableEvictThresholdPercent", RANGE_AT_LEAST(0)),
    BELOW("cpuAllocatableEvictLowerPercent", "cpuAllocatableEvictThresholdPercent", RANGE_AT_LEAST(0)),
    KNOWN("cpuEvictPolicy", evict_policies),
    { .name = "evictEnabledPriorityThreshold", .type = SCHEMA_INT, .is_int32 = true },
    { .name = "allocatableEvictPriorityThreshold",
      .type = SCHEMA_INT,
      .is_int32 = true,
      .range = RANGE_BETWEEN(0, 7999) },
};
static const struct schema threshold_schema = SCHEMA(threshold_fields);

/* --- resource-qos-config --------------------------------------------------------- */

static const struct schema_field cpu_qos_fields[] = {
    BOOL("enable"),
    INT("groupIdentity", RANGE_BETWEEN(-1, 2)),
    INT("schedIdle", SWITCH),
    BOOL("coreExpeller"),
};
static const struct schema cpu_qos_schema = SCHEMA(cpu_qos_fields);

/* Page cache limits have other names in other releases of the agent; both are passed on. */
static const struct schema_field memory_qos_fields[] = {
    BOOL("enable"),
    INT("minLimitPercent", PERCENT),
    INT("lowLimitPercent", PERCENT),
    INT("throttlingPercent", PERCENT),
    INT("wmarkRatio", PERCENT),
    INT("wmarkScalePermill", RANGE_BETWEEN(1, 1000)),
    INT("wmarkMinAdj", RANGE_BETWEEN(-25, 50)),
    INT("priorityEnable", SWITCH),
    INT("priority", RANGE_BETWEEN(0, 12)),
    INT("oomKillGroup", SWITCH),
    BOOL("pageCacheEnable"),
    INT("pageCacheLimitPercent", PERCENT),
    INT("pageCacheLimitSize", RANGE_AT_LEAST(0)),
    BOOL("pageCacheReclaimSync"),
    INT("pageCacheLimitEnable", SWITCH),
    INT("pageCacheLimitSync", SWITCH),
};
static const struct schema memory_qos_schema = SCHEMA(memory_qos_fields);

static const struct schema_field resctrl_fields[] = {
    BOOL("enable"),
    BELOW("catRangeStartPercent", "catRangeEndPercent", PERCENT),
    INT("catRangeEndPercent", PERCENT),
    INT("mbaPercent", PERCENT),
};
static const struct schema resctrl_schema = SCHEMA(resctrl_fields);

static const struct schema_field network_fields[] = {
    BOOL("enable"),
    { .name = "ingressRequest", .type = SCHEMA_SHARE, .server_default = "0" },
    { .name = "ingressLimit", .type = SCHEMA_SHARE, .server_default = "100" },
    { .name = "egressRequest", .type = SCHEMA_SHARE, .server_default = "0" },
    { .name = "egressLimit", .type = SCHEMA_SHARE, .server_default = "100" },
};
static const struct schema network_schema = SCHEMA(network_fields);

static const struct schema_field io_fields[] = {
    INT("readIOPS", RANGE_AT_LEAST(0)),
    INT("writeIOPS", RANGE_AT_LEAST(0)),
    INT("readBPS", RANGE_AT_LEAST(0)),
    INT("writeBPS", RANGE_AT_LEAST(0)),
    INT("ioWeightPercent", RANGE_BETWEEN(1, 100)),
    ANY_INT("readLatency"),
    ANY_INT("writeLatency"),
    INT("readLatencyPercent", PERCENT),
    INT("writeLatencyPercent", PERCENT),
    BOOL("enableUserModel"),
    INT("modelReadBPS", RANGE_AT_LEAST(1)),
    INT("modelWriteBPS", RANGE_AT_LEAST(1)),
    INT("modelReadSeqIOPS", RANGE_AT_LEAST(1)),
    INT("modelWriteSeqIOPS", RANGE_AT_LEAST(1)),
    INT("modelReadRandIOPS", RANGE_AT_LEAST(1)),
    INT("modelWriteRandIOPS", RANGE_AT_LEAST(1)),
};
static const struct schema io_schema = SCHEMA(io_fields);

static const char *const block_types[] = { "device", "volumegroup", "podvolume", NULL };
static const struct schema_field block_fields[] = {
    TEXT("name"),
    KNOWN("type", block_types),
    OBJECT("ioCfg", io_schema),
};
static const struct schema block_schema = SCHEMA(block_fields);

static const struct schema_field blkio_fields[] = { BOOL("enable"), LIST("blocks", block_schema) };
static const struct schema blkio_schema = SCHEMA(blkio_fields);

static const struct schema_field class_fields[] = {
    OBJECT("cpuQOS", cpu_qos_schema),     OBJECT("memoryQOS", memory_qos_schema),
    OBJECT("resctrlQOS", resctrl_schema), OBJECT("networkQOS", network_schema),
    OBJECT("blkioQOS", blkio_schema),
};
static const struct schema class_schema = SCHEMA(class_fields);

static const char *const cpu_policies[] = { "groupIdentity", "coreSched", NULL };
static const char *const network_policies[] = { "tc", "terway-qos", NULL };
static const struct schema_field policies_fields[] = {
    { .name = "cpuPolicy", .type = SCHEMA_TEXT, .known = cpu_policies, .empty_counts = true },
    { .name = "netQOSPolicy", .type = SCHEMA_TEXT, .known = network_policies, .empty_counts = true },
};
static const struct schema policies_schema = SCHEMA(policies_fields);

static const struct schema_field qos_fields[] = {
    OBJECT("policies", policies_schema), OBJECT("lsrClass", class_schema),
    OBJECT("lsClass", class_schema),     OBJECT("beClass", class_schema),
    OBJECT("systemClass", class_schema), OBJECT("cgroupRoot", class_schema),
};
static const struct schema qos_schema = SCHEMA(qos_fields);

/* --- cpu-burst-config, system-config --------------------------------------------- */

static const char *const burst_policies[] = { "none", "cpuBurstOnly", "cfsQuotaBurstOnly", "auto", NULL };
static const struct schema_field burst_fields[] = {
    KNOWN("policy", burst_policies),
    INT("cpuBurstPercent", RANGE_BETWEEN(1, 10000)),
    INT("cfsQuotaBurstPercent", RANGE_AT_LEAST(100)),
    INT("cfsQuotaBurstPeriodSeconds", RANGE_AT_LEAST(-1)),
    INT("sharePoolThresholdPercent", PERCENT),
};
static const struct schema burst_schema = SCHEMA(burst_fields);

static const struct schema_field system_fields[] = {
    INT("minFreeKbytesFactor", RANGE_ABOVE(0)),
    INT("watermarkScaleFactor", RANGE_ABOVE_UP_TO(0, 400)),
    INT("memcgReapBackGround", SWITCH),
    ANY_INT("schedGroupIdentityEnabled"),
    ANY_INT("schedIdleSaverWmark"),
    { .name = "schedFeatures", .type = SCHEMA_BOOLS },
    INT("pageCacheLimitEnabled", SWITCH),
    { .name = "totalNetworkBandwidth", .type = SCHEMA_QUANTITY },
};
static const struct schema system_schema = SCHEMA(system_fields);

/* --- host-application-config ----------------------------------------------------- */

static const char *const cgroup_bases[] = { "CgroupRoot", "Kubepods", "KubepodsBurstable",
                                            "KubepodsBesteffort", NULL };
static const struct schema_field cgroup_fields[] = {
    WORD("base", cgroup_bases),
    TEXT("parentDir"),
    TEXT("relativePath"),
};
static const struct schema cgroup_schema = SCHEMA(cgroup_fields);

static const struct schema nothing_schema = { 0 };
static const char *const classes[] = { "koord-prod", "koord-mid", "koord-batch", "koord-free", NULL };
static const char *const qos_names[] = { "LSE", "LSR", "LS", "BE", "SYSTEM", NULL };
static const struct schema_field application_fields[] = {
    { .name = "name", .type = SCHEMA_TEXT, .required = true },
    WORD("priority", classes),
    WORD("qos", qos_names),
    OBJECT("cgroupPath", cgroup_schema),
    OBJECT("strategy", nothing_schema),
};
static const struct schema application_schema = SCHEMA(application_fields);

static const struct schema_field host_fields[] = { LIST("applications", application_schema) };
static const struct schema host_schema = SCHEMA(host_fields);

/* --- the keys -------------------------------------------------------------------- */

const struct slo_key_info slo_keys[SLO_KEY_COUNT] = {
    [SLO_THRESHOLD] = { .key = STR_INIT("resource-threshold-config"),
                        .cluster = "clusterStrategy",
                        .entries = "nodeStrategies",
                        .schema = &threshold_schema,
                        .default_json = "{\"enable\":false,\"cpuSuppressThresholdPercent\":65,"
                                        "\"cpuSuppressPolicy\":\"cpuset\",\"memoryEvictThresholdPercent\":70,"
                                        "\"cpuEvictPolicy\":\"evictByRealLimit\"}",
                        .spec_field = "resourceUsedThresholdWithBE" },
    [SLO_QOS] = { .key = STR_INIT("resource-qos-config"),
                  .cluster = "clusterStrategy",
                  .entries = "nodeStrategies",
                  .schema = &qos_schema,
                  .default_json = "{}",
                  .spec_field = "resourceQOSStrategy" },
    [SLO_CPU_BURST] = { .key = STR_INIT("cpu-burst-config"),
                        .cluster = "clusterStrategy",
                        .entries = "nodeStrategies",
                        .schema = &burst_schema,
                        .default_json = "{\"policy\":\"none\",\"cpuBurstPercent\":1000,"
                                        "\"cfsQuotaBurstPercent\":300,\"cfsQuotaBurstPeriodSeconds\":-1,"
                                        "\"sharePoolThresholdPercent\":50}",
                        .spec_field = "cpuBurstStrategy" },
    [SLO_SYSTEM] = { .key = STR_INIT("system-config"),
                     .cluster = "clusterStrategy",
                     .entries = "nodeStrategies",
                     .schema = &system_schema,
                     .default_json = "{\"totalNetworkBandwidth\":\"0\"}",
                     .spec_field = "systemStrategy" },
    [SLO_HOST_APPS] = { .key = STR_INIT("host-application-config"),
                        .entries = "nodeConfigs",
                        .replaces = true,
                        .schema = &host_schema,
                        .default_json = "{}",
                        .spec_field = "hostApplications",
                        .spec_part = "applications" },
};

static const struct schema_field nodeslo_fields[] = {
    OBJECT("resourceUsedThresholdWithBE", threshold_schema),
    OBJECT("resourceQOSStrategy", qos_schema),
    OBJECT("cpuBurstStrategy", burst_schema),
    OBJECT("systemStrategy", system_schema),
    LIST("hostApplications", application_schema),
};
const struct schema nodeslo_schema = SCHEMA(nodeslo_fields);
