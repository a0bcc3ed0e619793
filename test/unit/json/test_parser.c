#include "json/parser.h"
#include "recorder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

/* --- one document: rows of text and what comes of it --- */

static const struct row {
    const char *name;
    struct str text;
    const char *want;  /* the events, or NULL */
    const char *error; /* a part of the error text */
} rows[] = {
    { "scalars_at_the_top", STR_INIT(" null "), "z", NULL },
    { "every_type", STR_INIT("{\"a\":[1,\"x\",true,false,null,{}]}"), "{ 'a' [ n1 \"x\" t f z { } ] }",
      NULL },
    { "a_number_at_the_end_of_input", STR_INIT("12"), "n12", NULL },
    { "jsn_3_int64_limits_keep_their_text", STR_INIT("[9223372036854775807,-9223372036854775808]"),
      "[ n9223372036854775807 n-9223372036854775808 ]", NULL },
    { "t_10_numbers_beyond_int64_and_double_keep_their_text",
      STR_INIT("[9223372036854775808,1e400,-0,1.0,1E+2]"), "[ n9223372036854775808 n1e400 n-0 n1.0 n1E+2 ]",
      NULL },
    { "escapes_are_decoded", STR_INIT("\"\\n\\u00e4\\ud83d\\ude00\\/\""), "\"\n\xC3\xA4\xF0\x9F\x98\x80/\"",
      NULL },
    { "a_lone_high_surrogate_is_tolerated", STR_INIT("\"\\ud800\""), "\"?\"", NULL },
    { "a_lone_low_surrogate_becomes_the_replacement_character", STR_INIT("\"a\\udc00b\""),
      "\"a\xEF\xBF\xBD"
      "b\"",
      NULL },
    { "a_lone_low_surrogate_in_a_key_is_replaced_too", STR_INIT("{\"\\udfff\":1}"), "{ '\xEF\xBF\xBD' n1 }",
      NULL },
    { "a_bad_surrogate_pair_is_tolerated", STR_INIT("[\"\\ud83d\\u0041\",1]"), "[ \"\xF0\x9F\x91\x81\" n1 ]",
      NULL },
    { "duplicate_keys_are_both_delivered", STR_INIT("{\"a\":1,\"a\":2}"), "{ 'a' n1 'a' n2 }", NULL },
    { "blanks_around_the_document", STR_INIT("\r\n\t {} \r\n"), "{ }", NULL },

    { "an_empty_document_is_an_error", STR_INIT(""), NULL, "premature EOF" },
    { "a_blank_document_is_an_error", STR_INIT(" \n"), NULL, "premature EOF" },
    { "an_object_cut_short", STR_INIT("{\"a\":"), NULL, "premature EOF" },
    { "a_string_cut_short", STR_INIT("\"abc"), NULL, "premature EOF" },
    { "a_word_cut_short", STR_INIT("tru"), NULL, "byte 3: malformed JSON: invalid string in json text" },
    { "text_after_the_document", STR_INIT("{} x"), NULL, "byte 2: text after the JSON document" },
    { "a_string_cut_short_after_the_document", STR_INIT("{} \"abc"), NULL, "text after the JSON document" },
    { "a_second_document", STR_INIT("1 2"), NULL, "text after the JSON document" },
    { "a_leading_zero", STR_INIT("01"), NULL, "text after the JSON document" },
    { "a_leading_zero_inside", STR_INIT("[01]"), NULL, "malformed JSON" },
    { "a_number_with_a_bare_point", STR_INIT("[1.]"), NULL, "malformed JSON" },
    { "a_number_with_a_plus", STR_INIT("[+1]"), NULL, "malformed JSON" },
    { "a_bare_minus", STR_INIT("[-]"), NULL, "malformed JSON" },
    { "nan", STR_INIT("[NaN]"), NULL, "malformed JSON" },
    { "a_byte_order_mark", STR_INIT("\xEF\xBB\xBF{}"), NULL, "malformed JSON" },
    { "a_comment", STR_INIT("/* x */ {}"), NULL, "malformed JSON" },
    { "a_trailing_comma", STR_INIT("[1,]"), NULL, "malformed JSON" },
    { "a_trailing_comma_in_an_object", STR_INIT("{\"a\":1,}"), NULL, "malformed JSON" },
    { "single_quotes", STR_INIT("{'a':1}"), NULL, "malformed JSON" },
    { "a_raw_newline_in_a_string", STR_INIT("\"a\nb\""), NULL, "malformed JSON" },
    { "html", STR_INIT("<html><body>502</body></html>"), NULL, "byte 1: malformed JSON" },
    { "mismatched_brackets", STR_INIT("[}"), NULL, "malformed JSON" },
    { "a_raw_nul_byte", STR_INIT("{\"a\":\0}"), NULL, "malformed JSON" },
    { "invalid_utf8_ends_the_document", STR_INIT("[\"\xFF\"]"), NULL,
      "malformed JSON: invalid bytes in UTF8 string" },
    { "an_overlong_form_is_invalid_utf8", STR_INIT("[\"\xC0\x80\"]"), NULL, "invalid UTF-8" },
    { "a_code_point_too_large_is_invalid_utf8", STR_INIT("[\"\xF7\xBF\xBF\xBF\"]"), NULL, "invalid UTF-8" },
    { "an_overlong_key_is_invalid_utf8", STR_INIT("{\"\xC1\x81\":1}"), NULL, "invalid UTF-8" },
    { "nul_in_a_key_is_refused", STR_INIT("{\"a\\u0000b\":1}"), NULL, "NUL in an object key" },
};

static void parse_row(void **state)
{
    const struct row *row = *state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    bool ok = json_parse_events(row->text, NULL, recorder_sink(&recorder), &err);
    if (row->want) {
        assert_string_equal(err.text, "");
        assert_true(ok);
        assert_string_equal(strbuf_cstr(&recorder.out), row->want);
    } else {
        assert_false(ok);
        assert_int_equal(err.kind, ERR_INVALID);
        assert_non_null(strstr(err.text, row->error));
        assert_null(strchr(err.text, '\n'));
    }
    strbuf_done(&recorder.out);
}

static void nul_inside_a_string_value_is_kept(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    assert_true(json_parse_events(STR("\"a\\u0000b\""), NULL, recorder_sink(&recorder), &err));
    assert_int_equal(recorder.out.len, 5);
    assert_memory_equal(recorder.out.ptr, "\"a\0b\"", 5);
    strbuf_done(&recorder.out);
}

static void errors_without_a_place_for_them_are_fine(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    assert_false(json_parse_events(STR("[}"), NULL, recorder_sink(&recorder), NULL));
    assert_false(json_parse_events(STR(""), NULL, recorder_sink(&recorder), NULL));
    strbuf_done(&recorder.out);
}

static void the_sinks_error_travels_to_the_feeder(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,true,null,\"s\",{}]}";
    for (size_t at = 1; at <= 11; at++) {
        struct recorder recorder = RECORDER_INIT;
        recorder.fail_at = at;
        struct err err = ERR_INIT;
        assert_false(json_parse_events(str_c(text), NULL, recorder_sink(&recorder), &err));
        assert_int_equal(err.kind, ERR_TRANSIENT);
        assert_string_equal(err.text, "refused");
        assert_int_equal(recorder.events, at);
        strbuf_done(&recorder.out);
    }
}

static void a_failed_parser_stays_failed(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    struct err err = ERR_INIT;
    assert_false(json_parser_feed(parser, STR("]"), &err));
    assert_false(json_parser_feed(parser, STR("{}"), &err));
    assert_non_null(strstr(err.text, "failed before"));
    assert_false(json_parser_finish(parser, &err));
    assert_int_equal(recorder.events, 0);
    json_parser_free(parser);
    json_parser_free(NULL);
    strbuf_done(&recorder.out);
}

/* --- limits --- */

static bool parse_nested(size_t depth, const struct json_limits *limits, struct err *err)
{
    struct recorder recorder = RECORDER_INIT;
    struct strbuf text = STRBUF_INIT(1u << 20);
    for (size_t i = 0; i < depth; i++)
        strbuf_add(&text, i % 2 ? STR("{\"a\":") : STR("["));
    strbuf_addc(&text, '1');
    for (size_t i = depth; i-- > 0;)
        strbuf_addc(&text, i % 2 ? '}' : ']');
    bool ok = json_parse_events(strbuf_str(&text), limits, recorder_sink(&recorder), err);
    strbuf_done(&text);
    strbuf_done(&recorder.out);
    return ok;
}

static void t_06_nesting_stops_at_a_thousand(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_true(parse_nested(1000, NULL, &err));
    assert_false(parse_nested(1001, NULL, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
}

static void nesting_limit_is_the_callers(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const struct json_limits limits = { .max_depth = 3 };
    assert_true(parse_nested(3, &limits, &err));
    assert_false(parse_nested(4, &limits, &err));
}

/* Feeds {"s":"aaa..."} of exactly `size` bytes in chunks of `chunk`. */
static bool feed_sized(struct json_parser *parser, size_t size, size_t chunk, struct err *err)
{
    char *text = mem_alloc(size);
    memset(text, 'a', size);
    memcpy(text, "{\"s\":\"", 6);
    memcpy(text + size - 2, "\"}", 2);
    bool ok = true;
    for (size_t at = 0; ok && at < size; at += chunk)
        ok = json_parser_feed(parser, str_slice((struct str){ text, size }, at, chunk), err);
    free(text);
    return ok;
}

static const size_t chunk_sizes[] = { 1, 7, 99, 100, 101, 1000 };

static void a_value_as_large_as_the_limit_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunk_sizes); i++) {
        struct recorder recorder = RECORDER_INIT;
        struct err err = ERR_INIT;
        const struct json_limits limits = { .max_value_bytes = 100 };
        struct json_parser *parser = json_parser_new(&limits, true, recorder_sink(&recorder));
        /* The limit is per value: blanks and earlier values do not count. */
        for (int n = 0; n < 3; n++) {
            assert_true(feed_sized(parser, 100, chunk_sizes[i], &err));
            assert_true(json_parser_idle(parser));
            assert_true(json_parser_feed(parser, STR("  \r\n\n  "), &err));
        }
        assert_true(json_parser_finish(parser, &err));
        json_parser_free(parser);
        strbuf_done(&recorder.out);
    }
}

static void a_value_larger_than_the_limit_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunk_sizes); i++) {
        struct recorder recorder = RECORDER_INIT;
        struct err err = ERR_INIT;
        const struct json_limits limits = { .max_value_bytes = 100 };
        struct json_parser *parser = json_parser_new(&limits, true, recorder_sink(&recorder));
        assert_true(json_parser_feed(parser, STR("{} 1 "), &err));
        assert_false(feed_sized(parser, 101, chunk_sizes[i], &err));
        assert_non_null(strstr(err.text, "larger than 100 bytes"));
        json_parser_free(parser);
        strbuf_done(&recorder.out);
    }
}

static void a_number_larger_than_the_limit_fails(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    const struct json_limits limits = { .max_value_bytes = 3 };
    assert_true(json_parse_events(STR(" 123 "), &limits, recorder_sink(&recorder), &err));
    assert_false(json_parse_events(STR("1234"), &limits, recorder_sink(&recorder), &err));
    assert_false(json_parse_events(STR("1234 "), &limits, recorder_sink(&recorder), &err));
    strbuf_done(&recorder.out);
}

static void t_04_sixteen_mebibytes_pass_and_one_byte_more_does_not(void **state)
{
    (void)state;
    const size_t limit = 16u << 20;
    for (size_t extra = 0; extra < 2; extra++) {
        struct recorder recorder = RECORDER_INIT;
        struct err err = ERR_INIT;
        struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
        assert_int_equal(feed_sized(parser, limit + extra, 64u << 10, &err), extra == 0);
        json_parser_free(parser);
        strbuf_done(&recorder.out);
    }
}

static bool feed_list_of_strings(size_t count, size_t string_bytes, struct err *err)
{
    struct recorder recorder = RECORDER_INIT;
    const struct json_limits limits = { .max_value_bytes = SIZE_MAX };
    struct json_parser *parser = json_parser_new(&limits, false, recorder_sink(&recorder));
    bool ok = json_parser_feed(parser, STR("["), err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = (i == 0 || json_parser_feed(parser, STR(","), err)) &&
             feed_sized(parser, string_bytes + STR("{\"s\":\"\"}").len, 16u << 10, err);
    }
    ok = ok && json_parser_feed(parser, STR("]"), err) && json_parser_finish(parser, err);
    json_parser_free(parser);
    strbuf_done(&recorder.out);
    return ok;
}

static void unlimited_means_lists_of_any_size(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_true(feed_list_of_strings(18, 1u << 20, &err));
}

static void unlimited_does_not_mean_strings_of_any_size(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_true(feed_list_of_strings(1, (16u << 20), &err));
    assert_false(feed_list_of_strings(1, (16u << 20) + 1, &err));
    assert_non_null(strstr(err.text, "string too long"));
}

static void long_numbers_are_refused_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t digits = 4096; digits <= 4097; digits++) {
        for (size_t chunk = 1; chunk <= 5000; chunk = chunk * 7 + 1) {
            struct recorder recorder = RECORDER_INIT;
            struct err err = ERR_INIT;
            struct strbuf text = STRBUF_INIT(1u << 16);
            strbuf_add(&text, STR("[1,"));
            for (size_t i = 0; i < digits; i++)
                strbuf_addc(&text, '7');
            strbuf_add(&text, STR(",2]"));
            struct json_parser *parser = json_parser_new(NULL, false, recorder_sink(&recorder));
            bool ok = true;
            for (size_t at = 0; ok && at < text.len; at += chunk)
                ok = json_parser_feed(parser, str_slice(strbuf_str(&text), at, chunk), &err);
            assert_int_equal(ok, digits == 4096);
            json_parser_free(parser);
            strbuf_done(&text);
            strbuf_done(&recorder.out);
        }
    }
}

/* Would take hours if each chunk made yajl read the string from its start. */
static void a_long_string_may_dribble(void **state)
{
    (void)state;
    static const char tail[] = "\\\\\\\"\\u00e4{}";
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    assert_true(json_parser_feed(parser, STR("{\"k\":\""), &err));
    for (size_t i = 0; i < 20000; i++) {
        for (size_t at = 0; at < sizeof tail - 1; at++)
            assert_true(json_parser_feed(parser, (struct str){ tail + at, 1 }, &err));
    }
    assert_int_equal(recorder.events, 2);
    assert_false(json_parser_idle(parser));
    assert_true(json_parser_feed(parser, STR("\"}"), &err));
    assert_int_equal(recorder.events, 4); /* delivered at once, not with the next chunk */
    assert_true(json_parser_finish(parser, &err));
    assert_int_equal(recorder.out.len, strlen("{ 'k' \"\" }") + 20000 * strlen("\\\"\xC3\xA4{}"));
    json_parser_free(parser);
    strbuf_done(&recorder.out);
}

/* --- streams --- */

/* Feeds the text in pieces of `chunk` bytes; the events as text, owned by the caller. */
static struct strbuf events_in_chunks(struct str text, size_t chunk)
{
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    for (size_t at = 0; at < text.len; at += chunk) {
        /* A copy of its own, so that reading beyond the chunk is found. */
        struct str piece = str_slice(text, at, chunk);
        char *copy = mem_alloc(piece.len);
        memcpy(copy, piece.ptr, piece.len);
        assert_true(json_parser_feed(parser, (struct str){ copy, piece.len }, &err));
        free(copy);
    }
    assert_true(json_parser_finish(parser, &err));
    json_parser_free(parser);
    return recorder.out;
}

static const struct str stream = STR_INIT(
    "{\"type\":\"ADDED\",\"object\":{\"n\":-12.5e+3,\"t\":true,\"f\":false,\"z\":null,"
    "\"u\":\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\",\"e\":\"\\u00e4\\ud83d\\ude00\\n\\\"{}\\u0000\"}}\r\n\r\n"
    "{\"\\u00e4\":[]}[1,2]{}\n\n17 true\"s\"");

static void t_01_t_03_split_at_every_byte(void **state)
{
    (void)state;
    struct strbuf whole = events_in_chunks(stream, stream.len);
    for (size_t chunk = 1; chunk < stream.len; chunk++) {
        struct strbuf parts = events_in_chunks(stream, chunk);
        assert_true(str_eq(strbuf_str(&parts), strbuf_str(&whole)));
        strbuf_done(&parts);
    }
    strbuf_done(&whole);
}

static void t_01_cut_in_two_at_every_byte(void **state)
{
    (void)state;
    struct strbuf whole = events_in_chunks(stream, stream.len);
    for (size_t cut = 1; cut < stream.len; cut++) {
        struct recorder recorder = RECORDER_INIT;
        struct err err = ERR_INIT;
        struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
        assert_true(json_parser_feed(parser, str_slice(stream, 0, cut), &err));
        assert_true(json_parser_feed(parser, str_slice(stream, cut, stream.len), &err));
        assert_true(json_parser_finish(parser, &err));
        assert_true(str_eq(strbuf_str(&recorder.out), strbuf_str(&whole)));
        json_parser_free(parser);
        strbuf_done(&recorder.out);
    }
    strbuf_done(&whole);
}

static void t_02_a_thousand_glued_documents(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT(1u << 20);
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&text, "{\"i\":%d}%s", i, i % 3 == 0 ? "" : i % 3 == 1 ? "\n" : "\r\n\n");
    struct strbuf got = events_in_chunks(strbuf_str(&text), text.len);
    struct strbuf want = STRBUF_INIT(1u << 20);
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&want, "%s{ 'i' n%d }", i ? " " : "", i);
    assert_string_equal(strbuf_cstr(&got), strbuf_cstr(&want));
    strbuf_done(&text);
    strbuf_done(&got);
    strbuf_done(&want);
}

static void an_empty_stream_is_no_error(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    assert_true(json_parser_idle(parser));
    assert_true(json_parser_feed(parser, STR(" \r\n"), &err));
    assert_true(json_parser_idle(parser));
    assert_true(json_parser_finish(parser, &err));
    json_parser_free(parser);
    strbuf_done(&recorder.out);
}

static const struct str cuts[] = {
    STR_INIT("{} {\"a\":1"), STR_INIT("{} \"abc"),   STR_INIT("{} ["), STR_INIT("1 tru"),
    STR_INIT("{}{\"a"),      STR_INIT("{"),          STR_INIT("\""),   STR_INIT("{} -"),
    STR_INIT("nul"),         STR_INIT("{} \"\\u12"),
};

static void t_07_a_stream_that_ends_inside_a_value_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        struct recorder recorder = RECORDER_INIT;
        struct err err = ERR_INIT;
        struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
        assert_true(json_parser_feed(parser, cuts[i], &err));
        assert_false(json_parser_idle(parser));
        assert_false(json_parser_finish(parser, &err));
        assert_int_equal(err.kind, ERR_INVALID);
        json_parser_free(parser);
        strbuf_done(&recorder.out);
    }
}

static void a_number_ends_with_the_stream(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    assert_true(json_parser_feed(parser, STR("{} 1"), &err));
    assert_true(json_parser_feed(parser, STR("2"), &err));
    assert_false(json_parser_idle(parser));
    assert_true(json_parser_finish(parser, &err));
    assert_true(json_parser_idle(parser));
    assert_string_equal(strbuf_cstr(&recorder.out), "{ } n12");
    json_parser_free(parser);
    strbuf_done(&recorder.out);
}

static void the_offset_counts_from_the_first_chunk(void **state)
{
    (void)state;
    struct recorder recorder = RECORDER_INIT;
    struct err err = ERR_INIT;
    struct json_parser *parser = json_parser_new(NULL, true, recorder_sink(&recorder));
    assert_true(json_parser_feed(parser, STR("{} {} "), &err));
    assert_false(json_parser_feed(parser, STR("[1,x]"), &err));
    assert_non_null(strstr(err.text, "byte 10: malformed JSON: invalid char in json text"));
    json_parser_free(parser);
    strbuf_done(&recorder.out);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    static const struct CMUnitTest singles[] = {
        TEST(nul_inside_a_string_value_is_kept),
        TEST(errors_without_a_place_for_them_are_fine),
        TEST(the_sinks_error_travels_to_the_feeder),
        TEST(a_failed_parser_stays_failed),
        TEST(t_06_nesting_stops_at_a_thousand),
        TEST(nesting_limit_is_the_callers),
        TEST(a_value_as_large_as_the_limit_passes),
        TEST(a_value_larger_than_the_limit_fails),
        TEST(a_number_larger_than_the_limit_fails),
        TEST(t_04_sixteen_mebibytes_pass_and_one_byte_more_does_not),
        TEST(unlimited_means_lists_of_any_size),
        TEST(unlimited_does_not_mean_strings_of_any_size),
        TEST(long_numbers_are_refused_however_they_are_cut),
        TEST(a_long_string_may_dribble),
        TEST(t_01_t_03_split_at_every_byte),
        TEST(t_01_cut_in_two_at_every_byte),
        TEST(t_02_a_thousand_glued_documents),
        TEST(an_empty_stream_is_no_error),
        TEST(t_07_a_stream_that_ends_inside_a_value_is_an_error),
        TEST(a_number_ends_with_the_stream),
        TEST(the_offset_counts_from_the_first_chunk),
    };
    struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(singles)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, parse_row, NULL, NULL, (void *)&rows[i] };
    memcpy(tests + ARRAY_LEN(rows), singles, sizeof singles);
    return cmocka_run_group_tests_name("json/parser", tests, NULL, NULL);
}
