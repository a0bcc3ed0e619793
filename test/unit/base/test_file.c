#include "base/file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A file of `size` bytes that removes itself by name at once; `path` reaches it. */
struct scratch {
    int fd;
    char path[64];
};

static struct scratch scratch_make(size_t size)
{
    struct scratch scratch;
    char name[] = "/tmp/koord-test-file-XXXXXX";
    scratch.fd = mkstemp(name);
    assert_true(scratch.fd >= 0);
    unlink(name);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(write(scratch.fd, (char[]){ (char)('a' + i % 26) }, 1), 1);
    lseek(scratch.fd, 0, SEEK_SET);
    snprintf(scratch.path, sizeof scratch.path, "/proc/self/fd/%d", scratch.fd);
    return scratch;
}

static void the_whole_file_is_appended(void **state)
{
    (void)state;
    struct scratch scratch = scratch_make(40000);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(100000);
    struct err err = ERR_INIT;
    strbuf_add(&out, STR("before "));
    assert_true(file_read(scratch.path, &out, &err));
    assert_int_equal(out.len, 40007);
    assert_memory_equal(out.ptr, "before abc", 10);
    assert_int_equal(err.kind, ERR_NONE);
    fd_close(&scratch.fd);
}

static void an_empty_file_is_fine(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10);
    assert_true(file_read("/dev/null", &out, NULL));
    assert_int_equal(out.len, 0);
}

static void a_missing_file_is_not_found(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10);
    struct err err = ERR_INIT;
    assert_false(file_read("/nonexistent/file", &out, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "open /nonexistent/file: No such file or directory");
}

static void a_directory_is_an_error(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10);
    struct err err = ERR_INIT;
    assert_false(file_read("/proc", &out, &err));
    assert_string_equal(err.text, "read /proc: Is a directory");
}

static void exactly_the_limit_fits(void **state)
{
    (void)state;
    struct scratch scratch = scratch_make(20000);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(20000);
    assert_true(file_read(scratch.path, &out, NULL));
    assert_int_equal(out.len, 20000);
    fd_close(&scratch.fd);
}

static void one_byte_more_is_invalid_and_leaves_the_buffer_alone(void **state)
{
    (void)state;
    struct scratch scratch = scratch_make(20001);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(20003);
    struct err err = ERR_INIT;
    strbuf_add(&out, STR("abc"));
    assert_false(file_read(scratch.path, &out, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_non_null(strstr(err.text, "is larger than 20003 bytes"));
    assert_string_equal(strbuf_cstr(&out), "abc");
    assert_false(out.overflow);
    fd_close(&scratch.fd);
}

static void an_endless_file_is_refused(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1000000);
    struct err err = ERR_INIT;
    assert_false(file_read("/dev/zero", &out, &err));
    assert_int_equal(err.kind, ERR_INVALID);
}

static void dash_reads_standard_input(void **state)
{
    (void)state;
    struct scratch scratch = scratch_make(100);
    int saved = dup(STDIN_FILENO);
    dup2(scratch.fd, STDIN_FILENO);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(1000);
    bool ok = file_read("-", &out, NULL);
    dup2(saved, STDIN_FILENO);
    close(saved);
    fd_close(&scratch.fd);
    assert_true(ok);
    assert_int_equal(out.len, 100);
}

static void fd_close_closes_once_and_ignores_negative(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), number = fd, none = -1;
    fd_close(&fd);
    assert_int_equal(fd, -1);
    errno = 0;
    assert_int_equal(fcntl(number, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    fd_close(&fd);
    fd_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_file_is_appended),
        cmocka_unit_test(an_empty_file_is_fine),
        cmocka_unit_test(a_missing_file_is_not_found),
        cmocka_unit_test(a_directory_is_an_error),
        cmocka_unit_test(exactly_the_limit_fits),
        cmocka_unit_test(one_byte_more_is_invalid_and_leaves_the_buffer_alone),
        cmocka_unit_test(an_endless_file_is_refused),
        cmocka_unit_test(dash_reads_standard_input),
        cmocka_unit_test(fd_close_closes_once_and_ignores_negative),
    };
    return cmocka_run_group_tests_name("base/file", tests, NULL, NULL);
}
