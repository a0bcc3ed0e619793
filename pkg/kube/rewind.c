#include "kube/rewind.h"

#include <stdlib.h>

#include "api/meta.h"
#include "api/object.h"

struct rewind_probe {
    struct rewind_probe_options options;
    struct kube_call *call;
    char *seen;
};

struct list_head {
    struct meta meta;
};
static const struct json_field head_fields[] = {
    JSON_FIELD_OBJECT(struct list_head, meta, "metadata", &meta_table),
};
static const struct json_table head_table = JSON_TABLE(struct list_head, head_fields);

static void on_answer(void *self, const struct kube_response *response)
{
    struct rewind_probe *probe = self;
    probe->call = NULL;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct list_head head = { 0 };
    if (response->failure != KUBE_OK || !json_decode(&arena, response->body, &head_table, &head, NULL, NULL))
        return;
    if (rv_compare(head.meta.rv, str_c(probe->seen)) == RV_LESS)
        probe->options.found(probe->options.self, head.meta.rv);
}

struct rewind_probe *rewind_probe_new(const struct rewind_probe_options *options)
{
    struct rewind_probe *probe = mem_zalloc(sizeof *probe);
    probe->options = *options;
    return probe;
}

void rewind_probe_cancel(struct rewind_probe *probe)
{
    if (probe->call)
        kube_cancel(probe->call);
    probe->call = NULL;
}

void rewind_probe_free(struct rewind_probe *probe)
{
    if (!probe)
        return;
    rewind_probe_cancel(probe);
    free(probe->seen);
    free(probe);
}

void rewind_probe_start(struct rewind_probe *probe, struct str seen)
{
    struct kube_request request = { .verb = KUBE_LIST,
                                    .kind = probe->options.kind,
                                    .ns = str_c(probe->options.ns),
                                    .field_selector = str_c(probe->options.field_selector),
                                    .limit = 1 };
    rewind_probe_cancel(probe);
    free(probe->seen);
    probe->seen = str_dup_c(seen);
    probe->call = kube_send(probe->options.client, &request, on_answer, probe, NULL);
}
