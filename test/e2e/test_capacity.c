/* Capacity on the node status: put back when it goes, never mixed with what others write. */
#include <signal.h>
#include <stdio.h>

#include "cluster.h"
#include "manager.h"
#include "objects.h"

#define MID_CPU "kubernetes.io/mid-cpu"
#define MID_MEMORY "kubernetes.io/mid-memory"

static void start(struct e2e *e2e, size_t nodes)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, nodes);
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e);
    e2e_report_all(e2e, nodes);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 4000, 10 * GIB) == nodes);
    e2e_settle(e2e);
}

/* --- put back ---------------------------------------------------------------------------- */

struct loss {
    const char *patch; /* what somebody does to node-000 */
    const char *reply; /* what comes of it */
};

static void loses(struct e2e *e2e, const struct loss *loss)
{
    start(e2e, 2);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    e2e_patch(e2e, "/api/v1/nodes/node-000/status", "%s", loss->patch);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    e2e_settle(e2e);
    if (!e2e_has_log(e2e))
        return;
    struct e2e_requests writes = e2e_writes(e2e, mark);
    assert_int_equal(writes.count, 1);
    assert_true(str_eq(writes.items[0].path, STR("/api/v1/nodes/node-000/status")));
    assert_string_equal(arena_str(&e2e->arena, writes.items[0].body).ptr,
                        e2e_json(e2e, "%s", loss->reply).ptr);
}

static void a_key_lost_from_capacity_comes_back(struct e2e *e2e)
{
    loses(e2e, &(struct loss){ "{'status':{'capacity':{'" MID_CPU "':null}}}",
                               "{'status':{'capacity':{'" MID_CPU "':'4k'}}}" });
}

static void a_key_lost_from_allocatable_comes_back(struct e2e *e2e)
{
    loses(e2e, &(struct loss){ "{'status':{'allocatable':{'" MID_MEMORY "':null}}}",
                               "{'status':{'allocatable':{'" MID_MEMORY "':'10Gi'}}}" });
}

static void everything_lost_comes_back_in_one_patch(struct e2e *e2e)
{
    loses(e2e, &(struct loss){ "{'status':{'allocatable':{'" MID_CPU "':null,'" MID_MEMORY "':null},"
                               "'capacity':{'" MID_CPU "':null,'" MID_MEMORY "':null}}}",
                               "{'status':{'capacity':{'" MID_CPU "':'4k','" MID_MEMORY "':'10Gi'},"
                               "'allocatable':{'" MID_CPU "':'4k','" MID_MEMORY "':'10Gi'}}}" });
}

static void a_key_changed_in_one_map_is_put_right_there(struct e2e *e2e)
{
    loses(e2e, &(struct loss){ "{'status':{'capacity':{'" MID_CPU "':'9k'}}}",
                               "{'status':{'capacity':{'" MID_CPU "':'4k'}}}" });
}

/* --- others write, too -------------------------------------------------------------------- */

static void set_foreign(struct e2e *e2e, int value)
{
    e2e_patch(e2e, "/api/v1/nodes/node-000/status",
              "{'status':{'capacity':{'nvidia.com/gpu':'%d'},'allocatable':{'nvidia.com/gpu':'%d'},"
              "'conditions':[{'type':'Ready','status':'True','reason':'r%d'}]}}",
              value, value, value);
}

/* Only keys of ours, and only where they differ, whatever is in the body. */
static void assert_only_ours(struct e2e *e2e, struct e2e_requests patches)
{
    for (size_t i = 0; i < patches.count; i++) {
        const struct json *root;
        assert_true(json_parse(&e2e->arena, patches.items[i].body, NULL, &root, NULL));
        assert_int_equal(json_count(root), 1);
        const struct json *status = json_get(root, STR("status"));
        for (size_t m = 0; m < json_count(status); m++) {
            const struct json_member *map = &status->object.members[m];
            assert_true(str_eq(map->key, STR("capacity")) || str_eq(map->key, STR("allocatable")));
            for (size_t k = 0; k < json_count(map->value); k++)
                assert_true(str_eq(map->value->object.members[k].key, STR(MID_CPU)) ||
                            str_eq(map->value->object.members[k].key, STR(MID_MEMORY)));
        }
    }
}

static void a_foreign_key_written_meanwhile_is_never_touched(struct e2e *e2e)
{
    start(e2e, 1);
    int64_t mark = e2e_has_log(e2e) ? e2e_mark(e2e) : 0;
    for (int i = 1; i <= 20; i++) {
        set_foreign(e2e, i);
        e2e_report(e2e, "node-000", &(struct e2e_report){ .cpu_reclaimable_milli = i % 2 ? 2000 : 3000 });
        const struct json *node = e2e_get(e2e, "/api/v1/nodes/node-000");
        assert_int_equal(e2e_resource(node, "capacity", "nvidia.com/gpu"), i);
        assert_int_equal(e2e_resource(node, "allocatable", "nvidia.com/gpu"), i);
    }
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 3000, 10 * GIB));
    e2e_settle(e2e);
    const struct json *node = e2e_get(e2e, "/api/v1/nodes/node-000");
    assert_int_equal(e2e_resource(node, "capacity", "nvidia.com/gpu"), 20);
    assert_int_equal(e2e_resource(node, "capacity", "cpu"), 16);
    if (e2e_has_log(e2e))
        assert_only_ours(e2e, e2e_select(e2e, e2e_writes(e2e, mark), "PATCH", NODE_STATUS_PATH));
}

/* A whole object written from an old copy, as kubelet's PUT may be, takes ours away: they
 * come back, and what it wrote stays. */
static void a_put_from_an_old_copy_costs_nothing_for_long(struct e2e *e2e)
{
    e2e_serve(e2e);
    e2e_add_nodes(e2e, 1);
    e2e_patch(e2e, "/api/v1/nodes/node-000/status", "{'status':{'capacity':{'example.com/x':'1'}}}");
    struct rest_answer old = e2e_call(e2e, "GET", NULL, STR_NULL, "/api/v1/nodes/node-000");
    e2e_set_policy(e2e, "{'enable':true}");
    e2e_manage(e2e);
    e2e_report_all(e2e, 1);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    const struct json *root;
    assert_true(json_parse(&e2e->arena, old.body, NULL, &root, NULL));
    struct json *copy = json_copy(&e2e->arena, root);
    struct json *meta = json_copy(&e2e->arena, json_get(root, STR("metadata")));
    json_remove(meta, STR("resourceVersion"));
    json_set(&e2e->arena, copy, STR("metadata"), meta);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    json_write(&text, copy);
    struct str body = arena_str(&e2e->arena, strbuf_str(&text));
    assert_int_equal(e2e_call(e2e, "PUT", NULL, body, "/api/v1/nodes/node-000/status").code, 200);
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4000, 10 * GIB));
    assert_int_equal(e2e_resource(e2e_get(e2e, "/api/v1/nodes/node-000"), "capacity", "example.com/x"), 1);
}

/* --- small changes ------------------------------------------------------------------------- */

static void a_small_change_waits_and_a_large_one_takes_it_along(struct e2e *e2e)
{
    start(e2e, 1);
    e2e_need_log(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_report(e2e, "node-000", &(struct e2e_report){ .cpu_reclaimable_milli = 4100 }); /* 2.5 % */
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 0);
    e2e_report(e2e, "node-000",
               &(struct e2e_report){ .cpu_reclaimable_milli = 4100, .memory_reclaimable_bytes = 5 * GIB });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4100, 5 * GIB));
    e2e_settle(e2e);
    e2e_assert_writes(e2e, mark, 1);
}

static void a_small_change_is_written_when_its_time_has_come(struct e2e *e2e)
{
    start(e2e, 1);
    e2e_set_policy(e2e, "{'enable':true,'updateTimeThresholdSeconds':1}");
    e2e_report(e2e, "node-000", &(struct e2e_report){ .cpu_reclaimable_milli = 4100 });
    EVENTUALLY(e2e, e2e_mid_is(e2e, "node-000", 4100, 10 * GIB));
}

static void equal_values_are_never_sent_however_much_time_passes(struct e2e *e2e)
{
    start(e2e, 3);
    e2e_need_log(e2e);
    e2e_set_policy(e2e, "{'enable':true,'updateTimeThresholdSeconds':1,'metricReportIntervalSeconds':50}");
    EVENTUALLY(e2e, e2e_interval_count(e2e, 50) == 3);
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    struct wall_time started = wall_now();
    /* Reports keep coming while the threshold passes several times over. */
    do {
        e2e_report_all(e2e, 3);
        e2e_settle(e2e);
    } while (wall_now().us - started.us < 3 * US_PER_S);
    e2e_assert_writes(e2e, mark, 0);
}

/* --- order ------------------------------------------------------------------------------- */

static bool raises(struct e2e *e2e, const struct e2e_request *request)
{
    const struct json *root;
    assert_true(json_parse(&e2e->arena, request->body, NULL, &root, NULL));
    const struct json *cpu = json_get(json_path(root, "status", "allocatable", NULL), STR(MID_CPU));
    return json_is(cpu, JSON_STRING) && e2e_amount(json_str(cpu)) > 1600;
}

/* Half of the nodes lend less and half lend more by one edit; at ten writes a second, who
 * has to take back does not wait for who may give. */
static void withdrawals_go_before_increases(struct e2e *e2e)
{
    enum { EACH = 6 };
    e2e_serve(e2e);
    e2e_need_log(e2e);
    for (size_t i = 0; i < (size_t)2 * EACH; i++)
        e2e_add_node(e2e, &(struct e2e_node){ .name = e2e_node_name(e2e, i),
                                              .labels = i % 2 ? "'pool':'up'" : "'pool':'down'" });
#define POOL(pool, percent)                                                                                  \
    "{'nodeSelector':{'matchLabels':{'pool':'" pool "'}},'midCPUThresholdPercent':" percent "}"
    e2e_set_policy(e2e, "{'enable':true,'nodeConfigs':[" POOL("up", "5") "," POOL("down", "20") "]}");
    e2e_manage(e2e);
    e2e_report_all(e2e, (size_t)2 * EACH);
    EVENTUALLY(e2e, e2e_mid_count(e2e, 800, 10 * GIB) == EACH && e2e_mid_count(e2e, 3200, 10 * GIB) == EACH);
    e2e_stop(e2e->manager);

    e2e_manage(e2e, "--rest-config-qps", "10", "--rest-config-burst", "1");
    e2e_settle(e2e);
    int64_t mark = e2e_mark(e2e);
    e2e_set_policy(e2e, "{'enable':true,'metricReportIntervalSeconds':30,'nodeConfigs':[" POOL(
                            "up", "20") "," POOL("down", "5") "]}");
    EVENTUALLY(e2e, e2e_mid_count(e2e, 800, 10 * GIB) == EACH && e2e_mid_count(e2e, 3200, 10 * GIB) == EACH &&
                        e2e_interval_count(e2e, 30) == (size_t)2 * EACH);
    struct e2e_requests writes = e2e_writes(e2e, mark);
    struct e2e_requests patches = e2e_select(e2e, writes, "PATCH", NODE_STATUS_PATH);
    assert_int_equal(patches.count, 2 * EACH);
    for (size_t i = 0; i < EACH; i++)
        assert_false(raises(e2e, &patches.items[i]));
    /* One token was there before the edit's keys were all decided; after it, in turn. */
    struct e2e_requests others = e2e_select(e2e, writes, "PATCH", NODEMETRIC_PATH "/*");
    assert_int_equal(others.count, 2 * EACH);
    assert_true(patches.items[EACH - 1].id < others.items[1].id);
    printf("measured: %zu writes at 10/s took %lld ms\n", writes.count,
           (long long)((writes.items[writes.count - 1].time.us - writes.items[0].time.us) / 1000));
}

static const struct e2e_test tests[] = {
    E2E_TEST("a key lost from capacity comes back", a_key_lost_from_capacity_comes_back),
    E2E_TEST("a key lost from allocatable comes back", a_key_lost_from_allocatable_comes_back),
    E2E_TEST("everything lost comes back in one patch", everything_lost_comes_back_in_one_patch),
    E2E_TEST("a key changed in one map is put right there", a_key_changed_in_one_map_is_put_right_there),
    E2E_TEST("a foreign key written meanwhile is never touched",
             a_foreign_key_written_meanwhile_is_never_touched),
    E2E_TEST("a PUT from an old copy costs nothing for long", a_put_from_an_old_copy_costs_nothing_for_long),
    E2E_TEST("a small change waits, and a large one takes it along",
             a_small_change_waits_and_a_large_one_takes_it_along),
    E2E_TEST("a small change is written when its time has come",
             a_small_change_is_written_when_its_time_has_come),
    E2E_TEST("equal values are never sent, however much time passes",
             equal_values_are_never_sent_however_much_time_passes),
    E2E_TEST("withdrawals go before increases", withdrawals_go_before_increases),
};

int main(void)
{
    return e2e_main("e2e/capacity", tests, ARRAY_LEN(tests));
}
