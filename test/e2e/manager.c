#include "manager.h"

#include <stdio.h>

#include "cluster.h"
#include "real.h"

#define FLAGS_MAX 64

static const char *url_of(struct e2e *e2e, const char *key)
{
    struct str log = program_output(e2e->manager, &e2e->arena);
    const char *at = log.len ? memmem(log.ptr, log.len, key, strlen(key)) : NULL;
    if (!at)
        return NULL;
    struct str rest = str_slice(log, (size_t)(at - log.ptr) + strlen(key), log.len);
    size_t digits = 0;
    while (digits < rest.len && rest.ptr[digits] >= '0' && rest.ptr[digits] <= '9')
        digits++;
    if (digits == rest.len)
        return NULL; /* the line is still being written */
    return arena_strf(&e2e->arena, "http://127.0.0.1:" STR_FMT, STR_ARG(str_slice(rest, 0, digits))).ptr;
}

void e2e_manage_with(struct e2e *e2e, const char *const *flags)
{
    const char *arguments[FLAGS_MAX] = {
        "--kubeconfig",
        e2e->manager_kubeconfig ? e2e->manager_kubeconfig : e2e->kubeconfig,
        "--metrics-addr",
        "127.0.0.1:0",
        "--health-probe-addr",
        "127.0.0.1:0",
        "--v",
        "4",
        "--enable-leader-election=false", /* nobody else is there; a killed leader's lease would be waited out
                                           */
        /* A test about another one says so: of a flag given twice the last counts. */
        "--noderesource-plugins",
        "MidResource",
        "--controllers",
        "nodemetric,noderesource",
    };
    size_t count = 13;
    for (size_t i = 1; flags[i] && count < FLAGS_MAX - 1; i++)
        arguments[count++] = flags[i];
    e2e->manager = e2e_start(e2e, "koord-manager", E2E_MANAGER, arguments);
    EVENTUALLY(e2e, (e2e->metrics_url = url_of(e2e, "metrics-port=")));
    EVENTUALLY(e2e, (e2e->health_url = url_of(e2e, "health-port=")));
}

static struct rest_answer get(struct e2e *e2e, const char *base, const char *path)
{
    struct rest_request request = { .method = "GET", .url = arena_strf(&e2e->arena, "%s%s", base, path).ptr };
    struct rest_answer answer = rest_call(e2e->rest, &request, &e2e->arena);
    if (answer.code == 0)
        fail_msg("GET %s%s: " STR_FMT, base, path, STR_ARG(answer.body));
    return answer;
}

int e2e_health_code(struct e2e *e2e, const char *path)
{
    return get(e2e, e2e->health_url, path).code;
}

bool e2e_ready(struct e2e *e2e)
{
    return e2e_health_code(e2e, "/readyz") == 200;
}

/* --- metrics ------------------------------------------------------------------------ */

static double series_value(struct str text, const char *series)
{
    struct str name = str_c(series), line;
    while (text.len) {
        str_cut(text, '\n', &line, &text);
        double value;
        if (str_starts_with(line, name) && line.len > name.len && line.ptr[name.len] == ' ' &&
            sscanf(line.ptr + name.len, " %lf", &value) == 1)
            return value;
    }
    return 0;
}

double e2e_metric(struct e2e *e2e, const char *series)
{
    return series_value(get(e2e, e2e->metrics_url, "/metrics").body, series);
}

static bool is_idle(struct e2e *e2e)
{
    static const char *const series[] = {
        "workqueue_depth{name=\"nodemetric\"}",
        "workqueue_depth{name=\"noderesource\"}",
        "workqueue_longest_running_processor_seconds{name=\"nodemetric\"}",
        "workqueue_longest_running_processor_seconds{name=\"noderesource\"}",
        "koord_manager_writes_unconfirmed{controller=\"nodemetric\"}",
        "koord_manager_writes_unconfirmed{controller=\"noderesource\"}",
    };
    struct str text = get(e2e, e2e->metrics_url, "/metrics").body;
    for (size_t i = 0; i < ARRAY_LEN(series); i++)
        if (series_value(text, series[i]) > 0)
            return false;
    return true;
}

static bool fence_passed(struct e2e *e2e, const char *name)
{
    return e2e_get(e2e, NODEMETRIC_PATH "/%s", name) != NULL;
}

void e2e_settle(struct e2e *e2e)
{
    const char *name = arena_strf(&e2e->arena, "fence-%d", ++e2e->fences).ptr;
    struct str body = e2e_json(e2e,
                               "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':"
                               "{" REAL_NODE_LABEL "}}}",
                               name);
    assert_int_equal(e2e_call(e2e, "POST", NULL, body, "/api/v1/nodes").code, 201);
    EVENTUALLY(e2e, fence_passed(e2e, name));
    EVENTUALLY(e2e, is_idle(e2e));
}

/* --- koordctl ----------------------------------------------------------------------- */

/* The plan in what was printed: from the line "{" to the line "}". Remarks to people stand
 * in the same log, before or after it. */
static struct str plan_in(struct str text)
{
    struct str rest = text, line;
    const char *begin = NULL;
    while (rest.len) {
        str_cut(rest, '\n', &line, &rest);
        if (!begin && str_eq(line, STR("{")))
            begin = line.ptr;
        if (begin && str_eq(line, STR("}")))
            return (struct str){ begin, (size_t)(line.ptr + line.len - begin) };
    }
    return STR_NULL;
}

const struct json *e2e_plan_with(struct e2e *e2e, int code, const char *const *flags)
{
    const char *arguments[FLAGS_MAX] = { "plan", "-o", "json", "--plugins", "MidResource" };
    size_t count = 5;
    bool offline = false;
    for (size_t i = 1; flags[i] && count < FLAGS_MAX - 3; i++) {
        offline = offline || strcmp(flags[i], "-f") == 0;
        arguments[count++] = flags[i];
    }
    if (!offline) {
        arguments[count++] = "--kubeconfig";
        arguments[count++] = e2e->kubeconfig;
    }
    struct str output;
    int got = e2e_run(e2e, "koordctl", E2E_KOORDCTL, arguments, &output);
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (got != code || !json_parse(&e2e->arena, plan_in(output), NULL, &root, &err))
        fail_msg("koordctl plan left with %d: %s", got, err.text);
    e2e->program_count--;
    program_free(e2e->programs[e2e->program_count]);
    return root;
}

static bool row_is_done(const struct json *row)
{
    const struct json *resources = json_get(row, STR("resources"));
    for (size_t i = 0; i < json_count(resources); i++)
        if (json_bool(json_get(resources->object.members[i].value, STR("write"))))
            return false;
    return str_eq(json_str(json_path(row, "nodeMetric", "action", NULL)), STR("none"));
}

bool e2e_is_as_planned(struct e2e *e2e)
{
    const struct json *nodes = json_get(e2e_plan(e2e, 0), STR("nodes"));
    for (size_t i = 0; i < json_count(nodes); i++)
        if (!row_is_done(nodes->array.items[i])) {
            CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
            json_write(&text, json_get(nodes->array.items[i], STR("resources")));
            json_write(&text, json_get(nodes->array.items[i], STR("nodeMetric")));
            print_message("still to do: %s\n", strbuf_cstr(&text));
            return false;
        }
    return json_count(nodes) > 0;
}
