#include "test/apiserver/body.h"

#include "test/apiserver/protobuf.h"
#include "yaml/yaml.h"

/* The media type without parameters; of several, the first. */
static struct str media_type(struct str content_type)
{
    struct str type, rest;
    str_cut(content_type, ',', &type, &rest);
    str_cut(type, ';', &type, &rest);
    return str_trim(type);
}

static bool parse_as(struct as_request *request, struct str type, const struct json **ret,
                     struct api_error *error)
{
    struct arena *arena = &request->arena;
    struct err err = ERR_INIT;
    if (str_eq(type, STR(API_PROTOBUF_MEDIA_TYPE)))
        return api_protobuf_decode(arena, request->body, ret, error);
    bool json = str_empty(type) || str_eq(type, STR("application/json")) || str_eq(type, STR("*/*"));
    bool yaml = str_eq(type, STR("application/yaml")) || str_eq(type, STR("application/apply-patch+yaml"));
    bool patch = str_ends_with(type, STR("-patch+json"));
    if (!json && !yaml && !patch)
        return api_fail_media_type(error, arena,
                                   "application/json, application/yaml, " API_PROTOBUF_MEDIA_TYPE);
    bool parsed = yaml ? kyaml_parse(arena, request->body, NULL, ret, &err)
                       : json_parse(arena, request->body, NULL, ret, &err);
    if (!parsed)
        return api_fail(error, arena, 400, "the body cannot be read: %s", err.text);
    return true;
}

bool as_body_parse(struct as_request *request, const struct json **ret, struct api_error *error)
{
    *ret = NULL;
    if (str_empty(str_trim(request->body)))
        return true;
    return parse_as(request, media_type(request->content_type), ret, error);
}

bool as_body_object(struct as_request *request, const struct json **ret, struct api_error *error)
{
    if (!as_body_parse(request, ret, error))
        return false;
    if (!json_is(*ret, JSON_OBJECT))
        return api_fail(error, &request->arena, 400, "the body is not an object");
    const struct json *metadata = json_get(*ret, STR("metadata"));
    if (metadata && !json_is(metadata, JSON_OBJECT) && !json_is(metadata, JSON_NULL))
        return api_fail(error, &request->arena, 400, "metadata is not an object");
    return true;
}

static const char *options_kind(const struct as_request *request)
{
    static const struct {
        struct str method;
        const char *kind;
    } kinds[] = {
        { STR_INIT("POST"), "CreateOptions" },
        { STR_INIT("PUT"), "UpdateOptions" },
        { STR_INIT("PATCH"), "PatchOptions" },
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i].method, request->method))
            return kinds[i].kind;
    return "DeleteOptions";
}

static bool refuse_option(struct as_request *request, const char *name, struct str given,
                          const struct str *supported, size_t count, struct api_error *error)
{
    struct api_causes causes = API_CAUSES_INIT(&request->arena);
    struct api_path path = API_FIELD(NULL, str_c(name));
    api_cause_unsupported(&causes, &path, given, supported, count);
    return api_fail_options(error, &request->arena, options_kind(request), &causes);
}

static bool parse_dry_run(struct as_request *request, bool *ret, struct api_error *error)
{
    static const struct str all = STR_INIT("All");
    struct str text = as_param(&request->params, "dryRun");
    *ret = str_eq(text, all);
    return *ret || str_empty(text) || refuse_option(request, "dryRun", text, &all, 1, error);
}

static bool parse_field_validation(struct as_request *request, enum api_field_validation *ret,
                                   struct api_error *error)
{
    static const struct str supported[] = { STR_INIT(""), STR_INIT("Ignore"), STR_INIT("Strict"),
                                            STR_INIT("Warn") };
    struct str text = as_param(&request->params, "fieldValidation");
    return api_field_validation_parse(text, ret) ||
           refuse_option(request, "fieldValidation", text, supported, ARRAY_LEN(supported), error);
}

static bool check_propagation(struct as_request *request, struct api_error *error)
{
    static const struct str supported[] = { STR_INIT("Foreground"), STR_INIT("Background"),
                                            STR_INIT("Orphan"), STR_INIT("nil") };
    struct str text = as_param(&request->params, "propagationPolicy");
    for (size_t i = 0; i + 1 < ARRAY_LEN(supported); i++)
        if (str_eq(supported[i], text))
            return true;
    return str_empty(text) ||
           refuse_option(request, "propagationPolicy", text, supported, ARRAY_LEN(supported), error);
}

bool as_write_options_parse(struct as_request *request, struct as_write_options *ret, struct api_error *error)
{
    struct str manager = as_param(&request->params, "fieldManager");
    struct str rest;
    if (str_empty(manager))
        str_cut(http_exchange_header(request->exchange, "User-Agent"), '/', &manager, &rest);
    if (manager.len > 128)
        return api_fail(error, &request->arena, 400, "fieldManager is longer than 128 characters");
    *ret = (struct as_write_options){
        .force = as_param_bool(&request->params, "force"),
        .writer = { .manager = manager.len ? manager : STR("unknown"),
                    .subresource = request->route.subresource,
                    .now = loop_wall(request->server->loop) },
    };
    ret->writer.force = ret->force;
    return parse_dry_run(request, &ret->dry_run, error) && check_propagation(request, error) &&
           parse_field_validation(request, &ret->field_validation, error);
}

void as_warn(struct as_request *request, const struct api_causes *warnings)
{
    if (!warnings->count)
        return;
    CLEANUP(strbuf_done) struct strbuf line = STRBUF_INIT(8 * 1024);
    for (size_t i = 0; i < warnings->count; i++) {
        strbuf_addf(&line, "%s299 - ", i ? ", " : "");
        json_write_str(&line, warnings->items[i].message);
    }
    if (!line.overflow)
        http_exchange_set_header(request->exchange, "Warning", strbuf_cstr(&line));
}
