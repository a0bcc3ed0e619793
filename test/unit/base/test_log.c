#include "base/log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORD_MAX (16 * 1024)

struct seen {
    struct strbuf line; /* the latest */
    int count;
};

static void remember(void *self, struct str line)
{
    struct seen *seen = self;
    strbuf_clear(&seen->line);
    strbuf_add(&seen->line, line);
    seen->count++;
}

static int setup(void **state)
{
    static struct seen seen;
    seen = (struct seen){ .line = STRBUF_INIT(1024 * 1024) };
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
    log_capture(remember, &seen);
    *state = &seen;
    return 0;
}

static int setup_json(void **state)
{
    setup(state);
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_INFO);
    return 0;
}

static int teardown(void **state)
{
    struct seen *seen = *state;
    log_capture(NULL, NULL);
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
    strbuf_done(&seen->line);
    return 0;
}

/* The record from its message on. */
static const char *from_message(const struct seen *seen)
{
    const char *message = strstr(strbuf_cstr(&seen->line), "] \"");
    if (!message)
        message = strstr(strbuf_cstr(&seen->line), "\"msg\":");
    assert_non_null(message);
    return message[0] == ']' ? message + 2 : message;
}

static void text_header_has_level_date_time_and_place(void **state)
{
    struct seen *seen = *state;
    log_write(LOG_LEVEL_WARN, "controller.c", 12, "hello", NULL, 0);
    /* W0724 08:00:00.000000 controller.c:12] "hello" */
    const char *pattern = "Wdddd dd:dd:dd.dddddd controller.c:12] \"hello\"";
    assert_int_equal(seen->line.len, strlen(pattern));
    for (size_t i = 0; pattern[i]; i++) {
        char c = seen->line.ptr[i];
        if (pattern[i] == 'd' && i < 22)
            assert_in_range(c, '0', '9');
        else
            assert_int_equal(c, pattern[i]);
    }
}

static void text_levels_have_letters(void **state)
{
    struct seen *seen = *state;
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_DEBUG);
    LOG_ERROR("x");
    assert_int_equal(seen->line.ptr[0], 'E');
    LOG_WARN("x");
    assert_int_equal(seen->line.ptr[0], 'W');
    LOG_INFO("x");
    assert_int_equal(seen->line.ptr[0], 'I');
    LOG_DEBUG("x");
    assert_int_equal(seen->line.ptr[0], 'D');
}

static void macros_name_the_file_without_its_folder(void **state)
{
    struct seen *seen = *state;
    LOG_INFO("x");
    assert_non_null(strstr(strbuf_cstr(&seen->line), " test_log.c:"));
}

static void text_fields_are_key_value(void **state)
{
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "no \"such\" thing");
    LOG_INFO("policy accepted", LOG_S("configmap", STR("a/b")), LOG_I("nodes", -3), LOG_ERR(&err));
    assert_string_equal(from_message(*state),
                        "\"policy accepted\" configmap=\"a/b\" nodes=-3 err=\"no \\\"such\\\" thing\"");
}

static void text_stays_one_line_for_any_bytes(void **state)
{
    LOG_INFO("a\nb", LOG_S("k", STR("\t\r\\\x01\x7F\xFF \xC3\xBC \xED\xA0\x80\0")));
    assert_string_equal(from_message(*state),
                        "\"a\\nb\" k=\"\\t\\r\\\\\\x01\\x7f\\xff \xC3\xBC \\xed\\xa0\\x80\\x00\"");
}

static void lower_levels_are_silent_and_cost_nothing(void **state)
{
    struct seen *seen = *state;
    int evaluated = 0;
    LOG_DEBUG("x", LOG_I("n", ++evaluated));
    assert_int_equal(seen->count, 0);
    assert_int_equal(evaluated, 0);
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_ERROR);
    LOG_WARN("x");
    assert_int_equal(seen->count, 0);
    LOG_ERROR("x");
    assert_int_equal(seen->count, 1);
}

static void json_record_has_ts_level_caller_msg_and_fields(void **state)
{
    struct seen *seen = *state;
    log_write(LOG_LEVEL_ERROR, "file.c", 12, "hello",
              (const struct log_field[]){ LOG_C("a", "b"), LOG_I("n", INT64_MIN) }, 2);
    const char *text = strbuf_cstr(&seen->line);
    assert_memory_equal(text, "{\"ts\":1", 7);
    const char *after = text + 6 + strspn(text + 6, "0123456789.");
    assert_string_equal(after, ",\"level\":\"error\",\"caller\":\"file.c:12\",\"msg\":\"hello\","
                               "\"a\":\"b\",\"n\":-9223372036854775808}");
}

static void mgr_12_json_escapes_any_bytes(void **state)
{
    LOG_INFO("a\"b\\", LOG_S("k\n", STR("\n\r\t\x01\0\xFF|\xC0\x80|\xED\xA0\x80|\xC3\xBC|\x7F")));
    assert_string_equal(from_message(*state),
                        "\"msg\":\"a\\\"b\\\\\",\"k\\n\":\"\\n\\r\\t\\u0001\\u0000\xEF\xBF\xBD|"
                        "\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xC3\xBC|\\u007f\"}");
}

static void null_texts_are_empty(void **state)
{
    LOG_INFO("m", LOG_C("c", NULL), LOG_S("s", STR_NULL));
    assert_string_equal(from_message(*state), "\"msg\":\"m\",\"c\":\"\",\"s\":\"\"}");
}

/* Every way a record can be cut: `fill` bytes in the first field, more behind it. */
static void cut_at(const struct seen *seen, size_t fill, bool json)
{
    static char bytes[RECORD_MAX + 100];
    memset(bytes, 'x', sizeof bytes);
    log_write(LOG_LEVEL_INFO, "f.c", 1, "m",
              (const struct log_field[]){ LOG_S("a", ((struct str){ bytes, fill })),
                                          LOG_S("bb", STR("\n\"\xFF\xF0\x9F\x98\x80y")), LOG_I("n", 1234567),
                                          LOG_C("last", "z") },
              4);
    assert_true(seen->line.len < RECORD_MAX); /* the newline is still to come */
    const char *text = strbuf_cstr(&seen->line);
    bool whole = strstr(text, json ? "\"last\":\"z\"}" : "last=\"z\"") != NULL;
    struct str end = json ? STR(",\"truncated\":true}") : STR(" truncated=true");
    assert_int_equal(str_ends_with(strbuf_str(&seen->line), end), !whole);
    assert_true(str_is_utf8(strbuf_str(&seen->line)));

    size_t quotes = 0; /* balanced, so no string was left open */
    for (size_t i = 0; i < seen->line.len; i++) {
        if (text[i] == '\\')
            i++;
        else
            quotes += text[i] == '"';
    }
    assert_int_equal(quotes % 2, 0);
}

static void mgr_12_text_is_cut_at_16_kib_and_marked(void **state)
{
    for (size_t fill = RECORD_MAX - 250; fill < RECORD_MAX + 50; fill++)
        cut_at(*state, fill, false);
}

static void mgr_12_json_is_cut_at_16_kib_and_stays_valid(void **state)
{
    for (size_t fill = RECORD_MAX - 250; fill < RECORD_MAX + 50; fill++)
        cut_at(*state, fill, true);
}

static void a_cut_message_is_marked_too(void **state)
{
    struct seen *seen = *state;
    char *message = malloc(RECORD_MAX * 2);
    memset(message, 'm', RECORD_MAX * 2 - 1);
    message[RECORD_MAX * 2 - 1] = '\0';
    log_write(LOG_LEVEL_INFO, "f.c", 1, message, (const struct log_field[]){ LOG_I("n", 1) }, 1);
    free(message);
    assert_true(str_ends_with(strbuf_str(&seen->line), STR("mm\",\"truncated\":true}")));
    assert_true(seen->line.len < RECORD_MAX);
    assert_true(seen->line.len > RECORD_MAX - 100);
}

static void standard_error_gets_one_line(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_capture(NULL, NULL);
    LOG_INFO("hello", LOG_I("n", 1));
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    char text[256];
    ssize_t len = read(ends[0], text, sizeof text);
    close(ends[0]);
    assert_true(len > 0);
    struct str line = { text, (size_t)len };
    assert_true(str_ends_with(line, STR("] \"hello\" n=1\n")));
    assert_int_equal(str_find_byte(line, '\n'), len - 1);
}

static void a_full_pipe_drops_instead_of_blocking_forever(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_capture(NULL, NULL);
    for (int i = 0; i < 5000; i++)
        LOG_INFO("a record of some length so that the pipe fills", LOG_I("n", i));
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_true(file_read(path, &text, NULL));
    close(ends[0]);
    assert_true(str_ends_with(strbuf_str(&text), STR("\n"))); /* no record was cut */
    assert_non_null(strstr(strbuf_cstr(&text), "n=0\n"));
    assert_null(strstr(strbuf_cstr(&text), "n=4999\n"));
}

#define TEXT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define JSON_TEST(name) cmocka_unit_test_setup_teardown(name, setup_json, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEXT_TEST(text_header_has_level_date_time_and_place),
        TEXT_TEST(text_levels_have_letters),
        TEXT_TEST(macros_name_the_file_without_its_folder),
        TEXT_TEST(text_fields_are_key_value),
        TEXT_TEST(text_stays_one_line_for_any_bytes),
        TEXT_TEST(lower_levels_are_silent_and_cost_nothing),
        JSON_TEST(json_record_has_ts_level_caller_msg_and_fields),
        JSON_TEST(mgr_12_json_escapes_any_bytes),
        JSON_TEST(null_texts_are_empty),
        TEXT_TEST(mgr_12_text_is_cut_at_16_kib_and_marked),
        JSON_TEST(mgr_12_json_is_cut_at_16_kib_and_stays_valid),
        JSON_TEST(a_cut_message_is_marked_too),
        TEXT_TEST(standard_error_gets_one_line),
        TEXT_TEST(a_full_pipe_drops_instead_of_blocking_forever),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
