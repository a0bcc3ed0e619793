#pragma once
/* A small Kubernetes API server for tests, demos and trying things out: real HTTP, real
 * resourceVersions, real watches, and trouble on request. In a test it shares the loop
 * of whatever it serves:
 *
 *     struct apiserver_options options = APISERVER_OPTIONS_INIT;
 *     struct apiserver *server = apiserver_new(loop, &options, &err);
 *     apiserver_put(server, STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\",...}"), &err);
 *     ... a client at 127.0.0.1:apiserver_port(server) ...
 *     apiserver_free(server);
 *
 * It knows nothing of our client code, so it cannot share its mistakes. Everything is
 * called from the loop's thread; answers leave from the loop. */
#include "json/json.h"
#include "loop/loop.h"

struct apiserver;

enum apiserver_watch_list {
    APISERVER_WATCH_LIST_ON,
    APISERVER_WATCH_LIST_OFF,    /* sendInitialEvents is refused with 422 */
    APISERVER_WATCH_LIST_IGNORE, /* sendInitialEvents is not understood */
};

/* Strings are borrowed during apiserver_new only. */
struct apiserver_options {
    const char *address;     /* NULL: "127.0.0.1:0" */
    const char *data_dir;    /* NULL: nothing outlives the process */
    const char *crds_dir;    /* NULL: none; *.yaml and *.json are loaded in order of name */
    const char *request_log; /* NULL: none; JSON lines */
    const char *token_file;  /* NULL: anybody may come in; lines of token,user,uid,"group,group" */
    struct str tls_cert_pem; /* empty: plain HTTP */
    struct str tls_key_pem;
    struct str client_ca_pem; /* verified client certificates name the user by their CN */
    bool rbac;                /* enforce stored Roles and bindings */
    bool control;             /* serve /-/control */
    enum apiserver_watch_list watch_list;
    size_t window;                /* changes remembered per resource; 0: 4096 */
    size_t watch_backlog_bytes;   /* a watcher further behind is dropped; 0: 16 MiB */
    int64_t bookmark_interval_ms; /* 0: 60 s */
    int64_t freshness_wait_ms;    /* for a resourceVersion of the future; 0: 3 s */
    uint64_t seed;                /* of names and watch deadlines; 0: from the clock */
};

#define APISERVER_OPTIONS_INIT ((struct apiserver_options){ 0 })

/* Listening when it returns; NULL with err. The loop must outlive it. */
struct apiserver *apiserver_new(struct loop *loop, const struct apiserver_options *options, struct err *err);
void apiserver_free(struct apiserver *server); /* NULL is fine */
int apiserver_port(const struct apiserver *server);

/* Objects past HTTP: no authorization, no conflicts; status is kept. apiserver_load takes
 * YAML or JSON, several documents, Lists; put one JSON object. Existing objects are
 * replaced, unless they are that already; load_missing leaves them alone. Watchers hear
 * of it. */
bool apiserver_put(struct apiserver *server, struct str json, struct err *err) MUST_CHECK;
bool apiserver_load(struct apiserver *server, struct str manifests, struct err *err) MUST_CHECK;
bool apiserver_load_missing(struct apiserver *server, struct str manifests, struct err *err) MUST_CHECK;

/* One object, named as in a URL: resource "pods" or "nodemetrics.slo.koordinator.sh". */
struct apiserver_ref {
    struct str resource;
    struct str namespace; /* empty: cluster-scoped */
    struct str name;
};
/* The whole object in the arena, or NULL. */
const struct json *apiserver_get(struct apiserver *server, const struct apiserver_ref *ref,
                                 struct arena *arena);
bool apiserver_delete(struct apiserver *server, const struct apiserver_ref *ref);
/* Every object of a resource, in list order. */
size_t apiserver_list(struct apiserver *server, struct str resource, struct arena *arena,
                      const struct json ***ret);

int64_t apiserver_resource_version(const struct apiserver *server);
size_t apiserver_watch_count(const struct apiserver *server);

/* Trouble. */
void apiserver_compact(struct apiserver *server);     /* older versions and tokens get 410 */
void apiserver_cut_watches(struct apiserver *server); /* drops every watch connection */
void apiserver_end_watches(struct apiserver *server); /* ends every watch properly */
void apiserver_bookmark(struct apiserver *server);    /* sends one now to whoever asked for them */
void apiserver_pause(struct apiserver *server);       /* accepts, but answers and sends nothing */
void apiserver_resume(struct apiserver *server);

/* One scripted fault. A request is matched by method and path, then `skip` matching
 * requests pass, then `count` are hit. {0} in an effect means none. Strings are copied. */
struct apiserver_fault {
    struct str method; /* empty: any */
    struct str path;   /* extended regular expression over "path?query"; empty: any */
    int64_t skip;
    int64_t count; /* 0: 1; -1: until cleared */

    int64_t delay_ms;    /* before anything else */
    bool hang;           /* never answer */
    struct opt_i64 code; /* answer this without executing; 0: drop the connection */
    struct str reason;   /* of the Status; empty: the usual one */
    struct str message;
    bool no_status; /* with code: `body` as it is instead of a Status */
    struct opt_i64 retry_after_s;
    struct str content_type; /* of the answer, also of one that was executed */
    struct str body;

    /* On the bytes of an answer that was executed. */
    struct opt_i64 cut_after;   /* bytes of body, then the connection is dropped; 0: before the header */
    struct opt_i64 stall_after; /* bytes of body, then silence */
    int64_t dribble_bytes;      /* that many at a time ... */
    int64_t dribble_interval_ms;

    /* On the events of a watch. */
    struct opt_i64 error_code; /* an ERROR event with this code ... */
    int64_t error_after;       /* ... after so many events */
    bool drop_bookmarks;
    bool duplicate_events;
};

int64_t apiserver_fault(struct apiserver *server, const struct apiserver_fault *fault, struct err *err);
void apiserver_clear_faults(struct apiserver *server);

/* What was asked, oldest first; the last 100,000 are kept. */
struct apiserver_request {
    int64_t id; /* counts from 1 */
    struct wall_time time;
    struct str method, path, query, user, user_agent, content_type;
    struct str body; /* of writes, at most 64 KiB */
    int code;        /* 0: not answered (yet), or dropped before the header */
    int64_t bytes;   /* of body sent so far */
    bool is_done;
};

size_t apiserver_request_count(const struct apiserver *server);
/* Borrowed until the next request. Index from 0; clamped ones give NULL. */
const struct apiserver_request *apiserver_request_at(const struct apiserver *server, size_t index);
void apiserver_clear_requests(struct apiserver *server);
