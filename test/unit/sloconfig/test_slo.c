#include "sloconfig/slo.h"
#include "support.h"

#define CLUSTER(text) "{\"clusterStrategy\":{" text "}}"
#define NODES(cluster, entries) "{\"clusterStrategy\":{" cluster "},\"nodeStrategies\":[" entries "]}"
#define POOL(value, text) "{\"nodeSelector\":{\"matchLabels\":{\"pool\":\"" value "\"}}," text "}"
#define THRESHOLD_DEFAULT                                                                                    \
    "{\"enable\":false,\"cpuSuppressThresholdPercent\":65,\"cpuSuppressPolicy\":\"cpuset\","                 \
    "\"memoryEvictThresholdPercent\":70,\"cpuEvictPolicy\":\"evictByRealLimit\"}"

/* --- what a node in pool "a" gets ------------------------------------------------- */

static const struct row {
    const char *name;
    enum slo_key key;
    const char *text;
    const char *want; /* the whole strategy; NULL: the key is refused */
    const char *findings;
} rows[] = {
    { "threshold_3_7: the defaults", SLO_THRESHOLD, "{}", THRESHOLD_DEFAULT, "" },
    { "threshold_3_7: the cluster's fields on top", SLO_THRESHOLD,
      CLUSTER("\"enable\":true,\"memoryEvictThresholdPercent\":80"),
      "{\"enable\":true,\"cpuSuppressThresholdPercent\":65,\"cpuSuppressPolicy\":\"cpuset\","
      "\"memoryEvictThresholdPercent\":80,\"cpuEvictPolicy\":\"evictByRealLimit\"}",
      "" },
    { "merge_3_14: the first matching entry on top of the cluster", SLO_CPU_BURST,
      NODES("\"policy\":\"auto\"",
            POOL("b", "\"policy\":\"none\"") "," POOL("a", "\"cpuBurstPercent\":50") "," POOL(
                "a", "\"cpuBurstPercent\":60")),
      "{\"policy\":\"auto\",\"cpuBurstPercent\":50,\"cfsQuotaBurstPercent\":300,"
      "\"cfsQuotaBurstPeriodSeconds\":-1,\"sharePoolThresholdPercent\":50}",
      "" },
    { "json_3_2: null leaves unset, also a strategy and an entry", SLO_CPU_BURST,
      "{\"clusterStrategy\":null,\"nodeStrategies\":[null]}",
      "{\"policy\":\"none\",\"cpuBurstPercent\":1000,\"cfsQuotaBurstPercent\":300,"
      "\"cfsQuotaBurstPeriodSeconds\":-1,\"sharePoolThresholdPercent\":50}",
      "admission:nodeStrategies[0].nodeSelector:ConfigParamInvalid" },
    { "json_3_2: names in any case, the last spelling wins, unknown ones are ignored", SLO_SYSTEM,
      "{\"CLUSTERSTRATEGY\":{\"MinFreeKbytesFactor\":1,\"minfreekbytesfactor\":2,\"other\":[]}}",
      "{\"totalNetworkBandwidth\":\"0\",\"minFreeKbytesFactor\":2}", "" },
    { "json_3_2: objects of two spellings add up", SLO_QOS,
      CLUSTER("\"lsClass\":{\"cpuQOS\":{\"enable\":true}},\"LSCLASS\":{\"cpuQOS\":{\"schedIdle\":1}}"),
      "{\"lsClass\":{\"cpuQOS\":{\"enable\":true,\"schedIdle\":1}}}", "" },
    { "json_3_2: a fraction is no integer", SLO_CPU_BURST, CLUSTER("\"cpuBurstPercent\":1.0"), NULL,
      "rejected:clusterStrategy.cpuBurstPercent:ParseConfigFail" },
    { "json_3_2: an int32 has 32 bits", SLO_THRESHOLD,
      CLUSTER("\"evictEnabledPriorityThreshold\":2147483648"), NULL,
      "rejected:clusterStrategy.evictEnabledPriorityThreshold:ParseConfigFail" },
    { "json_3_2: a wrong type deep inside fails the key", SLO_QOS,
      CLUSTER("\"beClass\":{\"blkioQOS\":{\"blocks\":[{},{\"ioCfg\":{\"readBPS\":\"1\"}}]}}"), NULL,
      "rejected:clusterStrategy.beClass.blkioQOS.blocks[1].ioCfg.readBPS:ParseConfigFail" },
    { "json_3_2: a wrong type in an entry fails the key", SLO_THRESHOLD, NODES("", POOL("a", "\"enable\":1")),
      NULL, "rejected:nodeStrategies[0].enable:ParseConfigFail" },
    { "json_3_2: a selector of the wrong type fails the key", SLO_THRESHOLD,
      NODES("", "{\"nodeSelector\":{\"matchLabels\":{\"a\":1}}}"), NULL,
      "rejected:nodeStrategies[0].nodeSelector.matchLabels[a]:ParseConfigFail" },
    { "json_3_2: entries are a list", SLO_THRESHOLD, "{\"nodeStrategies\":{}}", NULL,
      "rejected:nodeStrategies:ParseConfigFail" },
    { "json_3_2: a trailing comma", SLO_QOS, "{\"clusterStrategy\":{},}", NULL, "rejected::ParseConfigFail" },
    { "isolation_3_14: an empty text is no JSON", SLO_QOS, "", NULL, "rejected::ParseConfigFail" },
    { "bad input never wins: null", SLO_QOS, "null", NULL, "rejected::ParseConfigFail" },
    { "bad input never wins: a list", SLO_QOS, "[]", NULL, "rejected::ParseConfigFail" },
    { "range_3_14: out of range is in force, and told", SLO_THRESHOLD,
      CLUSTER("\"cpuSuppressThresholdPercent\":101"),
      "{\"enable\":false,\"cpuSuppressThresholdPercent\":101,\"cpuSuppressPolicy\":\"cpuset\","
      "\"memoryEvictThresholdPercent\":70,\"cpuEvictPolicy\":\"evictByRealLimit\"}",
      "admission:clusterStrategy.cpuSuppressThresholdPercent:ConfigParamInvalid" },
    { "words: an unknown policy is in force, with a warning", SLO_CPU_BURST, CLUSTER("\"policy\":\"turbo\""),
      "{\"policy\":\"turbo\",\"cpuBurstPercent\":1000,\"cfsQuotaBurstPercent\":300,"
      "\"cfsQuotaBurstPeriodSeconds\":-1,\"sharePoolThresholdPercent\":50}",
      "warning:clusterStrategy.policy:UnknownValue" },
    { "words: an empty policy says nothing", SLO_CPU_BURST, CLUSTER("\"policy\":\"\",\"cpuBurstPercent\":1"),
      "{\"policy\":\"none\",\"cpuBurstPercent\":1,\"cfsQuotaBurstPercent\":300,"
      "\"cfsQuotaBurstPeriodSeconds\":-1,\"sharePoolThresholdPercent\":50}",
      "" },
    { "selector_3_1: an invalid selector costs its entry", SLO_SYSTEM,
      NODES("", "{\"nodeSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Is\"}]},"
                "\"minFreeKbytesFactor\":1}," POOL("a", "\"minFreeKbytesFactor\":2")),
      "{\"totalNetworkBandwidth\":\"0\",\"minFreeKbytesFactor\":2}",
      "entry:nodeStrategies[0].nodeSelector:ConfigParamInvalid" },
    { "system_3_14: an entry does not reset the bandwidth", SLO_SYSTEM,
      NODES("\"totalNetworkBandwidth\":\"10G\"", POOL("a", "\"minFreeKbytesFactor\":5")),
      "{\"totalNetworkBandwidth\":\"10G\",\"minFreeKbytesFactor\":5}", "" },
    { "system_3_10: a bandwidth is kept in canonical form", SLO_SYSTEM,
      CLUSTER("\"totalNetworkBandwidth\":100000000"), "{\"totalNetworkBandwidth\":\"100M\"}", "" },
    { "system_3_10: a bandwidth that is no quantity fails the key", SLO_SYSTEM,
      CLUSTER("\"totalNetworkBandwidth\":\"fast\""), NULL,
      "rejected:clusterStrategy.totalNetworkBandwidth:ParseConfigFail" },
    { "system_3_10: features merge by name", SLO_SYSTEM,
      NODES("\"schedFeatures\":{\"ID_A\":true,\"ID_B\":true}",
            POOL("a", "\"schedFeatures\":{\"ID_B\":false,\"ID_C\":null}")),
      "{\"totalNetworkBandwidth\":\"0\",\"schedFeatures\":{\"ID_A\":true,\"ID_B\":false,\"ID_C\":false}}",
      "" },
    { "system_3_10: a feature is true or false", SLO_SYSTEM, CLUSTER("\"schedFeatures\":{\"ID_A\":1}"), NULL,
      "rejected:clusterStrategy.schedFeatures[ID_A]:ParseConfigFail" },
    { "qos_3_8: the default is empty", SLO_QOS, "{}", "{}", "" },
    { "qos_3_8: classes merge field by field", SLO_QOS,
      NODES("\"beClass\":{\"cpuQOS\":{\"enable\":true,\"groupIdentity\":-1},\"memoryQOS\":{\"enable\":true}}",
            POOL("a", "\"beClass\":{\"cpuQOS\":{\"groupIdentity\":0}}")),
      "{\"beClass\":{\"cpuQOS\":{\"enable\":true,\"groupIdentity\":0},\"memoryQOS\":{\"enable\":true}}}",
      "" },
    { "qos_16_2: lists of objects are replaced whole", SLO_QOS,
      NODES("\"cgroupRoot\":{\"blkioQOS\":{\"blocks\":[{\"name\":\"sda\",\"ioCfg\":{\"readBPS\":1}},"
            "{\"name\":\"sdb\"}]}}",
            POOL("a", "\"cgroupRoot\":{\"blkioQOS\":{\"blocks\":[{\"name\":\"sdc\"}]}}")),
      "{\"cgroupRoot\":{\"blkioQOS\":{\"blocks\":[{\"name\":\"sdc\"}]}}}", "" },
    { "qos_3_8: a share is a percent or a quantity, as written", SLO_QOS,
      CLUSTER("\"lsClass\":{\"networkQOS\":{\"ingressRequest\":50,\"egressLimit\":\"50M\"}}"),
      "{\"lsClass\":{\"networkQOS\":{\"ingressRequest\":50,\"egressLimit\":\"50M\"}}}", "" },
    { "qos_3_8: a share is nothing else", SLO_QOS,
      CLUSTER("\"lsClass\":{\"networkQOS\":{\"ingressRequest\":true}}"), NULL,
      "rejected:clusterStrategy.lsClass.networkQOS.ingressRequest:ParseConfigFail" },
    { "host_3_11: the default is none", SLO_HOST_APPS, "{}", "{}", "" },
    { "host_3_11: the cluster's applications", SLO_HOST_APPS,
      "{\"applications\":[{\"name\":\"nginx\",\"strategy\":{\"x\":1},\"cgroupPath\":{\"base\":\"Kubepods\"}}]"
      "}",
      "{\"applications\":[{\"name\":\"nginx\",\"cgroupPath\":{\"base\":\"Kubepods\"},\"strategy\":{}}]}",
      "" },
    { "host_3_11: an entry's list replaces the cluster's", SLO_HOST_APPS,
      "{\"applications\":[{\"name\":\"x\"}],\"nodeConfigs\":[" POOL(
          "a", "\"applications\":[{\"name\":\"y\"}]") "]}",
      "{\"applications\":[{\"name\":\"y\"}]}", "" },
    { "host_3_11: an entry without a list means none", SLO_HOST_APPS,
      "{\"applications\":[{\"name\":\"x\"}],\"nodeConfigs\":[" POOL("a", "\"name\":\"quiet\"") "]}", "{}",
      "" },
};

static void slo__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct label pool = { STR("pool"), STR("a") };

    CLEANUP(slo_config_freep)
    struct slo_config *config = slo_config_parse(row->key, str_c(row->text), &findings);

    assert_findings(&arena, &findings, row->findings);
    assert_int_equal(config != NULL, row->want != NULL);
    if (!config)
        return;
    const struct json *got = slo_config_resolve(config, (struct labels){ &pool, 1 }, &arena);
    if (!json_equal(got, must_parse(&arena, str_c(row->want))))
        fail_msg("%s, want %s", as_text(&arena, got), row->want);
}

/* --- equality --------------------------------------------------------------------- */

static void equal__follows_what_nodes_get(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } pairs[] = {
        { "{}", CLUSTER("\"enable\":false"), true },
        { "{}", CLUSTER("\"enable\":true"), false },
        { NODES("", POOL("a", "\"enable\":true")), NODES("", POOL("a", "\"ENABLE\":true")), true },
        { NODES("", POOL("a", "\"enable\":true")), NODES("", POOL("b", "\"enable\":true")), false },
        { NODES("", POOL("a", "\"enable\":true")), "{}", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        CLEANUP(slo_config_freep)
        struct slo_config *a = slo_config_parse(SLO_THRESHOLD, str_c(pairs[i].a), NULL);
        CLEANUP(slo_config_freep)
        struct slo_config *b = slo_config_parse(SLO_THRESHOLD, str_c(pairs[i].b), NULL);
        if (slo_config_equal(a, b) != pairs[i].equal)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
    }
}

static void defaults__are_valid(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        CLEANUP(slo_config_freep) struct slo_config *config = slo_config_default((enum slo_key)i);
        const struct json *read = NULL;
        struct schema_fault fault;
        assert_true(schema_read(slo_keys[i].schema, config->cluster, &arena, &read, &fault));
        assert_true(json_equal(read, config->cluster));
        assert_true(json_equal(read, must_parse(&arena, str_c(slo_keys[i].default_json))));
    }
}

int main(void)
{
    TEST_ROWS(tests, rows, slo__row);
    const struct CMUnitTest others[] = {
        cmocka_unit_test(equal__follows_what_nodes_get),
        cmocka_unit_test(defaults__are_valid),
    };
    int failed = cmocka_run_group_tests_name("sloconfig/slo", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("sloconfig/slo whole", others, NULL, NULL);
}
