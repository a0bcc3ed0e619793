#include "test/apiserver/control.h"

#include "test/apiserver/watch.h"

static void answer_ok(struct as_request *request)
{
    as_answer(request, 200, "application/json", STR("{}\n"));
}

static void refuse(struct as_request *request, int status, const char *text)
{
    struct json *answer = json_new(&request->arena, JSON_OBJECT);
    json_set(&request->arena, answer, STR("error"), json_new_str(&request->arena, str_c(text)));
    as_answer_json(request, status, answer);
}

static void add_fault(struct as_request *request)
{
    struct err err = ERR_INIT;
    struct apiserver_fault fault;
    int64_t id;
    if (!as_fault_from_json(&request->arena, request->body, &fault, &err) ||
        !as_faults_add(&request->server->faults, &fault, &id, &err)) {
        refuse(request, 400, err.text);
        return;
    }
    struct json *answer = json_new(&request->arena, JSON_OBJECT);
    json_set(&request->arena, answer, STR("id"), json_new_i64(&request->arena, id));
    as_answer_json(request, 201, answer);
}

static void list_faults(struct as_request *request)
{
    as_answer_json(request, 200, as_faults_json(&request->arena, &request->server->faults));
}

static int64_t number_param(const struct as_request *request, const char *name)
{
    int64_t number;
    return str_to_i64(as_param(&request->params, name), &number) ? number : 0;
}

static void delete_faults(struct as_request *request)
{
    if (!as_param_given(&request->params, "id"))
        as_faults_clear(&request->server->faults);
    else if (!as_faults_remove(&request->server->faults, number_param(request, "id"))) {
        refuse(request, 404, "no such fault");
        return;
    }
    answer_ok(request);
}

static void compact(struct as_request *request)
{
    apiserver_compact(request->server);
    answer_ok(request);
}

static void cut_watches(struct as_request *request)
{
    apiserver_cut_watches(request->server);
    answer_ok(request);
}

static void end_watches(struct as_request *request)
{
    apiserver_end_watches(request->server);
    answer_ok(request);
}

static void bookmark(struct as_request *request)
{
    apiserver_bookmark(request->server);
    answer_ok(request);
}

static void pause_server(struct as_request *request)
{
    apiserver_pause(request->server);
    answer_ok(request);
}

static void resume_server(struct as_request *request)
{
    apiserver_resume(request->server);
    answer_ok(request);
}

static void list_requests(struct as_request *request)
{
    const struct as_request_log *log = request->server->log;
    int64_t since = number_param(request, "since");
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < as_request_log_count(log); i++) {
        const struct apiserver_request *entry = as_request_log_at(log, i);
        if (entry->id <= since)
            continue;
        as_request_log_format(&text, entry, NULL);
        strbuf_addc(&text, '\n');
    }
    as_answer(request, 200, "application/x-ndjson", strbuf_str(&text));
}

static void delete_requests(struct as_request *request)
{
    as_request_log_clear(request->server->log);
    answer_ok(request);
}

static void state(struct as_request *request)
{
    struct arena *arena = &request->arena;
    struct apiserver *server = request->server;
    struct json *answer = json_new(arena, JSON_OBJECT);
    json_set(arena, answer, STR("resourceVersion"), json_new_i64(arena, as_store_rv(server->store)));
    json_set(arena, answer, STR("watches"), json_new_i64(arena, (int64_t)as_watch_count(server)));
    json_set(arena, answer, STR("requests"), json_new_i64(arena, (int64_t)as_request_log_count(server->log)));
    json_set(arena, answer, STR("paused"), json_new_bool(arena, server->paused));
    as_answer_json(request, 200, answer);
}

static const struct {
    const char *method;
    const char *name;
    void (*handle)(struct as_request *request);
} controls[] = {
    { "POST", "faults", add_fault },           { "GET", "faults", list_faults },
    { "DELETE", "faults", delete_faults },     { "POST", "compact", compact },
    { "POST", "cut-watches", cut_watches },    { "POST", "end-watches", end_watches },
    { "POST", "bookmark", bookmark },          { "POST", "pause", pause_server },
    { "POST", "resume", resume_server },       { "GET", "requests", list_requests },
    { "DELETE", "requests", delete_requests }, { "GET", "state", state },
};

void as_control(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct str name = str_slice(request->path, sizeof AS_CONTROL_PREFIX - 1, request->path.len);
    if (!as_params_parse(&request->arena, request->query, &request->params, &error)) {
        as_answer_error(request, &error);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
        if (str_eq(name, str_c(controls[i].name)) && str_eq(request->method, str_c(controls[i].method))) {
            controls[i].handle(request);
            return;
        }
    }
    refuse(request, 404, "no such control");
}
