#pragma once
/* koord-manager's parts, connected: informers feed caches and keys, controllers decide,
 * the runtime writes, as long as this process leads.
 *
 *     CLEANUP(manager_freep) struct manager *manager = manager_new(loop, &options, err);
 *     if (!manager) ...;
 *     manager_start(manager);
 *     loop_run(loop, err);
 */
#include "loop/loop.h"
#include "options.h"

struct manager;

struct manager *manager_new(struct loop *loop, const struct options *options, struct err *err);
void manager_free(struct manager *manager); /* NULL is fine */
DEFINE_CLEANUP(manager_free, struct manager)
void manager_start(struct manager *manager);
/* Lets writes in flight end (10 s at most), gives the lease back (2 s), then stops the loop. */
void manager_stop(struct manager *manager);
/* The loop was stopped because somebody else may lead now. */
bool manager_lost_lease(const struct manager *manager);
