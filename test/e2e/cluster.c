#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit.h"
#include "real.h"

#define SERVER_FLAGS_MAX 32

/* --- the in-tree server -------------------------------------------------------------- */

static const char *find_url(struct e2e *e2e)
{
    struct str rest = program_output(e2e->server, &e2e->arena), line;
    while (rest.len) {
        str_cut(rest, '\n', &line, &rest);
        if (str_starts_with(line, STR("listening on ")))
            return arena_str(&e2e->arena, str_slice(line, 13, line.len)).ptr;
    }
    return NULL;
}

static void start_server(struct e2e *e2e)
{
    e2e->server = e2e_start(e2e, "test-apiserver", E2E_APISERVER, e2e->server_arguments);
    EVENTUALLY(e2e, (e2e->url = find_url(e2e)));
}

static const char *flag_after(const char *const *flags, const char *name)
{
    for (size_t i = 1; flags[i]; i++)
        if (strcmp(flags[i], name) == 0)
            return flags[i + 1];
    return NULL;
}

/* The address has to stay the same over restarts, so the port the kernel picked first is
 * asked for again. */
static void keep_arguments(struct e2e *e2e, const char *port, const char *const *flags)
{
    const char **arguments = arena_array(&e2e->arena, const char *, SERVER_FLAGS_MAX);
    size_t count = 0;
    arguments[count++] = "--control";
    arguments[count++] = "--port";
    arguments[count++] = port;
    if (!flag_after(flags, "--crds")) {
        arguments[count++] = "--crds";
        arguments[count++] = E2E_CRDS;
    }
    for (size_t i = 1; flags[i] && count < SERVER_FLAGS_MAX - 1; i++)
        arguments[count++] = flags[i];
    e2e->server_arguments = arguments;
}

void e2e_serve_with(struct e2e *e2e, const char *const *flags)
{
    if (getenv("KOORD_TEST_KUBECONFIG")) {
        if (flags[1])
            e2e_skip(e2e, "it needs a server started in its own way");
        real_cluster_take(e2e, getenv("KOORD_TEST_KUBECONFIG"));
        return;
    }
    keep_arguments(e2e, "0", flags);
    start_server(e2e);
    keep_arguments(e2e, strrchr(e2e->url, ':') + 1, flags);
    struct str kubeconfig = arena_strf(&e2e->arena,
                                       "{apiVersion: v1, kind: Config, current-context: e2e, users: [],"
                                       " contexts: [{name: e2e, context: {cluster: e2e}}],"
                                       " clusters: [{name: e2e, cluster: {server: '%s'}}]}\n",
                                       e2e->url);
    e2e->kubeconfig = e2e_write_file(e2e, "kubeconfig", kubeconfig);
}

void e2e_need_control(struct e2e *e2e)
{
    if (e2e->real || getenv("KOORD_TEST_KUBECONFIG"))
        e2e_skip(e2e, "it needs to control the server");
}

bool e2e_has_log(const struct e2e *e2e)
{
    return !e2e->real || audit_cluster_dir();
}

void e2e_need_log(struct e2e *e2e)
{
    if (!e2e_has_log(e2e))
        e2e_skip(e2e, "it needs to know what the server was asked");
}

void e2e_serve_again(struct e2e *e2e)
{
    start_server(e2e);
}

/* --- requests ----------------------------------------------------------------------- */

static struct rest_answer call(struct e2e *e2e, const char *method, const char *content_type, struct str body,
                               const char *path)
{
    struct rest_request request = { .method = method,
                                    .url = arena_strf(&e2e->arena, "%s%s", e2e->url, path).ptr,
                                    .content_type = content_type,
                                    .body = body,
                                    .credentials = &e2e->credentials };
    struct rest_answer answer;
    /* A real server is not ready for a custom resource the moment its CRD is. */
    EVENTUALLY(e2e, (answer = rest_call(e2e->rest, &request, &e2e->arena)).code != 429 || !e2e->real);
    if (answer.code == 0)
        fail_msg("%s %s: " STR_FMT, method, path, STR_ARG(answer.body));
    return answer;
}

static const char *format_path(struct e2e *e2e, const char *format, va_list args)
{
    CLEANUP(strbuf_done) struct strbuf path = STRBUF_INIT(64 * 1024);
    strbuf_addv(&path, format, args);
    return arena_str(&e2e->arena, strbuf_str(&path)).ptr;
}

struct rest_answer e2e_call(struct e2e *e2e, const char *method, const char *content_type, struct str body,
                            const char *path, ...)
{
    va_list args;
    va_start(args, path);
    const char *full = format_path(e2e, path, args);
    va_end(args);
    return call(e2e, method, content_type, body, full);
}

const struct json *e2e_get(struct e2e *e2e, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    const char *full = format_path(e2e, path, args);
    va_end(args);
    struct rest_answer answer = call(e2e, "GET", NULL, STR_NULL, full);
    if (answer.code == 404)
        return NULL;
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (answer.code != 200 || !json_parse(&e2e->arena, answer.body, NULL, &root, &err))
        fail_msg("GET %s: %d %s " STR_FMT, full, answer.code, err.text, STR_ARG(answer.body));
    return root;
}

static struct str with_quotes(struct arena *arena, struct str text)
{
    char *copy = (char *)arena_str(arena, text).ptr;
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] == '\'')
            copy[i] = '"';
    return (struct str){ copy, text.len };
}

struct str e2e_json(struct e2e *e2e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = format_path(e2e, format, args);
    va_end(args);
    return with_quotes(&e2e->arena, str_c(text));
}

void e2e_patch(struct e2e *e2e, const char *path, const char *body, ...)
{
    va_list args;
    va_start(args, body);
    struct str text = with_quotes(&e2e->arena, str_c(format_path(e2e, body, args)));
    va_end(args);
    struct rest_answer answer = call(e2e, "PATCH", "application/merge-patch+json", text, path);
    if (answer.code != 200)
        fail_msg("PATCH %s: %d " STR_FMT, path, answer.code, STR_ARG(answer.body));
}

void e2e_delete(struct e2e *e2e, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    const char *full = format_path(e2e, path, args);
    va_end(args);
    struct rest_answer answer = call(e2e, "DELETE", NULL, STR_NULL, full);
    if (answer.code != 200 && answer.code != 404)
        fail_msg("DELETE %s: %d " STR_FMT, full, answer.code, STR_ARG(answer.body));
}

/* --- control ------------------------------------------------------------------------ */

static const struct json *control(struct e2e *e2e, const char *method, struct str body, const char *name)
{
    e2e_need_control(e2e);
    const char *path = arena_strf(&e2e->arena, "/-/control/%s", name).ptr;
    struct rest_answer answer = call(e2e, method, NULL, body, path);
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (answer.code >= 300 || !json_parse(&e2e->arena, answer.body, NULL, &root, &err))
        fail_msg("%s %s: %d %s " STR_FMT, method, path, answer.code, err.text, STR_ARG(answer.body));
    return root;
}

void e2e_control(struct e2e *e2e, const char *name)
{
    control(e2e, "POST", STR("{}"), name);
}

static int64_t number(const struct json *object, const char *key)
{
    int64_t value = 0;
    assert_true(json_i64(json_get(object, str_c(key)), &value));
    return value;
}

int64_t e2e_fault(struct e2e *e2e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str body = with_quotes(&e2e->arena, str_c(format_path(e2e, format, args)));
    va_end(args);
    return number(control(e2e, "POST", body, "faults"), "id");
}

int64_t e2e_fault_hits(struct e2e *e2e, int64_t id)
{
    const struct json *list = control(e2e, "GET", STR_NULL, "faults");
    for (size_t i = 0; i < json_count(list); i++)
        if (number(list->array.items[i], "id") == id)
            return number(list->array.items[i], "hits");
    return 0;
}

void e2e_clear_faults(struct e2e *e2e)
{
    control(e2e, "DELETE", STR_NULL, "faults");
}

int64_t e2e_watches(struct e2e *e2e)
{
    return number(control(e2e, "GET", STR_NULL, "state"), "watches");
}
