#pragma once
/* A growing text with a limit.
 *
 *     CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64 * 1024);
 *     strbuf_addf(&out, "node %s", name);
 *     if (out.overflow) ...
 *
 * Adding past the limit adds nothing and sets `overflow`, which stays set and refuses
 * every later addition, so a writer checks once at the end and what is there is a
 * beginning without gaps. The text is always NUL-terminated; what is added may not be
 * part of the buffer itself. */
#include "base/base.h"
#include "base/str.h"
#include <stdarg.h>

struct strbuf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t limit;
    bool overflow;
};

#define STRBUF_INIT(max_bytes) ((struct strbuf){ .limit = (max_bytes) })

void strbuf_done(struct strbuf *buf);
/* Empty again, memory kept, overflow forgotten. */
void strbuf_clear(struct strbuf *buf);

void strbuf_add(struct strbuf *buf, struct str text);
void strbuf_addc(struct strbuf *buf, char byte);
void strbuf_addf(struct strbuf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void strbuf_addv(struct strbuf *buf, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Borrowed; valid until the next call that changes the buffer. */
static inline struct str strbuf_str(const struct strbuf *buf)
{
    return (struct str){ .ptr = buf->ptr, .len = buf->len };
}
const char *strbuf_cstr(const struct strbuf *buf);
