/* A ConfigMap value, an annotation and a label as one input, split at newlines: every
 * step that reads what administrators write. */
#include "sloconfig/admission.h"
#include "sloconfig/resolve.h"
#include "sloconfig/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decide(struct str config, struct str annotation, struct str ratio)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct findings findings = FINDINGS_INIT(&arena);
    struct label labels[] = { { STR("node.koordinator.sh/cpu-reclaim-ratio"), ratio },
                              { STR("pool"), STR("a") } };
    struct node_overrides node = { { labels, ARRAY_LEN(labels) }, true, annotation };
    CLEANUP(colocation_policy_freep) struct colocation_policy *policy = colocation_policy_new(0);
    struct colocation_input in = { .source = SOURCE_PRESENT, .value = config };
    const struct colocation_status *status = colocation_policy_observe(policy, &in);
    struct admission_data entry = { colocation_key, config };
    struct admission_node live = { STR("n"), node.labels };
    struct admission_request request = { .data = { &entry, 1 }, .nodes = &live, .node_count = 1 };
    admission_validate(&request, &findings);
    if (!status->in_force)
        return;
    struct strategy strategy;
    colocation_resolve(status->in_force, &node, &arena, &strategy, &findings);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1 << 20);
    json_write(&out, strategy_to_json(&strategy, &arena));
    for (size_t i = 0; i < findings.count; i++)
        finding_write(&out, &findings.items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = { .ptr = (const char *)data, .len = size };
    struct str config, annotation, ratio, rest;
    str_cut(all, '\n', &config, &rest);
    str_cut(rest, '\n', &annotation, &ratio);
    decide(config, annotation, ratio);
    return 0;
}
