#pragma once
/* Where a walk over a tree stands, written down only when somebody asks: a frame per level
 * on the stack costs nothing where nothing is wrong. Internal to this folder. */
#include "base/arena.h"

struct crumb {
    const struct crumb *up; /* NULL: the root */
    enum crumb_kind { CRUMB_FIELD, CRUMB_INDEX, CRUMB_KEY } kind;
    struct str name; /* CRUMB_FIELD: may be empty, then it does not show; CRUMB_KEY */
    size_t index;    /* CRUMB_INDEX */
};

/* "clusterStrategy.lsClass.blkioQOS.blocks[2].name"; in the arena. */
struct str crumb_text(const struct crumb *crumb, struct arena *arena);
