#include "api/configmap.h"
#include <stdlib.h>

struct configmap_decoded {
    struct meta meta;
    struct json_items data; /* struct json_pair; last of duplicate keys only */
};
static const struct json_field configmap_fields[] = {
    JSON_FIELD_OBJECT(struct configmap_decoded, meta, "metadata", &meta_table),
    JSON_FIELD_STR_MAP(struct configmap_decoded, data, "data"),
};
static const struct json_table configmap_table = JSON_TABLE(struct configmap_decoded, configmap_fields);

static int entry_order(const void *a, const void *b)
{
    const struct configmap_entry *first = a, *second = b;
    return str_cmp(first->key, second->key);
}

static struct str append(char **at, struct str text)
{
    struct str copy = { .ptr = *at, .len = text.len };
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

static void take_data(struct configmap *configmap, const struct json_items *data)
{
    const struct json_pair *pairs = data->items;
    size_t bytes = 0;
    for (size_t i = 0; i < data->count; i++)
        bytes += pairs[i].key.len + pairs[i].value.len;
    configmap->block = mem_alloc(bytes + 1);
    configmap->entries = mem_zalloc((data->count + 1) * sizeof *configmap->entries);
    char *at = configmap->block;
    for (size_t i = 0; i < data->count; i++) {
        configmap->entries[i].key = append(&at, pairs[i].key);
        configmap->entries[i].value = append(&at, pairs[i].value);
    }
    configmap->count = (uint32_t)data->count;
    qsort(configmap->entries, configmap->count, sizeof *configmap->entries, entry_order);
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    (void)report;
    const struct configmap_decoded *in = decoded;
    struct kube_object *object =
        kube_object_new(&configmap_kind, sizeof(struct configmap), &in->meta, pool, err);
    if (object)
        take_data((struct configmap *)(void *)object, &in->data);
    return object;
}

static void release(struct kube_object *object)
{
    struct configmap *configmap = (struct configmap *)(void *)object;
    free(configmap->entries);
    free(configmap->block);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    const struct configmap *x = configmap_of(a), *y = configmap_of(b);
    if (x->count != y->count)
        return false;
    for (uint32_t i = 0; i < x->count; i++) {
        if (!str_eq(x->entries[i].key, y->entries[i].key) ||
            !str_eq(x->entries[i].value, y->entries[i].value))
            return false;
    }
    return true;
}

const struct kube_kind configmap_kind = {
    .group = "",
    .version = "v1",
    .kind = "ConfigMap",
    .plural = "configmaps",
    .namespaced = true,
    .table = &configmap_table,
    .project = project,
    .release = release,
    .same = same,
};

static int entry_find(const void *key, const void *entry)
{
    const struct str *wanted = key;
    const struct configmap_entry *at = entry;
    return str_cmp(*wanted, at->key);
}

struct str configmap_value(const struct configmap *configmap, struct str key, bool *found)
{
    const struct configmap_entry *entry =
        bsearch(&key, configmap->entries, configmap->count, sizeof *configmap->entries, entry_find);
    if (found)
        *found = entry != NULL;
    return entry ? entry->value : STR_NULL;
}
