/* Any text as a reservation, as a raw allocatable and as a cpuset list. */
#include "noderesource/annotation.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_range(const struct amounts *amounts)
{
    return amounts->cpu_nano >= 0 && amounts->cpu_nano <= API_NANO_MAX && amounts->memory_nano >= 0 &&
           amounts->memory_nano <= API_NANO_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { .ptr = (const char *)data, .len = size };
    struct arena arena = ARENA_INIT;
    struct amounts amounts;
    if (noderesource_reservation_parse(&arena, text, &amounts, NULL) && !in_range(&amounts))
        abort();
    if (noderesource_raw_allocatable_parse(&arena, text, &amounts, NULL) && !in_range(&amounts))
        abort();
    int64_t count;
    if (noderesource_cpuset_count(text, &count, NULL) && (count < 0 || count > 4097))
        abort();
    arena_done(&arena);
    return 0;
}
