#pragma once
/* What of the NodeSLO keys is in force, each key by itself: a bad one keeps what it said
 * before, a missing one returns to its default, the others follow the ConfigMap.
 *
 *     struct slo_policy *policy = slo_policy_new(grace_ms);
 *     const struct slo_status *status = slo_policy_observe(policy, &in);
 *     if (status->generation != seen) queue every node;
 *     arrange another call in status->recheck_after_ms
 *
 * As with colocation-config a missing ConfigMap is believed after a grace period, and
 * losing sight of it changes nothing. */
#include "sloconfig/slo.h"
#include "sloconfig/state.h"

struct slo_input {
    enum colocation_source source;
    struct slo_value {
        bool present;
        struct str text;
    } values[SLO_KEY_COUNT]; /* with SOURCE_PRESENT */
    struct mono_time now;
};

struct slo_status {
    /* NULL: not known, since nothing good was ever seen: what stands on nodes stays. */
    const struct slo_config *in_force[SLO_KEY_COUNT];
    /* Of each key as it stands; nothing while it is missing. */
    const struct findings *findings[SLO_KEY_COUNT];
    bool rejected[SLO_KEY_COUNT];
    bool holding; /* no ConfigMap was read yet, nor one believed to be missing */
    /* Grows whenever every node must be looked at again. */
    uint64_t generation;
    int64_t recheck_after_ms; /* -1: no need */
    /* New with this call: keys that changed, and what is to be told of them. */
    bool news[SLO_KEY_COUNT];
    const struct colocation_event *events;
    const enum slo_key *event_keys; /* which key each is about */
    size_t event_count;
};

extern const char slo_event_unmarshal[]; /* SLOCfgUnmarshalFailed, one for each key */
extern const char slo_event_partial[];   /* SLOCfgPartlyApplied: entries were skipped */

struct slo_policy;
struct slo_policy *slo_policy_new(int64_t missing_grace_ms);
void slo_policy_free(struct slo_policy *policy); /* NULL is fine */
DEFINE_CLEANUP(slo_policy_free, struct slo_policy)

/* Everything in the status is the policy's and valid until the next call. */
const struct slo_status *slo_policy_observe(struct slo_policy *policy, const struct slo_input *in);
const struct slo_status *slo_policy_status(const struct slo_policy *policy);
