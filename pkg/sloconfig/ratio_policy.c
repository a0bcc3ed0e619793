/* Which text of a ratio key is in force. */
#include <stdlib.h>

#include "sloconfig/ratio_config.h"

struct ratio_policy {
    const struct ratio_key *key;
    char *value; /* the text as it stood, NULL: none was seen */
    size_t value_len;
    struct ratio_config *in_force;
    struct arena arena; /* of findings and message; lives as long as the text */
    struct findings findings;
    struct ratio_policy_status status;
};

struct ratio_policy *ratio_policy_new(const struct ratio_key *key)
{
    struct ratio_policy *policy = mem_zalloc(sizeof *policy);
    policy->key = key;
    policy->findings = FINDINGS_INIT(&policy->arena);
    policy->status.findings = &policy->findings;
    return policy;
}

void ratio_policy_free(struct ratio_policy *policy)
{
    if (!policy)
        return;
    ratio_config_free(policy->in_force);
    arena_done(&policy->arena);
    free(policy->value);
    free(policy);
}

static void put_in_force(struct ratio_policy *policy, struct ratio_config *config)
{
    ratio_config_free(policy->in_force);
    policy->in_force = config;
    policy->status.in_force = config;
    policy->status.generation++;
}

static void tell(struct ratio_policy *policy)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)8 * 1024);
    for (size_t i = 0; i < policy->findings.count && text.len == 0; i++)
        if (policy->findings.items[i].level == FINDING_REJECTED)
            finding_write(&text, &policy->findings.items[i]);
    strbuf_addf(&text, "; %s",
                policy->in_force ? "the last good one stays in force" : "none is known, nothing is changed");
    policy->status.told = true;
    policy->status.message = arena_str(&policy->arena, strbuf_str(&text));
}

const struct ratio_policy_status *ratio_policy_observe(struct ratio_policy *policy, bool present,
                                                       struct str value)
{
    policy->status.told = false;
    if (!present) {
        if (!policy->in_force && !policy->value)
            put_in_force(policy, ratio_config_parse(policy->key, STR_NULL, NULL));
        return &policy->status;
    }
    if (policy->value && str_eq((struct str){ policy->value, policy->value_len }, value))
        return &policy->status;
    free(policy->value);
    policy->value = str_dup_c(value);
    policy->value_len = value.len;
    arena_clear(&policy->arena);
    policy->findings = FINDINGS_INIT(&policy->arena);
    struct ratio_config *config = ratio_config_parse(policy->key, value, &policy->findings);
    if (config)
        put_in_force(policy, config);
    else
        tell(policy);
    return &policy->status;
}

const struct ratio_policy_status *ratio_policy_status(const struct ratio_policy *policy)
{
    return &policy->status;
}
