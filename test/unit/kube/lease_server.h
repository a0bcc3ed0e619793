#pragma once
/* An API server that knows Leases of one name in two namespaces, and Events: enough to run
 * a leader against over real HTTP, and moody when asked. */
#include "base/arena.h"
#include "base/clock.h"
#include "http/server.h"
#include "json/json.h"

#define LEASE_NS "kube-system"
#define LEASE_FOREIGN_NS "koordinator-system"
#define LEASE_NAME "koordinator-manager"

enum lease_mood {
    MOOD_GOOD,
    MOOD_SILENT,  /* takes the request and never answers */
    MOOD_FAILING, /* 500 */
    MOOD_BUSY,    /* 429 with a long Retry-After */
    MOOD_HTML,    /* 200 with something else */
    MOOD_REFUSING /* 403 */
};

struct lease_slot {
    const char *ns;
    bool exists;
    int64_t rv; /* of the last change, also of its deletion */
    int64_t uid;
    const struct json *spec;
};

#define LEASE_WATCHES 8

struct lease_server {
    struct loop *loop;
    struct http_server *http;
    struct arena arena;
    struct lease_slot slots[2];
    int64_t last_rv, last_uid;
    struct lease_watch {
        struct http_exchange *exchange; /* NULL: free */
        struct lease_slot *slot;
    } watches[LEASE_WATCHES];
    struct http_exchange *unanswered[64];
    size_t unanswered_count;

    enum lease_mood reads;    /* GET of one */
    enum lease_mood writes;   /* POST, PATCH */
    enum lease_mood watching; /* list and watch */
    enum lease_mood foreign;  /* all of the other namespace */

    size_t gets, creates, patches, foreign_gets, events;
    struct str last_body; /* of the last write to a Lease */
    struct str agent;     /* its User-Agent */
    struct str last_event;
};

void lease_server_init(struct lease_server *server, struct loop *loop);
void lease_server_done(struct lease_server *server);

/* The Lease of a namespace; its spec's values. */
struct lease_slot *lease_slot(struct lease_server *server, const char *ns);
struct str lease_slot_text(const struct lease_slot *slot, const char *field); /* empty: absent or null */
int64_t lease_slot_number(const struct lease_slot *slot, const char *field);

/* By another hand: a merge patch of the spec (JSON with ' for "), creating it when absent. */
void lease_server_put(struct lease_server *server, const char *ns, const char *spec);
void lease_server_delete(struct lease_server *server, const char *ns);
