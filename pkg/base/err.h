#pragma once
/* What went wrong: a kind for programs, a text for people.
 *
 *     struct err err = ERR_INIT;
 *     if (!file_read(path, ..., &err))
 *         return err_wrap(&err, "read %s", path);
 *
 * Every function that sets an error returns false, so failing is one line and calls
 * chain with &&. A function that fails fills `err`; one that succeeds leaves it alone.
 * Passing NULL is fine where nobody wants the text. */
#include "base/base.h"

enum err_kind {
    ERR_NONE,
    ERR_NOT_FOUND, /* the thing does not exist */
    ERR_CONFLICT,  /* somebody else changed it: read again, decide again */
    ERR_INVALID,   /* the input is wrong: trying again cannot help */
    ERR_TRANSIENT, /* may work later: back off and try again */
    ERR_FATAL,     /* the process cannot go on */
};

struct err {
    enum err_kind kind;
    char text[256];
};

#define ERR_INIT ((struct err){ 0 })

/* "invalid", "transient", ... for logs and metrics. */
const char *err_kind_name(enum err_kind kind);

bool err_set(struct err *err, enum err_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);
/* Puts "context: " in front and keeps the kind. */
bool err_wrap(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
/* From errno: ENOENT becomes ERR_NOT_FOUND, the rest ERR_TRANSIENT. */
bool err_errno(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
