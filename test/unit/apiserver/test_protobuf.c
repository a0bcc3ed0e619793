#include "trees.h"
#include "test/apiserver/base64.h"
#include "test/apiserver/protobuf.h"

/* ---- an encoder, as far as the tests need one ---- */

struct message {
    char bytes[4096];
    size_t len;
};

static void put(struct message *message, const void *bytes, size_t len)
{
    assert_true(message->len + len <= sizeof message->bytes);
    memcpy(message->bytes + message->len, bytes, len);
    message->len += len;
}

static void put_varint(struct message *message, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(message, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_bytes(struct message *message, unsigned field, const void *bytes, size_t len)
{
    put_varint(message, field << 3 | 2);
    put_varint(message, len);
    put(message, bytes, len);
}

static void put_text(struct message *message, unsigned field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

static void put_message(struct message *message, unsigned field, const struct message *inner)
{
    put_bytes(message, field, inner->bytes, inner->len);
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
    put_varint(message, field << 3);
    put_varint(message, value);
}

static void put_entry(struct message *message, unsigned field, const char *key, const char *value)
{
    struct message entry = { .len = 0 };
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(message, field, &entry);
}

static struct message envelope(const char *api_version, const char *kind, const struct message *object)
{
    struct message type = { .len = 0 }, out = { .len = 0 };
    put_text(&type, 1, api_version);
    put_text(&type, 2, kind);
    put(&out, "k8s\0", 4);
    put_message(&out, 1, &type);
    put_message(&out, 2, object);
    put_text(&out, 3, "");
    put_text(&out, 4, "");
    return out;
}

static void check(const struct message *body, const char *want)
{
    struct arena arena = ARENA_INIT;
    struct api_error error = API_ERROR_INIT;
    const struct json *object = NULL;
    if (api_protobuf_decode(&arena, (struct str){ body->bytes, body->len }, &object, &error))
        assert_tree(&arena, object, want);
    else
        assert_text(error_label(&arena, &error), want);
    arena_done(&arena);
}

static struct message metadata(void)
{
    struct message meta = { .len = 0 }, empty = { .len = 0 };
    put_text(&meta, 1, "name");
    put_text(&meta, 2, "");
    put_text(&meta, 3, "space");
    put_text(&meta, 5, "");
    put_number(&meta, 7, 0);
    put_message(&meta, 8, &empty); /* the zero time */
    put_entry(&meta, 11, "owner", "helm");
    put_entry(&meta, 11, "version", "1");
    return meta;
}

#define META "'metadata':{'name':'name','namespace':'space','labels':{'owner':'helm','version':'1'}}"

static void a_secret(void **state)
{
    (void)state;
    struct message meta = metadata(), secret = { .len = 0 };
    put_message(&secret, 1, &meta);
    put_entry(&secret, 2, "release", "\xff\x01z");
    put_text(&secret, 3, "helm.sh/release.v1");
    struct message body = envelope("v1", "Secret", &secret);
    check(&body, "{'kind':'Secret','apiVersion':'v1'," META
                 ",'data':{'release':'/wF6'},'type':'helm.sh/release.v1'}");
}

static void a_config_map(void **state)
{
    (void)state;
    struct message meta = metadata(), map = { .len = 0 };
    put_message(&map, 1, &meta);
    put_entry(&map, 2, "a", "1");
    put_entry(&map, 2, "b", "");
    put_entry(&map, 3, "c", "x");
    put_number(&map, 4, 1);
    struct message body = envelope("v1", "ConfigMap", &map);
    check(&body, "{'kind':'ConfigMap','apiVersion':'v1'," META
                 ",'data':{'a':'1','b':''},'binaryData':{'c':'eA=='},'immutable':true}");
}

static void delete_options(void **state)
{
    (void)state;
    struct message preconditions = { .len = 0 }, options = { .len = 0 };
    put_text(&preconditions, 1, "u-1");
    put_number(&options, 1, 0);
    put_message(&options, 2, &preconditions);
    put_text(&options, 4, "Background");
    put_text(&options, 5, "All");
    struct message body = envelope("v1", "DeleteOptions", &options);
    check(&body,
          "{'kind':'DeleteOptions','apiVersion':'v1','gracePeriodSeconds':0,'preconditions':{'uid':'u-1'},"
          "'propagationPolicy':'Background','dryRun':['All']}");
}

static void times_and_unknown_fields(void **state)
{
    (void)state;
    struct message time = { .len = 0 }, meta = { .len = 0 }, map = { .len = 0 };
    put_number(&time, 1, 1784880000);
    put_message(&meta, 8, &time);
    put_text(&meta, 99, "skipped");
    put_varint(&meta, 98 << 3 | 1);
    put(&meta, "12345678", 8);
    put_message(&map, 1, &meta);
    struct message body = envelope("v1", "ConfigMap", &map);
    check(&body,
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'creationTimestamp':'2026-07-24T08:00:00Z'}}");
}

static void another_kind_is_415(void **state)
{
    (void)state;
    struct message empty = { .len = 0 };
    struct message body = envelope("v1", "Pod", &empty);
    check(&body, "415 UnsupportedMediaType");
}

static void not_an_envelope_is_400(void **state)
{
    (void)state;
    struct message body = { .len = 0 };
    put(&body, "{}", 2);
    check(&body, "400 BadRequest");
}

static void every_truncation_is_refused_or_smaller(void **state)
{
    (void)state;
    struct message meta = metadata(), map = { .len = 0 };
    put_message(&map, 1, &meta);
    put_entry(&map, 2, "a", "1");
    struct message body = envelope("v1", "ConfigMap", &map);
    struct arena arena = ARENA_INIT;
    for (size_t len = 0; len < body.len; len++) {
        const struct json *object = NULL;
        struct api_error error = API_ERROR_INIT;
        if (!api_protobuf_decode(&arena, (struct str){ body.bytes, len }, &object, &error))
            assert_true(error.code == 400 || error.code == 415);
    }
    arena_done(&arena);
}

static void invalid_utf_8_is_400(void **state)
{
    (void)state;
    struct message map = { .len = 0 };
    put_entry(&map, 2, "a", "\xff");
    struct message body = envelope("v1", "ConfigMap", &map);
    check(&body, "400 BadRequest");
}

static void base64_round_trip(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } rows[] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" } };
    struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_text(api_base64_encode(&arena, str_c(rows[i].bytes)), rows[i].text);
        assert_true(api_base64_valid(str_c(rows[i].text)));
        assert_int_equal(api_base64_size(str_c(rows[i].text)), strlen(rows[i].bytes));
    }
    assert_false(api_base64_valid(STR("Zg=")));
    assert_false(api_base64_valid(STR("Z===")));
    assert_false(api_base64_valid(STR("Zg==Zg==")));
    assert_false(api_base64_valid(STR("Z!==")));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret),
        cmocka_unit_test(a_config_map),
        cmocka_unit_test(delete_options),
        cmocka_unit_test(times_and_unknown_fields),
        cmocka_unit_test(another_kind_is_415),
        cmocka_unit_test(not_an_envelope_is_400),
        cmocka_unit_test(every_truncation_is_refused_or_smaller),
        cmocka_unit_test(invalid_utf_8_is_400),
        cmocka_unit_test(base64_round_trip),
    };
    return cmocka_run_group_tests_name("apiserver/protobuf", tests, NULL, NULL);
}
