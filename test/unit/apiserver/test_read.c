/* GET and LIST over real HTTP. */
#include "harness.h"

#include <stdio.h>

#define CMS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    static struct harness h;
    struct apiserver_options options = { .freshness_wait_ms = 30 };
    harness_start(&h, &options);
    *state = &h;
    return 0;
}

static int teardown(void **state)
{
    harness_stop(*state);
    return 0;
}

static void add_some(struct harness *h, int count)
{
    char name[16];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "cm-%d", i);
        add_config_map(h, name, i % 2 ? "odd" : "even");
    }
}

static const char *path_f(struct harness *h, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_str(&h->arena, str_c(text)).ptr;
}

static void get__shows_kind_and_version(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct reply reply = get(h, CMS "/a");
    assert_int_equal(reply.status, 200);
    assert_at(h, reply.json, "kind", "ConfigMap");
    assert_at(h, reply.json, "apiVersion", "v1");
    assert_at(h, reply.json, "data.key", "1");
    assert_int_equal(rv_of(h, reply.json), apiserver_resource_version(h->server));
}

static void get__missing_object_is_a_not_found_status(void **state)
{
    struct harness *h = *state;
    struct reply reply = get(h, CMS "/nope");
    assert_status(h, reply, 404, "NotFound");
    assert_at(h, reply.json, "details.name", "nope");
    assert_at(h, reply.json, "details.kind", "configmaps");
}

static void get__unknown_resource_is_404_without_a_name(void **state)
{
    struct harness *h = *state;
    struct reply reply = get(h, "/api/v1/things/x");
    assert_status(h, reply, 404, "NotFound");
    assert_at(h, reply.json, "details.name", "");
}

/* As when a CRD is not installed: a client must read 404 without a Status. */
static void get__in_an_unknown_group_is_404_in_plain_text(void **state)
{
    static const char *const paths[] = { "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/x",
                                         "/apis/slo.koordinator.sh/v1alpha1", "/apis/nothing.io/v1/things",
                                         "/nothing" };
    struct harness *h = *state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct reply reply = get(h, paths[i]);
        assert_int_equal(reply.status, 404);
        assert_null(reply.json);
        assert_true(str_starts_with(reply.content_type, STR("text/plain")));
    }
}

static void get__a_version_that_is_none_is_500(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    assert_status(h, get(h, CMS "/a?resourceVersion=x"), 500, "");
    assert_status(h, get(h, CMS "?watch=1&resourceVersion=x"), 500, "");
    assert_status(h, get(h, CMS "?resourceVersion=x"), 400, "BadRequest");
}

static void get__a_version_of_the_future_is_504_too_large(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct reply reply = get(h, CMS "/a?resourceVersion=100000");
    assert_status(h, reply, 504, "Timeout");
    assert_at(h, reply.json, "details.causes[0].reason", "ResourceVersionTooLarge");
    assert_at(h, reply.json, "details.retryAfterSeconds", "1");
}

static void write_soon(void *self)
{
    add_config_map(self, "b", "2");
}

static void get__waits_for_a_version_about_to_come(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct loop_timer timer;
    memset(&timer, 0, sizeof timer);
    loop_timer_init(&timer, h->loop, write_soon, h);
    loop_timer_set(&timer, 1);
    struct reply reply =
        get(h, path_f(h, CMS "/a?resourceVersion=%d", (int)apiserver_resource_version(h->server) + 1));
    assert_int_equal(reply.status, 200);
    loop_timer_done(&timer);
}

static void list__typed_items_of_built_ins_carry_no_kind(void **state)
{
    struct harness *h = *state;
    add_some(h, 2);
    struct reply reply = get(h, CMS);
    assert_at(h, reply.json, "kind", "ConfigMapList");
    assert_at(h, reply.json, "apiVersion", "v1");
    assert_at(h, reply.json, "items[0].metadata.name", "cm-0");
    assert_at(h, reply.json, "items[0].kind", "");
    assert_int_equal(json_count(json_get(reply.json, STR("items"))), 2);
    assert_int_equal(rv_of(h, reply.json), apiserver_resource_version(h->server));
}

static void list__empty_is_an_empty_array(void **state)
{
    struct harness *h = *state;
    struct reply reply = get(h, "/api/v1/pods");
    assert_at(h, reply.json, "items", "array");
    assert_int_equal(json_count(json_get(reply.json, STR("items"))), 0);
}

static void list__of_all_namespaces_leaves_the_namespace_out(void **state)
{
    struct harness *h = *state;
    struct err err = ERR_INIT;
    add_some(h, 1);
    assert_true(apiserver_put(h->server,
                              STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                  "\"x\",\"namespace\":\"z\"}}"),
                              &err));
    assert_int_equal(json_count(json_get(get(h, "/api/v1/configmaps").json, STR("items"))), 2);
    assert_int_equal(json_count(json_get(get(h, CMS).json, STR("items"))), 1);
}

static void list__label_selector(void **state)
{
    struct harness *h = *state;
    add_some(h, 5);
    struct reply reply = get(h, CMS "?labelSelector=value%20in%20(odd)");
    assert_int_equal(json_count(json_get(reply.json, STR("items"))), 2);
    assert_int_equal(json_count(json_get(get(h, CMS "?labelSelector=value!%3Dodd").json, STR("items"))), 3);
    assert_status(h, get(h, CMS "?labelSelector=a%20b"), 400, "BadRequest");
}

static void list__pods_of_a_node(void **state)
{
    struct harness *h = *state;
    add_pod(h, "p1", "n1");
    add_pod(h, "p2", "n2");
    struct reply reply = get(h, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2,status.phase!%3DFailed");
    assert_int_equal(json_count(json_get(reply.json, STR("items"))), 1);
    assert_at(h, reply.json, "items[0].metadata.name", "p2");
    assert_status(h, get(h, "/api/v1/pods?fieldSelector=spec.color%3Dred"), 400, "BadRequest");
}

static void lst_2_pages_show_one_version_whatever_changes_meanwhile(void **state)
{
    struct harness *h = *state;
    add_some(h, 5);
    struct reply first = get(h, CMS "?limit=2");
    assert_at(h, first.json, "metadata.remainingItemCount", "3");
    add_config_map(h, "cm-00", "new");
    add_config_map(h, "cm-9", "new");
    struct apiserver_ref gone = { STR("configmaps"), STR("default"), STR("cm-2") };
    assert_true(apiserver_delete(h->server, &gone));
    struct reply second =
        get(h, path_f(h, CMS "?limit=2&continue=%s", at(h, first.json, "metadata.continue")));
    assert_int_equal(rv_of(h, second.json), rv_of(h, first.json));
    assert_at(h, second.json, "items[0].metadata.name", "cm-2");
    assert_at(h, second.json, "items[1].metadata.name", "cm-3");
    struct reply third =
        get(h, path_f(h, CMS "?limit=2&continue=%s", at(h, second.json, "metadata.continue")));
    assert_int_equal(json_count(json_get(third.json, STR("items"))), 1);
    assert_at(h, third.json, "items[0].metadata.name", "cm-4");
    assert_at(h, third.json, "metadata.continue", "");
    assert_at(h, third.json, "metadata.remainingItemCount", "");
}

static void lst_3_a_selector_hides_the_remaining_count_and_may_leave_a_page_empty(void **state)
{
    struct harness *h = *state;
    add_some(h, 3); /* even odd even */
    struct reply first = get(h, CMS "?limit=1&labelSelector=value%3Dodd");
    assert_at(h, first.json, "items[0].metadata.name", "cm-1");
    assert_at(h, first.json, "metadata.remainingItemCount", "");
    const char *token = at(h, first.json, "metadata.continue");
    assert_string_not_equal(token, "");
    struct reply second = get(h, path_f(h, CMS "?limit=1&labelSelector=value%%3Dodd&continue=%s", token));
    assert_int_equal(second.status, 200);
    assert_int_equal(json_count(json_get(second.json, STR("items"))), 0);
    assert_at(h, second.json, "metadata.continue", "");
}

static void lst_8_a_compacted_token_is_410_with_an_inconsistent_continuation(void **state)
{
    struct harness *h = *state;
    add_some(h, 4);
    struct reply first = get(h, CMS "?limit=2");
    add_config_map(h, "cm-9", "new");
    apiserver_compact(h->server);
    struct reply expired =
        get(h, path_f(h, CMS "?limit=2&continue=%s", at(h, first.json, "metadata.continue")));
    assert_status(h, expired, 410, "Expired");
    const char *token = at(h, expired.json, "metadata.continue");
    struct reply rest = get(h, path_f(h, CMS "?continue=%s", token));
    assert_int_equal(rest.status, 200);
    assert_int_equal(json_count(json_get(rest.json, STR("items"))), 3);
    assert_true(rv_of(h, rest.json) > rv_of(h, first.json));
}

static void lst_exact_version_shows_the_past_until_it_is_compacted(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "old");
    int rv = (int)apiserver_resource_version(h->server);
    add_config_map(h, "a", "new");
    const char *path = path_f(h, CMS "?resourceVersion=%d&resourceVersionMatch=Exact", rv);
    struct reply past = get(h, path);
    assert_at(h, past.json, "items[0].data.key", "old");
    assert_int_equal(rv_of(h, past.json), rv);
    apiserver_compact(h->server);
    assert_status(h, get(h, path), 410, "Expired");
}

static void lst_limit_with_a_version_is_exact(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "old");
    int rv = (int)apiserver_resource_version(h->server);
    add_config_map(h, "a", "new");
    assert_at(h, get(h, path_f(h, CMS "?resourceVersion=%d&limit=5", rv)).json, "items[0].data.key", "old");
    assert_at(h, get(h, path_f(h, CMS "?resourceVersion=%d", rv)).json, "items[0].data.key", "new");
}

static void list__of_the_future_is_504(void **state)
{
    struct harness *h = *state;
    assert_status(h, get(h, CMS "?resourceVersion=100000"), 504, "Timeout");
    assert_status(h, get(h, CMS "?resourceVersion=100000&resourceVersionMatch=NotOlderThan"), 504, "Timeout");
}

static void list__too_long_for_one_piece_arrives_whole(void **state)
{
    struct harness *h = *state;
    char big[20001];
    char name[16];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1 << 20);
    for (int i = 0; i < 60; i++) {
        struct err err = ERR_INIT;
        snprintf(name, sizeof name, "big-%02d", i);
        strbuf_clear(&text);
        strbuf_addf(&text,
                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"},\"data\":{"
                    "\"x\":\"%s\"}}",
                    name, big);
        assert_true(apiserver_put(h->server, strbuf_str(&text), &err));
    }
    struct reply reply = get(h, CMS);
    assert_int_equal(json_count(json_get(reply.json, STR("items"))), 60);
    assert_at(h, reply.json, "items[59].metadata.name", "big-59");
}

static void media__metadata_only(void **state)
{
    struct harness *h = *state;
    add_some(h, 1);
    h->accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    struct reply list = get(h, CMS);
    assert_at(h, list.json, "kind", "PartialObjectMetadataList");
    assert_at(h, list.json, "items[0].kind", "PartialObjectMetadata");
    assert_at(h, list.json, "items[0].metadata.labels.value", "even");
    assert_at(h, list.json, "items[0].data", "");
    h->accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    assert_at(h, get(h, CMS "/cm-0").json, "kind", "PartialObjectMetadata");
}

static void media__table(void **state)
{
    struct harness *h = *state;
    add_some(h, 2);
    h->accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    struct reply list = get(h, CMS);
    assert_at(h, list.json, "kind", "Table");
    assert_at(h, list.json, "rows[1].cells[0]", "cm-1");
    assert_at(h, list.json, "rows[1].object.kind", "PartialObjectMetadata");
    assert_at(h, list.json, "metadata.resourceVersion",
              path_f(h, "%d", (int)apiserver_resource_version(h->server)));
}

static void media__protobuf_alone_is_406(void **state)
{
    struct harness *h = *state;
    h->accept = "application/vnd.kubernetes.protobuf";
    assert_status(h, get(h, CMS), 406, "NotAcceptable");
    h->accept = "application/vnd.kubernetes.protobuf,application/json";
    assert_int_equal(get(h, CMS).status, 200);
}

static void events__one_store_behind_two_groups(void **state)
{
    struct harness *h = *state;
    struct reply made = post(
        h, "/apis/events.k8s.io/v1/namespaces/default/events",
        "{\"apiVersion\":\"events.k8s.io/"
        "v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"n.1\",\"namespace\":"
        "\"default\"},\"eventTime\":\"2026-07-24T08:00:00.000000Z\",\"reportingController\":\"koord-"
        "manager\","
        "\"reportingInstance\":\"i\",\"action\":\"Check\",\"reason\":\"Because\",\"note\":\"hello\",\"type\":"
        "\"Normal\",\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\"}}");
    if (made.status != 201)
        fail_msg("%s", made.text.ptr);
    assert_at(h, made.json, "note", "hello");
    struct reply core = get(h, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dn");
    assert_at(h, core.json, "items[0].message", "hello");
    assert_at(h, core.json, "items[0].involvedObject.kind", "Node");
    struct reply mine = get(h, "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dn");
    assert_at(h, mine.json, "items[0].regarding.kind", "Node");
    assert_at(h, mine.json, "items[0].message", "");
}

static void discovery__names_what_is_served(void **state)
{
    struct harness *h = *state;
    assert_at(h, get(h, "/version").json, "major", "1");
    assert_at(h, get(h, "/api").json, "versions[0]", "v1");
    assert_at(h, get(h, "/apis").json, "kind", "APIGroupList");
    assert_at(h, get(h, "/api/v1").json, "kind", "APIResourceList");
    assert_int_equal(get(h, "/apis/nothing.io/v1").status, 404);
    assert_int_equal(get(h, "/readyz").status, 200);
    assert_int_equal(get(h, "/openapi/v3").status, 200);
    h->accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    assert_at(h, get(h, "/apis").json, "kind", "APIGroupDiscoveryList");
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(get__shows_kind_and_version),
        TEST(get__missing_object_is_a_not_found_status),
        TEST(get__unknown_resource_is_404_without_a_name),
        TEST(get__in_an_unknown_group_is_404_in_plain_text),
        TEST(get__a_version_that_is_none_is_500),
        TEST(get__a_version_of_the_future_is_504_too_large),
        TEST(get__waits_for_a_version_about_to_come),
        TEST(list__typed_items_of_built_ins_carry_no_kind),
        TEST(list__empty_is_an_empty_array),
        TEST(list__of_all_namespaces_leaves_the_namespace_out),
        TEST(list__label_selector),
        TEST(list__pods_of_a_node),
        TEST(lst_2_pages_show_one_version_whatever_changes_meanwhile),
        TEST(lst_3_a_selector_hides_the_remaining_count_and_may_leave_a_page_empty),
        TEST(lst_8_a_compacted_token_is_410_with_an_inconsistent_continuation),
        TEST(lst_exact_version_shows_the_past_until_it_is_compacted),
        TEST(lst_limit_with_a_version_is_exact),
        TEST(list__of_the_future_is_504),
        TEST(list__too_long_for_one_piece_arrives_whole),
        TEST(media__metadata_only),
        TEST(media__table),
        TEST(media__protobuf_alone_is_406),
        TEST(events__one_store_behind_two_groups),
        TEST(discovery__names_what_is_served),
    };
    return cmocka_run_group_tests_name("apiserver/read", tests, NULL, NULL);
}
