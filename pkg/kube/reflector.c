#include "kube/reflector.h"

/* A clean end sooner than this, with nothing delivered, is a "very short watch". */
#define SHORT_WATCH_MS 1000
/* A watch this old proves the server well: waits start small again (REF-1). */
#define HEALTHY_WATCH_MS (60 * 1000)
/* As old and without a single event or bookmark, from a server that sends bookmarks each
 * minute: its history may lie behind our resume point (REF-16). */
#define SILENT_WATCH_MS (180 * 1000)
/* How long events that a relist could not mend are passed over (WAT-9). */
#define QUARANTINE_MS (10 * 60 * 1000)
#define MAX_RETRY_AFTER_MS (60 * 1000)
#define SHORT_WATCHES_BEFORE_RELIST 3
#define BAD_EVENTS_BEFORE_RELIST 2
#define SERVER_ERRORS_BEFORE_RELIST 3
#define BROKEN_CHAINS_BEFORE_UNPAGED 2
#define MAX_RV_BYTES 1024
#define MAX_TOKEN_BYTES (64 * 1024)

const char *reflector_state_name(enum reflector_state state)
{
    static const char *const names[] = {
        [REFLECTOR_IDLE] = "idle",         [REFLECTOR_LISTING] = "listing", [REFLECTOR_OPENING] = "opening",
        [REFLECTOR_WATCHING] = "watching", [REFLECTOR_WAITING] = "waiting",
    };
    return names[state];
}

void reflector_init(struct reflector *reflector, const struct reflector_options *options)
{
    *reflector = (struct reflector){
        .random.state = options->seed,
        .backoff = { .start_ms = 800, .cap_ms = 30 * 1000 },
        .relist_backoff = { .start_ms = 1000, .cap_ms = 30 * 1000 },
        .page_size = options->page_size ? options->page_size : 500,
        .rv = STRBUF_INIT(MAX_RV_BYTES),
        .list_rv = STRBUF_INIT(MAX_RV_BYTES),
        .continue_token = STRBUF_INIT(MAX_TOKEN_BYTES),
    };
}

void reflector_done(struct reflector *reflector)
{
    strbuf_done(&reflector->rv);
    strbuf_done(&reflector->list_rv);
    strbuf_done(&reflector->continue_token);
}

static void set_text(struct strbuf *buf, struct str text)
{
    strbuf_clear(buf);
    strbuf_add(buf, text);
}

/* --- what to ask ----------------------------------------------------------------- */

static void fill_list(struct reflector *reflector, struct kube_request *request)
{
    request->verb = KUBE_LIST;
    if (reflector->continue_token.len > 0) { /* LST-2: same limit, no resourceVersion */
        request->limit = reflector->unpaged ? 0 : reflector->page_size;
        request->continue_token = strbuf_str(&reflector->continue_token);
        return;
    }
    if (reflector->synced && !reflector->consistent && reflector->rv.len > 0) {
        /* A relist must not travel back behind what was seen; explicit, because a limit
         * with a resourceVersion would mean "exactly". */
        request->has_resource_version = true;
        request->resource_version = strbuf_str(&reflector->rv);
        request->resource_version_match = "NotOlderThan";
        return;
    }
    request->limit = reflector->unpaged ? 0 : reflector->page_size;
}

static void fill_watch(struct reflector *reflector, struct kube_request *request)
{
    request->verb = KUBE_WATCH;
    request->bookmarks = true;
    request->has_resource_version = true;
    request->resource_version = strbuf_str(&reflector->rv);
    request->timeout_s = random_between(&reflector->random, 300, 599); /* WAT-4 */
}

void reflector_fill_request(struct reflector *reflector, struct kube_request *request)
{
    if (reflector->state == REFLECTOR_LISTING)
        fill_list(reflector, request);
    else
        fill_watch(reflector, request);
}

/* --- transitions ----------------------------------------------------------------- */

static struct reflector_action begin_list(struct reflector *reflector, struct mono_time now)
{
    reflector->state = REFLECTOR_LISTING;
    reflector->last_list = now;
    strbuf_clear(&reflector->continue_token);
    reflector->lists++;
    if (reflector->synced)
        reflector->relists++;
    return (struct reflector_action){ .what = REFLECTOR_DO_LIST, .first_page = true };
}

static struct reflector_action begin_watch(struct reflector *reflector)
{
    reflector->state = REFLECTOR_OPENING;
    reflector->watch_delivered = false;
    reflector->watches++;
    return (struct reflector_action){ .what = REFLECTOR_DO_WATCH };
}

static struct reflector_action wait_then(struct reflector *reflector, enum reflector_state next,
                                         int64_t wait_ms)
{
    reflector->state = REFLECTOR_WAITING;
    reflector->after_wait = next;
    return (struct reflector_action){ .what = REFLECTOR_DO_WAIT, .wait_ms = wait_ms };
}

/* Retry-After is a lower bound (REF-2), spread so that those who were sent away together do
 * not come back together (ERR-5). */
static int64_t at_least(struct reflector *reflector, int64_t delay_ms, int64_t retry_after_ms)
{
    int64_t asked = min_i64(retry_after_ms, MAX_RETRY_AFTER_MS);
    return delay_ms >= asked ? delay_ms : asked + random_between(&reflector->random, 0, asked / 4);
}

static struct reflector_action back_off(struct reflector *reflector, enum reflector_state next,
                                        int64_t retry_after_ms)
{
    int64_t delay = backoff_next(&reflector->backoff, &reflector->random);
    return wait_then(reflector, next, at_least(reflector, delay, retry_after_ms));
}

/* The resume point is lost. Relists of one kind keep a growing distance from the last
 * list, so that a server which answers 410 forever gets one list per 30 s (REF-3). */
static struct reflector_action relist(struct reflector *reflector, struct mono_time now,
                                      int64_t retry_after_ms)
{
    reflector->bad_events = reflector->server_errors = reflector->short_watches = 0;
    int64_t distance = backoff_next(&reflector->relist_backoff, &reflector->random);
    int64_t since = mono_ms_between(reflector->last_list, now);
    int64_t jitter = random_between(&reflector->random, 0, 200);
    int64_t delay = max_i64(distance - since, jitter);
    return wait_then(reflector, REFLECTOR_LISTING, at_least(reflector, delay, retry_after_ms));
}

struct reflector_action reflector_start(struct reflector *reflector, struct mono_time now)
{
    return begin_list(reflector, now);
}

struct reflector_action reflector_timer(struct reflector *reflector, struct mono_time now)
{
    if (reflector->state != REFLECTOR_WAITING)
        return (struct reflector_action){ .what = REFLECTOR_DO_NOTHING };
    return reflector->after_wait == REFLECTOR_LISTING ? begin_list(reflector, now) : begin_watch(reflector);
}

/* The paged chain leads nowhere: after a second time the list is asked for in one piece. */
static void chain_broke(struct reflector *reflector)
{
    if (reflector->continue_token.len > 0 && ++reflector->expired_chains >= BROKEN_CHAINS_BEFORE_UNPAGED)
        reflector->unpaged = true;
}

/* LST-3: only an empty token ends the chain. One that does not move on would never end. */
static struct reflector_action next_page(struct reflector *reflector, struct str continue_token)
{
    if (continue_token.len > MAX_TOKEN_BYTES ||
        str_eq(continue_token, strbuf_str(&reflector->continue_token))) {
        reflector->unpaged = true;
        return back_off(reflector, REFLECTOR_LISTING, 0);
    }
    set_text(&reflector->continue_token, continue_token);
    return (struct reflector_action){ .what = REFLECTOR_DO_LIST };
}

struct reflector_action reflector_page(struct reflector *reflector, struct str list_rv,
                                       struct str continue_token, size_t known, size_t collected)
{
    if (list_rv.len > MAX_RV_BYTES)
        return back_off(reflector, REFLECTOR_LISTING, 0);
    /* LST-5. Pages of one snapshot agree on it; where they do not, only the first is sure
     * to lie before whatever changed between them. */
    if (reflector->continue_token.len == 0)
        set_text(&reflector->list_rv, list_rv);
    if (!str_empty(continue_token))
        return next_page(reflector, continue_token);
    strbuf_clear(&reflector->continue_token);
    if (known > 0 && collected == 0 && !reflector->confirm_empty) {
        /* REF-10: everything gone at once is more often a broken server than the truth. */
        reflector->confirm_empty = true;
        reflector->consistent = true;
        return wait_then(reflector, REFLECTOR_LISTING, random_between(&reflector->random, 1000, 5000));
    }
    set_text(&reflector->rv, strbuf_str(&reflector->list_rv));
    reflector->synced = true;
    reflector->consistent = reflector->confirm_empty = reflector->unpaged = false;
    reflector->expired_chains = 0;
    struct reflector_action action = begin_watch(reflector);
    action.swap = true;
    return action;
}

void reflector_opened(struct reflector *reflector, struct mono_time now)
{
    reflector->state = REFLECTOR_WATCHING;
    reflector->watch_opened = now;
}

bool reflector_event(struct reflector *reflector, struct mono_time now, struct str rv, bool bookmark)
{
    /* WAT-2: neither says anything to resume from; "0" would even ask for everything. */
    if (str_empty(rv) || str_eq(rv, STR("0")) || rv.len > MAX_RV_BYTES)
        return true;
    if (rv_compare(rv, strbuf_str(&reflector->rv)) == RV_LESS)
        return !bookmark; /* REF-6: a replayed event is legal, a bookmark in the past is a rewind */
    set_text(&reflector->rv, rv);
    reflector->watch_delivered = true;
    reflector->bookmarks_seen |= bookmark;
    reflector->bad_events = reflector->server_errors = reflector->short_watches = 0;
    if (mono_ms_between(reflector->watch_opened, now) >= SHORT_WATCH_MS)
        backoff_reset(&reflector->backoff);
    return true;
}

bool reflector_skip_bad(struct reflector *reflector, struct mono_time now)
{
    if (!mono_before(now, reflector->quarantine_until))
        return false;
    reflector->skipped_bad = true;
    return true;
}

/* --- ends ------------------------------------------------------------------------ */

static struct reflector_action list_failed(struct reflector *reflector, struct mono_time now,
                                           const struct reflector_failure *failure)
{
    switch (failure->failure) {
    case KUBE_EXPIRED:
        /* LST-8: the snapshot behind the token is gone; what was collected has no single
         * resourceVersion and is useless. */
        chain_broke(reflector);
        reflector->consistent = true;
        return relist(reflector, now, failure->retry_after_ms);
    case KUBE_INVALID: /* a parameter is refused: ask without resourceVersion, then without pages */
        chain_broke(reflector);
        reflector->consistent = true;
        break;
    case KUBE_TOO_LARGE_RV: /* REF-16: the server's present is our past */
    case KUBE_NOT_FOUND:    /* the resource itself is away: what comes back is another history */
        reflector->consistent = true;
        break;
    default:
        break;
    }
    return back_off(reflector, REFLECTOR_LISTING, failure->retry_after_ms);
}

static bool suspiciously_silent(const struct reflector *reflector, struct mono_time now)
{
    return reflector->bookmarks_seen && !reflector->watch_delivered &&
           mono_ms_between(reflector->watch_opened, now) >= SILENT_WATCH_MS;
}

static struct reflector_action clean_end(struct reflector *reflector, struct mono_time now)
{
    if (reflector->skipped_bad && !mono_before(now, reflector->quarantine_until)) {
        reflector->skipped_bad = false;
        return relist(reflector, now, 0);
    }
    int64_t life_ms = mono_ms_between(reflector->watch_opened, now);
    if (reflector->watch_delivered || life_ms >= SHORT_WATCH_MS) {
        reflector->short_watches = 0;
        return wait_then(reflector, REFLECTOR_OPENING, random_between(&reflector->random, 0, 200));
    }
    /* A stale resourceVersion may be answered by an empty stream instead of a 410. */
    if (++reflector->short_watches >= SHORT_WATCHES_BEFORE_RELIST)
        return relist(reflector, now, 0);
    return back_off(reflector, REFLECTOR_OPENING, 0);
}

static struct reflector_action bad_event(struct reflector *reflector, struct mono_time now)
{
    if (++reflector->bad_events < BAD_EVENTS_BEFORE_RELIST)
        return back_off(reflector, REFLECTOR_OPENING, 0);
    reflector->quarantine_until = mono_add_ms(now, QUARANTINE_MS);
    reflector->skipped_bad = false;
    return relist(reflector, now, 0);
}

static struct reflector_action watch_failed(struct reflector *reflector, struct mono_time now,
                                            const struct reflector_failure *failure)
{
    if (failure->bad_event) /* WAT-9 */
        return bad_event(reflector, now);
    if (failure->rewound || suspiciously_silent(reflector, now)) {
        reflector->consistent = true;
        return relist(reflector, now, 0);
    }
    switch (failure->failure) {
    case KUBE_OK:
        return clean_end(reflector, now);
    case KUBE_EXPIRED:
        return relist(reflector, now, failure->retry_after_ms);
    case KUBE_TOO_LARGE_RV:
        reflector->consistent = true;
        return relist(reflector, now, failure->retry_after_ms);
    case KUBE_NOT_FOUND:
    case KUBE_INVALID:
        reflector->consistent = true;
        return back_off(reflector, REFLECTOR_LISTING, failure->retry_after_ms);
    case KUBE_SERVER:
        if (++reflector->server_errors >= SERVER_ERRORS_BEFORE_RELIST)
            return relist(reflector, now, failure->retry_after_ms);
        return back_off(reflector, REFLECTOR_OPENING, failure->retry_after_ms);
    default: /* throttled, away, credentials, transport: the resume point is still good */
        return back_off(reflector, REFLECTOR_OPENING, failure->retry_after_ms);
    }
}

struct reflector_action reflector_failed(struct reflector *reflector, struct mono_time now,
                                         const struct reflector_failure *failure)
{
    if (reflector->state == REFLECTOR_LISTING)
        return list_failed(reflector, now, failure);
    if (reflector->state == REFLECTOR_OPENING)
        reflector->watch_opened = now; /* it never lived */
    if (mono_ms_between(reflector->watch_opened, now) >= HEALTHY_WATCH_MS) {
        backoff_reset(&reflector->backoff);
        backoff_reset(&reflector->relist_backoff);
    }
    return watch_failed(reflector, now, failure);
}
