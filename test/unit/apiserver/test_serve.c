/* How a server is set up: options, access, HTTPS, manifests. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../http/test_tls.h"

#define CMS "/api/v1/namespaces/default/configmaps"

struct folder {
    char dir[64];
    char path[160];
};

static const char *write_file(struct folder *folder, const char *name, const char *text)
{
    if (!folder->dir[0]) {
        snprintf(folder->dir, sizeof folder->dir, "/tmp/apiserver-serve-XXXXXX");
        assert_non_null(mkdtemp(folder->dir));
    }
    snprintf(folder->path, sizeof folder->path, "%s/%s", folder->dir, name);
    FILE *file = fopen(folder->path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return folder->path;
}

static void folder_done(struct folder *folder)
{
    unlink(folder->path);
    rmdir(folder->dir);
}

/* ---- access ---- */

#define SECRETS "/api/v1/namespaces/default/secrets"

static void access__tokens_and_roles_over_http(void **state)
{
    (void)state;
    struct harness h;
    struct folder folder = { 0 };
    struct err err = ERR_INIT;
    struct apiserver_options options = {
        .rbac = true,
        .token_file = write_file(&folder, "tokens", "t1,alice,1\nt2,root,2,system:masters\n"),
    };
    harness_start(&h, &options);
    assert_true(
        apiserver_load(h.server,
                       STR("apiVersion: rbac.authorization.k8s.io/v1\n"
                           "kind: Role\n"
                           "metadata: {name: r, namespace: default}\n"
                           "rules: [{apiGroups: [''], resources: [configmaps], verbs: [list, watch]},\n"
                           "  {apiGroups: [''], resources: [secrets], resourceNames: [s], verbs: [list]}]\n"
                           "---\n"
                           "apiVersion: rbac.authorization.k8s.io/v1\n"
                           "kind: RoleBinding\n"
                           "metadata: {name: r, namespace: default}\n"
                           "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n"
                           "subjects: [{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]\n"),
                       &err));
    assert_status(&h, get(&h, CMS), 403, "Forbidden");
    assert_int_equal(get(&h, "/version").status, 200);
    h.token = "wrong";
    assert_status(&h, get(&h, CMS), 401, "Unauthorized");
    h.token = "t1";
    assert_int_equal(get(&h, CMS).status, 200);
    struct reply refused = get(&h, CMS "/x");
    assert_status(&h, refused, 403, "Forbidden");
    assert_non_null(strstr(at(&h, refused.json, "message"), "alice"));
    assert_status(&h, get(&h, "/api/v1/namespaces/kube-system/configmaps"), 403, "Forbidden");
    assert_status(&h, get(&h, "/api/v1/configmaps"), 403, "Forbidden");
    assert_int_equal(get(&h, SECRETS "?fieldSelector=metadata.name%3Ds").status, 200);
    assert_status(&h, get(&h, SECRETS "?fieldSelector=metadata.name%3Dt"), 403, "Forbidden");
    assert_status(&h, get(&h, SECRETS), 403, "Forbidden");
    struct stream s;
    stream_open(&h, &s, CMS "?watch=true");
    assert_int_equal(s.status, 200);
    stream_close(&s);
    h.token = "t2";
    assert_int_equal(get(&h, CMS "/x").status, 404);
    assert_true(str_eq(apiserver_request_at(h.server, 2)->user, STR("(refused)")));
    harness_stop(&h);
    folder_done(&folder);
}

static void access__nothing_is_enforced_without_rbac(void **state)
{
    (void)state;
    struct harness h;
    harness_start(&h, NULL);
    h.token = "whatever";
    assert_int_equal(get(&h, CMS).status, 200);
    harness_stop(&h);
}

static void https__with_client_certificates(void **state)
{
    (void)state;
    struct harness h;
    struct test_ca ca;
    struct test_pair server, client;
    test_ca_init(&ca, "test ca");
    test_pair_init(&server, &ca, "server", "IP:127.0.0.1");
    test_pair_init(&client, &ca, "carol", NULL);
    struct apiserver_options options = {
        .tls_cert_pem = str_c(server.cert_pem),
        .tls_key_pem = str_c(server.key_pem),
        .client_ca_pem = str_c(ca.pem),
    };
    harness_start(&h, &options);
    http_client_free(h.client);
    struct http_client_options client_options = {
        .ca_pem = str_c(ca.pem),
        .client_cert_pem = str_c(client.cert_pem),
        .client_key_pem = str_c(client.key_pem),
        .user_agent = STR("x"),
    };
    struct err err = ERR_INIT;
    h.client = http_client_new(h.loop, &client_options, &err);
    h.scheme = "https";
    assert_non_null(h.client);
    assert_int_equal(get(&h, CMS).status, 200);
    assert_true(str_eq(apiserver_request_at(h.server, 0)->user, STR("carol")));
    struct stream s;
    stream_open(&h, &s, CMS "?watch=true");
    add_config_map(&h, "a", "1");
    assert_event(&s, 0, "ADDED", "a");
    stream_close(&s);
    harness_stop(&h);
    test_pair_done(&client);
    test_pair_done(&server);
    test_ca_done(&ca);
}

/* ---- options ---- */

static void option__watch_list_off_refuses(void **state)
{
    (void)state;
    struct harness h;
    struct apiserver_options options = { .watch_list = APISERVER_WATCH_LIST_OFF };
    harness_start(&h, &options);
    assert_status(&h, get(&h, CMS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
                  422, "Invalid");
    harness_stop(&h);
}

static void option__watch_list_ignore_never_marks_an_end(void **state)
{
    (void)state;
    struct harness h;
    struct apiserver_options options = { .watch_list = APISERVER_WATCH_LIST_IGNORE };
    harness_start(&h, &options);
    add_config_map(&h, "a", "1");
    struct stream s;
    stream_open(
        &h, &s,
        CMS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    assert_event(&s, 0, "ADDED", "a");
    apiserver_bookmark(h.server);
    assert_event(&s, 1, "BOOKMARK", NULL);
    assert_at(&h, s.events[1], "object.metadata.annotations", "");
    stream_close(&s);
    harness_stop(&h);
}

static void option__request_log_gets_a_line_per_request(void **state)
{
    (void)state;
    struct harness h;
    struct folder folder = { 0 };
    struct apiserver_options options = { .request_log = write_file(&folder, "log", "") };
    harness_start(&h, &options);
    get(&h, CMS);
    get(&h, "/version");
    FILE *file = fopen(folder.path, "r");
    char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "\"path\":\"" CMS "\""));
    assert_non_null(strstr(line, "\"code\":200"));
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    harness_stop(&h);
    folder_done(&folder);
}

static void option__crds_of_a_folder_are_served(void **state)
{
    (void)state;
    struct harness h;
    struct folder folder = { 0 };
    struct apiserver_options options = { 0 };
    write_file(&folder, "things.yaml",
               "apiVersion: apiextensions.k8s.io/v1\n"
               "kind: CustomResourceDefinition\n"
               "metadata: {name: things.ex.io}\n"
               "spec:\n"
               "  group: ex.io\n"
               "  scope: Namespaced\n"
               "  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}\n"
               "  versions:\n"
               "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n");
    options.crds_dir = folder.dir;
    harness_start(&h, &options);
    assert_int_equal(get(&h, "/apis/ex.io/v1/things").status, 200);
    assert_at(&h, get(&h, "/apis/ex.io/v1").json, "resources[0].name", "things");
    harness_stop(&h);
    folder_done(&folder);
}

static void option__bad_ones_are_errors(void **state)
{
    (void)state;
    struct loop *loop = loop_new(NULL);
    const struct apiserver_options bad[] = {
        { .address = "127.0.0.1" },
        { .crds_dir = "/does/not/exist" },
        { .token_file = "/does/not/exist" },
        { .request_log = "/does/not/exist/log" },
        { .data_dir = "/does/not/exist/data" },
        { .tls_cert_pem = STR("rubbish"), .tls_key_pem = STR("rubbish") },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        assert_null(apiserver_new(loop, &bad[i], &err));
        assert_int_not_equal(err.kind, ERR_NONE);
        assert_true(strlen(err.text) > 0);
    }
    loop_free(loop);
}

/* ---- manifests ---- */

static void load__keeps_status_fills_metadata_and_makes_namespaces(void **state)
{
    (void)state;
    struct harness h;
    struct err err = ERR_INIT;
    harness_start(&h, NULL);
    assert_true(apiserver_load(h.server,
                               STR("apiVersion: v1\n"
                                   "kind: List\n"
                                   "items:\n"
                                   "- apiVersion: v1\n"
                                   "  kind: Pod\n"
                                   "  metadata: {name: p, namespace: far, uid: u-1}\n"
                                   "  spec: {containers: [{name: c, image: i}]}\n"
                                   "  status: {phase: Running}\n"),
                               &err));
    struct reply pod = get(&h, "/api/v1/namespaces/far/pods/p");
    assert_at(&h, pod.json, "status.phase", "Running");
    assert_at(&h, pod.json, "metadata.uid", "u-1");
    assert_string_not_equal(at(&h, pod.json, "metadata.creationTimestamp"), "");
    harness_stop(&h);
}

static void load__replacing_keeps_the_identity(void **state)
{
    (void)state;
    struct harness h;
    harness_start(&h, NULL);
    add_config_map(&h, "a", "1");
    struct reply before = get(&h, CMS "/a");
    add_config_map(&h, "a", "2");
    struct reply after = get(&h, CMS "/a");
    assert_string_equal(at(&h, before.json, "metadata.uid"), at(&h, after.json, "metadata.uid"));
    assert_at(&h, after.json, "data.key", "2");
    harness_stop(&h);
}

static void load__the_same_again_changes_nothing(void **state)
{
    (void)state;
    struct harness h;
    harness_start(&h, NULL);
    add_config_map(&h, "a", "1");
    add_node(&h, "n");
    int64_t rv = apiserver_resource_version(h.server);
    add_config_map(&h, "a", "1");
    add_node(&h, "n");
    assert_int_equal(apiserver_resource_version(h.server), rv);
    harness_stop(&h);
}

static void load__missing_leaves_what_is_there(void **state)
{
    (void)state;
    struct harness h;
    struct err err = ERR_INIT;
    harness_start(&h, NULL);
    add_config_map(&h, "a", "1");
    assert_true(apiserver_load_missing(
        h.server,
        STR("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: x}}\n"
            "---\n"
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {key: x}}\n"),
        &err));
    assert_at(&h, get(&h, CMS "/a").json, "data.key", "1");
    assert_at(&h, get(&h, CMS "/b").json, "data.key", "x");
    harness_stop(&h);
}

static void load__refuses_what_is_not_served(void **state)
{
    (void)state;
    struct harness h;
    harness_start(&h, NULL);
    static const char bad_quantity[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"},"
        "\"status\":{\"capacity\":{\"cpu\":\"x\"}}}";
    static const char *const bad[] = {
        "{\"apiVersion\":\"x/v1\",\"kind\":\"Y\",\"metadata\":{\"name\":\"a\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{}}",
        "[1]",
        "{",
        bad_quantity,
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        assert_false(apiserver_put(h.server, str_c(bad[i]), &err));
        assert_true(strlen(err.text) > 0);
    }
    harness_stop(&h);
}

static void objects__can_be_read_from_inside(void **state)
{
    (void)state;
    struct harness h;
    const struct json **objects;
    harness_start(&h, NULL);
    add_node(&h, "n2");
    add_node(&h, "n1");
    assert_int_equal(apiserver_list(h.server, STR("nodes"), &h.arena, &objects), 2);
    assert_at(&h, objects[0], "metadata.name", "n1");
    struct apiserver_ref ref = { .resource = STR("nodes"), .name = STR("n1") };
    assert_at(&h, apiserver_get(h.server, &ref, &h.arena), "kind", "Node");
    assert_true(apiserver_delete(h.server, &ref));
    assert_false(apiserver_delete(h.server, &ref));
    assert_null(apiserver_get(h.server, &ref, &h.arena));
    ref.resource = STR("unknown");
    assert_null(apiserver_get(h.server, &ref, &h.arena));
    assert_int_equal(apiserver_list(h.server, STR("unknown"), &h.arena, &objects), 0);
    harness_stop(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access__tokens_and_roles_over_http),
        cmocka_unit_test(access__nothing_is_enforced_without_rbac),
        cmocka_unit_test(https__with_client_certificates),
        cmocka_unit_test(option__watch_list_off_refuses),
        cmocka_unit_test(option__watch_list_ignore_never_marks_an_end),
        cmocka_unit_test(option__request_log_gets_a_line_per_request),
        cmocka_unit_test(option__crds_of_a_folder_are_served),
        cmocka_unit_test(option__bad_ones_are_errors),
        cmocka_unit_test(load__keeps_status_fills_metadata_and_makes_namespaces),
        cmocka_unit_test(load__replacing_keeps_the_identity),
        cmocka_unit_test(load__the_same_again_changes_nothing),
        cmocka_unit_test(load__missing_leaves_what_is_there),
        cmocka_unit_test(load__refuses_what_is_not_served),
        cmocka_unit_test(objects__can_be_read_from_inside),
    };
    return cmocka_run_group_tests_name("apiserver/serve", tests, NULL, NULL);
}
