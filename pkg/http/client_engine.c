#include "client_internal.h"
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Answers the ended transfers. The callbacks may send, cancel, even free the client. */
static void engine_drain(struct engine *engine)
{
    CURLMsg *message;
    int left;
    while (!engine->client->dead && (message = curl_multi_info_read(engine->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        struct http_call *call = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        if (!call->cancelled)
            call_ended(call, code);
    }
}

static void engine_act(struct engine *engine, curl_socket_t fd, int what)
{
    int running;
    client_enter(engine->client);
    curl_multi_socket_action(engine->multi, fd, what, &running);
    engine_drain(engine);
    client_leave(engine->client);
}

static void engine_on_timer(void *self)
{
    engine_act(self, CURL_SOCKET_TIMEOUT, 0);
}

static void engine_on_ready(evutil_socket_t fd, short what, void *self)
{
    engine_act(self, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static int engine_want_timer(CURLM *multi, long delay_ms, void *self)
{
    (void)multi;
    struct engine *engine = self;
    if (delay_ms < 0)
        loop_timer_cancel(&engine->timer);
    else
        loop_timer_set(&engine->timer, delay_ms);
    return 0;
}

static void note_socket(CURL *easy, curl_socket_t fd, int what)
{
    struct http_call *call = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&call);
    if (!call)
        return; /* libcurl's own, closing idle connections */
    if (what != CURL_POLL_REMOVE)
        call->fd = fd;
    else if (call->fd == fd)
        call->fd = CURL_SOCKET_BAD;
}

static int engine_want_socket(CURL *easy, curl_socket_t fd, int what, void *self, void *socket_self)
{
    struct engine *engine = self;
    struct event *event = socket_self;
    note_socket(easy, fd, what);
    if (event)
        event_free(event);
    event = NULL;
    if (what != CURL_POLL_REMOVE) {
        short events =
            (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);
        event = event_new(loop_event_base(engine->client->loop), fd, events, engine_on_ready, engine);
        if (!event || event_add(event, NULL) < 0)
            abort(); /* only when memory is out or the descriptor is not one */
    }
    curl_multi_assign(engine->multi, fd, event);
    return 0;
}

bool engine_init(struct engine *engine, struct http_client *client, size_t limit, struct err *err)
{
    engine->client = client;
    engine->limit = limit;
    TAILQ_INIT(&engine->waiting);
    TAILQ_INIT(&engine->running);
    TAILQ_INIT(&engine->cancelled);
    loop_timer_init(&engine->timer, client->loop, engine_on_timer, engine);
    engine->multi = curl_multi_init();
    if (!engine->multi)
        return err_set(err, ERR_FATAL, "libcurl gives no multi handle");
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETFUNCTION, engine_want_socket);
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETDATA, engine);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERFUNCTION, engine_want_timer);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERDATA, engine);
    curl_multi_setopt(engine->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    if (limit < LONG_MAX)
        curl_multi_setopt(engine->multi, CURLMOPT_MAXCONNECTS, (long)limit);
    return true;
}

static void forget_all(struct call_list *list)
{
    while (!TAILQ_EMPTY(list))
        engine_forget(TAILQ_FIRST(list));
}

void engine_done(struct engine *engine)
{
    if (!engine->client)
        return;
    forget_all(&engine->waiting);
    forget_all(&engine->running);
    forget_all(&engine->cancelled);
    curl_multi_cleanup(engine->multi);
    loop_timer_done(&engine->timer);
}

void engine_reap(struct engine *engine)
{
    forget_all(&engine->cancelled);
}

static void engine_run(struct engine *engine, struct http_call *call)
{
    TAILQ_REMOVE(&engine->waiting, call, link);
    TAILQ_INSERT_TAIL(&engine->running, call, link);
    engine->running_count++;
    call->easy = call_easy(call);
    if (curl_multi_add_handle(engine->multi, call->easy) != CURLM_OK) {
        call->early_code = CURLE_FAILED_INIT;
        loop_timer_set(&call->guard, 0); /* done never fires inside http_send */
    }
}

void engine_start(struct engine *engine)
{
    while (engine->running_count < engine->limit && !TAILQ_EMPTY(&engine->waiting))
        engine_run(engine, TAILQ_FIRST(&engine->waiting));
}

/* What the peer has not taken yet would still be sent after the connection was closed. */
static void drop_unsent(const struct http_call *call)
{
    const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
    if (call->may_send && call->fd != CURL_SOCKET_BAD)
        setsockopt(call->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void engine_forget(struct http_call *call)
{
    struct engine *engine = call->engine;
    struct call_list *list = &engine->waiting;
    if (call->easy) {
        drop_unsent(call);
        curl_multi_remove_handle(engine->multi, call->easy);
        engine->running_count--;
        list = call->cancelled ? &engine->cancelled : &engine->running;
    }
    TAILQ_REMOVE(list, call, link);
    call_free(call);
}
