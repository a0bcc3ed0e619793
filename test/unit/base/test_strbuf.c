#include "base/strbuf.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void an_empty_buffer_reads_as_empty(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(10);
    assert_string_equal(strbuf_cstr(&buf), "");
    assert_true(str_empty(strbuf_str(&buf)));
}

static void pieces_are_appended_and_end_with_nul(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(1000);
    strbuf_add(&buf, STR("node"));
    strbuf_addc(&buf, ' ');
    strbuf_addf(&buf, "%s=%d", "n", 5);
    assert_string_equal(strbuf_cstr(&buf), "node n=5");
    assert_int_equal(buf.len, 8);
    assert_false(buf.overflow);
}

static void embedded_nul_counts(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(10);
    strbuf_add(&buf, STR("a\0b"));
    assert_true(str_eq(strbuf_str(&buf), STR("a\0b")));
}

static void the_limit_itself_fits(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(4);
    strbuf_add(&buf, STR("abcd"));
    assert_false(buf.overflow);
    strbuf_add(&buf, STR_NULL);
    assert_false(buf.overflow);
    strbuf_addc(&buf, 'e');
    assert_true(buf.overflow);
    assert_string_equal(strbuf_cstr(&buf), "abcd");
}

static void after_overflow_nothing_is_added(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(6);
    strbuf_add(&buf, STR("abc"));
    strbuf_addf(&buf, "%d", 123456);
    assert_true(buf.overflow);
    strbuf_addc(&buf, 'd');
    strbuf_addf(&buf, "%d", 1);
    assert_string_equal(strbuf_cstr(&buf), "abc");
    assert_true(buf.overflow);
}

static void a_limit_of_zero_takes_nothing(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(0);
    strbuf_add(&buf, STR(""));
    assert_false(buf.overflow);
    strbuf_addc(&buf, 'x');
    assert_true(buf.overflow);
    assert_string_equal(strbuf_cstr(&buf), "");
}

static void clear_forgets_text_and_overflow_but_keeps_the_limit(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(3);
    strbuf_add(&buf, STR("abc"));
    strbuf_addc(&buf, 'd');
    strbuf_clear(&buf);
    assert_false(buf.overflow);
    assert_string_equal(strbuf_cstr(&buf), "");
    strbuf_add(&buf, STR("xyz"));
    assert_string_equal(strbuf_cstr(&buf), "xyz");
    strbuf_addc(&buf, 'd');
    assert_true(buf.overflow);
}

static void done_leaves_a_usable_empty_buffer(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(30);
    strbuf_add(&buf, STR("abc"));
    strbuf_done(&buf);
    assert_string_equal(strbuf_cstr(&buf), "");
    strbuf_add(&buf, STR("again"));
    assert_string_equal(strbuf_cstr(&buf), "again");
}

static void it_grows_byte_by_byte_and_at_once(void **state)
{
    (void)state;
    static char large[100000];
    memset(large, 'y', sizeof large);
    CLEANUP(strbuf_done) struct strbuf buf = STRBUF_INIT(SIZE_MAX);
    for (int i = 0; i < 1000; i++)
        strbuf_addc(&buf, 'x');
    strbuf_add(&buf, (struct str){ large, sizeof large });
    assert_int_equal(buf.len, 101000);
    assert_int_equal(buf.ptr[999], 'x');
    assert_int_equal(buf.ptr[1000], 'y');
    assert_int_equal(buf.ptr[101000], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_reads_as_empty),
        cmocka_unit_test(pieces_are_appended_and_end_with_nul),
        cmocka_unit_test(embedded_nul_counts),
        cmocka_unit_test(the_limit_itself_fits),
        cmocka_unit_test(after_overflow_nothing_is_added),
        cmocka_unit_test(a_limit_of_zero_takes_nothing),
        cmocka_unit_test(clear_forgets_text_and_overflow_but_keeps_the_limit),
        cmocka_unit_test(done_leaves_a_usable_empty_buffer),
        cmocka_unit_test(it_grows_byte_by_byte_and_at_once),
    };
    return cmocka_run_group_tests_name("base/strbuf", tests, NULL, NULL);
}
