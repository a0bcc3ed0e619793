/* The fence at the wire: whether a request may leave is asked when it would. */
#include "http_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define OK_KEEP "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct step always_ok(int connection, int request)
{
    (void)connection, (void)request;
    return (struct step){ OK_KEEP, STEP_KEEP };
}

static struct step second_closes(int connection, int request)
{
    if (connection == 0 && request == 1)
        return (struct step){ NULL, STEP_CLOSE };
    return (struct step){ OK_KEEP, STEP_KEEP };
}

/* What is asked; a reply's may_send gets the reply. */
static struct fence {
    struct script *script;
    int asked;
    int allowed; /* how many times the answer is yes */
    int connections_when_asked;
} fence;

static bool may_send(void *self)
{
    (void)self;
    fence.asked++;
    if (fence.script)
        fence.connections_when_asked = script_connections(fence.script);
    return fence.asked <= fence.allowed;
}

static void send_fenced(struct reply *reply, struct fixture *fixture, const char *method, const char *url)
{
    reply_init(reply, fixture);
    reply_send(reply, (struct http_request){
                          .method = method, .url = str_c(url), .body = STR("{}"), .may_send = may_send });
}

static void get_ok(struct fixture *fixture, struct script *script)
{
    struct reply reply;
    reply_init(&reply, fixture);
    reply_get(&reply, script_url(script));
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    reply_done(&reply);
}

static void t_67_a_fenced_request_is_not_sent(void **state)
{
    struct script *script = script_new(*state, always_ok);
    struct reply reply;
    fence = (struct fence){ .script = script };
    send_fenced(&reply, *state, "PATCH", script_url(script));
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_FENCED);
    assert_int_equal(reply.status, 0);
    assert_int_equal(reply.err.kind, ERR_TRANSIENT);
    assert_string_equal(reply.err.text, "not sent: fenced");
    assert_int_equal(fence.asked, 1);
    reply_done(&reply);

    get_ok(*state, script); /* the server answers in order: it has seen nothing before */
    assert_int_equal(script_requests(script), 1);
    script_free(script);
}

static void t_67_an_open_fence_lets_pass(void **state)
{
    struct script *script = script_new(*state, always_ok);
    struct reply reply;
    fence = (struct fence){ .script = script, .allowed = 1 };
    send_fenced(&reply, *state, "PATCH", script_url(script));
    assert_int_equal(fence.asked, 0); /* not when it is handed over */
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_COMPLETE);
    assert_int_equal(fence.asked, 1);
    reply_done(&reply);
    script_free(script);
}

static void t_67_a_reused_connection_asks_too(void **state)
{
    struct script *script = script_new(*state, always_ok);
    get_ok(*state, script);
    struct reply reply;
    fence = (struct fence){ .script = script };
    send_fenced(&reply, *state, "POST", script_url(script));
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_FENCED);
    reply_done(&reply);
    assert_int_equal(script_requests(script), 1);
    script_free(script);
}

static void t_67_a_queued_request_asks_when_its_turn_comes(void **state)
{
    struct fixture *fixture = *state;
    fixture_client(fixture, (struct http_client_options){ .max_connections = 1 });
    struct reply first, second;
    reply_init(&first, fixture);
    reply_send(&first, (struct http_request){ .url = str_c(fixture_url(fixture, "/never")) });
    fence = (struct fence){ 0 };
    send_fenced(&second, fixture, "PATCH", fixture_url(fixture, "/hello"));
    RUN_UNTIL(fixture, fixture->kept_count == 1);
    assert_int_equal(fence.asked, 0);
    http_exchange_reply(fixture->kept[0].exchange, 200, "text/plain", STR("at last"));
    reply_wait(&second);
    assert_int_equal(second.outcome, HTTP_FENCED);
    assert_int_equal(fixture->handled, 1);
    reply_done(&first);
    reply_done(&second);
}

static void t_67_a_repetition_asks_again_and_does_not_claim_that_nothing_was_sent(void **state)
{
    struct script *script = script_new(*state, second_closes);
    get_ok(*state, script);
    struct reply reply;
    fence = (struct fence){ .script = script, .allowed = 1 };
    send_fenced(&reply, *state, "PATCH", script_url(script));
    reply_wait(&reply);
    assert_int_equal(reply.outcome, HTTP_BROKEN);
    assert_string_equal(reply.err.text, "not sent again: fenced");
    assert_int_equal(fence.asked, 2);
    assert_int_equal(script_requests(script), 2);
    reply_done(&reply);
    script_free(script);
}

/* ---- cancelled in the middle of a body ---- */

static int listen_slowly(int *port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 128 * 1024;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof address;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(bind(fd, (struct sockaddr *)(void *)&address, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static bool has_data(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    return poll(&ready, 1, 0) == 1;
}

/* How the connection ended for the peer that reads at last: 0 or an errno. */
static int read_to_end(int fd, size_t *total)
{
    static char buf[65536];
    ssize_t n;
    *total = 0;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        *total += (size_t)n;
    return n < 0 ? errno : 0;
}

static void t_67_what_a_cancelled_request_had_in_the_kernel_is_dropped(void **state)
{
    struct fixture *fixture = *state;
    const size_t len = (size_t)32 << 20;
    char *body = malloc(len), url[64];
    memset(body, 'x', len);
    int port, listener = listen_slowly(&port);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    struct reply reply;
    reply_init(&reply, fixture);
    fence = (struct fence){ .allowed = 1 };
    reply_send(&reply,
               (struct http_request){
                   .method = "PATCH", .url = str_c(url), .body = { body, len }, .may_send = may_send });
    free(body);
    while (fence.asked == 0)
        fixture_settle(fixture);
    int peer = accept(listener, NULL, NULL);
    while (!has_data(peer))
        fixture_settle(fixture);
    http_cancel(reply.call);
    size_t total;
    assert_int_equal(read_to_end(peer, &total), ECONNRESET);
    assert_true(total < len);
    close(peer);
    close(listener);
    reply_done(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(t_67_a_fenced_request_is_not_sent, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(t_67_an_open_fence_lets_pass, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(t_67_a_reused_connection_asks_too, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(t_67_a_queued_request_asks_when_its_turn_comes, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(t_67_a_repetition_asks_again_and_does_not_claim_that_nothing_was_sent,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(t_67_what_a_cancelled_request_had_in_the_kernel_is_dropped,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("http/client_fence", tests, NULL, NULL);
}
