#include "base/err.h"
#include "base/str.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

const char *err_kind_name(enum err_kind kind)
{
    static const char *const names[] = {
        [ERR_NONE] = "none",       [ERR_NOT_FOUND] = "not_found", [ERR_CONFLICT] = "conflict",
        [ERR_INVALID] = "invalid", [ERR_TRANSIENT] = "transient", [ERR_FATAL] = "fatal",
    };
    return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

/* A text cut in the middle of a UTF-8 character would be refused by the API server. */
static void drop_half_character(char *text, size_t len)
{
    size_t start = len;
    while (start > 0 && len - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    start--;
    if ((unsigned char)text[start] >= 0xC0 && str_utf8_len((struct str){ text + start, len - start }) == 0)
        text[start] = '\0';
}

/* Writes at text[at..]; returns the new length. */
static size_t append_v(char *text, size_t size, size_t at, const char *format, va_list args)
{
    int len = vsnprintf(text + at, size - at, format, args);
    if (len < 0) {
        text[at] = '\0';
        return at;
    }
    if ((size_t)len < size - at)
        return at + (size_t)len;
    drop_half_character(text, size - 1);
    return strlen(text);
}

static size_t append(char *text, size_t size, size_t at, const char *format, ...) PRINTF_LIKE(4, 5);
static size_t append(char *text, size_t size, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t len = append_v(text, size, at, format, args);
    va_end(args);
    return len;
}

/* The arguments may point into err->text, hence the detour through `text`. */
static bool fill(struct err *err, enum err_kind kind, const char *tail, const char *format, va_list args)
{
    if (!err)
        return false;
    char text[sizeof err->text];
    size_t len = append_v(text, sizeof text, 0, format, args);
    if (tail)
        append(text, sizeof text, len, ": %s", tail);
    err->kind = kind;
    memcpy(err->text, text, sizeof text);
    return false;
}

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, kind, NULL, format, args);
    va_end(args);
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    fill(err, err->kind, err->text, format, args);
    va_end(args);
    return false;
}

bool err_errno(struct err *err, const char *format, ...)
{
    int number = errno;
    va_list args;
    va_start(args, format);
    fill(err, number == ENOENT ? ERR_NOT_FOUND : ERR_TRANSIENT, strerror(number), format, args);
    va_end(args);
    return false;
}
