#include "core_support.h"
#include "kube/expectations.h"
#include "kube/runtime.h"

struct fixture {
    struct core *core;
    struct store *store;
    struct expectations *expected;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    core_setup((void **)&fixture->core);
    fixture->store = store_new(&thing_kind);
    fixture->expected = expectations_new();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    store_free(fixture->store);
    expectations_free(fixture->expected);
    core_teardown((void **)&fixture->core);
    free(fixture);
    return 0;
}

static void wrote(struct fixture *fixture, enum write_verb verb, const char *rv, int64_t now)
{
    char body[128];
    snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%s\"}}", rv);
    struct write write = { .verb = verb, .kind = &thing_kind, .ns = STR("ns"), .name = STR("a") };
    if (verb == WRITE_DELETE)
        write.uid = STR("u");
    expectations_set(fixture->expected, STR("key"), &write, str_c(body), at_ms(now));
}

static void cache(struct fixture *fixture, const char *uid, const char *rv)
{
    kube_object_unref(store_put(fixture->store, core_thing(fixture->core, "a", uid, rv, "g", 1)));
}

static bool met(struct fixture *fixture, int64_t now)
{
    return expectations_met(fixture->expected, STR("key"), fixture->store, at_ms(now));
}

static void nothing_written_is_met(void **state)
{
    struct fixture *fixture = *state;
    assert_null(expectations_kind(fixture->expected, STR("key")));
    assert_true(met(fixture, 0));
    assert_int_equal(expectations_recheck_ms(fixture->expected, STR("key"), at_ms(0)), 1);
    expectations_free(NULL);
}

struct row {
    const char *name;
    enum write_verb verb;
    const char *written_rv;
    const char *cached_uid, *cached_rv; /* NULL uid: nothing cached */
    bool met;
};

static const struct row rows[] = {
    { "t_50_ref_18 an older object does not show the write", WRITE_PATCH, "7", "u", "6", false },
    { "t_50 the written object shows it", WRITE_PATCH, "7", "u", "7", true },
    { "t_50 a newer object shows it", WRITE_PATCH, "7", "u", "8", true },
    { "t_50 digits count, not bytes", WRITE_PATCH, "9", "u", "10", true },
    { "t_50 a no-op write is shown at once", WRITE_PATCH, "6", "u", "6", true },
    { "t_50 deleted by another after the patch", WRITE_PATCH, "7", NULL, NULL, true },
    { "t_50 recreated by another after the patch", WRITE_PATCH, "7", "v", "9", true },
    { "t_50 incomparable and different", WRITE_PATCH, "abc", "u", "abd", false },
    { "t_50 incomparable and equal", WRITE_PATCH, "abc", "u", "abc", true },
    { "created but not there yet", WRITE_CREATE, "7", NULL, NULL, false },
    { "created and there", WRITE_CREATE, "7", "u", "7", true },
    { "created while an earlier one is still cached", WRITE_CREATE, "7", "t", "3", false },
    { "deleted but still there", WRITE_DELETE, "7", "u", "6", false },
    { "deleted and gone", WRITE_DELETE, "7", NULL, NULL, true },
    { "deleted and recreated", WRITE_DELETE, "7", "v", "9", true },
};

static void row__row(void **state)
{
    const struct row *row = *state;
    struct fixture *fixture;
    setup((void **)&fixture);
    if (row->cached_uid)
        cache(fixture, row->cached_uid, row->cached_rv);
    wrote(fixture, row->verb, row->written_rv, 0);
    assert_ptr_equal(expectations_kind(fixture->expected, STR("key")), &thing_kind);
    assert_int_equal(met(fixture, 1), row->met);
    assert_int_equal(expectations_kind(fixture->expected, STR("key")) == NULL, row->met);
    teardown((void **)&fixture);
}

static void ref_18_after_10_s_the_cache_is_trusted_again(void **state)
{
    struct fixture *fixture = *state;
    cache(fixture, "u", "1");
    wrote(fixture, WRITE_PATCH, "7", 0);
    assert_false(met(fixture, 9999));
    assert_true(met(fixture, 10000));
    assert_true(met(fixture, 0)); /* and it is forgotten */
}

static void ref_18_rechecks_back_off_from_20_ms_and_end_with_the_patience(void **state)
{
    struct fixture *fixture = *state;
    wrote(fixture, WRITE_CREATE, "7", 0);
    int64_t now = 0;
    int checks = 0;
    while (!met(fixture, now)) {
        int64_t wait = expectations_recheck_ms(fixture->expected, STR("key"), at_ms(now));
        assert_between(wait, 1, 10000);
        if (now == 0)
            assert_int_equal(wait, 20);
        now += wait;
        checks++;
    }
    assert_int_equal(now, 10000);
    assert_true(checks <= 15);
}

static void a_later_write_replaces_the_expectation(void **state)
{
    struct fixture *fixture = *state;
    cache(fixture, "u", "7");
    wrote(fixture, WRITE_PATCH, "7", 0);
    wrote(fixture, WRITE_PATCH, "9", 0);
    assert_false(met(fixture, 1));
    cache(fixture, "u", "9");
    assert_true(met(fixture, 1));
}

static void answers_without_version_expect_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const char *const bodies[] = { "",
                                          "{}",
                                          "not json",
                                          "{\"metadata\":{}}",
                                          "{\"metadata\":7}",
                                          "{\"metadata\":{\"resourceVersion\":7}}",
                                          "null",
                                          "[]" };
    struct write write = { .verb = WRITE_PATCH, .kind = &thing_kind, .ns = STR("ns"), .name = STR("a") };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        expectations_set(fixture->expected, STR("key"), &write, str_c(bodies[i]), at_ms(0));
        assert_true(met(fixture, 0));
    }
    write.verb = WRITE_DELETE; /* without uid nobody can tell */
    expectations_set(fixture->expected, STR("key"), &write, STR("{}"), at_ms(0));
    assert_true(met(fixture, 0));
}

static void keys_are_apart(void **state)
{
    struct fixture *fixture = *state;
    wrote(fixture, WRITE_CREATE, "7", 0);
    assert_true(expectations_met(fixture->expected, STR("other"), fixture->store, at_ms(0)));
    assert_true(expectations_met(fixture->expected, STR_NULL, fixture->store, at_ms(0)));
    assert_false(met(fixture, 0));
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test_setup_teardown(nothing_written_is_met, setup, teardown),
        cmocka_unit_test_setup_teardown(ref_18_after_10_s_the_cache_is_trusted_again, setup, teardown),
        cmocka_unit_test_setup_teardown(ref_18_rechecks_back_off_from_20_ms_and_end_with_the_patience, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_later_write_replaces_the_expectation, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_without_version_expect_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_apart, setup, teardown),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ rows[i].name, row__row, NULL, NULL, (void *)&rows[i] };
    return cmocka_run_group_tests_name("kube/expectations", tests, NULL, NULL);
}
