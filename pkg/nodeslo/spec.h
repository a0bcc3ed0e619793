#pragma once
/* What a NodeSLO's spec should be, and what to do about the one that exists: pure.
 *
 *     struct nodeslo_plan plan;
 *     nodeslo_plan_make(&in, &arena, &findings, &plan);
 *     switch (plan.action) ...
 *
 * Only the fields of the NodeSLO keys are compared and written; `extensions`, and whatever
 * else stands there, stay as they are. */
#include "api/node.h"
#include "api/nodeslo.h"
#include "sloconfig/slo_state.h"

extern const struct str nodeslo_bandwidth_annotation; /* "node.koordinator.sh/network-bandwidth" */

enum nodeslo_action { NODESLO_NONE, NODESLO_CREATE, NODESLO_UPDATE, NODESLO_DELETE };
const char *nodeslo_action_name(enum nodeslo_action action); /* "none", "create", ... */

struct nodeslo_input {
    const struct node *node;         /* NULL: there is none */
    const struct nodeslo *slo;       /* NULL: there is none */
    const struct slo_status *policy; /* a key without a good value leaves its field alone */
};

struct nodeslo_plan {
    enum nodeslo_action action;
    /* Our fields as they should be; NULL: nothing is known yet, or the node is gone. */
    const struct json *spec;
    const struct json *patch; /* NODESLO_UPDATE: of spec, RFC 7396 */
};

/* Everything in *ret lives in `arena`, in the input and in its policy. An annotation that is
 * no bandwidth is ignored with a finding of level FINDING_NODE (`findings` may be NULL). */
void nodeslo_plan_make(const struct nodeslo_input *in, struct arena *arena, struct findings *findings,
                       struct nodeslo_plan *ret);

/* What of a write is missing in the server's answer to it, as the next plan's patch would
 * put it: the installed CRD drops it, or fills it in. NULL: all is there. Both texts are
 * objects as sent and received. */
const struct json *nodeslo_residue(struct arena *arena, struct str sent, struct str answer);

/* The whole object for a create; the merge patch for an update. */
void nodeslo_create_write(struct strbuf *out, struct str name, const struct nodeslo_plan *plan);
void nodeslo_patch_write(struct strbuf *out, const struct nodeslo_plan *plan);
