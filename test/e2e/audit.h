#pragma once
/* What a real server of hack/envtest was asked, from its audit log: every request but the
 * test's own, with its body, when it was answered. */
#include "cluster.h"

/* The folder that hack/envtest keeps a server in (KOORD_TEST_CLUSTER_DIR), or NULL. */
const char *audit_cluster_dir(void);
/* Forgets what was asked before. */
void audit_begin(struct e2e *e2e);
/* Everything after the request `since`; ids count from 1. */
struct e2e_requests audit_read(struct e2e *e2e, int64_t since);
