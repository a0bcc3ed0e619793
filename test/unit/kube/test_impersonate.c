/* 6.7: who we say we are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "kube/impersonate.h"
#include "kube/kubeconfig_file.h"

#define FILE_WITH(user)                                                                                      \
    "clusters: [{name: c, cluster: {server: 'https://api:6443'}}]\n"                                         \
    "contexts: [{name: x, context: {cluster: c, user: u}}]\n"                                                \
    "current-context: x\nusers:\n- name: u\n  user:\n" user

/* From the file's text to one header a line. */
static bool headers_of(struct str text, struct strbuf *out, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kubeconfig_source source = { .path = STR("/dir/config") };
    struct kube_config config;
    struct impersonation made;
    if (!kubeconfig_parse(&arena, text, STR("/dir"), &source.file, err) ||
        !kubeconfig_resolve(&arena, &source, 1, NULL, &config, err) ||
        !impersonation_make(&arena, &config, &made, err))
        return false;
    for (size_t i = 0; i < made.count; i++)
        strbuf_addf(out, STR_FMT ": " STR_FMT "\n", STR_ARG(made.headers[i].name),
                    STR_ARG(made.headers[i].value));
    return true;
}

struct row {
    const char *name;
    struct str text;
    const char *want; /* the headers, or what the error says */
    bool bad;
};

static const struct row rows[] = {
    { "nobody", STR_INIT(FILE_WITH("    token: t\n")), "", false },
    { "a user", STR_INIT(FILE_WITH("    as: jane\n")), "Impersonate-User: jane\n", false },
    { "user, uid, groups in order and extra fields",
      STR_INIT(FILE_WITH("    as: jane\n    as-uid: '7'\n    as-groups: [b, a, 'c d']\n"
                         "    as-user-extra: {scopes: [view, edit], reason: ['']}\n")),
      "Impersonate-User: jane\nImpersonate-Uid: 7\nImpersonate-Group: b\nImpersonate-Group: a\n"
      "Impersonate-Group: c d\nImpersonate-Extra-scopes: view\nImpersonate-Extra-scopes: edit\n"
      "Impersonate-Extra-reason: \n",
      false },
    { "keys are lower-cased and percent-encoded",
      STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {'Acme.com/Project 100%': [x], '\xc3\xa4': [y]}\n")),
      "Impersonate-User: a\nImpersonate-Extra-acme.com%2Fproject%20100%25: x\n"
      "Impersonate-Extra-%C3%A4: y\n",
      false },
    { "a key cannot end the header",
      STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {\"k\\r\\nX: y\": [v]}\n")),
      "Impersonate-User: a\nImpersonate-Extra-k%0D%0Ax%3A%20y: v\n", false },
    { "null fields are absent ones",
      STR_INIT(FILE_WITH("    as: a\n    as-uid: null\n    as-groups: null\n    as-user-extra: null\n")),
      "Impersonate-User: a\n", false },
    { "a uid without a user", STR_INIT(FILE_WITH("    as-uid: '7'\n")),
      "users[u].user: as-uid: needs a user in \"as\"", true },
    { "groups without a user", STR_INIT(FILE_WITH("    as-groups: [g]\n")), "as-groups: needs a user", true },
    { "extra fields without a user", STR_INIT(FILE_WITH("    as-user-extra: {a: [b]}\n")),
      "as-user-extra: needs a user", true },
    { "a user with a line break", STR_INIT(FILE_WITH("    as: \"canary\\r\\nX: y\"\n")),
      "as: control character at byte 6", true },
    { "a uid with a line break", STR_INIT(FILE_WITH("    as: a\n    as-uid: \"canary\\n\"\n")),
      "as-uid: control character", true },
    { "a group with a line break", STR_INIT(FILE_WITH("    as: a\n    as-groups: [\"canary\\n\"]\n")),
      "as-groups: control character", true },
    { "a value with a NUL", STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {a: [\"canary\\0\"]}\n")),
      "as-user-extra: control character", true },
    { "an empty group", STR_INIT(FILE_WITH("    as: a\n    as-groups: ['']\n")), "as-groups: empty", true },
    { "an empty key", STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {'': [b]}\n")), "empty key", true },
    { "groups that are no list", STR_INIT(FILE_WITH("    as: a\n    as-groups: canary\n")), "as-groups",
      true },
    { "a group that is a number", STR_INIT(FILE_WITH("    as: a\n    as-groups: [1]\n")), "as-groups", true },
    { "extra fields that are no map", STR_INIT(FILE_WITH("    as: a\n    as-user-extra: [canary]\n")),
      "not a map", true },
    { "an extra field that is no list", STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {a: canary}\n")),
      "not a list", true },
    { "an extra field of numbers", STR_INIT(FILE_WITH("    as: a\n    as-user-extra: {a: [1]}\n")),
      "not a list of strings", true },
};

static void t_83_impersonate__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(strbuf_done) struct strbuf got = STRBUF_INIT(1 << 16);
    struct err err = ERR_INIT;
    bool ok = headers_of(row->text, &got, &err);
    assert_int_equal(ok, !row->bad);
    if (!row->bad) {
        assert_string_equal(strbuf_cstr(&got), row->want);
        return;
    }
    assert_int_equal(err.kind, ERR_INVALID);
    if (!strstr(err.text, row->want))
        fail_msg("\"%s\" does not say \"%s\"", err.text, row->want);
    assert_null(strstr(err.text, "canary"));
}

static void t_83_impersonate__a_key_of_many_bytes_is_refused(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    char key[8192];
    memset(key, '/', sizeof key);
    struct kube_extra extra = { .key = { .ptr = key, .len = sizeof key }, .value = STR("v") };
    struct kube_config config = { .impersonate_user = STR("a"),
                                  .impersonate_extra = &extra,
                                  .impersonate_extra_count = 1 };
    struct impersonation made;
    struct err err = ERR_INIT;
    assert_false(impersonation_make(&arena, &config, &made, &err));
    assert_non_null(strstr(err.text, "too long"));
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 1];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, t_83_impersonate__row, NULL, NULL, (void *)&rows[i] };
    tests[ARRAY_LEN(rows)] =
        (struct CMUnitTest)cmocka_unit_test(t_83_impersonate__a_key_of_many_bytes_is_refused);
    return cmocka_run_group_tests_name("kube/impersonate", tests, NULL, NULL);
}
