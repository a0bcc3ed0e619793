#pragma once
/* Keeps one NodeSLO per Node: created, kept to the policy, removed, made again. */
#include "kube/events.h"
#include "kube/runtime.h"
#include "sloconfig/slo_state.h"

struct nodeslo_controller;

struct nodeslo_controller_options {
    const struct store *nodes;
    const struct store *slos;
    /* False: the NodeSLO cache is not filled (its CRD may be absent); nothing is decided. */
    bool (*ready)(void *self);
    void *self;
    const struct slo_policy *policy;
    struct event_recorder *events;    /* NULL: none */
    struct metric_registry *registry; /* NULL: none */
};

struct nodeslo_controller *nodeslo_controller_new(const struct nodeslo_controller_options *options);
void nodeslo_controller_free(struct nodeslo_controller *controller); /* NULL is fine */
/* For runtime_add; keys are node names. */
struct controller nodeslo_controller_interface(struct nodeslo_controller *controller);
