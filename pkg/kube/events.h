#pragma once
/* Kubernetes Events about state changes: one per change, never per reconcile (EVT-9).
 * Recording never blocks and never fails anybody; what cannot be sent is dropped and
 * counted. */
#include "kube/client.h"

struct event_recorder;

struct event_recorder_options {
    const char *controller; /* reportingController: "koord-manager" */
    struct str instance;    /* reportingInstance: host name */
    struct metric_registry *metrics;
    bool (*may_write)(void *self); /* NULL: always */
    void *may_write_self;
};

struct event_recorder *event_recorder_new(struct kube_client *client,
                                          const struct event_recorder_options *options);
void event_recorder_free(struct event_recorder *recorder);

/* What the Event is about. Cluster-scoped objects have an empty namespace; their Events
 * live in "default". uid and rv may be empty. */
struct event_regarding {
    const struct kube_kind *kind;
    struct str ns;
    struct str name;
    struct str uid;
    struct str rv;
};

/* The note is cut at 1024 bytes on a UTF-8 boundary (EVT-5). */
void event_record(struct event_recorder *recorder, const struct event_regarding *regarding, bool warning,
                  const char *reason, const char *action, struct str note);
