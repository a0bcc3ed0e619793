#include "test/apiserver/path.h"

void api_path_write(struct strbuf *out, const struct api_path *path)
{
    if (!path)
        return;
    api_path_write(out, path->parent);
    switch (path->kind) {
    case API_PATH_FIELD:
        strbuf_addf(out, "%s" STR_FMT, path->parent ? "." : "", STR_ARG(path->name));
        break;
    case API_PATH_KEY:
        strbuf_addf(out, "[" STR_FMT "]", STR_ARG(path->name));
        break;
    case API_PATH_INDEX:
        strbuf_addf(out, "[%zu]", path->index);
        break;
    }
}

struct str api_path_str(struct arena *arena, const struct api_path *path)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 * 1024);
    api_path_write(&out, path);
    return arena_str(arena, strbuf_str(&out));
}
