/* Five ConfigMap values as one input, split at newlines: every step that reads what
 * administrators write of NodeSLOs, and the difference to a spec as foreign as the sixth. */
#include "sloconfig/admission.h"
#include "sloconfig/slo_state.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was decided differs from nothing once it is written. */
static void compare(const struct json *have, const struct json *want, struct arena *arena)
{
    const struct json *patch = schema_diff(&nodeslo_schema, have, want, arena);
    const struct json *after = patch ? json_merge_patch(arena, have, patch) : have;
    if (schema_diff(&nodeslo_schema, after, want, arena))
        abort();
}

static void decide(struct slo_input *in, struct str have_text)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(slo_policy_freep) struct slo_policy *policy = slo_policy_new(0);
    struct findings findings = FINDINGS_INIT(&arena);
    struct label labels[] = { { STR("pool"), STR("a") } };
    struct admission_node node = { STR("n"), { labels, 1 } };
    struct admission_data values[SLO_KEY_COUNT];
    struct json *want = json_new(&arena, JSON_OBJECT);
    const struct json *have = NULL;
    const struct slo_status *status = slo_policy_observe(policy, in);
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        const struct slo_config *config = status->in_force[i];
        values[i] = (struct admission_data){ slo_keys[i].key, in->values[i].text };
        if (!config)
            continue;
        const struct json *strategy = slo_config_resolve(config, node.labels, &arena);
        if (slo_keys[i].spec_part)
            strategy = json_get(strategy, str_c(slo_keys[i].spec_part));
        if (strategy)
            json_set(&arena, want, str_c(slo_keys[i].spec_field), strategy);
    }
    struct admission_request request = {
        .data = { values, SLO_KEY_COUNT }, .nodes = &node, .node_count = 1, .need_names = true
    };
    admission_validate(&request, &findings);
    if (json_parse(&arena, have_text, NULL, &have, NULL))
        compare(have, want, &arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = { .ptr = (const char *)data, .len = size };
    struct slo_input in = { .source = SOURCE_PRESENT };
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        str_cut(rest, '\n', &in.values[i].text, &rest);
        in.values[i].present = true;
    }
    decide(&in, rest);
    return 0;
}
