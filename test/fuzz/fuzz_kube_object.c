/* Any JSON as each kind of object: decoding and projecting neither crash nor leak, and
 * what comes out equals itself and survives a second reading. */
#include "api/configmap.h"
#include "api/device.h"
#include "api/nrt.h"
#include "api/node.h"
#include "api/nodemetric.h"
#include "api/pod.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    size_t *bytes = self;
    *bytes += path.len + value.len + str_c(message).len;
}

static struct kube_object *read_as(const struct kube_kind *kind, struct str text, struct intern *pool)
{
    size_t reported = 0;
    struct json_decode_options options = { .report = { .mismatch = on_mismatch, .self = &reported } };
    struct arena arena = ARENA_INIT;
    void *decoded = arena_alloc(&arena, kind->table->size);
    struct kube_object *object = NULL;
    if (json_decode(&arena, text, kind->table, decoded, &options, NULL))
        object = kind->project(decoded, pool, &options.report, NULL);
    arena_done(&arena);
    return object;
}

static void check(const struct kube_kind *kind, struct str text, struct intern *pool)
{
    struct kube_object *first = read_as(kind, text, pool);
    struct kube_object *second = read_as(kind, text, pool);
    if (!first != !second)
        abort();
    if (first) {
        if (!kind->same(first, second) || !kube_uid_eq(first, second) ||
            !str_eq(kube_object_name(first), kube_object_name(second)))
            abort();
        struct strbuf uid = STRBUF_INIT(1024);
        kube_object_uid(first, &uid);
        strbuf_done(&uid);
        if (kind->index)
            (void)kind->index(first);
    }
    kube_object_unref(first);
    kube_object_unref(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { .ptr = (const char *)data, .len = size };
    struct intern *pool = intern_new();
    check(&node_kind, text, pool);
    check(&pod_kind, text, pool);
    check(&nodemetric_kind, text, pool);
    check(&configmap_kind, text, pool);
    check(&device_kind, text, pool);
    check(&nrt_kind, text, pool);
    if (intern_count(pool) != 0)
        abort();
    intern_free(pool);
    return 0;
}
