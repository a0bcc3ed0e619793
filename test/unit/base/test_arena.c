#include "base/arena.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdalign.h>

static int setup(void **state)
{
    static struct arena arena;
    arena = ARENA_INIT;
    *state = &arena;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    return 0;
}

static bool all_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static void size_zero_gives_distinct_pointers(void **state)
{
    const char *a = arena_alloc(*state, 0), *b = arena_alloc(*state, 0);
    assert_non_null(a);
    assert_ptr_not_equal(a, b);
}

static void every_size_is_zeroed_and_aligned(void **state)
{
    struct arena *arena = *state;
    size_t total = 0;
    for (size_t size = 1; size < 300; size++) {
        char *ptr = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)ptr % alignof(max_align_t), 0);
        assert_true(all_zero(ptr, size));
        memset(ptr, 0xAA, size);
        total += size;
    }
    assert_int_equal(arena->used, total);
}

static void large_pieces_leave_the_current_block_usable(void **state)
{
    struct arena *arena = *state;
    char *small = arena_alloc(arena, 16);
    char *large = arena_alloc(arena, 1000000);
    char *next = arena_alloc(arena, 16);
    memset(large, 1, 1000000);
    assert_true(next > small && next - small < 100);
    assert_true(all_zero(small, 16) && all_zero(next, 16));
}

static void a_first_piece_may_be_large(void **state)
{
    char *large = arena_alloc(*state, 300000);
    assert_true(all_zero(large, 300000));
    char *next = arena_alloc(*state, 100);
    assert_true(all_zero(next, 100));
}

static void clear_reuses_memory_and_zeroes_it(void **state)
{
    struct arena *arena = *state;
    char *first = arena_alloc(arena, 64);
    memset(first, 0xFF, 64);
    arena_clear(arena);
    assert_int_equal(arena->used, 0);
    char *again = arena_alloc(arena, 64);
    assert_ptr_equal(again, first);
    assert_true(all_zero(again, 64));
}

static void clear_after_many_blocks_keeps_working(void **state)
{
    struct arena *arena = *state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2000; i++)
            memset(arena_alloc(arena, 200), 1, 200);
        memset(arena_alloc(arena, 5000000), 1, 5000000);
        arena_clear(arena);
        assert_true(all_zero(arena_alloc(arena, 3000), 3000));
    }
}

static void clear_of_an_empty_arena_is_fine(void **state)
{
    arena_clear(*state);
    assert_non_null(arena_alloc(*state, 1));
}

static void grow_of_the_latest_piece_stays_in_place(void **state)
{
    struct arena *arena = *state;
    char *old = arena_alloc(arena, 10);
    memset(old, 'x', 10);
    char *grown = arena_grow(arena, old, 10, 100);
    assert_ptr_equal(grown, old);
    assert_memory_equal(grown, "xxxxxxxxxx", 10);
    assert_true(all_zero(grown + 10, 90));
    assert_int_equal(arena->used, 100);
    char *after = arena_alloc(arena, 10);
    assert_true(after >= grown + 100);
}

static void grow_of_an_earlier_piece_moves(void **state)
{
    struct arena *arena = *state;
    char *old = arena_alloc(arena, 10);
    memset(old, 'x', 10);
    char *between = arena_alloc(arena, 10);
    char *grown = arena_grow(arena, old, 10, 20);
    assert_ptr_not_equal(grown, old);
    assert_memory_equal(grown, "xxxxxxxxxx", 10);
    assert_true(all_zero(grown + 10, 10) && all_zero(between, 10));
}

static void grow_from_nothing_and_to_less(void **state)
{
    struct arena *arena = *state;
    char *first = arena_grow(arena, NULL, 0, 8);
    assert_true(all_zero(first, 8));
    assert_ptr_equal(arena_grow(arena, first, 8, 4), first);
    assert_ptr_equal(arena_grow(arena, first, 8, 8), first);
}

static void an_array_grown_item_by_item_keeps_its_items(void **state)
{
    struct arena *arena = *state;
    int64_t *items = NULL;
    for (size_t n = 0; n < 5000; n++) {
        items = arena_grow(arena, items, n * sizeof *items, (n + 1) * sizeof *items);
        assert_int_equal(items[n], 0);
        items[n] = (int64_t)n;
    }
    for (size_t n = 0; n < 5000; n++)
        assert_int_equal(items[n], n);
}

static void new_and_array_are_typed_and_zeroed(void **state)
{
    struct arena *arena = *state;
    int64_t *one = arena_new(arena, int64_t), *many = arena_array(arena, int64_t, 10);
    assert_int_equal(*one, 0);
    assert_int_equal(many[9], 0);
}

static void str_is_a_copy_with_nul(void **state)
{
    char original[] = "a\0b";
    struct str copy = arena_str(*state, (struct str){ original, 3 });
    original[0] = 'z';
    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.ptr, "a\0b", 4);
    struct str empty = arena_str(*state, STR_NULL);
    assert_int_equal(empty.len, 0);
    assert_string_equal(empty.ptr, "");
}

static void strf_formats_short_and_long_texts(void **state)
{
    struct str text = arena_strf(*state, "%d-%s", 42, "x");
    assert_string_equal(text.ptr, "42-x");
    assert_int_equal(text.len, 4);
    for (int width = 250; width < 262; width++) {
        text = arena_strf(*state, "%*d", width, 7);
        assert_int_equal(text.len, width);
        assert_int_equal(text.ptr[width - 1], '7');
        assert_int_equal(text.ptr[width], '\0');
    }
}

#define ARENA_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(size_zero_gives_distinct_pointers),
        ARENA_TEST(every_size_is_zeroed_and_aligned),
        ARENA_TEST(large_pieces_leave_the_current_block_usable),
        ARENA_TEST(a_first_piece_may_be_large),
        ARENA_TEST(clear_reuses_memory_and_zeroes_it),
        ARENA_TEST(clear_after_many_blocks_keeps_working),
        ARENA_TEST(clear_of_an_empty_arena_is_fine),
        ARENA_TEST(grow_of_the_latest_piece_stays_in_place),
        ARENA_TEST(grow_of_an_earlier_piece_moves),
        ARENA_TEST(grow_from_nothing_and_to_less),
        ARENA_TEST(an_array_grown_item_by_item_keeps_its_items),
        ARENA_TEST(new_and_array_are_typed_and_zeroed),
        ARENA_TEST(str_is_a_copy_with_nul),
        ARENA_TEST(strf_formats_short_and_long_texts),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
