#pragma once
/* What a NodeMetric's spec should be, and what to do about the one that exists: pure.
 *
 *     struct nodemetric_plan plan;
 *     nodemetric_plan_make(&in, &arena, &plan);
 *     switch (plan.action) ...
 *
 * Only the fields we own are compared and written; others stay as they are. */
#include "api/nodemetric.h"
#include "sloconfig/strategy.h"

/* The fields we own, all decided. Texts live in the arena they were made in. */
struct nodemetric_desired {
    int64_t aggregate_duration_s;
    int64_t report_interval_s;
    struct str durations; /* JSON list: ["5m0s","10m0s"] */
    struct str memory_collect_policy;
    bool has_predict_policy;
    struct opt_i64 predict_diff_percent;
    struct opt_i64 predict_cold_start_s;
};

/* From the strategy effective for the node; the defaults when it is NULL (cannot be
 * resolved) or not enabled. */
void nodemetric_desired_make(const struct strategy *strategy, struct arena *arena,
                             struct nodemetric_desired *ret);

enum nodemetric_action { NODEMETRIC_NONE, NODEMETRIC_CREATE, NODEMETRIC_UPDATE, NODEMETRIC_DELETE };
const char *nodemetric_action_name(enum nodemetric_action action); /* "none", "create", ... */

struct nodemetric_input {
    bool node_exists;
    const struct nodemetric *metric; /* NULL: there is none */
    const struct strategy *strategy; /* effective for the node; unused without one */
    bool hold;                       /* the configuration was rejected and no earlier good one exists */
    bool keep_existing;  /* no policy is known yet: what is missing gets the defaults, what exists stays */
    bool predict_pruned; /* this CRD drops spec.predictPolicy: neither compare nor send it */
};

struct nodemetric_plan {
    enum nodemetric_action action;
    bool has_spec; /* false: hold, or the node is gone */
    struct nodemetric_desired spec;
};

void nodemetric_plan_make(const struct nodemetric_input *in, struct arena *arena,
                          struct nodemetric_plan *ret);

/* Every field of ours in `spec` is as desired. */
bool nodemetric_spec_matches(const struct nodemetric_spec *spec, const struct nodemetric_desired *desired,
                             bool predict_pruned);

/* The server's answer to a write of `desired` lacks something of predictPolicy that was sent. */
bool nodemetric_predict_was_pruned(const struct nodemetric_desired *desired,
                                   const struct nodemetric_spec *answer);

/* {"metricCollectPolicy":{...},"predictPolicy":{...}}, the latter only when set. */
void nodemetric_spec_write(struct strbuf *out, const struct nodemetric_desired *desired);
/* The whole object for a create. */
void nodemetric_create_write(struct strbuf *out, struct str name, const struct nodemetric_desired *desired);
/* A merge patch with the fields of ours that differ; null removes predictPolicy or a part of it. */
void nodemetric_patch_write(struct strbuf *out, const struct nodemetric_spec *spec,
                            const struct nodemetric_desired *desired, bool predict_pruned);
