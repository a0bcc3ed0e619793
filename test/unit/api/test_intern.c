#include "support.h"

static void intern__equal_texts_are_one_pointer(void **state)
{
    struct fixture *fixture = *state;
    char other[] = "zone-a";
    const struct istr *a = intern_get(fixture->pool, STR("zone-a"));
    const struct istr *b = intern_get(fixture->pool, str_c(other));
    assert_ptr_equal(a, b);
    assert_int_equal(intern_count(fixture->pool), 1);
    istr_unref(a);
    assert_str(istr_str(b), "zone-a");
    istr_unref(b);
    assert_int_equal(intern_count(fixture->pool), 0);
}

static void intern__empty_text_is_a_string_too(void **state)
{
    struct fixture *fixture = *state;
    const struct istr *empty = intern_get(fixture->pool, STR_NULL);
    assert_non_null(empty);
    assert_int_equal(istr_str(empty).len, 0);
    assert_ptr_equal(empty, intern_get(fixture->pool, STR("")));
    istr_unref(empty);
    istr_unref(empty);
}

static void intern__null_reads_as_empty_and_unrefs(void **state)
{
    (void)state;
    istr_unref(NULL);
    assert_null(istr_ref(NULL));
    assert_int_equal(istr_str(NULL).len, 0);
}

enum { MANY = 20000 };

/* Deleting from a probing table must not hide what stands behind the hole. */
static void intern__survives_growth_and_deletion_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    const struct istr **kept = calloc(MANY, sizeof(const struct istr *));
    for (size_t i = 0; i < MANY; i++)
        kept[i] = intern_get(fixture->pool, arena_strf(&fixture->arena, "label-%zu", i * 7919));
    assert_int_equal(intern_count(fixture->pool), MANY);
    for (size_t i = 0; i < MANY; i += 3) {
        istr_unref(kept[i]);
        kept[i] = NULL;
    }
    for (size_t i = 0; i < MANY; i++) {
        const struct istr *found =
            intern_get(fixture->pool, arena_strf(&fixture->arena, "label-%zu", i * 7919));
        if (kept[i])
            assert_ptr_equal(found, kept[i]);
        istr_unref(found);
    }
    for (size_t i = 0; i < MANY; i++)
        istr_unref(kept[i]);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(intern__equal_texts_are_one_pointer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(intern__empty_text_is_a_string_too, fixture_setup, fixture_teardown),
        cmocka_unit_test(intern__null_reads_as_empty_and_unrefs),
        cmocka_unit_test_setup_teardown(intern__survives_growth_and_deletion_in_any_order, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("api/intern", tests, NULL, NULL);
}
