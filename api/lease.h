#pragma once
/* coordination.k8s.io/v1 Lease: who leads. */
#include "api/kind.h"

extern const struct kube_kind lease_kind;

/* What we keep of a Lease; odd values are kept as they are, the elector judges them. */
struct lease {
    struct kube_object object;
    const struct istr *holder;    /* NULL: nobody */
    const struct istr *preferred; /* preferredHolder; NULL: none */
    int64_t duration_s;           /* leaseDurationSeconds; 0 when absent */
    int64_t transitions;
    struct opt_time acquire_time;
    struct opt_time renew_time;
};

/* One Lease as an answer's body holds it; NULL with err when it is none. The caller unrefs. */
struct kube_object *lease_decode(struct intern *pool, struct str text, struct err *err);

static inline const struct lease *lease_of(const struct kube_object *object)
{
    return (const struct lease *)(const void *)object;
}
