#pragma once
/* Read your own writes (REF-18): what was written last for a key, until the cache shows
 * it. Deciding before that would decide on the past and write the same thing again. Pure. */
#include "api/kind.h"
#include "base/clock.h"
#include "kube/store.h"

struct write;
struct expectations;

struct expectations *expectations_new(void);
void expectations_free(struct expectations *expected); /* NULL is fine */

/* A write for `key` succeeded; `body` is the server's answer. Answers without a usable
 * resourceVersion set nothing. */
void expectations_set(struct expectations *expected, struct str key, const struct write *write,
                      struct str body, struct mono_time now);

/* The kind whose store must catch up before the key is decided again; NULL: none. */
const struct kube_kind *expectations_kind(const struct expectations *expected, struct str key);

/* True once `store` shows the write (or something newer), or after 10 s: then the cache
 * is trusted again, whatever it says. Forgets what is met. */
bool expectations_met(struct expectations *expected, struct str key, const struct store *store,
                      struct mono_time now);
/* When to ask again if no event comes first. */
int64_t expectations_recheck_ms(const struct expectations *expected, struct str key, struct mono_time now);
/* How many writes the cache has not shown yet. */
size_t expectations_count(const struct expectations *expected);
