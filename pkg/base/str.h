#pragma once
/* A borrowed slice of bytes: pointer and length, passed by value. It does not own,
 * need not end with NUL and may hold NUL. {0} is the empty slice. */
#include "base/base.h"
#include <string.h>

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){ .ptr = (literal), .len = sizeof(literal) - 1 })
/* For static initialisers. */
#define STR_INIT(literal)                                                                                    \
    {                                                                                                        \
        .ptr = (literal), .len = sizeof(literal) - 1                                                         \
    }
#define STR_NULL ((struct str){ 0 })

/* printf("%.*s", STR_ARG(s)) */
#define STR_FMT "%.*s"
#define STR_ARG(s) ((int)(s).len), ((s).len ? (s).ptr : "")

static inline struct str str_c(const char *cstr)
{
    return cstr ? (struct str){ .ptr = cstr, .len = strlen(cstr) } : STR_NULL;
}

static inline bool str_empty(struct str s)
{
    return s.len == 0;
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Bytewise order; a prefix sorts first. */
int str_cmp(struct str a, struct str b);
/* ASCII letters only, which is how Go's JSON decoder is matched for field names. */
bool str_eq_nocase(struct str a, struct str b);
bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);
/* Without leading and trailing blanks (space, tab, CR, LF). */
struct str str_trim(struct str s);
/* The bytes from `start`, at most `len`; clamped to the slice. */
struct str str_slice(struct str s, size_t start, size_t len);
/* Position of the byte, or -1. */
ptrdiff_t str_find_byte(struct str s, char byte);

/* Cuts `s` at the first `separator`. Without one, *before is everything, *after is
 * empty and the answer is false. */
bool str_cut(struct str s, char separator, struct str *before, struct str *after);

/* Plain decimal, optional sign, no blanks, whole slice, checked for range. */
bool str_to_i64(struct str s, int64_t *ret) MUST_CHECK;

/* Valid UTF-8: no overlong forms, no surrogates, at most U+10FFFF. */
bool str_is_utf8(struct str s);
/* How many bytes the UTF-8 character at the front takes (1 to 4), 0 when there is no
 * valid one. */
size_t str_utf8_len(struct str s);

/* FNV-1a, 64 bits: stable across runs and machines, for spreading, not for security. */
uint64_t str_hash(struct str s);

/* A heap copy with NUL, for interfaces that insist; the caller frees it. */
char *str_dup_c(struct str s);
