#include "sloconfig/resolve.h"
#include "support.h"

#define KEY "node.koordinator.sh/"
#define CONFIG                                                                                               \
    "{\"enable\":true,\"midCPUThresholdPercent\":45,\"nodeConfigs\":["                                       \
    "{\"nodeSelector\":{\"matchLabels\":{\"pool\":\"a\"}},\"midCPUThresholdPercent\":20},"                   \
    "{\"nodeSelector\":{\"matchExpressions\":[{\"key\":\"pool\",\"operator\":\"Exists\"}]},"                 \
    "\"midMemoryThresholdPercent\":30},"                                                                     \
    "{\"nodeSelector\":{\"matchLabels\":{\"bad\":\"1\"}},\"midCPUThresholdPercent\":500,\"enable\":false},"  \
    "{\"nodeSelector\":{\"matchLabels\":{\"bad\":\"1\"}},\"midCPUThresholdPercent\":5}]}"

static const struct row {
    const char *name;
    const char *config;
    const char *labels;     /* {"key":"value"}, sorted */
    const char *annotation; /* NULL: none */
    const char *want;       /* members of the effective strategy */
    const char *findings;   /* NULL: none */
} rows[] = {
    { .name = "resolve_3_4: no entry matches",
      CONFIG,
      "{}",
      NULL,
      "{\"midCPUThresholdPercent\":45,\"midMemoryThresholdPercent\":100}" },
    { .name = "resolve_3_4: the first matching entry wins",
      CONFIG,
      "{\"pool\":\"a\"}",
      NULL,
      "{\"midCPUThresholdPercent\":20,\"midMemoryThresholdPercent\":100}" },
    { .name = "resolve_3_4: an entry lies on the cluster strategy",
      CONFIG,
      "{\"pool\":\"b\"}",
      NULL,
      "{\"enable\":true,\"midCPUThresholdPercent\":45,\"midMemoryThresholdPercent\":30}" },
    { .name = "resolve_3_4: an entry out of range is the cluster's and still shadows",
      CONFIG,
      "{\"bad\":\"1\"}",
      NULL,
      "{\"enable\":true,\"midCPUThresholdPercent\":45}" },
    { .name = "resolve_3_1: a missing selector matches nothing",
      "{\"nodeConfigs\":[{\"degradeTimeMinutes\":3}]}",
      "{}",
      NULL,
      "{\"degradeTimeMinutes\":15}" },
    { .name = "resolve_3_1: an empty selector matches every node",
      "{\"nodeConfigs\":[{\"nodeSelector\":{},\"degradeTimeMinutes\":3}]}",
      "{}",
      NULL,
      "{\"degradeTimeMinutes\":3}" },
    { .name = "resolve_3_1: an invalid selector does not shadow",
      "{\"nodeConfigs\":[{\"nodeSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Is\"}]}},"
      "{\"nodeSelector\":{},\"degradeTimeMinutes\":3}]}",
      "{}",
      NULL,
      "{\"degradeTimeMinutes\":3}" },
    { .name = "resolve_3_4: nested objects of an entry merge",
      "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":9},\"extensions\":{\"a\":1},\"nodeConfigs\":[{"
      "\"nodeSelector\":"
      "{},\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":5},\"extensions\":{\"b\":2}}]}",
      "{}",
      NULL,
      "{\"nodePredictPolicy\":{\"resourceDiffThresholdPercent\":5,\"coldStartPeriodSeconds\":9},"
      "\"extensions\":{\"a\":1,\"b\":2}}" },
    { .name = "override_3_6: the annotation beats the entry",
      CONFIG,
      "{\"pool\":\"a\"}",
      "{\"MidCPUThresholdPercent\":7}",
      "{\"midCPUThresholdPercent\":7}" },
    { .name = "override_3_6: the annotation may disable",
      CONFIG,
      "{}",
      "{\"enable\":false}",
      "{\"enable\":false}" },
    { .name = "override_3_6: nodeConfigs in the annotation mean nothing",
      CONFIG,
      "{}",
      "{\"nodeConfigs\":[{\"nodeSelector\":{},\"midCPUThresholdPercent\":1}]}",
      "{\"midCPUThresholdPercent\":45}" },
    { .name = "override_3_6: a malformed annotation is ignored",
      CONFIG,
      "{}",
      "{\"midCPUThresholdPercent\":7",
      "{\"midCPUThresholdPercent\":45}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: an empty annotation is malformed",
      CONFIG,
      "{}",
      "",
      "{\"midCPUThresholdPercent\":45}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: null is malformed",
      CONFIG,
      "{}",
      "null",
      "{\"midCPUThresholdPercent\":45}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: a wrong type ignores the annotation whole",
      CONFIG,
      "{}",
      "{\"midMemoryThresholdPercent\":5,\"midCPUThresholdPercent\":\"7\"}",
      "{\"midCPUThresholdPercent\":45,\"midMemoryThresholdPercent\":100}",
      "node:midCPUThresholdPercent:NodeOverrideInvalid" },
    { .name = "override_16_2: a value out of range ignores the annotation whole",
      CONFIG,
      "{}",
      "{\"midMemoryThresholdPercent\":5,\"midCPUThresholdPercent\":101}",
      "{\"midCPUThresholdPercent\":45,\"midMemoryThresholdPercent\":100}",
      "node:midCPUThresholdPercent:NodeOverrideInvalid" },
    { .name = "override_16_2: a negative threshold",
      CONFIG,
      "{}",
      "{\"midCPUThresholdPercent\":-5}",
      "{\"midCPUThresholdPercent\":45}",
      "node:midCPUThresholdPercent:NodeOverrideInvalid" },
    { .name = "override_3_6: an unknown mode is taken with a warning",
      CONFIG,
      "{}",
      "{\"midReclaimMode\":\"x\"}",
      "{\"midReclaimMode\":\"x\"}",
      "warning:midReclaimMode:UnknownValue" },
    { .name = "override_3_6: cpu-reclaim-ratio",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"0.29\"}",
      NULL,
      "{\"cpuReclaimThresholdPercent\":29}" },
    { .name = "override_3_6: memory-reclaim-ratio",
      CONFIG,
      "{\"" KEY "memory-reclaim-ratio\":\"1.5\"}",
      NULL,
      "{\"memoryReclaimThresholdPercent\":150}" },
    { .name = "override_3_6: mid-static-cpu-reserved-ratio",
      CONFIG,
      "{\"" KEY "mid-static-cpu-reserved-ratio\":\"0.295\"}",
      NULL,
      "{\"midStaticCPUReservedPercent\":29}" },
    { .name = "override_3_6: mid-static-memory-reserved-ratio",
      CONFIG,
      "{\"" KEY "mid-static-memory-reserved-ratio\":\"0\"}",
      NULL,
      "{\"midStaticMemoryReservedPercent\":0}" },
    { .name = "override_3_6: labels beat the annotation",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"0.5\"}",
      "{\"cpuReclaimThresholdPercent\":80,\"memoryReclaimThresholdPercent\":81}",
      "{\"cpuReclaimThresholdPercent\":50,\"memoryReclaimThresholdPercent\":81}" },
    { .name = "override_3_6: labels apply beside a bad annotation",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"0.5\"}",
      "{",
      "{\"cpuReclaimThresholdPercent\":50}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: a label that is no number",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"half\"}",
      NULL,
      "{\"cpuReclaimThresholdPercent\":60}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: inf is ignored",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"inf\"}",
      NULL,
      "{\"cpuReclaimThresholdPercent\":60}",
      "node::NodeOverrideInvalid" },
    { .name = "override_3_6: a negative label is ignored",
      CONFIG,
      "{\"" KEY "cpu-reclaim-ratio\":\"-0.1\"}",
      NULL,
      "{\"cpuReclaimThresholdPercent\":60}",
      "node::NodeOverrideInvalid" },
};

static struct labels read_labels(struct arena *arena, const char *text)
{
    const struct json *object = must_parse(arena, str_c(text));
    struct label *labels = arena_array(arena, struct label, json_count(object));
    for (size_t i = 0; i < json_count(object); i++)
        labels[i] =
            (struct label){ object->object.members[i].key, json_str(object->object.members[i].value) };
    return (struct labels){ labels, json_count(object) };
}

static void resolve__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    CLEANUP(colocation_config_freep)
    struct colocation_config *config = colocation_parse(str_c(row->config), NULL);
    assert_non_null(config);
    struct node_overrides node = { .labels = read_labels(&arena, row->labels),
                                   .has_annotation = row->annotation != NULL,
                                   .annotation = str_c(row->annotation) };
    struct strategy strategy;
    colocation_resolve(config, &node, &arena, &strategy, &findings);
    assert_members(&arena, strategy_to_json(&strategy, &arena), row->want);
    assert_findings(&arena, &findings, row->findings ? row->findings : "");
    for (size_t i = 0; i < findings.count; i++)
        assert_true(str_starts_with(findings.items[i].key, STR(KEY)));
    colocation_resolve(config, &node, &arena, &strategy, NULL);
}

static const struct enabled_row {
    const char *name;
    const char *config;
    bool want;
} enabled_rows[] = {
    { "disabled_6_1: by default", "{}", false },
    { "disabled_6_1: cluster and node on", "{\"enable\":true}", true },
    { "disabled_6_1: cluster off, entry on", "{\"nodeConfigs\":[{\"nodeSelector\":{},\"enable\":true}]}",
      false },
    { "disabled_6_1: cluster on, entry off",
      "{\"enable\":true,\"nodeConfigs\":[{\"nodeSelector\":{},\"enable\":false}]}", false },
};

static void enabled__row(void **state)
{
    const struct enabled_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(colocation_config_freep)
    struct colocation_config *config = colocation_parse(str_c(row->config), NULL);
    struct strategy strategy;
    colocation_resolve(config, &(struct node_overrides){ 0 }, &arena, &strategy, NULL);
    assert_int_equal(colocation_enabled(config, &strategy), row->want);
}

int main(void)
{
    TEST_ROWS(resolves, rows, resolve__row);
    TEST_ROWS(enableds, enabled_rows, enabled__row);
    return cmocka_run_group_tests_name("sloconfig/resolve", resolves, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/enabled", enableds, NULL, NULL);
}
