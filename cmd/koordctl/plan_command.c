#include "base/flags.h"
#include "base/rfc3339.h"
#include "command.h"
#include "input.h"
#include "yaml/yaml.h"

struct plan_flags {
    struct flag_list files;
    const char *config;
    const char *now;
    const char *plugins;
    const char *output;
    const char *config_namespace;
    const char *slo_config_name;
    const char *kubeconfig;
    const char *context;
    bool help;
};

static const struct flag flags[] = {
    FLAG_LIST(struct plan_flags, files, "filename", 'f', "FILE",
              "objects to plan from: YAML or JSON, single objects, Lists or several documents; - is standard "
              "input; may be repeated; without it the cluster of the kubeconfig is read"),
    FLAG_STR(struct plan_flags, config, "config", "FILE",
             "a proposed policy ConfigMap, used instead of the present one"),
    FLAG_STR(struct plan_flags, now, "now", "TIME", "the time to plan for, RFC 3339; without it the present"),
    FLAG_STR(struct plan_flags, plugins, "plugins", "LIST",
             "node resource plugins: * for all, NAME for only those named, -NAME for all but that one"),
    { .name = "output",
      .type = FLAG_TYPE_STR,
      .offset = offsetof(struct plan_flags, output),
      .value_name = "table|json|yaml",
      .help = "form of the output",
      .shorthand = 'o' },
    FLAG_STR(struct plan_flags, config_namespace, "config-namespace", "NAMESPACE",
             "namespace of the policy ConfigMap; without it any"),
    FLAG_STR(struct plan_flags, slo_config_name, "slo-config-name", "NAME", "name of the policy ConfigMap"),
    FLAG_STR(struct plan_flags, kubeconfig, "kubeconfig", "FILE",
             "kubeconfig to use; without it $KUBECONFIG, then ~/.kube/config"),
    FLAG_STR(struct plan_flags, context, "context", "NAME",
             "context of the kubeconfig; without it its current one"),
    { .name = "help",
      .type = FLAG_TYPE_BOOL,
      .offset = offsetof(struct plan_flags, help),
      .help = "this text",
      .shorthand = 'h' },
};

/* --- output ---------------------------------------------------------------------- */

static void write_json(struct strbuf *out, const struct plan *plan)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    json_write_pretty(out, plan_to_json(plan, &arena));
    strbuf_addc(out, '\n');
}

static void write_yaml(struct strbuf *out, const struct plan *plan)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    kyaml_write(out, plan_to_json(plan, &arena));
}

static const struct form {
    const char *name;
    void (*write)(struct strbuf *out, const struct plan *plan);
} forms[] = { { "table", plan_table }, { "json", write_json }, { "yaml", write_yaml } };

static const struct form *find_form(const char *name, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    err_set(err, ERR_INVALID, "--output %s: must be table, json or yaml", name);
    return NULL;
}

/* --- input ----------------------------------------------------------------------- */

static bool read_options(const struct koordctl_env *env, const struct plan_flags *given,
                         struct plan_options *ret, struct err *err)
{
    ret->config = (struct source_choice){ str_c(given->slo_config_name), str_c(given->config_namespace) };
    ret->now = env->now;
    if (given->now && !rfc3339_parse(str_c(given->now), &ret->now, err))
        return err_wrap(err, "--now %s", given->now);
    const char *list = given->plugins ? given->plugins : NODERESOURCE_PLUGINS_DEFAULT;
    if (!noderesource_plugins_parse(str_c(list), &ret->plugins, err))
        return err_wrap(err, "--plugins %s", list);
    for (int i = 0; given->plugins && i < NODERESOURCE_PLUGIN_COUNT; i++)
        if (ret->plugins.active[i] && !noderesource_plugin_table[i].built)
            strbuf_addf(env->err, "koordctl plan: plugin %s is not built yet, its resources are left alone\n",
                        noderesource_plugin_table[i].name);
    return true;
}

static bool read_cluster(const struct koordctl_env *env, const struct plan_flags *given,
                         struct plan_options *options, struct snapshot *snapshot, struct err *err)
{
    struct koordctl_live live = { given->kubeconfig, given->context, options->config };
    if (!env->load_live)
        return err_set(err, ERR_INVALID, "this build cannot read a cluster: give the objects with -f");
    if (!env->load_live(&live, snapshot, env->err, err))
        return false;
    options->config = live.config;
    return true;
}

static bool read_snapshot(const struct koordctl_env *env, const struct plan_flags *given,
                          struct plan_options *options, struct snapshot *snapshot, struct err *err)
{
    if (given->files.count == 0 && !read_cluster(env, given, options, snapshot, err))
        return false;
    for (size_t i = 0; i < given->files.count; i++)
        if (!input_add_file(snapshot, given->files.items[i], err))
            return false;
    snapshot_seal(snapshot);
    return true;
}

/* The proposal must be there: a plan without it would answer another question. */
static bool read_proposal(const struct plan_flags *given, const struct plan_options *options,
                          struct snapshot *snapshot, const struct configmap **ret, struct err *err)
{
    if (!given->config)
        return true;
    if (!input_add_file(snapshot, given->config, err))
        return false;
    snapshot_seal(snapshot);
    struct source_choice any_namespace = { .name = options->config.name };
    const struct source_choice *choice =
        snapshot->lists[SNAPSHOT_CONFIGMAP].count > 1 ? &options->config : &any_namespace;
    return source_find(snapshot, choice, ret, err) &&
           (*ret || err_set(err, ERR_INVALID, "%s holds no ConfigMap " STR_FMT, given->config,
                            STR_ARG(options->config.name)));
}

/* --- the command ----------------------------------------------------------------- */

static void take_warnings(struct snapshot *to, const struct snapshot *from)
{
    for (size_t i = 0; i < from->warning_count; i++)
        snapshot_warn(to, from->warnings[i].object, from->warnings[i].path, from->warnings[i].value,
                      from->warnings[i].message);
}

static int plan_and_write(const struct koordctl_env *env, struct snapshot *snapshot,
                          const struct plan_options *options, const struct form *form)
{
    struct err err = ERR_INIT;
    struct plan plan;
    if (!plan_make(snapshot, options, &plan, &err))
        return koordctl_fail(env, "plan", &err);
    form->write(env->out, &plan);
    int code = plan.state == COLOCATION_REJECTED ? KOORDCTL_REFUSED : KOORDCTL_OK;
    plan_done(&plan);
    return code;
}

static int run(const struct koordctl_env *env, const struct plan_flags *given)
{
    struct err err = ERR_INIT;
    struct plan_options options = { 0 };
    CLEANUP(snapshot_done) struct snapshot snapshot;
    CLEANUP(snapshot_done) struct snapshot proposal;
    snapshot_init(&snapshot);
    snapshot_init(&proposal);
    const struct form *form = find_form(given->output, &err);
    if (!form || !read_options(env, given, &options, &err) ||
        !read_snapshot(env, given, &options, &snapshot, &err) ||
        !read_proposal(given, &options, &proposal, &options.proposed, &err) ||
        !source_check_data(options.proposed ? &proposal : &snapshot, options.config.name, &err))
        return koordctl_fail(env, "plan", &err);
    take_warnings(&snapshot, &proposal);
    return plan_and_write(env, &snapshot, &options, form);
}

static int help(const struct koordctl_env *env, const struct plan_flags *given)
{
    strbuf_add(env->out,
               STR("koordctl plan shows what koord-manager would write to every node, and writes nothing.\n"
                   "\n"
                   "Usage: koordctl plan [-f FILE]... [--config FILE] [FLAGS]\n"
                   "\n"
                   "Exit codes: 0 a plan was made, 1 it was made but the policy is rejected, 2 usage or "
                   "unusable input.\n"
                   "\n"));
    struct plan_flags defaults = *given;
    defaults.help = false;
    flags_help(env->out, flags, ARRAY_LEN(flags), &defaults);
    return KOORDCTL_OK;
}

int koordctl_plan(const struct koordctl_env *env, int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct plan_flags given = { .output = "table", .slo_config_name = "slo-controller-config" };
    bool ok = flags_parse(flags, ARRAY_LEN(flags), argc, argv, &given, NULL, &err);
    int code = !ok ? koordctl_fail(env, "plan", &err) : given.help ? help(env, &given) : run(env, &given);
    flag_list_done(&given.files);
    return code;
}
