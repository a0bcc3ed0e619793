#pragma once
/* Turns events into a line: `{ 'a' n1 [ t f z "x" ] }`. With `fail_at` set it refuses
 * that event, counted from 1. */
#include "base/strbuf.h"
#include "json/event.h"

struct recorder {
    struct strbuf out;
    size_t events;
    size_t fail_at;
};

#define RECORDER_INIT ((struct recorder){ .out = STRBUF_INIT(64u << 20) })

static inline bool recorder_event(void *self, const struct json_event *event, struct err *err)
{
    struct recorder *recorder = self;
    if (++recorder->events == recorder->fail_at)
        return err_set(err, ERR_TRANSIENT, "refused");
    struct strbuf *out = &recorder->out;
    if (out->len > 0)
        strbuf_addc(out, ' ');
    switch (event->type) {
    case JSON_EV_NULL:
        strbuf_addc(out, 'z');
        break;
    case JSON_EV_BOOL:
        strbuf_addc(out, event->boolean ? 't' : 'f');
        break;
    case JSON_EV_NUMBER:
        strbuf_addc(out, 'n');
        strbuf_add(out, event->text);
        break;
    case JSON_EV_STRING:
        strbuf_addc(out, '"');
        strbuf_add(out, event->text);
        strbuf_addc(out, '"');
        break;
    case JSON_EV_KEY:
        strbuf_addc(out, '\'');
        strbuf_add(out, event->text);
        strbuf_addc(out, '\'');
        break;
    case JSON_EV_OBJECT_START:
        strbuf_addc(out, '{');
        break;
    case JSON_EV_OBJECT_END:
        strbuf_addc(out, '}');
        break;
    case JSON_EV_ARRAY_START:
        strbuf_addc(out, '[');
        break;
    case JSON_EV_ARRAY_END:
        strbuf_addc(out, ']');
        break;
    }
    return true;
}

static inline struct json_sink recorder_sink(struct recorder *recorder)
{
    return (struct json_sink){ .event = recorder_event, .self = recorder };
}
