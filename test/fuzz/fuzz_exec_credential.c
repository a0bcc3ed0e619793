#include "kube/exec_credential.h"
#include "kube/token.h"

/* What is accepted can be used as it is, and what is not is the input's fault. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct exec_credential credential;
    struct str output = { .ptr = (const char *)data, .len = size };
    if (!exec_credential_parse(&arena, output, STR("client.authentication.k8s.io/v1"), &credential, &err)) {
        if (err.kind != ERR_INVALID)
            __builtin_trap();
        return 0;
    }
    if (str_empty(credential.cert_pem) != str_empty(credential.key_pem) ||
        (str_empty(credential.token) ? str_empty(credential.cert_pem) : !token_is_valid(credential.token)))
        __builtin_trap();
    return 0;
}
