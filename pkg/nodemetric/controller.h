#pragma once
/* Keeps one NodeMetric per Node: created, kept to spec, removed, made again. */
#include "kube/events.h"
#include "kube/runtime.h"
#include "sloconfig/state.h"

struct nodemetric_controller;

struct nodemetric_controller_options {
    struct kube_client *client; /* to look at the CRD when it drops fields */
    const struct store *nodes;
    const struct store *metrics;
    const struct colocation_policy *policy;
    struct event_recorder *events;    /* NULL: none */
    struct metric_registry *registry; /* NULL: none */
    /* Every node has to be decided again: the CRD changed. */
    void (*requeue_all)(void *self);
    void *self;
};

struct nodemetric_controller *nodemetric_controller_new(const struct nodemetric_controller_options *options);
void nodemetric_controller_free(struct nodemetric_controller *controller); /* NULL is fine */
/* For runtime_add; keys are node names. */
struct controller nodemetric_controller_interface(struct nodemetric_controller *controller);
