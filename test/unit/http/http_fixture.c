#include "http_fixture.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FAILSAFE_MS 30000

static void fire_failsafe(void *self)
{
    struct fixture *fixture = self;
    fixture->failed = true;
    loop_stop(fixture->loop);
}

void fixture_turn(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    bool ok = loop_run(fixture->loop, &err);
    assert_true(ok);
    assert_false(fixture->failed);
}

static void fire_settled(void *self)
{
    *(bool *)self = true;
}

static void fire_stop(void *self)
{
    loop_stop(self);
}

void fixture_settle(struct fixture *fixture)
{
    /* Nothing here waits on the network: a few turns empty what is queued. */
    for (int i = 0; i < 20; i++) {
        bool settled = false;
        struct loop_timer timer = { 0 }, stop = { 0 };
        loop_timer_init(&timer, fixture->loop, fire_settled, &settled);
        loop_timer_init(&stop, fixture->loop, fire_stop, fixture->loop);
        loop_timer_set(&timer, 0);
        loop_timer_set(&stop, 0);
        RUN_UNTIL(fixture, settled);
        loop_timer_done(&timer);
        loop_timer_done(&stop);
    }
}

/* ---- the handler ---- */

static void on_closed(void *self)
{
    struct kept *kept = self;
    kept->closed = true;
    kept->exchange = NULL;
    loop_stop(kept->fixture->loop);
}

static struct kept *keep(struct fixture *fixture, struct http_exchange *exchange)
{
    assert_true(fixture->kept_count < ARRAY_LEN(fixture->kept));
    struct kept *kept = &fixture->kept[fixture->kept_count++];
    *kept = (struct kept){ .fixture = fixture, .exchange = exchange };
    return kept;
}

static void serve_hello(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_reply(exchange, 200, "text/plain", STR("hello"));
}

/* Method, query, some headers and the body, so that a test sees what arrived. */
static void serve_echo(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    struct strbuf out = STRBUF_INIT(4 << 20);
    strbuf_add(&out, http_exchange_method(exchange));
    strbuf_add(&out, STR(" query="));
    strbuf_add(&out, http_exchange_query(exchange));
    static const char *const names[] = { "Host",   "Content-Type", "Accept-Encoding",
                                         "Expect", "X-Empty",      "X-Test" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str value = http_exchange_header(exchange, names[i]);
        if (value.ptr && strcmp(names[i], "Host") != 0)
            strbuf_addf(&out, " %s=" STR_FMT, names[i], STR_ARG(value));
    }
    strbuf_add(&out, STR(" body="));
    strbuf_add(&out, http_exchange_body(exchange));
    http_exchange_reply(exchange, 200, "text/plain", strbuf_str(&out));
    strbuf_done(&out);
}

static void serve_host(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_reply(exchange, 200, "text/plain", http_exchange_header(exchange, "Host"));
}

static void serve_subject(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    struct str subject = http_exchange_peer_subject(exchange);
    http_exchange_reply(exchange, 200, "text/plain", str_empty(subject) ? STR("nobody") : subject);
}

static void serve_chunks(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_stream_start(exchange, 200, "application/json", NULL, NULL);
    http_exchange_stream_send(exchange, STR("one"));
    http_exchange_stream_send(exchange, STR(""));
    http_exchange_stream_send(exchange, STR("two"));
    http_exchange_stream_end(exchange);
}

/* Sends a part and leaves the rest to the test. */
static void serve_open(struct fixture *fixture, struct http_exchange *exchange)
{
    struct kept *kept = keep(fixture, exchange);
    http_exchange_stream_start(exchange, 200, "application/json", on_closed, kept);
    http_exchange_stream_send(exchange, STR("part"));
}

static void serve_never(struct fixture *fixture, struct http_exchange *exchange)
{
    keep(fixture, exchange);
}

static void serve_abort(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_abort(exchange);
}

static void serve_length(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_set_header(exchange, "Content-Length", "7");
    http_exchange_stream_start(exchange, 200, "text/plain", NULL, NULL);
    http_exchange_stream_send(exchange, STR("abc"));
    http_exchange_stream_send(exchange, STR("defghijkl"));
    http_exchange_stream_end(exchange);
}

static void serve_short(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_set_header(exchange, "Content-Length", "7");
    http_exchange_stream_start(exchange, 200, "text/plain", NULL, NULL);
    http_exchange_stream_send(exchange, STR("abc"));
    http_exchange_stream_end(exchange);
}

static void serve_big(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    const size_t len = (size_t)3 << 20;
    char *data = malloc(len);
    memset(data, 'x', len);
    http_exchange_reply(exchange, 200, "text/plain", (struct str){ .ptr = data, .len = len });
    free(data);
}

static void serve_close(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_set_header(exchange, "Connection", "close");
    http_exchange_reply(exchange, 200, "text/plain", STR("bye"));
}

static void serve_busy(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_set_header(exchange, "Retry-After", "7");
    http_exchange_set_header(exchange, "X-Bad", "a\r\nX-Injected: yes");
    http_exchange_reply(exchange, 429, "application/json", STR("{}"));
}

static void serve_nothing(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    http_exchange_reply(exchange, 204, NULL, STR_NULL);
}

static void fire_late(void *self)
{
    struct fixture *fixture = self;
    http_exchange_reply(fixture->late, 200, "text/plain", STR("late"));
}

static void serve_late(struct fixture *fixture, struct http_exchange *exchange)
{
    fixture->late = exchange;
    loop_timer_init(&fixture->later, fixture->loop, fire_late, fixture);
    loop_timer_set(&fixture->later, 0);
}

static const struct {
    struct str path;
    void (*serve)(struct fixture *fixture, struct http_exchange *exchange);
} routes[] = {
    { STR_INIT("/hello"), serve_hello },     { STR_INIT("/echo"), serve_echo },
    { STR_INIT("/host"), serve_host },       { STR_INIT("/chunks"), serve_chunks },
    { STR_INIT("/open"), serve_open },       { STR_INIT("/never"), serve_never },
    { STR_INIT("/abort"), serve_abort },     { STR_INIT("/big"), serve_big },
    { STR_INIT("/close"), serve_close },     { STR_INIT("/busy"), serve_busy },
    { STR_INIT("/late"), serve_late },       { STR_INIT("/length"), serve_length },
    { STR_INIT("/short"), serve_short },     { STR_INIT("/subject"), serve_subject },
    { STR_INIT("/nothing"), serve_nothing },
};

static void handle(void *self, struct http_exchange *exchange)
{
    struct fixture *fixture = self;
    fixture->handled++;
    loop_stop(fixture->loop);
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (str_eq(http_exchange_path(exchange), routes[i].path)) {
            routes[i].serve(fixture, exchange);
            return;
        }
    }
    http_exchange_reply(exchange, 404, "text/plain", STR("no such path"));
}

/* ---- setting up ---- */

void fixture_server(struct fixture *fixture, struct http_server_options options)
{
    struct err err = ERR_INIT;
    http_server_free(fixture->server);
    options.address = "127.0.0.1:0";
    options.handle = handle;
    options.self = fixture;
    fixture->server = http_server_new(fixture->loop, &options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(fixture->server);
}

void fixture_client(struct fixture *fixture, struct http_client_options options)
{
    struct err err = ERR_INIT;
    http_client_free(fixture->client);
    fixture->client = http_client_new(fixture->loop, &options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(fixture->client);
}

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->loop = loop_new(NULL);
    loop_timer_init(&fixture->failsafe, fixture->loop, fire_failsafe, fixture);
    loop_timer_set(&fixture->failsafe, FAILSAFE_MS);
    return fixture;
}

int fixture_setup(void **state)
{
    struct fixture *fixture = fixture_new();
    *state = fixture;
    fixture_server(fixture, (struct http_server_options){ 0 });
    fixture_client(fixture, (struct http_client_options){ .user_agent = STR("test/1") });
    return 0;
}

int fixture_setup_tls(void **state)
{
    struct fixture *fixture = fixture_new();
    *state = fixture;
    test_ca_init(&fixture->ca, "test CA");
    test_pair_init(&fixture->pair, &fixture->ca, "server", "DNS:localhost,IP:127.0.0.1");
    fixture_server(fixture, (struct http_server_options){ .tls_cert_pem = str_c(fixture->pair.cert_pem),
                                                          .tls_key_pem = str_c(fixture->pair.key_pem) });
    fixture_client(fixture, (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem) });
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    http_client_free(fixture->client);
    http_server_free(fixture->server);
    loop_timer_done(&fixture->later);
    loop_timer_done(&fixture->failsafe);
    loop_free(fixture->loop);
    test_ca_done(&fixture->ca);
    test_pair_done(&fixture->pair);
    free(fixture);
    return 0;
}

const char *fixture_url(struct fixture *fixture, const char *path)
{
    static char url[256];
    snprintf(url, sizeof url, "%s://127.0.0.1:%d%s", fixture->pair.cert_pem ? "https" : "http",
             http_server_port(fixture->server), path);
    return url;
}

/* ---- replies ---- */

static bool reply_on_header(void *self, int status, struct str content_type, struct str content_encoding)
{
    struct reply *reply = self;
    (void)content_type;
    reply->header_count++;
    reply->status = status;
    strbuf_add(&reply->encoding, content_encoding);
    loop_stop(reply->fixture->loop);
    if (reply->on_header)
        reply->on_header(reply);
    return true;
}

static bool reply_on_data(void *self, struct str chunk, struct err *err)
{
    struct reply *reply = self;
    reply->chunk_count++;
    strbuf_add(&reply->body, chunk);
    loop_stop(reply->fixture->loop);
    return !reply->on_chunk || reply->on_chunk(reply, err);
}

static void reply_on_done(void *self, const struct http_result *result)
{
    struct reply *reply = self;
    assert_false(reply->done); /* exactly once */
    reply->done = true;
    reply->call = NULL;
    reply->outcome = result->outcome;
    reply->status = result->status;
    reply->any_response_byte = result->any_response_byte;
    reply->retry_after_ms = result->retry_after_ms;
    reply->err = result->err;
    strbuf_add(&reply->content_type, result->content_type);
    strbuf_add(&reply->body, result->body);
    reply->fixture->done_count++;
    loop_stop(reply->fixture->loop);
    if (reply->on_done)
        reply->on_done(reply);
}

void reply_init(struct reply *reply, struct fixture *fixture)
{
    *reply = (struct reply){
        .fixture = fixture,
        .content_type = STRBUF_INIT(1024),
        .body = STRBUF_INIT(64 << 20),
        .encoding = STRBUF_INIT(1024),
    };
}

void reply_done(struct reply *reply)
{
    strbuf_done(&reply->content_type);
    strbuf_done(&reply->body);
    strbuf_done(&reply->encoding);
}

void reply_send(struct reply *reply, struct http_request request)
{
    struct err err = ERR_INIT;
    if (!request.method)
        request.method = "GET";
    request.done = reply_on_done;
    request.self = reply;
    reply->call = http_send(reply->fixture->client, &request, &err);
    assert_string_equal(err.text, "");
    assert_non_null(reply->call);
    assert_false(reply->done); /* never inside http_send */
}

void reply_stream(struct reply *reply, struct http_request request)
{
    request.on_header = reply_on_header;
    request.on_data = reply_on_data;
    reply_send(reply, request);
}

void reply_wait(struct reply *reply)
{
    RUN_UNTIL(reply->fixture, reply->done);
}

void reply_get(struct reply *reply, const char *url)
{
    reply_send(reply, (struct http_request){ .url = str_c(url) });
    reply_wait(reply);
}

/* ---- the scripted server ---- */

struct script_conn {
    struct script_conn *next;
    struct script *script;
    struct bufferevent *bev;
    int number;
    int requests;
};

struct script {
    struct fixture *fixture;
    struct evconnlistener *listener;
    struct script_conn *conns;
    struct step (*answer)(int connection, int request);
    int connections;
    int requests;
    char url[64];
    char received[4096];
};

static void script_drop(struct script_conn *conn)
{
    if (conn->bev)
        bufferevent_free(conn->bev);
    conn->bev = NULL;
}

static void script_on_read(struct bufferevent *bev, void *self)
{
    struct script_conn *conn = self;
    struct script *script = conn->script;
    struct evbuffer *input = bufferevent_get_input(bev);
    if (evbuffer_search(input, "\r\n\r\n", 4, NULL).pos < 0)
        return;
    int len = evbuffer_remove(input, script->received, sizeof script->received - 1);
    script->received[len] = '\0';
    script->requests++;
    struct step step = script->answer(conn->number, conn->requests++);
    evutil_socket_t fd = bufferevent_getfd(bev);
    if (step.text)
        assert_int_equal(send(fd, step.text, strlen(step.text), 0), strlen(step.text));
    if (step.then == STEP_RESET) {
        struct linger linger = { .l_onoff = 1, .l_linger = 0 };
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    }
    if (step.then != STEP_KEEP)
        script_drop(conn);
}

static void script_on_event(struct bufferevent *bev, short what, void *self)
{
    (void)bev, (void)what;
    script_drop(self);
}

static void script_on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
                             int len, void *self)
{
    (void)listener, (void)peer, (void)len;
    struct script *script = self;
    struct script_conn *conn = calloc(1, sizeof *conn);
    conn->script = script;
    conn->next = script->conns;
    script->conns = conn;
    conn->number = script->connections++;
    conn->bev = bufferevent_socket_new(loop_event_base(script->fixture->loop), fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(conn->bev, script_on_read, NULL, script_on_event, conn);
    bufferevent_enable(conn->bev, EV_READ);
}

struct script *script_new(struct fixture *fixture, struct step (*answer)(int connection, int request))
{
    struct script *script = calloc(1, sizeof *script);
    script->fixture = fixture;
    script->answer = answer;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    script->listener = evconnlistener_new_bind(loop_event_base(fixture->loop), script_on_accept, script,
                                               LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&at, sizeof at);
    assert_non_null(script->listener);
    socklen_t len = sizeof at;
    getsockname(evconnlistener_get_fd(script->listener), (struct sockaddr *)&at, &len);
    snprintf(script->url, sizeof script->url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    return script;
}

void script_close_idle(struct script *script)
{
    for (struct script_conn *conn = script->conns; conn; conn = conn->next)
        script_drop(conn);
}

void script_free(struct script *script)
{
    script_close_idle(script);
    while (script->conns) {
        struct script_conn *conn = script->conns;
        script->conns = conn->next;
        free(conn);
    }
    evconnlistener_free(script->listener);
    free(script);
}

const char *script_url(struct script *script)
{
    return script->url;
}

int script_connections(const struct script *script)
{
    return script->connections;
}

int script_requests(const struct script *script)
{
    return script->requests;
}

const char *script_received(const struct script *script)
{
    return script->received;
}

/* ---- the raw client ---- */

static void raw_on_read(struct bufferevent *bev, void *self)
{
    struct raw *raw = self;
    char data[4096];
    size_t len;
    while ((len = bufferevent_read(bev, data, sizeof data)) > 0)
        strbuf_add(&raw->received, (struct str){ .ptr = data, .len = len });
    loop_stop(raw->fixture->loop);
}

static void raw_on_event(struct bufferevent *bev, short what, void *self)
{
    struct raw *raw = self;
    (void)bev;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        raw->closed = true;
    loop_stop(raw->fixture->loop);
}

void raw_init(struct raw *raw, struct fixture *fixture, const char *text)
{
    *raw = (struct raw){ .fixture = fixture, .received = STRBUF_INIT(64 << 20) };
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)http_server_port(fixture->server)) };
    raw->bev = bufferevent_socket_new(loop_event_base(fixture->loop), -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(raw->bev, raw_on_read, NULL, raw_on_event, raw);
    bufferevent_enable(raw->bev, EV_READ | EV_WRITE);
    assert_int_equal(bufferevent_socket_connect(raw->bev, (struct sockaddr *)&at, sizeof at), 0);
    raw_send(raw, text);
}

void raw_send(struct raw *raw, const char *text)
{
    bufferevent_write(raw->bev, text, strlen(text));
}

void raw_done(struct raw *raw)
{
    bufferevent_free(raw->bev);
    strbuf_done(&raw->received);
}

bool raw_has(const struct raw *raw, const char *text)
{
    return raw->received.len && strstr(strbuf_cstr(&raw->received), text) != NULL;
}
