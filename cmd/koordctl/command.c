#include "command.h"

static int help(const struct koordctl_env *env, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    strbuf_add(env->out, STR("koordctl shows what a colocation policy does before it does it.\n"
                             "\n"
                             "Usage: koordctl COMMAND [FLAGS]\n"
                             "\n"
                             "Commands:\n"
                             "  plan      what koord-manager would write to every node\n"
                             "  validate  whether a policy ConfigMap may be written\n"
                             "  version   the version of this program\n"
                             "  help      this text\n"
                             "\n"
                             "koordctl COMMAND --help tells the flags of a command.\n"));
    return KOORDCTL_OK;
}

static int version(const struct koordctl_env *env, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    strbuf_add(env->out, STR("koordctl " KOORD_VERSION "\n"));
    return KOORDCTL_OK;
}

static const struct command {
    const char *name;
    int (*run)(const struct koordctl_env *env, int argc, char **argv);
} commands[] = {
    { "plan", koordctl_plan },
    { "validate", koordctl_validate },
    { "version", version },
    { "--version", version },
    { "help", help },
    { "--help", help },
    { "-h", help },
};

int koordctl_fail(const struct koordctl_env *env, const char *name, const struct err *err)
{
    strbuf_addf(env->err, "koordctl %s: %s\n", name, err->text);
    return KOORDCTL_UNUSABLE;
}

int koordctl_run(const struct koordctl_env *env, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(env, argc - 1, argv + 1);
    if (argc > 1)
        strbuf_addf(env->err, "koordctl: unknown command %s; try koordctl help\n", argv[1]);
    else
        strbuf_add(env->err, STR("koordctl: no command; try koordctl help\n"));
    return KOORDCTL_UNUSABLE;
}
