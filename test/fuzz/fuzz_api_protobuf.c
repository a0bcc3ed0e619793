/* Protobuf bodies: whatever is accepted is a tree that can be written and read again. */
#include "test/apiserver/protobuf.h"
#include "test/apiserver/tree.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *object, *again;
    if (!api_protobuf_decode(&arena, (struct str){ (const char *)data, size }, &object, &error)) {
        if (error.code != 400 && error.code != 415)
            abort();
        return 0;
    }
    struct str text = api_text(&arena, object, SIZE_MAX);
    if (!json_parse(&arena, text, NULL, &again, NULL) || !json_equal(object, again))
        abort();
    return 0;
}
