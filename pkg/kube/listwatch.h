#pragma once
/* Bytes of a list or a watch into kept objects, one at a time, as they arrive. Pure: no
 * socket, no store. Peak memory is one object, whatever the page size (LST-10). */
#include "api/kind.h"

/* --- list ------------------------------------------------------------------------ */

struct list_decoder;

struct list_decoder_options {
    const struct kube_kind *kind;
    struct intern *pool;
    /* One item; the callee owns the reference. */
    void (*on_object)(void *self, struct kube_object *object);
    /* An item that is no object or has no usable identity; the rest is kept. May be NULL. */
    void (*on_bad)(void *self, const struct err *err);
    void *self;
};

struct list_decoder *list_decoder_new(const struct list_decoder_options *options);
void list_decoder_free(struct list_decoder *decoder);
bool list_decoder_feed(struct list_decoder *decoder, struct str chunk, struct err *err) MUST_CHECK;
/* The body is complete. Fails for anything but a list of this kind with a resourceVersion
 * to watch from (LST-5, LST-7). The texts are valid until the decoder is freed. */
bool list_decoder_finish(struct list_decoder *decoder, struct str *ret_rv, struct str *ret_continue,
                         struct err *err) MUST_CHECK;

/* --- watch ----------------------------------------------------------------------- */

enum watch_event_type {
    WATCH_ADDED,
    WATCH_MODIFIED,
    WATCH_DELETED,
    WATCH_BOOKMARK,
    WATCH_ERROR,
    WATCH_UNKNOWN, /* a type we do not know: counted, skipped (WAT-6) */
    WATCH_BAD,     /* no usable identity: the resume point must not pass it (WAT-9) */
};

const char *kube_watch_type_name(enum watch_event_type type);

struct watch_event {
    enum watch_event_type type;
    struct kube_object *object;      /* ADDED, MODIFIED, DELETED: the callee owns the reference */
    struct str rv;                   /* of the object or bookmark; borrowed */
    const struct api_status *status; /* ERROR */
    struct err err;                  /* BAD: why */
};

struct watch_decoder;

struct watch_decoder_options {
    const struct kube_kind *kind;
    struct intern *pool;
    bool (*on_event)(void *self, const struct watch_event *event); /* false: stop, feed then fails */
    void *self;
};

struct watch_decoder *watch_decoder_new(const struct watch_decoder_options *options);
void watch_decoder_free(struct watch_decoder *decoder);
/* False on bytes that are no watch stream; events before them were delivered. */
bool watch_decoder_feed(struct watch_decoder *decoder, struct str chunk, struct err *err) MUST_CHECK;
/* True when the stream ended between two events. */
bool watch_decoder_idle(const struct watch_decoder *decoder);
