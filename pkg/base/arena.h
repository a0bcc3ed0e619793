#pragma once
/* Memory with one lifetime: a reconcile, an HTTP exchange, a watch event.
 *
 *     CLEANUP(arena_done) struct arena arena = ARENA_INIT;
 *     struct thing *thing = arena_new(&arena, struct thing);
 *
 * Nothing in an arena is freed alone; arena_done or arena_clear frees everything.
 * Allocation never returns NULL: inputs are bounded by whoever reads them. */
#include "base/base.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used; /* bytes handed out since init or clear */
};

#define ARENA_INIT ((struct arena){ 0 })

void arena_done(struct arena *arena);

/* Forgets everything handed out but keeps one block for reuse. */
void arena_clear(struct arena *arena);

/* Zeroed, aligned for any type. Size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));

/* Grows an array in place where possible; the new part is zeroed, the old part copied. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size)
    __attribute__((returns_nonnull));

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (count)))

/* A copy that ends with the arena; NUL-terminated behind its length. */
struct str arena_str(struct arena *arena, struct str text);
struct str arena_strf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
