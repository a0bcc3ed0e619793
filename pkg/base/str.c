#include "base/str.h"

int str_cmp(struct str a, struct str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    return true;
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends_with(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_slice(s, s.len - suffix.len, suffix.len), suffix);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.ptr[0]))
        s = str_slice(s, 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct str str_slice(struct str s, size_t start, size_t len)
{
    if (start > s.len)
        start = s.len;
    if (len > s.len - start)
        len = s.len - start;
    return (struct str){ .ptr = s.ptr ? s.ptr + start : NULL, .len = len };
}

ptrdiff_t str_find_byte(struct str s, char byte)
{
    const char *found = s.len ? memchr(s.ptr, byte, s.len) : NULL;
    return found ? found - s.ptr : -1;
}

bool str_cut(struct str s, char separator, struct str *before, struct str *after)
{
    ptrdiff_t at = str_find_byte(s, separator);
    if (at < 0) {
        *before = s;
        *after = STR_NULL;
        return false;
    }
    *before = str_slice(s, 0, (size_t)at);
    *after = str_slice(s, (size_t)at + 1, s.len);
    return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    bool negative = str_starts_with(s, STR("-"));
    if (negative || str_starts_with(s, STR("+")))
        s = str_slice(s, 1, s.len);
    if (str_empty(s))
        return false;

    int64_t value = 0; /* gathered below zero, where there is room for INT64_MIN */
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, s.ptr[i] - '0', &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *ret = negative ? value : -value;
    return true;
}

static bool is_continuation(struct str s, size_t i)
{
    return i < s.len && ((unsigned char)s.ptr[i] & 0xC0) == 0x80;
}

size_t str_utf8_len(struct str s)
{
    if (str_empty(s))
        return 0;
    unsigned char first = (unsigned char)s.ptr[0];
    if (first < 0x80)
        return 1;
    size_t len = first >= 0xC2 && first <= 0xDF   ? 2
                 : (first & 0xF0) == 0xE0         ? 3
                 : first >= 0xF0 && first <= 0xF4 ? 4
                                                  : 0;
    if (len == 0)
        return 0;
    for (size_t i = 1; i < len; i++)
        if (!is_continuation(s, i))
            return 0;

    unsigned char second = (unsigned char)s.ptr[1];
    bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool too_large = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || too_large ? 0 : len;
}

bool str_is_utf8(struct str s)
{
    while (s.len) {
        size_t len = str_utf8_len(s);
        if (len == 0)
            return false;
        s = str_slice(s, len, s.len);
    }
    return true;
}

uint64_t str_hash(struct str s)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

char *str_dup_c(struct str s)
{
    char *copy = mem_alloc(s.len + 1);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}
