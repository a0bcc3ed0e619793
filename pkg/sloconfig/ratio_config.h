#pragma once
/* The keys `cpu-normalization-config` and `resource-amplification-config`: a switch, ratios
 * by name, and node entries that override both. Parsed, immutable; what an unreadable text
 * does is ratio_policy's.
 *
 * Reading follows Go's encoding/json as in colocation.h. An entry with an unusable selector
 * is left out; an empty text is a missing key: disabled, without ratios. */
#include "selector/selector.h"
#include "sloconfig/finding.h"

struct ratio_key {
    struct str key;
    const char *map_name; /* "ratioModel": by CPU model; "resourceAmplificationRatio": by resource */
    bool by_model;        /* the map holds objects of four ratios, and there is a defaultRatio */
    const char *event;    /* reason of the Event for a text that cannot be read */
};
extern const struct ratio_key normalization_key;
extern const struct ratio_key amplification_key;

/* What one level says. */
struct ratio_strategy {
    struct opt_bool enable;
    const struct json *default_ratio; /* a number; NULL: unset */
    const struct json *map;           /* an object; NULL: unset */
};

struct ratio_entry {
    struct selector selector;
    struct ratio_strategy written;
};

struct ratio_config {
    struct ratio_strategy cluster;
    const struct ratio_entry *entries;
    size_t count;
    struct arena arena; /* owns everything above */
};

/* NULL when the text is refused; findings (may be NULL) say why. */
struct ratio_config *ratio_config_parse(const struct ratio_key *key, struct str text,
                                        struct findings *findings);
void ratio_config_free(struct ratio_config *config); /* NULL is fine */

/* The first matching entry over the cluster's: scalars replace, the map merges by key. */
void ratio_config_resolve(const struct ratio_config *config, struct labels labels, struct arena *arena,
                          struct ratio_strategy *ret);

/* A ratio in billionths. False when it is no number or does not fit. */
bool ratio_nano(const struct json *number, int64_t *ret) MUST_CHECK;

/* --- what is in force ---------------------------------------------------------------- */

/* A text that is refused never replaces one that was read. */
struct ratio_policy;
struct ratio_policy_status {
    const struct ratio_config *in_force; /* NULL: nothing known yet, change nothing */
    uint64_t generation;                 /* grows when every node must be looked at again */
    const struct findings *findings;     /* of the text as it stands */
    bool told;                           /* new with this call: the text was refused */
    struct str message;                  /* why, for the Event */
};
struct ratio_policy *ratio_policy_new(const struct ratio_key *key);
void ratio_policy_free(struct ratio_policy *policy); /* NULL is fine */
/* `present`: there is a ConfigMap, and `value` is its key's; without one nothing known
 * becomes the defaults, and what is known stays. */
const struct ratio_policy_status *ratio_policy_observe(struct ratio_policy *policy, bool present,
                                                       struct str value);
const struct ratio_policy_status *ratio_policy_status(const struct ratio_policy *policy);
