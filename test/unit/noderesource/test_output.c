#include "support.h"

static const struct row {
    const char *name;
    enum owned_resource resource;
    int64_t value;
    const char *want;
} rows[] = {
    { "value: cpu takes decimal suffixes", OWNED_MID_CPU, 16000, "16k" },
    { "value: cpu without a round thousand", OWNED_MID_CPU, 10001, "10001" },
    { "value: memory takes binary suffixes", OWNED_MID_MEMORY, 1073741824, "1Gi" },
    { "value: memory that is no multiple", OWNED_MID_MEMORY, 1025, "1025" },
    { "value: zero", OWNED_MID_CPU, 0, "0" },
    { "value: the largest", OWNED_MID_CPU, INT64_MAX, "9223372036854775807" },
};

static void value__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    noderesource_value_write(&out, row->resource, row->value);
    assert_string_equal(strbuf_cstr(&out), row->want);
}

static void current__texts(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    noderesource_current_write(&out, OWNED_MID_CPU, &(struct noderesource_current){ 0 });
    assert_int_equal(out.len, 0);
    noderesource_current_write(&out, OWNED_MID_CPU, &(struct noderesource_current){ .set = true });
    assert_string_equal(strbuf_cstr(&out), "?");
    strbuf_clear(&out);
    noderesource_current_write(&out, OWNED_MID_CPU,
                               &(struct noderesource_current){ true, true, CORES(10000) });
    assert_string_equal(strbuf_cstr(&out), "10k");
    strbuf_clear(&out);
    noderesource_current_write(&out, OWNED_MID_CPU,
                               &(struct noderesource_current){ true, true, MILLI(22200) });
    assert_string_equal(strbuf_cstr(&out), "22200m");
}

static const char *explain(struct plan_case *c, const struct noderesource_entry *entry)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1000);
    noderesource_explain(&c->plan, entry, &out);
    return arena_str(&c->arena, strbuf_str(&out)).ptr;
}

static void explain__names_the_bound(void **state)
{
    struct plan_case *c = *state;
    case_plan(c);
    assert_string_equal(explain(c, case_cpu(c)), "calculated: bound by reclaimable");
}

static void explain__tells_when_a_manager_would_wait(void **state)
{
    struct plan_case *c = *state;
    case_node(c, ",\"kubernetes.io/mid-cpu\":\"14900\",\"kubernetes.io/mid-memory\":\"30G\"",
              ",\"kubernetes.io/mid-cpu\":\"14900\",\"kubernetes.io/mid-memory\":\"30G\"", "");
    node_history_written(&c->history, c->in.mono);
    case_plan(c);
    assert_non_null(strstr(explain(c, case_cpu(c)), "waits up to 301 s"));
    assert_null(strstr(explain(c, case_memory(c)), "waits"));
}

static void explain__every_reason_has_a_word_and_a_sentence(void **state)
{
    struct plan_case *c = *state;
    case_plan(c);
    struct noderesource_entry entry = c->plan.entries[0];
    for (int reason = NODERESOURCE_CALCULATED; reason <= NODERESOURCE_CONFIG_REJECTED; reason++) {
        entry.reason = (enum noderesource_reason)reason;
        const char *word = noderesource_reason_word(entry.reason);
        const char *text_of = explain(c, &entry);
        assert_int_equal(strncmp(text_of, word, strlen(word)), 0);
        assert_true(strlen(text_of) > strlen(word) + 5);
    }
}

static void explain__says_when_a_term_was_clamped(void **state)
{
    struct plan_case *c = *state;
    case_node(c, "\"cpu\":\"1e40\",\"memory\":\"1G\"", "\"cpu\":\"1e40\",\"memory\":\"1G\"", "");
    case_plan(c);
    assert_non_null(strstr(explain(c, case_cpu(c)), "clamped"));
}

static void patch__nothing_to_send_adds_nothing(void **state)
{
    struct plan_case *c = *state;
    c->strategy.enable.value = false;
    case_plan(c);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100);
    assert_false(noderesource_patch(&c->plan, &out));
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(current__texts),
        CASE(explain__names_the_bound),
        CASE(explain__tells_when_a_manager_would_wait),
        CASE(explain__every_reason_has_a_word_and_a_sentence),
        CASE(explain__says_when_a_term_was_clamped),
        CASE(patch__nothing_to_send_adds_nothing),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, value__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("noderesource/output", tests, NULL, NULL);
}
