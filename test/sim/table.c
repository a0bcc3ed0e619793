/* cluster-table: two saved NodeLists side by side, for people.
 * usage: cluster-table BEFORE.json AFTER.json [ROWS] */
#include <stdio.h>
#include <stdlib.h>

#include "api/node.h"
#include "base/file.h"
#include "kube/listwatch.h"
#include "kube/store.h"

#define MAX_BYTES ((size_t)256 * 1024 * 1024)

struct snapshot {
    struct intern *pool;
    struct store *store;
};

static void keep(void *self, struct kube_object *object)
{
    struct snapshot *snapshot = self;
    kube_object_unref(store_put(snapshot->store, object));
}

static bool load(struct snapshot *snapshot, const char *path, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(MAX_BYTES);
    snapshot->pool = intern_new();
    snapshot->store = store_new(&node_kind);
    struct list_decoder_options options = {
        .kind = &node_kind, .pool = snapshot->pool, .on_object = keep, .self = snapshot
    };
    struct list_decoder *decoder = list_decoder_new(&options);
    struct str rv, token;
    bool ok = file_read(path, &text, err) && list_decoder_feed(decoder, strbuf_str(&text), err) &&
              list_decoder_finish(decoder, &rv, &token, err);
    list_decoder_free(decoder);
    return ok || err_wrap(err, "%s", path);
}

static void unload(struct snapshot *snapshot)
{
    store_free(snapshot->store);
    intern_free(snapshot->pool);
}

struct rows {
    const struct node **items;
    size_t count;
};

static bool collect(void *self, const struct kube_object *object)
{
    struct rows *rows = self;
    rows->items[rows->count++] = node_of(object);
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return str_cmp(kube_object_name(&(*x)->object), kube_object_name(&(*y)->object));
}

static double owned(const struct node *node, enum owned_resource resource, double unit)
{
    if (!node || !node->allocatable.owned[resource].set)
        return 0;
    return (double)node->allocatable.owned[resource].nano / 1e9 / unit;
}

static void print_row(const char *name, const char *pool, double cpu, const double *values)
{
    printf("%-12s %-9s %6.0f   %8.1f -> %-8.1f  %8.1f -> %-8.1f\n", name, pool, cpu, values[0], values[1],
           values[2], values[3]);
}

static void print_table(const struct snapshot *before, const struct snapshot *after, size_t max_rows)
{
    size_t total_nodes = store_count(after->store);
    struct rows rows = { .items = mem_zalloc((total_nodes + 1) * sizeof(*rows.items)) };
    store_each(after->store, collect, &rows);
    qsort(rows.items, rows.count, sizeof(*rows.items), by_name);
    double total[4] = { 0 }, total_cpu = 0;
    printf("%-12s %-9s %6s   %20s  %20s\n", "NODE", "POOL", "CORES", "MID-CPU (cores)", "MID-MEMORY (GiB)");
    for (size_t i = 0; i < rows.count; i++) {
        const struct node *node = rows.items[i];
        const struct kube_object *old = store_get(before->store, STR_NULL, kube_object_name(&node->object));
        const struct node *was = old ? node_of(old) : NULL;
        const double gib = 1024.0 * 1024 * 1024;
        double values[4] = { owned(was, OWNED_MID_CPU, 1000), owned(node, OWNED_MID_CPU, 1000),
                             owned(was, OWNED_MID_MEMORY, gib), owned(node, OWNED_MID_MEMORY, gib) };
        double cpu = (double)node->capacity.amounts.cpu_nano / 1e9;
        total_cpu += cpu;
        for (size_t v = 0; v < ARRAY_LEN(values); v++)
            total[v] += values[v];
        if (i >= max_rows)
            continue;
        char name[254], pool[64];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(kube_object_name(&node->object)));
        snprintf(pool, sizeof pool, STR_FMT, STR_ARG(node_label(node, STR("pool"), NULL)));
        print_row(name, pool, cpu, values);
    }
    if (rows.count > max_rows)
        printf("... and %zu more\n", rows.count - max_rows);
    print_row("TOTAL", "", total_cpu, total);
    free(rows.items);
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct snapshot before = { 0 }, after = { 0 };
    int64_t max_rows = 12;
    if (argc < 3 || argc > 4 || (argc == 4 && !str_to_i64(str_c(argv[3]), &max_rows)) || max_rows < 0) {
        fprintf(stderr, "usage: cluster-table BEFORE.json AFTER.json [ROWS]\n");
        return 2;
    }
    bool ok = load(&before, argv[1], &err) && load(&after, argv[2], &err);
    if (ok)
        print_table(&before, &after, (size_t)max_rows);
    else
        fprintf(stderr, "cluster-table: %s\n", err.text);
    unload(&before);
    unload(&after);
    return ok ? 0 : 1;
}
