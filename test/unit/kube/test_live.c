/* Informer and runtime over real HTTP: client, server and both of them in one loop. What
 * they decide is tested on virtual time elsewhere; here bytes travel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "api/node.h"
#include "base/log.h"
#include "http/server.h"
#include "kube/informer.h"
#include "kube/runtime.h"

/* --- haste ------------------------------------------------------------------------- */

/* The linker sends every timer through here: waits of informer and runtime shrink, those
 * of the transport stay. */
static const void *hasty[2];
#define HASTE 50

void __real_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms);

void __wrap_loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    bool ours = timer->self == hasty[0] || timer->self == hasty[1];
    __real_loop_timer_set(timer, ours ? delay_ms / HASTE : delay_ms);
}

/* --- the fixture ------------------------------------------------------------------- */

struct fixture {
    struct loop *loop;
    struct loop_timer failsafe;
    bool failed;
    struct http_server *server;
    char address[32];
    char target[512]; /* of the request that waits for its answer */
    char method[16];
    char type[64];
    char body[1024];
    struct http_exchange *exchange; /* NULL: none waits */
    size_t requests;
    bool closed; /* the stream that was open */
    struct arena arena;
    struct kube_client *client;
    struct intern *pool;
    struct informer *informer;
    struct runtime *runtime;
    size_t queue;
    bool wants_label; /* the controller: capacity is to hold mid-cpu 5 */
    bool wants_gone;
    size_t written;
    enum kube_failure outcome;
    bool drained;
    struct strbuf told; /* "+a -b ~c synced live gap " */
};

static void turn(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    assert_true(loop_run(fixture->loop, &err));
    assert_false(fixture->failed);
}

/* Every callback of the test stops the loop. */
#define RUN_UNTIL(condition_)                                                                                \
    do {                                                                                                     \
        while (!(condition_))                                                                                \
            turn(fixture);                                                                                   \
    } while (0)

static void on_failsafe(void *self)
{
    struct fixture *fixture = self;
    fixture->failed = true;
    loop_stop(fixture->loop);
}

static void copy(char *to, size_t size, struct str text)
{
    snprintf(to, size, STR_FMT, STR_ARG(text));
}

static void handle(void *self, struct http_exchange *exchange)
{
    struct fixture *fixture = self;
    assert_null(fixture->exchange);
    fixture->exchange = exchange;
    fixture->requests++;
    snprintf(fixture->target, sizeof fixture->target, STR_FMT "?" STR_FMT,
             STR_ARG(http_exchange_path(exchange)), STR_ARG(http_exchange_query(exchange)));
    copy(fixture->method, sizeof fixture->method, http_exchange_method(exchange));
    copy(fixture->type, sizeof fixture->type, http_exchange_header(exchange, "Content-Type"));
    copy(fixture->body, sizeof fixture->body, http_exchange_body(exchange));
    loop_stop(fixture->loop);
}

static void say(struct fixture *fixture, const char *text)
{
    strbuf_add(&fixture->told, str_c(text));
    loop_stop(fixture->loop);
}

static void changed(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct fixture *fixture = self;
    struct str name = kube_object_name(old ? old : new);
    strbuf_addf(&fixture->told, "%c" STR_FMT " ", !new ? '-' : !old ? '+' : '~', STR_ARG(name));
    runtime_enqueue(fixture->runtime, fixture->queue, name);
    loop_stop(fixture->loop);
}

static void synced(void *self)
{
    struct fixture *fixture = self;
    runtime_start(fixture->runtime);
    say(fixture, "synced ");
}

static void feed(void *self, const struct feed_state *state)
{
    say(self, state->live ? "live " : "gap ");
}

static void reconcile(void *self, struct str key, struct mono_time mono, struct wall_time wall,
                      struct plan *plan)
{
    (void)mono, (void)wall;
    struct fixture *fixture = self;
    const struct kube_object *object = store_get(informer_store(fixture->informer), STR_NULL, key);
    if (!object)
        return;
    bool has = node_of(object)->capacity.owned[OWNED_MID_CPU].set;
    if (fixture->wants_label && !has) {
        struct write *write = plan_add(plan);
        write->verb = WRITE_PATCH;
        write->kind = &node_kind;
        write->name = key;
        write->subresource = "status";
        write->body = STR("{\"status\":{\"capacity\":{\"kubernetes.io/mid-cpu\":\"5\"}}}");
        write->label = "patch";
    }
    if (fixture->wants_gone) {
        struct write *write = plan_add(plan);
        write->verb = WRITE_DELETE;
        write->kind = &node_kind;
        write->name = key;
        write->uid = STR("uid-a");
        write->only_if_absent = &node_kind;
        write->label = "delete";
    }
}

static void written(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall)
{
    (void)key, (void)write, (void)mono, (void)wall;
    struct fixture *fixture = self;
    fixture->written++;
    fixture->outcome = result->failure;
    loop_stop(fixture->loop);
}

static const struct store *store_of(void *self, const struct kube_kind *kind)
{
    const struct fixture *fixture = self;
    return kind == &node_kind ? informer_store(fixture->informer) : NULL;
}

static void on_drained(void *self)
{
    struct fixture *fixture = self;
    fixture->drained = true;
    loop_stop(fixture->loop);
}

static void ignore_log(void *self, struct str line)
{
    (void)self, (void)line;
}

static void serve(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    struct http_server_options options = { .address = fixture->address, .handle = handle, .self = fixture };
    fixture->server = http_server_new(fixture->loop, &options, &err);
    if (!fixture->server)
        fail_msg("%s", err.text);
    snprintf(fixture->address, sizeof fixture->address, "127.0.0.1:%d", http_server_port(fixture->server));
}

static int setup(void **state)
{
    struct err err = ERR_INIT;
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    *state = fixture;
    log_capture(ignore_log, NULL);
    fixture->told = STRBUF_INIT(64 * 1024);
    fixture->loop = loop_new(&err);
    loop_timer_init(&fixture->failsafe, fixture->loop, on_failsafe, fixture);
    loop_timer_set(&fixture->failsafe, 60 * 1000);
    copy(fixture->address, sizeof fixture->address, STR("127.0.0.1:0"));
    serve(fixture);
    struct kube_config config = { .server = arena_strf(&fixture->arena, "http://%s", fixture->address) };
    fixture->client = kube_client_new(
        fixture->loop, &(struct kube_client_options){ .config = &config, .user_agent = "test/1" }, &err);
    if (!fixture->client)
        fail_msg("%s", err.text);
    fixture->pool = intern_new();
    fixture->informer = informer_new(fixture->client, &(struct informer_options){ .kind = &node_kind,
                                                                                  .pool = fixture->pool,
                                                                                  .seed = 1,
                                                                                  .changed = changed,
                                                                                  .synced = synced,
                                                                                  .feed = feed,
                                                                                  .self = fixture });
    fixture->runtime = runtime_new(fixture->loop, &(struct runtime_options){ .client = fixture->client });
    fixture->queue = runtime_add(fixture->runtime, &(struct controller){ .name = "nodes",
                                                                         .reconcile = reconcile,
                                                                         .written = written,
                                                                         .store_of = store_of,
                                                                         .self = fixture });
    hasty[0] = fixture->informer;
    hasty[1] = fixture->runtime;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    runtime_free(fixture->runtime);
    informer_free(fixture->informer);
    kube_client_free(fixture->client);
    http_server_free(fixture->server);
    loop_timer_done(&fixture->failsafe);
    loop_free(fixture->loop);
    intern_free(fixture->pool);
    arena_done(&fixture->arena);
    strbuf_done(&fixture->told);
    log_capture(NULL, NULL);
    free(fixture);
    return 0;
}

/* --- talking ----------------------------------------------------------------------- */

/* Waits for the next request and takes it. */
static struct http_exchange *next(struct fixture *fixture)
{
    RUN_UNTIL(fixture->exchange);
    struct http_exchange *exchange = fixture->exchange;
    fixture->exchange = NULL;
    return exchange;
}

static void assert_asked(const struct fixture *fixture, const char *method, const char *part)
{
    assert_string_equal(fixture->method, method);
    if (!strstr(fixture->target, part))
        fail_msg("%s does not ask for %s", fixture->target, part);
}

static void on_closed(void *self)
{
    struct fixture *fixture = self;
    fixture->closed = true;
    loop_stop(fixture->loop);
}

static void begin(struct fixture *fixture, struct http_exchange *exchange)
{
    fixture->closed = false;
    http_exchange_stream_start(exchange, 200, "application/json", on_closed, fixture);
}

static void reply(struct http_exchange *exchange, int status, const char *body)
{
    http_exchange_reply(exchange, status, "application/json", str_c(body));
}

/* What was told since the last time, once it is as long as this. */
static void assert_told(struct fixture *fixture, const char *want)
{
    RUN_UNTIL(fixture->told.len >= strlen(want));
    assert_string_equal(strbuf_cstr(&fixture->told), want);
    strbuf_clear(&fixture->told);
}

#define NODE(name_, rv_, capacity_)                                                                          \
    "{\"metadata\":{\"name\":\"" name_ "\",\"uid\":\"uid-" name_ "\",\"resourceVersion\":\"" rv_             \
    "\"},\"status\":{\"capacity\":{" capacity_ "}}}"
#define MID5 "\"kubernetes.io/mid-cpu\":\"5\""
#define LIST(rv_, items_)                                                                                    \
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" rv_                  \
    "\"},\"items\":[" items_ "]}"
#define EVENT(type_, object_) "{\"type\":\"" type_ "\",\"object\":" object_ "}\n"
#define EXPIRED "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}"

static void send_text(struct http_exchange *exchange, const char *text)
{
    http_exchange_stream_send(exchange, str_c(text));
}

/* Synced with a and b at 100; returns the open watch. */
static struct http_exchange *start(struct fixture *fixture)
{
    informer_start(fixture->informer);
    struct http_exchange *exchange = next(fixture);
    reply(exchange, 200, LIST("100", NODE("a", "10", "") "," NODE("b", "20", "")));
    exchange = next(fixture);
    begin(fixture, exchange);
    RUN_UNTIL(str_ends_with(strbuf_str(&fixture->told), STR("live ")));
    strbuf_clear(&fixture->told);
    return exchange;
}

/* --- informer ---------------------------------------------------------------------- */

static void list_and_watch_travel_in_pieces(void **state)
{
    struct fixture *fixture = *state;
    informer_start(fixture->informer);
    struct http_exchange *exchange = next(fixture);
    assert_asked(fixture, "GET", "/api/v1/nodes?limit=500");
    begin(fixture, exchange);
    static const char list[] = LIST("100", NODE("a", "10", ""));
    for (size_t i = 0; list[i]; i++)
        http_exchange_stream_send(exchange, (struct str){ &list[i], 1 });
    http_exchange_stream_end(exchange);
    assert_told(fixture, "+a synced ");
    exchange = next(fixture);
    assert_asked(fixture, "GET", "watch=true&allowWatchBookmarks=true&timeoutSeconds=");
    assert_asked(fixture, "GET", "&resourceVersion=100");
    begin(fixture, exchange);
    assert_told(fixture, "live ");
    static const char events[] = EVENT("ADDED", NODE("b", "101", ""))
        EVENT("MODIFIED", NODE("a", "102", MID5)) EVENT("DELETED", NODE("b", "103", ""));
    for (size_t i = 0; events[i]; i++)
        http_exchange_stream_send(exchange, (struct str){ &events[i], 1 });
    assert_told(fixture, "+b ~a -b ");
    http_exchange_stream_end(exchange);
    next(fixture);
    assert_asked(fixture, "GET", "&resourceVersion=103");
}

static void t_26_http_410_relists_and_shares_what_did_not_change(void **state)
{
    struct fixture *fixture = *state;
    struct http_exchange *watch = start(fixture);
    send_text(watch, EVENT("MODIFIED", NODE("b", "105", MID5)));
    assert_told(fixture, "~b ");
    http_exchange_stream_end(watch);
    reply(next(fixture), 410, EXPIRED);
    assert_told(fixture, "gap ");
    const struct kube_object *a = store_get(informer_store(fixture->informer), STR_NULL, STR("a"));
    struct http_exchange *list = next(fixture);
    assert_asked(fixture, "GET", "resourceVersion=105&resourceVersionMatch=NotOlderThan");
    reply(list, 200, LIST("200", NODE("a", "10", "") "," NODE("c", "150", "")));
    assert_told(fixture, "-b +c ");
    assert_ptr_equal(store_get(informer_store(fixture->informer), STR_NULL, STR("a")), a);
    begin(fixture, next(fixture));
    assert_told(fixture, "live ");
}

static void t_25_an_error_event_relists(void **state)
{
    struct fixture *fixture = *state;
    struct http_exchange *watch = start(fixture);
    send_text(watch, EVENT("ERROR", EXPIRED) EVENT("ADDED", NODE("z", "101", "")));
    assert_told(fixture, "gap ");
    RUN_UNTIL(fixture->closed); /* wat_10: the transfer is closed, not drained */
    reply(next(fixture), 200, LIST("200", NODE("b", "20", "")));
    assert_told(fixture, "-a ");
}

static void t_27_silent_ends_relist(void **state)
{
    struct fixture *fixture = *state;
    http_exchange_stream_end(start(fixture));
    struct http_exchange *exchange = next(fixture);
    assert_asked(fixture, "GET", "watch=true");
    while (strstr(fixture->target, "watch=true")) { /* mostly two; one that is slow does not count */
        begin(fixture, exchange);
        http_exchange_stream_end(exchange);
        exchange = next(fixture);
    }
    assert_asked(fixture, "GET", "resourceVersionMatch=NotOlderThan");
}

static void t_07_a_reset_inside_an_event_resumes_behind_the_last_whole_one(void **state)
{
    struct fixture *fixture = *state;
    struct http_exchange *watch = start(fixture);
    send_text(watch,
              EVENT("ADDED", NODE("c", "101", "")) "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na");
    assert_told(fixture, "+c ");
    http_exchange_abort(watch);
    assert_told(fixture, "gap ");
    begin(fixture, next(fixture));
    assert_asked(fixture, "GET", "resourceVersion=101");
    assert_told(fixture, "live ");
}

static void t_12_what_is_no_api_server_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct http_exchange *watch = start(fixture);
    http_exchange_abort(watch);
    assert_told(fixture, "gap ");
    http_exchange_reply(next(fixture), 200, "text/html", STR("<html>log in</html>"));
    http_exchange_reply(next(fixture), 200, NULL, STR_NULL);
    struct http_exchange *exchange = next(fixture);
    http_exchange_set_header(exchange, "Content-Encoding", "gzip");
    reply(exchange, 200, "\x1f\x8b");
    reply(next(fixture), 503, "upstream is away");
    reply(next(fixture), 410, EXPIRED);
    http_exchange_reply(next(fixture), 200, "text/html", STR("<html>log in</html>")); /* to the list */
    reply(next(fixture), 200, LIST("200", NODE("b", "20", "")) "trailing");
    reply(next(fixture), 200, "{\"kind\":\"Table\",\"metadata\":{\"resourceVersion\":\"7\"},\"rows\":[]}");
    struct http_exchange *list = next(fixture);
    assert_int_equal(store_count(informer_store(fixture->informer)), 2);
    assert_string_equal(strbuf_cstr(&fixture->told), "");
    reply(list, 200, LIST("200", NODE("a", "10", "") "," NODE("b", "20", "")));
    begin(fixture, next(fixture));
    assert_told(fixture, "live ");
}

static void an_outage_is_a_gap_and_costs_no_relist(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    http_server_free(fixture->server);
    fixture->server = NULL;
    assert_told(fixture, "gap ");
    serve(fixture); /* on the same port */
    begin(fixture, next(fixture));
    assert_asked(fixture, "GET", "watch=true");
    assert_asked(fixture, "GET", "resourceVersion=100");
    assert_told(fixture, "live ");
    assert_true(informer_feed(fixture->informer).gap_ms >= 0);
}

/* --- runtime ----------------------------------------------------------------------- */

static void a_patch_that_conflicts_is_retried_and_not_repeated(void **state)
{
    struct fixture *fixture = *state;
    struct http_exchange *watch = start(fixture);
    fixture->wants_label = true;
    runtime_enqueue(fixture->runtime, fixture->queue, STR("a"));
    struct http_exchange *patch = next(fixture);
    assert_asked(fixture, "PATCH", "/api/v1/nodes/a/status?");
    assert_string_equal(fixture->type, "application/merge-patch+json");
    assert_string_equal(fixture->body, "{\"status\":{\"capacity\":{\"kubernetes.io/mid-cpu\":\"5\"}}}");
    reply(patch, 409, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Conflict\",\"code\":409}");
    RUN_UNTIL(fixture->written == 1);
    assert_int_equal(fixture->outcome, KUBE_CONFLICT);
    patch = next(fixture);
    reply(patch, 200, NODE("a", "101", MID5));
    RUN_UNTIL(fixture->written == 2);
    assert_int_equal(fixture->outcome, KUBE_OK);
    size_t requests = fixture->requests;
    send_text(watch, EVENT("MODIFIED", NODE("a", "101", MID5)));
    assert_told(fixture, "~a ");
    runtime_stop(fixture->runtime, on_drained, fixture);
    RUN_UNTIL(fixture->drained);
    assert_int_equal(fixture->requests, requests);
}

static void a_throttled_write_waits_and_comes_again(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    fixture->wants_label = true;
    runtime_enqueue(fixture->runtime, fixture->queue, STR("a"));
    struct http_exchange *patch = next(fixture);
    http_exchange_set_header(patch, "Retry-After", "1");
    reply(patch, 429, "slow down");
    RUN_UNTIL(fixture->written == 1);
    assert_int_equal(fixture->outcome, KUBE_THROTTLED);
    reply(next(fixture), 200, NODE("a", "101", MID5));
    RUN_UNTIL(fixture->written == 2);
    assert_int_equal(fixture->outcome, KUBE_OK);
}

static void a_guarded_delete_needs_the_servers_own_word(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    fixture->wants_gone = true;
    runtime_enqueue(fixture->runtime, fixture->queue, STR("a"));
    struct http_exchange *guard = next(fixture);
    assert_asked(fixture, "GET", "/api/v1/nodes/a?");
    http_exchange_reply(guard, 404, "text/html", STR("<html>404</html>"));
    RUN_UNTIL(fixture->written == 1);
    assert_int_equal(fixture->outcome, KUBE_PROTOCOL);
    guard = next(fixture);
    assert_asked(fixture, "GET", "/api/v1/nodes/a?");
    reply(guard, 404, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"code\":404}");
    struct http_exchange *delete = next(fixture);
    assert_asked(fixture, "DELETE", "/api/v1/nodes/a?");
    assert_non_null(strstr(fixture->body, "\"preconditions\":{\"uid\":\"uid-a\"}"));
    fixture->wants_gone = false;
    reply(delete, 200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    RUN_UNTIL(fixture->written == 2);
    assert_int_equal(fixture->outcome, KUBE_OK);
}

static void stop_waits_for_the_answer_under_way(void **state)
{
    struct fixture *fixture = *state;
    start(fixture);
    fixture->wants_label = true;
    runtime_enqueue(fixture->runtime, fixture->queue, STR("a"));
    struct http_exchange *patch = next(fixture);
    runtime_stop(fixture->runtime, on_drained, fixture);
    runtime_enqueue(fixture->runtime, fixture->queue, STR("b"));
    reply(patch, 200, NODE("a", "101", MID5));
    RUN_UNTIL(fixture->written == 1);
    RUN_UNTIL(fixture->drained);
    assert_int_equal(fixture->written, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(list_and_watch_travel_in_pieces),
        TEST(t_26_http_410_relists_and_shares_what_did_not_change),
        TEST(t_25_an_error_event_relists),
        TEST(t_27_silent_ends_relist),
        TEST(t_07_a_reset_inside_an_event_resumes_behind_the_last_whole_one),
        TEST(t_12_what_is_no_api_server_changes_nothing),
        TEST(an_outage_is_a_gap_and_costs_no_relist),
        TEST(a_patch_that_conflicts_is_retried_and_not_repeated),
        TEST(a_throttled_write_waits_and_comes_again),
        TEST(a_guarded_delete_needs_the_servers_own_word),
        TEST(stop_waits_for_the_answer_under_way),
    };
    return cmocka_run_group_tests_name("kube/live", tests, NULL, NULL);
}
