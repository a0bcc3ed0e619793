#include "fake_kube.h"
#include "api/node.h"
#include "base/log.h"
#include "kube/backoff.h"
#include "kube/runtime.h"
#include "kube/store.h"

#define KEYS 1024
#define FEW 16 /* of the random runs */
#define ABSENT INT64_MIN

/* --- a controller ------------------------------------------------------------------ */

/* Keeps the value of one thing per key at `want`; lowering it is a withdrawal. What the
 * server holds is kept apart from the cache, which learns of it when the test says so. */
struct fixture {
    struct core *core;
    struct loop *loop;
    struct kube_client *client;
    struct metric_registry *metrics;
    struct runtime *runtime;
    struct runtime_options options;
    size_t queue;
    struct store *cache;
    int64_t want[KEYS];
    int64_t server[KEYS];
    uint64_t rv;
    bool guarded; /* deletes only what is absent as a Node */
    bool twofold; /* plans hold a second write */
    int64_t recheck_ms;
    int reconciles[KEYS];
    int total;
    int written[KEYS];
    struct write_result last; /* its body is not kept */
    bool may_write;
    int drained;
    struct strbuf order; /* of reconciles, by key */
};

static int key_number(struct str key)
{
    int64_t number;
    assert_true(str_to_i64(str_slice(key, 1, key.len), &number));
    return (int)number;
}

static const struct thing *cached(struct fixture *fixture, struct str key)
{
    return thing_of(store_get(fixture->cache, STR("ns"), key));
}

static struct write *add_write(struct plan *plan, enum write_verb verb, struct str key, const char *label)
{
    struct write *write = plan_add(plan);
    write->verb = verb;
    write->kind = &thing_kind;
    write->ns = STR("ns");
    write->name = arena_str(plan->arena, key);
    write->label = label;
    return write;
}

static void reconcile(void *self, struct str key, struct mono_time mono, struct wall_time wall,
                      struct plan *plan)
{
    struct fixture *fixture = self;
    int number = key_number(key);
    const struct thing *thing = cached(fixture, key);
    int64_t want = fixture->want[number];
    fixture->reconciles[number]++;
    fixture->total++;
    strbuf_addf(&fixture->order, STR_FMT " ", STR_ARG(key));
    assert_int_equal(mono.ns, fixture->loop->now.ns);
    assert_int_equal(wall.us, fixture->loop->wall.us);
    assert_int_equal(plan->recheck_after_ms, -1);
    plan->recheck_after_ms = fixture->recheck_ms;
    if (want == ABSENT && thing) {
        struct write *write = add_write(plan, WRITE_DELETE, key, "delete");
        struct strbuf uid = STRBUF_INIT(64);
        kube_object_uid(&thing->object, &uid);
        write->uid = arena_str(plan->arena, strbuf_str(&uid));
        strbuf_done(&uid);
        write->withdrawal = true;
        write->only_if_absent = fixture->guarded ? &node_kind : NULL;
    } else if (want != ABSENT && !thing) {
        add_write(plan, WRITE_CREATE, key, "create")->body =
            arena_strf(plan->arena, "{\"metadata\":{\"name\":\"" STR_FMT "\"},\"spec\":{\"value\":%lld}}",
                       STR_ARG(key), (long long)want);
    } else if (thing && thing->value != want && want != ABSENT) {
        struct write *write = add_write(plan, WRITE_PATCH, key, "patch");
        write->subresource = "status";
        write->body = arena_strf(plan->arena, "{\"spec\":{\"value\":%lld}}", (long long)want);
        write->withdrawal = want < thing->value;
    }
    if (fixture->twofold && plan->count)
        add_write(plan, WRITE_PATCH, key, "second")->body = STR("{}");
}

static void written(void *self, struct str key, const struct write *write, const struct write_result *result,
                    struct mono_time mono, struct wall_time wall)
{
    struct fixture *fixture = self;
    assert_true(str_eq(write->name, key));
    assert_int_equal(mono.ns, fixture->loop->now.ns);
    assert_int_equal(wall.us, fixture->loop->wall.us);
    fixture->written[key_number(key)]++;
    fixture->last = *result;
    fixture->last.body = STR_NULL;
}

static const struct store *store_of(void *self, const struct kube_kind *kind)
{
    struct fixture *fixture = self;
    return kind == &thing_kind ? fixture->cache : NULL;
}

static bool may_write(void *self)
{
    const struct fixture *fixture = self;
    return fixture->may_write;
}

static void drained(void *self)
{
    struct fixture *fixture = self;
    fixture->drained++;
}

/* --- the fixture ------------------------------------------------------------------- */

static void ignore_log(void *self, struct str line)
{
    (void)self, (void)line;
}

static const struct controller things = {
    .name = "things", .reconcile = reconcile, .written = written, .store_of = store_of
};

static void make_runtime(struct fixture *fixture)
{
    fixture->options.client = fixture->client;
    fixture->options.metrics = fixture->metrics;
    fixture->options.may_write = may_write;
    fixture->options.self = fixture;
    fixture->runtime = runtime_new(fixture->loop, &fixture->options);
    struct controller controller = things;
    controller.self = fixture;
    fixture->queue = runtime_add(fixture->runtime, &controller);
}

/* Replaces the runtime by one with other options. */
static void remake(struct fixture *fixture, struct runtime_options options)
{
    runtime_free(fixture->runtime);
    metric_registry_free(fixture->metrics); /* it would ask the one that is gone */
    fixture->metrics = metric_registry_new();
    fixture->options = options;
    make_runtime(fixture);
    runtime_start(fixture->runtime);
}

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    core_setup((void **)&fixture->core);
    fixture->loop = fake_loop_new();
    fixture->client = fake_client_new(fixture->loop);
    fixture->metrics = metric_registry_new();
    fixture->cache = store_new(&thing_kind);
    fixture->may_write = true;
    fixture->recheck_ms = -1;
    fixture->order = STRBUF_INIT(1024 * 1024);
    for (int i = 0; i < KEYS; i++)
        fixture->want[i] = fixture->server[i] = ABSENT;
    log_capture(ignore_log, NULL);
    make_runtime(fixture);
    *state = fixture;
    return 0;
}

static int setup_started(void **state)
{
    setup(state);
    struct fixture *fixture = *state;
    runtime_start(fixture->runtime);
    fake_loop_settle(fixture->loop);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    runtime_free(fixture->runtime);
    fake_client_free(fixture->client);
    fake_loop_free(fixture->loop);
    metric_registry_free(fixture->metrics);
    store_free(fixture->cache);
    strbuf_done(&fixture->order);
    log_capture(NULL, NULL);
    int failed = core_teardown((void **)&fixture->core);
    free(fixture);
    return failed;
}

static struct str key_text(int key, char buf[16])
{
    snprintf(buf, 16, "k%d", key);
    return str_c(buf);
}

static void enqueue(struct fixture *fixture, int key)
{
    char buf[16];
    runtime_enqueue(fixture->runtime, fixture->queue, key_text(key, buf));
}

/* The cache learns what the server holds, as a watch event would tell it. */
static void show(struct fixture *fixture, int key)
{
    char buf[16], rv[24];
    struct str name = key_text(key, buf);
    if (fixture->server[key] == ABSENT) {
        kube_object_unref(store_remove(fixture->cache, STR("ns"), name));
    } else {
        snprintf(rv, sizeof rv, "%llu", (unsigned long long)fixture->rv);
        kube_object_unref(store_put(fixture->cache,
                                    core_thing(fixture->core, buf, "uid-1", rv, NULL, fixture->server[key])));
    }
    enqueue(fixture, key);
    fake_loop_settle(fixture->loop);
}

/* Server and cache hold it, and it is right. */
static void hold(struct fixture *fixture, int key, int64_t value)
{
    fixture->server[key] = fixture->want[key] = value;
    fixture->rv++;
    show(fixture, key);
}

static void want(struct fixture *fixture, int key, int64_t value)
{
    fixture->want[key] = value;
    enqueue(fixture, key);
    fake_loop_settle(fixture->loop);
}

/* Which key a request is about; that of a create stands in its body. */
static int call_key(const struct kube_call *call)
{
    if (call->request.verb != KUBE_CREATE)
        return key_number(call->request.name);
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct meta *meta = arena_alloc(&arena, thing_kind.table->size);
    struct err err = ERR_INIT;
    assert_true(json_decode(&arena, call->request.body, thing_kind.table, meta, NULL, &err));
    return key_number(meta->name);
}

static void answer(struct kube_call *call, int code, const char *body)
{
    struct loop *loop = call->client->loop;
    fake_answer(call, code, body);
    fake_loop_settle(loop);
}

/* The server does what was asked of it. */
static void obey(struct fixture *fixture, struct kube_call *call)
{
    char body[128];
    int key = call_key(call);
    fixture->server[key] = call->request.verb == KUBE_DELETE ? ABSENT : fixture->want[key];
    snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"k%d\",\"resourceVersion\":\"%llu\"}}", key,
             (unsigned long long)++fixture->rv);
    answer(call, call->request.verb == KUBE_CREATE ? 201 : 200, body);
}

static struct kube_call *only_call(struct fixture *fixture)
{
    assert_int_equal(fixture->client->call_count, 1);
    return fake_call(fixture->client);
}

static void assert_quiet(struct fixture *fixture)
{
    assert_int_equal(fixture->client->call_count, 0);
}

#define STATUS(code_, reason_)                                                                               \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason_ "\",\"code\":" #code_ "}"

/* --- one write --------------------------------------------------------------------- */

static void nothing_is_decided_before_the_start(void **state)
{
    struct fixture *fixture = *state;
    want(fixture, 1, 5);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_int_equal(fixture->total, 0);
    runtime_start(fixture->runtime);
    fake_loop_settle(fixture->loop);
    assert_int_equal(fixture->reconciles[1], 1);
    only_call(fixture);
}

static void a_create_goes_to_the_collection(void **state)
{
    struct fixture *fixture = *state;
    want(fixture, 1, 5);
    struct kube_call *call = only_call(fixture);
    assert_string_equal(call->target, "POST /apis/test.example/v1/namespaces/ns/things");
    assert_str(call->request.body, "{\"metadata\":{\"name\":\"k1\"},\"spec\":{\"value\":5}}");
    obey(fixture, call);
    show(fixture, 1);
    assert_quiet(fixture);
    assert_int_equal(fixture->written[1], 1);
}

static void a_patch_goes_to_the_subresource(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    struct kube_call *call = only_call(fixture);
    assert_string_equal(call->target, "PATCH /apis/test.example/v1/namespaces/ns/things/k1/status");
    assert_str(call->request.body, "{\"spec\":{\"value\":6}}");
}

static void wq_12_what_is_right_is_not_written(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    for (int i = 0; i < 10; i++)
        want(fixture, 1, 5);
    assert_int_equal(fixture->client->sent, 0);
    assert_int_equal(fixture->reconciles[1], 11);
}

static void news_in_flight_waits_for_the_answer(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    struct kube_call *call = only_call(fixture);
    int before = fixture->reconciles[1];
    for (int i = 0; i < 10; i++)
        want(fixture, 1, 7 + i);
    assert_int_equal(fixture->reconciles[1], before); /* one at a time */
    fixture->want[1] = 6;
    obey(fixture, call);
    fixture->want[1] = 16;
    show(fixture, 1);
    assert_str(only_call(fixture)->request.body, "{\"spec\":{\"value\":16}}");
}

static void of_a_plan_the_first_write_is_sent(void **state)
{
    struct fixture *fixture = *state;
    fixture->twofold = true;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    assert_str(only_call(fixture)->request.body, "{\"spec\":{\"value\":6}}");
    fixture->twofold = false;
    obey(fixture, fake_call(fixture->client));
    assert_quiet(fixture);
    show(fixture, 1);
    assert_quiet(fixture);
}

static void the_result_is_told_before_the_key_is_decided_again(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    int before = fixture->reconciles[1];
    answer(only_call(fixture), 409, STATUS(409, "Conflict"));
    assert_int_equal(fixture->written[1], 1);
    assert_int_equal(fixture->last.failure, KUBE_CONFLICT);
    assert_int_equal(fixture->last.code, 409);
    assert_int_equal(fixture->reconciles[1], before);
}

/* --- read your writes -------------------------------------------------------------- */

static void t_50_ref_18_nothing_is_written_twice_while_the_watch_lags(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    obey(fixture, only_call(fixture));
    int before = fixture->reconciles[1];
    for (int i = 0; i < 90; i++) {
        enqueue(fixture, 1);
        fake_loop_pass(fixture->loop, 100);
        assert_quiet(fixture);
    }
    assert_int_equal(fixture->reconciles[1], before); /* not even decided on the past */
    show(fixture, 1);
    assert_int_equal(fixture->reconciles[1], before + 1);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_int_equal(fixture->client->sent, 1);
}

static void t_50_ref_18_the_cache_is_asked_again_without_an_event(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    obey(fixture, only_call(fixture));
    int before = fixture->reconciles[1];
    /* The cache learns of it, but nobody enqueues: the change was irrelevant. */
    kube_object_unref(store_put(fixture->cache, core_thing(fixture->core, "k1", "uid-1", "9999", NULL, 6)));
    fake_loop_pass(fixture->loop, 100);
    assert_int_equal(fixture->reconciles[1], before + 1);
    assert_quiet(fixture);
}

static void t_50_ref_18_after_ten_seconds_the_cache_is_trusted(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    obey(fixture, only_call(fixture));
    fake_loop_pass(fixture->loop, 9999);
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 1000);
    only_call(fixture);
}

static void t_50_wrt_4_a_write_that_changes_nothing_is_not_waited_for(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    char body[128];
    snprintf(body, sizeof body, "{\"metadata\":{\"resourceVersion\":\"%llu\"}}",
             (unsigned long long)fixture->rv);
    fixture->want[1] = 5;
    int before = fixture->reconciles[1];
    answer(only_call(fixture), 200, body);
    assert_int_equal(fixture->reconciles[1], before + 1);
    assert_quiet(fixture);
}

static void t_50_a_delete_by_another_ends_the_wait(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    obey(fixture, only_call(fixture));
    fixture->server[1] = ABSENT;
    show(fixture, 1);
    assert_int_equal(only_call(fixture)->request.verb, KUBE_CREATE);
}

static void a_write_lost_on_the_way_is_decided_again(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    fake_fail(only_call(fixture), KUBE_TRANSPORT); /* executed or not? */
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 10);
    obey(fixture, only_call(fixture));
    show(fixture, 1);
    assert_quiet(fixture);
}

/* --- failures ---------------------------------------------------------------------- */

static void wrt_6_a_conflict_backs_off_and_decides_afresh(void **state)
{
    struct fixture *fixture = *state;
    static const int64_t delays[] = { 5, 10, 20, 40, 80, 160 };
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        fixture->want[1]++;
        answer(only_call(fixture), 409, STATUS(409, "Conflict"));
        fake_loop_pass(fixture->loop, delays[i] - delays[i] / 10 - 1);
        assert_quiet(fixture);
        fake_loop_pass(fixture->loop, delays[i] / 5 + 2);
        char body[64];
        snprintf(body, sizeof body, "{\"spec\":{\"value\":%lld}}", (long long)fixture->want[1]);
        assert_str(only_call(fixture)->request.body, body);
    }
    obey(fixture, fake_call(fixture->client));
    show(fixture, 1);
    want(fixture, 1, 1);
    answer(only_call(fixture), 409, STATUS(409, "Conflict")); /* success forgave the others */
    fake_loop_pass(fixture->loop, 6);
    only_call(fixture);
}

static void a_key_that_fails_for_ever_comes_each_300_s(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    for (int i = 0; i < 17; i++) {
        answer(only_call(fixture), 403, STATUS(403, "Forbidden"));
        for (int wait = 0; wait < 100 && !fixture->client->calls; wait++)
            fake_loop_next(fixture->loop, 400 * 1000);
    }
    struct mono_time begin = fixture->loop->now;
    answer(only_call(fixture), 403, STATUS(403, "Forbidden"));
    while (!fixture->client->calls)
        fake_loop_next(fixture->loop, 400 * 1000);
    assert_between(mono_ms_between(begin, fixture->loop->now), 270 * 1000, 330 * 1000);
}

static void t_28_err_8_a_429_holds_everybody_back(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 5; i++)
        hold(fixture, i, 5);
    want(fixture, 0, 6);
    fake_answer_after(only_call(fixture), 429, STATUS(429, "TooManyRequests"), 7000);
    for (int i = 1; i < 5; i++)
        want(fixture, i, 6);
    fake_loop_pass(fixture->loop, 6999);
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 10);
    assert_int_equal(fixture->client->call_count, 5);
}

static void a_429_without_retry_after_pauses_a_second(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 0, 5);
    want(fixture, 0, 6);
    answer(only_call(fixture), 429, "slow down");
    fake_loop_pass(fixture->loop, 999);
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 10);
    only_call(fixture);
}

static void a_shorter_pause_does_not_end_a_longer_one(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 2; i++)
        want(fixture, i, 6);
    fake_answer_after(fake_call(fixture->client), 429, STATUS(429, "TooManyRequests"), 30000);
    fake_answer_after(fake_call(fixture->client), 429, STATUS(429, "TooManyRequests"), 1000);
    fake_loop_pass(fixture->loop, 29999);
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 10);
    assert_int_equal(fixture->client->call_count, 2);
}

static void an_invalid_write_is_not_repeated_soon(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    answer(only_call(fixture), 422, STATUS(422, "Invalid"));
    fake_loop_pass(fixture->loop, 299 * 1000);
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 2 * 1000);
    only_call(fixture);
}

static void an_invalid_write_is_decided_again_when_news_comes(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    answer(only_call(fixture), 422, STATUS(422, "Invalid"));
    want(fixture, 1, 7);
    assert_str(only_call(fixture)->request.body, "{\"spec\":{\"value\":7}}");
}

static void a_request_that_cannot_be_built_does_not_spin(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    fixture->client->refuse = true;
    want(fixture, 1, 6);
    assert_int_equal(fixture->written[1], 1);
    assert_int_equal(fixture->last.failure, KUBE_INVALID);
    fake_loop_pass(fixture->loop, 299 * 1000);
    assert_int_equal(fixture->written[1], 1);
}

static void a_create_that_exists_waits_for_the_cache(void **state)
{
    struct fixture *fixture = *state;
    want(fixture, 1, 5);
    answer(only_call(fixture), 409, STATUS(409, "AlreadyExists"));
    assert_quiet(fixture);
    fixture->server[1] = 5;
    fixture->rv++;
    show(fixture, 1);
    fake_loop_pass(fixture->loop, 1000);
    assert_quiet(fixture);
    assert_int_equal(fixture->client->sent, 1);
}

static void a_patch_of_what_is_gone_ends_when_the_cache_knows(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    answer(only_call(fixture), 404, STATUS(404, "NotFound"));
    fixture->server[1] = fixture->want[1] = ABSENT;
    show(fixture, 1);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_quiet(fixture);
}

/* --- deletes ----------------------------------------------------------------------- */

static void a_delete_names_the_incarnation(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    struct kube_call *call = only_call(fixture);
    assert_string_equal(call->target, "DELETE /apis/test.example/v1/namespaces/ns/things/k1");
    assert_str(call->request.body,
               "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":"
               "\"uid-1\"}}");
    obey(fixture, call);
    fake_loop_pass(fixture->loop, 5000);
    assert_quiet(fixture); /* not again while the cache still shows it */
    show(fixture, 1);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_int_equal(fixture->client->sent, 1);
}

static void a_guarded_delete_asks_first(void **state)
{
    struct fixture *fixture = *state;
    fixture->guarded = true;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    struct kube_call *call = only_call(fixture);
    assert_string_equal(call->target, "GET /api/v1/nodes/k1");
    assert_int_equal(call->request.body.len, 0);
    answer(call, 404, STATUS(404, "NotFound"));
    call = only_call(fixture);
    assert_int_equal(call->request.verb, KUBE_DELETE);
    assert_true(call->request.body.len > 0);
    obey(fixture, call);
    show(fixture, 1);
    assert_quiet(fixture);
    assert_int_equal(fixture->written[1], 1);
}

struct guard_row {
    const char *name;
    int code; /* 0: transport */
    const char *body;
    bool skipped;
};

static const struct guard_row guard_rows[] = {
    { "guard: the object is there after all", 200, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"k1\"}}",
      true },
    { "guard: a proxy's 404 page", 404, "<html>not found</html>", false },
    { "guard: a 404 without body", 404, "", false },
    { "guard: a 404 that is JSON but no Status", 404, "{\"error\":\"no such route\"}", false },
    { "guard: forbidden", 403, STATUS(403, "Forbidden"), false },
    { "guard: unavailable", 503, "", false },
    { "guard: throttled", 429, STATUS(429, "TooManyRequests"), false },
    { "guard: no answer", 0, NULL, false },
};

static void guard__row(void **state)
{
    const struct guard_row *row = *state;
    struct fixture *fixture;
    setup_started((void **)&fixture);
    fixture->guarded = true;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    if (row->code)
        answer(only_call(fixture), row->code, row->body);
    else
        fake_fail(only_call(fixture), KUBE_TRANSPORT);
    assert_quiet(fixture); /* no delete */
    assert_int_equal(fixture->written[1], 1);
    assert_int_equal(fixture->last.skipped, row->skipped);
    assert_int_equal(fixture->last.failure == KUBE_OK, row->skipped);
    fake_loop_pass(fixture->loop, 2000);
    assert_int_equal(only_call(fixture)->request.verb, KUBE_GET); /* asked again later */
    assert_int_equal(teardown((void **)&fixture), 0);
}

static void a_delete_of_what_is_gone_has_succeeded(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    answer(only_call(fixture), 404, STATUS(404, "NotFound"));
    assert_int_equal(fixture->last.failure, KUBE_OK);
    fake_loop_pass(fixture->loop, 5000);
    assert_quiet(fixture);
}

static void a_delete_whose_precondition_fails_is_decided_again(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    answer(only_call(fixture), 409, STATUS(409, "Conflict"));
    assert_quiet(fixture);
    fake_loop_pass(fixture->loop, 10);
    only_call(fixture);
}

/* --- order and pace ---------------------------------------------------------------- */

static void withdrawals_go_first(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    fixture->want[0] = fixture->want[1] = fixture->want[2] = 9;
    fixture->want[3] = fixture->want[4] = 1;
    for (int i = 0; i < 5; i++)
        enqueue(fixture, i);
    fake_loop_settle(fixture->loop);
    static const int order[] = { 3, 4, 0, 1, 2 };
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct kube_call *call = only_call(fixture);
        assert_int_equal(call_key(call), order[i]);
        obey(fixture, call);
    }
}

static void a_withdrawal_overtakes_increases_that_wait(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 4; i++)
        want(fixture, i, 9);
    want(fixture, 5, 1);
    assert_int_equal(call_key(only_call(fixture)), 0);
    obey(fixture, fake_call(fixture->client));
    assert_int_equal(call_key(only_call(fixture)), 5);
}

static void an_increase_that_turns_into_a_withdrawal_goes_first(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 6; i++)
        want(fixture, i, 9);
    want(fixture, 4, 1);
    obey(fixture, only_call(fixture));
    struct kube_call *call = only_call(fixture);
    assert_int_equal(call_key(call), 4);
    assert_str(call->request.body, "{\"spec\":{\"value\":1}}");
    obey(fixture, call);
    assert_int_equal(call_key(only_call(fixture)), 1);
}

static void a_withdrawal_that_turns_into_an_increase_queues_up(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 4; i++)
        hold(fixture, i, 5);
    want(fixture, 0, 9);
    want(fixture, 1, 1);
    want(fixture, 2, 9);
    want(fixture, 1, 9);
    want(fixture, 3, 1);
    static const int order[] = { 0, 3, 2, 1 };
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        assert_int_equal(call_key(only_call(fixture)), order[i]);
        obey(fixture, fake_call(fixture->client));
    }
}

static void news_keeps_the_place_of_what_waits(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 4; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 4; i++)
        want(fixture, i, 9);
    for (int i = 0; i < 20; i++)
        want(fixture, 1, 10 + i); /* an eager key is not sent to the back for it */
    obey(fixture, only_call(fixture));
    assert_int_equal(call_key(only_call(fixture)), 1);
    assert_str(fake_call(fixture->client)->request.body, "{\"spec\":{\"value\":29}}");
}

static void what_waited_is_decided_on_the_newest_snapshot(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 1 });
    for (int i = 0; i < 3; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 3; i++)
        want(fixture, i, 9);
    fixture->want[1] = 77; /* time passes, nobody enqueues */
    fixture->want[2] = 5;
    fake_loop_pass(fixture->loop, 1000);
    obey(fixture, only_call(fixture));
    assert_str(only_call(fixture)->request.body, "{\"spec\":{\"value\":77}}");
    obey(fixture, fake_call(fixture->client));
    fake_loop_pass(fixture->loop, 1000);
    assert_quiet(fixture); /* 2 needs nothing any more */
}

static void at_most_so_many_are_in_flight(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 20; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 20; i++)
        want(fixture, i, 9);
    assert_int_equal(fixture->client->call_count, 8);
    obey(fixture, fake_call(fixture->client));
    assert_int_equal(fixture->client->call_count, 8);
}

static void tel_1_writes_keep_to_the_rate(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .write_qps = 10, .write_burst = 3, .max_in_flight = 100 });
    for (int i = 0; i < 30; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 30; i++)
        want(fixture, i, 9);
    assert_int_equal(fixture->client->sent, 3);
    for (int second = 1; second <= 2; second++) {
        fake_loop_pass(fixture->loop, 1000);
        assert_between((int64_t)fixture->client->sent, 3 + second * 10 - 1, 3 + second * 10);
    }
    while (fixture->client->calls)
        obey(fixture, fake_call(fixture->client));
}

static void a_plan_that_came_to_nothing_costs_no_token(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .write_qps = 1, .write_burst = 1, .max_in_flight = 100 });
    for (int i = 0; i < 20; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 20; i++)
        want(fixture, i, 9);
    obey(fixture, only_call(fixture));
    for (int i = 1; i < 19; i++)
        fixture->want[i] = 5; /* only 19 still wants to write */
    fake_loop_pass(fixture->loop, 1001);
    assert_int_equal(call_key(only_call(fixture)), 19);
}

static void low_keys_are_decided_after_the_others(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 5; i++) {
        char buf[16];
        runtime_enqueue_low(fixture->runtime, fixture->queue, key_text(i, buf));
    }
    enqueue(fixture, 9);
    enqueue(fixture, 3);
    fake_loop_settle(fixture->loop);
    assert_string_equal(strbuf_cstr(&fixture->order), "k9 k3 k0 k1 k2 k4 ");
}

static void controllers_take_turns(void **state)
{
    struct fixture *fixture = *state;
    struct controller second = things;
    second.self = fixture;
    second.name = "second";
    size_t queue = runtime_add(fixture->runtime, &second);
    for (int i = 0; i < 3; i++) {
        char buf[16];
        enqueue(fixture, i);
        runtime_enqueue(fixture->runtime, queue, key_text(10 + i, buf));
    }
    fake_loop_settle(fixture->loop);
    assert_string_equal(strbuf_cstr(&fixture->order), "k0 k10 k1 k11 k2 k12 ");
}

static void a_recheck_comes_when_asked_for(void **state)
{
    struct fixture *fixture = *state;
    fixture->recheck_ms = 5000;
    hold(fixture, 1, 5);
    int before = fixture->reconciles[1];
    fake_loop_pass(fixture->loop, 4999);
    assert_int_equal(fixture->reconciles[1], before);
    fake_loop_pass(fixture->loop, 1);
    assert_int_equal(fixture->reconciles[1], before + 1);
    fixture->recheck_ms = -1;
    fake_loop_pass(fixture->loop, 5000);
    fake_loop_pass(fixture->loop, 3600 * 1000);
    assert_int_equal(fixture->reconciles[1], before + 2);
}

static void a_recheck_of_zero_does_not_spin(void **state)
{
    struct fixture *fixture = *state;
    fixture->recheck_ms = 0;
    hold(fixture, 1, 5);
    int before = fixture->reconciles[1];
    fake_loop_pass(fixture->loop, 100);
    assert_between(fixture->reconciles[1] - before, 1, 100);
}

/* --- the right to write ------------------------------------------------------------ */

static void without_the_right_nothing_leaves(void **state)
{
    struct fixture *fixture = *state;
    fixture->may_write = false;
    for (int i = 0; i < 5; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 5; i++)
        want(fixture, i, 9);
    fake_loop_pass(fixture->loop, 600 * 1000);
    assert_int_equal(fixture->client->sent, 0);
    fixture->want[0] = 5; /* decided anew when the right comes */
    fixture->may_write = true;
    runtime_poke(fixture->runtime);
    fake_loop_settle(fixture->loop);
    assert_int_equal(fixture->client->call_count, 4);
}

static void t_67_the_right_is_asked_for_between_guard_and_delete(void **state)
{
    struct fixture *fixture = *state;
    fixture->guarded = true;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    fixture->may_write = false;
    answer(only_call(fixture), 404, STATUS(404, "NotFound"));
    assert_quiet(fixture);
    assert_true(fixture->last.skipped);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_quiet(fixture);
    fixture->may_write = true;
    runtime_poke(fixture->runtime);
    fake_loop_settle(fixture->loop);
    assert_int_equal(only_call(fixture)->request.verb, KUBE_GET); /* from the beginning */
}

/* The transport asks once more, when it is about to send. */
static void t_67_a_fenced_write_was_not_sent_and_comes_again(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    struct kube_call *call = only_call(fixture);
    assert_non_null(call->request.may_send);
    assert_true(call->request.may_send(call->request.may_send_self));
    fixture->may_write = false;
    assert_false(call->request.may_send(call->request.may_send_self));
    fake_fail(call, KUBE_FENCED);
    fake_loop_pass(fixture->loop, 60 * 1000);
    assert_quiet(fixture);
    fixture->may_write = true;
    runtime_poke(fixture->runtime);
    fake_loop_settle(fixture->loop);
    only_call(fixture);
}

static void a_guard_only_reads_and_is_not_fenced(void **state)
{
    struct fixture *fixture = *state;
    fixture->guarded = true;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    assert_null(only_call(fixture)->request.may_send);
}

/* --- stopping ---------------------------------------------------------------------- */

static void stop_tells_from_the_loop_not_inside_the_call(void **state)
{
    struct fixture *fixture = *state;
    runtime_stop(fixture->runtime, drained, fixture);
    assert_int_equal(fixture->drained, 0);
    fake_loop_pass(fixture->loop, 1000);
    assert_int_equal(fixture->drained, 1);
}

static void stop_before_the_start_tells_too(void **state)
{
    struct fixture *fixture = *state;
    want(fixture, 1, 5);
    runtime_stop(fixture->runtime, drained, fixture);
    fake_loop_pass(fixture->loop, 1000);
    assert_int_equal(fixture->drained, 1);
    assert_int_equal(fixture->client->sent, 0);
}

static void t_62_wq_9_stop_waits_for_what_is_in_flight_and_sends_nothing_more(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 2 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 6; i++)
        want(fixture, i, 9);
    runtime_stop(fixture->runtime, drained, fixture);
    int before = fixture->total;
    want(fixture, 7, 1); /* ignored */
    fake_loop_pass(fixture->loop, 1000);
    assert_int_equal(fixture->drained, 0);
    obey(fixture, fake_call(fixture->client));
    assert_int_equal(fixture->drained, 0);
    answer(only_call(fixture), 409, STATUS(409, "Conflict"));
    assert_int_equal(fixture->drained, 1);
    fake_loop_pass(fixture->loop, 3600 * 1000);
    assert_int_equal(fixture->drained, 1);
    assert_int_equal(fixture->client->sent, 2);
    assert_int_equal(fixture->total, before);
}

static void stop_between_guard_and_delete_deletes_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture->guarded = true;
    hold(fixture, 1, 5);
    want(fixture, 1, ABSENT);
    runtime_stop(fixture->runtime, drained, fixture);
    answer(only_call(fixture), 404, STATUS(404, "NotFound"));
    assert_quiet(fixture);
    assert_int_equal(fixture->drained, 1);
}

static void le_3_halt_cuts_off_what_is_in_flight(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 2 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 6; i++)
        want(fixture, i, 9);
    assert_int_equal(fixture->client->call_count, 2);
    runtime_halt(fixture->runtime);
    assert_int_equal(fixture->client->call_count, 0);
    int before = fixture->total;
    want(fixture, 7, 1); /* ignored */
    fake_loop_pass(fixture->loop, 3600 * 1000);
    assert_int_equal(fixture->client->sent, 2);
    assert_int_equal(fixture->total, before);
}

static void le_3_halt_ends_a_drain(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 9);
    runtime_stop(fixture->runtime, drained, fixture);
    fake_loop_settle(fixture->loop);
    assert_int_equal(fixture->drained, 0);
    runtime_halt(fixture->runtime);
    assert_int_equal(fixture->drained, 0); /* never inside the call */
    fake_loop_settle(fixture->loop);
    assert_int_equal(fixture->drained, 1);
    assert_quiet(fixture);
}

static void free_cancels_what_is_under_way(void **state)
{
    struct fixture *fixture = *state;
    remake(fixture, (struct runtime_options){ .max_in_flight = 2 });
    for (int i = 0; i < 6; i++)
        hold(fixture, i, 5);
    for (int i = 0; i < 6; i++)
        want(fixture, i, i % 2 ? 9 : 1);
    enqueue(fixture, 5); /* stale, not yet looked at */
    remake(fixture, (struct runtime_options){ 0 });
    assert_quiet(fixture);
    runtime_free(NULL);
}

/* --- figures ----------------------------------------------------------------------- */

static void metrics_tell_what_happened(void **state)
{
    struct fixture *fixture = *state;
    hold(fixture, 1, 5);
    want(fixture, 1, 6);
    answer(only_call(fixture), 409, STATUS(409, "Conflict"));
    fake_loop_pass(fixture->loop, 10);
    obey(fixture, only_call(fixture));
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    metric_write(fixture->metrics, METRIC_TEXT_PROMETHEUS, &text);
    static const char *const lines[] = {
        "koord_manager_writes_total{controller=\"things\",write=\"patch\",outcome=\"conflict\"} 1\n",
        "koord_manager_writes_total{controller=\"things\",write=\"patch\",outcome=\"ok\"} 1\n",
        "controller_runtime_reconcile_total{controller=\"things\",result=\"error\"} 1\n",
        "controller_runtime_reconcile_total{controller=\"things\",result=\"requeue\"} 1\n",
        "controller_runtime_reconcile_total{controller=\"things\",result=\"success\"} 1\n",
        "workqueue_retries_total{name=\"things\"} 1\n",
        "workqueue_depth{name=\"things\"} 0\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (!strstr(strbuf_cstr(&text), lines[i]))
            fail_msg("missing: %s", lines[i]);
    }
}

/* --- any sequence ------------------------------------------------------------------ */

/* A server that fails as chance has it, a watch that lags as chance has it, wishes that
 * change: no key has two requests at once, no key is written again before the cache has
 * seen the last write (or ten seconds have passed), and in the end everything is as wished. */
struct chance {
    struct fixture *fixture;
    struct random random;
    bool behind[FEW]; /* the cache has not seen the last write */
    struct mono_time wrote[FEW];
};

static bool one_in(struct chance *chance, int64_t n)
{
    return random_between(&chance->random, 1, n) == 1;
}

static void catch_up(struct chance *chance, int key)
{
    chance->behind[key] = false;
    show(chance->fixture, key);
}

static void check_calls(const struct fixture *fixture)
{
    bool busy[FEW] = { false };
    assert_true(fixture->client->call_count <= 4);
    for (struct kube_call *call = fixture->client->calls; call; call = call->next) {
        assert_false(busy[call_key(call)]);
        busy[call_key(call)] = true;
    }
}

static void answer_by_chance(struct chance *chance, struct kube_call *call, bool calm)
{
    int key = call_key(call);
    struct mono_time now = chance->fixture->loop->now;
    bool patient = mono_ms_between(chance->wrote[key], now) < 10 * 1000;
    assert_false(chance->behind[key] && patient);
    if (!calm && one_in(chance, 4)) {
        fake_fail(call, (enum kube_failure)random_between(&chance->random, KUBE_CONFLICT, KUBE_FENCED));
        return;
    }
    chance->behind[key] = true;
    chance->wrote[key] = now;
    obey(chance->fixture, call);
}

static void one_random_run(struct fixture *fixture, uint64_t seed)
{
    struct chance chance = { .fixture = fixture, .random = { .state = seed } };
    remake(fixture,
           (struct runtime_options){ .write_qps = 50, .write_burst = 5, .max_in_flight = 4, .seed = seed });
    for (int key = 0; key < FEW; key++)
        hold(fixture, key, 5);
    for (int i = 0; i < 1000; i++) {
        int key = (int)random_between(&chance.random, 0, FEW - 1);
        if (one_in(&chance, 3))
            want(fixture, key, one_in(&chance, 6) ? ABSENT : random_between(&chance.random, 0, 9));
        if (chance.behind[key] && one_in(&chance, 3))
            catch_up(&chance, key);
        fake_loop_pass(fixture->loop, random_between(&chance.random, 0, 60));
        check_calls(fixture);
        if (fixture->client->calls && !one_in(&chance, 3))
            answer_by_chance(&chance, fixture->client->calls, false);
    }
    for (int i = 0; i < 200; i++) { /* no more wishes, no more failures */
        while (fixture->client->calls)
            answer_by_chance(&chance, fixture->client->calls, true);
        for (int key = 0; key < FEW; key++)
            catch_up(&chance, key);
        fake_loop_pass(fixture->loop, 60 * 1000);
    }
    for (int key = 0; key < FEW; key++)
        assert_true(fixture->server[key] == fixture->want[key]);
}

static void any_sequence_is_safe_and_ends_as_wished(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        one_random_run(fixture, seed);
}

static void a_thousand_keys_at_once_settle(void **state)
{
    struct fixture *fixture = *state;
    for (int key = 0; key < 1000; key++)
        enqueue(fixture, key);
    fake_loop_settle(fixture->loop);
    assert_int_equal(fixture->total, 1000);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_started, teardown)

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test_setup_teardown(nothing_is_decided_before_the_start, setup, teardown),
        TEST(a_create_goes_to_the_collection),
        TEST(a_patch_goes_to_the_subresource),
        TEST(wq_12_what_is_right_is_not_written),
        TEST(news_in_flight_waits_for_the_answer),
        TEST(of_a_plan_the_first_write_is_sent),
        TEST(the_result_is_told_before_the_key_is_decided_again),
        TEST(t_50_ref_18_nothing_is_written_twice_while_the_watch_lags),
        TEST(t_50_ref_18_the_cache_is_asked_again_without_an_event),
        TEST(t_50_ref_18_after_ten_seconds_the_cache_is_trusted),
        TEST(t_50_wrt_4_a_write_that_changes_nothing_is_not_waited_for),
        TEST(t_50_a_delete_by_another_ends_the_wait),
        TEST(a_write_lost_on_the_way_is_decided_again),
        TEST(wrt_6_a_conflict_backs_off_and_decides_afresh),
        TEST(a_key_that_fails_for_ever_comes_each_300_s),
        TEST(t_28_err_8_a_429_holds_everybody_back),
        TEST(a_429_without_retry_after_pauses_a_second),
        TEST(a_shorter_pause_does_not_end_a_longer_one),
        TEST(an_invalid_write_is_not_repeated_soon),
        TEST(an_invalid_write_is_decided_again_when_news_comes),
        TEST(a_request_that_cannot_be_built_does_not_spin),
        TEST(a_create_that_exists_waits_for_the_cache),
        TEST(a_patch_of_what_is_gone_ends_when_the_cache_knows),
        TEST(a_delete_names_the_incarnation),
        TEST(a_guarded_delete_asks_first),
        TEST(a_delete_of_what_is_gone_has_succeeded),
        TEST(a_delete_whose_precondition_fails_is_decided_again),
        TEST(withdrawals_go_first),
        TEST(a_withdrawal_overtakes_increases_that_wait),
        TEST(an_increase_that_turns_into_a_withdrawal_goes_first),
        TEST(a_withdrawal_that_turns_into_an_increase_queues_up),
        TEST(news_keeps_the_place_of_what_waits),
        TEST(what_waited_is_decided_on_the_newest_snapshot),
        TEST(at_most_so_many_are_in_flight),
        TEST(tel_1_writes_keep_to_the_rate),
        TEST(a_plan_that_came_to_nothing_costs_no_token),
        TEST(low_keys_are_decided_after_the_others),
        TEST(controllers_take_turns),
        TEST(a_recheck_comes_when_asked_for),
        TEST(a_recheck_of_zero_does_not_spin),
        TEST(without_the_right_nothing_leaves),
        TEST(t_67_the_right_is_asked_for_between_guard_and_delete),
        TEST(t_67_a_fenced_write_was_not_sent_and_comes_again),
        TEST(a_guard_only_reads_and_is_not_fenced),
        TEST(stop_tells_from_the_loop_not_inside_the_call),
        cmocka_unit_test_setup_teardown(stop_before_the_start_tells_too, setup, teardown),
        TEST(t_62_wq_9_stop_waits_for_what_is_in_flight_and_sends_nothing_more),
        TEST(stop_between_guard_and_delete_deletes_nothing),
        TEST(le_3_halt_cuts_off_what_is_in_flight),
        TEST(le_3_halt_ends_a_drain),
        TEST(free_cancels_what_is_under_way),
        TEST(metrics_tell_what_happened),
        TEST(any_sequence_is_safe_and_ends_as_wished),
        TEST(a_thousand_keys_at_once_settle),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(guard_rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(guard_rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ guard_rows[i].name, guard__row, NULL, NULL, (void *)&guard_rows[i] };
    return cmocka_run_group_tests_name("kube/runtime", tests, NULL, NULL);
}
