#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "test/apiserver/omap.h"

static struct as_object *make(const char *name)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct json *metadata = json_new(&arena, JSON_OBJECT);
    struct json *object = json_new(&arena, JSON_OBJECT);
    json_set(&arena, metadata, STR("name"), json_new_str(&arena, str_c(name)));
    json_set(&arena, object, STR("metadata"), metadata);
    return as_object_new(object, NULL, 0);
}

static void omap__finds_what_was_put(void **state)
{
    (void)state;
    struct as_omap map = { 0 };
    assert_null(as_omap_get(&map, STR("a")));
    as_omap_put(&map, make("a"));
    as_omap_put(&map, make("c"));
    assert_true(str_eq(as_omap_get(&map, STR("a"))->name, STR("a")));
    assert_null(as_omap_get(&map, STR("b")));
    as_omap_done(&map);
}

static void omap__replaces_under_the_same_key(void **state)
{
    (void)state;
    struct as_omap map = { 0 };
    struct as_object *second = make("a");
    as_omap_put(&map, make("a"));
    as_omap_put(&map, second);
    assert_ptr_equal(as_omap_get(&map, STR("a")), second);
    assert_int_equal(map.count, 1);
    as_omap_done(&map);
}

static void omap__keeps_key_order_under_many_changes(void **state)
{
    (void)state;
    struct as_omap map = { 0 };
    char name[16];
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "k%05u", i * 7919 % 2000);
        as_omap_put(&map, make(name));
    }
    for (unsigned i = 0; i < 2000; i += 2) {
        snprintf(name, sizeof name, "k%05u", i);
        assert_true(as_omap_remove(&map, str_c(name)));
        assert_false(as_omap_remove(&map, str_c(name)));
    }
    unsigned expect = 1;
    for (struct as_omap_node *node = as_omap_seek(&map, STR("")); node; node = as_omap_next(node)) {
        snprintf(name, sizeof name, "k%05u", expect);
        assert_true(str_eq(as_omap_object(node)->key, str_c(name)));
        expect += 2;
    }
    assert_int_equal(expect, 2001);
    assert_int_equal(map.count, 1000);
    as_omap_done(&map);
}

static void omap__seek_finds_the_next_key(void **state)
{
    (void)state;
    struct as_omap map = { 0 };
    as_omap_put(&map, make("b"));
    as_omap_put(&map, make("d"));
    assert_true(str_eq(as_omap_object(as_omap_seek(&map, STR("c")))->key, STR("d")));
    assert_true(str_eq(as_omap_object(as_omap_seek(&map, STR("b")))->key, STR("b")));
    assert_null(as_omap_seek(&map, STR("e")));
    as_omap_done(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(omap__finds_what_was_put),
        cmocka_unit_test(omap__replaces_under_the_same_key),
        cmocka_unit_test(omap__keeps_key_order_under_many_changes),
        cmocka_unit_test(omap__seek_finds_the_next_key),
    };
    return cmocka_run_group_tests_name("apiserver/omap", tests, NULL, NULL);
}
