#include "trees.h"
#include "test/apiserver/tree.h"

const struct json *tree(struct arena *arena, const char *text)
{
    struct str copy = arena_str(arena, str_c(text));
    char *bytes = arena_array(arena, char, copy.len + 1);
    memcpy(bytes, copy.ptr, copy.len);
    for (size_t i = 0; i < copy.len; i++)
        if (copy.ptr[i] == '\'')
            bytes[i] = '"';
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (!json_parse(arena, (struct str){ bytes, copy.len }, NULL, &root, &err))
        fail_msg("%s in %s", err.text, text);
    return root;
}

void assert_tree(struct arena *arena, const struct json *got, const char *want)
{
    const struct json *expected = tree(arena, want);
    if (got && json_equal(got, expected))
        return;
    fail_msg("got  %s\nwant %s", got ? api_text(arena, got, 1 << 16).ptr : "nothing",
             api_text(arena, expected, 1 << 16).ptr);
}

struct str error_label(struct arena *arena, const struct api_error *error)
{
    return error->code ? arena_strf(arena, "%d %s", error->code, error->reason) : STR("ok");
}

void assert_text(struct str got, const char *want)
{
    if (!str_eq(got, str_c(want)))
        fail_msg("got  %.*s\nwant %s", STR_ARG(got), want);
}

void assert_cause(struct arena *arena, const struct api_error *error, const char *want)
{
    for (size_t i = 0; i < error->cause_count; i++) {
        const struct api_cause *cause = &error->causes[i];
        struct str text =
            arena_strf(arena, STR_FMT ": " STR_FMT, STR_ARG(cause->field), STR_ARG(cause->message));
        if (str_starts_with(text, str_c(want)))
            return;
    }
    fail_msg("no cause \"%s\" in: %d %.*s", want, error->code, STR_ARG(error->message));
}

const struct api_resource *builtin(const char *group, const char *kind)
{
    size_t count;
    const struct api_resource *rows = api_builtin_resources(&count);
    for (size_t i = 0; i < count; i++)
        if (str_eq(rows[i].group, str_c(group)) && str_eq(rows[i].kind, str_c(kind)))
            return &rows[i];
    fail_msg("no built-in %s/%s", group, kind);
    return NULL;
}
