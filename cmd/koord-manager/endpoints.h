#pragma once
/* The manager's own HTTP endpoints: /metrics on one address, /healthz, /livez and /readyz
 * on another. */
#include "http/server.h"
#include "metrics/metrics.h"

struct endpoints;

/* One thing readiness depends on: true when fine, else `out` gets why not. */
struct readiness_check {
    const char *name;
    bool (*ready)(void *self, struct strbuf *out);
    void *self;
};

struct endpoints_options {
    const char *metrics_addr; /* "0" or "": off; both addresses may be the same */
    const char *health_addr;
    struct metric_registry *registry;
    const struct readiness_check *checks; /* borrowed for the endpoints' life */
    size_t check_count;
};

struct endpoints *endpoints_new(struct loop *loop, const struct endpoints_options *options, struct err *err);
void endpoints_free(struct endpoints *endpoints); /* NULL is fine */
/* Ports in use, 0 when off: for logs and tests. */
int endpoints_metrics_port(const struct endpoints *endpoints);
int endpoints_health_port(const struct endpoints *endpoints);
