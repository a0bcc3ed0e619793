/* What a Pod has that other objects do not: priority, quality of service, a slow end. */
#include <stdlib.h>

#include "base/rfc3339.h"
#include "harness.h"
#include "test/apiserver/qos.h"
#include "trees.h"

#define PODS "/api/v1/namespaces/default/pods"
#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"

static int setup(void **state)
{
    struct harness *h = mem_zalloc(sizeof *h);
    harness_start(h, NULL);
    *state = h;
    return 0;
}

static int teardown(void **state)
{
    harness_stop(*state);
    free(*state);
    return 0;
}

/* JSON with ' for ". */
static const char *json_of(struct harness *h, const char *format, ...) PRINTF_LIKE(2, 3);
static const char *json_of(struct harness *h, const char *format, ...)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    va_list args;
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\'')
            text.ptr[i] = '"';
    return arena_str(&h->arena, strbuf_str(&text)).ptr;
}

static struct reply make(struct harness *h, const char *name, const char *more)
{
    return post(h, PODS,
                json_of(h,
                        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s'},'spec':{'containers':"
                        "[{'name':'c','image':'i'}]%s}}",
                        name, more));
}

static void add_class(struct harness *h, const char *name, const char *more)
{
    const char *body = json_of(h,
                               "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':"
                               "{'name':'%s'},%s}",
                               name, more);
    assert_int_equal(post(h, CLASSES, body).status, 201);
}

/* ---- priority ---- */

static void priority__is_0_without_a_class(void **state)
{
    struct harness *h = *state;
    struct reply reply = make(h, "p", "");
    assert_at(h, reply.json, "spec.priority", "0");
    assert_at(h, reply.json, "spec.preemptionPolicy", "PreemptLowerPriority");
}

static void priority__comes_from_the_class(void **state)
{
    struct harness *h = *state;
    add_class(h, "koord-prod", "'value':9500,'preemptionPolicy':'Never'");
    struct reply reply = make(h, "p", ",'priorityClassName':'koord-prod'");
    assert_at(h, reply.json, "spec.priority", "9500");
    assert_at(h, reply.json, "spec.preemptionPolicy", "Never");
    assert_int_equal(make(h, "q", ",'priorityClassName':'koord-prod','priority':9500").status, 201);
}

static void priority__comes_from_the_default_class(void **state)
{
    struct harness *h = *state;
    add_class(h, "usual", "'value':7,'globalDefault':true");
    struct reply reply = make(h, "p", "");
    assert_at(h, reply.json, "spec.priority", "7");
    assert_at(h, reply.json, "spec.priorityClassName", "usual");
}

static void priority__of_the_system_needs_no_object(void **state)
{
    struct harness *h = *state;
    struct reply reply = make(h, "p", ",'priorityClassName':'system-node-critical'");
    assert_at(h, reply.json, "spec.priority", "2000001000");
}

static void priority__cannot_be_claimed(void **state)
{
    struct harness *h = *state;
    add_class(h, "koord-prod", "'value':9500");
    assert_status(h, make(h, "p", ",'priority':9500"), 403, "Forbidden");
    assert_status(h, make(h, "p", ",'priorityClassName':'koord-prod','priority':1"), 403, "Forbidden");
    assert_status(h, make(h, "p", ",'priorityClassName':'nope'"), 403, "Forbidden");
    assert_int_equal(get(h, PODS "/p").status, 404);
}

static void priority__and_node_stay(void **state)
{
    static const char *const edits[] = { "{'spec':{'nodeName':'m'}}", "{'spec':{'priority':5}}",
                                         "{'spec':{'priorityClassName':'koord-prod'}}" };
    struct harness *h = *state;
    add_class(h, "koord-prod", "'value':9500");
    make(h, "p", ",'nodeName':'n'");
    for (size_t i = 0; i < ARRAY_LEN(edits); i++)
        assert_status(h, merge(h, PODS "/p", json_of(h, "%s", edits[i])), 422, "Invalid");
    assert_int_equal(merge(h, PODS "/p", json_of(h, "{'metadata':{'labels':{'a':'b'}}}")).status, 200);
}

/* ---- quality of service ---- */

#define ALIKE                                                                                                \
    "{'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1000m','memory':'1024Mi'}}}"

static const struct qos_row {
    const char *name;
    const char *spec;
    const char *want;
} qos_rows[] = {
    { "qos: nothing asked is best effort", "{'containers':[{}]}", "BestEffort" },
    { "qos: zero is nothing", "{'containers':[{'resources':{'requests':{'cpu':'0'}}}]}", "BestEffort" },
    { "qos: other resources do not count",
      "{'containers':[{'resources':{'requests':{'kubernetes.io/mid-cpu':'1k'}}}]}", "BestEffort" },
    { "qos: a request is burstable", "{'containers':[{'resources':{'requests':{'cpu':'1'}}}]}", "Burstable" },
    { "qos: limits alike for both are a guarantee", "{'containers':[" ALIKE "]}", "Guaranteed" },
    { "qos: one without limits spoils it", "{'containers':[" ALIKE ",{}]}", "Burstable" },
    { "qos: so does an init container", "{'containers':[" ALIKE "],'initContainers':[{}]}", "Burstable" },
    { "qos: requests below limits are burstable",
      "{'containers':[{'resources':{'limits':{'cpu':'2','memory':'1'},'requests':{'cpu':'1','memory':'1'}}}]"
      "}",
      "Burstable" },
};

static void qos__row(void **state)
{
    const struct qos_row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    assert_text(api_pod_qos(tree(&arena, row->spec)), row->want);
}

/* ---- the end ---- */

static void delete__of_a_pod_without_a_node_is_at_once(void **state)
{
    struct harness *h = *state;
    make(h, "p", "");
    struct reply reply = del(h, PODS "/p", NULL);
    assert_at(h, reply.json, "kind", "Pod");
    assert_at(h, reply.json, "metadata.deletionGracePeriodSeconds", "0");
    assert_int_equal(get(h, PODS "/p").status, 404);
}

static void delete__of_a_running_pod_only_marks_it(void **state)
{
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n'");
    int64_t now = loop_wall(h->loop).us;
    assert_at(h, del(h, PODS "/p", NULL).json, "metadata.deletionGracePeriodSeconds", "30");
    struct wall_time when;
    const char *text = at(h, get(h, PODS "/p").json, "metadata.deletionTimestamp");
    assert_true(rfc3339_parse(str_c(text), &when, NULL));
    assert_true(when.us - now >= 29 * US_PER_S);
    assert_int_equal(merge(h, PODS "/p/status", json_of(h, "{'status':{'reason':'ending'}}")).status, 200);
    assert_int_equal(del(h, PODS "/p", NULL).status, 200);
    assert_int_equal(get(h, PODS "/p").status, 200);
}

static void delete__without_grace_ends_it(void **state)
{
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n'");
    struct stream stream;
    stream_open(h, &stream, PODS "?watch=1");
    stream_need(&stream, 1);
    del(h, PODS "/p", NULL);
    stream_need(&stream, 2);
    assert_event(&stream, 1, "MODIFIED", "p");
    assert_int_equal(del(h, PODS "/p", json_of(h, "{'gracePeriodSeconds':0}")).status, 200);
    stream_need(&stream, 3);
    assert_event(&stream, 2, "DELETED", "p");
    assert_int_equal(get(h, PODS "/p").status, 404);
    stream_close(&stream);
}

static void delete__of_an_ended_pod_is_at_once(void **state)
{
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n'");
    merge(h, PODS "/p/status", json_of(h, "{'status':{'phase':'Succeeded'}}"));
    assert_int_equal(del(h, PODS "/p", NULL).status, 200);
    assert_int_equal(get(h, PODS "/p").status, 404);
}

static void delete__may_hurry_but_not_slow_down(void **state)
{
    static const char *const asked[][2] = { { "5", "5" }, { "1", "1" }, { "9", "1" } };
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n','terminationGracePeriodSeconds':10");
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        const char *path = arena_strf(&h->arena, PODS "/p?gracePeriodSeconds=%s", asked[i][0]).ptr;
        assert_at(h, del(h, path, NULL).json, "metadata.deletionGracePeriodSeconds", asked[i][1]);
    }
    assert_status(h, del(h, PODS "/p?gracePeriodSeconds=x", NULL), 400, "BadRequest");
}

static void delete__of_all_marks_those_that_run(void **state)
{
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n'");
    make(h, "q", "");
    assert_int_equal(del(h, PODS, NULL).status, 200);
    assert_at(h, get(h, PODS).json, "items[0].metadata.deletionGracePeriodSeconds", "30");
    assert_at(h, get(h, PODS).json, "items[1].metadata.name", "");
    assert_int_equal(del(h, PODS "?gracePeriodSeconds=0", NULL).status, 200);
    assert_at(h, get(h, PODS).json, "items[0].metadata.name", "");
}

static void delete__as_a_dry_run_changes_nothing(void **state)
{
    struct harness *h = *state;
    make(h, "p", ",'nodeName':'n'");
    assert_at(h, del(h, PODS "/p?dryRun=All", NULL).json, "metadata.deletionGracePeriodSeconds", "30");
    assert_at(h, get(h, PODS "/p").json, "metadata.deletionGracePeriodSeconds", "");
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)

int main(void)
{
    static const struct CMUnitTest plain[] = {
        TEST(priority__is_0_without_a_class),
        TEST(priority__comes_from_the_class),
        TEST(priority__comes_from_the_default_class),
        TEST(priority__of_the_system_needs_no_object),
        TEST(priority__cannot_be_claimed),
        TEST(priority__and_node_stay),
        TEST(delete__of_a_pod_without_a_node_is_at_once),
        TEST(delete__of_a_running_pod_only_marks_it),
        TEST(delete__without_grace_ends_it),
        TEST(delete__of_an_ended_pod_is_at_once),
        TEST(delete__may_hurry_but_not_slow_down),
        TEST(delete__of_all_marks_those_that_run),
        TEST(delete__as_a_dry_run_changes_nothing),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(qos_rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(qos_rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ qos_rows[i].name, qos__row, NULL, NULL, (void *)&qos_rows[i] };
    return _cmocka_run_group_tests("apiserver/pod", tests, ARRAY_LEN(tests), NULL, NULL);
}
