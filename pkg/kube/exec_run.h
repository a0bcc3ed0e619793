#pragma once
/* One run of a program whose standard output is wanted: spawned from an argument vector
 * without a shell, in a process group of its own, watched by the loop, bounded in time
 * and output, always reaped. Standard input is empty, standard error is ours. */
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct exec_run;

struct exec_run_options {
    const char *const *argv; /* a name without a slash is looked up in PATH; borrowed */
    const char *const *envp; /* borrowed until exec_run_start returned, like argv */
    int64_t timeout_ms;
    size_t max_output;
    /* Once, from the loop, unless cancelled; the run is gone after it. `output` is
     * borrowed, and wiped afterwards. Any ending but exit status 0 is an error. */
    void (*done)(void *self, struct str output, const struct err *err);
    void *self;
};

/* NULL with err: nothing was started; ERR_NOT_FOUND: there is no such program. */
struct exec_run *exec_run_start(struct loop *loop, const struct exec_run_options *options, struct err *err);
/* Kills the whole group; no callback fires any more. NULL is fine. */
void exec_run_cancel(struct exec_run *run);
