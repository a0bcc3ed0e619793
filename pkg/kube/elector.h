#pragma once
/* Leader election on one Lease as a pure state machine (LE rules). It is told what was
 * seen and answered, and says what to send next; nothing here knows a socket or a clock.
 *
 * Expiry never compares a time written by somebody else with our clock: a standby waits
 * a full duration of *its own* observation without change. Our own validity counts from
 * when the successful request was *sent* and ends before anybody else may take over, so
 * elector_may_write is a fence on our own clock (LE-2). Leadership that was lost is not
 * won back: the process ends (LE-3). */
#include "api/lease.h"
#include "base/clock.h"
#include "kube/backoff.h"
#include "kube/request.h"

struct elector_options {
    struct str identity; /* unique per process start; borrowed for the elector's life */
    int64_t lease_ms;    /* 15000; whole seconds */
    int64_t renew_ms;    /* 10000 */
    int64_t retry_ms;    /* 2000 */
    uint64_t seed;
};
/* lease > renew > 1.2 * retry > 0, lease whole seconds from 1 s to 1 h (4.2, LE-10: nobody
 * grants a longer one). */
bool elector_options_check(const struct elector_options *options, struct err *err) MUST_CHECK;

enum elector_state {
    ELECTOR_STANDBY,
    ELECTOR_LEADER,
    ELECTOR_LOST,     /* was leader; final */
    ELECTOR_RELEASED, /* gave it back; final */
};

enum elector_do {
    ELECTOR_WAIT, /* ask again after wait_ms, or when something was seen; -1: only then */
    ELECTOR_GET,
    ELECTOR_CREATE, /* body from elector_write_record */
    ELECTOR_UPDATE, /* merge patch that names uid and resourceVersion: keeps what others wrote beside us */
};

struct elector_action {
    enum elector_do what;
    int64_t wait_ms;
};

struct elector {
    struct elector_options options;
    enum elector_state state;
    struct random random;
    bool seen; /* the Lease, or its absence, was observed at least once */
    bool exists;
    bool stale;      /* what we know was contradicted: GET before anything else */
    bool fresh_view; /* the watch is up: no need to poll */

    /* The observed record. `held` and what belongs to time outlive its deletion: a holder
     * whose Lease was deleted under it goes on for as long as it may (LE-9). */
    bool held;
    struct strbuf holder; /* empty also when too long to keep, which is not ours then */
    struct strbuf rv;
    struct strbuf uid;
    struct strbuf preferred;
    int64_t record_ms; /* its duration, clamped to [1 s, 1 h] (LE-10) */
    int64_t transitions;
    struct opt_time acquired;
    struct mono_time changed; /* when the record was last seen to change */

    struct mono_time next_try;  /* nothing is sent before */
    struct mono_time good_sent; /* when the last successful write was sent */
    bool in_flight;
    bool news; /* something was observed while the request was under way */
    enum elector_do sent;
    struct mono_time sent_at;
    bool releasing; /* elector_release was called */
    bool giving;    /* the write under way gives the Lease back */
};

void elector_init(struct elector *elector, const struct elector_options *options);
void elector_done(struct elector *elector);

/* What to do now; after anything but ELECTOR_WAIT, elector_answered must follow. */
struct elector_action elector_next(struct elector *elector, struct mono_time now);

/* The Lease as a watch or a GET showed it; NULL: it does not exist. */
void elector_observed(struct elector *elector, const struct lease *lease, struct mono_time now);
/* Whether changes arrive by themselves; without that a standby polls. */
void elector_watching(struct elector *elector, bool watching);

/* The answer to what was sent. `lease` is the answered object, NULL without one; a success
 * that cannot be read proves nothing. */
void elector_answered(struct elector *elector, enum kube_failure failure, const struct lease *lease,
                      struct mono_time now);

/* The fence: true only while nobody else can hold the Lease by our own clock, and we have
 * not begun to give it back. */
bool elector_may_write(const struct elector *elector, struct mono_time now);
/* Milliseconds until nobody may rely on our holding the Lease any more; 0 when we do not. */
int64_t elector_margin_ms(const struct elector *elector, struct mono_time now);

/* Everything stopped: give the Lease back if the server still says it is ours (LE-7).
 * elector_next then leads to ELECTOR_RELEASED or ELECTOR_LOST. */
void elector_release(struct elector *elector);
/* No more of this: a leader has lost, others are out of the race. What is under way may
 * still be answered. */
void elector_give_up(struct elector *elector);

/* The body of a CREATE or UPDATE for what elector_next just asked. */
void elector_write_record(const struct elector *elector, struct str ns, struct str name, struct wall_time now,
                          struct strbuf *out);
