#include "sloconfig/admission.h"
#include "support.h"

#define PAIR(a, b)                                                                                           \
    "{\"nodeConfigs\":[{\"name\":\"x\",\"nodeSelector\":" a "},{\"name\":\"y\",\"nodeSelector\":" b "}]}"
#define LABELS(text) "{\"matchLabels\":{" text "}}"
#define TERM(key, op, values)                                                                                \
    "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\"" values "}]}"
#define A1 LABELS("\"a\":\"1\"")
#define B1 LABELS("\"b\":\"1\"")
#define OVERLAP "admission:nodeConfigs[1].nodeSelector:NodeStrategiesOverlap"

static const struct row {
    const char *name;
    const char *value;
    const char *findings; /* "": allowed */
    const char *old;
    const char *node; /* labels of the one node there is, sorted */
    bool need_names;
} rows[] = {
    { .name = "admission_14: the chart's key", "{\"enable\":true}", "" },
    { .name = "admission_14: an empty key is not looked at", "", "" },
    { .name = "admission_14: malformed", "{", "rejected::ParseConfigFail" },
    { .name = "admission_14: null", "null", "rejected::ParseConfigFail" },
    { .name = "admission_14: an unchanged bad key is not looked at", "{", "", .old = "{" },
    { .name = "admission_14: a changed bad key is", "{", "rejected::ParseConfigFail", .old = "[" },
    { .name = "admission_14: cluster range",
      "{\"degradeTimeMinutes\":0}",
      "rejected:degradeTimeMinutes:ConfigParamInvalid" },
    { .name = "admission_14: a range that controllers do not check",
      "{\"resourceDiffThreshold\":1.5}",
      "admission:resourceDiffThreshold:ConfigParamInvalid" },
    { .name = "admission_14: entry range as written",
      "{\"nodeConfigs\":[{\"nodeSelector\":" A1 ",\"midStaticCPUReservedPercent\":101}]}",
      "admission:nodeConfigs[0].midStaticCPUReservedPercent:ConfigParamInvalid" },
    { .name = "admission_14: an entry is not blamed for what the cluster says",
      "{\"midStaticCPUReservedPercent\":101,\"nodeConfigs\":[{\"nodeSelector\":" A1 "}]}",
      "admission:midStaticCPUReservedPercent:ConfigParamInvalid" },
    { .name = "admission_14: no selector",
      "{\"nodeConfigs\":[{}]}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid" },
    { .name = "admission_14: an empty selector",
      "{\"nodeConfigs\":[{\"nodeSelector\":{}}]}",
      "admission:nodeConfigs[0].nodeSelector:ConfigParamInvalid" },
    { .name = "admission_14: an invalid selector",
      "{\"nodeConfigs\":[{\"nodeSelector\":" TERM("a", "Is", "") "}]}",
      "entry:nodeConfigs[0].nodeSelector:ConfigParamInvalid" },
    { .name = "admission_14: an unknown mode is only a warning",
      "{\"midReclaimMode\":\"x\"}",
      "warning:midReclaimMode:UnknownValue" },
    /* overlap */
    { .name = "overlap_14: a=1 and b=1 do not", PAIR(A1, B1), "" },
    { .name = "overlap_14: a=1 and a=2 do not", PAIR(A1, LABELS("\"a\":\"2\"")), "" },
    { .name = "overlap_14: a=1 and a=1", PAIR(A1, A1), OVERLAP },
    { .name = "overlap_14: a=1 and a=1,b=2", PAIR(A1, LABELS("\"a\":\"1\",\"b\":\"2\"")), OVERLAP },
    { .name = "overlap_14: a=1,b=2 and a=1", PAIR(LABELS("\"a\":\"1\",\"b\":\"2\""), A1), OVERLAP },
    { .name = "overlap_14: a=1 and a in (1,2)",
      PAIR(A1, TERM("a", "In", ",\"values\":[\"1\",\"2\"]")),
      OVERLAP },
    { .name = "overlap_14: a=1 and a in (2,3) do not",
      PAIR(A1, TERM("a", "In", ",\"values\":[\"2\",\"3\"]")),
      "" },
    { .name = "overlap_14: a=1 and a not in (9)",
      PAIR(A1, TERM("a", "NotIn", ",\"values\":[\"9\"]")),
      OVERLAP },
    { .name = "overlap_14: a=1 and a not in (1) do not",
      PAIR(A1, TERM("a", "NotIn", ",\"values\":[\"1\"]")),
      "" },
    { .name = "overlap_14: a=1 and a exists", PAIR(A1, TERM("a", "Exists", "")), OVERLAP },
    { .name = "overlap_14: a=1 and b does not exist", PAIR(A1, TERM("b", "DoesNotExist", "")), OVERLAP },
    { .name = "overlap_14: a=1 and a does not exist do not", PAIR(A1, TERM("a", "DoesNotExist", "")), "" },
    { .name = "overlap_14: the second value of a set counts",
      PAIR(TERM("a", "In", ",\"values\":[\"2\",\"1\"]"), A1),
      OVERLAP },
    { .name = "overlap_14: three entries name the pair",
      "{\"nodeConfigs\":[{\"nodeSelector\":" B1 "},{\"nodeSelector\":" A1 "},{\"nodeSelector\":" A1 "}]}",
      "admission:nodeConfigs[2].nodeSelector:NodeStrategiesOverlap" },
    { .name = "overlap_14: an entry without selector overlaps nobody",
      PAIR(A1, "null"),
      "admission:nodeConfigs[1].nodeSelector:ConfigParamInvalid" },
    /* nodes */
    { .name = "conflict_14: a node that matches two entries",
      PAIR(A1, B1),
      "admission:nodeConfigs[1].nodeSelector:ExistNodeConfict",
      .node = "{\"a\":\"1\",\"b\":\"1\"}" },
    { .name = "conflict_14: a node that matches one", PAIR(A1, B1), "", .node = "{\"a\":\"1\"}" },
    { .name = "conflict_14: one entry conflicts with nobody",
      "{\"nodeConfigs\":[{\"nodeSelector\":" A1 "}]}",
      "",
      .node = "{\"a\":\"1\"}" },
    { .name = "conflict_14: not looked for in an unchanged key",
      PAIR(A1, B1),
      "",
      .old = PAIR(A1, B1),
      .node = "{\"a\":\"1\",\"b\":\"1\"}" },
    /* names */
    { .name = "names_14: not needed by default", "{\"nodeConfigs\":[{\"nodeSelector\":" A1 "}]}", "" },
    { .name = "names_14: needed by flag",
      "{\"nodeConfigs\":[{\"nodeSelector\":" A1 "}]}",
      "admission:nodeConfigs[0].name:ConfigParamInvalid",
      .need_names = true },
    { .name = "names_14: unique by flag",
      "{\"nodeConfigs\":[{\"name\":\"n\",\"nodeSelector\":" A1 "},{\"name\":\"n\",\"nodeSelector\":" B1 "}]}",
      "admission:nodeConfigs[1].name:ConfigParamInvalid",
      .need_names = true },
    { .name = "names_14: good names", PAIR(A1, B1), "", .need_names = true },
};

static struct labels read_labels(struct arena *arena, const char *text)
{
    const struct json *object = must_parse(arena, str_c(text ? text : "{}"));
    struct label *labels = arena_array(arena, struct label, json_count(object));
    for (size_t i = 0; i < json_count(object); i++)
        labels[i] =
            (struct label){ object->object.members[i].key, json_str(object->object.members[i].value) };
    return (struct labels){ labels, json_count(object) };
}

static void admission__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct admission_data data = { STR("colocation-config"), str_c(row->value) };
    struct admission_data old_data = { STR("colocation-config"), str_c(row->old) };
    struct admission_configmap old = { &old_data, 1 };
    struct admission_node node = { STR("n1"), read_labels(&arena, row->node) };
    struct admission_request request = {
        .data = { &data, 1 },
        .old = row->old ? &old : NULL,
        .nodes = &node,
        .node_count = 1,
        .need_names = row->need_names,
    };
    bool allowed = admission_validate(&request, &findings);
    assert_findings(&arena, &findings, row->findings);
    bool only_warnings = row->findings[0] == '\0' || row->findings[0] == 'w';
    assert_int_equal(allowed, only_warnings);
}

static void admission__other_keys_are_not_judged(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct admission_data data = { STR("something-else"), STR("{") };
    struct admission_request request = { .data = { &data, 1 } };
    assert_true(admission_validate(&request, &findings));
}

/* Value counts 2, 3, 5, ... multiply beyond any patience. */
static void overlap__too_many_combinations_are_refused_fast(void **state)
{
    (void)state;
    static const int primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53 };
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct strbuf text = STRBUF_INIT(1 << 20);
    strbuf_add(&text,
               STR("{\"nodeConfigs\":[{\"nodeSelector\":" A1 "},{\"nodeSelector\":{\"matchExpressions\":["));
    for (size_t i = 0; i < ARRAY_LEN(primes); i++) {
        strbuf_addf(&text, "%s{\"key\":\"k%zu\",\"operator\":\"In\",\"values\":[", i ? "," : "", i);
        for (int v = 0; v < primes[i]; v++)
            strbuf_addf(&text, "%s\"v%d\"", v ? "," : "", v);
        strbuf_add(&text, STR("]}"));
    }
    strbuf_add(&text, STR("]}}]}"));
    struct admission_data data = { STR("colocation-config"), strbuf_str(&text) };
    struct admission_request request = { .data = { &data, 1 } };
    assert_false(admission_validate(&request, &findings));
    strbuf_done(&text);
    assert_findings(&arena, &findings, "admission:nodeConfigs:ConfigParamInvalid");
}

int main(void)
{
    TEST_ROWS(tests, rows, admission__row);
    const struct CMUnitTest whole[] = {
        cmocka_unit_test(admission__other_keys_are_not_judged),
        cmocka_unit_test(overlap__too_many_combinations_are_refused_fast),
    };
    return cmocka_run_group_tests_name("sloconfig/admission rows", tests, NULL, NULL) +
           cmocka_run_group_tests_name("sloconfig/admission", whole, NULL, NULL);
}
