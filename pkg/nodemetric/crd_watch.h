#pragma once
/* Remembers that the installed CRD drops spec.predictPolicy, for as long as that CRD
 * stands: upstream's schema does not know the field, and comparing what the server will
 * not keep would mean writing for ever. */
#include "kube/client.h"
#include "kube/events.h"

struct crd_watch;

struct crd_watch_options {
    struct kube_client *client;
    struct event_recorder *events;    /* NULL: none */
    struct metric_registry *registry; /* NULL: none */
    void (*changed)(void *self);      /* the CRD is another one now: try again */
    void *self;
};

struct crd_watch *crd_watch_new(const struct crd_watch_options *options);
void crd_watch_free(struct crd_watch *watch); /* NULL is fine */

bool crd_watch_pruned(const struct crd_watch *watch);
/* A write came back without the field. Says so once per CRD generation. */
void crd_watch_note_pruned(struct crd_watch *watch);
