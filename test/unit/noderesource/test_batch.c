/* The Batch formula, what it is asked for a node, and the annotations that go with it. */
#include "noderesource/batch.h"
#include "noderesource/third_party.h"
#include "support.h"

/* --- the formula ------------------------------------------------------------------------ */

#define CPU .unit_nano = 1000000, .reclaim_percent = 65
#define BYTES .unit_nano = 1000000000, .reclaim_percent = 65
#define NODE100 CPU, .capacity = CORES(100)
#define THRESHOLD(n_) .threshold_percent = { true, n_ }

static const struct row {
    const char *name;
    struct batch_input in;
    int64_t batch;
    const char *bound;
    bool saturated;
} rows[] = {
    { "usage: the worked example's cpu",
      { NODE100, .system_usage = CORES(7), .hp_used = CORES(33) },
      25000,
      "usage",
      false },
    { "usage: the worked example's memory",
      { BYTES, .capacity = CORES(120000000000), .system_usage = CORES(12000000000),
        .hp_used = CORES(33000000000) },
      33000000000,
      "usage",
      false },
    { "usage: an idle node gives its reclaim share", { NODE100 }, 65000, "usage", false },
    { "usage: what is reserved counts where it is more than the system uses",
      { NODE100, .system_usage = CORES(2), .kubelet_reserved = CORES(3), .reserved_by_annotation = CORES(5) },
      60000,
      "usage",
      false },
    { "usage: system and host applications add up",
      { NODE100, .system_usage = CORES(4), .host_used = CORES(3), .reserved_by_annotation = CORES(5) },
      58000,
      "usage",
      false },
    { "usage: requests play no part",
      { NODE100, .hp_request = CORES(90), .hp_used = CORES(1), .hp_max = CORES(90) },
      64000,
      "usage",
      false },
    { "usage: more used than there is lends nothing", { NODE100, .hp_used = CORES(200) }, 0, "usage", false },
    { "usage: a fraction of a milli-core left is a whole one",
      { NODE100, .hp_used = CORES(1) + 1 },
      64000,
      "usage",
      false },
    { "usage: a percent above 100 enlarges",
      { .unit_nano = 1000000, .reclaim_percent = 120, .capacity = CORES(100), .hp_used = CORES(10) },
      110000,
      "usage",
      false },
    { "usage: percent 0 lends nothing", { .unit_nano = 1000000, .capacity = CORES(100) }, 0, "usage", false },
    { "usage: the margin truncates toward zero",
      { .unit_nano = 1000000, .reclaim_percent = 65, .capacity = MILLI(199) },
      130, /* 199 - trunc(69.65) */
      "usage",
      false },
    { "usage: a negative margin truncates toward zero too",
      { .unit_nano = 1000000, .reclaim_percent = 101, .capacity = MILLI(199) },
      200, /* 199 - trunc(-1.99) */
      "usage",
      false },

    { "request: usage of system and pods plays no part",
      { BYTES, .policy = BATCH_REQUEST, .capacity = CORES(1000), .system_usage = CORES(900),
        .hp_used = CORES(900), .hp_max = CORES(900), .hp_request = CORES(100),
        .reserved_by_annotation = CORES(50) },
      500,
      "request",
      false },
    { "maxUsageRequest: the larger of each pod counts",
      { NODE100, .policy = BATCH_MAX_USAGE_REQUEST, .hp_used = CORES(10), .hp_request = CORES(10),
        .hp_max = CORES(20), .system_usage = CORES(5) },
      40000,
      "maxUsageRequest",
      false },

    { "cap: the threshold is the most there is",
      { NODE100, THRESHOLD(10), .hp_used = CORES(1) },
      10000,
      "cap",
      false },
    { "cap: a threshold that is not reached changes nothing",
      { NODE100, THRESHOLD(90), .hp_used = CORES(1) },
      64000,
      "usage",
      false },
    { "cap: 29 percent of 100000 is 29000", { NODE100, THRESHOLD(29) }, 29000, "cap", false },
    { "cap: above 100 percent is possible",
      { .unit_nano = 1000000, .reclaim_percent = 200, .capacity = CORES(100), THRESHOLD(150) },
      150000,
      "cap",
      false },
    { "cap: 0 percent is nothing", { NODE100, THRESHOLD(0) }, 0, "cap", false },

    { "a report without node metrics lends nothing", { NODE100, .blind = true }, 0, "noNodeMetric", false },
    { "negative amounts raise nothing",
      { NODE100, .system_usage = -CORES(9), .host_used = -CORES(9), .hp_used = -CORES(9),
        .kubelet_reserved = -CORES(9), .reserved_by_annotation = -CORES(9) },
      65000,
      "usage",
      false },
    { "absurd amounts are clamped and said", { BYTES, .capacity = API_NANO_MAX }, INT64_MAX, "usage", true },
};

static void batch__row(void **state)
{
    const struct row *row = *state;
    struct batch_result got = batch_calculate(&row->in);
    assert_int_equal(got.batch, row->batch);
    assert_string_equal(batch_bound_name(got.bound, row->in.policy), row->bound);
    assert_int_equal(got.saturated, row->saturated);
}

static void policy__names(void **state)
{
    (void)state;
    assert_int_equal(batch_policy_from_name(STR("usage"), true), BATCH_USAGE);
    assert_int_equal(batch_policy_from_name(STR("request"), true), BATCH_USAGE);
    assert_int_equal(batch_policy_from_name(STR("request"), false), BATCH_REQUEST);
    assert_int_equal(batch_policy_from_name(STR("maxUsageRequest"), true), BATCH_MAX_USAGE_REQUEST);
    assert_int_equal(batch_policy_from_name(STR("maxUsageRequest"), false), BATCH_MAX_USAGE_REQUEST);
    assert_int_equal(batch_policy_from_name(STR(""), false), BATCH_USAGE);
    assert_int_equal(batch_policy_from_name(STR("Request"), false), BATCH_USAGE);
}

static void terms__name_the_fields_of_their_resource(void **state)
{
    (void)state;
    struct batch_input in = { NODE100, THRESHOLD(10) };
    struct batch_result result = batch_calculate(&in);
    struct noderesource_term terms[NODERESOURCE_TERMS_MAX];
    assert_int_equal(batch_terms(&in, &result, true, terms), 15);
    assert_string_equal(terms[1].name, "cpuReclaimThresholdPercent");
    assert_string_equal(terms[12].name, "batchCPUThresholdPercent");
    in.threshold_percent.set = false;
    assert_int_equal(batch_terms(&in, &result, false, terms), 13);
    assert_string_equal(terms[1].name, "memoryReclaimThresholdPercent");
    assert_string_equal(terms[12].name, "batch");
}

/* --- properties -------------------------------------------------------------------------- */

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Mostly sane, now and then absurd or negative. */
static __int128 random_amount(uint64_t *seed)
{
    uint64_t kind = next(seed) % 16;
    if (kind == 0)
        return API_NANO_MAX - (__int128)(next(seed) % 1000);
    if (kind == 1)
        return -(__int128)(next(seed) % 1000000000000);
    if (kind == 2)
        return (__int128)(next(seed) % 3);
    return (__int128)(next(seed) % 200000000000);
}

static struct batch_input random_input(uint64_t *seed)
{
    return (struct batch_input){
        .policy = (enum batch_policy)(next(seed) % 3),
        .unit_nano = next(seed) % 2 ? 1000000 : 1000000000,
        .capacity = random_amount(seed),
        .system_usage = random_amount(seed),
        .host_used = random_amount(seed),
        .kubelet_reserved = random_amount(seed),
        .reserved_by_annotation = random_amount(seed),
        .hp_request = random_amount(seed),
        .hp_used = random_amount(seed),
        .hp_max = random_amount(seed),
        .reclaim_percent = (int64_t)(next(seed) % 160),
        .threshold_percent = { next(seed) % 2 != 0, (int64_t)(next(seed) % 160) },
    };
}

enum { ROUNDS = 200000 };

static void property__never_negative_never_above_a_bound(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < ROUNDS; i++) {
        struct batch_input in = random_input(&seed);
        struct batch_result got = batch_calculate(&in);
        assert_true(got.batch >= 0);
        assert_true(!in.threshold_percent.set || got.batch <= got.cap);
        assert_true(got.saturated || got.batch <= got.capacity - got.margin);
    }
}

static void property__what_others_take_never_lends_more(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < ROUNDS; i++) {
        struct batch_input in = random_input(&seed);
        __int128 *const inputs[] = {
            &in.system_usage, &in.host_used, &in.kubelet_reserved,      &in.hp_request,
            &in.hp_used,      &in.hp_max,    &in.reserved_by_annotation
        };
        struct batch_result before = batch_calculate(&in);
        *inputs[next(&seed) % ARRAY_LEN(inputs)] += (__int128)(next(&seed) % 50000000000);
        assert_true(batch_calculate(&in).batch <= before.batch);
    }
}

/* --- a node ------------------------------------------------------------------------------ */

#define SYSTEM                                                                                               \
    CASE_REPORT ",\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"99\",\"memory\":\"199G\"}},"       \
                "\"systemUsage\":{\"resources\":{\"cpu\":\"7\",\"memory\":\"12G\"}}}"
#define ROW(name_, class_, cpu_, memory_)                                                                    \
    "{\"name\":\"" name_ "\",\"priority\":\"" class_ "\",\"podUsage\":{\"resources\":{\"cpu\":\"" cpu_       \
    "\",\"memory\":\"" memory_ "\"}}}"
#define PODS(rows_) SYSTEM ",\"podsMetric\":[" rows_ "]"

static int batch_setup(void **state)
{
    if (case_setup(state) != 0)
        return -1;
    struct plan_case *c = *state;
    case_metric(c, SYSTEM);
    c->strategy.cpu_reclaim_percent = number(65);
    c->strategy.memory_reclaim_percent = number(65);
    return noderesource_plugins_parse(STR("BatchResource"), &c->plugins, NULL) ? 0 : -1;
}

static const struct noderesource_entry *entry_of(const struct plan_case *c, enum owned_resource resource)
{
    for (size_t i = 0; i < c->plan.count; i++) {
        if (c->plan.entries[i].resource == resource)
            return &c->plan.entries[i];
    }
    fail_msg("no entry of resource %d", (int)resource);
    return NULL;
}

static const struct noderesource_entry *batch_cpu(const struct plan_case *c)
{
    return entry_of(c, OWNED_BATCH_CPU);
}

static const struct noderesource_entry *batch_memory(const struct plan_case *c)
{
    return entry_of(c, OWNED_BATCH_MEMORY);
}

static void node__usage_of_matched_pods_counts(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod", "Running", "50", "50G");
    case_pod(c, "koord-mid", "Pending", "50", "50G");
    case_metric(c, PODS(ROW("p0", "koord-prod", "11", "11G") "," ROW("p1", "koord-mid", "22", "22G")));
    case_plan(c);
    assert_planned(batch_cpu(c), 25000);
    assert_planned(batch_memory(c), 85000000000); /* 200G - 70G - 12G - 33G */
    assert_int_equal(case_term(batch_cpu(c), "HPRequest"), 100000);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 33000);
    assert_int_equal(case_term(batch_cpu(c), "HPMax"), 100000);
    assert_int_equal(case_term(batch_cpu(c), "margin"), 35000);
    assert_int_equal(case_term(batch_cpu(c), "sysMax"), 7000);
}

static void node__pod_without_a_row_counts_its_request(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod", "Running", "10", "10G");
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 10000);
    assert_int_equal(case_term(batch_cpu(c), "HPMax"), 10000);
    assert_int_equal(case_term(batch_memory(c), "HPMax"), 10000000000);
}

static void node__row_without_a_resource_counts_its_request(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod", "Running", "10", "10G");
    case_metric(c, PODS("{\"name\":\"p0\",\"podUsage\":{\"resources\":{\"memory\":\"1G\"}}}"));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 10000);
    assert_int_equal(case_term(batch_memory(c), "HPUsed"), 1000000000);
}

static void node__lower_tiers_never_count(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-batch", "Running", "10", "10G");
    case_pod(c, "koord-free", "Running", "10", "10G");
    case_metric(c, PODS(ROW("p0", "koord-batch", "9", "9G") "," ROW("p1", "", "9", "9G") "," ROW(
                       "gone", "koord-batch", "9", "9G") "," ROW("gone2", "koord-free", "9", "9G")));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 0);
    assert_int_equal(case_term(batch_cpu(c), "HPMax"), 0);
}

static void node__dangling_rows_count_unless_lower(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod", "Failed", "50", "50G");
    case_metric(c, PODS(ROW("p0", "koord-prod", "1", "1G") "," ROW("a", "", "2", "2G") "," ROW(
                       "b", "koord-mid", "4", "4G") "," ROW("c", "gold", "8", "8G")));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 15000);
    assert_int_equal(case_term(batch_cpu(c), "HPMax"), 15000);
    assert_int_equal(case_term(batch_cpu(c), "HPRequest"), 0);
}

static void node__row_of_another_namespace_is_dangling(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod", "Running", "10", "10G");
    case_metric(c, PODS("{\"name\":\"p0\",\"namespace\":\"other\",\"podUsage\":{\"resources\":{\"cpu\":\"3\","
                        "\"memory\":\"3G\"}}}"));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 13000);
}

static void node__lse_pod_uses_the_cpus_it_asked_for(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod\",\"koordinator.sh/qosClass\":\"LSE", "Running", "10", "10G");
    case_metric(c, PODS(ROW("p0", "koord-prod", "1", "1G")));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 10000);
    assert_int_equal(case_term(batch_memory(c), "HPUsed"), 1000000000);
}

static void node__lsr_pod_uses_what_it_uses(void **state)
{
    struct plan_case *c = *state;
    case_pod(c, "koord-prod\",\"koordinator.sh/qosClass\":\"LSR", "Running", "10", "10G");
    case_metric(c, PODS(ROW("p0", "koord-prod", "1", "1G")));
    case_plan(c);
    assert_int_equal(case_term(batch_cpu(c), "HPUsed"), 1000);
}

static void node__report_without_node_metrics_lends_nothing(void **state)
{
    struct plan_case *c = *state;
    case_metric(c, CASE_REPORT ",\"nodeMetric\":null");
    case_plan(c);
    assert_planned(batch_cpu(c), 0);
    assert_string_equal(batch_cpu(c)->bound, "noNodeMetric");
}

static void node__stale_report_withdraws(void **state)
{
    struct plan_case *c = *state;
    case_node(c, ",\"kubernetes.io/batch-cpu\":\"1k\"", ",\"kubernetes.io/batch-cpu\":\"1k\"", "");
    c->in.now.us += INT64_C(15) * 60 * US_PER_S;
    case_plan(c);
    assert_absent(batch_cpu(c));
    assert_int_equal(batch_cpu(c)->reason, NODERESOURCE_STALE);
    assert_true(c->plan.withdrawal);
    assert_patch(c, "{\"status\":{\"capacity\":{\"kubernetes.io/batch-cpu\":null},"
                    "\"allocatable\":{\"kubernetes.io/batch-cpu\":null}}}");
}

/* The plan's value never grows: not when pods come, not when their rows go. */
static void property__pods_and_lost_rows_never_lend_more(void **state)
{
    struct plan_case *c = *state;
    static const char *const policies[] = { "usage", "request", "maxUsageRequest" };
    for (size_t p = 0; p < ARRAY_LEN(policies); p++) {
        c->strategy.cpu_calculate_policy = text(policies[p]);
        c->strategy.memory_calculate_policy = text(policies[p]);
        size_t pods = c->in.pod_count;
        case_metric(c, PODS(ROW("p0", "koord-prod", "3", "3G")));
        case_plan(c);
        int64_t cpu = batch_cpu(c)->planned.value, memory = batch_memory(c)->planned.value;
        case_pod(c, "koord-prod", "Running", "5", "5G");
        case_plan(c);
        assert_true(batch_cpu(c)->planned.value <= cpu && batch_memory(c)->planned.value <= memory);
        assert_int_equal(c->in.pod_count, pods + 1);
        cpu = batch_cpu(c)->planned.value;
        case_metric(c, SYSTEM);
        case_plan(c);
        assert_true(batch_cpu(c)->planned.value <= cpu);
    }
}

/* --- annotations --------------------------------------------------------------------------- */

#define ALLOCATIONS(text_) "\"node.koordinator.sh/thirdPartyAllocations\":\"" text_ "\""
#define BATCH_ALLOCATION(cpu_)                                                                               \
    "{\\\"allocations\\\":[{\\\"name\\\":\\\"yarn\\\",\\\"priority\\\":\\\"koord-batch\\\","                 \
    "\\\"resources\\\":"                                                                                     \
    "{\\\"kubernetes.io/batch-cpu\\\":\\\"" cpu_ "\\\",\\\"kubernetes.io/batch-memory\\\":\\\"1G\\\"}}]}"
#define ORIGIN(text_) "\"node.koordinator.sh/originExtendedAllocatable\":\"" text_ "\""
#define ORIGIN_58K                                                                                           \
    "{\\\"resources\\\":{\\\"kubernetes.io/batch-cpu\\\":\\\"58000\\\",\\\"kubernetes.io/batch-memory\\\":"  \
    "\\\"118G\\\"}}"

static void assert_meta(const struct plan_case *c, const char *want)
{
    CLEANUP(strbuf_done) struct strbuf patch = STRBUF_INIT(4096);
    assert_true(noderesource_meta_patch(&c->plan, &patch));
    assert_string_equal(strbuf_cstr(&patch), want);
}

static void third_party__is_subtracted_after_the_origin_was_told(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "", ALLOCATIONS(BATCH_ALLOCATION("10000")));
    case_plan(c);
    assert_planned(batch_cpu(c), 48000);
    assert_planned(batch_memory(c), 117000000000);
    assert_int_equal(case_term(batch_cpu(c), "thirdParty"), 10000);
    assert_true(c->plan.send_meta);
    assert_meta(c, "{\"metadata\":{\"annotations\":{\"node.koordinator.sh/originExtendedAllocatable\":"
                   "\"{\\\"resources\\\":{\\\"kubernetes.io/batch-cpu\\\":\\\"58k\\\","
                   "\\\"kubernetes.io/batch-memory\\\":\\\"115234375Ki\\\"}}\"}}}");
}

static void third_party__never_below_zero(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "", ALLOCATIONS(BATCH_ALLOCATION("99999")));
    case_plan(c);
    assert_planned(batch_cpu(c), 0);
}

static void third_party__malformed_is_told_and_takes_nothing(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "", ALLOCATIONS("[]"));
    case_plan(c);
    assert_planned(batch_cpu(c), 58000);
    assert_string_equal(c->path, "metadata.annotations.node.koordinator.sh/thirdPartyAllocations");
}

static void origin__same_amounts_in_other_words_are_left_alone(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "", ORIGIN(ORIGIN_58K));
    case_plan(c);
    assert_int_equal(c->plan.meta_count, 1);
    assert_false(c->plan.metas[0].write || c->plan.send_meta);
}

static void origin__waits_with_the_status(void **state)
{
    struct plan_case *c = *state;
    static const char near[] = ",\"kubernetes.io/batch-cpu\":\"57k\",\"kubernetes.io/batch-memory\":\"117G\"";
    case_node(c, near, near, ORIGIN(ORIGIN_58K));
    c->history = (struct node_history){ .seen = true, .threshold_from = MONO_S(1000) };
    case_metric(c, PODS(ROW("a", "", "1m", "1")));
    case_plan(c);
    assert_true(c->plan.write && !c->plan.send);
    assert_true(c->plan.metas[0].write && !c->plan.send_meta);
    c->in.mono = MONO_S(2000);
    case_plan(c);
    assert_true(c->plan.send && c->plan.send_meta);
}

static void origin__goes_to_zero_with_a_withdrawal(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "", ORIGIN(ORIGIN_58K));
    c->in.cluster_enabled = false;
    case_plan(c);
    assert_meta(c, "{\"metadata\":{\"annotations\":{\"node.koordinator.sh/originExtendedAllocatable\":"
                   "\"{\\\"resources\\\":{\\\"kubernetes.io/batch-cpu\\\":\\\"0\\\","
                   "\\\"kubernetes.io/batch-memory\\\":\\\"0\\\"}}\"}}}");
}

static void origin__of_a_node_that_never_lent_is_not_made_up(void **state)
{
    struct plan_case *c = *state;
    c->in.cluster_enabled = false;
    assert_int_equal(case_plan(c)->meta_count, 0);
    c->in.strategy = NULL;
    case_node(c, "", "", ORIGIN(ORIGIN_58K));
    assert_int_equal(case_plan(c)->meta_count, 0);
}

static void origin__other_resources_stay(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "", "",
              ORIGIN("{\\\"resources\\\":{\\\"kubernetes.io/mid-cpu\\\":\\\"1\\\",\\\"a\\\":\\\"2\\\"}}"));
    case_plan(c);
    assert_string_equal(c->plan.metas[0].planned.value.ptr,
                        "{\"resources\":{\"a\":\"2\",\"kubernetes.io/batch-cpu\":\"58k\","
                        "\"kubernetes.io/batch-memory\":\"115234375Ki\",\"kubernetes.io/mid-cpu\":\"1\"}}");
}

static const struct third_party_row {
    const char *name;
    const char *text;
    int64_t cpu; /* -1: an error */
} third_party_rows[] = {
    { "third party: nothing in nothing", "{}", 0 },
    { "third party: null", "null", 0 },
    { "third party: two add up",
      "{\"allocations\":[{\"priority\":\"koord-batch\",\"resources\":{\"kubernetes.io/batch-cpu\":\"1\"}},"
      "{\"priority\":\"koord-batch\",\"resources\":{\"kubernetes.io/batch-cpu\":\"2\"}}]}",
      3 },
    { "third party: other priorities do not count",
      "{\"allocations\":[{\"priority\":\"koord-mid\",\"resources\":{\"kubernetes.io/batch-cpu\":\"1\"}},"
      "{\"resources\":{\"kubernetes.io/batch-cpu\":\"1\"}}]}",
      0 },
    { "third party: negative amounts take nothing back",
      "{\"allocations\":[{\"priority\":\"koord-batch\",\"resources\":{\"kubernetes.io/batch-cpu\":\"-5\"}}]}",
      0 },
    { "third party: no JSON", "x", -1 },
    { "third party: a list", "[]", -1 },
    { "third party: allocations no list", "{\"allocations\":{}}", -1 },
    { "third party: allocation no object", "{\"allocations\":[1]}", -1 },
    { "third party: priority no string", "{\"allocations\":[{\"priority\":1}]}", -1 },
    { "third party: resources no object", "{\"allocations\":[{\"resources\":[]}]}", -1 },
    { "third party: no quantity", "{\"allocations\":[{\"resources\":{\"a\":\"x\"}}]}", -1 },
};

static void third_party__row(void **state)
{
    const struct third_party_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct third_party got = { .batch_cpu_nano = 77 };
    struct err err = ERR_INIT;
    bool ok = noderesource_third_party_parse(&arena, str_c(row->text), &got, &err);
    assert_int_equal(ok, row->cpu >= 0);
    assert_true(got.batch_cpu_nano == (ok ? CORES(row->cpu) : 77));
}

#define BATCH_CASE(test_) cmocka_unit_test_setup_teardown(test_, batch_setup, case_teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(policy__names),
        cmocka_unit_test(terms__name_the_fields_of_their_resource),
        cmocka_unit_test(property__never_negative_never_above_a_bound),
        cmocka_unit_test(property__what_others_take_never_lends_more),
        BATCH_CASE(node__usage_of_matched_pods_counts),
        BATCH_CASE(node__pod_without_a_row_counts_its_request),
        BATCH_CASE(node__row_without_a_resource_counts_its_request),
        BATCH_CASE(node__lower_tiers_never_count),
        BATCH_CASE(node__dangling_rows_count_unless_lower),
        BATCH_CASE(node__row_of_another_namespace_is_dangling),
        BATCH_CASE(node__lse_pod_uses_the_cpus_it_asked_for),
        BATCH_CASE(node__lsr_pod_uses_what_it_uses),
        BATCH_CASE(node__report_without_node_metrics_lends_nothing),
        BATCH_CASE(node__stale_report_withdraws),
        BATCH_CASE(property__pods_and_lost_rows_never_lend_more),
        BATCH_CASE(third_party__is_subtracted_after_the_origin_was_told),
        BATCH_CASE(third_party__never_below_zero),
        BATCH_CASE(third_party__malformed_is_told_and_takes_nothing),
        BATCH_CASE(origin__same_amounts_in_other_words_are_left_alone),
        BATCH_CASE(origin__waits_with_the_status),
        BATCH_CASE(origin__goes_to_zero_with_a_withdrawal),
        BATCH_CASE(origin__of_a_node_that_never_lent_is_not_made_up),
        BATCH_CASE(origin__other_resources_stay),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows) + ARRAY_LEN(third_party_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, batch__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(third_party_rows); i++)
        tests[count++] = (struct CMUnitTest){ third_party_rows[i].name, third_party__row, NULL, NULL,
                                              (void *)(uintptr_t)&third_party_rows[i] };
    return cmocka_run_group_tests_name("noderesource/batch", tests, NULL, NULL);
}
