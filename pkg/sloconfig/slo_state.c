#include "sloconfig/slo_state.h"
#include <stdlib.h>

const char slo_event_unmarshal[] = "SLOCfgUnmarshalFailed";
const char slo_event_partial[] = "SLOCfgPartlyApplied";

struct key_state {
    bool seen;   /* with a ConfigMap; `value` is what it said */
    char *value; /* heap copy, NULL while the key was missing */
    size_t value_len;
    struct slo_config *in_force;
    struct arena findings_arena; /* lives as long as the value */
    struct findings findings;
};

struct slo_policy {
    int64_t grace_ms;
    bool missing; /* synced without a ConfigMap: `missing_since` counts */
    bool defaulted;
    struct mono_time missing_since;
    struct key_state keys[SLO_KEY_COUNT];
    struct arena event_arena; /* lives until the next call */
    struct colocation_event events[SLO_KEY_COUNT];
    enum slo_key event_keys[SLO_KEY_COUNT];
    struct slo_status status;
};

struct slo_policy *slo_policy_new(int64_t missing_grace_ms)
{
    struct slo_policy *policy = mem_zalloc(sizeof *policy);
    policy->grace_ms = max_i64(0, missing_grace_ms);
    policy->status = (struct slo_status){
        .holding = true, .recheck_after_ms = -1, .events = policy->events, .event_keys = policy->event_keys
    };
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        policy->keys[i].findings = FINDINGS_INIT(&policy->keys[i].findings_arena);
        policy->status.findings[i] = &policy->keys[i].findings;
    }
    return policy;
}

void slo_policy_free(struct slo_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        slo_config_free(policy->keys[i].in_force);
        arena_done(&policy->keys[i].findings_arena);
        free(policy->keys[i].value);
    }
    arena_done(&policy->event_arena);
    free(policy);
}

/* --- one key --------------------------------------------------------------------- */

static void tell(struct slo_policy *policy, size_t key, const char *reason, enum finding_level level,
                 const struct findings *findings, const char *outcome)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)8 * 1024);
    size_t count = findings_count(findings, level), i = 0;
    while (i < findings->count && findings->items[i].level != level)
        i++;
    if (i < findings->count)
        finding_write(&text, &findings->items[i]);
    if (count > 1)
        strbuf_addf(&text, ", and %zu more", count - 1);
    strbuf_addf(&text, "; %s", outcome);
    policy->event_keys[policy->status.event_count] = (enum slo_key)key;
    policy->events[policy->status.event_count++] =
        (struct colocation_event){ true, reason, arena_str(&policy->event_arena, strbuf_str(&text)) };
}

/* Takes over `config`. */
static void put_in_force(struct slo_policy *policy, size_t key, struct slo_config *config)
{
    struct key_state *state = &policy->keys[key];
    if (!state->in_force || !slo_config_equal(state->in_force, config))
        policy->status.generation++;
    slo_config_free(state->in_force);
    state->in_force = config;
    policy->status.in_force[key] = config;
    policy->status.rejected[key] = false;
}

static void forget_value(struct key_state *state)
{
    free(state->value);
    state->value = NULL;
    state->value_len = 0;
    arena_clear(&state->findings_arena);
    state->findings = FINDINGS_INIT(&state->findings_arena);
}

static bool is_news(const struct key_state *state, const struct slo_value *value)
{
    if (!state->seen || value->present != (state->value != NULL))
        return true;
    return value->present && !str_eq((struct str){ state->value, state->value_len }, value->text);
}

static void observe_key(struct slo_policy *policy, size_t key, const struct slo_value *value)
{
    struct key_state *state = &policy->keys[key];
    if (!is_news(state, value))
        return;
    state->seen = true;
    policy->status.news[key] = true;
    forget_value(state);
    if (!value->present) {
        put_in_force(policy, key, slo_config_default((enum slo_key)key));
        return;
    }
    state->value = str_dup_c(value->text);
    state->value_len = value->text.len;
    struct slo_config *config = slo_config_parse((enum slo_key)key, value->text, &state->findings);
    if (config) {
        put_in_force(policy, key, config);
        if (config->skipped > 0)
            tell(policy, key, slo_event_partial, FINDING_ENTRY, &state->findings, "the rest is in force");
        return;
    }
    policy->status.rejected[key] = true;
    tell(policy, key, slo_event_unmarshal, FINDING_REJECTED, &state->findings,
         state->in_force ? "what it said before stays in force"
                         : "nothing good of it is known, nothing is changed");
}

/* --- the ConfigMap --------------------------------------------------------------- */

static void observe_present(struct slo_policy *policy, const struct slo_input *in)
{
    /* One generation for all keys that change together is enough, but more do no harm. */
    if (policy->status.holding)
        policy->status.generation++;
    policy->status.holding = false;
    policy->missing = false;
    policy->defaulted = false;
    for (size_t i = 0; i < SLO_KEY_COUNT; i++)
        observe_key(policy, i, &in->values[i]);
}

static void observe_absent(struct slo_policy *policy, struct mono_time now)
{
    if (!policy->missing) {
        policy->missing = true;
        policy->missing_since = now;
    }
    if (policy->defaulted)
        return;
    int64_t left = policy->grace_ms - mono_ms_between(policy->missing_since, now);
    if (left > 0) {
        policy->status.recheck_after_ms = left;
        return;
    }
    policy->defaulted = true;
    policy->status.holding = false;
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        forget_value(&policy->keys[i]);
        policy->keys[i].seen = false;
        policy->status.news[i] = true;
        put_in_force(policy, i, slo_config_default((enum slo_key)i));
    }
}

const struct slo_status *slo_policy_observe(struct slo_policy *policy, const struct slo_input *in)
{
    policy->status.event_count = 0;
    memset(policy->status.news, 0, sizeof policy->status.news);
    policy->status.recheck_after_ms = -1;
    arena_clear(&policy->event_arena);
    if (in->source == SOURCE_PRESENT)
        observe_present(policy, in);
    else if (in->source == SOURCE_ABSENT)
        observe_absent(policy, in->now);
    return &policy->status;
}

const struct slo_status *slo_policy_status(const struct slo_policy *policy)
{
    return &policy->status;
}
