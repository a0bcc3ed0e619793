/* What a journal gives back, and what survives SIGKILL. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/apiserver/persist.h"

struct fixture {
    char dir[64];
    char journal[128];
    struct arena arena;
    struct loop *loop;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    *state = f;
    snprintf(f->dir, sizeof f->dir, "/tmp/apiserver-persist-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->journal, sizeof f->journal, "%s/objects.journal", f->dir);
    f->loop = loop_new(NULL);
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = { "objects.journal", "objects.journal.new", "lock", "kubeconfig",
                                         "log" };
    struct fixture *f = *state;
    char path[128];
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, files[i]);
        unlink(path);
    }
    rmdir(f->dir);
    arena_done(&f->arena);
    loop_free(f->loop);
    free(f);
    return 0;
}

static struct apiserver *open_server(struct fixture *f)
{
    struct err err = ERR_INIT;
    struct apiserver_options options = { .data_dir = f->dir, .seed = 3 };
    struct apiserver *server = apiserver_new(f->loop, &options, &err);
    if (!server)
        fail_msg("%s", err.text);
    return server;
}

static void put_text(struct apiserver *server, const char *text)
{
    struct err err = ERR_INIT;
    if (!apiserver_put(server, str_c(text), &err))
        fail_msg("%s", err.text);
}

#define CM(name_, value_)                                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name_                          \
    "\"},\"data\":{\"k\":\"" value_ "\"}}"

static const char *value_of(struct fixture *f, struct apiserver *server, const char *name)
{
    struct apiserver_ref ref = { STR("configmaps"), STR("default"), str_c(name) };
    const struct json *object = apiserver_get(server, &ref, &f->arena);
    return object ? arena_str(&f->arena, json_str(json_path(object, "data", "k", NULL))).ptr : NULL;
}

static void persist__objects_and_versions_come_back(void **state)
{
    struct fixture *f = *state;
    struct apiserver *server = open_server(f);
    put_text(server, CM("a", "1"));
    put_text(server, CM("b", "1"));
    put_text(server, CM("a", "2"));
    struct apiserver_ref b = { STR("configmaps"), STR("default"), STR("b") };
    apiserver_delete(server, &b);
    int64_t rv = apiserver_resource_version(server);
    struct apiserver_ref a = { STR("configmaps"), STR("default"), STR("a") };
    struct str uid = json_str(json_path(apiserver_get(server, &a, &f->arena), "metadata", "uid", NULL));
    apiserver_free(server);

    server = open_server(f);
    assert_int_equal(apiserver_resource_version(server), rv);
    assert_string_equal(value_of(f, server, "a"), "2");
    assert_null(value_of(f, server, "b"));
    const struct json *again = apiserver_get(server, &a, &f->arena);
    assert_true(str_eq(json_str(json_path(again, "metadata", "uid", NULL)), uid));
    put_text(server, CM("c", "1"));
    assert_int_equal(apiserver_resource_version(server), rv + 1);
    apiserver_free(server);
}

static void persist__custom_resources_come_back_with_their_definition(void **state)
{
    struct fixture *f = *state;
    struct apiserver *server = open_server(f);
    put_text(
        server,
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"
        "{\"name\":\"things.ex.io\"},\"spec\":{\"group\":\"ex.io\",\"scope\":\"Cluster\",\"names\":"
        "{\"plural\":\"things\",\"singular\":\"thing\",\"kind\":\"Thing\",\"listKind\":\"ThingList\"},"
        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":"
        "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}");
    put_text(
        server,
        "{\"apiVersion\":\"ex.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"t\"},\"spec\":{\"a\":1}}");
    apiserver_free(server);
    server = open_server(f);
    struct apiserver_ref t = { STR("things.ex.io"), STR_NULL, STR("t") };
    assert_non_null(apiserver_get(server, &t, &f->arena));
    apiserver_free(server);
}

static void append(struct fixture *f, const char *text)
{
    FILE *file = fopen(f->journal, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void persist__a_torn_last_line_is_forgotten(void **state)
{
    struct fixture *f = *state;
    struct apiserver *server = open_server(f);
    put_text(server, CM("a", "1"));
    int64_t rv = apiserver_resource_version(server);
    apiserver_free(server);
    append(f, "{\"rv\":999,\"group\":\"\",\"resource\":\"configmaps\",\"put\":{\"meta");
    server = open_server(f);
    assert_string_equal(value_of(f, server, "a"), "1");
    assert_int_equal(apiserver_resource_version(server), rv);
    put_text(server, CM("b", "1"));
    apiserver_free(server);
    server = open_server(f);
    assert_string_equal(value_of(f, server, "b"), "1");
    apiserver_free(server);
}

static void persist__damage_in_the_middle_is_an_error_not_an_empty_cluster(void **state)
{
    struct fixture *f = *state;
    apiserver_free(open_server(f));
    append(f, "rubbish\n{\"rv\":999}\n");
    struct err err = ERR_INIT;
    struct apiserver_options options = { .data_dir = f->dir };
    assert_null(apiserver_new(f->loop, &options, &err));
    assert_non_null(strstr(err.text, "line"));
}

static void persist__two_servers_do_not_share_a_folder(void **state)
{
    struct fixture *f = *state;
    struct apiserver *first = open_server(f);
    struct err err = ERR_INIT;
    struct apiserver_options options = { .data_dir = f->dir };
    assert_null(apiserver_new(f->loop, &options, &err));
    assert_non_null(strstr(err.text, "another server"));
    apiserver_free(first);
}

static void persist__the_journal_is_rewritten_when_it_has_grown(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    struct as_store *store = as_store_new(2);
    struct as_persist *persist = as_persist_open(f->dir, store, &err);
    assert_non_null(persist);
    struct json *metadata = json_new(&f->arena, JSON_OBJECT);
    struct json *object = json_new(&f->arena, JSON_OBJECT);
    size_t size = 1 << 20;
    char *big = arena_alloc(&f->arena, size);
    memset(big, 'x', size);
    json_set(&f->arena, metadata, STR("name"), json_new_str(&f->arena, STR("a")));
    json_set(&f->arena, object, STR("metadata"), metadata);
    json_set(&f->arena, object, STR("data"), json_new_str(&f->arena, (struct str){ big, size }));
    struct as_bucket *bucket = as_store_bucket(store, STR(""), STR("things"));
    for (int i = 0; i < 70; i++)
        as_bucket_put(bucket, object);
    struct stat stat_buf;
    assert_int_equal(stat(f->journal, &stat_buf), 0);
    assert_true(stat_buf.st_size < 16 << 20);
    int64_t rv = as_store_rv(store);
    as_persist_free(persist);
    as_store_free(store);
    store = as_store_new(2);
    persist = as_persist_open(f->dir, store, &err);
    assert_non_null(persist);
    assert_int_equal(as_store_rv(store), rv);
    assert_non_null(as_bucket_get(as_store_bucket(store, STR(""), STR("things")), STR_NULL, STR("a")));
    as_persist_free(persist);
    as_store_free(store);
}

static void persist__loading_the_same_manifests_after_a_restart_writes_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    char crds[128];
    snprintf(crds, sizeof crds, "%s/crds", KOORD_SOURCE_DIR);
    struct apiserver_options options = { .data_dir = f->dir, .crds_dir = crds };
    struct apiserver *server = apiserver_new(f->loop, &options, &err);
    assert_non_null(server);
    put_text(server, CM("a", "1"));
    int64_t rv = apiserver_resource_version(server);
    apiserver_free(server);
    server = apiserver_new(f->loop, &options, &err);
    assert_non_null(server);
    put_text(server, CM("a", "1"));
    assert_int_equal(apiserver_resource_version(server), rv);
    apiserver_free(server);
}

static void replay__row(void **state)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct as_store *store = as_store_new(0);
    assert_false(as_persist_replay(store, &arena, str_c(*state), NULL));
    as_store_free(store);
}

/* ---- the program ---- */

struct program {
    pid_t pid;
    int port;
};

static struct program program_start(struct fixture *f)
{
    int out[2];
    assert_int_equal(pipe(out), 0);
    struct program program = { .pid = fork() };
    if (program.pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        execl(TEST_APISERVER, TEST_APISERVER, "--data", f->dir, "--control", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *file = fdopen(out[0], "r");
    char line[256] = "";
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    struct str prefix = STR("listening on http://127.0.0.1:");
    struct str text = str_trim(str_c(line));
    int64_t port = 0;
    assert_true(str_starts_with(text, prefix) && str_to_i64(str_slice(text, prefix.len, text.len), &port));
    program.port = (int)port;
    return program;
}

static int program_stop(struct program *program, int signal)
{
    int status = 0;
    kill(program->pid, signal);
    while (waitpid(program->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

struct answer {
    bool done;
    int status;
};

static void on_answer(void *self, const struct http_result *result)
{
    struct answer *answer = self;
    answer->done = true;
    answer->status = result->status;
}

static bool answered(void *self)
{
    return ((struct answer *)self)->done;
}

static void on_guard(void *self)
{
    (void)self;
    fail_msg("no answer");
}

/* A client of another process: the harness without its own server. */
static int program_put(struct fixture *f, struct http_client *client, const struct program *program,
                       const char *name)
{
    const char *path = "/api/v1/namespaces/default/configmaps";
    struct http_header header = { STR("Content-Type"), STR("application/json") };
    struct answer answer = { 0 };
    struct http_request request = {
        .method = "POST",
        .url = arena_strf(&f->arena, "http://127.0.0.1:%d%s", program->port, path),
        .headers = &header,
        .header_count = 1,
        .body = arena_strf(
            &f->arena, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"}}", name),
        .done = on_answer,
        .self = &answer,
    };
    assert_non_null(http_send(client, &request, NULL));
    struct harness waiting = { .loop = f->loop };
    loop_timer_init(&waiting.guard, f->loop, on_guard, NULL);
    harness_until(&waiting, answered, &answer);
    loop_timer_done(&waiting.guard);
    return answer.status;
}

static void persist__kill_9_loses_nothing_that_was_answered(void **state)
{
    struct fixture *f = *state;
    char name[16];
    int made = 0;
    struct http_client_options options = { .user_agent = STR("x") };
    for (int round = 0; round < 3; round++) {
        struct program program = program_start(f);
        struct http_client *client = http_client_new(f->loop, &options, NULL);
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof name, "cm-%03d", made);
            assert_int_equal(program_put(f, client, &program, name), 201);
            made++;
        }
        http_client_free(client);
        assert_true(WIFSIGNALED(program_stop(&program, SIGKILL)));
    }
    struct apiserver *server = open_server(f);
    const struct json **objects;
    assert_int_equal(apiserver_list(server, STR("configmaps"), &f->arena, &objects), made);
    /* Four namespaces came before; nothing was counted twice. */
    assert_int_equal(apiserver_resource_version(server), 1 + 4 + made);
    apiserver_free(server);
}

static void program__ends_cleanly_on_sigterm(void **state)
{
    struct program program = program_start(*state);
    int status = program_stop(&program, SIGTERM);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)
#define REPLAY(name_, line_)                                                                                 \
    {                                                                                                        \
        "replay refuses: " name_, replay__row, NULL, NULL, (void *)(uintptr_t)(line_)                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(persist__objects_and_versions_come_back),
        TEST(persist__custom_resources_come_back_with_their_definition),
        TEST(persist__a_torn_last_line_is_forgotten),
        TEST(persist__damage_in_the_middle_is_an_error_not_an_empty_cluster),
        TEST(persist__two_servers_do_not_share_a_folder),
        TEST(persist__the_journal_is_rewritten_when_it_has_grown),
        TEST(persist__loading_the_same_manifests_after_a_restart_writes_nothing),
        REPLAY("no JSON", "{"),
        REPLAY("no version", "{\"resource\":\"x\"}"),
        REPLAY("version 0", "{\"rv\":0}"),
        REPLAY("neither put nor delete", "{\"rv\":5,\"group\":\"\",\"resource\":\"x\"}"),
        REPLAY("an object without a name",
               "{\"rv\":5,\"group\":\"\",\"resource\":\"x\",\"put\":{\"metadata\":{}}}"),
        TEST(persist__kill_9_loses_nothing_that_was_answered),
        TEST(program__ends_cleanly_on_sigterm),
    };
    return cmocka_run_group_tests_name("apiserver/persist", tests, NULL, NULL);
}
