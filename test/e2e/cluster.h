#pragma once
/* The API server behind a test, and what it saw. */
#include "harness.h"

/* Starts the in-tree server with its control endpoint and our CRDs, or takes the real one
 * of KOORD_TEST_KUBECONFIG. Further flags make the in-tree one a must: elsewhere the test
 * is skipped. */
#define e2e_serve(e2e, ...) e2e_serve_with((e2e), (const char *const[]){ NULL, ##__VA_ARGS__, NULL })
/* The array's first element is not looked at; the list ends with NULL. */
void e2e_serve_with(struct e2e *e2e, const char *const *flags);
/* The test controls the server, so it has to be ours. */
void e2e_need_control(struct e2e *e2e);
/* Whether it is known what was asked: ours tells, and a real one with an audit log. */
bool e2e_has_log(const struct e2e *e2e);
void e2e_need_log(struct e2e *e2e);
/* Our server again, on the same port with the same flags. */
void e2e_serve_again(struct e2e *e2e);

/* --- objects ----------------------------------------------------------------------- */

/* One request with a formatted path; fails the test when there is no answer. */
struct rest_answer e2e_call(struct e2e *e2e, const char *method, const char *content_type, struct str body,
                            const char *path, ...) PRINTF_LIKE(5, 6);
/* The object, or NULL for 404. Anything else than these fails the test. */
const struct json *e2e_get(struct e2e *e2e, const char *path, ...) PRINTF_LIKE(2, 3);
/* Merge patch that has to succeed; `body` is JSON with ' instead of ". */
void e2e_patch(struct e2e *e2e, const char *path, const char *body, ...) PRINTF_LIKE(3, 4);
void e2e_delete(struct e2e *e2e, const char *path, ...) PRINTF_LIKE(2, 3);

/* Text with ' turned into ", in the arena: JSON that can be read in a C file. */
struct str e2e_json(struct e2e *e2e, const char *format, ...) PRINTF_LIKE(2, 3);

/* --- trouble ----------------------------------------------------------------------- */

/* POST /-/control/NAME */
void e2e_control(struct e2e *e2e, const char *name);
/* Scripts a fault (test/apiserver/faults.h), JSON with ' instead of ". Gives its id. */
int64_t e2e_fault(struct e2e *e2e, const char *format, ...) PRINTF_LIKE(2, 3);
int64_t e2e_fault_hits(struct e2e *e2e, int64_t id);
void e2e_clear_faults(struct e2e *e2e);
/* How many watches are open. */
int64_t e2e_watches(struct e2e *e2e);

/* --- what was asked ---------------------------------------------------------------- */

struct e2e_request {
    int64_t id;
    struct wall_time time;
    struct str method, path, query, user, agent, content_type, body;
    int64_t code;
};

struct e2e_requests {
    struct e2e_request *items;
    size_t count;
};

/* Everything the manager asked for after the request `since`, oldest first. */
struct e2e_requests e2e_requests(struct e2e *e2e, int64_t since);
/* Of those, the writes; Events, leases and what concerns fence nodes (manager.h) left out. */
struct e2e_requests e2e_writes(struct e2e *e2e, int64_t since);
/* The id of the newest request there is: "since now". */
int64_t e2e_mark(struct e2e *e2e);
struct wall_time e2e_request_time(struct e2e *e2e, int64_t id);

/* Those of one method (NULL: any) whose path fits a shell pattern; * stays within one part. */
struct e2e_requests e2e_select(struct e2e *e2e, struct e2e_requests all, const char *method,
                               const char *pattern);
bool e2e_succeeded(const struct e2e_request *request);
/* Fails the test if the same write succeeded twice. */
void e2e_assert_no_repeat(struct e2e_requests writes);
/* There were just so many writes since then; prints them if not. */
void e2e_assert_writes(struct e2e *e2e, int64_t since, size_t count);
/* For messages: every line "PATCH path code body". */
void e2e_print_requests(struct e2e_requests requests);

#define NODE_STATUS_PATH "/api/v1/nodes/*/status"
#define NODEMETRIC_PATH "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
