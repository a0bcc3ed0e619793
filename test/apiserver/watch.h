#pragma once
/* Watches: streams of changes to one resource, from a resourceVersion on.
 *
 * A watch first sends its initial state (if asked), then catches up from the bucket's
 * window, then is live: every change is rendered once and handed to all live watches.
 * The first two phases go as fast as the peer reads. A live watch whose peer stops
 * reading is ended. */
#include "test/apiserver/request.h"

/* Answers the request with a stream, now or later. */
void as_watch_start(struct as_request *request);

/* An observer of the store; `self` is the server. */
void as_watch_on_change(void *self, struct as_bucket *bucket, const struct as_change *change);

size_t as_watch_count(const struct apiserver *server);
void as_watch_bookmark_all(struct apiserver *server);
void as_watch_resume_all(struct apiserver *server);
/* Ends every watch; `abort` drops the connections, else the streams end properly.
 * `only` NULL: of every resource. */
void as_watch_end_all(struct apiserver *server, bool abort, const struct as_resource *only);
