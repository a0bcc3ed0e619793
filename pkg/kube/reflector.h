#pragma once
/* The list-watch state machine of one kind: pure. It is told what happened and answers
 * what to do next; the informer does it.
 *
 *     start ──▶ LISTING ──last page──▶ (swap) OPENING ──200──▶ WATCHING
 *                  ▲  ▲                   ▲  │ ended, transport      │
 *                  │  └── 410 ────────────┼──┼───────────────────────┤
 *               WAITING ◀── backoff ──────┴──┴───────────────────────┘
 *
 * The resume point is a resourceVersion that only a finished list, an accepted event or
 * a bookmark moves (REF-5). Rule ids in the .c file say which rule each line serves. */
#include "api/object.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/backoff.h"
#include "kube/request.h"

enum reflector_state {
    REFLECTOR_IDLE,
    REFLECTOR_LISTING,
    REFLECTOR_OPENING, /* watch sent, no answer yet */
    REFLECTOR_WATCHING,
    REFLECTOR_WAITING, /* backoff; a timer leads on */
};
const char *reflector_state_name(enum reflector_state state);

enum reflector_do {
    REFLECTOR_DO_NOTHING,
    REFLECTOR_DO_LIST,  /* send action.list; on a first page forget what was collected before */
    REFLECTOR_DO_WATCH, /* send action.watch */
    REFLECTOR_DO_WAIT,  /* call reflector_timer after action.wait_ms */
};

struct reflector_action {
    enum reflector_do what;
    bool swap;       /* first: install the collected list */
    bool first_page; /* DO_LIST: begin a new collection */
    int64_t wait_ms;
};

struct reflector_options {
    int64_t page_size; /* 0: 500 */
    uint64_t seed;
};

struct reflector {
    enum reflector_state state;
    enum reflector_state after_wait; /* LISTING or OPENING */
    struct random random;
    struct backoff backoff;
    struct backoff relist_backoff; /* REF-3: relists of one kind keep their distance */
    int64_t page_size;
    struct strbuf rv;      /* resume point; empty: none */
    struct strbuf list_rv; /* of the first page of the list under way */
    struct strbuf continue_token;
    bool consistent;    /* next list asks for the most recent state, whatever we have seen */
    bool unpaged;       /* LST-8: the paged chain expired twice */
    bool synced;        /* latch: a list was installed once */
    bool confirm_empty; /* REF-10: an empty answer awaits its second opinion */
    int expired_chains;
    int short_watches;
    int bad_events;    /* decode failures at this resume point (WAT-9) */
    int server_errors; /* consecutive 500 at this resume point */
    bool skipped_bad;  /* during the quarantine */
    struct mono_time quarantine_until;
    struct mono_time last_list;
    struct mono_time watch_opened;
    bool watch_delivered;
    bool bookmarks_seen; /* this server sends them */
    /* counted, for metrics */
    uint64_t lists, relists, watches;
};

void reflector_init(struct reflector *reflector, const struct reflector_options *options);
void reflector_done(struct reflector *reflector);

/* Fills what the request of a DO_LIST or DO_WATCH needs beyond kind and namespace; texts
 * are borrowed from the reflector. */
void reflector_fill_request(struct reflector *reflector, struct kube_request *request);

struct reflector_action reflector_start(struct reflector *reflector, struct mono_time now);
struct reflector_action reflector_timer(struct reflector *reflector, struct mono_time now);

/* A complete page; `known` is the number of objects in the store, `collected` the number
 * in the collection so far. */
struct reflector_action reflector_page(struct reflector *reflector, struct str list_rv,
                                       struct str continue_token, size_t known, size_t collected);

void reflector_opened(struct reflector *reflector, struct mono_time now);
/* An event or a bookmark was accepted; its resourceVersion becomes the resume point unless
 * it is older than that. False: the stream went backwards (REF-6): cut it and report
 * reflector_failed(rewound). */
bool reflector_event(struct reflector *reflector, struct mono_time now, struct str rv, bool bookmark);
/* An event without usable identity came. True: skip it, a relist has lately passed over such
 * a one and the stream is worth more. False: cut it and report reflector_failed(bad_event). */
bool reflector_skip_bad(struct reflector *reflector, struct mono_time now);

/* Why a request or stream is over. */
struct reflector_failure {
    enum kube_failure failure; /* KUBE_OK: the stream ended cleanly */
    int64_t retry_after_ms;    /* -1: none */
    bool bad_event;            /* a watch event could not be decoded or kept */
    bool rewound;
};
struct reflector_action reflector_failed(struct reflector *reflector, struct mono_time now,
                                         const struct reflector_failure *failure);
