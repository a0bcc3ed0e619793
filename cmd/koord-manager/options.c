#include "options.h"

#include "base/clock.h"
#include "kube/elector.h"

#define IGNORED(name_)                                                                                       \
    {                                                                                                        \
        .name = (name_), .type = FLAG_TYPE_IGNORED                                                           \
    }
#define IGNORED_SWITCH(name_)                                                                                \
    {                                                                                                        \
        .name = (name_), .type = FLAG_TYPE_IGNORED, .value_optional = true                                   \
    }

static const struct flag flags[] = {
    FLAG_STR(struct options, kubeconfig, "kubeconfig", "FILE",
             "kubeconfig to use; without it $KUBECONFIG, the pod's service account, then ~/.kube/config"),
    FLAG_STR(struct options, context, "context", "NAME",
             "context of the kubeconfig; without it its current-context"),
    FLAG_STR(struct options, config_namespace, "config-namespace", "NAMESPACE",
             "namespace of the policy ConfigMap; without it the pod's own in a cluster, else kube-system"),
    FLAG_STR(struct options, slo_config_name, "slo-config-name", "NAME", "name of the policy ConfigMap"),
    FLAG_DURATION(struct options, config_missing_grace_ns, "config-missing-grace",
                  "how long the last policy stays in force after its ConfigMap disappeared"),
    FLAG_STR(struct options, controllers, "controllers", "LIST",
             "controllers to run: * for all, NAME for only those named, -NAME for all but that one"),
    FLAG_STR(struct options, noderesource_plugins, "noderesource-plugins", "LIST",
             "plugins of the noderesource controller, in the same syntax"),
    FLAG_STR(struct options, metrics_addr, "metrics-addr", "ADDRESS",
             "where /metrics is served; 0 turns it off"),
    FLAG_STR(struct options, health_probe_addr, "health-probe-addr", "ADDRESS",
             "where /healthz and /readyz are served; 0 turns them off"),
    FLAG_DURATION(struct options, sync_period_ns, "sync-period",
                  "look at every node again this often even without news; 0 turns it off"),
    { .name = "rest-config-qps",
      .type = FLAG_TYPE_I64,
      .offset = offsetof(struct options, write_qps),
      .value_name = "N",
      .help = "writes a second to the API server on average; 0 means no limit" },
    { .name = "rest-config-burst",
      .type = FLAG_TYPE_I64,
      .offset = offsetof(struct options, write_burst),
      .value_name = "N",
      .help = "writes in one go after a quiet time; 0 means no limit" },
    FLAG_BOOL(struct options, leader_election, "enable-leader-election",
              "write only while holding a Lease, so that several managers may run"),
    FLAG_STR(struct options, lease_namespace, "leader-election-namespace", "NAMESPACE",
             "namespace of that Lease; without it the pod's own in a cluster, else kube-system"),
    FLAG_STR(struct options, lease_name, "leader-elect-resource-name", "NAME", "name of that Lease"),
    FLAG_STR(struct options, lease_lock, "leader-elect-resource-lock", "leases", "only leases is possible"),
    FLAG_DURATION(struct options, lease_duration_ns, "leader-elect-lease-duration",
                  "how long others wait for a leader that does not renew; whole seconds, up to 1h"),
    FLAG_DURATION(struct options, renew_deadline_ns, "leader-elect-renew-deadline",
                  "how long a leader tries to renew before it gives up and ends"),
    FLAG_DURATION(struct options, retry_period_ns, "leader-elect-retry-period",
                  "time between renewals, and between tries to become leader"),
    FLAG_BOOL(struct options, ignore_foreign_lease, "ignore-foreign-lease",
              "lead even while a Lease of that name in koordinator-system is being renewed"),
    { .name = "list-page-size",
      .type = FLAG_TYPE_I64,
      .offset = offsetof(struct options, page_size),
      .value_name = "N",
      .help = "objects per page of a list",
      .min = 1 },
    { .name = "v",
      .type = FLAG_TYPE_I64,
      .offset = offsetof(struct options, verbosity),
      .value_name = "N",
      .help = "verbosity: state changes are always logged, 4 and more adds single keys and requests" },
    FLAG_STR(struct options, logging_format, "logging-format", "text|json", "form of log lines"),
    { .name = "help",
      .type = FLAG_TYPE_BOOL,
      .offset = offsetof(struct options, help),
      .help = "print this text",
      .shorthand = 'h' },
    FLAG_BOOL(struct options, version, "version", "print the version"),

    IGNORED("add_dir_header"),
    IGNORED_SWITCH("alsologtostderr"),
    IGNORED_SWITCH("disable-no-deepcopy"),
    IGNORED_SWITCH("enable-pprof"),
    IGNORED("feature-gates"),
    IGNORED("log_backtrace_at"),
    IGNORED("log_dir"),
    IGNORED("log_file"),
    IGNORED("log_file_max_size"),
    IGNORED_SWITCH("logtostderr"),
    IGNORED("namespace"),
    IGNORED("node-strategy-name-need-check"),
    IGNORED_SWITCH("one_output"),
    IGNORED("pprof-addr"),
    IGNORED_SWITCH("skip_headers"),
    IGNORED_SWITCH("skip_log_headers"),
    IGNORED("stderrthreshold"),
    IGNORED("vmodule"),
};

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .config_namespace = "",
        .slo_config_name = "slo-controller-config",
        .config_missing_grace_ns = INT64_C(5) * 60 * INT64_C(1000000000),
        .controllers = "*",
        .noderesource_plugins = NODERESOURCE_PLUGINS_DEFAULT,
        .metrics_addr = ":8080",
        .health_probe_addr = ":8000",
        .write_qps = 200,
        .write_burst = 400,
        .page_size = 500,
        .logging_format = "text",
        .leader_election = true,
        .lease_namespace = "",
        .lease_name = "koordinator-manager",
        .lease_lock = "leases",
        .lease_duration_ns = 15 * NS_PER_S,
        .renew_deadline_ns = 10 * NS_PER_S,
        .retry_period_ns = 2 * NS_PER_S,
    };
}

/* `*`, NAME, -NAME: a name's own mention decides, without one `*` or "only exclusions" does. */
static bool list_selects(struct str list, struct str name)
{
    bool star = false, any_plain = false;
    while (!str_empty(list)) {
        struct str item;
        str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (str_eq(item, name))
            return true;
        if (str_starts_with(item, STR("-"))) {
            if (str_eq(str_slice(item, 1, item.len), name))
                return false;
            continue;
        }
        star = star || str_eq(item, STR("*"));
        any_plain = any_plain || !str_empty(item);
    }
    return star || !any_plain;
}

static bool check_election(const struct options *options, struct err *err)
{
    struct elector_options times = { .lease_ms = options->lease_duration_ns / NS_PER_MS,
                                     .renew_ms = options->renew_deadline_ns / NS_PER_MS,
                                     .retry_ms = options->retry_period_ns / NS_PER_MS };
    if (strcmp(options->lease_lock, "leases") != 0)
        return err_set(err, ERR_INVALID, "--leader-elect-resource-lock=%s: only leases is possible",
                       options->lease_lock);
    if (*options->lease_name == '\0')
        return err_set(err, ERR_INVALID, "--leader-elect-resource-name must not be empty");
    return elector_options_check(&times, err) || err_wrap(err, "--leader-elect-*");
}

static bool check(struct options *options, struct err *err)
{
    if (options->leader_election && !check_election(options, err))
        return false;
    if (strcmp(options->logging_format, "text") != 0 && strcmp(options->logging_format, "json") != 0)
        return err_set(err, ERR_INVALID, "--logging-format=%s: must be text or json",
                       options->logging_format);
    if (*options->slo_config_name == '\0')
        return err_set(err, ERR_INVALID, "--slo-config-name must not be empty");
    options->run_nodemetric = list_selects(str_c(options->controllers), STR("nodemetric"));
    options->run_noderesource = list_selects(str_c(options->controllers), STR("noderesource"));
    options->run_nodeslo = list_selects(str_c(options->controllers), STR("nodeslo"));
    if (!noderesource_plugins_parse(str_c(options->noderesource_plugins), &options->plugins, err))
        return err_wrap(err, "--noderesource-plugins");
    return true;
}

bool options_parse(struct options *options, int argc, char **argv,
                   void (*ignored)(void *self, const char *name, const char *value), void *self,
                   struct err *err)
{
    set_defaults(options);
    struct flags_handlers handlers = { .ignored = ignored, .self = self };
    return flags_parse(flags, ARRAY_LEN(flags), argc, argv, options, &handlers, err) && check(options, err);
}

void options_help(struct strbuf *out)
{
    struct options defaults;
    set_defaults(&defaults);
    strbuf_add(out, STR("Usage: koord-manager [flags]\n\n"
                        "Turns the slo-controller-config ConfigMap into NodeMetric and NodeSLO specs and\n"
                        "lends the predicted slack of Prod pods as Mid-tier capacity on Node status.\n\n"
                        "Flags:\n"));
    flags_help(out, flags, ARRAY_LEN(flags), &defaults);
    strbuf_add(out,
               STR("\nExit codes: 0 stopped on a signal, 1 lost the lease, stopped by force or failed while\n"
                   "running, 2 unusable flags, 3 unusable configuration or credentials.\n"));
}
