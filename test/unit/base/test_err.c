#include "base/err.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include <errno.h>
#include <string.h>

static void set_fills_kind_and_text_and_answers_false(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_false(err_set(&err, ERR_CONFLICT, "node %s, version %d", "n1", 7));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_string_equal(err.text, "node n1, version 7");
}

static void null_is_fine_everywhere(void **state)
{
    (void)state;
    assert_false(err_set(NULL, ERR_INVALID, "x"));
    assert_false(err_wrap(NULL, "x"));
    errno = EACCES;
    assert_false(err_errno(NULL, "x"));
}

static void wrap_puts_context_in_front_and_keeps_the_kind(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, ERR_NOT_FOUND, "no such thing");
    assert_false(err_wrap(&err, "read %s", "/etc/x"));
    assert_false(err_wrap(&err, "start"));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "start: read /etc/x: no such thing");
}

static void arguments_may_come_from_the_error_itself(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "abc");
    err_set(&err, ERR_FATAL, "<%s>", err.text);
    assert_string_equal(err.text, "<abc>");
    err_wrap(&err, "(%s)", err.text);
    assert_string_equal(err.text, "(<abc>): <abc>");
}

static void errno_enoent_is_not_found(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    errno = ENOENT;
    assert_false(err_errno(&err, "open %s", "f"));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "open f: No such file or directory");
}

static void errno_of_other_numbers_is_transient(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    errno = ECONNREFUSED;
    err_errno(&err, "connect");
    assert_int_equal(err.kind, ERR_TRANSIENT);
    assert_string_equal(err.text, "connect: Connection refused");
}

static void long_texts_are_cut_and_end_with_nul(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "%*d", 5000, 1);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_wrap(&err, "context");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "context: ", 9);
    err_wrap(&err, "%*d", 5000, 1);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void cutting_never_leaves_half_a_character(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    for (int shift = 0; shift < 5; shift++) {
        CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(2000);
        strbuf_add(&text, str_slice(STR("abcde"), 0, (size_t)shift));
        for (int i = 0; i < 100; i++)
            strbuf_add(&text, STR("\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"));
        err_set(&err, ERR_INVALID, "%s", strbuf_cstr(&text));
        assert_true(str_is_utf8(str_c(err.text)));
        assert_true(strlen(err.text) > sizeof err.text - 5);
    }
}

static void kind_names(void **state)
{
    (void)state;
    assert_string_equal(err_kind_name(ERR_NONE), "none");
    assert_string_equal(err_kind_name(ERR_NOT_FOUND), "not_found");
    assert_string_equal(err_kind_name(ERR_CONFLICT), "conflict");
    assert_string_equal(err_kind_name(ERR_INVALID), "invalid");
    assert_string_equal(err_kind_name(ERR_TRANSIENT), "transient");
    assert_string_equal(err_kind_name(ERR_FATAL), "fatal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_kind_and_text_and_answers_false),
        cmocka_unit_test(null_is_fine_everywhere),
        cmocka_unit_test(wrap_puts_context_in_front_and_keeps_the_kind),
        cmocka_unit_test(arguments_may_come_from_the_error_itself),
        cmocka_unit_test(errno_enoent_is_not_found),
        cmocka_unit_test(errno_of_other_numbers_is_transient),
        cmocka_unit_test(long_texts_are_cut_and_end_with_nul),
        cmocka_unit_test(cutting_never_leaves_half_a_character),
        cmocka_unit_test(kind_names),
    };
    return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
