#include "batch.h"

#define MAX_IN_FLIGHT 16

static void fill(struct batch *batch);

static void on_answer(void *self, const struct kube_response *response)
{
    struct batch *batch = self;
    batch->in_flight--;
    /* Created by an earlier run, or (NodeMetrics) not created by the manager yet. */
    bool fine = response->failure == KUBE_OK || response->failure == KUBE_ALREADY_EXISTS ||
                response->failure == KUBE_NOT_FOUND;
    if (!fine) {
        batch->failures++;
        batch->last = response->err;
    }
    fill(batch);
}

static void fill(struct batch *batch)
{
    while (batch->in_flight < MAX_IN_FLIGHT && batch->next < batch->count) {
        struct kube_request request = { 0 };
        arena_clear(&batch->arena);
        batch->request(batch->self, batch->next++, &request, &batch->arena);
        if (kube_send(batch->client, &request, on_answer, batch, &batch->last))
            batch->in_flight++;
        else
            batch->failures++;
    }
    if (batch->in_flight == 0 && batch->next >= batch->count) {
        arena_done(&batch->arena);
        batch->finished(batch->self, batch->failures);
    }
}

void batch_start(struct batch *batch)
{
    batch->next = batch->in_flight = batch->failures = 0;
    batch->arena = ARENA_INIT;
    batch->last = ERR_INIT;
    fill(batch);
}
