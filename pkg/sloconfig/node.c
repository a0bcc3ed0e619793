#include "sloconfig/node.h"

void colocation_resolve_node(const struct colocation_config *config, const struct node *node,
                             struct arena *arena, struct strategy *ret, struct findings *findings)
{
    struct node_overrides overrides = {
        .labels = node_labels(node, arena),
        .has_annotation = node->colocation_strategy != NULL,
        .annotation = istr_str(node->colocation_strategy),
    };
    colocation_resolve(config, &overrides, arena, ret, findings);
}
