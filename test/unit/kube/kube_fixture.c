#include "kube_fixture.h"

#include <stdlib.h>

#define FAILSAFE_MS 60000
#define TICK_MS 5

const struct kube_kind thing_kind = {
    .group = "things.example", .version = "v1", .kind = "Thing", .plural = "things", .namespaced = true
};

static void fire_failsafe(void *self)
{
    struct kube_fixture *fixture = self;
    fixture->failed = true;
    loop_stop(fixture->loop);
}

static void fire_tick(void *self)
{
    struct kube_fixture *fixture = self;
    loop_stop(fixture->loop);
}

void kube_fixture_turn(struct kube_fixture *fixture)
{
    struct err err = ERR_INIT;
    loop_timer_set(&fixture->tick, TICK_MS);
    assert_true(loop_run(fixture->loop, &err));
    assert_false(fixture->failed);
}

struct flag {
    struct loop *loop;
    bool set;
};

static void fire_flag(void *self)
{
    struct flag *flag = self;
    flag->set = true;
    loop_stop(flag->loop);
}

void kube_fixture_settle(struct kube_fixture *fixture)
{
    for (int i = 0; i < 20; i++) {
        struct flag flag = { .loop = fixture->loop };
        struct loop_timer timer = { 0 };
        loop_timer_init(&timer, fixture->loop, fire_flag, &flag);
        loop_timer_set(&timer, 1);
        RUN_UNTIL(fixture, flag.set);
        loop_timer_done(&timer);
    }
}

/* --- the server ------------------------------------------------------------------- */

static const char *keep(struct kube_fixture *fixture, struct str text)
{
    return arena_str(&fixture->arena, text).ptr;
}

static void remember(struct kube_fixture *fixture, struct http_exchange *exchange)
{
    struct str query = http_exchange_query(exchange);
    struct str path = http_exchange_path(exchange);
    struct str target = arena_strf(&fixture->arena, STR_FMT "%s" STR_FMT, STR_ARG(path),
                                   str_empty(query) ? "" : "?", STR_ARG(query));
    fixture->asked =
        arena_grow(&fixture->arena, fixture->asked, fixture->asked_count * sizeof *fixture->asked,
                   (fixture->asked_count + 1) * sizeof *fixture->asked);
    fixture->asked[fixture->asked_count++] = (struct asked){
        .method = keep(fixture, http_exchange_method(exchange)),
        .target = target.ptr,
        .accept = keep(fixture, http_exchange_header(exchange, "Accept")),
        .accept_encoding = keep(fixture, http_exchange_header(exchange, "Accept-Encoding")),
        .content_type = keep(fixture, http_exchange_header(exchange, "Content-Type")),
        .authorization = keep(fixture, http_exchange_header(exchange, "Authorization")),
        .impersonate = keep(fixture, http_exchange_header(exchange, "Impersonate-User")),
        .impersonate_uid = keep(fixture, http_exchange_header(exchange, "Impersonate-Uid")),
        .impersonate_group = keep(fixture, http_exchange_header(exchange, "Impersonate-Group")),
        .impersonate_extra = keep(fixture, http_exchange_header(exchange, "Impersonate-Extra-acme.com%2fa")),
        .user_agent = keep(fixture, http_exchange_header(exchange, "User-Agent")),
        .peer = keep(fixture, http_exchange_peer_subject(exchange)),
        .body = keep(fixture, http_exchange_body(exchange)),
    };
}

static void on_closed(void *self)
{
    struct http_exchange **open = self;
    *open = NULL;
}

static void answer(struct kube_fixture *fixture, const struct canned *canned, struct http_exchange *exchange)
{
    int status = canned->status ? canned->status : 200;
    const char *type = canned->type ? canned->type : "application/json";
    struct str body = canned->body ? str_c(canned->body) : STR("{}");
    for (size_t i = 0; i < ARRAY_LEN(canned->headers) && canned->headers[i][0]; i++)
        http_exchange_set_header(exchange, canned->headers[i][0], canned->headers[i][1]);
    struct http_exchange **open = &fixture->open[fixture->open_count];
    switch (canned->how) {
    case CANNED_REPLY:
        http_exchange_reply(exchange, status, *type ? type : NULL, body);
        break;
    case CANNED_ABORT:
        http_exchange_abort(exchange);
        break;
    case CANNED_NEVER:
        assert_true(fixture->open_count < ARRAY_LEN(fixture->open));
        fixture->open[fixture->open_count++] = exchange;
        break;
    case CANNED_STREAM:
        assert_true(fixture->open_count < ARRAY_LEN(fixture->open));
        fixture->open[fixture->open_count++] = exchange;
        http_exchange_stream_start(exchange, status, type, on_closed, open);
        http_exchange_stream_send(exchange, body);
        break;
    }
}

static void handle(void *self, struct http_exchange *exchange)
{
    struct kube_fixture *fixture = self;
    remember(fixture, exchange);
    struct canned now = fixture->canned;
    if (now.then)
        fixture->canned = *now.then;
    answer(fixture, &now, exchange);
    loop_stop(fixture->loop);
}

/* --- setting up ------------------------------------------------------------------- */

void kube_fixture_client(struct kube_fixture *fixture)
{
    struct err err = ERR_INIT;
    kube_client_free(fixture->client);
    metric_registry_free(fixture->metrics);
    fixture->metrics = metric_registry_new();
    struct kube_client_options options = { .config = &fixture->config,
                                           .metrics = fixture->metrics,
                                           .user_agent = "test/1 (linux)" };
    fixture->client = kube_client_new(fixture->loop, &options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(fixture->client);
}

static int setup(void **state, bool tls)
{
    struct kube_fixture *fixture = calloc(1, sizeof *fixture);
    struct err err = ERR_INIT;
    *state = fixture;
    scratch_dir_init(&fixture->dir);
    fixture->loop = loop_new(&err);
    loop_timer_init(&fixture->failsafe, fixture->loop, fire_failsafe, fixture);
    loop_timer_set(&fixture->failsafe, FAILSAFE_MS);
    loop_timer_init(&fixture->tick, fixture->loop, fire_tick, fixture);
    test_ca_init(&fixture->ca, "test CA");
    test_pair_init(&fixture->pair, &fixture->ca, "server", "DNS:localhost,IP:127.0.0.1");
    struct http_server_options options = { .address = "127.0.0.1:0", .handle = handle, .self = fixture };
    if (tls) {
        options.tls_cert_pem = str_c(fixture->pair.cert_pem);
        options.tls_client_ca_pem = str_c(fixture->ca.pem);
        options.tls_key_pem = str_c(fixture->pair.key_pem);
    }
    fixture->server = http_server_new(fixture->loop, &options, &err);
    assert_string_equal(err.text, "");
    fixture->config = (struct kube_config){
        .server = arena_strf(&fixture->arena, "%s://127.0.0.1:%d", tls ? "https" : "http",
                             http_server_port(fixture->server)),
        .ca_pem = str_c(fixture->ca.pem),
        .token = STR("t0ken"),
    };
    kube_fixture_client(fixture);
    return 0;
}

int kube_fixture_setup(void **state)
{
    return setup(state, true);
}

int kube_fixture_setup_plain(void **state)
{
    return setup(state, false);
}

int kube_fixture_teardown(void **state)
{
    struct kube_fixture *fixture = *state;
    kube_client_free(fixture->client);
    http_server_free(fixture->server);
    metric_registry_free(fixture->metrics);
    loop_timer_done(&fixture->failsafe);
    loop_timer_done(&fixture->tick);
    loop_free(fixture->loop);
    test_ca_done(&fixture->ca);
    test_pair_done(&fixture->pair);
    scratch_dir_done(&fixture->dir);
    arena_done(&fixture->arena);
    free(fixture);
    return 0;
}

/* --- what came back --------------------------------------------------------------- */

static void on_done(void *self, const struct kube_response *response)
{
    struct got *got = self;
    got->done++;
    got->call = NULL;
    got->response = *response;
    strbuf_clear(&got->body);
    strbuf_add(&got->body, response->body);
    got->response.body = strbuf_str(&got->body);
    loop_stop(got->fixture->loop);
    if (got->on_done)
        got->on_done(got);
}

static void on_open(void *self)
{
    struct got *got = self;
    got->opened++;
    loop_stop(got->fixture->loop);
    if (got->on_open)
        got->on_open(got);
}

static bool on_data(void *self, struct str chunk, struct err *err)
{
    struct got *got = self;
    strbuf_add(&got->data, chunk);
    loop_stop(got->fixture->loop);
    return !got->on_data || got->on_data(got, err);
}

void got_init(struct got *got, struct kube_fixture *fixture)
{
    *got = (struct got){ .fixture = fixture, .body = STRBUF_INIT(1 << 20), .data = STRBUF_INIT(1 << 20) };
}

void got_done(struct got *got)
{
    strbuf_done(&got->body);
    strbuf_done(&got->data);
}

void got_send(struct got *got, struct kube_request request)
{
    struct err err = ERR_INIT;
    got->call = kube_send(got->fixture->client, &request, on_done, got, &err);
    assert_string_equal(err.text, "");
    assert_non_null(got->call);
    assert_int_equal(got->done, 0); /* never inside the call that starts it */
}

void got_stream(struct got *got, struct kube_request request)
{
    struct err err = ERR_INIT;
    struct kube_stream stream = { .on_open = on_open, .on_data = on_data, .done = on_done, .self = got };
    got->call = kube_send_stream(got->fixture->client, &request, &stream, &err);
    assert_string_equal(err.text, "");
    assert_non_null(got->call);
    assert_int_equal(got->done, 0);
}

void got_wait(struct got *got)
{
    RUN_UNTIL(got->fixture, got->done > 0);
    assert_int_equal(got->done, 1);
}
