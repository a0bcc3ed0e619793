#include "kube/kubeconfig_file.h"

/* Also resolves what was read, as one file and merged with itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct kube_config config;
    struct kubeconfig_source sources[2] = { { .path = STR("/a/config") }, { .path = STR("/b/config") } };
    struct str text = { .ptr = (const char *)data, .len = size };
    if (!kubeconfig_parse(&arena, text, STR("/a"), &sources[0].file, &err)) {
        if (err.kind != ERR_INVALID)
            __builtin_trap();
        return 0;
    }
    sources[1].file = sources[0].file;
    bool one = kubeconfig_resolve(&arena, sources, 1, NULL, &config, &err);
    if (one && (str_empty(config.server) || str_empty(config.ns)))
        __builtin_trap();
    if (one != kubeconfig_resolve(&arena, sources, 2, NULL, &config, NULL))
        __builtin_trap();
    return 0;
}
