/* Every directory under testdata/<command> is a test: its inputs, the arguments in `args`
 * (@ stands for the directory) and what must come out in want.yaml:
 *
 *     exit: 0
 *     out: a tree that must be contained in the JSON or YAML output: mappings may have
 *          more members, lists must have as many items; "(absent)" is no member at all,
 *          "text..." a beginning. Or a list of texts that must occur in the output.
 *     err: text that must occur on standard error
 */
#include "cmd/koordctl/command.h"
#include "base/file.h"
#include "yaml/yaml.h"
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define CASES_MAX 600
#define ARGS_MAX 32

struct test_case {
    char *name;
    const char *command;
    char *dir;
};

/* --- containment ----------------------------------------------------------------- */

static const char *text_of(struct arena *arena, const struct json *value)
{
    struct strbuf text = STRBUF_INIT(1 << 20);
    if (value)
        json_write(&text, value);
    struct str copy = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return value ? copy.ptr : "(absent)";
}

static void assert_contains(struct arena *arena, struct str path, const struct json *got,
                            const struct json *want);

static void assert_members(struct arena *arena, struct str path, const struct json *got,
                           const struct json *want)
{
    for (size_t i = 0; i < want->object.count; i++) {
        const struct json_member *member = &want->object.members[i];
        assert_contains(arena, arena_strf(arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(member->key)),
                        json_get(got, member->key), member->value);
    }
}

static void assert_items(struct arena *arena, struct str path, const struct json *got,
                         const struct json *want)
{
    if (json_count(got) != want->array.count)
        fail_msg(STR_FMT " has %zu items, want %zu: %s", STR_ARG(path), json_count(got), want->array.count,
                 text_of(arena, got));
    for (size_t i = 0; i < want->array.count; i++)
        assert_contains(arena, arena_strf(arena, STR_FMT "[%zu]", STR_ARG(path), i), got->array.items[i],
                        want->array.items[i]);
}

static bool scalar_fits(const struct json *got, const struct json *want)
{
    struct str text = json_str(want);
    if (json_is(want, JSON_STRING) && str_eq(text, STR("(absent)")))
        return got == NULL;
    if (json_is(want, JSON_STRING) && json_is(got, JSON_STRING) && str_ends_with(text, STR("...")))
        return str_starts_with(json_str(got), str_slice(text, 0, text.len - 3));
    return json_equal(got, want);
}

static void assert_contains(struct arena *arena, struct str path, const struct json *got,
                            const struct json *want)
{
    bool composite = json_is(want, JSON_OBJECT) || json_is(want, JSON_ARRAY);
    if (composite ? !got || got->type != want->type : !scalar_fits(got, want))
        fail_msg(STR_FMT " is %s, want %s", STR_ARG(path), text_of(arena, got), text_of(arena, want));
    if (json_is(want, JSON_OBJECT) && json_count(want) == 0 && json_count(got) != 0)
        fail_msg(STR_FMT " is %s, want nothing in it", STR_ARG(path), text_of(arena, got));
    if (json_is(want, JSON_OBJECT))
        assert_members(arena, path, got, want);
    else if (json_is(want, JSON_ARRAY))
        assert_items(arena, path, got, want);
}

static void assert_occurs(struct str text, struct str part)
{
    if (!memmem(text.ptr, text.len, part.ptr, part.len))
        fail_msg("\"" STR_FMT "\" does not occur in:\n" STR_FMT, STR_ARG(part), STR_ARG(text));
}

/* --- running --------------------------------------------------------------------- */

static struct str read_case_file(struct arena *arena, const char *dir, const char *name,
                                 const char *otherwise)
{
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT((size_t)16 << 20);
    struct str path = arena_strf(arena, "%s/%s", dir, name);
    bool ok = file_read(path.ptr, &text, &err);
    struct str copy = arena_str(arena, ok ? strbuf_str(&text) : str_c(otherwise));
    strbuf_done(&text);
    if (!ok && !otherwise)
        fail_msg("%s", err.text);
    return copy;
}

/* The command line: words of `args`, a leading @ is the case's directory. */
static int split_args(struct arena *arena, const struct test_case *test, char *argv[ARGS_MAX])
{
    struct str rest =
        read_case_file(arena, test->dir, "args",
                       strcmp(test->command, "plan") == 0 ? "-f @in.yaml --now 2026-07-24T08:00:00Z -o json"
                                                          : "-f @in.yaml -o json");
    int argc = 0;
    argv[argc++] = (char *)(uintptr_t) "koordctl";
    argv[argc++] = (char *)(uintptr_t)test->command;
    while (!str_empty(rest = str_trim(rest))) {
        struct str word;
        str_cut(rest, ' ', &word, &rest);
        word = str_trim(word);
        struct str argument = word.ptr[0] == '@' ? arena_strf(arena, "%s/" STR_FMT, test->dir,
                                                              STR_ARG(str_slice(word, 1, word.len)))
                                                 : arena_str(arena, word);
        assert_true(argc < ARGS_MAX);
        argv[argc++] = (char *)(uintptr_t)argument.ptr;
    }
    return argc;
}

static const struct json *parse(struct arena *arena, struct str text, const char *what)
{
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    if (!kyaml_parse(arena, text, NULL, &root, &err))
        fail_msg("%s: %s\n" STR_FMT, what, err.text, STR_ARG(text));
    return root;
}

static void case__run(void **state)
{
    const struct test_case *test = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
    CLEANUP(strbuf_done) struct strbuf err = STRBUF_INIT((size_t)1 << 20);
    struct koordctl_env env = { .out = &out, .err = &err };
    char *argv[ARGS_MAX];
    int argc = split_args(&arena, test, argv);
    const struct json *want =
        parse(&arena, read_case_file(&arena, test->dir, "want.yaml", NULL), "want.yaml");
    int64_t code = -1;
    assert_true(json_i64(json_get(want, STR("exit")), &code));

    int got = koordctl_run(&env, argc, argv);

    if (got != code)
        fail_msg("exit %d, want %d\n%s%s", got, (int)code, strbuf_cstr(&err), strbuf_cstr(&out));
    const struct json *want_out = json_get(want, STR("out"));
    if (json_is(want_out, JSON_OBJECT))
        assert_contains(&arena, STR("out"), parse(&arena, strbuf_str(&out), "output"), want_out);
    for (size_t i = 0; json_is(want_out, JSON_ARRAY) && i < want_out->array.count; i++)
        assert_occurs(strbuf_str(&out), json_str(want_out->array.items[i]));
    if (json_get(want, STR("err")))
        assert_occurs(strbuf_str(&err), json_str(json_get(want, STR("err"))));
    else if (code != KOORDCTL_OK && out.len == 0)
        fail_msg("the error says nothing in want.yaml: %s", strbuf_cstr(&err));
}

/* --- finding the cases ----------------------------------------------------------- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t find_cases(const char *command, struct test_case *cases)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str root = arena_strf(&arena, "%s/%s", KOORD_TESTDATA, command);
    struct dirent **entries = NULL;
    int count = scandir(root.ptr, &entries, visible, alphasort);
    for (int i = 0; i < count; i++) {
        struct str name = arena_strf(&arena, "%s: %s", command, entries[i]->d_name);
        struct str dir = arena_strf(&arena, STR_FMT "/%s", STR_ARG(root), entries[i]->d_name);
        if (i < CASES_MAX)
            cases[i] = (struct test_case){ str_dup_c(name), command, str_dup_c(dir) };
        free(entries[i]);
    }
    free(entries);
    return count < 0 ? 0 : (size_t)count;
}

static int run_command(const char *command)
{
    static struct test_case cases[CASES_MAX];
    static struct CMUnitTest tests[CASES_MAX];
    size_t count = find_cases(command, cases);
    if (count == 0 || count > CASES_MAX) {
        fprintf(stderr, "%zu cases of %s under %s\n", count, command, KOORD_TESTDATA);
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, case__run, NULL, NULL, &cases[i] };
    int failed = _cmocka_run_group_tests(command, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        free(cases[i].name);
        free(cases[i].dir);
    }
    return failed;
}

int main(int argc, char **argv)
{
    return argc == 2 ? run_command(argv[1]) : 1;
}
