#pragma once
/* One Event as JSON, in either API group. Pure. */
#include "base/clock.h"
#include "kube/events.h"

#define EVENT_MAX_NOTE_BYTES 1024
#define EVENT_MAX_WORD_BYTES 128 /* reason, action, reporting instance */

enum event_api {
    EVENT_API_NEW,  /* events.k8s.io/v1 */
    EVENT_API_CORE, /* v1 */
};

/* Everything an Event says; strings borrowed. */
struct event_content {
    struct event_regarding regarding;
    bool warning;
    struct str reason;
    struct str action;
    struct str note;
    struct str controller;
    struct str instance;
    struct wall_time time;
    uint64_t suffix; /* makes the name unique (EVT-6) */
};

/* At most `max` bytes, never half a character (EVT-5). */
struct str event_cut(struct str text, size_t max);
/* The same with bytes that are not UTF-8 as '?': what the API server would count and
 * what we count stay the same. */
void event_note(struct strbuf *out, struct str note);

/* "<object>.<hex>", a valid name for any object. */
void event_name(struct strbuf *out, const struct event_content *event);
/* Where the Event lives: the object's namespace or "default". */
struct str event_namespace(const struct event_content *event);
void event_write(struct strbuf *out, const struct event_content *event, enum event_api api);
