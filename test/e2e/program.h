#pragma once
/* One of our programs as a child process. Output goes to a log file; a child never
 * outlives the test. Trouble with the harness itself aborts: no test can go on then. */
#include <sys/types.h>

#include "base/arena.h"

struct program;

/* `arguments` without the program's own name, ending with NULL. Everything is copied. */
struct program *program_start(const char *name, const char *path, const char *log_path,
                              const char *const *arguments);
/* Kills it if it still runs; NULL is fine. */
void program_free(struct program *program);

const char *program_name(const struct program *program);
bool program_running(struct program *program);
void program_signal(struct program *program, int signal); /* nothing once it has ended */

#define PROGRAM_TIMED_OUT (-1)
/* Waits at most that long: its exit code, 128 + the signal that ended it, or
 * PROGRAM_TIMED_OUT. */
int program_wait(struct program *program, int64_t timeout_ms);
/* It is meant to end, or to be killed: program_unexpected stops caring about its end. */
void program_expect_end(struct program *program);
/* Ended although nobody asked for it. */
bool program_unexpected(struct program *program);

/* Everything it has printed so far, standard output and error together. */
struct str program_output(const struct program *program, struct arena *arena);
bool program_logged(const struct program *program, const char *text);
size_t program_count_logged(const struct program *program, const char *text);
/* The line in which a sanitizer complains, in the arena, or the empty slice. */
struct str program_sanitizer_report(const struct program *program, struct arena *arena);
