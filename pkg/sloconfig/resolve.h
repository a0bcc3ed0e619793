#pragma once
/* The strategy of one node: cluster, then the first matching entry, then the node's
 * annotation, then its four ratio labels. */
#include "sloconfig/colocation.h"

extern const struct str strategy_annotation; /* "node.koordinator.sh/colocation-strategy" */

struct node_overrides {
    struct labels labels;
    bool has_annotation;
    struct str annotation; /* as written */
};

/* Never fails: an annotation that is malformed or out of range in any field is ignored
 * whole, a ratio label that is no decimal number >= 0 is ignored; both leave a finding of
 * level FINDING_NODE (`findings` may be NULL). *ret borrows from `config` and `arena`. */
void colocation_resolve(const struct colocation_config *config, const struct node_overrides *node,
                        struct arena *arena, struct strategy *ret, struct findings *findings);

/* The first entry that matches, or NULL. */
const struct colocation_entry *colocation_match(const struct colocation_config *config, struct labels labels);

/* Colocation is on for a node only where cluster and node both say so. */
bool colocation_enabled(const struct colocation_config *config, const struct strategy *strategy);
