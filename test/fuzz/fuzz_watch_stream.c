/* The bytes of a watch, as one chunk, in chunks cut where the input itself says, and byte
 * by byte: the same events each time, the same verdict, and every event keeps the promises
 * of listwatch.h. */
#include "api/pod.h"
#include "kube/backoff.h"
#include "kube/listwatch.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

struct heard {
    struct strbuf text;
};

static bool on_event(void *self, const struct watch_event *event)
{
    struct heard *heard = self;
    bool has_object =
        event->type == WATCH_ADDED || event->type == WATCH_MODIFIED || event->type == WATCH_DELETED;
    check((event->object != NULL) == has_object);
    check((event->status != NULL) == (event->type == WATCH_ERROR));
    check((event->err.kind != ERR_NONE) == (event->type == WATCH_BAD));
    strbuf_addf(&heard->text, "%s ", kube_watch_type_name(event->type));
    strbuf_add(&heard->text, event->rv);
    if (event->object) {
        check(!str_empty(event->rv) && str_eq(event->rv, kube_object_rv(event->object)));
        check(!str_empty(kube_object_name(event->object)));
        strbuf_addc(&heard->text, ' ');
        strbuf_add(&heard->text, kube_object_namespace(event->object));
        strbuf_addc(&heard->text, '/');
        strbuf_add(&heard->text, kube_object_name(event->object));
        kube_object_uid(event->object, &heard->text);
    }
    if (event->status) {
        strbuf_addf(&heard->text, " %lld ", (long long)event->status->code);
        strbuf_add(&heard->text, event->status->reason);
    }
    strbuf_addc(&heard->text, '\n');
    kube_object_unref(event->object);
    return event->type != WATCH_ERROR;
}

/* `most`: longest chunk; below 1: all in one. True when all of it is good and ends between
 * two events: what is wrong inside an unfinished one may show early or late. */
static bool hear(struct str bytes, int64_t most, struct heard *heard)
{
    struct intern *pool = intern_new();
    struct watch_decoder *decoder = watch_decoder_new(&(struct watch_decoder_options){
        .kind = &pod_kind, .pool = pool, .on_event = on_event, .self = heard });
    struct random random = { .state = str_hash(bytes) };
    struct err err = ERR_INIT;
    bool ok = true;
    while (ok && bytes.len > 0) {
        size_t len = most < 1 ? bytes.len : (size_t)random_between(&random, 1, most);
        ok = watch_decoder_feed(decoder, str_slice(bytes, 0, len), &err);
        bytes = str_slice(bytes, len, bytes.len);
    }
    check(ok == (err.kind == ERR_NONE));
    ok = ok && watch_decoder_idle(decoder);
    watch_decoder_free(decoder);
    intern_free(pool); /* asserts that nothing leaked */
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t chunks[] = { 1, 7, 100 };
    struct str bytes = { .ptr = (const char *)data, .len = size };
    struct heard whole = { .text = STRBUF_INIT(SIZE_MAX) };
    bool ok = hear(bytes, 0, &whole);
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++) {
        struct heard cut = { .text = STRBUF_INIT(SIZE_MAX) };
        check(hear(bytes, chunks[i], &cut) == ok);
        check(str_eq(strbuf_str(&cut.text), strbuf_str(&whole.text)));
        strbuf_done(&cut.text);
    }
    strbuf_done(&whole.text);
    return 0;
}
