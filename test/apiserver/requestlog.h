#pragma once
/* Who asked for what and what they got: the last requests in memory and, if wished,
 * every one as a JSON line in a file. */
#include "test/apiserver/apiserver.h"

struct as_request_log;

/* `path` NULL: no file. NULL with err when the file cannot be opened. */
struct as_request_log *as_request_log_new(const char *path, struct err *err);
void as_request_log_free(struct as_request_log *log); /* NULL is fine */

/* Copies the draft, gives it an id, returns the id. */
int64_t as_request_log_add(struct as_request_log *log, const struct apiserver_request *draft);
/* The entry to be completed; NULL when forgotten meanwhile. */
struct apiserver_request *as_request_log_find(struct as_request_log *log, int64_t id);
/* Writes the entry's line to the file; `phase` "start" or "end" of a stream, or NULL. */
void as_request_log_write(struct as_request_log *log, const struct apiserver_request *entry,
                          const char *phase);

size_t as_request_log_count(const struct as_request_log *log);
struct apiserver_request *as_request_log_at(const struct as_request_log *log, size_t index);
void as_request_log_clear(struct as_request_log *log);
/* The entry as one JSON object, without newline. */
void as_request_log_format(struct strbuf *out, const struct apiserver_request *entry, const char *phase);
