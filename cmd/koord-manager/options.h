#pragma once
/* The command line of koord-manager: upstream's names where upstream has the flag. */
#include "base/flags.h"
#include "noderesource/plugins.h"

struct options {
    const char *kubeconfig;
    const char *context;
    const char *config_namespace; /* "": the pod's own in a cluster, else kube-system */
    const char *slo_config_name;
    int64_t config_missing_grace_ns;
    const char *controllers;
    const char *noderesource_plugins;
    const char *metrics_addr;
    const char *health_probe_addr;
    int64_t sync_period_ns;
    int64_t write_qps;
    int64_t write_burst;
    int64_t page_size;
    int64_t verbosity;
    const char *logging_format;
    bool leader_election;
    const char *lease_namespace; /* "": the pod's own in a cluster, else kube-system */
    const char *lease_name;
    const char *lease_lock;
    int64_t lease_duration_ns;
    int64_t renew_deadline_ns;
    int64_t retry_period_ns;
    bool ignore_foreign_lease;
    bool help;
    bool version;

    /* What the texts above mean, checked by options_parse. */
    struct noderesource_plugins plugins;
    bool run_nodemetric;
    bool run_noderesource;
    bool run_nodeslo;
};

/* False with ERR_INVALID for unusable arguments. Ignored upstream flags that were given
 * are told to `ignored`. */
bool options_parse(struct options *options, int argc, char **argv,
                   void (*ignored)(void *self, const char *name, const char *value), void *self,
                   struct err *err) MUST_CHECK;
void options_help(struct strbuf *out);
