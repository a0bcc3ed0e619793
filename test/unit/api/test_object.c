#include "support.h"
#include "api/meta.h"

static void release_nothing(struct kube_object *object)
{
    (void)object;
}

static const struct kube_kind thing_kind = { .kind = "Thing", .release = release_nothing };

static struct kube_object *make(struct fixture *fixture, struct meta meta)
{
    return kube_object_new(&thing_kind, sizeof(struct kube_object) + 24, &meta, fixture->pool, &fixture->err);
}

static void object__carries_identity_behind_the_struct(void **state)
{
    struct fixture *fixture = *state;
    struct kube_object *object =
        make(fixture, (struct meta){ .name = STR("web-0"),
                                     .ns = STR("default"),
                                     .rv = STR("1234"),
                                     .uid = STR("0f8fad5b-d9cb-469f-a165-70867728950e") });
    assert_non_null(object);
    assert_str(kube_object_name(object), "web-0");
    assert_str(kube_object_namespace(object), "default");
    assert_str(kube_object_rv(object), "1234");
    assert_int_equal(object->uid_len, 0);
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(100);
    kube_object_uid(object, &uid);
    assert_str(strbuf_str(&uid), "0f8fad5b-d9cb-469f-a165-70867728950e");
    kube_object_unref(object);
}

static void object__lives_until_the_last_reference(void **state)
{
    struct fixture *fixture = *state;
    struct kube_object *object = make(fixture, (struct meta){ .name = STR("a"), .ns = STR("n") });
    struct kube_object *again = kube_object_ref(object);
    assert_ptr_equal(object, again);
    kube_object_unref(object);
    assert_str(kube_object_name(again), "a");
    kube_object_unref(again);
    assert_int_equal(intern_count(fixture->pool), 0);
    kube_object_unref(NULL);
}

struct uid_row {
    const char *name;
    const char *uid;
    bool as_text;
};

static const struct uid_row uid_rows[] = {
    { "uid: canonical uuid is packed", "00000000-0000-4000-8000-00000000000f", false },
    { "uid: upper case is kept as text", "0F8FAD5B-D9CB-469F-A165-70867728950E", true },
    { "uid: all zero is kept as text", "00000000-0000-0000-0000-000000000000", true },
    { "uid: dash out of place is kept as text", "0f8fad5bd-9cb-469f-a165-70867728950e", true },
    { "uid: free text is kept as text", "node-1-uid", true },
    { "uid: none stays none", "", false },
};

static void uid__row(void **state)
{
    const struct uid_row *row = *state;
    struct intern *pool = intern_new();
    struct err err = ERR_INIT;
    struct meta meta = { .name = STR("a"), .uid = str_c(row->uid), .rv = STR("7") };
    struct kube_object *object = kube_object_new(&thing_kind, sizeof(struct kube_object), &meta, pool, &err);
    assert_non_null(object);
    assert_int_equal(object->uid_len > 0, row->as_text);
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(100);
    kube_object_uid(object, &uid);
    assert_str(strbuf_str(&uid), row->uid);
    assert_true(kube_uid_eq(object, object));
    kube_object_unref(object);
    intern_free(pool);
}

static void uid__differs_between_incarnations(void **state)
{
    struct fixture *fixture = *state;
    struct kube_object *a = make(fixture, (struct meta){ .name = STR("n"), .uid = STR("one") });
    struct kube_object *b = make(fixture, (struct meta){ .name = STR("n"), .uid = STR("two") });
    struct kube_object *none = make(fixture, (struct meta){ .name = STR("n") });
    assert_false(kube_uid_eq(a, b));
    assert_false(kube_uid_eq(a, none));
    kube_object_unref(a);
    kube_object_unref(b);
    kube_object_unref(none);
}

static char long_text[300];

struct bad_row {
    const char *name;
    struct meta meta;
};

static const struct bad_row bad_rows[] = {
    { "name: missing is refused", { .rv = STR_INIT("1") } },
    { "name: slash is refused", { .name = STR_INIT("a/b") } },
    { "name: NUL is refused", { .name = STR_INIT("a\0b") } },
    { "name: bad UTF-8 is refused", { .name = STR_INIT("a\xff") } },
    { "name: overlong UTF-8 is refused", { .name = STR_INIT("a\xc0\x80") } },
    { "name: dot is refused", { .name = STR_INIT(".") } },
    { "name: dots are refused", { .name = STR_INIT("..") } },
    { "name: 254 bytes are refused", { .name = { long_text, 254 } } },
    { "namespace: slash is refused", { .name = STR_INIT("a"), .ns = STR_INIT("x/y") } },
    { "namespace: 254 bytes are refused", { .name = STR_INIT("a"), .ns = { long_text, 254 } } },
    { "resourceVersion: 256 bytes are refused", { .name = STR_INIT("a"), .rv = { long_text, 256 } } },
    { "uid: 256 bytes are refused", { .name = STR_INIT("a"), .uid = { long_text, 256 } } },
};

static void bad__row(void **state)
{
    const struct bad_row *row = *state;
    memset(long_text, 'x', sizeof long_text);
    struct intern *pool = intern_new();
    struct err err = ERR_INIT;
    assert_null(kube_object_new(&thing_kind, sizeof(struct kube_object), &row->meta, pool, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    intern_free(pool);
}

static void name__253_bytes_are_fine(void **state)
{
    struct fixture *fixture = *state;
    memset(long_text, 'x', sizeof long_text);
    struct kube_object *object = make(fixture, (struct meta){ .name = { long_text, 253 } });
    assert_non_null(object);
    assert_int_equal(kube_object_name(object).len, 253);
    kube_object_unref(object);
}

struct rv_row {
    const char *name;
    const char *a;
    const char *b;
    enum rv_order want;
    enum rv_order reverse;
};

static const struct rv_row rv_rows[] = {
    { "rv_1 equal", "42", "42", RV_EQUAL, RV_EQUAL },
    { "rv_1 bytewise at one length", "41", "42", RV_LESS, RV_GREATER },
    { "rv_1 shorter is less", "9", "10", RV_LESS, RV_GREATER },
    { "rv_1 beyond 64 bits", "9999999999999999999999999999999999999999",
      "10000000000000000000000000000000000000000", RV_LESS, RV_GREATER },
    { "rv_2 leading zero is unknown", "00012", "13", RV_UNKNOWN, RV_UNKNOWN },
    { "rv_2 zero has no order", "0", "1", RV_UNKNOWN, RV_UNKNOWN },
    { "rv_2 empty has no order", "", "1", RV_UNKNOWN, RV_UNKNOWN },
    { "rv_2 text has no order", "abc", "abd", RV_UNKNOWN, RV_UNKNOWN },
    { "rv_2 equal text is equal", "abc", "abc", RV_EQUAL, RV_EQUAL },
    { "rv_2 sign is no digit", "-1", "1", RV_UNKNOWN, RV_UNKNOWN },
};

static void rv__row(void **state)
{
    const struct rv_row *row = *state;
    assert_int_equal(rv_compare(str_c(row->a), str_c(row->b)), row->want);
    assert_int_equal(rv_compare(str_c(row->b), str_c(row->a)), row->reverse);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest fixed[] = {
        FIXED(object__carries_identity_behind_the_struct),
        FIXED(object__lives_until_the_last_reference),
        FIXED(uid__differs_between_incarnations),
        FIXED(name__253_bytes_are_fine),
    };
    struct CMUnitTest
        tests[ARRAY_LEN(fixed) + ARRAY_LEN(uid_rows) + ARRAY_LEN(bad_rows) + ARRAY_LEN(rv_rows)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        tests[count++] = fixed[i];
    for (size_t i = 0; i < ARRAY_LEN(uid_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ uid_rows[i].name, uid__row, NULL, NULL, (void *)(uintptr_t)&uid_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(bad_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ bad_rows[i].name, bad__row, NULL, NULL, (void *)(uintptr_t)&bad_rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(rv_rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rv_rows[i].name, rv__row, NULL, NULL, (void *)(uintptr_t)&rv_rows[i] };
    return cmocka_run_group_tests_name("api/object", tests, NULL, NULL);
}
