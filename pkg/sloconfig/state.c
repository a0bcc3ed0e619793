#include "sloconfig/state.h"
#include <stdlib.h>

#define EVENTS_MAX 4

const char colocation_event_unmarshal[] = "ColocationCfgUnmarshalFailed";
const char colocation_event_invalid[] = "ColocationCfgInvalid";
const char colocation_event_partial[] = "ColocationCfgPartlyApplied";
const char colocation_event_missing[] = "ColocationCfgMissing";
const char colocation_event_default[] = "ColocationCfgDefaulted";
const char colocation_event_accepted[] = "ColocationCfgAccepted";

struct colocation_policy {
    int64_t grace_ms;

    /* What was seen last. */
    bool present;
    char *value; /* heap copy of the key as it stood, NULL for none */
    size_t value_len;
    bool missing; /* synced without a ConfigMap: `missing_since` counts */
    struct mono_time missing_since;

    struct colocation_config *in_force;

    struct arena findings_arena; /* lives as long as the value */
    struct findings findings;
    struct arena event_arena; /* lives until the next call */
    struct colocation_event events[EVENTS_MAX];
    struct colocation_status status;
};

const char *colocation_state_name(enum colocation_state state)
{
    static const char *const names[] = {
        [COLOCATION_HOLDING] = "holding",
        [COLOCATION_DEFAULT] = "default",
        [COLOCATION_ACCEPTED] = "accepted",
        [COLOCATION_REJECTED] = "rejected",
    };
    return names[state];
}

struct colocation_policy *colocation_policy_new(int64_t missing_grace_ms)
{
    struct colocation_policy *policy = mem_zalloc(sizeof *policy);
    policy->grace_ms = max_i64(0, missing_grace_ms);
    policy->findings = FINDINGS_INIT(&policy->findings_arena);
    policy->status.findings = &policy->findings;
    policy->status.events = policy->events;
    policy->status.recheck_after_ms = -1;
    return policy;
}

void colocation_policy_free(struct colocation_policy *policy)
{
    if (!policy)
        return;
    colocation_config_free(policy->in_force);
    arena_done(&policy->findings_arena);
    arena_done(&policy->event_arena);
    free(policy->value);
    free(policy);
}

/* --- reporting ------------------------------------------------------------------- */

static void tell(struct colocation_policy *policy, bool warning, const char *reason, struct str message)
{
    struct colocation_status *status = &policy->status;
    if (status->event_count < EVENTS_MAX)
        policy->events[status->event_count++] = (struct colocation_event){ warning, reason, message };
}

static bool serious(const struct finding *finding, bool rejected)
{
    return rejected ? finding->level == FINDING_REJECTED : finding->level == FINDING_ENTRY;
}

/* The first finding that matters, and how many more there are. */
static struct str describe(struct colocation_policy *policy, bool rejected, const char *outcome)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)8 * 1024);
    const struct findings *findings = &policy->findings;
    size_t count = findings->omitted;
    for (size_t i = 0; i < findings->count; i++) {
        if (!serious(&findings->items[i], rejected))
            continue;
        if (text.len == 0)
            finding_write(&text, &findings->items[i]);
        else
            count++;
    }
    if (count > 0)
        strbuf_addf(&text, ", and %zu more", count);
    strbuf_addf(&text, "; %s", outcome);
    return arena_str(&policy->event_arena, strbuf_str(&text));
}

/* --- changes --------------------------------------------------------------------- */

/* Takes over `config`. The generation grows when any node could get another answer, and
 * when an error ends: what was frozen meanwhile must be looked at again. */
static void put_in_force(struct colocation_policy *policy, struct colocation_config *config, bool error)
{
    struct colocation_status *status = &policy->status;
    bool same = policy->in_force && colocation_config_equal(policy->in_force, config);
    if (!same || (status->error && !error))
        status->generation++;
    colocation_config_free(policy->in_force);
    policy->in_force = config;
    status->in_force = config;
    status->error = error;
}

static void reject(struct colocation_policy *policy)
{
    struct colocation_status *status = &policy->status;
    const char *reason = colocation_event_invalid;
    for (size_t i = 0; i < policy->findings.count; i++)
        if (policy->findings.items[i].reason == finding_reason_parse)
            reason = colocation_event_unmarshal;
    status->state = COLOCATION_REJECTED;
    status->error = true;
    tell(policy, true, reason,
         describe(policy, true,
                  policy->in_force ? "the last good policy stays in force"
                                   : "no good policy is known, nothing is changed"));
}

static void accept(struct colocation_policy *policy, struct colocation_config *config)
{
    bool by_default = policy->value_len == 0;
    put_in_force(policy, config, false);
    policy->status.state = by_default ? COLOCATION_DEFAULT : COLOCATION_ACCEPTED;
    tell(policy, false, by_default ? colocation_event_default : colocation_event_accepted,
         by_default ? STR("colocation-config is not given: colocation is disabled")
                    : STR("colocation-config is in force"));
    if (findings_count(&policy->findings, FINDING_ENTRY) > 0)
        tell(policy, true, colocation_event_partial, describe(policy, false, "the rest is in force"));
}

static void forget_findings(struct colocation_policy *policy)
{
    arena_clear(&policy->findings_arena);
    policy->findings = FINDINGS_INIT(&policy->findings_arena);
}

static bool value_unchanged(const struct colocation_policy *policy, struct str value)
{
    return policy->present && str_eq((struct str){ policy->value, policy->value_len }, value);
}

static void observe_present(struct colocation_policy *policy, struct str value)
{
    policy->missing = false;
    if (value_unchanged(policy, value))
        return;
    free(policy->value);
    policy->value = str_dup_c(value);
    policy->value_len = value.len;
    policy->present = true;
    forget_findings(policy);
    struct colocation_config *config = colocation_parse(value, &policy->findings);
    if (config)
        accept(policy, config);
    else
        reject(policy);
}

static void begin_grace(struct colocation_policy *policy, struct mono_time now)
{
    bool deleted = policy->present;
    policy->present = false;
    policy->missing = true;
    policy->missing_since = now;
    forget_findings(policy);
    policy->status.state = COLOCATION_HOLDING;
    policy->status.error = true;
    tell(policy, true, colocation_event_missing,
         arena_strf(&policy->event_arena, "%s; %s for %lld seconds, then colocation is disabled",
                    deleted ? "the ConfigMap was deleted" : "there is no ConfigMap",
                    policy->in_force ? "the last policy stays in force" : "nothing is changed",
                    (long long)(policy->grace_ms / 1000)));
}

static void observe_absent(struct colocation_policy *policy, struct mono_time now)
{
    if (!policy->missing)
        begin_grace(policy, now);
    if (policy->status.state != COLOCATION_HOLDING)
        return;
    int64_t left = policy->grace_ms - mono_ms_between(policy->missing_since, now);
    policy->status.recheck_after_ms = left;
    if (left > 0)
        return;
    policy->status.recheck_after_ms = -1;
    policy->status.state = COLOCATION_DEFAULT;
    put_in_force(policy, colocation_default(), true);
    tell(policy, true, colocation_event_default, STR("there is no ConfigMap: colocation is disabled"));
}

const struct colocation_status *colocation_policy_observe(struct colocation_policy *policy,
                                                          const struct colocation_input *in)
{
    policy->status.event_count = 0;
    policy->status.recheck_after_ms = -1;
    arena_clear(&policy->event_arena);
    if (in->source == SOURCE_PRESENT)
        observe_present(policy, in->value);
    else if (in->source == SOURCE_ABSENT)
        observe_absent(policy, in->now);
    return &policy->status;
}

const struct colocation_status *colocation_policy_status(const struct colocation_policy *policy)
{
    return &policy->status;
}
