#pragma once
/* koordctl without a terminal: arguments in, texts and an exit code out. */
#include "base/clock.h"
#include "plan.h"

enum koordctl_exit {
    KOORDCTL_OK = 0,
    KOORDCTL_REFUSED = 1,  /* the plan stands but its config was rejected; the ConfigMap is refused */
    KOORDCTL_UNUSABLE = 2, /* usage or input */
};

/* What `plan` needs to read a cluster instead of files. */
struct koordctl_live {
    const char *kubeconfig; /* NULL: as kubectl would choose */
    const char *context;    /* NULL: the current one */
    struct source_choice config;
};

struct koordctl_env {
    struct strbuf *out; /* standard output */
    struct strbuf *err; /* standard error */
    struct wall_time now;
    /* Fills an initialised snapshot and settles config->ns, telling `err_text` what it chose.
     * NULL: this build cannot reach a cluster. */
    bool (*load_live)(struct koordctl_live *live, struct snapshot *snapshot, struct strbuf *err_text,
                      struct err *err);
};

/* argv[0] is the program, argv[1] the subcommand. */
int koordctl_run(const struct koordctl_env *env, int argc, char **argv);

/* The subcommands; argv[0] is the subcommand. */
int koordctl_plan(const struct koordctl_env *env, int argc, char **argv);
int koordctl_validate(const struct koordctl_env *env, int argc, char **argv);

/* "koordctl NAME: ERROR" on env->err; KOORDCTL_UNUSABLE. */
int koordctl_fail(const struct koordctl_env *env, const char *name, const struct err *err);

/* Appends what no limit may silently cut: large outputs are the normal case. */
#define KOORDCTL_OUTPUT_MAX ((size_t)2 << 30)
