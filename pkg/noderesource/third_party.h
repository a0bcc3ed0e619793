#pragma once
/* What others than Kubernetes give away of the Batch tier, and what the tier was before
 * that: two annotations of a Node. */
#include "api/meta.h"
#include "api/object.h"
#include "base/arena.h"

/* node.koordinator.sh/thirdPartyAllocations: {"allocations":[{"name":"hadoop-yarn",
 * "priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"10000"}}]}: what others
 * gave away of the Batch tier, in billionths; other priorities and resources do not count,
 * negative amounts count 0. */
struct third_party {
    __int128 batch_cpu_nano;
    __int128 batch_memory_nano;
};
bool noderesource_third_party_parse(struct arena *scratch, struct str text, struct third_party *ret,
                                    struct err *err) MUST_CHECK;

/* node.koordinator.sh/originExtendedAllocatable with these two amounts, milli-cores and
 * bytes: {"resources":{"kubernetes.io/batch-cpu":"50k",...}}. What else `current` (may be
 * malformed or NULL) holds stays, keys are sorted; `current` itself is the answer when it
 * already says so. Unset amounts are left as they are in `current`. */
struct str noderesource_origin_text(struct arena *arena, const struct istr *current, struct opt_i64 cpu,
                                    struct opt_i64 memory);
