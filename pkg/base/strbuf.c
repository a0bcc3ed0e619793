#include "base/strbuf.h"
#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

void strbuf_done(struct strbuf *buf)
{
    free(buf->ptr);
    *buf = STRBUF_INIT(buf->limit);
}

void strbuf_clear(struct strbuf *buf)
{
    buf->len = 0;
    buf->overflow = false;
    if (buf->ptr)
        buf->ptr[0] = '\0';
}

/* Room for `more` bytes and the NUL; false, and overflow, when the limit is in the way. */
static bool reserve(struct strbuf *buf, size_t more)
{
    if (buf->overflow || more > buf->limit - buf->len) {
        buf->overflow = true;
        return false;
    }
    size_t need = buf->len + more + 1;
    if (need <= buf->cap)
        return true;
    size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
    while (cap < need && cap <= SIZE_MAX / 2)
        cap *= 2;
    buf->cap = cap < need ? need : cap;
    buf->ptr = mem_realloc(buf->ptr, buf->cap);
    return true;
}

void strbuf_add(struct strbuf *buf, struct str text)
{
    if (!reserve(buf, text.len))
        return;
    if (text.len)
        memcpy(buf->ptr + buf->len, text.ptr, text.len);
    buf->len += text.len;
    buf->ptr[buf->len] = '\0';
}

void strbuf_addc(struct strbuf *buf, char byte)
{
    strbuf_add(buf, (struct str){ .ptr = &byte, .len = 1 });
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_addv(buf, format, args);
    va_end(args);
}

void strbuf_addv(struct strbuf *buf, const char *format, va_list args)
{
    va_list measure;
    va_copy(measure, args);
    int len = vsnprintf(NULL, 0, format, measure);
    va_end(measure);
    if (len < 0) {
        buf->overflow = true; /* longer than INT_MAX */
        return;
    }
    if (!reserve(buf, (size_t)len))
        return;
    vsnprintf(buf->ptr + buf->len, (size_t)len + 1, format, args);
    buf->len += (size_t)len;
}

const char *strbuf_cstr(const struct strbuf *buf)
{
    return buf->ptr ? buf->ptr : "";
}
