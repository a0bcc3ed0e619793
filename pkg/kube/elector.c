#include "kube/elector.h"

#include "base/rfc3339.h"
#include "json/json.h"

#define MAX_TEXT 512
#define MIN_RECORD_MS 1000
#define MAX_RECORD_MS (3600 * 1000)

bool elector_options_check(const struct elector_options *options, struct err *err)
{
    if (options->lease_ms < MIN_RECORD_MS || options->lease_ms > MAX_RECORD_MS ||
        options->lease_ms % 1000 != 0)
        return err_set(err, ERR_INVALID, "lease duration must be whole seconds, from 1s to 1h");
    if (options->retry_ms <= 0)
        return err_set(err, ERR_INVALID, "retry period must be above zero");
    if (options->lease_ms <= options->renew_ms)
        return err_set(err, ERR_INVALID, "lease duration must be longer than the renew deadline");
    if (options->retry_ms >= options->renew_ms || options->renew_ms * 5 <= options->retry_ms * 6)
        return err_set(err, ERR_INVALID, "renew deadline must be longer than 1.2 times the retry period");
    return true;
}

void elector_init(struct elector *elector, const struct elector_options *options)
{
    *elector = (struct elector){
        .options = *options,
        .random.state = options->seed,
        .holder = STRBUF_INIT(MAX_TEXT),
        .rv = STRBUF_INIT(MAX_TEXT),
        .uid = STRBUF_INIT(MAX_TEXT),
        .preferred = STRBUF_INIT(MAX_TEXT),
    };
}

void elector_done(struct elector *elector)
{
    strbuf_done(&elector->holder);
    strbuf_done(&elector->rv);
    strbuf_done(&elector->uid);
    strbuf_done(&elector->preferred);
}

/* --- what is known ---------------------------------------------------------------- */

static bool held_by_us(const struct elector *elector)
{
    return elector->exists && elector->held &&
           str_eq(strbuf_str(&elector->holder), elector->options.identity);
}

static bool prefers_another(const struct elector *elector)
{
    return elector->preferred.len > 0 && !str_eq(strbuf_str(&elector->preferred), elector->options.identity);
}

static void set_text(struct strbuf *buf, struct str text)
{
    strbuf_clear(buf);
    strbuf_add(buf, text);
}

static int64_t clamp_record_ms(int64_t seconds)
{
    if (seconds < MIN_RECORD_MS / 1000)
        return MIN_RECORD_MS;
    return seconds > MAX_RECORD_MS / 1000 ? MAX_RECORD_MS : seconds * 1000;
}

static void remember(struct elector *elector, const struct lease *lease, struct mono_time now)
{
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(MAX_TEXT);
    kube_object_uid(&lease->object, &uid);
    bool same = elector->exists && str_eq(strbuf_str(&elector->rv), kube_object_rv(&lease->object)) &&
                str_eq(strbuf_str(&elector->uid), strbuf_str(&uid));
    elector->seen = elector->exists = true;
    if (same)
        return;
    elector->changed = now;
    elector->held = lease->holder != NULL;
    set_text(&elector->holder, istr_str(lease->holder));
    set_text(&elector->rv, kube_object_rv(&lease->object));
    set_text(&elector->uid, strbuf_str(&uid));
    set_text(&elector->preferred, istr_str(lease->preferred));
    elector->record_ms = clamp_record_ms(lease->duration_s);
    elector->transitions = min_i64(max_i64(0, lease->transitions), INT32_MAX - 1);
    elector->acquired = lease->acquire_time;
}

/* A holder other than us may have renewed just before its Lease vanished, unseen. */
static void forget(struct elector *elector, struct mono_time now)
{
    if (held_by_us(elector))
        elector->held = false;
    if (elector->exists)
        elector->changed = now;
    elector->seen = true;
    elector->exists = false;
    strbuf_clear(&elector->holder);
    strbuf_clear(&elector->rv);
    strbuf_clear(&elector->uid);
    strbuf_clear(&elector->preferred);
}

static void lose(struct elector *elector)
{
    if (elector->state == ELECTOR_LEADER)
        elector->state = ELECTOR_LOST;
}

void elector_give_up(struct elector *elector)
{
    lose(elector);
    if (elector->state == ELECTOR_STANDBY)
        elector->state = ELECTOR_RELEASED;
}

void elector_watching(struct elector *elector, bool watching)
{
    elector->fresh_view = watching;
}

/* A watch may lag behind our own writes, and an answer behind the watch: what is older than
 * we know says nothing. */
static bool is_old_news(const struct elector *elector, const struct lease *lease)
{
    return elector->exists && rv_compare(kube_object_rv(&lease->object), strbuf_str(&elector->rv)) == RV_LESS;
}

/* A write without these would not be conditional. */
static bool is_usable(const struct lease *lease)
{
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(MAX_TEXT);
    kube_object_uid(&lease->object, &uid);
    struct str rv = kube_object_rv(&lease->object);
    return uid.len > 0 && !uid.overflow && rv.len > 0 && rv.len <= MAX_TEXT;
}

/* LE-4: a definite loss needs no deadline. While we are giving it back, that we do not hold
 * it any more is what was wanted. */
static void judge_holder(struct elector *elector)
{
    if (elector->state == ELECTOR_LEADER && !elector->releasing && !held_by_us(elector))
        lose(elector);
}

/* When a standby may take the Lease. Never a shortcut by renewTime (LE-12). */
static struct mono_time free_at(const struct elector *elector)
{
    bool taken = elector->held || prefers_another(elector);
    if (!taken || held_by_us(elector))
        return (struct mono_time){ 0 };
    return mono_add_ms(elector->changed, elector->record_ms);
}

/* The pace of a standby is for polling and for races it lost, not for what it is told. */
static void hurry_if_free(struct elector *elector, struct mono_time now)
{
    if (elector->state == ELECTOR_STANDBY && !mono_before(now, free_at(elector)))
        elector->next_try = now;
}

void elector_observed(struct elector *elector, const struct lease *lease, struct mono_time now)
{
    if (!lease) {
        /* LE-9: whether it is ours to make again is for the next write to find out. */
        elector->news = true;
        forget(elector, now);
        hurry_if_free(elector, now);
        return;
    }
    if (!is_usable(lease) || is_old_news(elector, lease))
        return;
    elector->news = true;
    remember(elector, lease, now);
    judge_holder(elector);
    hurry_if_free(elector, now);
}

/* --- what to do ------------------------------------------------------------------- */

static struct elector_action wait_until(struct mono_time due, struct mono_time now)
{
    int64_t ns = due.ns - now.ns;
    return (struct elector_action){ ELECTOR_WAIT, ns <= 0 ? 0 : (ns + NS_PER_MS - 1) / NS_PER_MS };
}

static struct elector_action send(struct elector *elector, enum elector_do what, struct mono_time now)
{
    elector->in_flight = true;
    elector->news = false;
    elector->sent = what;
    elector->sent_at = now;
    elector->giving = elector->releasing && what == ELECTOR_UPDATE;
    return (struct elector_action){ what, 0 };
}

/* acquire sleeps P * (1 .. 2.2), so that candidates do not march in step; who has something
 * to lose asks sooner. */
static struct mono_time after_failure(struct elector *elector, struct mono_time now)
{
    int64_t p = elector->options.retry_ms;
    bool urgent = elector->state == ELECTOR_LEADER || elector->releasing;
    int64_t wait = urgent ? p / 4 : random_between(&elector->random, p, p * 11 / 5);
    return mono_add_ms(now, max_i64(1, wait));
}

static struct elector_action next_standby(struct elector *elector, struct mono_time now)
{
    if (mono_before(now, elector->next_try))
        return wait_until(elector->next_try, now);
    if (!elector->seen || elector->stale)
        return send(elector, ELECTOR_GET, now);
    struct mono_time free = free_at(elector);
    if (!mono_before(now, free))
        return send(elector, elector->exists ? ELECTOR_UPDATE : ELECTOR_CREATE, now);
    if (elector->fresh_view)
        return wait_until(free, now);
    /* No watch: look every now and then whether it still changes. */
    elector->next_try = after_failure(elector, now);
    return send(elector, ELECTOR_GET, now);
}

static struct elector_action next_leader(struct elector *elector, struct mono_time now)
{
    struct mono_time deadline = mono_add_ms(elector->good_sent, elector->options.renew_ms);
    if (!mono_before(now, deadline)) {
        lose(elector);
        return (struct elector_action){ ELECTOR_WAIT, -1 };
    }
    if (prefers_another(elector))
        return wait_until(deadline, now); /* end of term: somebody else is to lead (4.6) */
    struct mono_time due = mono_add_ms(elector->good_sent, elector->options.retry_ms);
    if (!elector->exists) /* deleted under us: a newcomer would see no holder */
        due = now;
    if (mono_before(due, elector->next_try))
        due = elector->next_try;
    if (mono_before(now, due))
        return wait_until(mono_before(due, deadline) ? due : deadline, now);
    if (elector->stale)
        return send(elector, ELECTOR_GET, now);
    return send(elector, elector->exists ? ELECTOR_UPDATE : ELECTOR_CREATE, now);
}

/* LE-7: only what a GET has just shown to be ours is given back. */
static struct elector_action next_release(struct elector *elector, struct mono_time now)
{
    bool was_leader = elector->state == ELECTOR_LEADER;
    if (mono_before(now, elector->next_try))
        return wait_until(elector->next_try, now);
    if (elector->stale)
        return send(elector, ELECTOR_GET, now);
    if (held_by_us(elector))
        return send(elector, ELECTOR_UPDATE, now);
    elector->state = was_leader && elector->held ? ELECTOR_LOST : ELECTOR_RELEASED;
    return (struct elector_action){ ELECTOR_WAIT, -1 };
}

static struct elector_action next_in_flight(struct elector *elector, struct mono_time now)
{
    if (elector->state != ELECTOR_LEADER || elector->releasing)
        return (struct elector_action){ ELECTOR_WAIT, -1 };
    /* A request that hangs must not hide that the time is up. */
    struct mono_time deadline = mono_add_ms(elector->good_sent, elector->options.renew_ms);
    if (mono_before(now, deadline))
        return wait_until(deadline, now);
    lose(elector);
    return (struct elector_action){ ELECTOR_WAIT, -1 };
}

struct elector_action elector_next(struct elector *elector, struct mono_time now)
{
    if (elector->state == ELECTOR_LOST || elector->state == ELECTOR_RELEASED)
        return (struct elector_action){ ELECTOR_WAIT, -1 };
    if (elector->in_flight)
        return next_in_flight(elector, now);
    if (elector->releasing)
        return next_release(elector, now);
    return elector->state == ELECTOR_LEADER ? next_leader(elector, now) : next_standby(elector, now);
}

/* --- answers ----------------------------------------------------------------------- */

static bool is_over(const struct elector *elector)
{
    return elector->state == ELECTOR_LOST || elector->state == ELECTOR_RELEASED;
}

static void write_succeeded(struct elector *elector, const struct lease *lease, struct mono_time now)
{
    if (!is_old_news(elector, lease))
        remember(elector, lease, now);
    if (elector->giving) {
        elector->state = ELECTOR_RELEASED;
        return;
    }
    if (!held_by_us(elector))
        return; /* taken from us before its answer came */
    /* An answer that took so long says what was, not what is: the next write will tell. */
    struct mono_time deadline = mono_add_ms(elector->sent_at, elector->options.renew_ms);
    if (elector->state == ELECTOR_STANDBY && !mono_before(now, deadline))
        return;
    elector->state = ELECTOR_LEADER;
    elector->good_sent = elector->sent_at; /* LE-2: not when the answer came */
}

static void get_succeeded(struct elector *elector, const struct lease *lease, struct mono_time now)
{
    elector->stale = false;
    /* The watch overtook the answer. Otherwise it counts even when its version is older:
     * then the server was restored from a backup. */
    if (elector->news && is_old_news(elector, lease))
        return;
    remember(elector, lease, now);
    judge_holder(elector);
}

void elector_answered(struct elector *elector, enum kube_failure failure, const struct lease *lease,
                      struct mono_time now)
{
    elector->in_flight = false;
    if (is_over(elector))
        return;
    bool readable = lease && is_usable(lease);
    if (failure == KUBE_OK && readable) {
        if (elector->sent == ELECTOR_GET)
            get_succeeded(elector, lease, now);
        else
            write_succeeded(elector, lease, now);
        return;
    }
    if (elector->sent == ELECTOR_GET && failure == KUBE_NOT_FOUND) {
        elector->stale = false;
        forget(elector, now);
        return;
    }
    /* A write: somebody was faster, the Lease vanished, or the write was applied and its
     * answer lost. Only a GET can tell (LE-5). */
    bool wrote = elector->sent != ELECTOR_GET;
    elector->stale = elector->stale || wrote;
    bool contradicted =
        wrote && (failure == KUBE_CONFLICT || failure == KUBE_ALREADY_EXISTS || failure == KUBE_NOT_FOUND);
    if (!contradicted || elector->state != ELECTOR_LEADER)
        elector->next_try = after_failure(elector, now);
}

/* --- the fence --------------------------------------------------------------------- */

/* LE-2, and no more than a third of a very short lease. */
static int64_t safety_ms(const struct elector *elector)
{
    int64_t lease_ms = elector->options.lease_ms;
    return min_i64(max_i64(1000, lease_ms / 10), lease_ms / 3);
}

int64_t elector_margin_ms(const struct elector *elector, struct mono_time now)
{
    if (elector->state != ELECTOR_LEADER)
        return 0;
    struct mono_time until = mono_add_ms(elector->good_sent, elector->options.lease_ms - safety_ms(elector));
    return max_i64(0, mono_ms_between(now, until));
}

bool elector_may_write(const struct elector *elector, struct mono_time now)
{
    return !elector->releasing && elector_margin_ms(elector, now) > 0;
}

/* A candidate that never led has nothing to give, unless a write of its is under way. */
void elector_release(struct elector *elector)
{
    elector->releasing = true;
    elector->next_try = (struct mono_time){ 0 };
    elector->stale = elector->stale || elector->state == ELECTOR_LEADER;
}

/* --- the record -------------------------------------------------------------------- */

static void add_time(struct strbuf *out, const char *name, struct wall_time time)
{
    strbuf_addf(out, ",\"%s\":\"", name);
    rfc3339_format_micro(out, time);
    strbuf_addc(out, '"');
}

static void add_identity(const struct elector *elector, struct strbuf *out)
{
    strbuf_add(out, STR(",\"uid\":"));
    json_write_str(out, strbuf_str(&elector->uid));
    strbuf_add(out, STR(",\"resourceVersion\":"));
    json_write_str(out, strbuf_str(&elector->rv));
}

void elector_write_record(const struct elector *elector, struct str ns, struct str name, struct wall_time now,
                          struct strbuf *out)
{
    bool update = elector->sent == ELECTOR_UPDATE;
    bool takeover = update && !held_by_us(elector);
    /* Also when it makes the deleted Lease again: its term goes on. */
    bool same_term = (held_by_us(elector) || elector->state == ELECTOR_LEADER) && !elector->giving;
    strbuf_add(out,
               STR("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"));
    json_write_str(out, name);
    strbuf_add(out, STR(",\"namespace\":"));
    json_write_str(out, ns);
    if (update)
        add_identity(elector, out);
    strbuf_add(out, STR("},\"spec\":{\"holderIdentity\":"));
    if (elector->giving)
        strbuf_add(out, STR("null"));
    else
        json_write_str(out, elector->options.identity);
    strbuf_addf(out, ",\"leaseDurationSeconds\":%lld",
                elector->giving ? 1LL : (long long)(elector->options.lease_ms / 1000));
    add_time(out, "acquireTime", same_term && elector->acquired.set ? elector->acquired.value : now);
    add_time(out, "renewTime", now);
    int64_t transitions = elector->transitions + (takeover ? 1 : 0);
    strbuf_addf(out, ",\"leaseTransitions\":%lld", (long long)transitions);
    if (takeover && prefers_another(elector)) /* it had its time; its wish would end our term */
        strbuf_add(out, STR(",\"preferredHolder\":null"));
    strbuf_add(out, STR("}}"));
}
