/* cpu-normalization-config and resource-amplification-config: reading, resolving, and which
 * text is in force. */
#include "sloconfig/ratio_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static const struct row {
    const char *name;
    const struct ratio_key *key;
    const char *text;
    const char *path; /* of the refusal; NULL: read */
} rows[] = {
    { "ratios: nothing", &normalization_key, "", NULL },
    { "ratios: an empty object", &normalization_key, "{}", NULL },
    { "ratios: null is refused", &normalization_key, "null", "" },
    { "ratios: a list is refused", &normalization_key, "[]", "" },
    { "ratios: no JSON is refused", &normalization_key, "{", "" },
    { "ratios: text behind is refused", &normalization_key, "{} x", "" },
    { "ratios: null fields are unset", &normalization_key,
      "{\"enable\":null,\"defaultRatio\":null,\"ratioModel\":null,\"nodeConfigs\":null}", NULL },
    { "ratios: enable must be a bool", &normalization_key, "{\"enable\":\"true\"}", "enable" },
    { "ratios: defaultRatio must be a number", &normalization_key, "{\"defaultRatio\":\"1\"}",
      "defaultRatio" },
    { "ratios: a model must be an object", &normalization_key, "{\"ratioModel\":{\"x\":1}}",
      "ratioModel[x]" },
    { "ratios: a model's ratio must be a number", &normalization_key,
      "{\"ratioModel\":{\"x\":{\"baseRatio\":\"1\"}}}", "ratioModel[x].baseRatio" },
    { "ratios: unknown fields are ignored", &normalization_key, "{\"resourceAmplificationRatio\":7}", NULL },
    { "ratios: amplification knows no default", &amplification_key, "{\"defaultRatio\":\"1\"}", NULL },
    { "ratios: an amplification ratio must be a number", &amplification_key,
      "{\"resourceAmplificationRatio\":{\"cpu\":\"2\"}}", "resourceAmplificationRatio[cpu]" },
    { "ratios: nodeConfigs must be a list", &amplification_key, "{\"nodeConfigs\":{}}", "nodeConfigs" },
    { "ratios: an entry must be an object", &amplification_key, "{\"nodeConfigs\":[1]}", "nodeConfigs[0]" },
    { "ratios: a wrong type in an entry fails the key", &amplification_key,
      "{\"nodeConfigs\":[{\"nodeSelector\":{},\"enable\":1}]}", "nodeConfigs[0].enable" },
    { "ratios: a null entry says nothing", &amplification_key, "{\"nodeConfigs\":[null]}", NULL },
};

static void ratios__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct ratio_config *config = ratio_config_parse(row->key, str_c(row->text), &findings);
    assert_int_equal(config == NULL, row->path != NULL);
    assert_int_equal(findings.rejected, row->path ? 1 : 0);
    if (row->path) {
        assert_true(str_eq(findings.items[0].path, str_c(row->path)));
        assert_true(str_eq(findings.items[0].key, row->key->key));
        if (*row->path == '\0')
            assert_true(str_eq(findings.items[0].value, str_c(row->text))); /* as written */
    }
    ratio_config_free(config);
}

static void resolve__first_matching_entry_over_the_cluster(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct ratio_config *config = ratio_config_parse(
        &amplification_key,
        STR("{\"enable\":true,\"resourceAmplificationRatio\":{\"cpu\":1.5,\"memory\":2},\"nodeConfigs\":["
            "{\"nodeSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Near\"}]},\"enable\":"
            "false},"
            "{\"enable\":false},"
            "{\"nodeSelector\":{\"matchLabels\":{\"a\":\"1\"}},\"resourceAmplificationRatio\":{\"cpu\":3}},"
            "{\"nodeSelector\":{},\"enable\":false}]}"),
        &findings);
    assert_non_null(config);
    assert_int_equal(findings_count(&findings, FINDING_ENTRY), 1);
    struct label label = { STR("a"), STR("1") };
    struct ratio_strategy got;
    int64_t cpu, memory;
    ratio_config_resolve(config, (struct labels){ &label, 1 }, &arena, &got);
    assert_true(got.enable.value);
    assert_true(ratio_nano(json_get(got.map, STR("cpu")), &cpu) && cpu == 3000000000);
    assert_true(ratio_nano(json_get(got.map, STR("memory")), &memory) && memory == 2000000000);
    ratio_config_resolve(config, (struct labels){ 0 }, &arena, &got);
    assert_true(got.enable.set && !got.enable.value);
    assert_true(ratio_nano(json_get(got.map, STR("cpu")), &cpu) && cpu == 1500000000);
    ratio_config_free(config);
}

static void policy__a_bad_text_never_replaces_a_good_one(void **state)
{
    (void)state;
    struct ratio_policy *policy = ratio_policy_new(&normalization_key);
    const struct ratio_policy_status *status = ratio_policy_status(policy);
    assert_null(status->in_force);
    ratio_policy_observe(policy, true, STR("{\"enable\":1}"));
    assert_true(status->told && !status->in_force && status->generation == 0);
    ratio_policy_observe(policy, true, STR("{\"enable\":1}"));
    assert_false(status->told);
    ratio_policy_observe(policy, true, STR("{\"enable\":true}"));
    assert_true(!status->told && status->in_force && status->generation == 1);
    ratio_policy_observe(policy, true, STR("null"));
    assert_true(status->told && status->in_force->cluster.enable.value);
    assert_true(str_starts_with(status->message, STR("cpu-normalization-config = null: ")));
    ratio_policy_observe(policy, false, STR_NULL);
    assert_true(status->in_force->cluster.enable.value);
    ratio_policy_observe(policy, true, STR(""));
    assert_true(status->generation == 2 && !status->in_force->cluster.enable.value);
    ratio_policy_free(policy);
}

static void policy__no_configmap_at_the_start_is_the_defaults(void **state)
{
    (void)state;
    struct ratio_policy *policy = ratio_policy_new(&amplification_key);
    assert_non_null(ratio_policy_observe(policy, false, STR_NULL)->in_force);
    assert_int_equal(ratio_policy_observe(policy, false, STR_NULL)->generation, 1);
    ratio_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(resolve__first_matching_entry_over_the_cluster),
        cmocka_unit_test(policy__a_bad_text_never_replaces_a_good_one),
        cmocka_unit_test(policy__no_configmap_at_the_start_is_the_defaults),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, ratios__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("sloconfig/ratio_config", tests, NULL, NULL);
}
