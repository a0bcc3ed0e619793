#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define MAX_LOG_BYTES ((size_t)256 * 1024 * 1024)
#define POLL_US 2000

struct program {
    char *name;
    char *log_path;
    pid_t pid;
    bool ended;
    bool end_expected;
    int code; /* once ended */
};

static void die(const char *what)
{
    fprintf(stderr, "e2e harness: %s: %s\n", what, strerror(errno));
    abort();
}

/* Proxies, kubeconfigs and homes of whoever runs the tests must not matter. */
static void clear_environment(void)
{
    static const char *const names[] = { "KUBECONFIG",  "KUBERNETES_SERVICE_HOST",
                                         "http_proxy",  "https_proxy",
                                         "HTTPS_PROXY", "ALL_PROXY",
                                         "all_proxy",   "POD_NAMESPACE" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    setenv("HOME", "/nonexistent", 1);
    setenv("TZ", "UTC", 1);
}

static void become(const char *path, char *const *argv, const char *log_path, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(125);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    clear_environment();
    execv(path, argv);
    _exit(127);
}

struct program *program_start(const char *name, const char *path, const char *log_path,
                              const char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **argv = mem_zalloc((count + 2) * sizeof *argv);
    argv[0] = str_dup_c(str_c(name));
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = str_dup_c(str_c(arguments[i]));

    struct program *program = mem_zalloc(sizeof *program);
    program->name = str_dup_c(str_c(name));
    program->log_path = str_dup_c(str_c(log_path));
    unlink(log_path); /* of an earlier program under that name */
    pid_t self = getpid();
    program->pid = fork();
    if (program->pid < 0)
        die("fork");
    if (program->pid == 0)
        become(path, argv, log_path, self);
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
    return program;
}

static void reap(struct program *program, int flags)
{
    int status;
    if (program->ended || waitpid(program->pid, &status, flags) != program->pid)
        return;
    program->ended = true;
    program->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void program_free(struct program *program)
{
    if (!program)
        return;
    program_signal(program, SIGKILL);
    reap(program, 0);
    free(program->name);
    free(program->log_path);
    free(program);
}

const char *program_name(const struct program *program)
{
    return program->name;
}

bool program_running(struct program *program)
{
    reap(program, WNOHANG);
    return !program->ended;
}

void program_signal(struct program *program, int signal)
{
    if (program_running(program))
        kill(program->pid, signal);
}

int program_wait(struct program *program, int64_t timeout_ms)
{
    struct mono_time until = mono_add_ms(mono_now(), timeout_ms);
    program->end_expected = true;
    while (program_running(program)) {
        if (!mono_before(mono_now(), until))
            return PROGRAM_TIMED_OUT;
        usleep(POLL_US);
    }
    return program->code;
}

void program_expect_end(struct program *program)
{
    program->end_expected = true;
}

bool program_unexpected(struct program *program)
{
    return !program_running(program) && !program->end_expected;
}

struct str program_output(const struct program *program, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(MAX_LOG_BYTES);
    struct err err = ERR_INIT;
    if (!file_read(program->log_path, &text, &err))
        return STR_NULL; /* not opened by the child yet */
    return arena_str(arena, strbuf_str(&text));
}

size_t program_count_logged(const struct program *program, const char *text)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str output = program_output(program, &arena);
    size_t count = 0, len = strlen(text);
    for (const char *at = output.ptr;
         at && (at = memmem(at, output.len - (size_t)(at - output.ptr), text, len)); at += len)
        count++;
    return count;
}

bool program_logged(const struct program *program, const char *text)
{
    return program_count_logged(program, text) > 0;
}

struct str program_sanitizer_report(const struct program *program, struct arena *arena)
{
    static const char *const signs[] = { "ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                         "runtime error:", "AddressSanitizer:DEADLYSIGNAL",
                                         "WARNING: ThreadSanitizer" };
    struct str rest = program_output(program, arena), line;
    while (rest.len) {
        str_cut(rest, '\n', &line, &rest);
        for (size_t i = 0; i < ARRAY_LEN(signs); i++)
            if (line.len && memmem(line.ptr, line.len, signs[i], strlen(signs[i])))
                return line;
    }
    return STR_NULL;
}
