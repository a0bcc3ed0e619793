#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>

static void *checked(void *ptr)
{
    if (!ptr) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return ptr;
}

/* malloc(0) may answer NULL; one byte keeps "never NULL" true. */
static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

void *mem_alloc(size_t size)
{
    return checked(malloc(at_least_one(size)));
}

void *mem_zalloc(size_t size)
{
    return checked(calloc(1, at_least_one(size)));
}

void *mem_realloc(void *ptr, size_t size)
{
    return checked(realloc(ptr, at_least_one(size)));
}
