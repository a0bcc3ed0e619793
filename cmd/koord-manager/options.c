#include "options.h"

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
    IGNORED_SWITCH("enable-leader-election"),
    IGNORED_SWITCH("enable-pprof"),
    IGNORED("feature-gates"),
    IGNORED("leader-elect-resource-lock"),
    IGNORED("leader-election-namespace"),
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

static bool check(struct options *options, struct err *err)
{
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
    strbuf_add(out, STR("\nExit codes: 0 stopped on a signal, 1 stopped by force or failed while running,\n"
                        "2 unusable flags, 3 unusable configuration or credentials.\n"));
}
