#include "test/apiserver/listopts.h"

#include <inttypes.h>

#include "json/json.h"

bool as_rv_parse(struct arena *arena, struct str text, int code, struct opt_i64 *ret, struct api_error *error)
{
    *ret = (struct opt_i64){ 0 };
    if (str_empty(text))
        return true;
    if (text.ptr[0] >= '0' && text.ptr[0] <= '9' && str_to_i64(text, &ret->value)) {
        ret->set = true;
        return true;
    }
    (void)api_fail(error, arena, code, "invalid resource version \"" STR_FMT "\"", STR_ARG(text));
    if (code == 500)
        error->reason = "";
    return false;
}

static bool parse_number(struct arena *arena, const struct as_params *params, const char *name,
                         struct opt_i64 *ret, struct api_error *error)
{
    struct str text = as_param(params, name);
    *ret = (struct opt_i64){ 0 };
    if (str_empty(text))
        return true;
    if (!str_to_i64(text, &ret->value))
        return api_fail(error, arena, 400, "%s: \"" STR_FMT "\" is not a number", name, STR_ARG(text));
    ret->set = true;
    return true;
}

static bool refuse(struct arena *arena, const char *reason, const char *field, const char *message,
                   struct api_error *error)
{
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_path path = API_FIELD(NULL, str_c(field));
    api_cause_add(&causes, reason, &path, "%s", message);
    return api_fail_options(error, arena, "ListOptions", &causes);
}

static bool forbid(struct arena *arena, const char *field, const char *message, struct api_error *error)
{
    return refuse(arena, API_CAUSE_FORBIDDEN, field, message, error);
}

static bool parse_match(struct arena *arena, struct str text, struct as_list_options *options,
                        struct api_error *error)
{
    if (str_empty(text))
        options->match = AS_MATCH_UNSET;
    else if (str_eq(text, STR("Exact")))
        options->match = AS_MATCH_EXACT;
    else if (str_eq(text, STR("NotOlderThan")))
        options->match = AS_MATCH_NOT_OLDER;
    else
        return refuse(arena, API_CAUSE_NOT_SUPPORTED, "resourceVersionMatch",
                      "Unsupported value: supported values: \"Exact\", \"NotOlderThan\"", error);
    return true;
}

static bool check_watch(struct arena *arena, const struct as_list_options *options, enum as_watch_list gate,
                        struct api_error *error)
{
    bool streaming = options->send_initial_events.set;
    if (streaming && gate == AS_WATCH_LIST_OFF)
        return forbid(arena, "sendInitialEvents",
                      "Forbidden: streaming lists are switched off on this server", error);
    if (options->match != AS_MATCH_UNSET && !streaming)
        return forbid(arena, "resourceVersionMatch",
                      "Forbidden: not allowed for watch without sendInitialEvents", error);
    if (streaming && options->match != AS_MATCH_NOT_OLDER)
        return forbid(arena, "resourceVersionMatch",
                      "Forbidden: sendInitialEvents needs resourceVersionMatch NotOlderThan", error);
    if (options->continue_token.len)
        return forbid(arena, "resourceVersionMatch", "Forbidden: not allowed together with continue", error);
    return true;
}

static bool check_list(struct arena *arena, const struct as_list_options *options, struct api_error *error)
{
    if (options->send_initial_events.set)
        return forbid(arena, "sendInitialEvents", "Forbidden: only allowed for watch", error);
    if (options->match == AS_MATCH_UNSET)
        return true;
    if (options->continue_token.len)
        return forbid(arena, "resourceVersionMatch", "Forbidden: not allowed together with continue", error);
    if (!options->rv.set)
        return forbid(arena, "resourceVersionMatch", "Forbidden: not allowed without resourceVersion", error);
    if (options->match == AS_MATCH_EXACT && options->rv.value == 0)
        return forbid(arena, "resourceVersionMatch", "Forbidden: Exact is not allowed with resourceVersion 0",
                      error);
    return true;
}

bool as_list_options_parse(struct arena *arena, const struct as_params *params, bool watch,
                           enum as_watch_list gate, struct as_list_options *ret, struct api_error *error)
{
    struct opt_i64 limit;
    *ret = (struct as_list_options){
        .watch = watch,
        .bookmarks = as_param_bool(params, "allowWatchBookmarks"),
        .label_selector = as_param(params, "labelSelector"),
        .field_selector = as_param(params, "fieldSelector"),
        .continue_token = as_param(params, "continue"),
    };
    if (as_param_given(params, "sendInitialEvents"))
        ret->send_initial_events = (struct opt_bool){ true, as_param_bool(params, "sendInitialEvents") };
    if (!as_rv_parse(arena, as_param(params, "resourceVersion"), watch ? 500 : 400, &ret->rv, error) ||
        !parse_number(arena, params, "limit", &limit, error) ||
        !parse_number(arena, params, "timeoutSeconds", &ret->timeout_s, error))
        return false;
    ret->limit = max_i64(0, limit.value);
    if (watch && gate == AS_WATCH_LIST_IGNORE) {
        ret->send_initial_events = (struct opt_bool){ 0 };
        return true;
    }
    if (!parse_match(arena, as_param(params, "resourceVersionMatch"), ret, error))
        return false;
    return watch ? check_watch(arena, ret, gate, error) : check_list(arena, ret, error);
}

bool as_list_options_read(struct arena *arena, const struct as_list_options *options, struct as_read *ret,
                          struct api_error *error)
{
    *ret = (struct as_read){ .kind = AS_READ_LATEST };
    if (options->continue_token.len) {
        if (options->rv.set && options->rv.value)
            return api_fail(error, arena, 400, "a resource version cannot be given together with continue");
        if (!as_token_read(arena, options->continue_token, &ret->rv, &ret->from))
            return api_fail(error, arena, 400, "continue key is not valid");
        if (ret->rv > 0)
            ret->kind = AS_READ_EXACT;
        return true;
    }
    if (!options->rv.set || options->rv.value == 0)
        return true;
    ret->rv = options->rv.value;
    /* The rule older than resourceVersionMatch: a limit makes the version exact. */
    bool exact = options->match == AS_MATCH_EXACT || (options->match == AS_MATCH_UNSET && options->limit);
    ret->kind = exact ? AS_READ_EXACT : AS_READ_NOT_OLDER;
    return true;
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void base64_write(struct strbuf *out, struct str bytes)
{
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (uint8_t)bytes.ptr[i];
        for (have += 8; have >= 6; have -= 6)
            strbuf_addc(out, base64_digits[bits >> (have - 6) & 63]);
    }
    if (have)
        strbuf_addc(out, base64_digits[bits << (6 - have) & 63]);
}

static bool base64_read(struct strbuf *out, struct str text)
{
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.ptr[i] ? strchr(base64_digits, text.ptr[i]) : NULL;
        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - base64_digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            strbuf_addc(out, (char)(bits >> have & 255));
        }
    }
    return true;
}

struct str as_token_make(struct arena *arena, int64_t rv, struct str next_key)
{
    CLEANUP(strbuf_done) struct strbuf plain = STRBUF_INIT(SIZE_MAX);
    strbuf_addf(&plain, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%" PRId64 ",\"start\":", rv);
    json_write_str(&plain, next_key);
    strbuf_addc(&plain, '}');
    CLEANUP(strbuf_done) struct strbuf token = STRBUF_INIT(SIZE_MAX);
    base64_write(&token, strbuf_str(&plain));
    return arena_str(arena, strbuf_str(&token));
}

bool as_token_read(struct arena *arena, struct str token, int64_t *ret_rv, struct str *ret_key)
{
    CLEANUP(strbuf_done) struct strbuf plain = STRBUF_INIT(64 * 1024);
    const struct json *root = NULL;
    if (!base64_read(&plain, token) || plain.overflow ||
        !json_parse(arena, strbuf_str(&plain), NULL, &root, NULL))
        return false;
    *ret_key = json_str(json_get(root, STR("start")));
    return str_eq(json_str(json_get(root, STR("v"))), STR("meta.k8s.io/v1")) &&
           json_i64(json_get(root, STR("rv")), ret_rv) && ret_key->len && *ret_rv != 0 && *ret_rv >= -1;
}
