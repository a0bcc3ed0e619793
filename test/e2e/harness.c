#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS (60 * 1000)
#define STOP_MS (30 * 1000)
#define POLL_US (10 * 1000)
#define WORKERS 4 /* tests at a time: they mostly wait */
#define LOG_TAIL_BYTES ((size_t)24 * 1024)

/* --- files ------------------------------------------------------------------------- */

const char *e2e_path(struct e2e *e2e, const char *name)
{
    return arena_strf(&e2e->arena, "%s/%s", e2e->dir, name).ptr;
}

const char *e2e_write_file(struct e2e *e2e, const char *name, struct str text)
{
    const char *path = e2e_path(e2e, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text.len ? text.ptr : "", 1, text.len, file) != text.len || fclose(file) != 0)
        fail_msg("write %s: %s", path, strerror(errno));
    return path;
}

static int remove_one(const char *path, const struct stat *seen, int type, struct FTW *ftw)
{
    (void)seen, (void)type, (void)ftw;
    return remove(path);
}

/* --- programs ---------------------------------------------------------------------- */

struct program *e2e_start(struct e2e *e2e, const char *name, const char *path, const char *const *arguments)
{
    assert_true(e2e->program_count < E2E_PROGRAMS_MAX);
    const char *log = arena_strf(&e2e->arena, "%s/%zu-%s.log", e2e->dir, e2e->program_count, name).ptr;
    struct program *program = program_start(name, path, log, arguments);
    e2e->programs[e2e->program_count++] = program;
    return program;
}

int e2e_run(struct e2e *e2e, const char *name, const char *path, const char *const *arguments,
            struct str *output)
{
    struct program *program = e2e_start(e2e, name, path, arguments);
    int code = program_wait(program, PATIENCE_MS);
    if (code == PROGRAM_TIMED_OUT)
        fail_msg("%s does not end", name);
    if (output)
        *output = program_output(program, &e2e->arena);
    return code;
}

int e2e_stop(struct program *program)
{
    program_expect_end(program);
    program_signal(program, SIGCONT);
    program_signal(program, SIGTERM);
    return program_wait(program, STOP_MS);
}

void e2e_kill(struct program *program)
{
    program_expect_end(program);
    program_signal(program, SIGKILL);
    program_wait(program, STOP_MS);
}

void e2e_print_logs(struct e2e *e2e)
{
    for (size_t i = 0; i < e2e->program_count; i++) {
        struct str text = program_output(e2e->programs[i], &e2e->arena);
        size_t start = text.len > LOG_TAIL_BYTES ? text.len - LOG_TAIL_BYTES : 0;
        struct str tail = str_slice(text, start, LOG_TAIL_BYTES);
        printf("---- %s, log of %zu: %s\n" STR_FMT "\n", e2e->test, i, program_name(e2e->programs[i]),
               STR_ARG(tail));
    }
    fflush(stdout);
}

static void check_sanitizers(struct e2e *e2e)
{
    for (size_t i = 0; i < e2e->program_count; i++) {
        struct str report = program_sanitizer_report(e2e->programs[i], &e2e->arena);
        if (report.len)
            fail_msg("%s: " STR_FMT, program_name(e2e->programs[i]), STR_ARG(report));
    }
}

/* The manager first: a server that leaves before it is an outage nobody asked for. */
static void stop_all(struct e2e *e2e)
{
    for (size_t i = e2e->program_count; i-- > 0;) {
        struct program *program = e2e->programs[i];
        if (program_unexpected(program))
            fail_msg("%s ended by itself with %d", program_name(program), program_wait(program, 0));
        if (!program_running(program))
            continue;
        int code = e2e_stop(program);
        if (code != 0)
            fail_msg("%s left with %d", program_name(program), code);
    }
}

/* --- waiting ----------------------------------------------------------------------- */

struct mono_time e2e_deadline(void)
{
    return mono_add_ms(mono_now(), PATIENCE_MS);
}

void e2e_nap(struct e2e *e2e, struct mono_time until, const char *what, const char *file, int line)
{
    for (size_t i = 0; i < e2e->program_count; i++) {
        if (program_unexpected(e2e->programs[i])) {
            print_error("%s ended while the test waited for: %s\n", program_name(e2e->programs[i]), what);
            _fail(file, line);
        }
    }
    if (!mono_before(mono_now(), until)) {
        print_error("waited in vain for: %s\n", what);
        _fail(file, line);
    }
    usleep(POLL_US);
}

/* --- one test ---------------------------------------------------------------------- */

void e2e_skip(struct e2e *e2e, const char *reason)
{
    e2e->skipped = true;
    print_message("skipped, %s\n", reason);
    skip();
    abort(); /* skip() does not return */
}

struct test_state {
    const struct e2e_test *test;
    struct e2e *e2e;
};

static int set_up(void **state)
{
    struct test_state *at = *state;
    at->e2e = mem_zalloc(sizeof *at->e2e);
    at->e2e->test = at->test->name;
    at->e2e->row = at->test->row;
    snprintf(at->e2e->dir, sizeof at->e2e->dir, "%s", "/tmp/koord-e2e-XXXXXX");
    if (!mkdtemp(at->e2e->dir))
        return -1;
    at->e2e->rest = rest_new();
    return 0;
}

static void run_unit(void **state)
{
    struct test_state *at = *state;
    at->test->run(at->e2e);
    stop_all(at->e2e);
    check_sanitizers(at->e2e);
    at->e2e->passed = true;
}

static int tear_down(void **state)
{
    struct test_state *at = *state;
    struct e2e *e2e = at->e2e;
    if (!e2e->passed && !e2e->skipped)
        e2e_print_logs(e2e);
    for (size_t i = e2e->program_count; i-- > 0;)
        program_free(e2e->programs[i]);
    rest_free(e2e->rest);
    nftw(e2e->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_done(&e2e->arena);
    free(e2e);
    return 0;
}

/* --- all of them --------------------------------------------------------------------- */

static size_t worker_count(size_t tests)
{
    int64_t count = WORKERS;
    if (getenv("KOORD_TEST_JOBS") && !str_to_i64(str_c(getenv("KOORD_TEST_JOBS")), &count))
        count = 1;
    if (getenv("KOORD_TEST_KUBECONFIG"))
        count = 1; /* one cluster for all */
    return (size_t)max_i64(1, min_i64(count, (int64_t)tests));
}

/* Every `step`-th test from `first` on. */
static int run_some(const char *group, const struct e2e_test *tests, size_t count, size_t first, size_t step)
{
    struct CMUnitTest *units = mem_zalloc(count * sizeof *units);
    struct test_state *states = mem_zalloc(count * sizeof *states);
    size_t chosen = 0;
    for (size_t i = first; i < count; i += step, chosen++) {
        states[chosen].test = &tests[i];
        units[chosen] = (struct CMUnitTest){ tests[i].name, run_unit, set_up, tear_down, &states[chosen] };
    }
    cmocka_set_test_filter(getenv("KOORD_TEST_FILTER"));
    int failed = _cmocka_run_group_tests(group, units, chosen, NULL, NULL);
    free(units);
    free(states);
    return failed;
}

struct worker {
    pid_t pid;
    FILE *output;
};

/* Output is kept aside, so that what one test says stays together. */
static struct worker start_worker(const char *group, const struct e2e_test *tests, size_t count, size_t first,
                                  size_t step)
{
    struct worker worker = { .output = tmpfile() };
    pid_t parent = getpid();
    fflush(NULL);
    if (!worker.output || (worker.pid = fork()) < 0)
        abort();
    if (worker.pid > 0)
        return worker;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(fileno(worker.output), 1) < 0 || dup2(1, 2) < 0)
        abort();
    fclose(worker.output);
    exit(run_some(group, tests, count, first, step) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool finish_worker(struct worker *worker)
{
    char bytes[4096];
    size_t n;
    int status;
    bool waited = waitpid(worker->pid, &status, 0) == worker->pid;
    rewind(worker->output);
    while ((n = fread(bytes, 1, sizeof bytes, worker->output)) > 0)
        fwrite(bytes, 1, n, stdout);
    fclose(worker->output);
    return waited && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int e2e_main(const char *group, const struct e2e_test *tests, size_t count)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    size_t workers = worker_count(count);
    if (workers == 1)
        return run_some(group, tests, count, 0, 1);
    struct worker *all = mem_zalloc(workers * sizeof *all);
    bool ok = true;
    for (size_t i = 0; i < workers; i++)
        all[i] = start_worker(group, tests, count, i, workers);
    for (size_t i = 0; i < workers; i++)
        ok = finish_worker(&all[i]) && ok;
    free(all);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
