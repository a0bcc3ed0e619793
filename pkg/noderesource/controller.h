#pragma once
/* Keeps the extended resources of every Node right: plans from a snapshot, patches the
 * status subresource with the keys that differ. */
#include "kube/events.h"
#include "kube/informer.h"
#include "kube/runtime.h"
#include "noderesource/plan.h"
#include "sloconfig/ratio_config.h"
#include "sloconfig/state.h"

struct noderesource_controller;

struct noderesource_controller_options {
    const struct informer *nodes;
    const struct informer *metrics; /* its feed decides whether age can be believed */
    const struct informer *pods;
    const struct informer *devices;    /* may be of a kind the cluster lacks */
    const struct informer *topologies; /* the same */
    const struct colocation_policy *policy;
    const struct ratio_policy *normalization;
    const struct ratio_policy *amplification;
    const struct noderesource_plugins *plugins;
    struct event_recorder *events;    /* NULL: none */
    struct metric_registry *registry; /* NULL: none */
};

struct noderesource_controller *
noderesource_controller_new(const struct noderesource_controller_options *options);
void noderesource_controller_free(struct noderesource_controller *controller); /* NULL is fine */
/* For runtime_add; keys are node names. */
struct controller noderesource_controller_interface(struct noderesource_controller *controller);
