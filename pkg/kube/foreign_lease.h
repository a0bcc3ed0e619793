#pragma once
/* Somebody else's Lease, looked at every now and then: is it being renewed? As with our
 * own, only change that we see ourselves counts, never a time written by others. */
#include "kube/client.h"

struct foreign_lease;

struct foreign_lease_options {
    struct kube_client *client;
    struct str ns; /* copied */
    struct str name;
    int64_t poll_ms;
    struct metric_registry *metrics;
    void (*changed)(void *self); /* foreign_lease_forbids answers differently; from the loop */
    void *self;
};

struct foreign_lease *foreign_lease_new(const struct foreign_lease_options *options);
void foreign_lease_free(struct foreign_lease *foreign); /* NULL is fine */
void foreign_lease_start(struct foreign_lease *foreign);

/* True while it is renewed, and until it has been looked at once. */
bool foreign_lease_forbids(const struct foreign_lease *foreign);
