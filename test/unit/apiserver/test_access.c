/* Who is asking and what they may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "test/apiserver/rbac.h"

static const char tokens[] = "# comment\n"
                             "secret1,alice,1\n"
                             "\n"
                             "secret2,bob,2,\"dev,ops\"\n"
                             "secret3,root,3,system:masters\n"
                             "secret4,system:serviceaccount:kube-system:koord,4\n";

struct fixture {
    struct as_auth auth;
    struct as_store *store;
    struct as_rbac *rbac;
    struct arena arena;
};

static void put(struct fixture *f, const char *resource, const char *text)
{
    const struct json *tree;
    assert_true(json_parse(&f->arena, str_c(text), NULL, &tree, NULL));
    as_bucket_put(as_store_bucket(f->store, STR("rbac.authorization.k8s.io"), str_c(resource)), tree);
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    *state = f;
    f->store = as_store_new(0);
    f->rbac = as_rbac_new(f->store);
    assert_true(as_auth_load(&f->auth, str_c(tokens), NULL));
    put(f, "clusterroles",
        "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"nodes\","
        "\"pods\"],"
        "\"verbs\":[\"get\",\"list\"]},{\"nonResourceURLs\":[\"/metrics*\"],\"verbs\":[\"get\"]}]}");
    put(f, "clusterrolebindings",
        "{\"metadata\":{\"name\":\"readers\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"reader\"},"
        "\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"},{\"kind\":\"Group\",\"name\":\"ops\"}]}");
    put(f, "roles",
        "{\"metadata\":{\"name\":\"one\",\"namespace\":\"n\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":"
        "[\"configmaps\"],\"resourceNames\":[\"mine\"],\"verbs\":[\"*\"]},{\"apiGroups\":[\"*\"],"
        "\"resources\":[\"nodes/status\"],\"verbs\":[\"patch\"]}]}");
    put(f, "rolebindings",
        "{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"one\"},"
        "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"koord\",\"namespace\":\"kube-system\"}]}");
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    as_rbac_free(f->rbac);
    as_store_free(f->store);
    as_auth_done(&f->auth);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static const struct row {
    const char *name;
    const char *authorization;
    struct as_action action;
    bool allowed;
} rows[] = {
    { "rbac: a bound user may",
      "Bearer secret1",
      { .verb = "get", .resource = STR_INIT("nodes"), .name = STR_INIT("x") },
      true },
    { "rbac: another verb may not",
      "Bearer secret1",
      { .verb = "delete", .resource = STR_INIT("nodes") },
      false },
    { "rbac: another group may not",
      "Bearer secret1",
      { .verb = "get", .group = STR_INIT("apps"), .resource = STR_INIT("nodes") },
      false },
    { "rbac: a bound group may",
      "Bearer secret2",
      { .verb = "list", .resource = STR_INIT("pods"), .namespace = STR_INIT("z") },
      true },
    { "rbac: a subresource needs its own rule",
      "Bearer secret1",
      { .verb = "get", .resource = STR_INIT("nodes"), .subresource = STR_INIT("status") },
      false },
    { "rbac: masters may everything",
      "Bearer secret3",
      { .verb = "delete", .resource = STR_INIT("secrets") },
      true },
    { "rbac: anonymous may nothing", "", { .verb = "get", .resource = STR_INIT("nodes") }, false },
    { "rbac: anonymous may ask the version", "", { .verb = "get", .path = STR_INIT("/version") }, true },
    { "rbac: a path by prefix", "Bearer secret1", { .verb = "get", .path = STR_INIT("/metrics/x") }, true },
    { "rbac: another path", "Bearer secret1", { .verb = "get", .path = STR_INIT("/logs") }, false },
    { "rbac: a role reaches into its namespace",
      "Bearer secret4",
      { .verb = "update",
        .resource = STR_INIT("configmaps"),
        .namespace = STR_INIT("n"),
        .name = STR_INIT("mine") },
      true },
    { "rbac: and not beyond",
      "Bearer secret4",
      { .verb = "update",
        .resource = STR_INIT("configmaps"),
        .namespace = STR_INIT("m"),
        .name = STR_INIT("mine") },
      false },
    { "rbac: resource names count",
      "Bearer secret4",
      { .verb = "update",
        .resource = STR_INIT("configmaps"),
        .namespace = STR_INIT("n"),
        .name = STR_INIT("other") },
      false },
    { "rbac: resource names forbid lists",
      "Bearer secret4",
      { .verb = "list", .resource = STR_INIT("configmaps"), .namespace = STR_INIT("n") },
      false },
    { "rbac: a subresource rule",
      "Bearer secret4",
      { .verb = "patch",
        .resource = STR_INIT("nodes"),
        .subresource = STR_INIT("status"),
        .namespace = STR_INIT("n") },
      true },
};

static void access__row(void **state)
{
    const struct row *row = *state;
    void *made = NULL;
    setup(&made);
    struct fixture *f = made;
    struct as_identity identity;
    struct api_error error = API_ERROR_INIT;
    assert_true(
        as_auth_identify(&f->auth, &f->arena, str_c(row->authorization), STR_NULL, &identity, &error));
    assert_int_equal(as_rbac_check(f->rbac, &f->arena, &identity, &row->action, &error), row->allowed);
    assert_int_equal(error.code, row->allowed ? 0 : 403);
    teardown(&made);
}

static void auth__a_wrong_token_is_401(void **state)
{
    struct fixture *f = *state;
    struct as_identity identity;
    struct api_error error = API_ERROR_INIT;
    assert_false(as_auth_identify(&f->auth, &f->arena, STR("Bearer nope"), STR_NULL, &identity, &error));
    assert_int_equal(error.code, 401);
}

static void auth__a_client_certificate_names_the_user(void **state)
{
    struct fixture *f = *state;
    struct as_identity identity;
    struct api_error error = API_ERROR_INIT;
    assert_true(as_auth_identify(&f->auth, &f->arena, STR(""), STR("carol"), &identity, &error));
    assert_true(str_eq(identity.user, STR("carol")));
    assert_true(as_identity_in_group(&identity, STR("system:authenticated")));
}

static void auth__a_line_without_user_is_refused(void **state)
{
    (void)state;
    struct as_auth auth = { 0 };
    struct err err = ERR_INIT;
    assert_false(as_auth_load(&auth, STR("a,b,c\njust-a-token\n"), &err));
    assert_non_null(strstr(err.text, "line 2"));
    as_auth_done(&auth);
}

static void rbac__follows_the_stored_roles(void **state)
{
    struct fixture *f = *state;
    struct as_identity alice = { .user = STR("alice") };
    struct as_action action = { .verb = "get", .resource = STR("nodes") };
    assert_true(as_rbac_allows(f->rbac, &alice, &action));
    as_bucket_delete(as_store_bucket(f->store, STR("rbac.authorization.k8s.io"), STR("clusterrolebindings")),
                     STR("readers"));
    assert_false(as_rbac_allows(f->rbac, &alice, &action));
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)

int main(void)
{
    static const struct CMUnitTest plain[] = {
        TEST(auth__a_wrong_token_is_401),
        TEST(auth__a_client_certificate_names_the_user),
        TEST(auth__a_line_without_user_is_refused),
        TEST(rbac__follows_the_stored_roles),
    };
    static struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(plain)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, access__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[count++] = plain[i];
    return cmocka_run_group_tests_name("apiserver/access", tests, NULL, NULL);
}
