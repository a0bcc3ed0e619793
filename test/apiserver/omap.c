#include "test/apiserver/omap.h"

#include <stdlib.h>

#define LEVELS 20 /* enough for a million keys at one step up in two */

struct as_omap_node {
    struct as_object *object; /* NULL in the head */
    int level;
    struct as_omap_node *next[];
};

static struct as_omap_node *node_new(struct as_object *object, int level)
{
    struct as_omap_node *node = mem_zalloc(sizeof *node + (size_t)level * sizeof(struct as_omap_node *));
    node->object = object;
    node->level = level;
    return node;
}

void as_omap_done(struct as_omap *map)
{
    struct as_omap_node *node = map->head;
    while (node) {
        struct as_omap_node *next = node->next[0];
        as_object_unref(node->object);
        free(node);
        node = next;
    }
    *map = (struct as_omap){ 0 };
}

/* Fills `before` with the last node ahead of `key` on every level. */
static struct as_omap_node *find(const struct as_omap *map, struct str key, struct as_omap_node **before)
{
    struct as_omap_node *node = map->head;
    if (!node)
        return NULL;
    for (int level = LEVELS - 1; level >= 0; level--) {
        while (node->next[level] && str_cmp(node->next[level]->object->key, key) < 0)
            node = node->next[level];
        if (before)
            before[level] = node;
    }
    return node->next[0];
}

struct as_omap_node *as_omap_seek(const struct as_omap *map, struct str from)
{
    return find(map, from, NULL);
}

struct as_omap_node *as_omap_next(const struct as_omap_node *node)
{
    return node->next[0];
}

struct as_object *as_omap_object(const struct as_omap_node *node)
{
    return node->object;
}

struct as_object *as_omap_get(const struct as_omap *map, struct str key)
{
    const struct as_omap_node *node = find(map, key, NULL);
    return node && str_eq(node->object->key, key) ? node->object : NULL;
}

static int random_level(struct as_omap *map)
{
    map->random = map->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int level = 1;
    for (uint64_t bits = map->random >> 33; (bits & 1) && level < LEVELS; bits >>= 1)
        level++;
    return level;
}

void as_omap_put(struct as_omap *map, struct as_object *object)
{
    if (!map->head)
        map->head = node_new(NULL, LEVELS);
    struct as_omap_node *before[LEVELS];
    struct as_omap_node *node = find(map, object->key, before);
    if (node && str_eq(node->object->key, object->key)) {
        as_object_unref(node->object);
        node->object = object;
        return;
    }
    node = node_new(object, random_level(map));
    for (int level = 0; level < node->level; level++) {
        node->next[level] = before[level]->next[level];
        before[level]->next[level] = node;
    }
    map->count++;
}

bool as_omap_remove(struct as_omap *map, struct str key)
{
    struct as_omap_node *before[LEVELS];
    struct as_omap_node *node = find(map, key, before);
    if (!node || !str_eq(node->object->key, key))
        return false;
    for (int level = 0; level < node->level; level++)
        if (before[level]->next[level] == node)
            before[level]->next[level] = node->next[level];
    as_object_unref(node->object);
    free(node);
    map->count--;
    return true;
}
