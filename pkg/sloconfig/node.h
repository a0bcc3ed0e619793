#pragma once
/* colocation_resolve for a Node as the caches keep it. */
#include "api/node.h"
#include "sloconfig/resolve.h"

void colocation_resolve_node(const struct colocation_config *config, const struct node *node,
                             struct arena *arena, struct strategy *ret, struct findings *findings);
