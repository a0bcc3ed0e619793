/* Watches over real HTTP. */
#include "harness.h"

#include <stdio.h>

#define CMS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    static struct harness h;
    struct apiserver_options options = { .window = 16, .bookmark_interval_ms = 20, .freshness_wait_ms = 30 };
    harness_start(&h, &options);
    *state = &h;
    return 0;
}

/* Without bookmarks in between. */
static int setup_quiet(void **state)
{
    static struct harness h;
    struct apiserver_options options = { .window = 16, .watch_backlog_bytes = 200 * 1024 };
    harness_start(&h, &options);
    *state = &h;
    return 0;
}

static int teardown(void **state)
{
    harness_stop(*state);
    return 0;
}

static void delete_config_map(struct harness *h, const char *name)
{
    struct apiserver_ref ref = { STR("configmaps"), STR("default"), str_c(name) };
    assert_true(apiserver_delete(h->server, &ref));
}

static const char *from(struct harness *h, const char *path, int64_t rv)
{
    return arena_strf(&h->arena, "%s%cwatch=true&resourceVersion=%lld", path, strchr(path, '?') ? '&' : '?',
                      (long long)rv)
        .ptr;
}

static void watch__tells_changes_in_order_with_their_versions(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    assert_int_equal(s.status, 200);
    add_config_map(h, "a", "1");
    add_config_map(h, "a", "2");
    delete_config_map(h, "a");
    assert_event(&s, 0, "ADDED", "a");
    assert_event(&s, 1, "MODIFIED", "a");
    assert_event(&s, 2, "DELETED", "a");
    assert_at(h, s.events[0], "object.kind", "ConfigMap");
    assert_at(h, s.events[1], "object.data.key", "2");
    assert_at(h, s.events[2], "object.data.key", "2");
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(rv_of(h, json_get(s.events[i], STR("object"))),
                         rv_of(h, json_get(s.events[i - 1], STR("object"))) + 1);
    assert_int_equal(rv_of(h, json_get(s.events[2], STR("object"))), apiserver_resource_version(h->server));
    stream_close(&s);
}

static void watch__catches_up_from_a_past_version(void **state)
{
    struct harness *h = *state;
    int64_t rv = apiserver_resource_version(h->server);
    add_config_map(h, "a", "1");
    add_config_map(h, "b", "1");
    struct stream s;
    stream_open(h, &s, from(h, CMS, rv + 1));
    assert_event(&s, 0, "ADDED", "b");
    add_config_map(h, "c", "1");
    assert_event(&s, 1, "ADDED", "c");
    stream_close(&s);
}

static void wat_5_without_a_version_the_state_comes_first_in_key_order(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "b", "1");
    add_config_map(h, "a", "1");
    struct stream s;
    stream_open(h, &s, CMS "?watch=1");
    assert_event(&s, 0, "ADDED", "a");
    assert_event(&s, 1, "ADDED", "b");
    assert_true(rv_of(h, json_get(s.events[0], STR("object"))) >
                rv_of(h, json_get(s.events[1], STR("object"))));
    stream_close(&s);
}

static void watch__a_forgotten_version_is_an_error_event_410(void **state)
{
    struct harness *h = *state;
    int64_t rv = apiserver_resource_version(h->server);
    add_config_map(h, "a", "1");
    apiserver_compact(h->server);
    struct stream s;
    stream_open(h, &s, from(h, CMS, rv));
    assert_int_equal(s.status, 200);
    assert_event(&s, 0, "ERROR", NULL);
    assert_at(h, s.events[0], "object.kind", "Status");
    assert_at(h, s.events[0], "object.code", "410");
    assert_at(h, s.events[0], "object.reason", "Expired");
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_COMPLETE);
    stream_close(&s);
}

static void watch__the_window_ends_by_count_too(void **state)
{
    struct harness *h = *state;
    int64_t rv = apiserver_resource_version(h->server);
    for (int i = 0; i < 20; i++)
        add_config_map(h, "a", i % 2 ? "1" : "2");
    struct stream s;
    stream_open(h, &s, from(h, CMS, rv));
    assert_event(&s, 0, "ERROR", NULL);
    stream_close(&s);
}

static void watch__entering_and_leaving_a_selection(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS "?labelSelector=value%3Din", apiserver_resource_version(h->server)));
    add_config_map(h, "a", "out");
    add_config_map(h, "a", "in");
    add_config_map(h, "a", "out");
    assert_event(&s, 0, "ADDED", "a");
    assert_event(&s, 1, "DELETED", "a");
    /* The previous content, under the version of the change. */
    assert_at(h, s.events[1], "object.data.key", "in");
    assert_int_equal(rv_of(h, json_get(s.events[1], STR("object"))), apiserver_resource_version(h->server));
    add_config_map(h, "b", "in");
    assert_event(&s, 2, "ADDED", "b");
    stream_close(&s);
}

static void watch__one_object_by_field_selector_and_by_old_path(void **state)
{
    struct harness *h = *state;
    struct stream by_field, by_path;
    int64_t rv = apiserver_resource_version(h->server);
    stream_open(h, &by_field, from(h, CMS "?fieldSelector=metadata.name%3Db", rv));
    stream_open(
        h, &by_path,
        arena_strf(&h->arena, "/api/v1/watch/namespaces/default/configmaps/b?resourceVersion=%d", (int)rv)
            .ptr);
    add_config_map(h, "a", "1");
    add_config_map(h, "b", "1");
    assert_event(&by_field, 0, "ADDED", "b");
    assert_event(&by_path, 0, "ADDED", "b");
    stream_close(&by_field);
    stream_close(&by_path);
}

static void wat_3_bookmarks_come_only_when_asked_for(void **state)
{
    struct harness *h = *state;
    struct stream asked, silent;
    int64_t rv = apiserver_resource_version(h->server);
    stream_open(h, &silent, from(h, CMS, rv));
    stream_open(h, &asked, from(h, CMS "?allowWatchBookmarks=true", rv));
    add_node(h, "n"); /* another resource moves the version */
    stream_need(&asked, 2);
    assert_event(&asked, 1, "BOOKMARK", NULL);
    assert_at(h, asked.events[1], "object.kind", "ConfigMap");
    assert_at(h, asked.events[1], "object.apiVersion", "v1");
    assert_int_equal(rv_of(h, json_get(asked.events[1], STR("object"))),
                     apiserver_resource_version(h->server));
    assert_int_equal(silent.count, 0);
    stream_close(&asked);
    stream_close(&silent);
}

static void watch__bookmark_on_command(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS "?allowWatchBookmarks=true", apiserver_resource_version(h->server)));
    apiserver_bookmark(h->server);
    assert_event(&s, 0, "BOOKMARK", NULL);
    stream_close(&s);
}

static void wat_4_timeout_ends_the_stream_properly(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS "?timeoutSeconds=1", apiserver_resource_version(h->server)));
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_COMPLETE);
    assert_int_equal(s.count, 0);
    assert_int_equal(apiserver_watch_count(h->server), 0);
    stream_close(&s);
}

static void watch__a_version_of_the_future_is_accepted_and_silent(void **state)
{
    struct harness *h = *state;
    struct stream s;
    int64_t rv = apiserver_resource_version(h->server);
    stream_open(h, &s, from(h, CMS "?allowWatchBookmarks=true", rv + 3));
    add_config_map(h, "a", "1");
    add_config_map(h, "b", "1");
    apiserver_bookmark(h->server);
    add_config_map(h, "c", "1");
    add_config_map(h, "d", "1");
    assert_event(&s, 0, "ADDED", "d");
    stream_close(&s);
}

static void str_1_a_streaming_list_ends_its_start_with_a_marked_bookmark(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    add_config_map(h, "b", "1");
    int64_t rv = apiserver_resource_version(h->server);
    struct stream s;
    stream_open(
        h, &s,
        CMS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    assert_event(&s, 0, "ADDED", "a");
    assert_event(&s, 1, "ADDED", "b");
    assert_event(&s, 2, "BOOKMARK", NULL);
    assert_non_null(
        json_path(s.events[2], "object", "metadata", "annotations", "k8s.io/initial-events-end", NULL));
    assert_int_equal(rv_of(h, json_get(s.events[2], STR("object"))), rv);
    add_config_map(h, "c", "1");
    assert_event(&s, 3, "ADDED", "c");
    stream_close(&s);
}

static void str_1_sent_initial_events_false_starts_with_changes(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct stream s;
    stream_open(h, &s, CMS "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    add_config_map(h, "b", "1");
    assert_event(&s, 0, "ADDED", "b");
    stream_close(&s);
}

static void str_a_streaming_list_of_the_future_is_504(void **state)
{
    struct harness *h = *state;
    assert_status(h,
                  get(h, CMS
                      "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="
                      "100000"),
                  504, "Timeout");
}

static void watch__cut_drops_the_connection_and_end_does_not(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    apiserver_end_watches(h->server);
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_COMPLETE);
    stream_close(&s);
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    apiserver_cut_watches(h->server);
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_BROKEN);
    stream_close(&s);
}

static bool no_watches(void *self)
{
    return apiserver_watch_count(((struct harness *)self)->server) == 0;
}

static void watch__a_peer_that_leaves_is_forgotten(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    assert_int_equal(apiserver_watch_count(h->server), 1);
    stream_close(&s);
    harness_until(h, no_watches, h);
}

static void watch__many_watchers_get_the_same_bytes(void **state)
{
    struct harness *h = *state;
    struct stream streams[10];
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        stream_open(h, &streams[i], from(h, CMS, apiserver_resource_version(h->server)));
    add_config_map(h, "a", "1");
    add_config_map(h, "a", "2");
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        stream_need(&streams[i], 2);
        assert_true(json_equal(streams[i].events[1], streams[0].events[1]));
        stream_close(&streams[i]);
    }
}

static void watch__as_metadata_and_as_table(void **state)
{
    struct harness *h = *state;
    struct stream partial, table;
    h->accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    stream_open(h, &partial, from(h, CMS, apiserver_resource_version(h->server)));
    h->accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    stream_open(h, &table, from(h, CMS, apiserver_resource_version(h->server)));
    add_config_map(h, "a", "1");
    assert_event(&partial, 0, "ADDED", "a");
    assert_at(h, partial.events[0], "object.kind", "PartialObjectMetadata");
    assert_at(h, partial.events[0], "object.data", "");
    assert_event(&table, 0, "ADDED", NULL);
    assert_at(h, table.events[0], "object.kind", "Table");
    assert_at(h, table.events[0], "object.rows[0].cells[0]", "a");
    stream_close(&partial);
    stream_close(&table);
}

/* Each change of a paused server waits in the window, and comes after the pause. */
static void watch__pause_holds_events_back(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    apiserver_pause(h->server);
    add_config_map(h, "a", "1");
    harness_settle(h);
    assert_int_equal(s.count, 0);
    apiserver_resume(h->server);
    assert_event(&s, 0, "ADDED", "a");
    stream_close(&s);
}

static void put_big(struct harness *h, int number)
{
    static char big[60001];
    struct err err = ERR_INIT;
    memset(big, 'x', sizeof big - 1);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1 << 20);
    strbuf_addf(&text,
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"big\"},"
                "\"data\":{\"n\":\"%d\",\"x\":\"%s\"}}",
                number, big);
    assert_true(apiserver_put(h->server, strbuf_str(&text), &err));
}

static void wat_12_who_reads_too_slowly_is_dropped(void **state)
{
    struct harness *h = *state;
    struct stream s;
    stream_open(h, &s, from(h, CMS, apiserver_resource_version(h->server)));
    /* The loop does not run meanwhile, so nothing is read; the backlog grows. */
    for (int i = 0; i < 200 && apiserver_watch_count(h->server); i++)
        put_big(h, i);
    assert_int_equal(apiserver_watch_count(h->server), 0);
    stream_need_end(&s);
    assert_int_equal(s.outcome, HTTP_COMPLETE);
    stream_close(&s);
}

static void watch__ends_when_its_crd_goes(void **state)
{
    struct harness *h = *state;
    struct err err = ERR_INIT;
    assert_true(apiserver_put(
        h->server,
        STR("{\"apiVersion\":\"apiextensions.k8s.io/"
            "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
            "\"things.ex.io\"},\"spec\":{\"group\":\"ex.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":"
            "\"things\","
            "\"singular\":\"thing\",\"kind\":\"Thing\",\"listKind\":\"ThingList\"},\"versions\":[{\"name\":"
            "\"v1\","
            "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
            "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}"),
        &err));
    assert_true(apiserver_put(
        h->server, STR("{\"apiVersion\":\"ex.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"t\"}}"),
        &err));
    struct stream s;
    stream_open(h, &s, "/apis/ex.io/v1/things?watch=true");
    assert_event(&s, 0, "ADDED", "t");
    assert_at(h, s.events[0], "object.apiVersion", "ex.io/v1");
    assert_int_equal(
        del(h, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.ex.io", NULL).status, 200);
    assert_event(&s, 1, "DELETED", "t");
    stream_need_end(&s);
    stream_close(&s);
    assert_int_equal(get(h, "/apis/ex.io/v1/things").status, 404);
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)
#define QUIET(function_) cmocka_unit_test_setup_teardown(function_, setup_quiet, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUIET(watch__tells_changes_in_order_with_their_versions),
        QUIET(watch__catches_up_from_a_past_version),
        QUIET(wat_5_without_a_version_the_state_comes_first_in_key_order),
        QUIET(watch__a_forgotten_version_is_an_error_event_410),
        QUIET(watch__the_window_ends_by_count_too),
        QUIET(watch__entering_and_leaving_a_selection),
        QUIET(watch__one_object_by_field_selector_and_by_old_path),
        TEST(wat_3_bookmarks_come_only_when_asked_for),
        QUIET(watch__bookmark_on_command),
        QUIET(wat_4_timeout_ends_the_stream_properly),
        QUIET(watch__a_version_of_the_future_is_accepted_and_silent),
        QUIET(str_1_a_streaming_list_ends_its_start_with_a_marked_bookmark),
        QUIET(str_1_sent_initial_events_false_starts_with_changes),
        TEST(str_a_streaming_list_of_the_future_is_504),
        QUIET(watch__cut_drops_the_connection_and_end_does_not),
        QUIET(watch__a_peer_that_leaves_is_forgotten),
        QUIET(watch__many_watchers_get_the_same_bytes),
        QUIET(watch__as_metadata_and_as_table),
        QUIET(watch__pause_holds_events_back),
        QUIET(wat_12_who_reads_too_slowly_is_dropped),
        QUIET(watch__ends_when_its_crd_goes),
    };
    return cmocka_run_group_tests_name("apiserver/watch", tests, NULL, NULL);
}
