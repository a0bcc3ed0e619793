/* Request heads: whatever is accepted is unambiguous, and its parts lie inside the text. */
#include "http/head.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_clean(struct str text, struct str part)
{
    for (size_t i = 0; i < part.len; i++)
        check(part.ptr[i] != '\r' && part.ptr[i] != '\n' && part.ptr[i] != '\0');
    bool inside = part.ptr >= text.ptr && part.ptr + part.len <= text.ptr + text.len;
    check(inside || part.len <= 1); /* "/" for a target that is a mere authority */
}

static void check_head(struct str text, const struct http_head *head)
{
    check_clean(text, head->method);
    check_clean(text, head->path);
    check_clean(text, head->query);
    check(head->path.len > 0 && (head->minor == 0 || head->minor == 1));
    check(head->content_length >= 0 && !(head->chunked && head->content_length > 0));
    for (size_t i = 0; i < head->field_count; i++) {
        check_clean(text, head->fields[i].name);
        check_clean(text, head->fields[i].value);
        check(http_head_field(head, head->fields[i].name).ptr != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { .ptr = (const char *)data, .len = size };
    struct http_head head;
    int status = http_head_parse(&arena, text, &head);
    check(status == 0 || (status >= 400 && status < 600));
    if (status == 0)
        check_head(text, &head);
    check(http_chunk_size(text) >= -1);
    return 0;
}
