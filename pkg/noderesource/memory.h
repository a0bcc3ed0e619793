#pragma once
/* What the controller remembers of each node between plans, by name. A node that was
 * deleted and made again (another uid) starts afresh; a node that is gone is forgotten. */
#include "api/node.h"
#include "noderesource/history.h"

struct node_memory {
    struct node_history history;
    struct kube_uid uid;
    /* Last told to the outside, so that changes are told once. */
    bool degraded;
    bool skewed;
    uint64_t bad_annotation; /* hash of the annotation that was complained about; 0: none */
};

struct node_memories;
struct node_memories *node_memories_new(void);
void node_memories_free(struct node_memories *memories); /* NULL is fine */

/* Never NULL; zeroed for a node not seen before or made again. */
struct node_memory *node_memories_get(struct node_memories *memories, const struct node *node);
/* NULL is fine for an unknown name; hands out nothing. */
void node_memories_forget(struct node_memories *memories, struct str name);
/* How many nodes are degraded, skewed. */
void node_memories_count(const struct node_memories *memories, size_t *ret_degraded, size_t *ret_skewed);
