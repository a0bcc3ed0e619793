#pragma once
/* Many requests with bounded concurrency: fill the API server, do not flood it. */
#include "kube/client.h"

struct batch {
    struct kube_client *client;
    size_t count;
    /* Request number `index`; texts are copied by the client. */
    void (*request)(void *self, size_t index, struct kube_request *request, struct arena *arena);
    void (*finished)(void *self, size_t failures);
    void *self;

    /* private */
    size_t next, in_flight, failures;
    struct arena arena;
    struct err last;
};

/* Memory is the caller's until `finished`. */
void batch_start(struct batch *batch);
