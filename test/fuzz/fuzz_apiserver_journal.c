/* One line of the in-tree API server's journal, and one scripted fault. */
#include "test/apiserver/faults.h"
#include "test/apiserver/persist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { (const char *)data, size };
    struct apiserver_fault fault;
    struct as_store *store = as_store_new(4);
    if (!as_persist_replay(store, &arena, text, NULL)) {
        /* Whatever it was, it must not have left half an object. */
        for (struct as_bucket *bucket = as_store_first(store); bucket; bucket = bucket->next)
            if (bucket->objects.count)
                __builtin_trap();
    }
    as_store_free(store);
    (void)!as_fault_from_json(&arena, text, &fault, NULL);
    return 0;
}
