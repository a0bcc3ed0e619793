#include "core_support.h"
#include "api/node.h"
#include "kube/listwatch.h"

/* --- recording --------------------------------------------------------------------- */

/* What a decoder said, as text: one line per object or event. */
struct heard {
    struct core core;
    struct strbuf text;
    size_t objects, bad;
    int stop_after; /* events; 0: never */
    int events;
    struct err err;
};

static void heard_init(struct heard *heard)
{
    *heard = (struct heard){ .core = { .pool = intern_new() }, .text = STRBUF_INIT(1024 * 1024) };
}

static void heard_done(struct heard *heard)
{
    strbuf_done(&heard->text);
    intern_free(heard->core.pool);
}

static void write_object(struct heard *heard, const struct kube_object *object)
{
    const struct thing *thing = thing_of(object);
    strbuf_addf(&heard->text, STR_FMT "/" STR_FMT " uid=", STR_ARG(kube_object_namespace(object)),
                STR_ARG(kube_object_name(object)));
    kube_object_uid(object, &heard->text);
    strbuf_addf(&heard->text, " rv=" STR_FMT " group=" STR_FMT " value=%lld\n",
                STR_ARG(kube_object_rv(object)), STR_ARG(istr_str(thing->group)), (long long)thing->value);
}

static void on_object(void *self, struct kube_object *object)
{
    struct heard *heard = self;
    heard->objects++;
    if (object->kind == &thing_kind)
        write_object(heard, object);
    kube_object_unref(object);
}

static void on_bad(void *self, const struct err *err)
{
    struct heard *heard = self;
    assert_int_equal(err->kind, ERR_INVALID);
    assert_true(strlen(err->text) > 0);
    heard->bad++;
}

static bool on_event(void *self, const struct watch_event *event)
{
    struct heard *heard = self;
    bool has_object =
        event->type == WATCH_ADDED || event->type == WATCH_MODIFIED || event->type == WATCH_DELETED;
    assert_int_equal(event->object != NULL, has_object);
    assert_int_equal(event->status != NULL, event->type == WATCH_ERROR);
    assert_int_equal(event->err.kind != ERR_NONE, event->type == WATCH_BAD);
    strbuf_addf(&heard->text, "%s rv=" STR_FMT " ", kube_watch_type_name(event->type), STR_ARG(event->rv));
    if (event->object)
        write_object(heard, event->object);
    else if (event->status)
        strbuf_addf(&heard->text, "%lld " STR_FMT " " STR_FMT "\n", (long long)event->status->code,
                    STR_ARG(event->status->reason), STR_ARG(event->status->message));
    else
        strbuf_addc(&heard->text, '\n');
    kube_object_unref(event->object);
    return ++heard->events != heard->stop_after;
}

/* --- list -------------------------------------------------------------------------- */

static struct list_decoder *list_new(struct heard *heard, const struct kube_kind *kind)
{
    return list_decoder_new(&(struct list_decoder_options){
        .kind = kind, .pool = heard->core.pool, .on_object = on_object, .on_bad = on_bad, .self = heard });
}

/* Feeds the body in pieces of `step` bytes. */
static bool list(struct heard *heard, struct str body, size_t step, char *rv, char *token)
{
    struct list_decoder *decoder = list_new(heard, &thing_kind);
    bool ok = true;
    for (size_t at = 0; ok && at < body.len; at += step)
        ok = list_decoder_feed(decoder, str_slice(body, at, step), &heard->err);
    struct str got_rv, got_token;
    ok = ok && list_decoder_finish(decoder, &got_rv, &got_token, &heard->err);
    if (ok) {
        snprintf(rv, 64, STR_FMT, STR_ARG(got_rv));
        snprintf(token, 64, STR_FMT, STR_ARG(got_token));
    }
    list_decoder_free(decoder);
    return ok;
}

struct list_row {
    const char *name;
    const char *body;
    const char *rv;    /* NULL: the list is refused */
    const char *token; /* NULL: none */
    const char *objects;
    size_t bad;
};

#define LIST(meta_, items_)                                                                                  \
    "{\"kind\":\"ThingList\",\"apiVersion\":\"test.example/v1\",\"metadata\":{" meta_ "},\"items\":" items_  \
    "}"
#define RV5 "\"resourceVersion\":\"5\""
#define ITEM(name_, rv_) "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name_ "\",\"uid\":\"u\"," rv_ "}}"
#define LINE_A "n/a uid=u rv=1 group= value=0\n"
#define RV1 "\"resourceVersion\":\"1\""

static const struct list_row list_rows[] = {
    { "as the API server writes it", LIST(RV5, "[" ITEM("a", RV1) "]"), "5", NULL, LINE_A, 0 },
    { "lst_5 the list's own resourceVersion counts",
      LIST(RV5, "[" ITEM("a", "\"resourceVersion\":\"9\"") "]"), "5", NULL, "n/a uid=u rv=9 group= value=0\n",
      0 },
    { "lst_3 an empty page with a token", LIST(RV5 ",\"continue\":\"t+/=\"", "[]"), "5", "t+/=", "", 0 },
    { "lst_3 an empty token ends", LIST(RV5 ",\"continue\":\"\"", "[]"), "5", NULL, "", 0 },
    { "t_42 remainingItemCount is not believed",
      LIST(RV5 ",\"remainingItemCount\":-7", "[" ITEM("a", RV1) "]"), "5", NULL, LINE_A, 0 },
    { "t_09_lst_4 items null", LIST(RV5, "null"), "5", NULL, "", 0 },
    { "t_09_lst_4 items absent", "{\"kind\":\"ThingList\",\"metadata\":{" RV5 "}}", "5", NULL, "", 0 },
    { "t_09_lst_4 items empty", LIST(RV5, "[]"), "5", NULL, "", 0 },
    { "items that are an object are refused", LIST(RV5, "{}"), NULL, NULL, "", 0 },
    { "items that are a text are refused", LIST(RV5, "\"none\""), NULL, NULL, "", 0 },
    { "t_09 an item that is null is passed over", LIST(RV5, "[null," ITEM("a", RV1) "]"), "5", NULL, LINE_A,
      0 },
    { "t_09 an item that is no object is counted", LIST(RV5, "[7,\"x\",[]," ITEM("a", RV1) "]"), "5", NULL,
      LINE_A, 3 },
    { "t_09 an item without metadata is counted", LIST(RV5, "[{}," ITEM("a", RV1) "]"), "5", NULL, LINE_A,
      1 },
    { "t_09 an item with metadata of a wrong type is counted",
      LIST(RV5, "[{\"metadata\":[]}," ITEM("a", RV1) "]"), "5", NULL, LINE_A, 1 },
    { "t_09 an item whose name is a number is counted",
      LIST(RV5, "[{\"metadata\":{\"name\":5}}," ITEM("a", RV1) "]"), "5", NULL, LINE_A, 1 },
    { "t_09 a resourceVersion of a wrong type is counted",
      LIST(RV5, "[" ITEM("b", "\"resourceVersion\":5") "," ITEM("a", RV1) "]"), "5", NULL, LINE_A, 1 },
    { "t_09 an item with an impossible name is counted",
      LIST(RV5, "[" ITEM("x/y", RV1) "," ITEM("a", RV1) "]"), "5", NULL, LINE_A, 1 },
    { "t_09 an item without uid and resourceVersion is kept", LIST(RV5, "[{\"metadata\":{\"name\":\"a\"}}]"),
      "5", NULL, "/a uid= rv= group= value=0\n", 0 },
    { "an odd value in the spec is absent, not a bad item",
      LIST(RV5, "[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"group\":7,\"value\":\"x\"}}]"), "5", NULL,
      "/a uid= rv= group= value=0\n", 0 },
    { "items may come before metadata",
      "{\"items\":[" ITEM("a", RV1) "],\"metadata\":{" RV5 "},\"kind\":\"ThingList\"}", "5", NULL, LINE_A,
      0 },
    { "lst_6 items need no kind", LIST(RV5, "[{\"metadata\":{\"name\":\"a\"}}]"), "5", NULL,
      "/a uid= rv= group= value=0\n", 0 },
    { "lst_5 no resourceVersion is an error", LIST("", "[]"), NULL, NULL, "", 0 },
    { "lst_5 an empty resourceVersion is an error", LIST("\"resourceVersion\":\"\"", "[]"), NULL, NULL, "",
      0 },
    { "lst_5 resourceVersion 0 is nothing to watch from", LIST("\"resourceVersion\":\"0\"", "[]"), NULL, NULL,
      "", 0 },
    { "lst_5 a resourceVersion of a wrong type is an error", LIST("\"resourceVersion\":5", "[]"), NULL, NULL,
      "", 0 },
    { "a token of a wrong type is an error", LIST(RV5 ",\"continue\":7", "[]"), NULL, NULL, "", 0 },
    { "no metadata is an error", "{\"kind\":\"ThingList\",\"items\":[]}", NULL, NULL, "", 0 },
    { "t_12_lst_7 a Table is refused",
      "{\"kind\":\"Table\",\"metadata\":{" RV5 "},\"columnDefinitions\":[],\"rows\":[]}", NULL, NULL, "", 0 },
    { "a list of another kind is refused", "{\"kind\":\"NodeList\",\"metadata\":{" RV5 "},\"items\":[]}",
      NULL, NULL, "", 0 },
    { "one object is no list", "{\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"," RV5 "}}", NULL, NULL, "",
      0 },
    { "err_4 a Status is no list",
      "{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Failure\",\"code\":410}", NULL, NULL, "", 0 },
    { "a list without kind is refused", "{\"metadata\":{" RV5 "},\"items\":[]}", NULL, NULL, "", 0 },
    { "t_12 an empty answer is refused", "", NULL, NULL, "", 0 },
    { "t_12 HTML is refused", "<html><body>log in</body></html>", NULL, NULL, "", 0 },
    { "null is no list", "null", NULL, NULL, "", 0 },
    { "an array is no list", "[]", NULL, NULL, "", 0 },
    { "t_07 a list cut short is refused", "{\"kind\":\"ThingList\",\"metadata\":{" RV5 "},\"items\":[", NULL,
      NULL, "", 0 },
    { "text after the list is refused", LIST(RV5, "[]") "{}", NULL, NULL, "", 0 },
};

static void list__row(void **state)
{
    const struct list_row *row = *state;
    struct str body = str_c(row->body);
    for (size_t step = 1; step <= body.len + 1; step += step < 8 ? 1 : 13) {
        struct heard heard;
        heard_init(&heard);
        char rv[64] = "", token[64] = "";
        bool ok = list(&heard, body, step, rv, token);
        if (ok != (row->rv != NULL))
            fail_msg("step %zu: %s", step, heard.err.text);
        if (ok) {
            assert_string_equal(rv, row->rv);
            assert_string_equal(token, row->token ? row->token : "");
            assert_str(strbuf_str(&heard.text), row->objects);
            assert_int_equal(heard.bad, row->bad);
        } else {
            assert_true(heard.err.kind == ERR_INVALID || heard.err.kind == ERR_TRANSIENT);
        }
        heard_done(&heard);
    }
}

static void a_list_without_ear_for_bad_items_is_fine(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct list_decoder *decoder = list_decoder_new(&(struct list_decoder_options){
        .kind = &thing_kind, .pool = heard.core.pool, .on_object = on_object, .self = &heard });
    struct str rv, token;
    assert_true(list_decoder_feed(decoder, STR(LIST(RV5, "[7,{}," ITEM("a", RV1) "]")), &heard.err));
    assert_true(list_decoder_finish(decoder, &rv, &token, &heard.err));
    assert_int_equal(heard.objects, 1);
    list_decoder_free(decoder);
    heard_done(&heard);
}

static void lst_10_items_of_a_long_list_come_one_by_one(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct list_decoder *decoder = list_new(&heard, &node_kind);
    struct str rv, token;
    struct strbuf item = STRBUF_INIT(64 * 1024);
    assert_true(list_decoder_feed(decoder, STR("{\"kind\":\"NodeList\",\"metadata\":{" RV5 "},\"items\":[{}"),
                                  &heard.err));
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(heard.objects, i);
        strbuf_clear(&item);
        strbuf_addf(&item, ",{\"metadata\":{\"name\":\"node-%zu\"},\"x\":\"%025000d\"}", i, 0);
        assert_true(list_decoder_feed(decoder, strbuf_str(&item), &heard.err));
    }
    assert_true(list_decoder_feed(decoder, STR("]}"), &heard.err));
    assert_true(list_decoder_finish(decoder, &rv, &token, &heard.err));
    assert_int_equal(heard.objects, 1000);
    strbuf_done(&item);
    list_decoder_free(decoder);
    heard_done(&heard);
}

static void an_item_that_never_ends_is_refused(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct list_decoder *decoder = list_new(&heard, &thing_kind);
    assert_true(list_decoder_feed(
        decoder, STR("{\"kind\":\"ThingList\",\"items\":[{\"metadata\":{\"name\":\"a\"},\"x\":["),
        &heard.err));
    char *chunk = mem_alloc(1024 * 1024);
    memset(chunk, 'x', 1024 * 1024);
    chunk[0] = chunk[1024 * 1024 - 2] = '"';
    chunk[1024 * 1024 - 1] = ',';
    bool ok = true;
    int fed = 0;
    for (; ok && fed < 100; fed++)
        ok = list_decoder_feed(decoder, (struct str){ chunk, 1024 * 1024 }, &heard.err);
    assert_false(ok);
    assert_between(fed, 60, 66);
    free(chunk);
    list_decoder_free(decoder);
    heard_done(&heard);
}

/* --- watch ------------------------------------------------------------------------- */

static struct watch_decoder *watch_new(struct heard *heard)
{
    return watch_decoder_new(&(struct watch_decoder_options){
        .kind = &thing_kind, .pool = heard->core.pool, .on_event = on_event, .self = heard });
}

/* Feeds in pieces cut at `cut`, then every `step` bytes. */
static bool watch_cut(struct heard *heard, struct str bytes, size_t cut, size_t step, bool *idle)
{
    struct watch_decoder *decoder = watch_new(heard);
    bool ok = watch_decoder_feed(decoder, str_slice(bytes, 0, cut), &heard->err);
    for (size_t at = cut; ok && at < bytes.len; at += step)
        ok = watch_decoder_feed(decoder, str_slice(bytes, at, step), &heard->err);
    *idle = watch_decoder_idle(decoder);
    watch_decoder_free(decoder);
    return ok;
}

struct watch_row {
    const char *name;
    const char *bytes;
    const char *want;
    bool broken; /* feed fails */
    bool open;   /* ends inside an event */
};

#define EVENT(type_, object_) "{\"type\":\"" type_ "\",\"object\":" object_ "}"
#define THING(name_, rv_)                                                                                    \
    "{\"kind\":\"Thing\",\"apiVersion\":\"test.example/v1\",\"metadata\":{\"name\":\"" name_                 \
    "\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"" rv_                                        \
    "\",\"managedFields\":[{\"manager\":\"m\"}]},\"spec\":{\"group\":\"g\",\"value\":3}}"
#define SAID(type_, name_, rv_) type_ " rv=" rv_ " n/" name_ " uid=u rv=" rv_ " group=g value=3\n"
#define BOOKMARK(rv_) EVENT("BOOKMARK", "{\"kind\":\"Thing\",\"metadata\":{\"resourceVersion\":\"" rv_ "\"}}")
#define STATUS(rest_) "{\"kind\":\"Status\",\"status\":\"Failure\"," rest_ "}"

static const struct watch_row watch_rows[] = {
    { "every type",
      EVENT("ADDED", THING("a", "1")) "\n" EVENT("MODIFIED", THING("a", "2")) "\n" BOOKMARK("3") "\n" EVENT(
          "DELETED", THING("a", "4")) "\n",
      SAID("ADDED", "a", "1") SAID("MODIFIED", "a", "2") "BOOKMARK rv=3 \n" SAID("DELETED", "a", "4"), false,
      false },
    { "t_02 glued together", EVENT("ADDED", THING("a", "1")) EVENT("ADDED", THING("b", "2")),
      SAID("ADDED", "a", "1") SAID("ADDED", "b", "2"), false, false },
    { "t_02 blank lines and CRLF",
      "\r\n\n  " EVENT("ADDED", THING("a", "1")) "\r\n\r\n\n" EVENT("ADDED", THING("b", "2")) "\r\n \t",
      SAID("ADDED", "a", "1") SAID("ADDED", "b", "2"), false, false },
    { "object before type", "{\"object\":" THING("a", "1") ",\"type\":\"ADDED\"}", SAID("ADDED", "a", "1"),
      false, false },
    { "bookmark, object before type",
      "{\"object\":{\"metadata\":{\"resourceVersion\":\"8\"}},\"type\":\"BOOKMARK\"}", "BOOKMARK rv=8 \n",
      false, false },
    { "members nobody asked for",
      "{\"extra\":{\"type\":\"ERROR\"},\"type\":\"ADDED\",\"more\":[1,{}],\"object\":" THING(
          "a", "1") ",\"z\":null}",
      SAID("ADDED", "a", "1"), false, false },
    { "t_24 ERROR", EVENT("ERROR", STATUS("\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"")),
      "ERROR rv= 410 Expired too old\n", false, false },
    { "t_24 ERROR, object before type",
      "{\"object\":" STATUS("\"code\":410,\"reason\":\"Expired\"") ",\"type\":\"ERROR\"}",
      "ERROR rv= 410 Expired \n", false, false },
    { "t_24 ERROR with a reason alone", EVENT("ERROR", STATUS("\"reason\":\"Gone\"")), "ERROR rv= 0 Gone \n",
      false, false },
    { "t_24 ERROR without object", "{\"type\":\"ERROR\"}", "ERROR rv= 0  \n", false, false },
    { "t_24 ERROR whose object is null", EVENT("ERROR", "null"), "ERROR rv= 0  \n", false, false },
    { "t_24 ERROR whose object is a text", EVENT("ERROR", "\"expired\""), "ERROR rv= 0  \n", false, false },
    { "t_24 ERROR whose object is no Status", EVENT("ERROR", THING("a", "1")), "ERROR rv= 0  \n", false,
      false },
    { "t_24 ERROR with parts of a wrong type",
      EVENT("ERROR", "{\"code\":\"410\",\"reason\":5,\"message\":[],\"details\":7}"), "ERROR rv= 0  \n",
      false, false },
    { "t_22 bookmark without resourceVersion", EVENT("BOOKMARK", "{\"metadata\":{}}"), "BOOKMARK rv= \n",
      false, false },
    { "t_22 bookmark without object", "{\"type\":\"BOOKMARK\"}", "BOOKMARK rv= \n", false, false },
    { "t_22 bookmark with annotations, of another kind",
      EVENT("BOOKMARK", "{\"kind\":\"Pod\",\"metadata\":{\"annotations\":{\"k8s.io/initial-events-end\":"
                        "\"true\"},\"resourceVersion\":\"8\",\"creationTimestamp\":null}}"),
      "BOOKMARK rv=8 \n", false, false },
    { "t_22 a bookmark has no name to be wrong",
      EVENT("BOOKMARK", "{\"metadata\":{\"name\":7,\"resourceVersion\":\"8\"}}"), "BOOKMARK rv=8 \n", false,
      false },
    { "t_31_wat_6 unknown type is not interpreted",
      EVENT("PATCHED", "{\"metadata\":{\"name\":7}}") EVENT("ADDED", THING("a", "1")),
      "UNKNOWN rv= \n" SAID("ADDED", "a", "1"), false, false },
    { "t_31 unknown type, object before type",
      "{\"object\":{\"metadata\":{\"name\":7}},\"type\":\"PATCHED\"}", "UNKNOWN rv= \n", false, false },
    { "t_31 lower-case type", EVENT("added", THING("a", "1")), "UNKNOWN rv= \n", false, false },
    { "t_31 type absent", "{\"object\":" THING("a", "1") "}", "UNKNOWN rv= \n", false, false },
    { "t_31 type of a wrong type", "{\"type\":1,\"object\":" THING("a", "1") "}", "UNKNOWN rv= \n", false,
      false },
    { "t_31 type empty", EVENT("", THING("a", "1")), "UNKNOWN rv= \n", false, false },
    { "an empty object", "{}", "UNKNOWN rv= \n", false, false },
    { "a Status that is no event", STATUS("\"code\":410"), "UNKNOWN rv= \n", false, false },
    { "t_23 event without object", "{\"type\":\"ADDED\"}", "BAD rv= \n", false, false },
    { "t_23 event whose object is null", EVENT("MODIFIED", "null"), "BAD rv= \n", false, false },
    { "t_23 event whose object is an array", EVENT("MODIFIED", "[]"), "BAD rv= \n", false, false },
    { "t_09 event without metadata", EVENT("ADDED", "{\"spec\":{}}"), "BAD rv= \n", false, false },
    { "t_09 event without resourceVersion", EVENT("ADDED", "{\"metadata\":{\"name\":\"a\"}}"), "BAD rv= \n",
      false, false },
    { "t_23 event without name, and the next goes on",
      EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"5\"}}") EVENT("ADDED", THING("a", "6")),
      "BAD rv=5 \n" SAID("ADDED", "a", "6"), false, false },
    { "t_09 event without uid", EVENT("ADDED", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"}}"),
      "ADDED rv=5 /a uid= rv=5 group= value=0\n", false, false },
    { "t_23 name of a wrong type breaks the stream",
      EVENT("ADDED", THING("a", "1")) EVENT("ADDED", "{\"metadata\":{\"name\":7}}"), SAID("ADDED", "a", "1"),
      true, false },
    { "t_06 duplicate keys: the last wins",
      "{\"type\":\"DELETED\",\"type\":\"ADDED\",\"object\":" THING("x", "1") ",\"object\":" THING("a",
                                                                                                  "2") "}",
      SAID("ADDED", "a", "2"), false, false },
    { "t_06 a type that changes after its object is bad",
      "{\"type\":\"ERROR\",\"object\":" STATUS("\"code\":410") ",\"type\":\"ADDED\"}", "BAD rv= \n", false,
      false },
    { "t_06 an object that turns into ERROR is an error",
      "{\"type\":\"ADDED\",\"object\":" THING("a", "1") ",\"type\":\"ERROR\"}", "ERROR rv= 0  \n", false,
      false },
    { "t_05 braces, quotes, escapes and NUL in strings",
      EVENT("ADDED",
            "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":"
            "\"1\"},\"x\":\"}{][\\\"\\\\\\n\\u0000\\u007b\",\"spec\":{\"group\":\"g\",\"value\":3}}"),
      SAID("ADDED", "a", "1"), false, false },
    { "t_05 a NUL escape in an identity breaks the stream",
      EVENT("ADDED", "{\"metadata\":{\"name\":\"a\\u0000b\",\"resourceVersion\":\"1\"}}"), "", true, false },
    { "t_05 a lone surrogate elsewhere is tolerated",
      EVENT("ADDED", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":"
                     "\"1\"},\"x\":\"\\ud800\",\"spec\":{\"group\":\"g\",\"value\":3}}"),
      SAID("ADDED", "a", "1"), false, false },
    { "t_05 invalid UTF-8 breaks the stream",
      EVENT("ADDED", THING("a", "1")) EVENT("ADDED", THING("b", "\xff")) EVENT("ADDED", THING("c", "3")),
      SAID("ADDED", "a", "1"), true, false },
    { "t_03 UTF-8, escapes, surrogate pair, number, literal",
      EVENT("ADDED",
            "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"\xC3\xA9\\u00e9\\ud83d\\ude00\","
            "\"resourceVersion\":\"1\"},\"x\":[true,false,null,-1.5e+3],\"spec\":{\"group\":\"g\",\"value\":"
            "-9223372036854775808}}"),
      "ADDED rv=1 n/a uid=\xC3\xA9\xC3\xA9\xF0\x9F\x98\x80 rv=1 group=g value=-9223372036854775808\n", false,
      false },
    { "t_34 a resourceVersion of 40 digits",
      EVENT("ADDED", THING("a", "1234567890123456789012345678901234567890")),
      SAID("ADDED", "a", "1234567890123456789012345678901234567890"), false, false },
    { "t_07 cut inside an event", EVENT("ADDED", THING("a", "1")) "\n{\"type\":\"ADD",
      SAID("ADDED", "a", "1"), false, true },
    { "t_12 HTML breaks the stream", "<html>", "", true, false },
    { "a number between events breaks the stream", EVENT("ADDED", THING("a", "1")) "\n7\n",
      SAID("ADDED", "a", "1"), true, false },
    { "an array between events breaks the stream", "[" EVENT("ADDED", THING("a", "1")) "]", "", true, false },
    { "t_12 bytes of protobuf break the stream", "\x01\x02k8s", "", true, false },
    { "an empty stream", "", "", false, false },
};

static void watch__row(void **state)
{
    const struct watch_row *row = *state;
    struct str bytes = str_c(row->bytes);
    /* t_01: cut once at every byte, then one byte at a time. */
    for (size_t cut = 0; cut <= bytes.len + 1; cut++) {
        struct heard heard;
        heard_init(&heard);
        bool idle;
        bool ok = cut <= bytes.len ? watch_cut(&heard, bytes, cut, SIZE_MAX / 2, &idle)
                                   : watch_cut(&heard, bytes, 0, 1, &idle);
        if (ok == row->broken)
            fail_msg("cut at %zu: %s", cut, heard.err.text);
        if (!str_eq(strbuf_str(&heard.text), str_c(row->want)))
            fail_msg("cut at %zu: %s", cut, strbuf_cstr(&heard.text));
        if (ok)
            assert_int_equal(idle, !row->open);
        heard_done(&heard);
    }
}

static void t_24_nothing_is_heard_after_a_stop(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    heard.stop_after = 2;
    struct watch_decoder *decoder = watch_new(&heard);
    struct str bytes = STR(EVENT("ADDED", THING("a", "1")) EVENT("ERROR", STATUS("\"code\":410"))
                               EVENT("ADDED", THING("b", "2")));
    assert_false(watch_decoder_feed(decoder, bytes, &heard.err));
    assert_int_equal(heard.events, 2);
    assert_int_equal(heard.err.kind, ERR_TRANSIENT);
    assert_false(watch_decoder_feed(decoder, STR(EVENT("ADDED", THING("c", "3"))), &heard.err));
    assert_int_equal(heard.events, 2);
    watch_decoder_free(decoder);
    heard_done(&heard);
}

static void t_02_a_thousand_events_in_one_write(void **state)
{
    (void)state;
    struct heard heard;
    heard_init(&heard);
    struct strbuf bytes = STRBUF_INIT(1024 * 1024), want = STRBUF_INIT(1024 * 1024);
    for (int i = 0; i < 1000; i++) {
        strbuf_addf(
            &bytes,
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"t%d\",\"resourceVersion\":\"%d\"}}}", i,
            i + 1);
        strbuf_addf(&want, "ADDED rv=%d /t%d uid= rv=%d group= value=0\n", i + 1, i, i + 1);
    }
    bool idle;
    assert_true(watch_cut(&heard, strbuf_str(&bytes), 0, SIZE_MAX / 2, &idle));
    assert_true(idle);
    assert_true(str_eq(strbuf_str(&heard.text), strbuf_str(&want)));
    strbuf_done(&bytes);
    strbuf_done(&want);
    heard_done(&heard);
}

/* One event of this many bytes in all. */
static void big_event(struct strbuf *out, size_t size)
{
    static const struct str head =
        STR_INIT("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
                 "\"resourceVersion\":\"1\"},\"x\":[\"");
    static const struct str tail = STR_INIT("\"]}}");
    char *filling = mem_alloc(size);
    memset(filling, 'x', size);
    strbuf_add(out, head);
    strbuf_add(out, (struct str){ filling, size - head.len - tail.len });
    strbuf_add(out, tail);
    free(filling);
}

struct size_row {
    const char *name;
    size_t size;
    bool accepted;
};

static const struct size_row size_rows[] = {
    { "t_04 an event of 1.4 MB", 1400 * 1000, true },
    { "t_04 an event of 16 MiB", 16 * 1024 * 1024, true },
    { "t_04 an event of 16 MiB + 1", 16 * 1024 * 1024 + 1, false },
};

static void size__row(void **state)
{
    const struct size_row *row = *state;
    struct heard heard;
    heard_init(&heard);
    struct strbuf bytes = STRBUF_INIT(32 * 1024 * 1024);
    strbuf_add(&bytes, STR(EVENT("ADDED", THING("first", "1"))));
    big_event(&bytes, row->size);
    strbuf_add(&bytes, STR(EVENT("ADDED", THING("last", "3"))));
    bool idle;
    assert_int_equal(watch_cut(&heard, strbuf_str(&bytes), 0, 16384, &idle), row->accepted);
    if (row->accepted)
        assert_int_equal(heard.events, 3);
    else /* what is one byte too long may have been told before it was refused */
        assert_between(heard.events, 1, 2);
    strbuf_done(&bytes);
    heard_done(&heard);
}

static void t_06_nesting_beyond_a_thousand_breaks_the_stream(void **state)
{
    (void)state;
    for (int depth = 990; depth <= 1010; depth += 20) {
        struct heard heard;
        heard_init(&heard);
        struct strbuf bytes = STRBUF_INIT(64 * 1024);
        strbuf_add(&bytes, STR("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\","
                               "\"resourceVersion\":\"1\"},\"x\":"));
        for (int i = 0; i < depth; i++)
            strbuf_addc(&bytes, '[');
        for (int i = 0; i < depth; i++)
            strbuf_addc(&bytes, ']');
        strbuf_add(&bytes, STR("}}"));
        bool idle;
        assert_int_equal(watch_cut(&heard, strbuf_str(&bytes), 0, SIZE_MAX / 2, &idle), depth < 1000);
        strbuf_done(&bytes);
        heard_done(&heard);
    }
}

static void types_have_names(void **state)
{
    (void)state;
    assert_string_equal(kube_watch_type_name(WATCH_ADDED), "ADDED");
    assert_string_equal(kube_watch_type_name(WATCH_ERROR), "ERROR");
    assert_string_equal(kube_watch_type_name(WATCH_UNKNOWN), "UNKNOWN");
    assert_string_equal(kube_watch_type_name(WATCH_BAD), "BAD");
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(a_list_without_ear_for_bad_items_is_fine),
        cmocka_unit_test(lst_10_items_of_a_long_list_come_one_by_one),
        cmocka_unit_test(an_item_that_never_ends_is_refused),
        cmocka_unit_test(t_24_nothing_is_heard_after_a_stop),
        cmocka_unit_test(t_02_a_thousand_events_in_one_write),
        cmocka_unit_test(t_06_nesting_beyond_a_thousand_breaks_the_stream),
        cmocka_unit_test(types_have_names),
    };
    struct CMUnitTest
        tests[ARRAY_LEN(plain) + ARRAY_LEN(list_rows) + ARRAY_LEN(watch_rows) + ARRAY_LEN(size_rows)];
    size_t count = ARRAY_LEN(plain);
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(list_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ list_rows[i].name, list__row, NULL, NULL, (void *)&list_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(watch_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ watch_rows[i].name, watch__row, NULL, NULL, (void *)&watch_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(size_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ size_rows[i].name, size__row, NULL, NULL, (void *)&size_rows[i] };
    return cmocka_run_group_tests_name("kube/listwatch", tests, NULL, NULL);
}
