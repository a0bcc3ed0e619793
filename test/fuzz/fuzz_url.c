/* URLs: encoding undoes decoding, and a query's parameters survive being written again. */
#include "http/url.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void encode_decode(struct arena *arena, struct str text)
{
    CLEANUP(strbuf_done) struct strbuf encoded = STRBUF_INIT(text.len * 3 + 1);
    struct str decoded = STR_NULL;
    url_encode(&encoded, text);
    check(!encoded.overflow && url_decode(arena, strbuf_str(&encoded), &decoded, NULL));
    check(str_eq(decoded, text));
}

static void query_round_trip(struct arena *arena, const struct url_param *params, size_t count, size_t limit)
{
    CLEANUP(strbuf_done) struct strbuf query = STRBUF_INIT(limit);
    for (size_t i = 0; i < count; i++) {
        url_encode(&query, params[i].name);
        strbuf_addc(&query, '=');
        url_encode(&query, params[i].value);
        strbuf_addc(&query, '&');
    }
    struct url_param *again = NULL;
    size_t again_count = 0;
    check(!query.overflow && url_query_parse(arena, strbuf_str(&query), &again, &again_count, NULL));
    check(again_count == count);
    for (size_t i = 0; i < count; i++)
        check(str_eq(again[i].name, params[i].name) && str_eq(again[i].value, params[i].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { .ptr = (const char *)data, .len = size }, decoded;
    struct url_param *params;
    size_t count;
    encode_decode(&arena, text);
    if (url_decode(&arena, text, &decoded, NULL))
        encode_decode(&arena, decoded);
    if (url_query_parse(&arena, text, &params, &count, NULL))
        query_round_trip(&arena, params, count, size * 5 + 16);
    return 0;
}
