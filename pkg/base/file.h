#pragma once
#include "base/err.h"
#include "base/strbuf.h"

/* Appends the whole file to `out`; larger than out->limit is ERR_INVALID, missing is
 * ERR_NOT_FOUND. "-" reads standard input. On failure `out` holds what it held before. */
bool file_read(const char *path, struct strbuf *out, struct err *err) MUST_CHECK;

/* Closes *fd unless it is negative; for CLEANUP. */
void fd_close(int *fd);
