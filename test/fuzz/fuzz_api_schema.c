/* Two lines of JSON, a schema and a value: what pruning and defaulting make of the value
 * stays as it is when they see it again. */
#include "test/apiserver/schema.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = { .max_depth = 64 };
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str first, second, rest = { .ptr = (const char *)data, .len = size };
    const struct json *raw, *value;
    const struct api_schema *schema;
    if (size > 65536 || !str_cut(rest, '\n', &first, &rest))
        return 0;
    str_cut(rest, '\n', &second, &rest);
    if (!json_parse(&arena, first, &limits, &raw, NULL) ||
        !json_parse(&arena, second, &limits, &value, NULL) || !api_schema_compile(&arena, raw, &schema, NULL))
        return 0;
    const struct json *pruned = api_schema_prune(&arena, schema, value, NULL);
    if (!json_equal(api_schema_prune(&arena, schema, pruned, NULL), pruned))
        abort();
    struct api_causes causes = API_CAUSES_INIT(&arena);
    api_schema_validate(schema, api_schema_default(&arena, schema, pruned), &causes);
    return 0;
}
