/* T-77: the token file, with a clock that the tests move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kube/auth.h"
#include "scratch_dir.h"

struct place {
    struct scratch_dir dir;
    struct kube_config config;
    struct kube_auth *auth;
    struct mono_time now;
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    scratch_dir_init(&place->dir);
    place->now.ns = 1000 * NS_PER_S;
    place->config.server = STR("https://api:6443");
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    kube_auth_free(place->auth);
    scratch_dir_done(&place->dir);
    free(place);
    return 0;
}

static void start_with_file(struct place *place, struct str text)
{
    place->config.token_path = str_c(scratch_write(&place->dir, "token", text));
    place->auth = kube_auth_new(&place->config, place->now);
}

static void assert_header_after(struct place *place, int64_t ms, const char *want)
{
    place->now = mono_add_ms(place->now, ms);
    struct str header = kube_auth_header(place->auth, place->now);
    assert_int_equal(header.len, strlen(want));
    assert_memory_equal(header.len ? header.ptr : "", want, header.len);
}

static void auth__token_and_basic(void **state)
{
    struct place *place = *state;
    place->config.token = STR("t0ken");
    place->auth = kube_auth_new(&place->config, place->now);
    assert_header_after(place, 0, "Bearer t0ken");
    kube_auth_free(place->auth);
    place->config.token = STR_NULL;
    place->config.username = STR("Aladdin");
    place->config.password = STR("open sesame");
    place->auth = kube_auth_new(&place->config, place->now);
    assert_header_after(place, 0, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_false(kube_auth_refresh(place->auth, kube_auth_generation(place->auth), place->now));
}

static void auth__net_8_plain_http_has_no_credentials(void **state)
{
    struct place *place = *state;
    place->config.server = STR("http://127.0.0.1:8080");
    place->config.token = STR("t0ken");
    start_with_file(place, STR("file"));
    assert_header_after(place, 0, "");
    assert_header_after(place, 60000, "");
    assert_false(kube_auth_refresh(place->auth, kube_auth_generation(place->auth), place->now));
}

static void auth__aut_2_the_file_wins_and_is_trimmed(void **state)
{
    struct place *place = *state;
    place->config.token = STR("inline");
    start_with_file(place, STR(" \r\nfile\n\n"));
    assert_header_after(place, 0, "Bearer file");
}

static void auth__aut_2_an_unreadable_file_leaves_the_inline_token(void **state)
{
    struct place *place = *state;
    place->config.token = STR("inline");
    place->config.token_path = STR("/nowhere/token");
    place->auth = kube_auth_new(&place->config, place->now);
    assert_header_after(place, 0, "Bearer inline");
    assert_string_not_equal(kube_auth_trouble(place->auth), "");
}

static void auth__aut_2_a_change_is_seen_after_ten_seconds(void **state)
{
    struct place *place = *state;
    start_with_file(place, STR("one"));
    scratch_write(&place->dir, "token", STR("second"));
    assert_header_after(place, 9999, "Bearer one");
    assert_header_after(place, 1, "Bearer second");
}

static void auth__aut_2_a_swapped_symlink_is_a_change(void **state)
{
    struct place *place = *state;
    scratch_write(&place->dir, "v1/token", STR("one"));
    scratch_write(&place->dir, "v2/token", STR("two"));
    assert_int_equal(symlink("v1", scratch_path(&place->dir, "data")), 0);
    place->config.token_path = str_c(scratch_path(&place->dir, "data/token"));
    place->auth = kube_auth_new(&place->config, place->now);
    assert_header_after(place, 0, "Bearer one");
    assert_int_equal(symlink("v2", scratch_path(&place->dir, "next")), 0);
    assert_int_equal(rename(scratch_path(&place->dir, "next"), scratch_path(&place->dir, "data")), 0);
    assert_header_after(place, 10000, "Bearer two");
}

static void auth__aut_2_what_is_no_token_keeps_the_last_good_one(void **state)
{
    struct place *place = *state;
    static const struct str texts[] = { STR_INIT(""),          STR_INIT(" \n"),
                                        STR_INIT("two words"), STR_INIT("a\r\nX-Evil: 1"),
                                        STR_INIT("a\0b"),      STR_INIT("t\xc3\xb6ken") };
    start_with_file(place, STR("good"));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        scratch_write(&place->dir, "token", texts[i]);
        assert_header_after(place, 10000, "Bearer good");
        assert_string_not_equal(kube_auth_trouble(place->auth), "");
        assert_null(strstr(kube_auth_trouble(place->auth), "Evil"));
    }
    unlink(scratch_path(&place->dir, "token"));
    assert_header_after(place, 10000, "Bearer good");
    assert_non_null(strstr(kube_auth_trouble(place->auth), "/token"));
    scratch_write(&place->dir, "token", STR("better"));
    assert_header_after(place, 10000, "Bearer better");
    assert_string_equal(kube_auth_trouble(place->auth), "");
}

static void auth__a_token_of_ten_kilobytes(void **state)
{
    struct place *place = *state;
    char token[10241];
    memset(token, 'x', sizeof token);
    memcpy(token, "Bearer ", 7);
    token[sizeof token - 1] = '\0';
    start_with_file(place, str_c(token + 7));
    assert_header_after(place, 0, token);
}

static void auth__aut_2_a_401_reads_the_file_at_once(void **state)
{
    struct place *place = *state;
    start_with_file(place, STR("one"));
    uint64_t used = kube_auth_generation(place->auth);
    assert_false(kube_auth_refresh(place->auth, used, place->now)); /* the same token again */
    scratch_write(&place->dir, "token", STR("two"));
    assert_true(kube_auth_refresh(place->auth, used, place->now));
    assert_header_after(place, 0, "Bearer two");
}

static void auth__a_401_to_an_older_token_is_tried_with_the_present_one(void **state)
{
    struct place *place = *state;
    start_with_file(place, STR("one"));
    uint64_t used = kube_auth_generation(place->auth);
    scratch_write(&place->dir, "token", STR("second"));
    assert_header_after(place, 10000, "Bearer second");
    assert_true(kube_auth_refresh(place->auth, used, place->now));
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(auth__token_and_basic),
        PLACE_TEST(auth__net_8_plain_http_has_no_credentials),
        PLACE_TEST(auth__aut_2_the_file_wins_and_is_trimmed),
        PLACE_TEST(auth__aut_2_an_unreadable_file_leaves_the_inline_token),
        PLACE_TEST(auth__aut_2_a_change_is_seen_after_ten_seconds),
        PLACE_TEST(auth__aut_2_a_swapped_symlink_is_a_change),
        PLACE_TEST(auth__aut_2_what_is_no_token_keeps_the_last_good_one),
        PLACE_TEST(auth__a_token_of_ten_kilobytes),
        PLACE_TEST(auth__aut_2_a_401_reads_the_file_at_once),
        PLACE_TEST(auth__a_401_to_an_older_token_is_tried_with_the_present_one),
    };
    return cmocka_run_group_tests_name("kube/auth", tests, NULL, NULL);
}
