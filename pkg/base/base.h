#pragma once
/* Words every folder uses. Nothing here knows about JSON, HTTP or Kubernetes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

/* The result decides what happens next; ignoring it is a bug. */
#define MUST_CHECK __attribute__((warn_unused_result))

#define PRINTF_LIKE(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))

/* CLEANUP(fn) declares that fn(&variable) runs when the variable leaves scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* DEFINE_CLEANUP(thing_free, struct thing) makes thing_freep for use with CLEANUP. */
#define DEFINE_CLEANUP(fn, type)                                                                             \
    __attribute__((unused)) static inline void fn##p(type **pointer)                                         \
    {                                                                                                        \
        fn(*pointer);                                                                                        \
    }

/* The object that contains `member` at `pointer`. */
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A number that may be unset. Unset and zero differ wherever settings merge. */
struct opt_i64 {
    bool set;
    int64_t value;
};

struct opt_bool {
    bool set;
    bool value;
};

/* malloc family that aborts when memory is out: an untested error branch is not
 * safety, and the process runs supervised. Too *big* is an error; out of memory is not. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *ptr, size_t size) __attribute__((returns_nonnull));
