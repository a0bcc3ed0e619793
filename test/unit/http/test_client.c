#include "http_fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every test of this file runs twice: plain and over TLS. */

static void client__get_collects_the_body(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/hello"));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(reply.status, 200);
    assert_body(&reply, "hello");
    assert_string_equal(strbuf_cstr(&reply.content_type), "text/plain");
    assert_true(reply.any_response_byte);
    assert_int_equal(reply.retry_after_ms, -1);
    reply_done(&reply);
}

static void client__patch_sends_body_and_headers(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    const struct http_header headers[] = {
        { STR("Content-Type"), STR("application/merge-patch+json") },
        { STR("X-Test"), STR("a b") },
        { STR("X-Empty"), STR("") },
    };
    reply_send(&reply, (struct http_request){ .method = "PATCH",
                                              .url = str_c(fixture_url(fixture, "/echo?a=%20b")),
                                              .headers = headers,
                                              .header_count = ARRAY_LEN(headers),
                                              .body = STR("{\"a\":1}") });
    reply_wait(&reply);
    assert_int_equal(reply.status, 200);
    assert_body(&reply, "PATCH query=a=%20b Content-Type=application/merge-patch+json X-Empty= X-Test=a b "
                        "body={\"a\":1}");
    reply_done(&reply);
}

static void client__neg_1_offers_no_encoding_and_expects_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    char *body = malloc(200001); /* libcurl announces large bodies by Expect unless told */
    memset(body, 'y', 200000);
    body[200000] = '\0';
    reply_send(&reply, (struct http_request){ .method = "POST",
                                              .url = str_c(fixture_url(fixture, "/echo")),
                                              .body = str_c(body) });
    reply_wait(&reply);
    assert_int_equal(reply.status, 200);
    assert_true(str_starts_with(strbuf_str(&reply.body), STR("POST query= body=yyy")));
    assert_int_equal(reply.body.len, strlen("POST query= body=") + 200000);
    free(body);
    reply_done(&reply);
}

static void client__an_empty_put_and_a_delete_work(void **state)
{
    struct fixture *fixture = *state;
    static const char *const methods[] = { "PUT", "DELETE", "POST", "PATCH" };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct reply reply;
        reply_init(&reply, fixture);
        reply_send(&reply, (struct http_request){ .method = methods[i],
                                                  .url = str_c(fixture_url(fixture, "/echo")) });
        reply_wait(&reply);
        assert_true(str_starts_with(strbuf_str(&reply.body), str_c(methods[i])));
        assert_true(str_ends_with(strbuf_str(&reply.body), STR(" query= body=")));
        reply_done(&reply);
    }
}

static void client__head_gets_the_header_only(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply,
               (struct http_request){ .method = "HEAD", .url = str_c(fixture_url(fixture, "/hello")) });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(reply.status, 200);
    assert_body(&reply, "");
    reply_done(&reply);
}

static void client__a_status_without_body_completes(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/nothing"));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(reply.status, 204);
    reply_done(&reply);
}

static void client__an_answer_given_later_arrives(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/late"));
    assert_body(&reply, "late");
    reply_done(&reply);
}

static void client__an_error_status_is_a_complete_answer(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/busy"));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(reply.status, 429);
    assert_int_equal(reply.retry_after_ms, 7000);
    assert_body(&reply, "{}");
    reply_done(&reply);
}

static void client__a_stream_arrives_in_pieces(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")),
                                                .fresh_connection = true,
                                                .total_timeout_ms = -1 });
    RUN_UNTIL(fixture, reply.body.len == 4);
    assert_int_equal(reply.header_count, 1);
    assert_int_equal(reply.status, 200);
    http_exchange_stream_send(fixture->kept[0].exchange, STR("/more"));
    RUN_UNTIL(fixture, reply.body.len == 9);
    assert_false(reply.done);
    http_exchange_stream_end(fixture->kept[0].exchange);
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_body(&reply, "part/more");
    assert_false(fixture->kept[0].closed);
    reply_done(&reply);
}

static void client__a_chunked_answer_is_collected(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/chunks"));
    assert_body(&reply, "onetwo");
    reply_done(&reply);
}

static void client__a_stream_of_known_length_is_cut_to_it(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/length"));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_body(&reply, "abcdefg");
    reply_done(&reply);
}

static void client__a_body_shorter_than_promised_is_broken(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/short"));
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    reply_done(&reply);
}

static void client__a_large_body_arrives_whole(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/big"));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(reply.body.len, 3 << 20);
    reply_done(&reply);
}

static void client__net_7_a_body_over_the_limit_is_too_large(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply,
               (struct http_request){ .url = str_c(fixture_url(fixture, "/big")), .max_body = 1 << 20 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_TOO_LARGE);
    assert_int_equal(reply.err.kind, ERR_INVALID);
    assert_true(reply.body.len <= 1 << 20);
    reply_done(&reply);
}

static void client__a_body_of_exactly_the_limit_is_fine(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/hello")), .max_body = 5 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    reply_done(&reply);
}

static bool refuse_chunk(struct reply *reply, struct err *err)
{
    (void)reply;
    return err_set(err, ERR_INVALID, "enough");
}

static void client__on_data_may_refuse(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply.on_chunk = refuse_chunk;
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_ABORTED);
    assert_string_equal(reply.err.text, "enough");
    RUN_UNTIL(fixture, fixture->kept[0].closed); /* the server notices */
    reply_done(&reply);
}

/* ---- cancelling ---- */

static void cancel_itself(struct reply *reply)
{
    http_cancel(reply->call);
    reply->call = NULL;
}

static bool cancel_in_chunk(struct reply *reply, struct err *err)
{
    (void)err;
    cancel_itself(reply);
    return true;
}

static void client__cancel_right_after_send(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/hello")) });
    cancel_itself(&reply);
    fixture_settle(fixture);
    assert_false(reply.done);
    reply_done(&reply);
}

static void client__cancel_while_the_server_thinks(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/never")) });
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    cancel_itself(&reply);
    fixture_settle(fixture);
    /* The handler knows nothing yet and answers into the void. */
    http_exchange_reply(fixture->kept[0].exchange, 200, NULL, STR("x"));
    assert_false(reply.done);
    reply_done(&reply);
}

static void client__cancel_in_on_header(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply.on_header = cancel_itself;
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    assert_false(reply.done);
    assert_int_equal(reply.chunk_count, 0);
    reply_done(&reply);
}

static void client__cancel_in_on_data(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply.on_chunk = cancel_in_chunk;
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    assert_int_equal(reply.chunk_count, 1);
    assert_false(reply.done);
    reply_done(&reply);
}

static struct reply *victim;

static void cancel_victim(struct reply *reply)
{
    (void)reply;
    cancel_itself(victim);
}

static void client__cancel_another_call_in_done(void **state)
{
    struct fixture *fixture = *state;
    struct reply first, other;
    reply_init(&first, fixture);
    reply_init(&other, fixture);
    victim = &other;
    first.on_done = cancel_victim;
    reply_stream(&other, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, other.body.len == 4);
    reply_get(&first, fixture_url(fixture, "/hello"));
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    assert_false(other.done);
    reply_done(&first);
    reply_done(&other);
}

static void send_next(struct reply *reply)
{
    victim->fixture = reply->fixture;
    reply_send(victim, (struct http_request){ .url = str_c(fixture_url(reply->fixture, "/hello")) });
}

static void client__send_the_next_request_in_done(void **state)
{
    struct fixture *fixture = *state;
    struct reply first, next;
    reply_init(&first, fixture);
    reply_init(&next, fixture);
    victim = &next;
    first.on_done = send_next;
    reply_get(&first, fixture_url(fixture, "/hello"));
    reply_wait(&next);
    assert_body(&next, "hello");
    reply_done(&first);
    reply_done(&next);
}

static bool send_in_chunk(struct reply *reply, struct err *err)
{
    (void)err;
    send_next(reply);
    return true;
}

static void client__send_another_request_in_on_data(void **state)
{
    struct fixture *fixture = *state;
    struct reply first, next;
    reply_init(&first, fixture);
    reply_init(&next, fixture);
    victim = &next;
    first.on_chunk = send_in_chunk;
    reply_stream(&first, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, next.done);
    assert_body(&next, "hello");
    http_cancel(first.call);
    reply_done(&first);
    reply_done(&next);
}

static void free_client(struct reply *reply)
{
    http_client_free(reply->fixture->client);
    reply->fixture->client = NULL;
}

static bool free_client_in_chunk(struct reply *reply, struct err *err)
{
    (void)err;
    free_client(reply);
    return true;
}

static void client__may_be_freed_in_done(void **state)
{
    struct fixture *fixture = *state;
    struct reply first, other;
    reply_init(&first, fixture);
    reply_init(&other, fixture);
    first.on_done = free_client;
    reply_send(&other, (struct http_request){ .url = str_c(fixture_url(fixture, "/never")) });
    reply_get(&first, fixture_url(fixture, "/hello"));
    fixture_settle(fixture);
    assert_false(other.done);
    reply_done(&first);
    reply_done(&other);
}

static void client__may_be_freed_in_on_data(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply.on_chunk = free_client_in_chunk;
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    assert_false(reply.done);
    reply_done(&reply);
}

static void client__freeing_cancels_what_runs(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, reply.body.len == 4);
    free_client(&reply);
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    assert_false(reply.done);
    reply_done(&reply);
}

/* ---- limits ---- */

static void client__header_timeout(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_send(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/never")),
                                              .header_timeout_ms = 50 });
    reply_wait(&reply);
    /* Under TLS the handshake may eat the limit; then the request was not sent. */
    assert_true(reply.outcome == HTTP_TIMED_OUT || reply.outcome == HTTP_REFUSED);
    assert_false(reply.any_response_byte);
    assert_int_equal(reply.status, 0);
    reply_done(&reply);
}

static void client__total_timeout_counts_the_body(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")),
                                                .total_timeout_ms = 300 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_TIMED_OUT);
    reply_done(&reply);
}

static void client__net_6_silence_inside_the_body_times_out(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")),
                                                .total_timeout_ms = -1,
                                                .idle_timeout_ms = 50 });
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_TIMED_OUT);
    assert_int_equal(reply.status, 200);
    assert_body(&reply, "part");
    RUN_UNTIL(fixture, fixture->kept[0].closed);
    reply_done(&reply);
}

/* ---- connections ---- */

static void client__a_thousand_requests_share_one_connection(void **state)
{
    struct fixture *fixture = *state;
    /* Any second connection would be refused. */
    fixture_server(fixture, (struct http_server_options){ .tls_cert_pem = str_c(fixture->pair.cert_pem),
                                                          .tls_key_pem = str_c(fixture->pair.key_pem),
                                                          .max_connections = 1 });
    for (int i = 0; i < 1000; i++) {
        struct reply reply;
        reply_init(&reply, fixture);
        reply_get(&reply, fixture_url(fixture, "/hello"));
        assert_int_equal(reply.outcome, HTTP_COMPLETE);
        assert_int_equal(reply.status, 200);
        reply_done(&reply);
    }
    assert_int_equal(fixture->handled, 1000);
}

static void client__short_requests_keep_to_their_connections(void **state)
{
    struct fixture *fixture = *state;
    fixture_server(fixture, (struct http_server_options){ .tls_cert_pem = str_c(fixture->pair.cert_pem),
                                                          .tls_key_pem = str_c(fixture->pair.key_pem),
                                                          .max_connections = 2 });
    fixture_client(fixture,
                   (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem), .max_connections = 2 });
    enum { COUNT = 50 };
    struct reply replies[COUNT];
    for (int i = 0; i < COUNT; i++) {
        reply_init(&replies[i], fixture);
        reply_send(&replies[i], (struct http_request){ .url = str_c(fixture_url(fixture, "/late")) });
        /* One late answer at a time: the handler has one slot. */
        if (i % 2)
            continue;
        http_cancel(replies[i].call);
        reply_send(&replies[i], (struct http_request){ .url = str_c(fixture_url(fixture, "/hello")) });
    }
    for (int i = 0; i < COUNT; i += 2) {
        reply_wait(&replies[i]);
        assert_int_equal(replies[i].outcome, HTTP_COMPLETE);
    }
    for (int i = 1; i < COUNT; i += 2) {
        if (replies[i].call)
            http_cancel(replies[i].call);
    }
    for (int i = 0; i < COUNT; i++)
        reply_done(&replies[i]);
}

static void client__net_1_streams_do_not_starve_short_requests(void **state)
{
    struct fixture *fixture = *state;
    fixture_client(fixture,
                   (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem), .max_connections = 1 });
    struct reply watches[5], reply;
    for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
        reply_init(&watches[i], fixture);
        reply_stream(&watches[i], (struct http_request){ .url = str_c(fixture_url(fixture, "/open")),
                                                         .fresh_connection = true,
                                                         .total_timeout_ms = -1 });
        RUN_UNTIL(fixture, watches[i].body.len == 4);
    }
    for (int i = 0; i < 3; i++) {
        reply_init(&reply, fixture);
        reply_get(&reply, fixture_url(fixture, "/hello"));
        assert_int_equal(reply.outcome, HTTP_COMPLETE);
        reply_done(&reply);
    }
    for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
        http_cancel(watches[i].call);
        reply_done(&watches[i]);
    }
}

static void client__a_waiting_request_can_time_out_unsent(void **state)
{
    struct fixture *fixture = *state;
    fixture_client(fixture,
                   (struct http_client_options){ .ca_pem = str_c(fixture->ca.pem), .max_connections = 1 });
    struct reply first, second;
    reply_init(&first, fixture);
    reply_init(&second, fixture);
    reply_send(&first, (struct http_request){ .url = str_c(fixture_url(fixture, "/never")) });
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    reply_send(&second,
               (struct http_request){ .url = str_c(fixture_url(fixture, "/hello")), .total_timeout_ms = 50 });
    reply_wait(&second);
    assert_int_equal(second.outcome, HTTP_REFUSED);
    assert_int_equal(fixture->handled, 1);
    http_cancel(first.call);
    reply_done(&first);
    reply_done(&second);
}

static void client__connection_close_is_honoured(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++) {
        struct reply reply;
        reply_init(&reply, fixture);
        reply_get(&reply, fixture_url(fixture, "/close"));
        assert_int_equal(reply.outcome, HTTP_COMPLETE);
        assert_body(&reply, "bye");
        reply_done(&reply);
    }
}

/* ---- faults ---- */

static void client__an_abort_before_the_answer_is_broken(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, fixture_url(fixture, "/abort"));
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_false(reply.any_response_byte);
    assert_int_equal(fixture->handled, 1); /* a first use of a connection is never repeated */
    reply_done(&reply);
}

static void client__an_abort_inside_the_body_is_broken(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, reply.body.len == 4);
    http_exchange_abort(fixture->kept[0].exchange);
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_int_equal(reply.status, 200);
    assert_body(&reply, "part");
    reply_done(&reply);
}

static void client__nobody_listening_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char url[256];
    snprintf(url, sizeof url, "%s", fixture_url(fixture, "/hello"));
    http_server_free(fixture->server);
    fixture->server = NULL;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, url);
    assert_int_equal(reply.outcome, HTTP_REFUSED);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    assert_int_equal(reply.status, 0);
    reply_done(&reply);
}

static void client__the_server_going_away_breaks_the_stream(void **state)
{
    struct fixture *fixture = *state;
    struct reply reply;
    reply_init(&reply, fixture);
    reply_stream(&reply, (struct http_request){ .url = str_c(fixture_url(fixture, "/open")) });
    RUN_UNTIL(fixture, reply.body.len == 4);
    http_server_free(fixture->server);
    fixture->server = NULL;
    assert_true(fixture->kept[0].closed);
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    reply_done(&reply);
}

#define ROWS(setup, suffix)                                                                                  \
    ROW(client__get_collects_the_body, setup, suffix),                                                       \
        ROW(client__patch_sends_body_and_headers, setup, suffix),                                            \
        ROW(client__neg_1_offers_no_encoding_and_expects_nothing, setup, suffix),                            \
        ROW(client__an_empty_put_and_a_delete_work, setup, suffix),                                          \
        ROW(client__head_gets_the_header_only, setup, suffix),                                               \
        ROW(client__a_status_without_body_completes, setup, suffix),                                         \
        ROW(client__an_answer_given_later_arrives, setup, suffix),                                           \
        ROW(client__an_error_status_is_a_complete_answer, setup, suffix),                                    \
        ROW(client__a_stream_arrives_in_pieces, setup, suffix),                                              \
        ROW(client__a_chunked_answer_is_collected, setup, suffix),                                           \
        ROW(client__a_stream_of_known_length_is_cut_to_it, setup, suffix),                                   \
        ROW(client__a_body_shorter_than_promised_is_broken, setup, suffix),                                  \
        ROW(client__a_large_body_arrives_whole, setup, suffix),                                              \
        ROW(client__net_7_a_body_over_the_limit_is_too_large, setup, suffix),                                \
        ROW(client__a_body_of_exactly_the_limit_is_fine, setup, suffix),                                     \
        ROW(client__on_data_may_refuse, setup, suffix), ROW(client__cancel_right_after_send, setup, suffix), \
        ROW(client__cancel_while_the_server_thinks, setup, suffix),                                          \
        ROW(client__cancel_in_on_header, setup, suffix), ROW(client__cancel_in_on_data, setup, suffix),      \
        ROW(client__cancel_another_call_in_done, setup, suffix),                                             \
        ROW(client__send_the_next_request_in_done, setup, suffix),                                           \
        ROW(client__send_another_request_in_on_data, setup, suffix),                                         \
        ROW(client__may_be_freed_in_done, setup, suffix),                                                    \
        ROW(client__may_be_freed_in_on_data, setup, suffix),                                                 \
        ROW(client__freeing_cancels_what_runs, setup, suffix), ROW(client__header_timeout, setup, suffix),   \
        ROW(client__total_timeout_counts_the_body, setup, suffix),                                           \
        ROW(client__net_6_silence_inside_the_body_times_out, setup, suffix),                                 \
        ROW(client__a_thousand_requests_share_one_connection, setup, suffix),                                \
        ROW(client__short_requests_keep_to_their_connections, setup, suffix),                                \
        ROW(client__net_1_streams_do_not_starve_short_requests, setup, suffix),                              \
        ROW(client__a_waiting_request_can_time_out_unsent, setup, suffix),                                   \
        ROW(client__connection_close_is_honoured, setup, suffix),                                            \
        ROW(client__an_abort_before_the_answer_is_broken, setup, suffix),                                    \
        ROW(client__an_abort_inside_the_body_is_broken, setup, suffix),                                      \
        ROW(client__nobody_listening_is_refused, setup, suffix),                                             \
        ROW(client__the_server_going_away_breaks_the_stream, setup, suffix)

#define ROW(test, setup, suffix)                                                                             \
    {                                                                                                        \
#test suffix, test, setup, fixture_teardown, NULL                                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(fixture_setup, ""),
        ROWS(fixture_setup_tls, " over TLS"),
    };
    return cmocka_run_group_tests_name("http/client", tests, NULL, NULL);
}
