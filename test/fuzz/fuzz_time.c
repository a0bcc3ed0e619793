/* Durations and times: whatever is accepted survives being written and read again, and
 * every number can be written in a form that is accepted. */
#include "base/duration.h"
#include "base/rfc3339.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void duration_round_trip(int64_t ns)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    int64_t again;
    duration_format(&text, ns);
    check(!text.overflow && duration_parse(strbuf_str(&text), &again, NULL) && again == ns);
}

static void time_round_trip(struct wall_time time)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    struct wall_time again, clamped;
    rfc3339_format_micro(&text, time);
    check(text.len == 27 && rfc3339_parse_micro(strbuf_str(&text), &clamped, NULL));
    check(rfc3339_parse(strbuf_str(&text), &again, NULL) && again.us == clamped.us);

    strbuf_clear(&text);
    rfc3339_format(&text, time);
    check(text.len == 20 && rfc3339_parse(strbuf_str(&text), &again, NULL));
    check(again.us <= clamped.us && clamped.us - again.us < US_PER_S && again.us % US_PER_S == 0);
    check(!rfc3339_parse_micro(strbuf_str(&text), &again, NULL));
}

static void accepted_time_is_kept(struct str text)
{
    struct wall_time time, micro, again;
    struct err err = ERR_INIT;
    bool accepted = rfc3339_parse(text, &time, &err);
    check(accepted == (err.kind == ERR_NONE));
    if (rfc3339_parse_micro(text, &micro, NULL))
        check(accepted && micro.us == time.us);
    if (!accepted)
        return;
    time_round_trip(time);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64);
    rfc3339_format_micro(&out, time);
    check(rfc3339_parse(strbuf_str(&out), &again, NULL) && again.us == time.us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { .ptr = (const char *)data, .len = size };
    int64_t number = 0;
    if (duration_parse(text, &number, NULL))
        duration_round_trip(number);
    accepted_time_is_kept(text);

    number = 0;
    if (size)
        memcpy(&number, data, size < sizeof number ? size : sizeof number);
    duration_round_trip(number);
    time_round_trip((struct wall_time){ .us = number });
    return 0;
}
