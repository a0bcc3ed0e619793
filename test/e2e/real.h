#pragma once
/* A real API server in the place of ours. */
#include "harness.h"

/* Takes the server of the kubeconfig's current context, after making it as empty as a new
 * one. The manager runs with the rights of KOORD_TEST_MANAGER_KUBECONFIG, if there is one,
 * so that whatever it lacks is missed. Refuses a cluster with a Node that is not ours (label koord-e2e). */
void real_cluster_take(struct e2e *e2e, const char *kubeconfig);
/* Ours carry it; a JSON member for e2e_json. */
#define REAL_NODE_LABEL "'koord-e2e':'true'"
