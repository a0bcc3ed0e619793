#include "http_fixture.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOST "Host: a\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"

/* ---- reading requests ---- */

static void server__pipelined_requests_are_answered_in_order(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, GET("/late") GET("/hello") GET("/close"));
    RUN_UNTIL(*state, raw.closed);
    const char *text = strbuf_cstr(&raw.received);
    const char *late = strstr(text, "late"), *hello = strstr(text, "hello"), *bye = strstr(text, "bye");
    assert_true(late && hello && bye);
    assert_true(late < hello && hello < bye);
    raw_done(&raw);
}

static void server__a_request_may_come_byte_by_byte(void **state)
{
    static const char text[] = "\r\nPOST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: t\r\n\r\n" GET("/close");
    struct raw raw;
    raw_init(&raw, *state, "");
    for (size_t i = 0; i < sizeof text - 1; i++) {
        char byte[2] = { text[i], '\0' };
        raw_send(&raw, byte);
        fixture_settle(*state);
    }
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw_has(&raw, "POST query= body=abcd"));
    assert_true(raw_has(&raw, "bye"));
    raw_done(&raw);
}

static void server__expect_continue_is_answered_before_the_body(void **state)
{
    struct raw raw;
    raw_init(&raw, *state,
             "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    RUN_UNTIL(*state, raw_has(&raw, "HTTP/1.1 100 Continue\r\n\r\n"));
    raw_send(&raw, "abc");
    RUN_UNTIL(*state, raw_has(&raw, "body=abc"));
    raw_done(&raw);
}

static void server__http_1_0_closes_after_the_answer(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, "GET /hello HTTP/1.0\r\n\r\n");
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw_has(&raw, "Connection: close\r\n\r\nhello"));
    raw_done(&raw);
}

static void server__http_1_0_is_kept_when_asked(void **state)
{
    struct raw raw;
    raw_init(&raw, *state,
             "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /echo?2 HTTP/1.0\r\n\r\n");
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw_has(&raw, "Connection: keep-alive\r\n\r\nhello"));
    assert_true(raw_has(&raw, "query=2"));
    raw_done(&raw);
}

static void server__a_stream_to_http_1_0_has_no_chunks(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, "GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw_has(&raw, "\r\n\r\nonetwo"));
    assert_false(raw_has(&raw, "chunked"));
    raw_done(&raw);
}

static void server__a_stream_to_http_1_1_has_chunks(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, GET("/chunks"));
    RUN_UNTIL(*state, raw_has(&raw, "\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
    assert_true(raw_has(&raw, "Transfer-Encoding: chunked\r\n"));
    raw_done(&raw);
}

static void server__head_of_a_stream_has_no_body(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, "HEAD /chunks HTTP/1.1\r\n" HOST "\r\n" GET("/close"));
    RUN_UNTIL(*state, raw.closed);
    assert_false(raw_has(&raw, "one"));
    assert_true(raw_has(&raw, "bye"));
    raw_done(&raw);
}

static void server__head_announces_the_length_it_does_not_send(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, "HEAD /hello HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw_has(&raw, "Content-Length: 5\r\n"));
    assert_false(raw_has(&raw, "hello"));
    raw_done(&raw);
}

static void server__a_peer_that_shuts_its_side_gets_the_answer(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, GET("/big"));
    RUN_UNTIL(*state, raw.received.len > 0);
    shutdown(bufferevent_getfd(raw.bev), SHUT_WR);
    RUN_UNTIL(*state, raw.closed);
    assert_true(raw.received.len > (3 << 20));
    raw_done(&raw);
}

static void server__a_header_with_a_line_break_is_left_out(void **state)
{
    struct raw raw;
    raw_init(&raw, *state, GET("/busy"));
    RUN_UNTIL(*state, raw_has(&raw, "{}"));
    assert_true(raw_has(&raw, "HTTP/1.1 429 Too Many Requests\r\n"));
    assert_true(raw_has(&raw, "Retry-After: 7\r\n"));
    assert_false(raw_has(&raw, "X-Bad"));
    assert_false(raw_has(&raw, "X-Injected"));
    raw_done(&raw);
}

/* ---- refusing requests, one per row ---- */

static const struct row {
    const char *name;
    const char *text;
    const char *want;
} rows[] = {
    { "malformed head gets 400", "GET\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
    { "a long head gets 431", NULL, "HTTP/1.1 431 " },
    { "a long announced body gets 413", "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 1048577\r\n\r\n",
      "HTTP/1.1 413 Content Too Large\r\n" },
    { "an absurd announced body gets 413",
      "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 413 " },
    { "a long chunk gets 413", "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n100001\r\n",
      "HTTP/1.1 413 " },
    { "an absurd chunk gets 413",
      "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nfffffffffffffff\r\n",
      "HTTP/1.1 413 " },
    { "a malformed chunk gets 400", "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "HTTP/1.1 400 " },
    { "a chunk without end mark gets 400",
      "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "HTTP/1.1 400 " },
    { "an unknown coding gets 501", "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 501 " },
    { "HTTP/2 gets 505", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 " },
    { "an unknown expectation gets 417", "PUT /echo HTTP/1.1\r\n" HOST "Expect: x\r\n\r\n", "HTTP/1.1 417 " },
};

static int row_setup(void **state)
{
    const void *row = *state;
    fixture_setup(state);
    ((struct fixture *)*state)->row = row;
    return 0;
}

static void server__refuses(void **state)
{
    struct fixture *fixture = *state;
    const struct row *row = fixture->row;
    char long_head[20 * 1024];
    memset(long_head, 'a', sizeof long_head - 1);
    long_head[sizeof long_head - 1] = '\0';
    struct raw raw;
    raw_init(&raw, fixture, row->text ? row->text : long_head);
    RUN_UNTIL(fixture, raw.closed); /* a refusal ends the connection */
    assert_true(str_starts_with(strbuf_str(&raw.received), str_c(row->want)));
    assert_true(raw_has(&raw, "Connection: close\r\n"));
    assert_true(raw_has(&raw, "Content-Type: text/plain"));
    assert_int_equal(fixture->handled, 0);
    raw_done(&raw);
}

static void server__an_upload_that_is_too_large_gets_its_413(void **state)
{
    struct fixture *fixture = *state;
    const size_t len = (size_t)4 << 20;
    char *body = malloc(len);
    memset(body, 'x', len);
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .method = "POST",
                                              .url = str_c(fixture_url(fixture, "/echo")),
                                              .body = { .ptr = body, .len = len } });
    reply_wait(&reply);
    assert_int_equal(reply.status, 413);
    assert_body(&reply, "Content Too Large\n");
    free(body);
    reply_done(&reply);
}

static void server__a_body_of_exactly_the_limit_is_taken(void **state)
{
    struct fixture *fixture = *state;
    const size_t len = (size_t)1 << 20;
    char *body = malloc(len);
    memset(body, 'x', len);
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .method = "POST",
                                              .url = str_c(fixture_url(fixture, "/echo")),
                                              .body = { .ptr = body, .len = len } });
    reply_wait(&reply);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body.len, len + strlen("POST query= body="));
    free(body);
    reply_done(&reply);
}

/* ---- connections ---- */

static void server__more_connections_than_the_limit_are_closed(void **state)
{
    struct fixture *fixture = *state;
    fixture_server(fixture, (struct http_server_options){ .max_connections = 2 });
    struct raw one, two, three;
    raw_init(&one, fixture, GET("/never"));
    raw_init(&two, fixture, GET("/open"));
    RUN_UNTIL(fixture, fixture->kept_count == 2);
    raw_init(&three, fixture, GET("/hello"));
    RUN_UNTIL(fixture, three.closed);
    assert_int_equal(three.received.len, 0);
    raw_done(&two);
    RUN_UNTIL(fixture, fixture->kept[1].closed);
    raw_init(&two, fixture, GET("/hello")); /* there is room again */
    RUN_UNTIL(fixture, raw_has(&two, "hello"));
    raw_done(&one);
    raw_done(&two);
    raw_done(&three);
}

static void server__closed_fires_when_the_peer_of_a_stream_leaves(void **state)
{
    struct fixture *fixture = *state;
    struct raw raw;
    raw_init(&raw, fixture, GET("/open"));
    RUN_UNTIL(fixture, raw_has(&raw, "part"));
    raw_done(&raw);
    RUN_UNTIL(fixture, fixture->kept[0].closed);
}

static void mark_closed(void *self)
{
    struct fixture *fixture = self;
    fixture->kept[0].closed = true;
    loop_stop(fixture->loop);
}

static void server__closed_fires_later_when_the_peer_left_before_the_stream(void **state)
{
    struct fixture *fixture = *state;
    struct raw raw;
    raw_init(&raw, fixture, GET("/never"));
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    raw_done(&raw);
    fixture_settle(fixture);
    struct http_exchange *exchange = fixture->kept[0].exchange;
    http_exchange_stream_start(exchange, 200, "a/b", mark_closed, fixture);
    assert_false(fixture->kept[0].closed); /* not inside the call */
    http_exchange_stream_send(exchange, STR("lost"));
    assert_int_equal(http_exchange_stream_backlog(exchange), 0);
    RUN_UNTIL(fixture, fixture->kept[0].closed);
}

static void server__the_backlog_shows_a_reader_that_does_not_read(void **state)
{
    struct fixture *fixture = *state;
    struct raw raw;
    raw_init(&raw, fixture, GET("/open"));
    RUN_UNTIL(fixture, raw_has(&raw, "part"));
    bufferevent_disable(raw.bev, EV_READ);
    const size_t len = (size_t)8 << 20;
    char *data = malloc(len);
    memset(data, 'x', len);
    struct http_exchange *exchange = fixture->kept[0].exchange;
    for (int i = 0; i < 4; i++)
        http_exchange_stream_send(exchange, (struct str){ .ptr = data, .len = len });
    fixture_settle(fixture);
    assert_true(http_exchange_stream_backlog(exchange) > len);
    http_exchange_abort(exchange);
    bufferevent_enable(raw.bev, EV_READ);
    RUN_UNTIL(fixture, raw.closed);
    assert_true(raw.received.len < 4 * len);
    assert_false(fixture->kept[0].closed); /* it was us */
    free(data);
    raw_done(&raw);
}

static void server__what_a_peer_sends_into_a_stream_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct raw raw;
    raw_init(&raw, fixture, GET("/open"));
    RUN_UNTIL(fixture, raw_has(&raw, "part"));
    const size_t len = (size_t)16 << 20;
    char *data = malloc(len);
    memset(data, 'x', len);
    bufferevent_write(raw.bev, data, len);
    free(data);
    fixture_settle(fixture);
    fixture_settle(fixture);
    /* Most of it is still with the sender. */
    assert_true(evbuffer_get_length(bufferevent_get_output(raw.bev)) > (size_t)1 << 20);
    http_exchange_stream_end(fixture->kept[0].exchange);
    RUN_UNTIL(fixture, raw_has(&raw, "0\r\n\r\n"));
    raw_done(&raw);
}

static void server__free_ends_kept_exchanges_and_open_streams(void **state)
{
    struct fixture *fixture = *state;
    struct raw raws[3];
    raw_init(&raws[0], fixture, GET("/never"));
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    raw_init(&raws[1], fixture, GET("/open"));
    RUN_UNTIL(fixture, fixture->kept_count == 2);
    raw_init(&raws[2], fixture, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nab");
    fixture_settle(fixture);
    http_server_free(fixture->server);
    fixture->server = NULL;
    assert_true(fixture->kept[1].closed);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        RUN_UNTIL(fixture, raws[i].closed);
        raw_done(&raws[i]);
    }
}

/* ---- time limits: one second is the shortest ---- */

static void server__slow_peers_lose_their_connection(void **state)
{
    struct fixture *fixture = *state;
    fixture_server(fixture, (struct http_server_options){ .timeout_s = 1 });
    struct raw silent, slow_head, slow_body, idle, watch, deaf;
    raw_init(&silent, fixture, "");
    raw_init(&slow_head, fixture, "GET / HT");
    raw_init(&slow_body, fixture, "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nab");
    raw_init(&idle, fixture, GET("/hello"));
    raw_init(&watch, fixture, GET("/open"));
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    raw_init(&deaf, fixture, GET("/open"));
    RUN_UNTIL(fixture, raw_has(&deaf, "part"));
    bufferevent_disable(deaf.bev, EV_READ);
    const size_t len = (size_t)32 << 20;
    char *data = malloc(len);
    memset(data, 'x', len);
    http_exchange_stream_send(fixture->kept[1].exchange, (struct str){ .ptr = data, .len = len });
    free(data);

    RUN_UNTIL(fixture, silent.closed && slow_head.closed && slow_body.closed && idle.closed);
    RUN_UNTIL(fixture, fixture->kept[1].closed);
    assert_int_equal(silent.received.len, 0);
    assert_true(raw_has(&slow_head, "HTTP/1.1 408 Request Timeout\r\n"));
    assert_true(raw_has(&slow_body, "HTTP/1.1 408 Request Timeout\r\n"));
    assert_true(raw_has(&idle, "hello"));
    assert_false(watch.closed); /* a quiet stream is no slow peer */
    assert_false(fixture->kept[0].closed);
    raw_done(&silent);
    raw_done(&slow_head);
    raw_done(&slow_body);
    raw_done(&idle);
    raw_done(&watch);
    raw_done(&deaf);
}

/* ---- addresses ---- */

static void ignore(void *self, struct http_exchange *exchange)
{
    (void)self, (void)exchange;
}

static struct http_server *listen_at(struct fixture *fixture, const char *address, struct err *err)
{
    const struct http_server_options options = { .address = address, .handle = ignore };
    return http_server_new(fixture->loop, &options, err);
}

static void server__refuses_bad_addresses(void **state)
{
    static const char *const bad[] = {
        "",      "127.0.0.1",        "127.0.0.1:",    "127.0.0.1:x", "127.0.0.1:65536",
        ":-1",   "::1:80",           "[::1:80",       "[::1]",       "127.0.0.1:80:80",
        ":http", "no host at all:0", "256.256.1.1:0", NULL
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        assert_null(listen_at(*state, bad[i], &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

static void server__an_address_in_use_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", http_server_port(fixture->server));
    assert_null(listen_at(fixture, address, &err));
    assert_int_equal(err.kind, ERR_TRANSIENT);
    assert_non_null(strstr(err.text, address));
}

static void server__without_host_it_listens_everywhere(void **state)
{
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    struct http_server *own = fixture->server;
    fixture->server = listen_at(fixture, ":0", &err);
    assert_string_equal(err.text, "");
    assert_true(http_server_port(fixture->server) > 0);
    struct raw raw;
    raw_init(&raw, fixture, "x\r\n\r\n"); /* comes by IPv4 */
    RUN_UNTIL(fixture, raw_has(&raw, "HTTP/1.1 400 "));
    raw_done(&raw);
    http_server_free(own);
}

static void server__free_takes_null(void **state)
{
    (void)state;
    http_server_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static const struct CMUnitTest fixed[] = {
    TEST(server__pipelined_requests_are_answered_in_order),
    TEST(server__a_request_may_come_byte_by_byte),
    TEST(server__expect_continue_is_answered_before_the_body),
    TEST(server__http_1_0_closes_after_the_answer),
    TEST(server__http_1_0_is_kept_when_asked),
    TEST(server__a_stream_to_http_1_0_has_no_chunks),
    TEST(server__a_stream_to_http_1_1_has_chunks),
    TEST(server__head_of_a_stream_has_no_body),
    TEST(server__head_announces_the_length_it_does_not_send),
    TEST(server__a_peer_that_shuts_its_side_gets_the_answer),
    TEST(server__a_header_with_a_line_break_is_left_out),
    TEST(server__an_upload_that_is_too_large_gets_its_413),
    TEST(server__a_body_of_exactly_the_limit_is_taken),
    TEST(server__more_connections_than_the_limit_are_closed),
    TEST(server__closed_fires_when_the_peer_of_a_stream_leaves),
    TEST(server__closed_fires_later_when_the_peer_left_before_the_stream),
    TEST(server__the_backlog_shows_a_reader_that_does_not_read),
    TEST(server__what_a_peer_sends_into_a_stream_is_bounded),
    TEST(server__free_ends_kept_exchanges_and_open_streams),
    TEST(server__slow_peers_lose_their_connection),
    TEST(server__refuses_bad_addresses),
    TEST(server__an_address_in_use_is_an_error),
    TEST(server__without_host_it_listens_everywhere),
    TEST(server__free_takes_null),
};

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] = (struct CMUnitTest){ rows[i].name, server__refuses, row_setup, fixture_teardown,
                                              (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("http/server", tests, NULL, NULL);
}
