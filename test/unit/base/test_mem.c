#include "base/base.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void size_zero_gives_a_pointer(void **state)
{
    (void)state;
    void *plain = mem_alloc(0), *zeroed = mem_zalloc(0), *grown = mem_realloc(NULL, 0);
    assert_non_null(plain);
    assert_non_null(zeroed);
    assert_non_null(grown);
    free(plain);
    free(zeroed);
    free(grown);
}

static void zalloc_is_zeroed(void **state)
{
    (void)state;
    static const char zeros[100];
    char *block = mem_zalloc(sizeof zeros);
    assert_memory_equal(block, zeros, sizeof zeros);
    free(block);
}

static void realloc_keeps_what_was_there(void **state)
{
    (void)state;
    char *block = mem_alloc(4);
    memcpy(block, "abc", 4);
    block = mem_realloc(block, 100000);
    assert_string_equal(block, "abc");
    free(block);
}

struct outer {
    int first;
    struct inner {
        int value;
    } inner;
};

static void container_of_finds_the_outer_struct(void **state)
{
    (void)state;
    struct outer outer = { 1, { 2 } };
    assert_ptr_equal(CONTAINER_OF(&outer.inner, struct outer, inner), &outer);
}

static int freed;

static void count_free(int *number)
{
    freed += *number;
}
DEFINE_CLEANUP(count_free, int)

static void cleanup_runs_when_the_scope_ends(void **state)
{
    (void)state;
    int number = 7;
    {
        CLEANUP(count_freep) int *pointer = &number;
        assert_int_equal(*pointer, 7);
        assert_int_equal(freed, 0);
    }
    assert_int_equal(freed, 7);
}

static void min_and_max_of_int64(void **state)
{
    (void)state;
    assert_int_equal(min_i64(INT64_MIN, INT64_MAX), INT64_MIN);
    assert_int_equal(max_i64(INT64_MIN, INT64_MAX), INT64_MAX);
    assert_int_equal(min_i64(3, -3), -3);
    assert_int_equal(max_i64(3, -3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_zero_gives_a_pointer),
        cmocka_unit_test(zalloc_is_zeroed),
        cmocka_unit_test(realloc_keeps_what_was_there),
        cmocka_unit_test(container_of_finds_the_outer_struct),
        cmocka_unit_test(cleanup_runs_when_the_scope_ends),
        cmocka_unit_test(min_and_max_of_int64),
    };
    return cmocka_run_group_tests_name("base/mem", tests, NULL, NULL);
}
