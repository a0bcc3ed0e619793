#include "kube/exec_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/crypto.h>

#include "base/file.h"
#include "base/strbuf.h"

struct exec_run {
    struct loop_timer limit;
    pid_t pid;
    int pidfd;
    int output_fd;
    struct event *exited;
    struct event *readable; /* NULL: all was read */
    struct strbuf output;
    struct err failure; /* why it was killed; ERR_NONE: it was not */
    int64_t timeout_ms;
    void (*done)(void *self, struct str output, const struct err *err);
    void *self;
};

/* --- ending ----------------------------------------------------------------------- */

/* The leader is not reaped yet, so its number cannot have become somebody else's group. */
static void kill_group(const struct exec_run *run)
{
    kill(-run->pid, SIGKILL);
}

static void drop_event(struct event **event)
{
    if (*event)
        event_free(*event);
    *event = NULL;
}

static void run_free(struct exec_run *run)
{
    drop_event(&run->exited);
    drop_event(&run->readable);
    fd_close(&run->pidfd);
    fd_close(&run->output_fd);
    loop_timer_done(&run->limit);
    if (run->output.ptr)
        OPENSSL_cleanse(run->output.ptr, run->output.cap);
    strbuf_done(&run->output);
    free(run);
}

/* Only after the leader died or was killed: does not block then. */
static int reap(const struct exec_run *run)
{
    int status = 0;
    while (waitpid(run->pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return status;
}

static bool check_status(int status, struct err *err)
{
    if (status < 0)
        return err_set(err, ERR_TRANSIENT, "its exit status was lost");
    if (WIFSIGNALED(status))
        return err_set(err, ERR_TRANSIENT, "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 || err_set(err, ERR_TRANSIENT, "exit status %d", WEXITSTATUS(status));
}

static void read_output(struct exec_run *run)
{
    char chunk[16 * 1024];
    ssize_t n;
    while ((n = read(run->output_fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            err_errno(&run->failure, "reading its output");
            break;
        }
        strbuf_add(&run->output, (struct str){ .ptr = chunk, .len = (size_t)n });
        if (run->output.overflow)
            break;
    }
    OPENSSL_cleanse(chunk, sizeof chunk);
    if (n == 0)
        drop_event(&run->readable); /* or it would be readable for ever */
    if (run->output.overflow)
        err_set(&run->failure, ERR_INVALID, "more than %zu bytes of output", run->output.limit);
    if (run->failure.kind != ERR_NONE) {
        drop_event(&run->readable);
        kill_group(run);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *self)
{
    (void)fd, (void)what;
    read_output(self);
}

/* The leader's end is the end: children that keep the pipe open are not waited for. */
static void on_exited(evutil_socket_t fd, short what, void *self)
{
    (void)fd, (void)what;
    struct exec_run *run = self;
    if (run->readable)
        read_output(run);
    kill_group(run);
    struct err err = run->failure;
    int status = reap(run);
    bool ok = err.kind == ERR_NONE && check_status(status, &err);
    drop_event(&run->exited);
    loop_timer_cancel(&run->limit);
    run->done(run->self, ok ? strbuf_str(&run->output) : STR_NULL, ok ? NULL : &err);
    run_free(run);
}

static void on_limit(void *self)
{
    struct exec_run *run = self;
    err_set(&run->failure, ERR_TRANSIENT, "not done after %lld s", (long long)(run->timeout_ms / 1000));
    kill_group(run); /* on_exited comes soon */
}

void exec_run_cancel(struct exec_run *run)
{
    if (!run)
        return;
    kill_group(run);
    reap(run);
    run_free(run);
}

/* --- starting --------------------------------------------------------------------- */

static int spawn_with(pid_t *pid, const struct exec_run_options *options, posix_spawn_file_actions_t *files,
                      posix_spawnattr_t *attr)
{
    sigset_t none, ignored;
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE); /* the loop ignores it, programs expect it */
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &ignored);
    return posix_spawnp(pid, options->argv[0], files, attr, (char *const *)(uintptr_t)options->argv,
                        (char *const *)(uintptr_t)options->envp);
}

static int spawn(pid_t *pid, const struct exec_run_options *options, int output_fd)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output_fd, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    int code = spawn_with(pid, options, &files, &attr);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static struct event *watch(struct loop *loop, int fd, event_callback_fn fn, struct exec_run *run)
{
    struct event *event = event_new(loop_event_base(loop), fd, EV_READ | EV_PERSIST, fn, run);
    if (!event || event_add(event, NULL) < 0)
        abort(); /* only when memory is out or the descriptor is not one */
    return event;
}

static bool launch(struct exec_run *run, const struct exec_run_options *options, struct err *err)
{
    CLEANUP(fd_close) int write_end = -1;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(err, "pipe");
    run->output_fd = ends[0];
    write_end = ends[1];
    fcntl(run->output_fd, F_SETFL, O_NONBLOCK);
    int code = spawn(&run->pid, options, write_end);
    if (code != 0) {
        errno = code;
        return err_errno(err, "cannot be started");
    }
    run->pidfd = pidfd_open(run->pid, 0);
    if (run->pidfd >= 0)
        return true;
    err_errno(err, "pidfd_open");
    kill_group(run);
    reap(run);
    return false;
}

struct exec_run *exec_run_start(struct loop *loop, const struct exec_run_options *options, struct err *err)
{
    struct exec_run *run = mem_zalloc(sizeof *run);
    *run = (struct exec_run){ .pidfd = -1,
                              .output_fd = -1,
                              .output = STRBUF_INIT(options->max_output),
                              .timeout_ms = options->timeout_ms,
                              .done = options->done,
                              .self = options->self };
    loop_timer_init(&run->limit, loop, on_limit, run);
    if (!launch(run, options, err)) {
        run_free(run);
        return NULL;
    }
    run->readable = watch(loop, run->output_fd, on_readable, run);
    run->exited = watch(loop, run->pidfd, on_exited, run);
    loop_timer_set(&run->limit, run->timeout_ms);
    return run;
}
