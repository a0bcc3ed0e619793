#pragma once
/* Objects on disk: an append-only journal of JSON lines, one write(2) per change, so that
 * a killed process loses nothing it has answered for (a crashed machine may). A line cut
 * short at the end is forgotten. The journal is rewritten at start and when it has grown. */
#include "test/apiserver/store.h"

struct as_persist;

/* Puts what DIR holds back into the store, then follows it. Makes DIR when missing; takes
 * a lock that ends with the process. NULL with err: unreadable, damaged, or in use. */
struct as_persist *as_persist_open(const char *dir, struct as_store *store, struct err *err);
void as_persist_free(struct as_persist *persist); /* NULL is fine */

/* One line put back into the store. ERR_INVALID when it is not one of ours. */
bool as_persist_replay(struct as_store *store, struct arena *arena, struct str line,
                       struct err *err) MUST_CHECK;
