#include "nodeslo/spec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define DEFAULT_SPEC                                                                                         \
    "{\"resourceUsedThresholdWithBE\":{\"enable\":false,\"cpuSuppressThresholdPercent\":65,"                 \
    "\"cpuSuppressPolicy\":\"cpuset\",\"memoryEvictThresholdPercent\":70,"                                   \
    "\"cpuEvictPolicy\":\"evictByRealLimit\"},\"resourceQOSStrategy\":{},"                                   \
    "\"cpuBurstStrategy\":{\"policy\":\"none\",\"cpuBurstPercent\":1000,\"cfsQuotaBurstPercent\":300,"       \
    "\"cfsQuotaBurstPeriodSeconds\":-1,\"sharePoolThresholdPercent\":50},"                                   \
    "\"systemStrategy\":{\"totalNetworkBandwidth\":\"0\"}}"

struct fixture {
    struct arena arena;
    struct intern *pool;
    struct kube_object *node, *slo;
    struct slo_policy *policy;
    struct slo_input seen;
    struct findings findings;
    struct nodeslo_plan plan;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    f->pool = intern_new();
    f->policy = slo_policy_new(0);
    f->findings = FINDINGS_INIT(&f->arena);
    f->seen.source = SOURCE_PRESENT;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    kube_object_unref(f->node);
    kube_object_unref(f->slo);
    slo_policy_free(f->policy);
    intern_free(f->pool);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static struct kube_object *object(struct fixture *f, const struct kube_kind *kind, struct str json)
{
    void *decoded = arena_alloc(&f->arena, kind->table->size);
    assert_true(json_decode(&f->arena, json, kind->table, decoded, NULL, NULL));
    struct kube_object *made = kind->project(decoded, f->pool, NULL, NULL);
    assert_non_null(made);
    return made;
}

static void given_node(struct fixture *f, const char *annotations)
{
    kube_object_unref(f->node);
    f->node =
        object(f, &node_kind,
               arena_strf(&f->arena,
                          "{\"metadata\":{\"name\":\"n\",\"labels\":{\"pool\":\"a\"},\"annotations\":%s}}",
                          annotations));
}

static void given_slo(struct fixture *f, const char *spec)
{
    kube_object_unref(f->slo);
    f->slo =
        object(f, &nodeslo_kind, arena_strf(&f->arena, "{\"metadata\":{\"name\":\"n\"},\"spec\":%s}", spec));
}

static void given_key(struct fixture *f, enum slo_key key, const char *text)
{
    f->seen.values[key] = (struct slo_value){ text != NULL, str_c(text) };
}

static void decide(struct fixture *f)
{
    struct nodeslo_input in = {
        .node = f->node ? node_of(f->node) : NULL,
        .slo = f->slo ? nodeslo_of(f->slo) : NULL,
        .policy = slo_policy_observe(f->policy, &f->seen),
    };
    nodeslo_plan_make(&in, &f->arena, &f->findings, &f->plan);
}

static const char *text(struct fixture *f, const struct json *value)
{
    struct strbuf out = STRBUF_INIT(1 << 20);
    if (value)
        json_write(&out, value);
    const char *copy = arena_str(&f->arena, strbuf_str(&out)).ptr;
    strbuf_done(&out);
    return copy;
}

static void assert_plan(struct fixture *f, const char *action, const char *patch)
{
    assert_string_equal(nodeslo_action_name(f->plan.action), action);
    assert_string_equal(text(f, f->plan.patch), patch);
}

/* --- lifecycle -------------------------------------------------------------------- */

static void nodeslo_9_a_node_gets_the_defaults(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    decide(f);
    assert_plan(f, "create", "");
    assert_string_equal(text(f, f->plan.spec), DEFAULT_SPEC);
}

static void nodeslo_9_the_whole_object_is_created(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    decide(f);
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(1 << 16);
    nodeslo_create_write(&body, STR("n"), &f->plan);
    assert_string_equal(strbuf_cstr(&body), "{\"apiVersion\":\"slo.koordinator.sh/v1alpha1\","
                                            "\"kind\":\"NodeSLO\",\"metadata\":{\"name\":\"n\"},"
                                            "\"spec\":" DEFAULT_SPEC "}");
}

static void nodeslo_9_what_is_right_stays(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    decide(f);
    assert_plan(f, "none", "");
    assert_string_equal(text(f, f->plan.spec), DEFAULT_SPEC);
}

static void nodeslo_9_only_the_difference_is_patched(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    given_key(f, SLO_CPU_BURST, "{\"clusterStrategy\":{\"policy\":\"auto\"}}");
    decide(f);
    assert_plan(f, "update", "{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}");
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(1 << 16);
    nodeslo_patch_write(&body, &f->plan);
    assert_string_equal(strbuf_cstr(&body), "{\"spec\":{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}}");
}

static void nodeslo_9_without_its_node_it_goes(void **state)
{
    struct fixture *f = *state;
    given_slo(f, DEFAULT_SPEC);
    decide(f);
    assert_plan(f, "delete", "");
    assert_null(f->plan.spec);
}

static void nodeslo_9_neither_node_nor_slo_is_nothing(void **state)
{
    struct fixture *f = *state;
    decide(f);
    assert_plan(f, "none", "");
}

static void nodeslo_9_nothing_is_done_before_the_policy_is_known(void **state)
{
    struct fixture *f = *state;
    f->seen.source = SOURCE_UNKNOWN;
    given_node(f, "{}");
    decide(f);
    assert_plan(f, "none", "");
    f->seen.source = SOURCE_UNKNOWN;
    kube_object_unref(f->node);
    f->node = NULL;
    given_slo(f, "{}");
    decide(f);
    assert_plan(f, "none", "");
}

static void nodeslo_without_a_spec_gets_all_of_it(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, "null");
    decide(f);
    assert_plan(f, "update", DEFAULT_SPEC);
}

/* --- fields ----------------------------------------------------------------------- */

static void entries_3_1_the_nodes_own(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    given_key(f, SLO_THRESHOLD,
              "{\"nodeStrategies\":[{\"nodeSelector\":{\"matchLabels\":{\"pool\":\"b\"}},"
              "\"enable\":false},{\"nodeSelector\":{\"matchLabels\":{\"pool\":\"a\"}},\"enable\":true}]}");
    decide(f);
    assert_plan(f, "update", "{\"resourceUsedThresholdWithBE\":{\"enable\":true}}");
}

static void extensions_are_left_alone(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, "{\"extensions\":{\"Object\":{\"a\":1}},\"future\":2,\"resourceQOSStrategy\":{}}");
    decide(f);
    assert_null(json_get(f->plan.patch, STR("extensions")));
    assert_null(json_get(f->plan.patch, STR("future")));
    assert_null(json_get(f->plan.patch, STR("resourceQOSStrategy")));
}

static void host_16_2_no_applications_are_not_rewritten_for_ever(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    given_key(f, SLO_HOST_APPS, "{\"applications\":[]}");
    decide(f);
    assert_plan(f, "none", "");
}

static void host_3_11_applications_come_and_go(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    given_key(f, SLO_HOST_APPS, "{\"applications\":[{\"name\":\"x\",\"qos\":\"LS\"}]}");
    decide(f);
    assert_plan(f, "update", "{\"hostApplications\":[{\"name\":\"x\",\"qos\":\"LS\"}]}");
    given_slo(f, "{\"hostApplications\":[{\"name\":\"x\"}]}");
    given_key(f, SLO_HOST_APPS, NULL);
    decide(f);
    assert_true(json_is(json_get(f->plan.patch, STR("hostApplications")), JSON_NULL));
}

/* --- keys that are bad ------------------------------------------------------------- */

static void cold_start_a_bad_key_leaves_its_field(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, "{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}");
    given_key(f, SLO_CPU_BURST, "{");
    decide(f);
    assert_string_equal(nodeslo_action_name(f->plan.action), "update");
    assert_null(json_get(f->plan.patch, STR("cpuBurstStrategy")));
    assert_non_null(json_get(f->plan.patch, STR("systemStrategy")));
    assert_string_equal(text(f, json_get(f->plan.spec, STR("cpuBurstStrategy"))), "{\"policy\":\"auto\"}");
}

static void cold_start_a_bad_key_is_created_as_its_default(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_key(f, SLO_CPU_BURST, "{");
    given_key(f, SLO_HOST_APPS, "{");
    decide(f);
    assert_plan(f, "create", "");
    assert_string_equal(text(f, f->plan.spec), DEFAULT_SPEC);
}

/* --- bandwidth --------------------------------------------------------------------- */

static const struct row {
    const char *name;
    const char *annotation;
    const char *want;
    size_t findings;
} rows[] = {
    { "bandwidth_9: the annotation replaces the policy's", "99M", "99M", 0 },
    { "bandwidth_9: in canonical form", "1000M", "1G", 0 },
    { "bandwidth_9: zero counts", "0", "0", 0 },
    { "bandwidth_16_2: one that is no quantity is ignored", "fast", "10M", 1 },
    { "bandwidth_16_2: an empty one is ignored", "", "10M", 1 },
    { "bandwidth_16_2: a negative one is ignored", "-1", "10M", 1 },
};

static void bandwidth__row(void **state)
{
    const struct row *row = *state;
    void *made = NULL;
    setup(&made);
    struct fixture *f = made;
    given_node(
        f, arena_strf(&f->arena, "{\"node.koordinator.sh/network-bandwidth\":\"%s\"}", row->annotation).ptr);
    given_key(f, SLO_SYSTEM,
              "{\"clusterStrategy\":{\"totalNetworkBandwidth\":\"10M\",\"minFreeKbytesFactor\":1}}");
    decide(f);
    const struct json *system = json_get(f->plan.spec, STR("systemStrategy"));
    struct str got = json_str(json_get(system, STR("totalNetworkBandwidth")));
    assert_true(str_eq(got, str_c(row->want)));
    assert_non_null(json_get(system, STR("minFreeKbytesFactor")));
    assert_int_equal(f->findings.count, row->findings);
    teardown(&made);
}

/* --- what a server does not keep ---------------------------------------------------- */

static void residue__nothing_when_all_was_kept(void **state)
{
    struct fixture *f = *state;
    struct str sent = STR("{\"spec\":{\"systemStrategy\":{\"minFreeKbytesFactor\":1}}}");
    struct str answer = STR("{\"metadata\":{},\"spec\":{\"extensions\":{},\"systemStrategy\":{"
                            "\"minFreeKbytesFactor\":1,\"totalNetworkBandwidth\":\"0\"}}}");
    assert_null(nodeslo_residue(&f->arena, sent, answer));
}

static void residue__is_the_next_patch(void **state)
{
    struct fixture *f = *state;
    given_node(f, "{}");
    given_slo(f, DEFAULT_SPEC);
    given_key(f, SLO_SYSTEM, "{\"clusterStrategy\":{\"minFreeKbytesFactor\":1,\"watermarkScaleFactor\":2}}");
    decide(f);
    CLEANUP(strbuf_done) struct strbuf sent = STRBUF_INIT(1 << 16);
    nodeslo_patch_write(&sent, &f->plan);
    static const char kept[] = "{\"systemStrategy\":{\"totalNetworkBandwidth\":\"0\","
                               "\"minFreeKbytesFactor\":1}}";
    const struct json *residue =
        nodeslo_residue(&f->arena, strbuf_str(&sent), arena_strf(&f->arena, "{\"spec\":%s}", kept));
    assert_string_equal(text(f, residue), "{\"systemStrategy\":{\"watermarkScaleFactor\":2}}");
    given_slo(f, "{\"resourceUsedThresholdWithBE\":{\"enable\":false,\"cpuSuppressThresholdPercent\":65,"
                 "\"cpuSuppressPolicy\":\"cpuset\",\"memoryEvictThresholdPercent\":70,"
                 "\"cpuEvictPolicy\":\"evictByRealLimit\"},\"resourceQOSStrategy\":{},"
                 "\"cpuBurstStrategy\":{\"policy\":\"none\",\"cpuBurstPercent\":1000,"
                 "\"cfsQuotaBurstPercent\":300,\"cfsQuotaBurstPeriodSeconds\":-1,"
                 "\"sharePoolThresholdPercent\":50},\"systemStrategy\":{\"totalNetworkBandwidth\":\"0\","
                 "\"minFreeKbytesFactor\":1}}");
    decide(f);
    assert_plan(f, "update", text(f, residue));
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
    struct CMUnitTest table[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        table[i] =
            (struct CMUnitTest){ rows[i].name, bandwidth__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    const struct CMUnitTest tests[] = {
        FIXED(nodeslo_9_a_node_gets_the_defaults),
        FIXED(nodeslo_9_the_whole_object_is_created),
        FIXED(nodeslo_9_what_is_right_stays),
        FIXED(nodeslo_9_only_the_difference_is_patched),
        FIXED(nodeslo_9_without_its_node_it_goes),
        FIXED(nodeslo_9_neither_node_nor_slo_is_nothing),
        FIXED(nodeslo_9_nothing_is_done_before_the_policy_is_known),
        FIXED(nodeslo_without_a_spec_gets_all_of_it),
        FIXED(entries_3_1_the_nodes_own),
        FIXED(extensions_are_left_alone),
        FIXED(host_16_2_no_applications_are_not_rewritten_for_ever),
        FIXED(host_3_11_applications_come_and_go),
        FIXED(cold_start_a_bad_key_leaves_its_field),
        FIXED(cold_start_a_bad_key_is_created_as_its_default),
        FIXED(residue__nothing_when_all_was_kept),
        FIXED(residue__is_the_next_patch),
    };
    return cmocka_run_group_tests_name("nodeslo/spec", tests, NULL, NULL) +
           cmocka_run_group_tests_name("nodeslo/bandwidth", table, NULL, NULL);
}
