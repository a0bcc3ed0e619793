/* T-64: several electors and one server, in virtual time, with everything that goes wrong.
 * Each candidate has its own clock, a few percent off; requests, answers and watch events
 * are late, lost or doubled; processes are stopped, killed and replaced. However that goes,
 * never do two of them believe that they may write. */
#include "core_support.h"

#include "json/json.h"
#include "kube/elector.h"

#define MAX_CANDIDATES 5
#define MAX_EVENTS 4096
#define STEPS 100000
#define MAX_DRIFT_PPM 40000
#define REQUEST_MS 5000

enum happening { TICK, ARRIVE, ANSWER, TIMEOUT, SEE, CHAOS, START };

/* The Lease at one moment. */
struct version {
    bool exists;
    char holder[32]; /* "": nobody */
    int64_t rv;
    int64_t uid;
    int64_t duration_s;
    int64_t transitions;
};

struct request {
    enum elector_do what;
    char holder[32]; /* "": nobody */
    int64_t rv;      /* the version it replaces */
    int64_t duration_s;
    int64_t transitions;
};

struct event {
    int64_t at;
    uint64_t order; /* of events at the same time: the earlier made */
    enum happening what;
    int who;
    int64_t life;   /* which process of that candidate it is about */
    int64_t number; /* of the request */
    bool answers;   /* ARRIVE: its answer goes back */
    struct request request;
    enum kube_failure failure;
    struct version version;
};

struct candidate {
    struct elector elector;
    char identity[32];
    bool alive;
    int64_t life;
    int64_t drift_ppm;
    int64_t stopped_until; /* SIGSTOP */
    int64_t asked;         /* number of the request under way; 0: none */
    int64_t requests;
    int64_t timer;   /* number of the tick that counts */
    int64_t seen_at; /* watch events come in order */
    bool watching;
    bool led;
};

struct model {
    struct core *core;
    struct random random;
    const struct model_row *row;
    struct candidate candidates[MAX_CANDIDATES];
    struct event events[MAX_EVENTS];
    size_t event_count;
    uint64_t order;
    int64_t now;
    int64_t down_until; /* the server answers nobody */
    struct version lease;
    bool calm;
    struct {
        int terms, losses, releases, conflicts, kills, stops, lost_messages, doubled, steals, deletions;
    } count;
};

static const struct model_row {
    const char *name;
    int candidates;
    int64_t lease_ms, renew_ms, retry_ms;
    uint64_t seed;
    bool deletes;
} model_rows[] = {
    { "t_64 two candidates, usual times", 2, 15000, 10000, 2000, 1, false },
    { "t_64 five candidates, usual times", 5, 15000, 10000, 2000, 2, false },
    { "t_64 five candidates, short times", 5, 3000, 2000, 500, 3, false },
    { "t_64 le_9 two candidates, the lease is deleted by hand", 2, 15000, 10000, 2000, 4, true },
    { "t_64 le_9 five candidates, the lease is deleted by hand", 5, 15000, 10000, 2000, 5, true },
};

/* --- time ---------------------------------------------------------------------------- */

static bool chance(struct model *model, int percent)
{
    return !model->calm && random_between(&model->random, 1, 100) <= percent;
}

static struct mono_time clock_of(const struct model *model, const struct candidate *candidate)
{
    return (struct mono_time){ model->now * (1000000 + candidate->drift_ppm) };
}

/* Later than what the candidate's clock means, never earlier. */
static int64_t real_ms(const struct candidate *candidate, int64_t ms)
{
    return ms * 1000000 / (1000000 + candidate->drift_ppm) + 1;
}

static void add_event(struct model *model, int64_t when, struct event event)
{
    assert_true(model->event_count < MAX_EVENTS);
    event.at = max_i64(when, model->now);
    event.order = model->order++;
    model->events[model->event_count++] = event;
}

/* For the process that this candidate is now. */
static void at(struct model *model, int64_t when, struct event event)
{
    event.life = model->candidates[event.who].life;
    add_event(model, when, event);
}

static struct event take_first(struct model *model)
{
    size_t first = 0;
    for (size_t i = 1; i < model->event_count; i++) {
        const struct event *a = &model->events[i], *b = &model->events[first];
        if (a->at < b->at || (a->at == b->at && a->order < b->order))
            first = i;
    }
    struct event event = model->events[first];
    model->events[first] = model->events[--model->event_count];
    return event;
}

static int64_t delay(struct model *model)
{
    if (chance(model, 3))
        return random_between(&model->random, 1000, 14000);
    return random_between(&model->random, 1, chance(model, 20) ? 1500 : 40);
}

/* --- the server ------------------------------------------------------------------------ */

static void publish(struct model *model)
{
    for (int who = 0; who < model->row->candidates; who++) {
        struct candidate *candidate = &model->candidates[who];
        if (!candidate->alive || !candidate->watching)
            continue;
        candidate->seen_at = max_i64(candidate->seen_at, model->now + delay(model));
        at(model, candidate->seen_at, (struct event){ .what = SEE, .who = who, .version = model->lease });
    }
}

static void store(struct model *model, struct version version)
{
    version.rv = model->lease.rv + 1; /* counts on over deletions */
    model->lease = version;
    publish(model);
}

static void delete_lease(struct model *model)
{
    store(model, (struct version){ .exists = false, .uid = model->lease.uid });
}

static enum kube_failure serve(struct model *model, const struct request *request)
{
    struct version *lease = &model->lease;
    if (request->what == ELECTOR_GET)
        return lease->exists ? KUBE_OK : KUBE_NOT_FOUND;
    if (request->what == ELECTOR_CREATE && lease->exists)
        return KUBE_ALREADY_EXISTS;
    if (request->what == ELECTOR_UPDATE && !lease->exists)
        return KUBE_NOT_FOUND;
    if (request->what == ELECTOR_UPDATE && request->rv != lease->rv) {
        model->count.conflicts++;
        return KUBE_CONFLICT;
    }
    struct version version = { .exists = true,
                               .uid = lease->uid + (request->what == ELECTOR_CREATE),
                               .duration_s = request->duration_s,
                               .transitions = request->transitions };
    snprintf(version.holder, sizeof version.holder, "%s", request->holder);
    store(model, version);
    return KUBE_OK;
}

static void on_arrive(struct model *model, const struct event *event)
{
    if (model->now < model->down_until)
        return;
    enum kube_failure failure = serve(model, &event->request);
    if (!event->answers)
        return;
    if (chance(model, 4)) {
        model->count.lost_messages++;
        return;
    }
    add_event(model, model->now + delay(model),
              (struct event){ .what = ANSWER,
                              .who = event->who,
                              .life = event->life,
                              .number = event->number,
                              .failure = failure,
                              .version = model->lease });
}

/* --- a candidate ----------------------------------------------------------------------- */

static struct kube_object *object_of(struct model *model, const struct version *version)
{
    char json[512], holder[40] = "null";
    if (*version->holder)
        snprintf(holder, sizeof holder, "\"%s\"", version->holder);
    snprintf(
        json, sizeof json,
        "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u%lld\",\"resourceVersion\":\"%lld\"},"
        "\"spec\":{\"holderIdentity\":%s,\"leaseDurationSeconds\":%lld,\"leaseTransitions\":%lld}}",
        (long long)version->uid, (long long)version->rv, holder, (long long)version->duration_s,
        (long long)version->transitions);
    return core_object(model->core, &lease_kind, json);
}

static int64_t number_at(const struct json *root, const char *key)
{
    int64_t value = 0;
    assert_true(json_i64(json_path(root, "spec", key, NULL), &value));
    return value;
}

static struct request read_request(struct candidate *candidate, enum elector_do what)
{
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(4096);
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct request request = { .what = what };
    const struct json *root;
    if (what == ELECTOR_GET)
        return request;
    elector_write_record(&candidate->elector, STR("ns"), STR("l"), (struct wall_time){ 0 }, &body);
    assert_true(json_parse(&arena, strbuf_str(&body), NULL, &root, NULL));
    struct str holder = json_str(json_path(root, "spec", "holderIdentity", NULL));
    assert_true(str_empty(holder) || str_eq(holder, str_c(candidate->identity)));
    snprintf(request.holder, sizeof request.holder, STR_FMT, STR_ARG(holder));
    request.duration_s = number_at(root, "leaseDurationSeconds");
    request.transitions = number_at(root, "leaseTransitions");
    if (what == ELECTOR_UPDATE)
        assert_true(str_to_i64(json_str(json_path(root, "metadata", "resourceVersion", NULL)), &request.rv));
    return request;
}

static void send_out(struct model *model, int who, enum elector_do what)
{
    struct candidate *candidate = &model->candidates[who];
    struct event event = { .what = ARRIVE,
                           .who = who,
                           .number = candidate->asked = ++candidate->requests,
                           .answers = true,
                           .request = read_request(candidate, what) };
    bool twice = chance(model, 4), lost = !twice && chance(model, 6);
    model->count.doubled += twice;
    model->count.lost_messages += lost;
    if (twice) { /* the transport repeats it; one of the two answers is the one that is read */
        event.answers = chance(model, 50);
        at(model, model->now + delay(model), event);
        event.answers = !event.answers;
    }
    if (!lost)
        at(model, model->now + delay(model), event);
    at(model, model->now + real_ms(candidate, min_i64(model->row->renew_ms / 2, REQUEST_MS)),
       (struct event){ .what = TIMEOUT, .who = who, .number = candidate->asked });
}

static void run_candidate(struct model *model, int who)
{
    struct candidate *candidate = &model->candidates[who];
    struct elector_action action = elector_next(&candidate->elector, clock_of(model, candidate));
    if (action.what != ELECTOR_WAIT) {
        send_out(model, who, action.what);
        action = elector_next(&candidate->elector, clock_of(model, candidate));
        assert_int_equal(action.what, ELECTOR_WAIT); /* one request at a time */
    }
    if (action.wait_ms >= 0)
        at(model, model->now + real_ms(candidate, action.wait_ms),
           (struct event){ .what = TICK, .who = who, .number = ++candidate->timer });
    if (candidate->elector.state == ELECTOR_LEADER && !candidate->led)
        model->count.terms++;
    candidate->led = candidate->elector.state == ELECTOR_LEADER;
}

static void end(struct model *model, int who)
{
    struct candidate *candidate = &model->candidates[who];
    elector_done(&candidate->elector);
    candidate->alive = false;
    candidate->life++;
    at(model, model->now + random_between(&model->random, 100, 30000),
       (struct event){ .what = START, .who = who });
}

/* Who is out of the race leaves; another process takes its place some time later. */
static void leave_when_over(struct model *model, int who)
{
    enum elector_state state = model->candidates[who].elector.state;
    if (state != ELECTOR_LOST && state != ELECTOR_RELEASED)
        return;
    model->count.losses += state == ELECTOR_LOST;
    model->count.releases += state == ELECTOR_RELEASED;
    end(model, who);
}

static void set_watching(struct model *model, int who, bool watching)
{
    struct candidate *candidate = &model->candidates[who];
    candidate->watching = watching;
    elector_watching(&candidate->elector, watching);
    if (watching) /* it begins with what there is */
        at(model, model->now + 1, (struct event){ .what = SEE, .who = who, .version = model->lease });
}

static bool anyone_lives(const struct model *model)
{
    for (int who = 0; who < model->row->candidates; who++) {
        if (model->candidates[who].alive)
            return true;
    }
    return false;
}

static void on_start(struct model *model, int who)
{
    struct candidate *candidate = &model->candidates[who];
    if (model->row->deletes && !model->lease.exists && anyone_lives(model)) {
        at(model, model->now + 100, (struct event){ .what = START, .who = who });
        return;
    }
    snprintf(candidate->identity, sizeof candidate->identity, "c%d-%lld", who, (long long)candidate->life);
    struct elector_options options = { .identity = str_c(candidate->identity),
                                       .lease_ms = model->row->lease_ms,
                                       .renew_ms = model->row->renew_ms,
                                       .retry_ms = model->row->retry_ms,
                                       .seed = random_next(&model->random) };
    elector_init(&candidate->elector, &options);
    candidate->alive = true;
    candidate->led = false;
    candidate->asked = 0;
    candidate->stopped_until = 0;
    candidate->drift_ppm = random_between(&model->random, -MAX_DRIFT_PPM, MAX_DRIFT_PPM);
    set_watching(model, who, true);
    run_candidate(model, who);
}

static void on_see(struct model *model, int who, const struct version *version)
{
    struct candidate *candidate = &model->candidates[who];
    struct kube_object *object = version->exists ? object_of(model, version) : NULL;
    elector_observed(&candidate->elector, object ? lease_of(object) : NULL, clock_of(model, candidate));
    kube_object_unref(object);
}

static void on_answer(struct model *model, const struct event *event)
{
    struct candidate *candidate = &model->candidates[event->who];
    if (event->number != candidate->asked)
        return; /* it has given up on that one */
    candidate->asked = 0;
    struct kube_object *object = event->failure == KUBE_OK ? object_of(model, &event->version) : NULL;
    elector_answered(&candidate->elector, event->failure, object ? lease_of(object) : NULL,
                     clock_of(model, candidate));
    kube_object_unref(object);
}

/* --- trouble ----------------------------------------------------------------------------- */

/* A deletion hides who holds the Lease from those who have not seen it yet, or who made one
 * before; nobody can be blamed then. The other ways to lose sight are all in. */
static bool all_know_the_holder(const struct model *model)
{
    for (int who = 0; who < model->row->candidates; who++) {
        const struct candidate *candidate = &model->candidates[who];
        if (candidate->alive && !(candidate->elector.exists && !candidate->elector.stale &&
                                  str_eq(strbuf_str(&candidate->elector.holder), str_c(model->lease.holder))))
            return false;
    }
    for (size_t i = 0; i < model->event_count; i++) {
        if (model->events[i].what == ARRIVE && model->events[i].request.what == ELECTOR_CREATE)
            return false;
    }
    return model->lease.exists;
}

static void steal(struct model *model)
{
    struct version stolen = model->lease;
    snprintf(stolen.holder, sizeof stolen.holder, "%s", "thief");
    stolen.duration_s = model->row->lease_ms / 1000;
    if (stolen.exists)
        store(model, stolen);
}

static void on_chaos(struct model *model)
{
    int who = (int)random_between(&model->random, 0, model->row->candidates - 1);
    struct candidate *candidate = &model->candidates[who];
    at(model, model->now + random_between(&model->random, 1000, 20000), (struct event){ .what = CHAOS });
    if (model->calm || !candidate->alive)
        return;
    switch (random_between(&model->random, 0, 6)) {
    case 0:
        model->count.kills++;
        end(model, who);
        break;
    case 1: /* SIGTERM */
        elector_release(&candidate->elector);
        run_candidate(model, who);
        leave_when_over(model, who);
        break;
    case 2:
        model->count.stops++;
        candidate->stopped_until = model->now + random_between(&model->random, 500, 45000);
        break;
    case 3:
        set_watching(model, who, !candidate->watching);
        run_candidate(model, who);
        break;
    case 4:
        model->down_until = model->now + random_between(&model->random, 500, 12000);
        break;
    case 5:
        model->count.steals +=
            random_between(&model->random, 0, 3) == 0 && model->lease.exists ? steal(model),
            1                                                                : 0;
        break;
    default:
        if (!model->row->deletes || !all_know_the_holder(model))
            break;
        model->count.deletions++;
        delete_lease(model);
        break;
    }
}

/* --- the run ------------------------------------------------------------------------------ */

static int writers(const struct model *model)
{
    int count = 0;
    for (int who = 0; who < model->row->candidates; who++) {
        const struct candidate *candidate = &model->candidates[who];
        count += candidate->alive && elector_may_write(&candidate->elector, clock_of(model, candidate));
    }
    return count;
}

static void happen(struct model *model, const struct event *event)
{
    struct candidate *candidate = &model->candidates[event->who];
    if (event->what == ARRIVE) {
        on_arrive(model, event); /* also from the dead */
        return;
    }
    if (event->what == CHAOS) {
        on_chaos(model);
        return;
    }
    if (event->life != candidate->life || (event->what == TICK && event->number != candidate->timer))
        return;
    if (model->now < candidate->stopped_until) {
        at(model, candidate->stopped_until + random_between(&model->random, 0, 3), *event);
        return;
    }
    if (event->what == START) {
        on_start(model, event->who);
        return;
    }
    if (event->what == SEE && candidate->watching)
        on_see(model, event->who, &event->version);
    if (event->what == ANSWER)
        on_answer(model, event);
    if (event->what == TIMEOUT && event->number == candidate->asked) {
        candidate->asked = 0;
        elector_answered(&candidate->elector, KUBE_TRANSPORT, NULL, clock_of(model, candidate));
    }
    run_candidate(model, event->who);
    leave_when_over(model, event->who);
}

static void one_step(struct model *model)
{
    struct event event = take_first(model);
    model->now = event.at;
    happen(model, &event);
    int count = writers(model);
    if (count > 1)
        fail_msg("%d candidates may write at %lld ms", count, (long long)model->now);
}

static void calm_down(struct model *model)
{
    model->calm = true;
    model->down_until = 0;
    for (int who = 0; who < model->row->candidates; who++) {
        if (model->candidates[who].alive && !model->candidates[who].watching)
            set_watching(model, who, true);
    }
    for (int64_t until = model->now + 10 * 60 * 1000; model->now < until;)
        one_step(model);
}

static void print_counts(const struct model *model)
{
    print_message("%lld virtual hours: %d terms, %d lost, %d left, %d killed, %d stopped, %d conflicts, "
                  "%d messages lost, %d doubled, %d stolen, %d deleted\n",
                  (long long)(model->now / 3600000), model->count.terms, model->count.losses,
                  model->count.releases, model->count.kills, model->count.stops, model->count.conflicts,
                  model->count.lost_messages, model->count.doubled, model->count.steals,
                  model->count.deletions);
}

static void model_row(void **state)
{
    void *core = NULL;
    core_setup(&core);
    struct model *model = mem_zalloc(sizeof *model);
    model->core = core;
    model->row = *state;
    model->random.state = model->row->seed;
    for (int who = 0; who < model->row->candidates; who++)
        at(model, random_between(&model->random, 0, 3000), (struct event){ .what = START, .who = who });
    at(model, 30000, (struct event){ .what = CHAOS });
    for (int step = 0; step < STEPS; step++)
        one_step(model);
    print_counts(model);
    /* Otherwise there was little to get wrong. */
    assert_true(model->count.terms > 100 && model->count.losses > 30 && model->count.releases > 30);
    assert_true(model->count.conflicts > 50 && model->count.steals > 10);
    assert_true(!model->row->deletes || model->count.deletions > 10);

    calm_down(model);
    assert_int_equal(writers(model), 1);
    int terms = model->count.terms;
    for (int64_t until = model->now + 3600 * 1000; model->now < until;) {
        one_step(model);
        assert_int_equal(writers(model), 1); /* and without a gap */
    }
    assert_int_equal(model->count.terms, terms);

    for (int who = 0; who < model->row->candidates; who++) {
        if (model->candidates[who].alive)
            elector_done(&model->candidates[who].elector);
    }
    free(model);
    assert_int_equal(core_teardown(&core), 0);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(model_rows)];
    for (size_t i = 0; i < ARRAY_LEN(model_rows); i++)
        tests[i] = (struct CMUnitTest){ model_rows[i].name, model_row, NULL, NULL, (void *)&model_rows[i] };
    return cmocka_run_group_tests_name("kube/elector_model", tests, NULL, NULL);
}
