/* AUT-10: one run of a program, its limits and its end. */
#include "kube_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kube/exec_run.h"

struct run {
    struct kube_fixture *fixture;
    struct exec_run *run;
    size_t done;
    bool ok;
    struct err err;
    struct strbuf output;
};

static void on_done(void *self, struct str output, const struct err *err)
{
    struct run *run = self;
    run->done++;
    run->ok = !err;
    run->err = err ? *err : ERR_INIT;
    strbuf_add(&run->output, output);
    loop_stop(run->fixture->loop);
}

static const char *const plain_env[] = { "PATH=/usr/bin:/bin", "A=b c", NULL };

static void start(struct run *run, struct kube_fixture *fixture, const char *const *argv, int64_t timeout_ms)
{
    *run = (struct run){ .fixture = fixture, .output = STRBUF_INIT(8 << 20) };
    struct exec_run_options options = { .argv = argv,
                                        .envp = plain_env,
                                        .timeout_ms = timeout_ms,
                                        .max_output = 1 << 20,
                                        .done = on_done,
                                        .self = run };
    struct err err = ERR_INIT;
    run->run = exec_run_start(fixture->loop, &options, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(run->done, 0);
}

static void run_shell(struct run *run, struct kube_fixture *fixture, const char *script)
{
    const char *const argv[] = { "sh", "-c", script, "zero", "one two", "it's \"$HOME\" ; *", NULL };
    start(run, fixture, argv, 60000);
    RUN_UNTIL(fixture, run->done);
}

struct row {
    const char *name;
    const char *script;
    const char *want; /* the output, or the error */
    bool bad;
};

static const struct row rows[] = {
    { "t_81 arguments with blanks and quotes arrive as they are", "printf '%s|%s' \"$1\" \"$2\"",
      "one two|it's \"$HOME\" ; *", false },
    { "the environment is what was given", "printf '%s|%s' \"$A\" \"${HOME-none}\"", "b c|none", false },
    { "standard input is empty", "cat; printf end", "end", false },
    { "aut_10 it leads a process group of its own", "test $(ps -o pgid= -p $$) = $$ && printf yes", "yes",
      false },
    { "aut_10 it inherits no descriptors", "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ", false },
    { "SIGPIPE ends programs as usual", "sh -c 'kill -PIPE $$'; printf $?", "141", false },
    { "what children keep open is not waited for", "(sleep 600) & printf now", "now", false },
    { "t_81 an exit status", "printf canary; exit 3", "exit status 3", true },
    { "t_81 a signal", "printf canary; kill -9 $$", "ended by signal 9", true },
    { "t_81 two megabytes of output", "head -c 2000000 /dev/zero; sleep 600", "more than 1048576 bytes",
      true },
};

static void exec_run__row(void **state)
{
    struct kube_fixture *fixture = *state;
    const struct row *row = fixture->row;
    struct run run;
    run_shell(&run, fixture, row->script);
    if (run.ok == row->bad)
        fail_msg("%s", run.err.text);
    if (row->bad) {
        assert_non_null(strstr(run.err.text, row->want));
        assert_int_equal(run.output.len, 0);
    } else {
        assert_string_equal(strbuf_cstr(&run.output), row->want);
    }
    strbuf_done(&run.output);
}

static void exec_run__the_largest_output_that_fits(void **state)
{
    struct kube_fixture *fixture = *state;
    struct run run;
    run_shell(&run, fixture, "head -c 1048576 /dev/zero");
    assert_string_equal(run.err.text, "");
    assert_int_equal(run.output.len, 1048576);
    strbuf_done(&run.output);
}

static bool exists(struct str pid)
{
    int64_t number;
    return str_to_i64(str_trim(pid), &number) && kill((pid_t)number, 0) == 0;
}

static struct str written(struct kube_fixture *fixture, const char *name, struct strbuf *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(scratch_path(&fixture->dir, name), "re");
    if (file) {
        ssize_t len = getline(&text, &size, file);
        strbuf_clear(out);
        strbuf_add(out, (struct str){ .ptr = text, .len = len > 0 ? (size_t)len : 0 });
        fclose(file);
    }
    free(text);
    return strbuf_str(out);
}

static void exec_run__t_81_what_hangs_is_killed_with_its_children(void **state)
{
    struct kube_fixture *fixture = *state;
    struct run run;
    CLEANUP(strbuf_done) struct strbuf pid = STRBUF_INIT(64);
    struct str script = arena_strf(&fixture->arena, "trap '' TERM; sh -c 'echo $$ > %s; exec sleep 600'",
                                   scratch_path(&fixture->dir, "pid"));
    const char *const argv[] = { "sh", "-c", script.ptr, NULL };
    start(&run, fixture, argv, 1500);
    RUN_UNTIL(fixture, run.done);
    assert_non_null(strstr(run.err.text, "not done after 1 s"));
    /* Children are reaped by whoever adopts them, a little later. */
    assert_false(str_empty(written(fixture, "pid", &pid)));
    RUN_UNTIL(fixture, !exists(strbuf_str(&pid)));
    strbuf_done(&run.output);
}

static void exec_run__cancelling_kills_and_reaps(void **state)
{
    struct kube_fixture *fixture = *state;
    struct run run;
    CLEANUP(strbuf_done) struct strbuf pid = STRBUF_INIT(64);
    struct str script =
        arena_strf(&fixture->arena, "echo $$ > %s; exec sleep 600", scratch_path(&fixture->dir, "pid"));
    const char *const argv[] = { "sh", "-c", script.ptr, NULL };
    start(&run, fixture, argv, 60000);
    RUN_UNTIL(fixture, str_ends_with(written(fixture, "pid", &pid), STR("\n")));
    assert_true(exists(strbuf_str(&pid)));
    exec_run_cancel(run.run);
    assert_false(exists(strbuf_str(&pid)));
    kube_fixture_settle(fixture);
    assert_int_equal(run.done, 0);
    strbuf_done(&run.output);
}

static void exec_run__a_program_that_is_not_there(void **state)
{
    struct kube_fixture *fixture = *state;
    static const char *const names[] = { "koord-no-such-program", "/no/such/program" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *const argv[] = { names[i], NULL };
        struct exec_run_options options = { .argv = argv, .envp = plain_env, .timeout_ms = 1000 };
        struct err err = ERR_INIT;
        assert_null(exec_run_start(fixture->loop, &options, &err));
        assert_int_equal(err.kind, ERR_NOT_FOUND);
    }
}

static const struct row *next_row = rows;

static int setup_row(void **state)
{
    int code = kube_fixture_setup_plain(state);
    ((struct kube_fixture *)*state)->row = next_row++;
    return code;
}

#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, kube_fixture_setup_plain, kube_fixture_teardown)

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 4];
    size_t count = 0;
    for (; count < ARRAY_LEN(rows); count++)
        tests[count] =
            (struct CMUnitTest){ rows[count].name, exec_run__row, setup_row, kube_fixture_teardown, NULL };
    const struct CMUnitTest others[] = {
        RUN_TEST(exec_run__the_largest_output_that_fits),
        RUN_TEST(exec_run__t_81_what_hangs_is_killed_with_its_children),
        RUN_TEST(exec_run__cancelling_kills_and_reaps),
        RUN_TEST(exec_run__a_program_that_is_not_there),
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        tests[count++] = others[i];
    return cmocka_run_group_tests_name("kube/exec_run", tests, NULL, NULL);
}
