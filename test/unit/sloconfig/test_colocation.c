#include "support.h"

#define ENTRY(fields) "{\"nodeConfigs\":[{\"nodeSelector\":{\"matchLabels\":{\"a\":\"1\"}}," fields "}]}"
#define SELECTOR(text) "{\"nodeConfigs\":[{\"nodeSelector\":" text "}]}"

static const struct row {
    const char *name;
    const char *text;
    const char *cluster;  /* members of the effective cluster strategy; NULL: refused */
    const char *findings; /* NULL: none */
    size_t entries;
} rows[] = {
    /* reading */
    { .name = "json_3_2: an empty text is the defaults", "", "{\"enable\":false,\"degradeTimeMinutes\":15}" },
    { .name = "json_3_2: {} is the defaults", "{}", "{\"enable\":false,\"midCPUThresholdPercent\":100}" },
    { .name = "json_3_2: the chart's key", "{\"enable\":true}", "{\"enable\":true,\"midReclaimMode\":null}" },
    { .name = "json_3_2: blanks around", " \n{\"enable\":true}\t\r\n", "{\"enable\":true}" },
    { .name = "json_3_2: blanks alone", "  \n", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: null as the whole key", "null", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: an array", "[]", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: a string", "\"enable\"", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: a number", "1", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: cut short", "{\"enable\":true", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: text after the document", "{\"enable\":true} x", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: a second document", "{\"enable\":true}{}", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: a trailing comma", "{\"enable\":true,}", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: single quotes", "{'enable':true}", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: a comment", "{\"enable\":true/*x*/}", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: YAML is not JSON", "enable: true", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: invalid UTF-8", "{\"midReclaimMode\":\"\xff\"}", NULL, "rejected::ParseConfigFail" },
    { .name = "json_3_2: names in any case",
      "{\"ENABLE\":true,\"midcputhresholdpercent\":7}",
      "{\"enable\":true,\"midCPUThresholdPercent\":7}" },
    { .name = "json_3_2: nested names in any case",
      "{\"METRICAGGREGATEPOLICY\":{\"Durations\":[\"1m\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"1m0s\"]}}" },
    { .name = "json_3_2: unknown fields are ignored",
      "{\"enabled\":true,\"x\":{\"y\":[1,{}]}}",
      "{\"enable\":false}" },
    { .name = "json_3_2: of duplicates the last wins",
      "{\"degradeTimeMinutes\":1,\"degradeTimeMinutes\":2}",
      "{\"degradeTimeMinutes\":2}" },
    { .name = "json_3_2: duplicates in another case, the last wins",
      "{\"Enable\":true,\"enable\":false}",
      "{\"enable\":false}" },
    { .name = "json_3_2: an exact name does not beat a later one",
      "{\"enable\":false,\"Enable\":true}",
      "{\"enable\":true}" },
    { .name = "json_3_2: a last null unsets",
      "{\"degradeTimeMinutes\":1,\"DegradeTimeMinutes\":null}",
      "{\"degradeTimeMinutes\":15}" },
    { .name = "json_3_2: null leaves each type unset",
      "{\"enable\":null,\"degradeTimeMinutes\":null,\"resourceDiffThreshold\":null,\"midReclaimMode\":null,"
      "\"metricAggregatePolicy\":null,\"nodePredictPolicy\":null,\"extensions\":null,\"nodeConfigs\":null}",
      "{\"enable\":false,\"degradeTimeMinutes\":15,\"resourceDiffThreshold\":0.1,\"midReclaimMode\":null,"
      "\"metricAggregatePolicy\":{\"durations\":[\"5m0s\",\"10m0s\",\"30m0s\"]},\"nodePredictPolicy\":null,"
      "\"extensions\":null}" },
    { .name = "json_3_2: null durations are unset",
      "{\"metricAggregatePolicy\":{\"durations\":null}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"5m0s\",\"10m0s\",\"30m0s\"]}}" },
    /* types */
    { .name = "json_3_2: 1.0 is no integer",
      "{\"degradeTimeMinutes\":1.0}",
      NULL,
      "rejected:degradeTimeMinutes:ParseConfigFail" },
    { .name = "json_3_2: 1e2 is no integer",
      "{\"midCPUThresholdPercent\":1e2}",
      NULL,
      "rejected:midCPUThresholdPercent:ParseConfigFail" },
    { .name = "json_3_2: \"5\" is no integer",
      "{\"degradeTimeMinutes\":\"5\"}",
      NULL,
      "rejected:degradeTimeMinutes:ParseConfigFail" },
    { .name = "json_3_2: an integer beyond 64 bits",
      "{\"degradeTimeMinutes\":9223372036854775808}",
      NULL,
      "rejected:degradeTimeMinutes:ParseConfigFail" },
    { .name = "json_3_2: the largest integer",
      "{\"degradeTimeMinutes\":9223372036854775807}",
      "{\"degradeTimeMinutes\":9223372036854775807}" },
    { .name = "json_3_2: \"true\" is no bool",
      "{\"enable\":\"true\"}",
      NULL,
      "rejected:enable:ParseConfigFail" },
    { .name = "json_3_2: 1 is no bool", "{\"enable\":1}", NULL, "rejected:enable:ParseConfigFail" },
    { .name = "json_3_2: true is no string",
      "{\"midReclaimMode\":true}",
      NULL,
      "rejected:midReclaimMode:ParseConfigFail" },
    { .name = "json_3_2: \"0.1\" is no ratio",
      "{\"resourceDiffThreshold\":\"0.1\"}",
      NULL,
      "rejected:resourceDiffThreshold:ParseConfigFail" },
    { .name = "json_3_2: a ratio written as an integer",
      "{\"resourceDiffThreshold\":1}",
      "{\"resourceDiffThreshold\":1}" },
    { .name = "json_3_2: durations as a string",
      "{\"metricAggregatePolicy\":{\"durations\":\"5m\"}}",
      NULL,
      "rejected:metricAggregatePolicy.durations:ParseConfigFail" },
    { .name = "json_3_2: an aggregate policy as a list",
      "{\"metricAggregatePolicy\":[\"5m\"]}",
      NULL,
      "rejected:metricAggregatePolicy:ParseConfigFail" },
    { .name = "json_3_2: a duration as a number",
      "{\"metricAggregatePolicy\":{\"durations\":[\"5m\",300]}}",
      NULL,
      "rejected:metricAggregatePolicy.durations[1]:ParseConfigFail" },
    { .name = "json_3_2: a null duration",
      "{\"metricAggregatePolicy\":{\"durations\":[null]}}",
      NULL,
      "rejected:metricAggregatePolicy.durations[0]:ParseConfigFail" },
    { .name = "json_3_2: a duration without unit",
      "{\"metricAggregatePolicy\":{\"durations\":[\"5\"]}}",
      NULL,
      "rejected:metricAggregatePolicy.durations[0]:ParseConfigFail" },
    { .name = "json_3_2: durations become canonical",
      "{\"metricAggregatePolicy\":{\"durations\":[\"90s\",\"5m\",\"1h30m\",\"0\",\"0.5s\"]}}",
      "{\"metricAggregatePolicy\":{\"durations\":[\"1m30s\",\"5m0s\",\"1h30m0s\",\"0s\",\"500ms\"]}}" },
    { .name = "json_3_2: extensions as a list",
      "{\"extensions\":[1]}",
      NULL,
      "rejected:extensions:ParseConfigFail" },
    { .name = "json_3_2: a predict policy as a number",
      "{\"nodePredictPolicy\":5}",
      NULL,
      "rejected:nodePredictPolicy:ParseConfigFail" },
    { .name = "json_3_2: a predict field as a string",
      "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":\"1h\"}}",
      NULL,
      "rejected:nodePredictPolicy.coldStartPeriodSeconds:ParseConfigFail" },
    { .name = "json_3_2: nodeConfigs as an object",
      "{\"nodeConfigs\":{}}",
      NULL,
      "rejected:nodeConfigs:ParseConfigFail" },
    { .name = "json_3_2: an entry as a string",
      "{\"nodeConfigs\":[\"a\"]}",
      NULL,
      "rejected:nodeConfigs[0]:ParseConfigFail" },
    { .name = "json_3_2: a wrong type in an entry fails the key",
      ENTRY("\"degradeTimeMinutes\":\"5\""),
      NULL,
      "rejected:nodeConfigs[0].degradeTimeMinutes:ParseConfigFail" },
    { .name = "json_3_2: an entry's name as a number",
      ENTRY("\"name\":5"),
      NULL,
      "rejected:nodeConfigs[0].name:ParseConfigFail" },
    { .name = "json_3_2: a selector as a string",
      SELECTOR("\"a=1\""),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector:ParseConfigFail" },
    { .name = "json_3_2: matchLabels as a list",
      SELECTOR("{\"matchLabels\":[]}"),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector.matchLabels:ParseConfigFail" },
    { .name = "json_3_2: a label value as a number",
      SELECTOR("{\"matchLabels\":{\"a\":1}}"),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector.matchLabels[a]:ParseConfigFail" },
    { .name = "json_3_2: an expression as a string",
      SELECTOR("{\"matchExpressions\":[\"a\"]}"),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector.matchExpressions[0]:ParseConfigFail" },
    { .name = "json_3_2: an operator as a number",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":1}]}"),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector.matchExpressions[0].operator:ParseConfigFail" },
    { .name = "json_3_2: an expression's value as a number",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",1]}]}"),
      NULL,
      "rejected:nodeConfigs[0].nodeSelector.matchExpressions[0].values[1]:ParseConfigFail" },
    { .name = "json_3_2: types are checked before ranges",
      "{\"degradeTimeMinutes\":0,\"enable\":\"x\"}",
      NULL,
      "rejected:enable:ParseConfigFail" },
    /* ranges */
    { .name = "merge_3_4: a cluster field out of range refuses the key",
      "{\"degradeTimeMinutes\":0}",
      NULL,
      "rejected:degradeTimeMinutes:ConfigParamInvalid" },
    { .name = "merge_3_4: every bad cluster field is named",
      "{\"midCPUThresholdPercent\":101,\"degradeTimeMinutes\":0}",
      NULL,
      "rejected:degradeTimeMinutes:ConfigParamInvalid rejected:midCPUThresholdPercent:ConfigParamInvalid" },
    { .name = "merge_3_4: a nested field out of range",
      "{\"nodePredictPolicy\":{\"coldStartPeriodSeconds\":-1}}",
      NULL,
      "rejected:nodePredictPolicy.coldStartPeriodSeconds:ConfigParamInvalid" },
    { .name = "merge_3_4: an entry out of range is replaced",
      ENTRY("\"midCPUThresholdPercent\":101"),
      "{\"enable\":false}",
      "entry:nodeConfigs[0].midCPUThresholdPercent:ConfigParamInvalid",
      1 },
    { .name = "merge_3_4: what only admission refuses is reported",
      "{\"midStaticCPUReservedPercent\":150}",
      "{\"midStaticCPUReservedPercent\":150}",
      "admission:midStaticCPUReservedPercent:ConfigParamInvalid" },
    { .name = "merge_3_4: the same in an entry",
      ENTRY("\"resourceDiffThreshold\":2"),
      "{\"resourceDiffThreshold\":0.1}",
      "admission:nodeConfigs[0].resourceDiffThreshold:ConfigParamInvalid",
      1 },
    { .name = "merge_3_4: bad cluster and bad entry are both named",
      "{\"degradeTimeMinutes\":0,\"nodeConfigs\":[{\"nodeSelector\":{\"matchLabels\":{\"a\":\"1\"}},"
      "\"midCPUThresholdPercent\":-1}]}",
      NULL,
      "rejected:degradeTimeMinutes:ConfigParamInvalid "
      "entry:nodeConfigs[0].midCPUThresholdPercent:ConfigParamInvalid" },
    { .name = "odd: an unknown midReclaimMode is accepted with a warning",
      "{\"midReclaimMode\":\"Static\"}",
      "{\"midReclaimMode\":\"Static\"}",
      "warning:midReclaimMode:UnknownValue" },
    { .name = "odd: every known midReclaimMode",
      "{\"midReclaimMode\":\"mixed\"}",
      "{\"midReclaimMode\":\"mixed\"}" },
    { .name = "odd: an unknown cpuCalculatePolicy",
      "{\"cpuCalculatePolicy\":\"max\"}",
      "{\"cpuCalculatePolicy\":\"max\"}",
      "warning:cpuCalculatePolicy:UnknownValue" },
    { .name = "odd: an unknown memoryCalculatePolicy in an entry",
      ENTRY("\"memoryCalculatePolicy\":\"x\""),
      "{}",
      "warning:nodeConfigs[0].memoryCalculatePolicy:UnknownValue",
      1 },
    { .name = "odd: a memory collect policy outside the CRD's enum",
      "{\"metricMemoryCollectPolicy\":\"x\"}",
      NULL,
      "rejected:metricMemoryCollectPolicy:ConfigParamInvalid" },
    /* selectors */
    { .name = "selector_3_1: no selector",
      "{\"nodeConfigs\":[{\"name\":\"a\"}]}",
      "{}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      1 },
    { .name = "selector_3_1: a null selector",
      SELECTOR("null"),
      "{}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      1 },
    { .name = "selector_3_1: a null entry",
      "{\"nodeConfigs\":[null]}",
      "{}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      1 },
    { .name = "selector_3_1: an empty selector",
      SELECTOR("{}"),
      "{}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      1 },
    { .name = "selector_3_1: an unknown operator skips the entry",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Equals\",\"values\":[\"1\"]}]}"),
      "{}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      0 },
    { .name = "selector_3_1: In without values skips the entry",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}"),
      "{}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      0 },
    { .name = "selector_3_1: Exists with values skips the entry",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"1\"]}]}"),
      "{}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      0 },
    { .name = "selector_3_1: an expression without key skips the entry",
      SELECTOR("{\"matchExpressions\":[{\"operator\":\"Exists\"}]}"),
      "{}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      0 },
    { .name = "selector_3_1: a malformed label key skips the entry",
      SELECTOR("{\"matchLabels\":{\"a b\":\"1\"}}"),
      "{}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid",
      0 },
    { .name = "selector_3_1: all operators",
      SELECTOR(
          "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\"]},"
          "{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"1\"]},{\"key\":\"c\",\"operator\":\"Exists\"},"
          "{\"key\":\"d\",\"operator\":\"DoesNotExist\"}]}"),
      "{}",
      NULL,
      1 },
};

static void parse__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    CLEANUP(colocation_config_freep)
    struct colocation_config *config = colocation_parse(str_c(row->text), &findings);
    assert_findings(&arena, &findings, row->findings ? row->findings : "");
    assert_int_equal(config != NULL, row->cluster != NULL);
    assert_int_equal(findings.rejected > 0, row->cluster == NULL);
    if (!config)
        return;
    assert_int_equal(config->count, row->entries);
    assert_members(&arena, strategy_to_json(&config->cluster, &arena), row->cluster);
}

static void parse__findings_name_key_value_and_rule(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    assert_null(colocation_parse(STR("{\"midCPUThresholdPercent\":150}"), &findings));
    CLEANUP(strbuf_done) struct strbuf line = STRBUF_INIT(1024);
    finding_write(&line, &findings.items[0]);
    assert_string_equal(strbuf_cstr(&line),
                        "colocation-config.midCPUThresholdPercent = 150: must be between 0 and 100 "
                        "(ConfigParamInvalid)");
}

static void parse__a_10_mb_value_is_refused_unread(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct str huge = { .ptr = mem_zalloc(10 << 20), .len = 10 << 20 };
    memset((char *)(uintptr_t)huge.ptr, ' ', huge.len);
    assert_null(colocation_parse(huge, &findings));
    free((void *)(uintptr_t)huge.ptr);
    assert_findings(&arena, &findings, "rejected::ParseConfigFail");
    assert_string_equal(findings.items[0].message.ptr,
                        "is 10485760 bytes long; more than 1048576 are not read");
    assert_true(findings.items[0].value.len < 300);
}

static void parse__a_value_at_the_limit_is_read(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    char *text = mem_zalloc(COLOCATION_MAX_BYTES);
    memset(text, ' ', COLOCATION_MAX_BYTES);
    memcpy(text, "{\"enable\":true}", 15);
    CLEANUP(colocation_config_freep)
    struct colocation_config *config =
        colocation_parse((struct str){ .ptr = text, .len = COLOCATION_MAX_BYTES }, &findings);
    free(text);
    assert_non_null(config);
    assert_true(config->cluster.enable.value);
}

static void parse__a_long_value_is_cut_in_the_finding(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct strbuf text = STRBUF_INIT(4096);
    strbuf_add(&text, STR("{\"enable\":\"a"));
    for (int i = 0; i < 500; i++)
        strbuf_add(&text, STR("\xc3\xa9"));
    strbuf_add(&text, STR("\"}"));
    assert_null(colocation_parse(strbuf_str(&text), &findings));
    strbuf_done(&text);
    assert_true(str_is_utf8(findings.items[0].value));
    assert_true(str_ends_with(findings.items[0].value, STR("... (1003 bytes)")));
}

static void parse__many_bad_entries_are_counted_not_kept(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct strbuf text = STRBUF_INIT(COLOCATION_MAX_BYTES);
    strbuf_add(&text, STR("{\"nodeConfigs\":["));
    for (int i = 0; i < FINDINGS_MAX + 50; i++)
        strbuf_addf(&text, "%s{\"nodeSelector\":{\"matchLabels\":{\"a\":\"%d\"}},\"degradeTimeMinutes\":0}",
                    i ? "," : "", i);
    strbuf_add(&text, STR("]}"));
    CLEANUP(colocation_config_freep)
    struct colocation_config *config = colocation_parse(strbuf_str(&text), &findings);
    strbuf_done(&text);
    assert_non_null(config);
    assert_int_equal(config->count, FINDINGS_MAX + 50);
    assert_int_equal(findings.count, FINDINGS_MAX);
    assert_int_equal(findings.omitted, 50);
}

static void parse__extensions_are_bounded(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct strbuf text = STRBUF_INIT(COLOCATION_MAX_BYTES);
    strbuf_add(&text, STR("{\"extensions\":{\"a\":0"));
    for (int i = 0; i < COLOCATION_MAX_EXTENSIONS; i++)
        strbuf_addf(&text, ",\"k%d\":0", i);
    strbuf_add(&text, STR("}}"));
    assert_null(colocation_parse(strbuf_str(&text), &findings));
    strbuf_done(&text);
    assert_findings(&arena, &findings, "rejected:extensions:ParseConfigFail");
}

static void parse__needs_no_findings(void **state)
{
    (void)state;
    assert_null(colocation_parse(STR("{\"degradeTimeMinutes\":0}"), NULL));
    CLEANUP(colocation_config_freep)
    struct colocation_config *config = colocation_parse(STR(ENTRY("\"degradeTimeMinutes\":0")), NULL);
    assert_true(config->entries[0].replaced);
}

static const struct equal_row {
    const char *name;
    const char *a;
    const char *b;
    bool want;
} equal_rows[] = {
    { "config_equal: spelling does not matter", "{\"enable\":true}", "{ \"Enable\": true, \"x\": 1 }", true },
    { "config_equal: a default spelled out", "{}", "{\"degradeTimeMinutes\":15}", true },
    { "config_equal: cluster", "{\"enable\":true}", "{}", false },
    { "config_equal: entry name is informative", ENTRY("\"name\":\"x\""), ENTRY("\"name\":\"y\""), true },
    { "config_equal: entry strategy", ENTRY("\"enable\":true"), ENTRY("\"enable\":false"), false },
    { "config_equal: replaced entries are alike", ENTRY("\"degradeTimeMinutes\":0"),
      ENTRY("\"degradeTimeMinutes\":-1"), true },
    { "config_equal: replaced differs from good", ENTRY("\"degradeTimeMinutes\":0"),
      ENTRY("\"degradeTimeMinutes\":1"), false },
    { "config_equal: number of entries", ENTRY("\"enable\":true"), "{}", false },
    { "config_equal: selector values", SELECTOR("{\"matchLabels\":{\"a\":\"1\"}}"),
      SELECTOR("{\"matchLabels\":{\"a\":\"2\"}}"), false },
    { "config_equal: selector operators",
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}"),
      SELECTOR("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}"), false },
    { "config_equal: null selector and empty selector", SELECTOR("null"), SELECTOR("{}"), false },
    { "config_equal: a skipped entry does not count", SELECTOR("{\"matchLabels\":{\"a b\":\"1\"}}"), "{}",
      true },
};

static void equal__row(void **state)
{
    const struct equal_row *row = *state;
    CLEANUP(colocation_config_freep) struct colocation_config *a = colocation_parse(str_c(row->a), NULL);
    CLEANUP(colocation_config_freep) struct colocation_config *b = colocation_parse(str_c(row->b), NULL);
    assert_int_equal(colocation_config_equal(a, b), row->want);
    assert_int_equal(colocation_config_equal(b, a), row->want);
}

int main(void)
{
    TEST_ROWS(parses, rows, parse__row);
    TEST_ROWS(equals, equal_rows, equal__row);
    const struct CMUnitTest whole[] = {
        cmocka_unit_test(parse__findings_name_key_value_and_rule),
        cmocka_unit_test(parse__a_10_mb_value_is_refused_unread),
        cmocka_unit_test(parse__a_value_at_the_limit_is_read),
        cmocka_unit_test(parse__a_long_value_is_cut_in_the_finding),
        cmocka_unit_test(parse__many_bad_entries_are_counted_not_kept),
        cmocka_unit_test(parse__extensions_are_bounded),
        cmocka_unit_test(parse__needs_no_findings),
    };
    return cmocka_run_group_tests_name("sloconfig/colocation rows", parses, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/config_equal", equals, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/colocation", whole, NULL, NULL);
}
