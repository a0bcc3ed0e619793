#include "base/flags.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"

struct options {
    bool verbose;
    int64_t workers;
    int64_t period_ns;
    const char *path;
    const char *address;
    struct flag_list files;
};

static const struct flag flags[] = {
    FLAG_STR(struct options, path, "kubeconfig", "FILE", "path of a kubeconfig"),
    FLAG_STR(struct options, address, "metrics-addr", "ADDR", "where to serve metrics"),
    FLAG_BOOL(struct options, verbose, "verbose", "say more"),
    { .name = "workers",
      .type = FLAG_TYPE_I64,
      .offset = offsetof(struct options, workers),
      .value_name = "N",
      .help = "how many",
      .min = 1 },
    FLAG_DURATION(struct options, period_ns, "sync-period", "how often"),
    FLAG_LIST(struct options, files, "filename", 'f', "FILE", "what to read"),
    { .name = "old-value", .type = FLAG_TYPE_IGNORED },
    { .name = "old-bool", .type = FLAG_TYPE_IGNORED, .value_optional = true },
};

/* What the last parse did. */
struct run {
    bool ok;
    struct options options;
    struct err err;
    struct strbuf heard; /* positional arguments and ignored flags */
};

static bool hear_positional(void *self, const char *argument, struct err *err)
{
    if (strcmp(argument, "refuse") == 0)
        return err_set(err, ERR_INVALID, "refused");
    strbuf_addf(self, "[%s]", argument);
    return true;
}

static void hear_ignored(void *self, const char *name, const char *value)
{
    strbuf_addf(self, "<%s=%s>", name, value ? value : "");
}

static int setup(void **state)
{
    static struct run run;
    run = (struct run){ .options = { .workers = 3, .path = "default" }, .heard = STRBUF_INIT(1000) };
    *state = &run;
    return 0;
}

static int teardown(void **state)
{
    struct run *run = *state;
    flag_list_done(&run->options.files);
    strbuf_done(&run->heard);
    return 0;
}

static void parse_args(struct run *run, int argc, const char **argv, bool with_handlers)
{
    struct flags_handlers handlers = { hear_positional, hear_ignored, &run->heard };
    run->err = ERR_INIT;
    run->ok = flags_parse(flags, ARRAY_LEN(flags), argc, (char **)(void *)argv, &run->options,
                          with_handlers ? &handlers : NULL, &run->err);
}

/* PARSE(run, "-a", "b") */
#define PARSE(run, ...)                                                                                      \
    parse_args((run), (int)ARRAY_LEN(((const char *[]){ "program", __VA_ARGS__ })),                          \
               (const char *[]){ "program", __VA_ARGS__ }, true)
#define PARSE_BARE(run, ...)                                                                                 \
    parse_args((run), (int)ARRAY_LEN(((const char *[]){ "program", __VA_ARGS__ })),                          \
               (const char *[]){ "program", __VA_ARGS__ }, false)

static void what_is_not_given_stays(void **state)
{
    struct run *run = *state;
    parse_args(run, 1, (const char *[]){ "program" }, false);
    assert_true(run->ok);
    assert_int_equal(run->options.workers, 3);
    assert_string_equal(run->options.path, "default");
    parse_args(run, 0, (const char *[]){ NULL }, false);
    assert_true(run->ok);
}

static void one_and_two_dashes_equals_and_space(void **state)
{
    static const char *const forms[][2] = {
        { "-kubeconfig=x", NULL },
        { "--kubeconfig=x", NULL },
        { "-kubeconfig", "x" },
        { "--kubeconfig", "x" },
    };
    struct run *run = *state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        run->options.path = "";
        parse_args(run, forms[i][1] ? 3 : 2, (const char *[]){ "program", forms[i][0], forms[i][1] }, false);
        assert_true(run->ok);
        assert_string_equal(run->options.path, "x");
    }
}

static void the_last_one_wins(void **state)
{
    struct run *run = *state;
    PARSE(run, "--workers=5", "--workers", "7");
    assert_true(run->ok);
    assert_int_equal(run->options.workers, 7);
}

static void a_value_may_be_empty_hold_equals_or_look_like_a_flag(void **state)
{
    struct run *run = *state;
    PARSE(run, "--kubeconfig=", "--metrics-addr", "--verbose");
    assert_true(run->ok);
    assert_string_equal(run->options.path, "");
    assert_string_equal(run->options.address, "--verbose");
    assert_false(run->options.verbose);
    PARSE(run, "--kubeconfig=a=b");
    assert_string_equal(run->options.path, "a=b");
}

static void bool_takes_no_following_value(void **state)
{
    struct run *run = *state;
    PARSE(run, "--verbose", "false");
    assert_true(run->ok && run->options.verbose);
    assert_string_equal(strbuf_cstr(&run->heard), "[false]");
}

static void bool_knows_the_words_of_go(void **state)
{
    static const char *const yes[] = { "1", "t", "T", "true", "True", "TRUE" };
    static const char *const no[] = { "0", "f", "F", "false", "False", "FALSE" };
    struct run *run = *state;
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        CLEANUP(strbuf_done) struct strbuf arg = STRBUF_INIT(100);
        strbuf_addf(&arg, "--verbose=%s", yes[i]);
        PARSE(run, strbuf_cstr(&arg));
        assert_true(run->ok && run->options.verbose);
        strbuf_clear(&arg);
        strbuf_addf(&arg, "-verbose=%s", no[i]);
        PARSE(run, strbuf_cstr(&arg));
        assert_true(run->ok && !run->options.verbose);
    }
    PARSE(run, "--verbose=yes");
    assert_false(run->ok);
    assert_string_equal(run->err.text, "flag --verbose: \"yes\" is not true or false");
    PARSE(run, "--verbose=");
    assert_false(run->ok);
}

static void numbers_are_checked(void **state)
{
    struct run *run = *state;
    PARSE(run, "--workers", "many");
    assert_false(run->ok);
    assert_int_equal(run->err.kind, ERR_INVALID);
    assert_string_equal(run->err.text, "flag --workers: \"many\" is not a whole number");
    PARSE(run, "--workers=0");
    assert_string_equal(run->err.text, "flag --workers: 0 is below 1");
    PARSE(run, "--workers=99999999999999999999");
    assert_false(run->ok);
    assert_int_equal(run->options.workers, 3);
}

static void durations_are_checked(void **state)
{
    struct run *run = *state;
    PARSE(run, "--sync-period=1m30s");
    assert_true(run->ok);
    assert_int_equal(run->options.period_ns, 90 * NS_PER_S);
    PARSE(run, "--sync-period=5");
    assert_string_equal(run->err.text, "flag --sync-period: \"5\" is not a duration such as 30s or 1h30m");
    PARSE(run, "--sync-period", "-5s");
    assert_string_equal(run->err.text, "flag --sync-period: -5s is below 0s");
    assert_int_equal(run->options.period_ns, 90 * NS_PER_S);
}

static void lists_gather_and_have_a_short_form(void **state)
{
    struct run *run = *state;
    PARSE(run, "-f", "a", "--filename=b", "-f=c", "-filename", "-");
    assert_true(run->ok);
    assert_int_equal(run->options.files.count, 4);
    static const char *const want[] = { "a", "b", "c", "-" };
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(run->options.files.items[i], want[i]);
    flag_list_done(&run->options.files);
    assert_int_equal(run->options.files.count, 0);
    assert_null(run->options.files.items);
}

static void a_letter_may_carry_its_value(void **state)
{
    struct run *run = *state;
    PARSE(run, "-fa", "-fb=c", "-f=d", "-f", "e");
    assert_true(run->ok);
    assert_int_equal(run->options.files.count, 4);
    assert_string_equal(run->options.files.items[0], "a");
    assert_string_equal(run->options.files.items[1], "b=c");
    assert_string_equal(run->options.files.items[2], "d");
    assert_string_equal(run->options.files.items[3], "e");
    PARSE(run, "--fa");
    assert_false(run->ok);
}

static void ignored_flags_are_heard_of(void **state)
{
    struct run *run = *state;
    PARSE(run, "--old-value", "7", "--old-bool", "plan", "--old-bool=false", "--old-value=8");
    assert_true(run->ok);
    assert_string_equal(strbuf_cstr(&run->heard),
                        "<old-value=7><old-bool=>[plan]<old-bool=false><old-value=8>");
}

static void ignored_flags_are_dropped_without_a_handler(void **state)
{
    struct run *run = *state;
    PARSE_BARE(run, "--old-value", "7", "--old-bool");
    assert_true(run->ok);
}

static void arguments_mix_with_flags_and_follow_two_dashes(void **state)
{
    struct run *run = *state;
    PARSE(run, "plan", "--verbose", "-", "--", "--workers=9", "--", "x");
    assert_true(run->ok);
    assert_string_equal(strbuf_cstr(&run->heard), "[plan][-][--workers=9][--][x]");
    assert_int_equal(run->options.workers, 3);
}

static void an_argument_without_a_handler_is_an_error(void **state)
{
    struct run *run = *state;
    PARSE_BARE(run, "plan");
    assert_false(run->ok);
    assert_string_equal(run->err.text, "unexpected argument \"plan\"");
}

static void the_positional_handler_may_refuse(void **state)
{
    struct run *run = *state;
    PARSE(run, "refuse", "--workers=5");
    assert_false(run->ok);
    assert_string_equal(run->err.text, "refused");
    assert_int_equal(run->options.workers, 3);
}

static void unknown_flags_are_named(void **state)
{
    static const char *const unknown[] = { "--nope",     "--nope=3", "-x", "--",
                                           "---verbose", "--=x",     "-=", "--verbos" };
    struct run *run = *state;
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        PARSE(run, unknown[i]);
        if (strcmp(unknown[i], "--") == 0)
            continue; /* ends flags */
        assert_false(run->ok);
        assert_non_null(strstr(run->err.text, "unknown flag"));
        assert_non_null(strstr(run->err.text, unknown[i]));
    }
}

static void a_missing_value_is_named(void **state)
{
    struct run *run = *state;
    PARSE(run, "-f");
    assert_false(run->ok);
    assert_string_equal(run->err.text, "flag --filename needs a value");
    PARSE(run, "--old-value");
    assert_string_equal(run->err.text, "flag --old-value needs a value");
}

static void help_shows_names_values_defaults_and_ignored(void **state)
{
    struct run *run = *state;
    run->options.period_ns = 5 * 60 * NS_PER_S;
    run->options.verbose = true;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10000);
    flags_help(&out, flags, ARRAY_LEN(flags), &run->options);
    assert_string_equal(strbuf_cstr(&out),
                        "  --kubeconfig FILE\n"
                        "        path of a kubeconfig (default \"default\")\n"
                        "  --metrics-addr ADDR\n"
                        "        where to serve metrics\n"
                        "  --verbose\n"
                        "        say more (default true)\n"
                        "  --workers N\n"
                        "        how many (default 3)\n"
                        "  --sync-period DURATION\n"
                        "        how often (default 5m0s)\n"
                        "  -f, --filename FILE\n"
                        "        what to read\n"
                        "Accepted for compatibility and ignored: --old-value, --old-bool\n");
}

static void help_wraps_long_texts(void **state)
{
    struct run *run = *state;
    static const struct flag wordy[] = {
        FLAG_BOOL(struct options, verbose, "verbose",
                  "a text that goes on and on until it is longer than a line may be, "
                  "so that it must continue on the next one"),
    };
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(10000);
    flags_help(&out, wordy, 1, &run->options);
    assert_string_equal(
        strbuf_cstr(&out),
        "  --verbose\n"
        "        a text that goes on and on until it is longer than a line may be, so that it must\n"
        "        continue on the next one\n");
}

#define FLAGS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLAGS_TEST(what_is_not_given_stays),
        FLAGS_TEST(one_and_two_dashes_equals_and_space),
        FLAGS_TEST(the_last_one_wins),
        FLAGS_TEST(a_value_may_be_empty_hold_equals_or_look_like_a_flag),
        FLAGS_TEST(bool_takes_no_following_value),
        FLAGS_TEST(bool_knows_the_words_of_go),
        FLAGS_TEST(numbers_are_checked),
        FLAGS_TEST(durations_are_checked),
        FLAGS_TEST(lists_gather_and_have_a_short_form),
        FLAGS_TEST(a_letter_may_carry_its_value),
        FLAGS_TEST(ignored_flags_are_heard_of),
        FLAGS_TEST(ignored_flags_are_dropped_without_a_handler),
        FLAGS_TEST(arguments_mix_with_flags_and_follow_two_dashes),
        FLAGS_TEST(an_argument_without_a_handler_is_an_error),
        FLAGS_TEST(the_positional_handler_may_refuse),
        FLAGS_TEST(unknown_flags_are_named),
        FLAGS_TEST(a_missing_value_is_named),
        FLAGS_TEST(help_shows_names_values_defaults_and_ignored),
        FLAGS_TEST(help_wraps_long_texts),
    };
    return cmocka_run_group_tests_name("base/flags", tests, NULL, NULL);
}
