#include "base/flags.h"
#include "command.h"
#include "input.h"
#include "validate.h"

struct validate_flags {
    struct flag_list files;
    const char *old;
    const char *output;
    const char *config_namespace;
    const char *slo_config_name;
    bool need_names;
    bool help;
};

static const struct flag flags[] = {
    FLAG_LIST(
        struct validate_flags, files, "filename", 'f', "FILE",
        "the ConfigMap, and the Nodes it is judged against if any: YAML or JSON; - is standard input; may be "
        "repeated"),
    FLAG_STR(struct validate_flags, old, "old", "FILE",
             "the ConfigMap as it is now: keys that do not change are not judged"),
    { .name = "output",
      .type = FLAG_TYPE_STR,
      .offset = offsetof(struct validate_flags, output),
      .value_name = "table|json",
      .help = "form of the output",
      .shorthand = 'o' },
    FLAG_STR(struct validate_flags, config_namespace, "config-namespace", "NAMESPACE",
             "namespace of the policy ConfigMap; without it any"),
    FLAG_STR(struct validate_flags, slo_config_name, "slo-config-name", "NAME",
             "name of the policy ConfigMap"),
    FLAG_BOOL(struct validate_flags, need_names, "node-strategy-name-need-check",
              "node entries must have unique names"),
    { .name = "help",
      .type = FLAG_TYPE_BOOL,
      .offset = offsetof(struct validate_flags, help),
      .help = "this text",
      .shorthand = 'h' },
};

/* What does not decide the verdict is told beside it. */
static void tell(const struct koordctl_env *env, const struct snapshot *snapshot,
                 const struct validation *validation, const struct source_choice *choice)
{
    for (size_t i = 0; i < snapshot->warning_count; i++)
        strbuf_addf(env->err, "warning: " STR_FMT ": " STR_FMT " " STR_FMT "\n",
                    STR_ARG(snapshot->warnings[i].object), STR_ARG(snapshot->warnings[i].path),
                    STR_ARG(snapshot->warnings[i].message));
    for (size_t i = 0; i < validation->findings.count; i++) {
        if (validation->findings.items[i].level != FINDING_WARNING)
            continue;
        strbuf_add(env->err, STR("warning: "));
        finding_write(env->err, &validation->findings.items[i]);
        strbuf_addc(env->err, '\n');
    }
    if (!validation->judged)
        strbuf_addf(
            env->err,
            "note: nothing was judged: no ConfigMap among the inputs is named " STR_FMT "%s" STR_FMT "\n",
            STR_ARG(choice->name), str_empty(choice->ns) ? "" : " in namespace ", STR_ARG(choice->ns));
}

static bool read_inputs(const struct validate_flags *given, struct snapshot *snapshot, struct snapshot *old,
                        struct err *err)
{
    if (given->files.count == 0)
        return err_set(err, ERR_INVALID, "nothing to judge: give the ConfigMap with -f");
    for (size_t i = 0; i < given->files.count; i++)
        if (!input_add_file(snapshot, given->files.items[i], err))
            return false;
    if (given->old && !input_add_file(old, given->old, err))
        return false;
    snapshot_seal(snapshot);
    snapshot_seal(old);
    return true;
}

static int run(const struct koordctl_env *env, const struct validate_flags *given)
{
    struct err err = ERR_INIT;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(snapshot_done) struct snapshot snapshot;
    CLEANUP(snapshot_done) struct snapshot old;
    snapshot_init(&snapshot);
    snapshot_init(&old);
    struct source_choice choice = { str_c(given->slo_config_name), str_c(given->config_namespace) };
    struct validation validation;
    bool json = strcmp(given->output, "json") == 0;
    if (!json && strcmp(given->output, "table") != 0)
        err_set(&err, ERR_INVALID, "--output %s: must be table or json", given->output);
    if (err.kind != ERR_NONE || !read_inputs(given, &snapshot, &old, &err) ||
        !source_check_data(&snapshot, choice.name, &err) ||
        !validate_make(&snapshot, given->old ? &old : NULL, &choice, given->need_names, &arena, &validation,
                       &err))
        return koordctl_fail(env, "validate", &err);
    tell(env, &snapshot, &validation, &choice);
    if (json) {
        json_write_pretty(env->out, validation_to_json(&validation, &arena));
        strbuf_addc(env->out, '\n');
    } else {
        validation_table(env->out, &validation);
    }
    return validation.allowed ? KOORDCTL_OK : KOORDCTL_REFUSED;
}

static int help(const struct koordctl_env *env, const struct validate_flags *given)
{
    strbuf_add(env->out, STR("koordctl validate judges a policy ConfigMap as admission would.\n"
                             "\n"
                             "Usage: koordctl validate -f FILE... [--old FILE] [FLAGS]\n"
                             "\n"
                             "Exit codes: 0 allowed, 1 refused, 2 usage or unusable input.\n"
                             "\n"));
    struct validate_flags defaults = *given;
    defaults.help = false;
    flags_help(env->out, flags, ARRAY_LEN(flags), &defaults);
    return KOORDCTL_OK;
}

int koordctl_validate(const struct koordctl_env *env, int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct validate_flags given = { .output = "table", .slo_config_name = "slo-controller-config" };
    bool ok = flags_parse(flags, ARRAY_LEN(flags), argc, argv, &given, NULL, &err);
    int code = !ok ? koordctl_fail(env, "validate", &err) : given.help ? help(env, &given) : run(env, &given);
    flag_list_done(&given.files);
    return code;
}
