#pragma once
/* The keys that become a NodeSLO: each a table row with its schema and defaults, each
 * parsed by itself into an immutable value.
 *
 *     struct slo_config *config = slo_config_parse(SLO_QOS, text, &findings);
 *     if (!config) ... the findings of level FINDING_REJECTED say why
 *     const struct json *strategy = slo_config_resolve(config, labels, &arena);
 *
 * Reading follows Go's encoding/json as in colocation.h; an empty text is as bad as any
 * other that is no JSON. Values out of range are in force: only admission refuses them. */
#include "sloconfig/entry.h"
#include "sloconfig/schema.h"

enum slo_key { SLO_THRESHOLD, SLO_QOS, SLO_CPU_BURST, SLO_SYSTEM, SLO_HOST_APPS, SLO_KEY_COUNT };

struct slo_key_info {
    struct str key;
    const char *cluster; /* member with the cluster's part; NULL: the key's own members */
    const char *entries; /* "nodeStrategies", "nodeConfigs" */
    bool replaces;       /* a matching entry stands in for the cluster's part, unmerged */
    const struct schema *schema;
    const char *default_json;
    const char *spec_field; /* where it goes in a NodeSLO's spec */
    const char *spec_part;  /* the member that goes there; NULL: all of it */
};
extern const struct slo_key_info slo_keys[SLO_KEY_COUNT];

/* Of a NodeSLO's spec, the fields above. */
extern const struct schema nodeslo_schema;

struct slo_config {
    const struct slo_key_info *info;
    const struct json *cluster;  /* defaults with the cluster's part on top */
    struct entry_list list;      /* entries with an unusable selector are left out */
    const struct json **written; /* what each of them says */
    size_t skipped;              /* how many were left out */
    struct arena arena;          /* owns everything above */
};

/* NULL when the key is refused. Findings of every level are added (`findings` may be NULL). */
struct slo_config *slo_config_parse(enum slo_key key, struct str text, struct findings *findings);
/* What holds where the key is missing. */
struct slo_config *slo_config_default(enum slo_key key);
void slo_config_free(struct slo_config *config); /* NULL is fine */
DEFINE_CLEANUP(slo_config_free, struct slo_config)

/* Every node gets the same answer from both. */
bool slo_config_equal(const struct slo_config *a, const struct slo_config *b);

/* Entry `index` with the cluster's part below it. */
const struct json *slo_config_entry(const struct slo_config *config, size_t index, struct arena *arena);
/* Of a node: the first matching entry's, else the cluster's. Borrows from both. */
const struct json *slo_config_resolve(const struct slo_config *config, struct labels labels,
                                      struct arena *arena);
