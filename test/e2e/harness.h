#pragma once
/* End-to-end tests: the real programs over real HTTP.
 *
 *     static void a_policy_lends(struct e2e *e2e)
 *     {
 *         e2e_serve(e2e);                              // an API server
 *         e2e_manage(e2e);                             // koord-manager against it
 *         e2e_add_node(e2e, &(struct e2e_node){ .name = "n1" });
 *         e2e_set_policy(e2e, "{\"enable\":true}");
 *         e2e_report(e2e, "n1", &(struct e2e_report){ 0 });
 *         EVENTUALLY(e2e, e2e_mid_is(e2e, "n1", 4000, 10 * GIB));
 *     }
 *
 *     static const struct e2e_test tests[] = { E2E_TEST("a policy lends", a_policy_lends), ... };
 *     int main(void) { return e2e_main("e2e/policy", tests, ARRAY_LEN(tests)); }
 *
 * A test waits for what has to come, never for time to pass. After it, every program
 * still running is asked to stop and must leave with code 0, and no sanitizer may have
 * said a word. When a test fails, the logs of its programs are printed.
 *
 * Suites run against the in-tree API server, or, where KOORD_TEST_KUBECONFIG names one,
 * against a real one that holds no nodes but ours; tests that need to control the server
 * are skipped there. KOORD_TEST_FILTER="429*" picks tests by name, KOORD_TEST_JOBS=1 runs
 * them one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "json/json.h"
#include "program.h"
#include "rest.h"

#define E2E_PROGRAMS_MAX 16
#define E2E_AGENT "koord-manager/" /* the User-Agent of what is tested begins so */
#define GIB (INT64_C(1024) * 1024 * 1024)

struct e2e {
    struct arena arena; /* lives as long as the test */
    const char *test;
    const void *row; /* of the test table; NULL: none */
    char dir[64];
    struct rest *rest;
    struct program *programs[E2E_PROGRAMS_MAX];
    size_t program_count;

    /* The server (cluster.c). */
    struct program *server;  /* NULL: none, or a real one */
    const char *url;         /* without a slash at its end */
    const char *kubeconfig;  /* what programs are given */
    const char *server_port; /* kept over restarts */
    const char *const *server_arguments;
    struct rest_credentials credentials;
    bool real;
    const char *manager_kubeconfig; /* NULL: what all programs are given */
    long audit_offset;              /* where this test begins in a real server's log */

    /* koord-manager (manager.c). */
    struct program *manager;
    const char *metrics_url;
    const char *health_url;
    int fences;

    bool passed, skipped;
};

struct e2e_test {
    const char *name;
    void (*run)(struct e2e *e2e);
    const void *row; /* becomes e2e->row: several tests of one shape */
};

/* clang-format off */
#define E2E_TEST(name_, run_) { .name = (name_), .run = (run_) }
#define E2E_ROW(name_, run_, row_) { .name = (name_), .run = (run_), .row = &(row_) }
/* clang-format on */

int e2e_main(const char *group, const struct e2e_test *tests, size_t count);

/* Ends the test as skipped. */
void e2e_skip(struct e2e *e2e, const char *reason) __attribute__((noreturn));

/* A path inside the test's own directory, in the test's arena. */
const char *e2e_path(struct e2e *e2e, const char *name);
/* Writes a file there and gives its path. */
const char *e2e_write_file(struct e2e *e2e, const char *name, struct str text);

/* Starts a program with arguments, logging to NAME.log; one name may be used again. */
struct program *e2e_start(struct e2e *e2e, const char *name, const char *path, const char *const *arguments);
/* Runs a program to its end; its exit code. *output (may be NULL) gets what it printed. */
int e2e_run(struct e2e *e2e, const char *name, const char *path, const char *const *arguments,
            struct str *output);
/* SIGTERM, and the exit code it left with. */
int e2e_stop(struct program *program);
void e2e_kill(struct program *program);

/* --- waiting ----------------------------------------------------------------------- */

/* Polls until the condition holds; fails the test after a generous time, or at once when
 * a program has died that was to run. */
#define EVENTUALLY(e2e, condition)                                                                           \
    for (struct mono_time e2e_until = e2e_deadline(); !(condition);)                                         \
    e2e_nap((e2e), e2e_until, #condition, __FILE__, __LINE__)

struct mono_time e2e_deadline(void);
void e2e_nap(struct e2e *e2e, struct mono_time until, const char *what, const char *file, int line);

/* The logs of every program, for a failure's sake. */
void e2e_print_logs(struct e2e *e2e);
