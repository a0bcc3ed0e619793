/* The pool of interned strings: open addressing, hashes kept beside the pointers so that
 * growing and deleting never touch the strings. */
#include "api/object.h"
#include <assert.h>
#include <stdlib.h>

struct slot {
    uint64_t hash;
    struct istr *text; /* NULL: free */
};

struct intern {
    struct slot *slots;
    size_t cap; /* a power of two */
    size_t count;
};

enum { INITIAL_SLOTS = 64 };

struct intern *intern_new(void)
{
    struct intern *pool = mem_zalloc(sizeof *pool);
    pool->cap = INITIAL_SLOTS;
    pool->slots = mem_zalloc(pool->cap * sizeof *pool->slots);
    return pool;
}

void intern_free(struct intern *pool)
{
    if (!pool)
        return;
    assert(pool->count == 0);
    free(pool->slots);
    free(pool);
}

size_t intern_count(const struct intern *pool)
{
    return pool->count;
}

/* Where the string stands, or the free slot where it would. */
static size_t find(const struct intern *pool, uint64_t hash, struct str text)
{
    size_t at = (size_t)hash & (pool->cap - 1);
    while (pool->slots[at].text) {
        if (pool->slots[at].hash == hash && str_eq(istr_str(pool->slots[at].text), text))
            break;
        at = (at + 1) & (pool->cap - 1);
    }
    return at;
}

static void grow(struct intern *pool)
{
    struct slot *old = pool->slots;
    size_t old_cap = pool->cap;
    pool->cap *= 2;
    pool->slots = mem_zalloc(pool->cap * sizeof *pool->slots);
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i].text)
            pool->slots[find(pool, old[i].hash, istr_str(old[i].text))] = old[i];
    }
    free(old);
}

const struct istr *intern_get(struct intern *pool, struct str text)
{
    uint64_t hash = str_hash(text);
    size_t at = find(pool, hash, text);
    if (pool->slots[at].text) {
        pool->slots[at].text->refs++;
        return pool->slots[at].text;
    }
    assert(text.len < UINT32_MAX);
    struct istr *made = mem_alloc(sizeof *made + text.len + 1);
    made->pool = pool;
    made->refs = 1;
    made->len = (uint32_t)text.len;
    if (text.len)
        memcpy(made->bytes, text.ptr, text.len);
    made->bytes[text.len] = '\0';
    pool->slots[at] = (struct slot){ .hash = hash, .text = made };
    if (++pool->count * 4 > pool->cap * 3)
        grow(pool);
    return made;
}

const struct istr *istr_ref(const struct istr *text)
{
    if (text)
        ((struct istr *)(uintptr_t)text)->refs++;
    return text;
}

/* Linear probing without tombstones: later members of the run move up into the hole. */
static void remove_at(struct intern *pool, size_t hole)
{
    size_t mask = pool->cap - 1;
    for (size_t at = (hole + 1) & mask; pool->slots[at].text; at = (at + 1) & mask) {
        size_t home = (size_t)pool->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        pool->slots[hole] = pool->slots[at];
        hole = at;
    }
    pool->slots[hole] = (struct slot){ 0 };
    pool->count--;
}

void istr_unref(const struct istr *text)
{
    if (!text)
        return;
    struct istr *mine = (struct istr *)(uintptr_t)text;
    assert(mine->refs > 0);
    if (--mine->refs > 0)
        return;
    struct intern *pool = mine->pool;
    remove_at(pool, find(pool, str_hash(istr_str(mine)), istr_str(mine)));
    free(mine);
}
