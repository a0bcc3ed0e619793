#pragma once
/* Leader election, done: the elector's decisions on a client of its own, so that no
 * queue, limit or big list can starve a renewal.
 *
 * A standby watches the one Lease and takes over when it stops changing; without a
 * working watch it polls. Losing leadership is final: the process is to end. */
#include "kube/client.h"
#include "kube/elector.h"
#include "kube/events.h"

struct leader;

struct leader_options {
    const struct kube_config *config; /* for a connection of its own; copied */
    struct str ns;                    /* copied, like every text here */
    struct str name;
    /* A Lease of the same name in this namespace is somebody else's doing the same work:
     * while it is being renewed we do not lead. Empty: nobody to look for. */
    struct str foreign_ns;
    struct str identity;
    int64_t lease_ms, renew_ms, retry_ms;
    uint64_t seed;
    struct metric_registry *metrics;
    struct event_recorder *events; /* NULL: none */
    /* Both from the loop, each at most once; the leader may not be freed inside. `started`:
     * we lead. `stopped`: lost, or released; also when we never led. Leadership never
     * comes back. */
    void (*started)(void *self);
    void (*stopped)(void *self, bool lost);
    void *self;
};

/* Checks the times (lease > renew > 1.2 * retry). */
struct leader *leader_new(struct loop *loop, const struct leader_options *options, struct err *err);
void leader_free(struct leader *leader); /* NULL is fine */
void leader_start(struct leader *leader);

/* The fence, asked before every write: reads the clock itself, so it also holds after the
 * process was stopped for a while. */
bool leader_may_write(const struct leader *leader);
/* The fence for Events, which may still go out while the Lease is given back. */
bool leader_may_tell(const struct leader *leader);

/* Nothing of ours writes any more: give the Lease back. `stopped` follows within 2 s, at
 * once when we do not lead. */
void leader_release(struct leader *leader);
