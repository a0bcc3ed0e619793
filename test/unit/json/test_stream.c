/* The decoder on streams: arrays handed out element by element, values whose table
 * depends on a sister, one document after another. */
#include "json/decode.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

/* --- a list of items, each with a list inside --- */

struct item {
    struct str name;
    struct json_items tags; /* struct str */
    int64_t weight;
};

struct list {
    struct str version;
    struct str next;
};

struct fixture {
    struct arena arena;
    struct strbuf seen;
    struct strbuf reports;
    struct json_decode_options options;
    struct err err;
    size_t fail_at; /* refuse that callback, counted from 1 */
    size_t calls;
};

static bool counted(struct fixture *fixture, struct err *err)
{
    return ++fixture->calls != fixture->fail_at || err_set(err, ERR_TRANSIENT, "refused");
}

static bool on_item(void *user, const void *element, struct err *err)
{
    struct fixture *fixture = user;
    const struct item *item = element;
    strbuf_addf(&fixture->seen, STR_FMT "/%d[", STR_ARG(item->name), (int)item->weight);
    const struct str *tags = item->tags.items;
    for (size_t i = 0; i < item->tags.count; i++)
        strbuf_addf(&fixture->seen, "%s" STR_FMT, i ? "," : "", STR_ARG(tags[i]));
    strbuf_add(&fixture->seen, STR("] "));
    return counted(fixture, err);
}

static const struct json_field item_meta_fields[] = {
    JSON_REQUIRED_STR(struct item, name, "name"),
};
static const struct json_table item_meta_table = { item_meta_fields, ARRAY_LEN(item_meta_fields),
                                                   sizeof(struct str) };

static const struct json_field item_fields[] = {
    JSON_FIELD_OBJECT(struct item, name, "metadata", &item_meta_table),
    JSON_FIELD_STR_ARRAY(struct item, tags, "tags"),
    JSON_FIELD_I64(struct item, weight, "weight"),
};
static const struct json_table item_table = JSON_TABLE(struct item, item_fields);

static const struct json_field list_meta_fields[] = {
    JSON_FIELD_STR(struct list, version, "resourceVersion"),
    JSON_FIELD_STR(struct list, next, "continue"),
};
static const struct json_table list_meta_table = JSON_TABLE(struct list, list_meta_fields);

static const struct json_field list_fields[] = {
    JSON_FIELD_OBJECT(struct list, version, "metadata", &list_meta_table),
    JSON_FIELD_EACH("items", &item_table, on_item),
};
static const struct json_table list_table = JSON_TABLE(struct list, list_fields);

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct fixture *fixture = self;
    strbuf_addf(&fixture->reports, STR_FMT "=" STR_FMT ": %s\n", STR_ARG(path), STR_ARG(value), message);
}

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    fixture->seen = fixture->reports = STRBUF_INIT(16u << 20);
    fixture->options.report = (struct json_report){ .mismatch = on_mismatch, .self = fixture };
    fixture->options.user = fixture;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_done(&fixture->arena);
    strbuf_done(&fixture->seen);
    strbuf_done(&fixture->reports);
    free(fixture);
    return 0;
}

static bool decode(struct fixture *fixture, const struct json_table *table, void *dst, const char *text)
{
    return json_decode(&fixture->arena, str_c(text), table, dst, &fixture->options, &fixture->err);
}

static void assert_str(struct str got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr ? got.ptr : "", want, got.len);
}

/* --- streamed arrays --- */

static void elements_are_handed_out_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(
        decode(fixture, &list_table, &list,
               "{\"kind\":\"L\",\"metadata\":{\"resourceVersion\":\"12\",\"continue\":\"c\"},\"items\":["
               "{\"metadata\":{\"name\":\"a\"},\"weight\":1,\"tags\":[\"x\",\"y\"]},"
               "{\"weight\":2,\"metadata\":{\"name\":\"b\"}},{\"unknown\":[{}]}]}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "a/1[x,y] b/2[] /0[] ");
    assert_str(list.version, "12");
    assert_str(list.next, "c");
}

static void metadata_behind_the_items_survives_them(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &list_table, &list,
                       "{\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}],"
                       "\"metadata\":{\"resourceVersion\":\"13\"}}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "a/0[] b/0[] ");
    assert_str(list.version, "13");
}

static void the_callers_arena_holds_nothing_of_the_elements(void **state)
{
    struct fixture *fixture = *state;
    struct strbuf text = STRBUF_INIT(1u << 20);
    strbuf_add(&text, STR("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["));
    for (int i = 0; i < 2000; i++)
        strbuf_addf(&text, "%s{\"metadata\":{\"name\":\"item-%d\"},\"tags\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}",
                    i ? "," : "", i);
    strbuf_add(&text, STR("]}"));
    struct list list;
    assert_true(decode(fixture, &list_table, &list, strbuf_cstr(&text)));
    strbuf_done(&text);
    assert_int_equal(fixture->calls, 2000);
    assert_true(fixture->arena.used < 100);
    assert_str(list.version, "7");
}

static void lst_4_items_null_absent_or_empty_mean_none(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &list_table, &list, "{\"items\":null}"));
    assert_true(decode(fixture, &list_table, &list, "{}"));
    assert_true(decode(fixture, &list_table, &list, "{\"items\":[]}"));
    assert_int_equal(fixture->calls, 0);
    assert_string_equal(strbuf_cstr(&fixture->reports), "");
}

static void t_09_a_null_item_is_passed_over(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &list_table, &list, "{\"items\":[null,{\"weight\":1},null,{\"weight\":2}]}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "/1[] /2[] ");
}

static void t_09_an_item_that_is_no_object_is_reported_and_the_others_kept(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &list_table, &list,
                       "{\"items\":[{\"weight\":1},\"x\",[{\"weight\":9}],{\"weight\":2}]}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "/1[] /2[] ");
    assert_string_equal(strbuf_cstr(&fixture->reports), "items[1]=x: expected an object, got a string\n"
                                                        "items[2]=array: expected an object, got an array\n");
}

static void t_09_an_item_without_identity_is_dropped_and_the_others_kept(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(
        decode(fixture, &list_table, &list,
               "{\"items\":[{\"metadata\":{\"name\":\"a\"},\"weight\":1},"
               "{\"tags\":[\"lost\"],\"metadata\":{\"x\":{},\"name\":5,\"y\":[{}]},\"weight\":2},"
               "{\"metadata\":{\"name\":{\"deep\":[1]}},\"weight\":3},"
               "{\"metadata\":{\"name\":\"d\"},\"weight\":4}],\"metadata\":{\"resourceVersion\":\"1\"}}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "a/1[] d/4[] ");
    assert_string_equal(strbuf_cstr(&fixture->reports),
                        "items[1].metadata.name=5: expected a string, got a number\n"
                        "items[2].metadata.name=object: expected a string, got an object\n");
    assert_str(list.version, "1");
}

static void a_mismatch_inside_an_item_names_its_index(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &list_table, &list,
                       "{\"items\":[{},null,{},{\"weight\":\"heavy\",\"tags\":[\"a\",2]}]}"));
    assert_string_equal(strbuf_cstr(&fixture->reports),
                        "items[3].weight=heavy: expected an integer, got a string\n"
                        "items[3].tags[1]=2: expected a string, got a number\n");
    assert_string_equal(strbuf_cstr(&fixture->seen), "/0[] /0[] /0[a] ");
}

static void items_that_are_no_array_are_reported(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(
        decode(fixture, &list_table, &list, "{\"items\":{\"a\":1},\"metadata\":{\"continue\":\"c\"}}"));
    assert_string_equal(strbuf_cstr(&fixture->reports), "items=object: expected an array, got an object\n");
    assert_str(list.next, "c");
}

static void a_refusing_callback_stops_decoding(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    fixture->fail_at = 2;
    assert_false(decode(fixture, &list_table, &list, "{\"items\":[{},{},{},{}]}"));
    assert_int_equal(fixture->calls, 2);
    assert_int_equal(fixture->err.kind, ERR_TRANSIENT);
}

/* --- streamed arrays inside streamed elements --- */

static bool on_group(void *user, const void *element, struct err *err)
{
    struct fixture *fixture = user;
    const struct list *group = element;
    strbuf_addf(&fixture->seen, "(" STR_FMT ") ", STR_ARG(group->version));
    return counted(fixture, err);
}

static const struct json_field group_fields[] = {
    JSON_FIELD_STR(struct list, version, "title"),
    JSON_FIELD_EACH("items", &item_table, on_item),
};
static const struct json_table group_table = JSON_TABLE(struct list, group_fields);
static const struct json_field groups_fields[] = {
    JSON_FIELD_STR(struct list, version, "title"),
    JSON_FIELD_EACH("groups", &group_table, on_group),
};
static const struct json_table groups_table = JSON_TABLE(struct list, groups_fields);

static void streams_inside_streams_have_memory_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(fixture, &groups_table, &list,
                       "{\"title\":\"all\",\"groups\":[{\"title\":\"one\",\"items\":[{\"metadata\":{\"name\":"
                       "\"a\"}},{\"metadata\":{\"name\":\"b\"}}]},"
                       "{\"items\":[{\"metadata\":{\"name\":\"c\"}},{\"metadata\":{\"name\":1}}],\"title\":"
                       "\"two\"},{\"title\":\"three\"}]}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "a/0[] b/0[] (one) c/0[] (two) (three) ");
    assert_string_equal(strbuf_cstr(&fixture->reports),
                        "groups[1].items[1].metadata.name=1: expected a string, got a number\n");
    assert_str(list.version, "all");
}

/* --- a value whose table depends on its sister --- */

struct event {
    struct fixture *fixture; /* unused by decoding */
    struct str type;
    struct item *item;
    struct list *status;
};

static void select_object(void *user, void *parent, struct arena *arena, const struct json_table **table,
                          void **dst)
{
    struct event *event = parent;
    (void)user;
    if (str_eq(event->type, STR("ADDED"))) {
        *table = &item_table;
        *dst = event->item = arena_new(arena, struct item);
    } else if (str_eq(event->type, STR("ERROR"))) {
        *table = &list_meta_table;
        *dst = event->status = arena_new(arena, struct list);
    }
}

static const struct json_field event_fields[] = {
    JSON_FIELD_STR(struct event, type, "type"),
    JSON_FIELD_SELECT("object", select_object),
};
static const struct json_table event_table = JSON_TABLE(struct event, event_fields);

static void the_table_is_chosen_when_the_type_came_first(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_true(decode(fixture, &event_table, &event,
                       "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n\"},\"tags\":[\"t\"]}}"));
    assert_str(event.item->name, "n");
    assert_int_equal(event.item->tags.count, 1);
    assert_true(
        decode(fixture, &event_table, &event, "{\"type\":\"ERROR\",\"object\":{\"resourceVersion\":\"5\"}}"));
    assert_null(event.item);
    assert_str(event.status->version, "5");
}

static void a_value_before_its_type_waits_for_it(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_true(decode(
        fixture, &event_table, &event,
        "{\"object\":{\"metadata\":{\"name\":\"n\"},\"weight\":\"x\",\"tags\":[\"t\"]},\"type\":\"ADDED\"}"));
    assert_str(event.item->name, "n");
    assert_int_equal(event.item->tags.count, 1);
    assert_string_equal(strbuf_cstr(&fixture->reports),
                        "object.weight=x: expected an integer, got a string\n");
}

static void a_value_of_an_unknown_type_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_true(
        decode(fixture, &event_table, &event, "{\"type\":\"NEW\",\"object\":{\"metadata\":{\"name\":5}}}"));
    assert_true(decode(fixture, &event_table, &event, "{\"object\":{\"metadata\":{\"name\":5}}}"));
    assert_null(event.item);
    assert_null(event.status);
    assert_string_equal(strbuf_cstr(&fixture->reports), "");
}

static void a_selected_value_that_is_no_object_is_reported(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_true(decode(fixture, &event_table, &event, "{\"type\":\"ADDED\",\"object\":[1]}"));
    assert_true(decode(fixture, &event_table, &event, "{\"object\":\"x\",\"type\":\"ADDED\"}"));
    assert_true(decode(fixture, &event_table, &event, "{\"object\":null,\"type\":\"ADDED\"}"));
    assert_string_equal(strbuf_cstr(&fixture->reports), "object=array: expected an object, got an array\n"
                                                        "object=x: expected an object, got a string\n");
}

static void identity_is_checked_in_a_value_that_waited(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_false(
        decode(fixture, &event_table, &event, "{\"object\":{\"metadata\":{\"name\":5}},\"type\":\"ADDED\"}"));
    assert_string_equal(fixture->err.text, "object.metadata.name: expected a string, got a number");
}

static void of_two_values_that_waited_the_last_wins(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    assert_true(decode(fixture, &event_table, &event,
                       "{\"object\":{\"weight\":1},\"object\":{\"weight\":2},\"type\":\"ADDED\"}"));
    assert_int_equal(event.item->weight, 2);
    assert_true(decode(fixture, &event_table, &event,
                       "{\"object\":{\"weight\":1},\"type\":\"ADDED\",\"object\":{\"weight\":3}}"));
    assert_int_equal(event.item->weight, 3);
    assert_true(decode(fixture, &event_table, &event,
                       "{\"object\":{\"weight\":1},\"object\":null,\"type\":\"ADDED\"}"));
    assert_null(event.item);
}

/* Events as elements of a streamed array: a failing object drops just its element, in
 * whichever order it came. */
static bool on_inner_event(void *user, const void *element, struct err *err)
{
    struct fixture *fixture = user;
    const struct event *event = element;
    strbuf_addf(&fixture->seen, STR_FMT ":" STR_FMT " ", STR_ARG(event->type),
                STR_ARG(event->item ? event->item->name : STR("-")));
    return counted(fixture, err);
}

static const struct json_field batch_fields[] = {
    JSON_FIELD_EACH("events", &event_table, on_inner_event),
    JSON_FIELD_STR(struct list, version, "version"),
};
static const struct json_table batch_table = JSON_TABLE(struct list, batch_fields);

static void dropping_works_through_values_that_waited(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    assert_true(decode(
        fixture, &batch_table, &list,
        "{\"events\":[{\"object\":{\"metadata\":{\"name\":5,\"a\":[]},\"tags\":[[]]},\"type\":\"ADDED\"},"
        "{\"object\":{\"metadata\":{\"name\":\"b\"}},\"type\":\"ADDED\"},"
        "{\"object\":{\"metadata\":{\"name\":[{}]}},\"type\":\"ADDED\",\"x\":{}},"
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":false}}},"
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"e\"}}}],\"version\":\"9\"}"));
    assert_string_equal(strbuf_cstr(&fixture->seen), "ADDED:b ADDED:e ");
    assert_string_equal(strbuf_cstr(&fixture->reports),
                        "events[0].object.metadata.name=5: expected a string, got a number\n"
                        "events[2].object.metadata.name=array: expected a string, got an array\n"
                        "events[3].object.metadata.name=false: expected a string, got a bool\n");
    assert_str(list.version, "9");
}

/* --- one document after another --- */

static bool on_document(void *user, const void *element, struct err *err)
{
    struct fixture *fixture = user;
    const struct event *event = element;
    strbuf_addf(&fixture->seen, STR_FMT ":" STR_FMT " ", STR_ARG(event->type),
                STR_ARG(event->item ? event->item->name : STR("-")));
    return counted(fixture, err);
}

static const struct str stream = STR_INIT(
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\\u00e4\xE2\x82\xAC\"},\"weight\":-12}}\n"
    "{\"object\":{\"metadata\":{\"name\":\"b{}\\n\"}},\"type\":\"ADDED\"}\r\n\r\n"
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"5\"}}}{}\n null ");

static void t_01_documents_arrive_whole_however_the_stream_is_cut(void **state)
{
    struct fixture *fixture = *state;
    for (size_t chunk = 1; chunk <= stream.len; chunk++) {
        struct event event;
        struct json_decoder *decoder =
            json_decoder_new(&fixture->arena, &event_table, &event, &fixture->options, on_document);
        struct json_parser *parser = json_parser_new(NULL, true, json_decoder_sink(decoder));
        strbuf_clear(&fixture->seen);
        for (size_t at = 0; at < stream.len; at += chunk)
            assert_true(json_parser_feed(parser, str_slice(stream, at, chunk), &fixture->err));
        assert_true(json_parser_finish(parser, &fixture->err));
        assert_string_equal(strbuf_cstr(&fixture->seen),
                            "ADDED:\xC3\xA4\xE2\x82\xAC ADDED:b{}\n BOOKMARK:- :- :- ");
        json_parser_free(parser);
        json_decoder_free(decoder);
        assert_int_equal(fixture->arena.used, 0); /* cleared after each document */
    }
}

static void a_document_callback_may_refuse(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    fixture->fail_at = 2;
    struct json_decoder *decoder =
        json_decoder_new(&fixture->arena, &event_table, &event, &fixture->options, on_document);
    struct json_parser *parser = json_parser_new(NULL, true, json_decoder_sink(decoder));
    assert_false(json_parser_feed(parser, stream, &fixture->err));
    assert_int_equal(fixture->calls, 2);
    assert_string_equal(fixture->err.text, "refused");
    json_parser_free(parser);
    json_decoder_free(decoder);
}

static void without_a_callback_nothing_is_cleared(void **state)
{
    struct fixture *fixture = *state;
    struct event event;
    struct json_decoder *decoder = json_decoder_new(&fixture->arena, &event_table, &event, NULL, NULL);
    assert_true(json_parse_events(STR("{\"type\":\"x\"}"), NULL, json_decoder_sink(decoder), &fixture->err));
    struct str first = event.type;
    assert_true(json_parse_events(STR("{\"type\":\"y\"}"), NULL, json_decoder_sink(decoder), &fixture->err));
    assert_str(first, "x");
    assert_str(event.type, "y");
    json_decoder_free(decoder);
    json_decoder_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(elements_are_handed_out_in_order),
        TEST(metadata_behind_the_items_survives_them),
        TEST(the_callers_arena_holds_nothing_of_the_elements),
        TEST(lst_4_items_null_absent_or_empty_mean_none),
        TEST(t_09_a_null_item_is_passed_over),
        TEST(t_09_an_item_that_is_no_object_is_reported_and_the_others_kept),
        TEST(t_09_an_item_without_identity_is_dropped_and_the_others_kept),
        TEST(a_mismatch_inside_an_item_names_its_index),
        TEST(items_that_are_no_array_are_reported),
        TEST(a_refusing_callback_stops_decoding),
        TEST(streams_inside_streams_have_memory_of_their_own),
        TEST(the_table_is_chosen_when_the_type_came_first),
        TEST(a_value_before_its_type_waits_for_it),
        TEST(a_value_of_an_unknown_type_is_skipped),
        TEST(a_selected_value_that_is_no_object_is_reported),
        TEST(identity_is_checked_in_a_value_that_waited),
        TEST(of_two_values_that_waited_the_last_wins),
        TEST(dropping_works_through_values_that_waited),
        TEST(t_01_documents_arrive_whole_however_the_stream_is_cut),
        TEST(a_document_callback_may_refuse),
        TEST(without_a_callback_nothing_is_cleared),
    };
    return cmocka_run_group_tests_name("json/stream", tests, NULL, NULL);
}
