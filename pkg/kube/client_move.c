/* Watches leave the connections of an older generation (AUT-7), one after the other within
 * a minute, so that the server does not get all of them at once. To whoever watches it is
 * the usual end of a watch: it goes on where it was. */
#include "client_internal.h"

#include <utlist.h>

#define MOVE_ALL_MS (60 * 1000)

/* One that is only being opened is looked at again later. */
static bool is_left_behind(const struct kube_call *call)
{
    return call->verb == KUBE_WATCH && call->http && !transport_is_newest(call->line);
}

static size_t count_left_behind(const struct kube_client *client)
{
    const struct kube_call *call;
    size_t count = 0;
    DL_FOREACH(client->calls, call)
    {
        count += is_left_behind(call);
    }
    return count;
}

static void move_one(void *self)
{
    struct kube_client *client = self;
    struct kube_call *call;
    if (count_left_behind(client) == 0)
        return;
    loop_timer_set(&client->mover, client->move_ms);
    DL_FOREACH(client->calls, call)
    {
        if (!is_left_behind(call) || !call->good)
            continue;
        http_cancel(call->http);
        call->http = NULL;
        kube_call_end(call, 200, KUBE_OK, NULL); /* the client may be gone after it */
        return;
    }
}

static void on_renewed(void *self)
{
    struct kube_client *client = self;
    client->move_ms = MOVE_ALL_MS / (int64_t)(count_left_behind(client) + 1);
    loop_timer_set(&client->mover, client->move_ms);
}

void kube_client_move_init(struct kube_client *client, struct transport_options *options)
{
    loop_timer_init(&client->mover, client->loop, move_one, client);
    options->renewed = on_renewed;
    options->self = client;
}
