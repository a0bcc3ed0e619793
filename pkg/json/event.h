#pragma once
/* JSON as a stream of events: the seam between what produces JSON (yajl, libyaml, a
 * tree being walked) and what consumes it (the tree builder, the table decoder).
 *
 * A number arrives as its text, so nothing is rounded on the way. Texts are borrowed
 * and valid during the call only. */
#include "base/err.h"
#include "base/str.h"

enum json_event_type {
    JSON_EV_NULL,
    JSON_EV_BOOL,
    JSON_EV_NUMBER,
    JSON_EV_STRING,
    JSON_EV_OBJECT_START,
    JSON_EV_KEY,
    JSON_EV_OBJECT_END,
    JSON_EV_ARRAY_START,
    JSON_EV_ARRAY_END,
};

struct json_event {
    enum json_event_type type;
    bool boolean;    /* JSON_EV_BOOL */
    struct str text; /* JSON_EV_NUMBER, _STRING, _KEY */
};

/* Returning false ends the production; the error travels to whoever feeds. */
struct json_sink {
    bool (*event)(void *self, const struct json_event *event, struct err *err);
    void *self;
};
