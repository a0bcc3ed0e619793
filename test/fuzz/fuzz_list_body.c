/* The body of a list, as one chunk, in chunks cut where the input itself says, and byte by
 * byte: the same objects each time and the same verdict. What is accepted can be watched
 * from. */
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

static void on_object(void *self, struct kube_object *object)
{
    struct strbuf *text = self;
    check(!str_empty(kube_object_name(object)));
    strbuf_add(text, kube_object_namespace(object));
    strbuf_addc(text, '/');
    strbuf_add(text, kube_object_name(object));
    strbuf_addc(text, ' ');
    strbuf_add(text, kube_object_rv(object));
    kube_object_uid(object, text);
    strbuf_addc(text, '\n');
    kube_object_unref(object);
}

static void on_bad(void *self, const struct err *err)
{
    struct strbuf *text = self;
    check(err->kind != ERR_NONE);
    strbuf_add(text, STR("bad\n"));
}

/* `most`: longest chunk; below 1: all in one. The list's own figures end up in the text. */
static bool hear(struct str bytes, int64_t most, struct strbuf *text)
{
    struct intern *pool = intern_new();
    struct list_decoder *decoder = list_decoder_new(&(struct list_decoder_options){
        .kind = &pod_kind, .pool = pool, .on_object = on_object, .on_bad = on_bad, .self = text });
    struct random random = { .state = str_hash(bytes) };
    struct err err = ERR_INIT;
    bool ok = true;
    while (ok && bytes.len > 0) {
        size_t len = most < 1 ? bytes.len : (size_t)random_between(&random, 1, most);
        ok = list_decoder_feed(decoder, str_slice(bytes, 0, len), &err);
        bytes = str_slice(bytes, len, bytes.len);
    }
    struct str rv, token;
    ok = ok && list_decoder_finish(decoder, &rv, &token, &err);
    check(ok == (err.kind == ERR_NONE));
    if (ok) {
        check(!str_empty(rv) && !str_eq(rv, STR("0")));
        strbuf_add(text, rv);
        strbuf_addc(text, ' ');
        strbuf_add(text, token);
    }
    list_decoder_free(decoder);
    intern_free(pool); /* asserts that nothing leaked */
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t chunks[] = { 1, 7, 100 };
    struct str bytes = { .ptr = (const char *)data, .len = size };
    struct strbuf whole = STRBUF_INIT(SIZE_MAX);
    bool ok = hear(bytes, 0, &whole);
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++) {
        struct strbuf cut = STRBUF_INIT(SIZE_MAX);
        check(hear(bytes, chunks[i], &cut) == ok);
        check(str_eq(strbuf_str(&cut), strbuf_str(&whole)));
        strbuf_done(&cut);
    }
    strbuf_done(&whole);
    return 0;
}
