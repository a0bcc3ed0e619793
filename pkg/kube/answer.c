#include "kube/answer.h"

#define MAX_RETRY_AFTER_S 60
#define MAX_QUOTED_BYTES 160

/* Only "Status" objects speak about the request; other kinds have fields of these names. */
struct answer_kind {
    struct str kind;
};
static const struct json_field kind_fields[] = {
    JSON_FIELD_STR(struct answer_kind, kind, "kind"),
};
static const struct json_table kind_table = JSON_TABLE(struct answer_kind, kind_fields);

bool kube_is_json(struct str content_type)
{
    struct str type, parameters;
    str_cut(content_type, ';', &type, &parameters);
    return str_eq_nocase(str_trim(type), STR("application/json"));
}

static bool is_plain(const struct kube_answer *answer)
{
    return str_empty(answer->content_encoding) || str_eq_nocase(answer->content_encoding, STR("identity"));
}

/* Foreign text as one readable line. */
static void quote(struct strbuf *out, struct str text)
{
    text = str_slice(str_trim(text), 0, MAX_QUOTED_BYTES);
    for (size_t i = 0; i < text.len;) {
        size_t len = str_utf8_len(str_slice(text, i, 4));
        bool printable = len > 1 || (len == 1 && (unsigned char)text.ptr[i] >= 0x20 && text.ptr[i] != 0x7f);
        strbuf_add(out, printable ? str_slice(text, i, len) : STR(" "));
        i += len ? len : 1;
    }
}

static void protocol_error(struct kube_response *ret, const char *what, struct str detail)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(4 * MAX_QUOTED_BYTES);
    quote(&text, detail);
    ret->failure = KUBE_PROTOCOL;
    err_set(&ret->err, kube_failure_err_kind(KUBE_PROTOCOL), "not an API server's answer (HTTP %d): %s%s",
            ret->code, what, strbuf_cstr(&text));
}

/* True with *ret: the body is a Status. False with err: it is not JSON at all. */
static bool read_status(struct arena *arena, struct str body, struct api_status **ret, struct err *err)
{
    struct answer_kind kind = { 0 };
    *ret = NULL;
    if (!json_decode(arena, body, &kind_table, &kind, NULL, err))
        return false;
    if (!str_eq(kind.kind, STR("Status")))
        return true;
    struct api_status *status = arena_new(arena, struct api_status);
    if (!json_decode(arena, body, &api_status_table, status, NULL, err))
        return false;
    *ret = status;
    return true;
}

/* False: the answer is unusable, and the response says so. */
static bool check_success(const struct kube_answer *answer, const struct err *bad_json,
                          struct kube_response *ret)
{
    if (str_empty(answer->body)) {
        bool due = answer->code != 202 && answer->code != 204 && answer->verb != KUBE_DELETE;
        if (due)
            protocol_error(ret, "the body is empty", STR_NULL);
        return !due;
    }
    if (!is_plain(answer))
        protocol_error(ret, "nobody asked for the encoding ", answer->content_encoding);
    else if (str_empty(answer->content_type))
        protocol_error(ret, "no Content-Type", STR_NULL);
    else if (!kube_is_json(answer->content_type))
        protocol_error(ret, "Content-Type is not JSON but ", answer->content_type);
    else if (bad_json->kind != ERR_NONE)
        protocol_error(ret, "bad JSON: ", str_c(bad_json->text));
    return ret->failure == KUBE_OK;
}

static void set_message(const struct kube_answer *answer, const struct api_status *status,
                        struct kube_response *ret)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(4096);
    bool has_message = status && !str_empty(status->message);
    if (has_message || is_plain(answer))
        quote(&text, has_message ? status->message : answer->body);
    err_set(&ret->err, kube_failure_err_kind(ret->failure), "HTTP %d%s%s", ret->code, text.len ? ": " : "",
            strbuf_cstr(&text));
}

void kube_answer_read(struct arena *arena, const struct kube_answer *answer, struct kube_response *ret)
{
    *ret = (struct kube_response){ .code = answer->code,
                                   .retry_after_ms = answer->retry_after_ms,
                                   .body = answer->body };
    struct err bad_json = ERR_INIT;
    struct api_status *status = NULL;
    if (!str_empty(answer->body) && is_plain(answer) && kube_is_json(answer->content_type))
        read_status(arena, answer->body, &status, &bad_json);
    if (answer->code >= 200 && answer->code < 300 && !check_success(answer, &bad_json, ret))
        return;
    ret->failure = kube_classify(answer->code, status, answer->verb == KUBE_CREATE);
    if (ret->failure == KUBE_OK) {
        ret->retry_after_ms = -1;
        return;
    }
    if (ret->retry_after_ms < 0 && status && status->retry_after_s > 0)
        ret->retry_after_ms = min_i64(status->retry_after_s, MAX_RETRY_AFTER_S) * 1000;
    set_message(answer, status, ret);
}
