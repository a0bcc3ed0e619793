#pragma once
#include "test/apiserver/media.h"
#include "test/apiserver/snapshot.h"
#include "test/apiserver/watch.h"

enum watch_phase { WATCH_INITIAL, WATCH_CATCH_UP, WATCH_LIVE };

struct as_watch {
    struct as_watch *previous, *next; /* in the bucket */
    struct as_request *request;
    struct as_bucket *bucket;
    struct as_view view;
    struct as_filter filter;
    enum watch_phase phase;

    struct as_snapshot initial;
    size_t initial_next;
    int64_t initial_rv;
    bool mark_end; /* of the initial events, with an annotated bookmark */

    int64_t cursor; /* changes up to here are sent, or were asked to be left out */
    bool bookmarks;
    int64_t events_sent;
    struct loop_timer pump; /* while the peer reads slower than we could send */
    struct loop_timer clock;
    struct mono_time deadline;
    struct mono_time next_bookmark; /* 0: none any more */
};

/* What one watch is told of a change; false: nothing. */
struct watch_event {
    const char *type;
    const struct as_object *object;
    int64_t rv;
};
bool watch_event_of(const struct as_filter *filter, const struct as_change *change, struct watch_event *ret);

/* {"type":"ADDED","object":...}\n */
void watch_format(struct strbuf *out, const struct as_view *view, const struct watch_event *event);
void watch_format_bookmark(struct strbuf *out, const struct as_view *view, int64_t rv,
                           bool initial_events_end);
void watch_format_error(struct strbuf *out, const struct api_error *error);
