#include <inttypes.h>
#include <stdlib.h>

#include "test/apiserver/watch_internal.h"

#define PIECE_BYTES (64 * 1024)
#define AHEAD_BYTES (2 * 1024 * 1024) /* how far the first phases run ahead of the peer */
#define PUMP_MS 2
#define LAST_BOOKMARK_MS 2000 /* before the deadline */

/* ---- life ---- */

static void watch_free(struct as_watch *watch)
{
    if (watch->previous)
        watch->previous->next = watch->next;
    else
        watch->bucket->watches = watch->next;
    if (watch->next)
        watch->next->previous = watch->previous;
    as_snapshot_done(&watch->initial);
    loop_timer_done(&watch->pump);
    loop_timer_done(&watch->clock);
    free(watch);
}

static void on_closed(void *self)
{
    watch_free(self);
}

static void watch_end(struct as_watch *watch)
{
    struct as_request *request = watch->request;
    watch_free(watch);
    as_stream_end(request);
}

static void watch_send(struct as_watch *watch, struct str text)
{
    as_stream_send(watch->request, text);
    if (watch->request->fault.duplicate_events)
        as_stream_send(watch->request, text);
}

static void watch_fail(struct as_watch *watch, const struct api_error *error)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    watch_format_error(&text, error);
    as_stream_send(watch->request, strbuf_str(&text));
    watch_end(watch);
}

static void watch_expire(struct as_watch *watch)
{
    struct api_error error = API_ERROR_INIT;
    (void)api_fail(&error, &watch->request->arena, 410, "too old resource version: %" PRId64 " (%" PRId64 ")",
                   watch->cursor, watch->bucket->floor);
    error.reason = "Expired";
    watch_fail(watch, &error);
}

/* A scripted ERROR event whose turn has come; the watch is gone then. */
static bool watch_fault(struct as_watch *watch)
{
    const struct apiserver_fault *fault = &watch->request->fault;
    if (!fault->error_code.set || watch->events_sent < fault->error_after)
        return false;
    struct api_error error = API_ERROR_INIT;
    (void)api_fail(&error, &watch->request->arena, (int)fault->error_code.value, STR_FMT,
                   STR_ARG(fault->message));
    if (fault->reason.len)
        error.reason = fault->reason.ptr;
    if (fault->retry_after_s.set)
        error.retry_after_s = fault->retry_after_s.value;
    watch_fail(watch, &error);
    return true;
}

/* ---- the first two phases ---- */

/* Adds events until a piece is full. */
static void fill_initial(struct as_watch *watch, struct strbuf *piece)
{
    while (watch->initial_next < watch->initial.count && piece->len < PIECE_BYTES) {
        const struct as_object *object = watch->initial.objects[watch->initial_next++];
        struct watch_event event = { "ADDED", object, object->rv };
        watch_format(piece, &watch->view, &event);
        watch->view.no_columns = true;
        watch->events_sent++;
    }
    if (watch->initial_next < watch->initial.count)
        return;
    as_snapshot_done(&watch->initial);
    watch->initial_next = 0;
    watch->phase = WATCH_CATCH_UP;
    watch->cursor = watch->initial_rv;
    if (watch->mark_end && watch->bookmarks)
        watch_format_bookmark(piece, &watch->view, watch->initial_rv, true);
}

static void fill_catch_up(struct as_watch *watch, struct strbuf *piece)
{
    size_t index = as_bucket_changes_after(watch->bucket, watch->cursor);
    for (; index < watch->bucket->window_count && piece->len < PIECE_BYTES; index++) {
        const struct as_change *change = as_bucket_change(watch->bucket, index);
        struct watch_event event;
        watch->cursor = change->rv;
        if (!watch_event_of(&watch->filter, change, &event))
            continue;
        watch_format(piece, &watch->view, &event);
        watch->view.no_columns = true;
        watch->events_sent++;
    }
    if (index == watch->bucket->window_count)
        watch->phase = WATCH_LIVE;
}

static void watch_pump(void *self)
{
    struct as_watch *watch = self;
    CLEANUP(strbuf_done) struct strbuf piece = STRBUF_INIT(SIZE_MAX);
    while (watch->phase != WATCH_LIVE && !watch->request->server->paused) {
        if (watch_fault(watch))
            return;
        if (as_stream_backlog(watch->request) > AHEAD_BYTES) {
            loop_timer_set(&watch->pump, PUMP_MS);
            return;
        }
        if (watch->phase == WATCH_CATCH_UP && watch->cursor < watch->bucket->floor) {
            watch_expire(watch);
            return;
        }
        strbuf_clear(&piece);
        if (watch->phase == WATCH_INITIAL)
            fill_initial(watch, &piece);
        else
            fill_catch_up(watch, &piece);
        watch_send(watch, strbuf_str(&piece));
    }
    watch_fault(watch);
}

/* ---- live ---- */

/* One change, rendered once for every way of showing it. */
struct frame {
    struct as_view view;
    const char *type;
    struct strbuf text;
};

struct frames {
    struct frame items[8];
    size_t count;
};

static bool same_view(const struct as_view *a, const struct as_view *b)
{
    return a->resource == b->resource && a->media == b->media && a->include == b->include &&
           a->no_columns == b->no_columns;
}

static struct str frame_text(struct frames *frames, const struct as_view *view,
                             const struct watch_event *event)
{
    for (size_t i = 0; i < frames->count; i++)
        if (frames->items[i].type == event->type && same_view(&frames->items[i].view, view))
            return strbuf_str(&frames->items[i].text);
    /* When all places are taken, the last one is used again. */
    struct frame *frame = &frames->items[frames->count];
    if (frames->count == ARRAY_LEN(frames->items))
        strbuf_done(&(--frame)->text);
    else
        frames->count++;
    *frame = (struct frame){ .view = *view, .type = event->type, .text = STRBUF_INIT(SIZE_MAX) };
    watch_format(&frame->text, view, event);
    return strbuf_str(&frame->text);
}

static void frames_done(struct frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        strbuf_done(&frames->items[i].text);
}

static void tell(struct as_watch *watch, const struct as_change *change, struct frames *frames)
{
    struct watch_event event;
    if (watch->phase != WATCH_LIVE || change->rv <= watch->cursor)
        return;
    if (watch->request->server->paused) {
        watch->phase = WATCH_CATCH_UP; /* from the window, once the server goes on */
        return;
    }
    watch->cursor = change->rv;
    if (!watch_event_of(&watch->filter, change, &event))
        return;
    watch->view.now = loop_wall(watch->request->server->loop);
    watch_send(watch, frame_text(frames, &watch->view, &event));
    watch->view.no_columns = true;
    watch->events_sent++;
    if (watch_fault(watch))
        return;
    if (as_stream_backlog(watch->request) > watch->request->server->watch_backlog_bytes)
        watch_end(watch);
}

void as_watch_on_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    CLEANUP(frames_done) struct frames frames = { .count = 0 };
    (void)self;
    for (struct as_watch *watch = bucket->watches, *next; watch; watch = next) {
        next = watch->next;
        tell(watch, change, &frames);
    }
}

static void send_bookmark(struct as_watch *watch)
{
    int64_t rv = as_store_rv(watch->bucket->store);
    const struct as_request *request = watch->request;
    if (!watch->bookmarks || watch->phase != WATCH_LIVE || rv < watch->cursor || request->server->paused ||
        request->fault.drop_bookmarks)
        return;
    watch->cursor = rv;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    watch_format_bookmark(&text, &watch->view, rv, false);
    as_stream_send(watch->request, strbuf_str(&text));
}

/* ---- time ---- */

static void plan_bookmark(struct as_watch *watch, struct mono_time now)
{
    struct mono_time last = mono_add_ms(watch->deadline, -LAST_BOOKMARK_MS);
    struct mono_time next = mono_add_ms(now, watch->request->server->bookmark_interval_ms);
    if (mono_before(last, next))
        next = last;
    watch->next_bookmark = mono_before(now, next) ? next : (struct mono_time){ 0 };
}

static void set_clock(struct as_watch *watch, struct mono_time now)
{
    struct mono_time next = watch->deadline;
    if (watch->next_bookmark.ns && mono_before(watch->next_bookmark, next))
        next = watch->next_bookmark;
    loop_timer_set(&watch->clock, mono_ms_between(now, next) + 1);
}

static void on_clock(void *self)
{
    struct as_watch *watch = self;
    struct mono_time now = loop_mono(watch->request->server->loop);
    if (!mono_before(now, watch->deadline)) {
        watch_end(watch);
        return;
    }
    if (watch->next_bookmark.ns && !mono_before(now, watch->next_bookmark)) {
        send_bookmark(watch);
        plan_bookmark(watch, now);
    }
    set_clock(watch, now);
}

static void start_clock(struct as_watch *watch, struct opt_i64 timeout_s)
{
    struct apiserver *server = watch->request->server;
    struct mono_time now = loop_mono(server->loop);
    int64_t seconds = timeout_s.value;
    if (seconds <= 0)
        seconds = 1800 + (int64_t)as_random(server, 1800);
    watch->deadline = mono_add_ms(now, seconds * 1000);
    plan_bookmark(watch, now);
    set_clock(watch, now);
}

/* ---- start ---- */

static void take_initial(struct as_watch *watch)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct as_snapshot_query query = {
        .rv = as_store_rv(watch->bucket->store),
        .prefix = watch->filter.prefix,
        .matches = as_filter_matches_fn,
        .self = &watch->filter,
    };
    struct str next_key;
    size_t remaining;
    as_snapshot_take(&watch->initial, &arena, watch->bucket, &query, &next_key, &remaining);
    watch->initial_rv = query.rv;
    watch->phase = WATCH_INITIAL;
}

static void link_watch(struct as_watch *watch)
{
    watch->next = watch->bucket->watches;
    if (watch->next)
        watch->next->previous = watch;
    watch->bucket->watches = watch;
}

static void begin(struct as_watch *watch, const struct as_list_options *options)
{
    bool from_state = !options->rv.set || options->rv.value == 0;
    if (options->send_initial_events.set)
        from_state = options->send_initial_events.value;
    watch->bookmarks = options->bookmarks;
    watch->mark_end = options->send_initial_events.set && options->send_initial_events.value;
    watch->phase = WATCH_CATCH_UP;
    watch->cursor = options->rv.value ? options->rv.value : as_store_rv(watch->bucket->store);
    if (from_state)
        take_initial(watch);
    start_clock(watch, options->timeout_s);
    as_stream_start(watch->request, 200,
                    watch->view.media == AS_MEDIA_TABLE ? "application/json;as=Table;v=v1;g=meta.k8s.io"
                                                        : "application/json",
                    on_closed, watch);
    watch_pump(watch);
}

static bool watch_parse(struct as_request *request, struct as_list_options *options, struct as_filter *filter,
                        enum api_include_object *include, struct api_error *error)
{
    struct as_filter_source source = {
        .bucket = request->resource->bucket,
        .aliases = request->resource->aliases,
        .alias_count = request->resource->alias_count,
        .namespace = request->route.namespace,
    };
    if (!as_list_options_parse(&request->arena, &request->params, true, request->server->watch_list, options,
                               error))
        return false;
    if (!api_table_include_parse(as_param(&request->params, "includeObject"), include))
        return api_fail(error, &request->arena, 400, "unknown includeObject");
    source.label_selector = options->label_selector;
    source.field_selector = options->field_selector;
    if (request->route.name.len)
        source.field_selector =
            arena_strf(&request->arena, "metadata.name=" STR_FMT, STR_ARG(request->route.name));
    return as_filter_parse(&request->arena, &source, filter, error);
}

static void start_now(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct as_list_options options;
    struct as_filter filter;
    enum api_include_object include;
    if (!watch_parse(request, &options, &filter, &include, &error)) {
        as_answer_error(request, &error);
        return;
    }
    struct as_watch *watch = mem_zalloc(sizeof *watch);
    watch->request = request;
    watch->bucket = request->resource->bucket;
    watch->filter = filter;
    watch->view = (struct as_view){
        .resource = request->resource,
        .media = request->media,
        .include = include,
        .now = loop_wall(request->server->loop),
    };
    loop_timer_init(&watch->pump, request->server->loop, watch_pump, watch);
    loop_timer_init(&watch->clock, request->server->loop, on_clock, watch);
    link_watch(watch);
    begin(watch, &options);
}

void as_watch_start(struct as_request *request)
{
    struct api_error error = API_ERROR_INIT;
    struct as_list_options options;
    struct as_filter filter;
    enum api_include_object include;
    if (!watch_parse(request, &options, &filter, &include, &error))
        as_answer_error(request, &error);
    else if (options.send_initial_events.value && options.rv.value > as_store_rv(request->server->store))
        as_request_wait(request, options.rv.value, start_now);
    else
        start_now(request);
}

/* ---- all of them ---- */

size_t as_watch_count(const struct apiserver *server)
{
    size_t count = 0;
    for (struct as_bucket *bucket = as_store_first(server->store); bucket; bucket = bucket->next)
        for (struct as_watch *watch = bucket->watches; watch; watch = watch->next)
            count++;
    return count;
}

void as_watch_bookmark_all(struct apiserver *server)
{
    for (struct as_bucket *bucket = as_store_first(server->store); bucket; bucket = bucket->next)
        for (struct as_watch *watch = bucket->watches; watch; watch = watch->next)
            send_bookmark(watch);
}

void as_watch_resume_all(struct apiserver *server)
{
    for (struct as_bucket *bucket = as_store_first(server->store); bucket; bucket = bucket->next)
        for (struct as_watch *watch = bucket->watches, *next; watch; watch = next) {
            next = watch->next;
            watch_pump(watch);
        }
}

void as_watch_end_all(struct apiserver *server, bool abort, const struct as_resource *only)
{
    for (struct as_bucket *bucket = as_store_first(server->store); bucket; bucket = bucket->next)
        for (struct as_watch *watch = bucket->watches, *next; watch; watch = next) {
            next = watch->next;
            if (only && watch->view.resource != only)
                continue;
            if (!abort) {
                watch_end(watch);
                continue;
            }
            struct as_request *request = watch->request;
            watch_free(watch);
            as_stream_abort(request);
        }
}
