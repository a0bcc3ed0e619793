/* The annotations about third parties: any text is read or refused, and what is written
 * about it can be read again. */
#include "api/object.h"
#include "noderesource/third_party.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { (const char *)data, size };
    struct third_party allocations;
    struct err err = ERR_INIT;
    if (!noderesource_third_party_parse(&arena, text, &allocations, &err) && err.text[0] == '\0')
        __builtin_trap();
    struct intern *pool = intern_new();
    const struct istr *current = intern_get(pool, text);
    struct opt_i64 five = { true, 5 };
    const struct json *root;
    struct str origin = noderesource_origin_text(&arena, current, five, five);
    if (size < 4096 && !json_parse(&arena, origin, NULL, &root, NULL))
        __builtin_trap();
    istr_unref(current);
    intern_free(pool);
    return 0;
}
