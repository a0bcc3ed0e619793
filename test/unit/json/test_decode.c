#include "json/decode.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/* --- a small schema with every type of field --- */

struct meta {
    struct str name;
    struct json_items labels; /* struct json_pair */
};

static const struct json_field meta_fields[] = {
    JSON_REQUIRED_STR(struct meta, name, "name"),
    JSON_FIELD_STR_MAP(struct meta, labels, "labels"),
};
static const struct json_table meta_table = JSON_TABLE(struct meta, meta_fields);

struct port {
    int64_t number;
    struct str name;
};

static const struct json_field port_fields[] = {
    JSON_FIELD_I64(struct port, number, "number"),
    JSON_FIELD_STR(struct port, name, "name"),
};
static const struct json_table port_table = JSON_TABLE(struct port, port_fields);

struct thing {
    struct meta meta;
    struct str phase;
    bool ready;
    int64_t count;
    struct opt_i64 maybe_count;
    struct opt_bool maybe_ready;
    int64_t hundredths; /* through a scalar function */
    struct port *main_port;
    struct json_items ports; /* struct port */
    struct json_items args;  /* struct str */
    const struct json *extra;
};

/* "1.25" or 1.25 to 125; enough for a test. */
static bool hundredths(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    (void)arena;
    struct str whole, fraction;
    int64_t w, f;
    if (event->type == JSON_EV_BOOL || !str_cut(event->text, '.', &whole, &fraction) || fraction.len != 2 ||
        !str_to_i64(whole, &w) || !str_to_i64(fraction, &f))
        return err_set(err, ERR_INVALID, "not a number with two decimals");
    *(int64_t *)dst = w * 100 + f;
    return true;
}

static const struct json_field thing_fields[] = {
    JSON_FIELD_OBJECT(struct thing, meta, "metadata", &meta_table),
    JSON_FIELD_STR(struct thing, phase, "phase"),
    JSON_FIELD_BOOL(struct thing, ready, "ready"),
    JSON_FIELD_I64(struct thing, count, "count"),
    JSON_FIELD_OPT_I64(struct thing, maybe_count, "maybeCount"),
    JSON_FIELD_OPT_BOOL(struct thing, maybe_ready, "maybeReady"),
    JSON_FIELD_SCALAR(struct thing, hundredths, "hundredths", hundredths),
    JSON_FIELD_OBJECT_PTR(struct thing, main_port, "mainPort", &port_table),
    JSON_FIELD_ARRAY(struct thing, ports, "ports", &port_table),
    JSON_FIELD_STR_ARRAY(struct thing, args, "args"),
    JSON_FIELD_TREE(struct thing, extra, "extra"),
};
static const struct json_table thing_table = JSON_TABLE(struct thing, thing_fields);

/* --- fixture: an arena, and what was reported --- */

struct fixture {
    struct arena arena;
    struct strbuf reports;
    struct json_decode_options options;
    struct thing thing;
    struct err err;
};

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct fixture *fixture = self;
    strbuf_addf(&fixture->reports, STR_FMT "=" STR_FMT ": %s\n", STR_ARG(path), STR_ARG(value), message);
}

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    fixture->reports = STRBUF_INIT(1u << 20);
    fixture->options.report = (struct json_report){ .mismatch = on_mismatch, .self = fixture };
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_done(&fixture->arena);
    strbuf_done(&fixture->reports);
    free(fixture);
    return 0;
}

static const struct thing *decode(struct fixture *fixture, const char *text)
{
    bool ok = json_decode(&fixture->arena, str_c(text), &thing_table, &fixture->thing, &fixture->options,
                          &fixture->err);
    assert_string_equal(fixture->err.text, "");
    assert_true(ok);
    return &fixture->thing;
}

static void assert_reports(struct fixture *fixture, const char *want)
{
    assert_string_equal(strbuf_cstr(&fixture->reports), want);
}

static void assert_str(struct str got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr ? got.ptr : "", want, got.len);
}

/* --- values of each type --- */

static void scalars_land_in_their_fields(void **state)
{
    const struct thing *thing =
        decode(*state, "{\"phase\":\"Running\",\"ready\":true,\"count\":-7,\"maybeCount\":0,"
                       "\"maybeReady\":false,\"hundredths\":1.25}");
    assert_str(thing->phase, "Running");
    assert_true(thing->ready);
    assert_int_equal(thing->count, -7);
    assert_true(thing->maybe_count.set);
    assert_int_equal(thing->maybe_count.value, 0);
    assert_true(thing->maybe_ready.set);
    assert_false(thing->maybe_ready.value);
    assert_int_equal(thing->hundredths, 125);
    assert_reports(*state, "");
}

static void a_scalar_function_takes_strings_too(void **state)
{
    assert_int_equal(decode(*state, "{\"hundredths\":\"3.07\"}")->hundredths, 307);
}

static void jsn_2_absent_null_and_zero_read_alike(void **state)
{
    const struct thing zero = { 0 };
    const struct thing *thing = decode(*state, "{}");
    assert_memory_equal(thing, &zero, sizeof zero);
    thing = decode(*state,
                   "{\"metadata\":null,\"phase\":null,\"ready\":null,\"count\":null,\"maybeCount\":null,"
                   "\"maybeReady\":null,\"hundredths\":null,\"mainPort\":null,\"ports\":null,\"args\":null,"
                   "\"extra\":null}");
    assert_memory_equal(thing, &zero, sizeof zero);
    thing = decode(*state, "null");
    assert_memory_equal(thing, &zero, sizeof zero);
    assert_reports(*state, "");
}

static void nested_objects_and_pointers(void **state)
{
    const struct thing *thing =
        decode(*state, "{\"mainPort\":{\"name\":\"web\",\"number\":80},"
                       "\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"\"},\"name\":\"x\"}}");
    assert_str(thing->meta.name, "x");
    assert_int_equal(thing->main_port->number, 80);
    assert_str(thing->main_port->name, "web");
    const struct json_pair *labels = thing->meta.labels.items;
    assert_int_equal(thing->meta.labels.count, 2);
    assert_str(labels[0].key, "a");
    assert_str(labels[0].value, "1");
    assert_str(labels[1].key, "b");
    assert_str(labels[1].value, "");
}

static void arrays_grow_and_skip_null_items(void **state)
{
    const struct thing *thing =
        decode(*state, "{\"ports\":[{\"number\":1},null,{\"number\":2,\"name\":\"b\"},{},{\"number\":4},"
                       "{\"number\":5}],\"args\":[\"a\",\"\",null,\"c\"]}");
    const struct port *ports = thing->ports.items;
    assert_int_equal(thing->ports.count, 5);
    assert_int_equal(ports[0].number, 1);
    assert_int_equal(ports[1].number, 2);
    assert_str(ports[1].name, "b");
    assert_int_equal(ports[2].number, 0);
    assert_int_equal(ports[4].number, 5);
    const struct str *args = thing->args.items;
    assert_int_equal(thing->args.count, 3);
    assert_str(args[0], "a");
    assert_str(args[1], "");
    assert_str(args[2], "c");
    assert_reports(*state, "");
}

static void empty_containers_are_empty(void **state)
{
    const struct thing *thing =
        decode(*state, "{\"metadata\":{\"labels\":{}},\"ports\":[],\"args\":[],\"mainPort\":{}}");
    assert_int_equal(thing->meta.labels.count, 0);
    assert_null(thing->ports.items);
    assert_int_equal(thing->args.count, 0);
    assert_non_null(thing->main_port);
}

static void trees_are_kept_whole(void **state)
{
    const struct thing *thing = decode(*state, "{\"extra\":{\"a\":[1,{\"b\":null}]},\"count\":3}");
    assert_int_equal(json_count(thing->extra), 1);
    assert_int_equal(json_count(json_get(thing->extra, STR("a"))), 2);
    assert_int_equal(thing->count, 3);
    thing = decode(*state, "{\"extra\":\"s\",\"count\":4}");
    assert_str(json_str(thing->extra), "s");
    assert_int_equal(thing->count, 4);
}

static void nul_in_a_value_that_is_no_identity_is_kept(void **state)
{
    const struct thing *thing = decode(*state, "{\"phase\":\"a\\u0000b\"}");
    assert_int_equal(thing->phase.len, 3);
    assert_memory_equal(thing->phase.ptr, "a\0b", 3);
}

/* --- unknown fields --- */

static void jsn_1_unknown_fields_of_each_type_in_each_position_are_skipped(void **state)
{
    static const char *const values[] = { "null",
                                          "true",
                                          "-1e400",
                                          "\"s\"",
                                          "{}",
                                          "[]",
                                          "{\"count\":9,\"metadata\":{\"name\":5}}",
                                          "[[{\"count\":[1,2]}],{\"count\":1}]" };
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"u\":%1$s,\"count\":1,\"v\":%1$s,\"metadata\":{\"u\":%1$s,\"name\":\"x\",\"v\":%1$s},"
                 "\"w\":%1$s}",
                 values[i]);
        const struct thing *thing = decode(*state, text);
        assert_int_equal(thing->count, 1);
        assert_str(thing->meta.name, "x");
    }
    assert_reports(*state, "");
}

static void jsn_1_unknown_fields_do_not_allocate(void **state)
{
    struct fixture *fixture = *state;
    decode(fixture, "{\"u\":{\"deep\":[\"a long text that would need "
                    "memory\",{\"x\":[1,2,3]}]},\"Count\":1,\"coun\":2,\"counts\":3,\"\":4}");
    assert_int_equal(fixture->arena.used, 0);
    assert_int_equal(fixture->thing.count, 0);
}

/* --- duplicate keys --- */

static void t_06_of_duplicate_keys_the_last_wins(void **state)
{
    const struct thing *thing = decode(*state, "{\"count\":1,\"phase\":\"a\",\"metadata\":{\"name\":\"x\","
                                               "\"labels\":{\"k\":\"1\"}},\"args\":[\"a\",\"b\"],"
                                               "\"extra\":1,\"mainPort\":{\"number\":1,\"name\":\"n\"},"
                                               "\"count\":2,\"phase\":\"b\",\"metadata\":{\"labels\":{\"k\":"
                                               "\"2\",\"j\":\"3\",\"k\":\"4\"}},\"args\":[\"c\"],"
                                               "\"extra\":2,\"mainPort\":{\"number\":2}}");
    assert_int_equal(thing->count, 2);
    assert_str(thing->phase, "b");
    assert_str(thing->meta.name, "");
    const struct json_pair *labels = thing->meta.labels.items;
    assert_int_equal(thing->meta.labels.count, 2);
    assert_str(labels[0].key, "j");
    assert_str(labels[1].key, "k");
    assert_str(labels[1].value, "4");
    assert_int_equal(thing->args.count, 1);
    assert_str(thing->extra->text, "2");
    assert_int_equal(thing->main_port->number, 2);
    assert_str(thing->main_port->name, "");
}

static void a_later_null_wins_over_a_value(void **state)
{
    const struct thing zero = { 0 };
    const struct thing *thing = decode(
        *state, "{\"count\":1,\"metadata\":{\"name\":\"x\"},\"ports\":[{}],\"maybeCount\":1,\"mainPort\":{},"
                "\"count\":null,\"metadata\":null,\"ports\":null,\"maybeCount\":null,\"mainPort\":null}");
    assert_memory_equal(thing, &zero, sizeof zero);
}

static void t_06_a_map_of_100000_keys(void **state)
{
    struct fixture *fixture = *state;
    struct strbuf text = STRBUF_INIT(16u << 20);
    strbuf_add(&text, STR("{\"metadata\":{\"labels\":{"));
    for (int i = 0; i < 100000; i++)
        strbuf_addf(&text, "%s\"key-%d\":\"%d\"", i ? "," : "", i % 99999, i);
    strbuf_add(&text, STR("}}}"));
    const struct thing *thing = decode(fixture, strbuf_cstr(&text));
    strbuf_done(&text);
    assert_int_equal(thing->meta.labels.count, 99999);
    const struct json_pair *last = (const struct json_pair *)thing->meta.labels.items + 99998;
    assert_str(last->key, "key-0");
    assert_str(last->value, "99999");
}

/* --- values of the wrong type: skipped and reported --- */

static const struct mismatch_row {
    const char *name;
    const char *text;
    const char *report;
} mismatch_rows[] = {
    { "jsn_1_a_string_for_an_integer", "{\"count\":\"5\",\"ready\":true}",
      "count=5: expected an integer, got a string\n" },
    { "t_10_a_fraction_for_an_integer", "{\"count\":1.0,\"ready\":true}",
      "count=1.0: expected a plain integer of 64 bits\n" },
    { "t_10_an_exponent_for_an_integer", "{\"count\":1e2,\"ready\":true}",
      "count=1e2: expected a plain integer of 64 bits\n" },
    { "t_10_an_integer_beyond_64_bits", "{\"count\":9223372036854775808,\"ready\":true}",
      "count=9223372036854775808: expected a plain integer of 64 bits\n" },
    { "t_10_a_number_beyond_double", "{\"maybeCount\":1e400,\"ready\":true}",
      "maybeCount=1e400: expected a plain integer of 64 bits\n" },
    { "a_bool_for_an_integer", "{\"maybeCount\":false,\"ready\":true}",
      "maybeCount=false: expected an integer, got a bool\n" },
    { "an_object_for_an_integer", "{\"count\":{\"ready\":false,\"x\":[{}]},\"ready\":true}",
      "count=object: expected an integer, got an object\n" },
    { "a_number_for_a_string", "{\"phase\":5,\"ready\":true}", "phase=5: expected a string, got a number\n" },
    { "an_array_for_a_string", "{\"phase\":[[\"a\"],{\"ready\":false}],\"ready\":true}",
      "phase=array: expected a string, got an array\n" },
    { "a_string_for_a_bool", "{\"maybeReady\":\"true\",\"ready\":true}",
      "maybeReady=true: expected true or false, got a string\n" },
    { "a_string_for_an_object", "{\"metadata\":\"x\",\"ready\":true}",
      "metadata=x: expected an object, got a string\n" },
    { "an_array_for_an_object_pointer", "{\"mainPort\":[{\"number\":1}],\"ready\":true}",
      "mainPort=array: expected an object, got an array\n" },
    { "an_object_for_an_array", "{\"ports\":{\"a\":1},\"ready\":true}",
      "ports=object: expected an array, got an object\n" },
    { "an_array_for_a_map", "{\"metadata\":{\"labels\":[\"a\"]},\"ready\":true}",
      "metadata.labels=array: expected an object, got an array\n" },
    { "an_object_for_a_string_array", "{\"args\":{},\"ready\":true}",
      "args=object: expected an array, got an object\n" },
    { "a_number_in_an_array_of_objects", "{\"ports\":[{},7],\"ready\":true}",
      "ports[1]=7: expected an object, got a number\n" },
    { "a_wrong_field_inside_an_array", "{\"ports\":[{},null,{\"number\":\"x\"}],\"ready\":true}",
      "ports[2].number=x: expected an integer, got a string\n" },
    { "a_number_in_an_array_of_strings", "{\"args\":[\"a\",1,[2]],\"ready\":true}",
      "args[1]=1: expected a string, got a number\nargs[2]=array: expected a string, got an array\n" },
    { "a_number_in_a_map", "{\"metadata\":{\"labels\":{\"a\":\"b\",\"x/y.z\":1}},\"ready\":true}",
      "metadata.labels.x/y.z=1: expected a string, got a number\n" },
    { "an_object_for_a_scalar_function", "{\"hundredths\":{\"a\":1},\"ready\":true}",
      "hundredths=object: expected a single value, got an object\n" },
    { "a_scalar_function_explains_itself", "{\"hundredths\":\"1.5\",\"ready\":true}",
      "hundredths=1.5: not a number with two decimals\n" },
};

static void mismatch_row(void **state)
{
    /* cmocka hands rows over as the initial state, so there is no fixture from setup. */
    const struct mismatch_row *row = *state;
    void *made;
    setup(&made);
    struct fixture *fixture = made;
    const struct thing *thing = decode(fixture, row->text);
    assert_true(thing->ready); /* decoding went on behind the value */
    assert_int_equal(thing->count, 0);
    assert_reports(fixture, row->report);
    teardown(&made);
}

static void without_a_reporter_mismatches_are_silent(void **state)
{
    struct fixture *fixture = *state;
    struct thing thing;
    assert_true(json_decode(&fixture->arena, STR("{\"count\":[1],\"ready\":true}"), &thing_table, &thing,
                            NULL, &fixture->err));
    assert_true(thing.ready);
}

/* --- identity --- */

static const struct error_row {
    const char *name;
    const char *text;
    const char *error;
} error_rows[] = {
    { "jsn_1_identity_of_a_wrong_type_is_an_error", "{\"metadata\":{\"name\":5}}",
      "metadata.name: expected a string, got a number" },
    { "identity_that_is_an_object_is_an_error", "{\"metadata\":{\"name\":{}}}",
      "metadata.name: expected a string, got an object" },
    { "identity_with_nul_is_an_error", "{\"metadata\":{\"name\":\"a\\u0000\"}}",
      "metadata.name: NUL in an identity" },
    { "an_array_at_the_top_is_an_error", "[]", "expected an object, got an array" },
    { "a_string_at_the_top_is_an_error", "\"x\"", "expected an object, got a string" },
    { "malformed_text_is_an_error", "{\"count\":1", "byte 10: malformed JSON: premature EOF" },
    { "an_empty_text_is_an_error", "", "malformed JSON: premature EOF" },
};

static void error_row(void **state)
{
    const struct error_row *row = *state;
    struct arena arena = ARENA_INIT;
    struct thing thing;
    struct err err = ERR_INIT;
    assert_false(json_decode(&arena, str_c(row->text), &thing_table, &thing, NULL, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_non_null(strstr(err.text, row->error));
    arena_done(&arena);
}

static void limits_apply_to_decoding(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.limits.max_depth = 2;
    assert_false(json_decode(&fixture->arena, STR("{\"u\":[[1]]}"), &thing_table, &fixture->thing,
                             &fixture->options, &fixture->err));
    assert_non_null(strstr(fixture->err.text, "nested too deeply"));
}

/* --- trees --- */

static void a_tree_decodes_like_its_text(void **state)
{
    struct fixture *fixture = *state;
    static const char text[] = "{\"count\":3,\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":\"b\"}},\"u\":[{}"
                               "],\"ports\":[{\"number\":\"z\"}]}";
    const struct json *tree;
    assert_true(json_parse(&fixture->arena, str_c(text), NULL, &tree, &fixture->err));
    assert_true(json_decode_tree(&fixture->arena, tree, &thing_table, &fixture->thing, &fixture->options,
                                 &fixture->err));
    assert_int_equal(fixture->thing.count, 3);
    assert_str(fixture->thing.meta.name, "x");
    assert_int_equal(fixture->thing.ports.count, 1);
    assert_reports(fixture, "ports[0].number=z: expected an integer, got a string\n");
}

static void what_was_in_the_struct_before_is_gone(void **state)
{
    struct fixture *fixture = *state;
    memset(&fixture->thing, 0x55, sizeof fixture->thing);
    const struct thing *thing = decode(fixture, "{\"count\":1}");
    assert_null(thing->main_port);
    assert_int_equal(thing->meta.labels.count, 0);
}

static void rows_are_found_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    static const char *const parts[] = { "\"count\":1", "\"ready\":true", "\"phase\":\"p\"",
                                         "\"args\":[\"a\"]" };
    for (size_t first = 0; first < 24; first++) {
        /* The first-th permutation of four. */
        size_t left[] = { 0, 1, 2, 3 }, n = first;
        struct strbuf text = STRBUF_INIT(1024);
        for (size_t i = 4; i > 0; i--) {
            size_t pick = n % i;
            n /= i;
            strbuf_addf(&text, "%c%s", i == 4 ? '{' : ',', parts[left[pick]]);
            memmove(left + pick, left + pick + 1, (i - pick - 1) * sizeof *left);
        }
        strbuf_addc(&text, '}');
        const struct thing *thing = decode(fixture, strbuf_cstr(&text));
        assert_int_equal(thing->count, 1);
        assert_true(thing->ready);
        assert_str(thing->phase, "p");
        assert_int_equal(thing->args.count, 1);
        strbuf_done(&text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest singles[] = {
        TEST(scalars_land_in_their_fields),
        TEST(a_scalar_function_takes_strings_too),
        TEST(jsn_2_absent_null_and_zero_read_alike),
        TEST(nested_objects_and_pointers),
        TEST(arrays_grow_and_skip_null_items),
        TEST(empty_containers_are_empty),
        TEST(trees_are_kept_whole),
        TEST(nul_in_a_value_that_is_no_identity_is_kept),
        TEST(jsn_1_unknown_fields_of_each_type_in_each_position_are_skipped),
        TEST(jsn_1_unknown_fields_do_not_allocate),
        TEST(t_06_of_duplicate_keys_the_last_wins),
        TEST(a_later_null_wins_over_a_value),
        TEST(t_06_a_map_of_100000_keys),
        TEST(without_a_reporter_mismatches_are_silent),
        TEST(limits_apply_to_decoding),
        TEST(a_tree_decodes_like_its_text),
        TEST(what_was_in_the_struct_before_is_gone),
        TEST(rows_are_found_in_any_order),
    };
    struct CMUnitTest tests[ARRAY_LEN(singles) + ARRAY_LEN(mismatch_rows) + ARRAY_LEN(error_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(singles); i++)
        tests[count++] = singles[i];
    for (size_t i = 0; i < ARRAY_LEN(mismatch_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ mismatch_rows[i].name, mismatch_row, NULL, NULL, (void *)&mismatch_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(error_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ error_rows[i].name, error_row, NULL, NULL, (void *)&error_rows[i] };
    return cmocka_run_group_tests_name("json/decode", tests, NULL, NULL);
}
