#include "kube/kubeconfig_file.h"
#include "kube/proxy_env.h"

/* "server\nNO_PROXY": appending an entry never takes a bypass away. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { .ptr = (const char *)data, .len = size }, server, list, checked;
    str_cut(text, '\n', &server, &list);
    if (!kubeconfig_check_server(server, &checked, NULL))
        return 0;
    bool bypassed = proxy_is_bypassed(list, checked);
    struct strbuf longer = STRBUF_INIT(1 << 20);
    strbuf_add(&longer, list);
    strbuf_add(&longer, STR(",other.example"));
    if (bypassed && !proxy_is_bypassed(strbuf_str(&longer), checked))
        __builtin_trap();
    strbuf_done(&longer);
    struct str url;
    if (proxy_from_variable(&arena, list, &url, NULL) && !str_empty(url) && !proxy_is_usable(url))
        __builtin_trap();
    return 0;
}
