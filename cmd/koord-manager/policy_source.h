#pragma once
/* The ConfigMap as the caches see it, turned into the policy in force; says in the log, in
 * an Event and in metrics when that changes. */
#include "kube/events.h"
#include "kube/informer.h"
#include "sloconfig/ratio_config.h"
#include "sloconfig/slo_state.h"
#include "sloconfig/state.h"

struct policy_source;

struct policy_source_options {
    struct loop *loop;
    struct str ns;
    struct str name;
    int64_t missing_grace_ms;
    struct event_recorder *events;
    struct metric_registry *registry;
    void (*changed)(void *self); /* every node has to be decided again */
    void *self;
};

struct policy_source *policy_source_new(const struct policy_source_options *options);
void policy_source_free(struct policy_source *source); /* NULL is fine */
const struct colocation_policy *policy_source_policy(const struct policy_source *source);
const struct slo_policy *policy_source_slo(const struct policy_source *source);
const struct ratio_policy *policy_source_normalization(const struct policy_source *source);
const struct ratio_policy *policy_source_amplification(const struct policy_source *source);
/* From now on Events are sent; first those about the present state that were kept back. */
void policy_source_lead(struct policy_source *source);
/* The ConfigMap is in the store, or known not to be: look at it now and on each change. */
void policy_source_observe(struct policy_source *source, const struct informer *configmaps);
