#include "base/arena.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Under AddressSanitizer the unused part of a block is poisoned and allocations stand
 * apart, so an overrun inside an arena is found like one on the heap. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(ptr, size) ASAN_POISON_MEMORY_REGION((ptr), (size))
#define UNPOISON(ptr, size) ASAN_UNPOISON_MEMORY_REGION((ptr), (size))
#define RED_ZONE 16
#else
#define POISON(ptr, size) ((void)(ptr), (void)(size))
#define UNPOISON(ptr, size) ((void)(ptr), (void)(size))
#define RED_ZONE 0
#endif

#define ALIGNMENT alignof(max_align_t)
#define FIRST_BLOCK ((size_t)4 * 1024)
#define LARGEST_BLOCK ((size_t)64 * 1024)

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    size_t used; /* of data; a multiple of ALIGNMENT */
    size_t last; /* where the most recent allocation begins */
    alignas(max_align_t) char data[];
};

/* The room `size` bytes take in a block, or 0 when the sum does not fit a size_t. */
static size_t footprint(size_t size)
{
    size_t sum;
    if (__builtin_add_overflow(size ? size : 1, ALIGNMENT - 1 + RED_ZONE, &sum))
        return 0;
    return sum & ~(ALIGNMENT - 1);
}

static struct arena_block *block_new(size_t size)
{
    size_t total;
    if (size == 0 || __builtin_add_overflow(size, sizeof(struct arena_block), &total))
        total = SIZE_MAX; /* mem_alloc reports it and aborts */
    struct arena_block *block = mem_alloc(total);
    *block = (struct arena_block){ .size = size };
    POISON(block->data, size);
    return block;
}

static void block_free(struct arena_block *block)
{
    UNPOISON(block->data, block->size);
    free(block);
}

void arena_done(struct arena *arena)
{
    for (struct arena_block *block = arena->head, *next; block; block = next) {
        next = block->next;
        block_free(block);
    }
    *arena = ARENA_INIT;
}

void arena_clear(struct arena *arena)
{
    struct arena_block *kept = NULL;
    for (struct arena_block *block = arena->head, *next; block; block = next) {
        next = block->next;
        /* One huge exchange must not pin its memory for good. */
        if (block->size <= LARGEST_BLOCK && (!kept || block->size > kept->size)) {
            struct arena_block *smaller = kept;
            kept = block;
            block = smaller;
        }
        if (block)
            block_free(block);
    }
    if (kept) {
        kept->next = NULL;
        kept->used = kept->last = 0;
        POISON(kept->data, kept->size);
    }
    *arena = (struct arena){ .head = kept };
}

static struct arena_block *block_with_room(struct arena *arena, size_t need)
{
    struct arena_block *head = arena->head;
    if (head && need != 0 && head->size - head->used >= need)
        return head;

    size_t usual = FIRST_BLOCK;
    if (head)
        usual = head->size < LARGEST_BLOCK / 2 ? head->size * 2 : LARGEST_BLOCK;
    if (head && (need == 0 || need > usual / 4)) {
        /* A large piece gets a block of its own behind the head, whose rest stays usable. */
        struct arena_block *own = block_new(need);
        own->next = head->next;
        head->next = own;
        return own;
    }
    struct arena_block *block = block_new(need > usual || need == 0 ? need : usual);
    block->next = head;
    arena->head = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t need = footprint(size);
    struct arena_block *block = block_with_room(arena, need);
    char *ptr = block->data + block->used;
    block->last = block->used;
    block->used += need;
    arena->used += size;
    UNPOISON(ptr, size);
    if (size)
        memset(ptr, 0, size);
    return ptr;
}

static bool grow_in_place(struct arena_block *head, const void *old, size_t old_size, size_t new_size)
{
    if (!head || head->used == 0 || old != head->data + head->last)
        return false;
    size_t need = footprint(new_size);
    if (need == 0 || head->size - head->last < need)
        return false;
    char *ptr = head->data + head->last;
    head->used = head->last + need;
    UNPOISON(ptr, new_size);
    memset(ptr + old_size, 0, new_size - old_size);
    return true;
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size)
{
    if (old && new_size <= old_size)
        return old;
    if (old && grow_in_place(arena->head, old, old_size, new_size)) {
        arena->used += new_size - old_size;
        return old;
    }
    void *grown = arena_alloc(arena, new_size);
    if (old && old_size)
        memcpy(grown, old, old_size);
    return grown;
}

struct str arena_str(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return (struct str){ .ptr = copy, .len = text.len };
}

struct str arena_strf(struct arena *arena, const char *format, ...)
{
    char usual[256]; /* most texts are short: formatted once, then copied */
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(usual, sizeof usual, format, args);
    if (len < 0)
        abort(); /* only a broken format or a text beyond INT_MAX gets here */
    struct str text = { .ptr = usual, .len = (size_t)len };
    if (text.len < sizeof usual) {
        text = arena_str(arena, text);
    } else {
        char *copy = arena_alloc(arena, text.len + 1);
        vsnprintf(copy, text.len + 1, format, again);
        text.ptr = copy;
    }
    va_end(again);
    va_end(args);
    return text;
}
