/* What the in-tree API server reads from a request line: address, query, list options,
 * continue token, field selector. One input, "path?query". */
#include "test/apiserver/fields.h"
#include "test/apiserver/listopts.h"
#include "test/apiserver/traits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_options(struct arena *arena, const struct as_params *params, bool watch)
{
    const struct as_traits *traits = as_traits_of(STR(""), STR("pods"));
    struct as_bucket bucket = { .fields = traits->fields, .field_count = traits->field_count };
    struct as_filter_source source = { .bucket = &bucket };
    struct api_error error = API_ERROR_INIT;
    struct as_list_options options;
    struct as_filter filter;
    struct as_read read;
    if (!as_list_options_parse(arena, params, watch, AS_WATCH_LIST_ON, &options, &error))
        return;
    source.label_selector = options.label_selector;
    source.field_selector = options.field_selector;
    if (!watch && !as_list_options_read(arena, &options, &read, &error))
        return;
    if (!as_filter_parse(arena, &source, &filter, &error) && error.code == 0)
        __builtin_trap(); /* a refusal must say so */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str path, query;
    struct api_error error = API_ERROR_INIT;
    struct as_route route;
    struct as_params params;
    str_cut((struct str){ (const char *)data, size }, '?', &path, &query);
    if (!as_route_parse(&arena, path, &route, &error) && error.code == 0)
        __builtin_trap();
    if (as_params_parse(&arena, query, &params, &error)) {
        read_options(&arena, &params, false);
        read_options(&arena, &params, true);
    }
    return 0;
}
