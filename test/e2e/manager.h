#pragma once
/* koord-manager under test, and koordctl. */
#include "harness.h"

/* Starts it against the server with further flags. Ends with whatever ran before still
 * running: stop the old one first. */
#define e2e_manage(e2e, ...) e2e_manage_with((e2e), (const char *const[]){ NULL, ##__VA_ARGS__, NULL })
void e2e_manage_with(struct e2e *e2e, const char *const *flags);
/* Its caches are filled: /readyz says 200. */
bool e2e_ready(struct e2e *e2e);
int e2e_health_code(struct e2e *e2e, const char *path);

/* The value of one series as /metrics writes it, `name{label="value"}`; 0 when absent. */
double e2e_metric(struct e2e *e2e, const char *series);

/* Returns once everything that the server has told the manager so far is dealt with: a
 * node that is created now has got its NodeMetric, no key waits or is being worked on, and
 * the cache shows every write. Needs a policy in force. */
void e2e_settle(struct e2e *e2e);

/* `koordctl plan -o json` with further flags; it must end with `code`. */
#define e2e_plan(e2e, code, ...)                                                                             \
    e2e_plan_with((e2e), (code), (const char *const[]){ NULL, ##__VA_ARGS__, NULL })
/* The plan has nothing left to do: every key is as planned and every NodeMetric stands. */
bool e2e_is_as_planned(struct e2e *e2e);
const struct json *e2e_plan_with(struct e2e *e2e, int code, const char *const *flags);
