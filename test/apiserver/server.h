#pragma once
/* The parts of one server, for the files that make it up. */
#include "http/server.h"
#include "test/apiserver/apiserver.h"
#include "test/apiserver/auth.h"
#include "test/apiserver/faults.h"
#include "test/apiserver/listopts.h"
#include "test/apiserver/persist.h"
#include "test/apiserver/rbac.h"
#include "test/apiserver/registry.h"
#include "test/apiserver/requestlog.h"

struct as_request;

struct apiserver {
    struct loop *loop;
    struct http_server *http;
    struct as_store *store;
    struct as_registry *registry;
    struct as_persist *persist; /* NULL: objects do not outlive the process */
    struct as_request_log *log;
    struct as_faults faults;
    struct as_auth auth;
    struct as_rbac *rbac; /* NULL: everything is allowed */
    struct loop_timer waiter_timer;
    struct as_request *requests; /* every one that is not finished */
    size_t waiting;              /* of them, for a resourceVersion of the future */
    bool control;
    bool paused;
    bool stopping;
    enum as_watch_list watch_list;
    size_t watch_backlog_bytes;
    int64_t bookmark_interval_ms;
    int64_t freshness_wait_ms;
    uint64_t random;
};

/* Uniform in [0, bound). */
uint64_t as_random(struct apiserver *server, uint64_t bound);
/* RFC 3339 of the loop's wall time, whole seconds. */
struct str as_now_text(struct apiserver *server, struct arena *arena);
/* 36 characters, version 4. */
struct str as_new_uid(struct apiserver *server, struct arena *arena);
