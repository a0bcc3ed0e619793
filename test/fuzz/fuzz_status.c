#include "kube/answer.h"

/* The first two bytes choose code, verb and media type; the rest is the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int codes[] = { 200, 201, 204, 301, 400, 401, 403, 404,
                                 409, 410, 422, 429, 500, 503, 504, 999 };
    static const enum kube_verb verbs[] = { KUBE_GET, KUBE_LIST, KUBE_CREATE, KUBE_DELETE };
    static const char *const types[] = { "application/json", "text/html", "", "application/json;q" };
    if (size < 2)
        return 0;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct kube_answer answer = {
        .code = codes[data[0] % ARRAY_LEN(codes)],
        .content_type = str_c(types[data[1] % ARRAY_LEN(types)]),
        .retry_after_ms = -1,
        .body = { .ptr = (const char *)data + 2, .len = size - 2 },
        .verb = verbs[data[1] / ARRAY_LEN(types) % ARRAY_LEN(verbs)],
    };
    struct kube_response response;
    kube_answer_read(&arena, &answer, &response);
    bool good = response.failure == KUBE_OK;
    if (good != (response.err.kind == ERR_NONE) || (good && answer.code >= 300))
        __builtin_trap();
    if (response.retry_after_ms < -1 || response.retry_after_ms > 60000)
        __builtin_trap();
    if (!str_is_utf8(str_c(response.err.text)) || strchr(response.err.text, '\n'))
        __builtin_trap();
    return 0;
}
