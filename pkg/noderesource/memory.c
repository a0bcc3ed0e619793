#include "noderesource/memory.h"

#include <stdlib.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

struct entry {
    UT_hash_handle hh;
    struct node_memory memory;
    size_t name_len;
    char name[];
};

struct node_memories {
    struct entry *all;
};

struct node_memories *node_memories_new(void)
{
    return mem_zalloc(sizeof(struct node_memories));
}

void node_memories_free(struct node_memories *memories)
{
    if (!memories)
        return;
    struct entry *entry, *next;
    HASH_ITER(hh, memories->all, entry, next)
    {
        HASH_DELETE(hh, memories->all, entry);
        free(entry);
    }
    free(memories);
}

static struct entry *find(const struct node_memories *memories, struct str name)
{
    struct entry *entry;
    HASH_FIND(hh, memories->all, name.ptr, name.len, entry);
    return entry;
}

struct node_memory *node_memories_get(struct node_memories *memories, const struct node *node)
{
    struct str name = kube_object_name(&node->object);
    struct entry *entry = find(memories, name);
    if (entry && memcmp(&entry->memory.uid, &node->object.uid, sizeof entry->memory.uid) != 0)
        entry->memory = (struct node_memory){ .uid = node->object.uid };
    if (entry)
        return &entry->memory;
    entry = mem_zalloc(sizeof *entry + name.len);
    entry->memory.uid = node->object.uid;
    entry->name_len = name.len;
    memcpy(entry->name, name.ptr, name.len);
    HASH_ADD_KEYPTR(hh, memories->all, entry->name, entry->name_len, entry);
    return &entry->memory;
}

void node_memories_forget(struct node_memories *memories, struct str name)
{
    struct entry *entry = find(memories, name);
    if (!entry)
        return;
    HASH_DELETE(hh, memories->all, entry);
    free(entry);
}

void node_memories_count(const struct node_memories *memories, size_t *ret_degraded, size_t *ret_skewed)
{
    *ret_degraded = *ret_skewed = 0;
    for (const struct entry *entry = memories->all; entry; entry = entry->hh.next) {
        *ret_degraded += entry->memory.degraded;
        *ret_skewed += entry->memory.skewed;
    }
}
