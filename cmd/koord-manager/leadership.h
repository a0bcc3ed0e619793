#pragma once
/* Whether this process may write. With leader election off it always may; with it, while it
 * holds the Lease (kube/leader.h). */
#include "kube/events.h"
#include "kube/kubeconfig.h"
#include "options.h"

struct leadership;

struct leadership_options {
    struct loop *loop;
    const struct options *options;  /* the flags; read while it is made */
    const struct kube_config *kube; /* copied */
    struct metric_registry *registry;
    struct event_recorder *events;
    /* From the loop, each at most once, as of struct leader. */
    void (*started)(void *self);
    void (*stopped)(void *self, bool lost);
    void *self;
};

struct leadership *leadership_new(const struct leadership_options *options, struct err *err);
void leadership_free(struct leadership *leadership); /* NULL is fine */
void leadership_start(struct leadership *leadership);
/* Nothing writes any more: lets others lead. `stopped` follows within 2 s. */
void leadership_release(struct leadership *leadership);

/* The fences; they read the clock themselves. NULL: no. */
bool leadership_may_write(const struct leadership *leadership);
bool leadership_may_tell(const struct leadership *leadership); /* Events */
