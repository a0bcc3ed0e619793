/* koordctl: what a policy would do, before it does. */
#include "command.h"
#include "kube/core_dump.h"
#include "live.h"
#include <signal.h>
#include <stdio.h>

static void flush(FILE *stream, struct strbuf *text)
{
    if (text->len > 0)
        fwrite(text->ptr, 1, text->len, stream);
}

int main(int argc, char **argv)
{
    core_dump_off();
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(KOORDCTL_OUTPUT_MAX);
    CLEANUP(strbuf_done) struct strbuf err = STRBUF_INIT(KOORDCTL_OUTPUT_MAX);
    struct koordctl_env env = { .out = &out, .err = &err, .now = wall_now(), .load_live = live_load };
    int code = koordctl_run(&env, argc, argv);
    signal(SIGPIPE, SIG_DFL); /* the loop ignores it; a reader that had enough ends us quietly */
    flush(stderr, &err);
    flush(stdout, &out);
    if (out.overflow || fflush(stdout) != 0 || ferror(stdout)) {
        fputs("koordctl: cannot write the output\n", stderr);
        return KOORDCTL_UNUSABLE;
    }
    return code;
}
