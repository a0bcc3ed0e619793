#pragma once
/* What policy is in force: a pure state machine over what is known of the ConfigMap.
 *
 *     struct colocation_policy *policy = colocation_policy_new(grace_ms);
 *     struct colocation_input in = { .source = SOURCE_PRESENT, .value = text, .now = now };
 *     const struct colocation_status *status = colocation_policy_observe(policy, &in);
 *     if (status->generation != seen) queue every node;
 *     arrange another call in status->recheck_after_ms
 *
 * A bad key never replaces a good one. A missing ConfigMap is believed only after a
 * grace period; losing sight of it (not synced, a failing list or watch) changes nothing. */
#include "base/clock.h"
#include "sloconfig/colocation.h"

#define COLOCATION_MISSING_GRACE_MS (INT64_C(5) * 60 * 1000)

enum colocation_source {
    SOURCE_UNKNOWN, /* not synced, or sight of it was lost */
    SOURCE_ABSENT,  /* synced, and there is none */
    SOURCE_PRESENT,
};

struct colocation_input {
    enum colocation_source source;
    struct str value; /* of colocation-config; empty: the key is missing */
    struct mono_time now;
};

enum colocation_state {
    COLOCATION_HOLDING,  /* not known yet, or missing and in its grace period */
    COLOCATION_DEFAULT,  /* no key, or no ConfigMap: the defaults, disabled */
    COLOCATION_ACCEPTED, /* what the ConfigMap says now */
    COLOCATION_REJECTED, /* the ConfigMap is bad: the last good one, or nothing */
};

/* One thing worth an Event on the ConfigMap, a log line and a metric. */
struct colocation_event {
    bool warning;
    const char *reason; /* "ColocationCfgUnmarshalFailed", ... */
    struct str message;
};

struct colocation_status {
    enum colocation_state state;
    /* NULL: hold; create, raise and remove nothing. Valid until the next observe. */
    const struct colocation_config *in_force;
    /* The ConfigMap is bad or missing: NodeMetrics that exist keep the spec they have. */
    bool error;
    /* Grows whenever every node must be looked at again; starts at 0 with nothing in force. */
    uint64_t generation;
    int64_t recheck_after_ms; /* call again then, even without news; -1: no need */
    /* Of the ConfigMap as it stands, kept while it does not change. */
    const struct findings *findings;
    /* New with this call. */
    const struct colocation_event *events;
    size_t event_count;
};

extern const char colocation_event_unmarshal[]; /* ColocationCfgUnmarshalFailed */
extern const char colocation_event_invalid[];   /* ColocationCfgInvalid */
extern const char colocation_event_partial[];   /* ColocationCfgPartlyApplied: entries skipped or replaced */
extern const char colocation_event_missing[];   /* ColocationCfgMissing: gone, grace period begins */
extern const char colocation_event_default[];   /* ColocationCfgDefaulted: grace period over */
extern const char colocation_event_accepted[];  /* ColocationCfgAccepted, Normal */

struct colocation_policy;
struct colocation_policy *colocation_policy_new(int64_t missing_grace_ms);
void colocation_policy_free(struct colocation_policy *policy); /* NULL is fine */
DEFINE_CLEANUP(colocation_policy_free, struct colocation_policy)

/* Everything in the status is the policy's and valid until the next call. */
const struct colocation_status *colocation_policy_observe(struct colocation_policy *policy,
                                                          const struct colocation_input *in);
/* The last status again, events of that call included. */
const struct colocation_status *colocation_policy_status(const struct colocation_policy *policy);

/* "accepted", "default", "rejected", "holding" */
const char *colocation_state_name(enum colocation_state state);
