#include "trees.h"
#include "test/apiserver/event.h"

#define CORE                                                                                                 \
    "{'kind':'Event','apiVersion':'v1','metadata':{'name':'e'},'involvedObject':{'kind':'Node'},'reason':'"  \
    "R',"                                                                                                    \
    "'message':'m','source':{'component':'c'},'firstTimestamp':'t','lastTimestamp':'u','count':2,'type':'"   \
    "Normal',"                                                                                               \
    "'eventTime':'v','series':{'count':3},'action':'a','related':{'kind':'Pod'},'reportingComponent':'r',"   \
    "'reportingInstance':'i'}"
#define NEW                                                                                                  \
    "{'kind':'Event','apiVersion':'events.k8s.io/v1','metadata':{'name':'e'},'regarding':{'kind':'Node'},"   \
    "'reason':'R','note':'m','deprecatedSource':{'component':'c'},'deprecatedFirstTimestamp':'t',"           \
    "'deprecatedLastTimestamp':'u','deprecatedCount':2,'type':'Normal','eventTime':'v','series':{'count':3}" \
    ","                                                                                                      \
    "'action':'a','related':{'kind':'Pod'},'reportingController':'r','reportingInstance':'i'}"

static void core_to_new_keeps_everything(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    assert_tree(&arena, api_event_from_core(&arena, tree(&arena, CORE)), NEW);
    arena_done(&arena);
}

static void new_to_core_keeps_everything(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    assert_tree(&arena, api_event_to_core(&arena, tree(&arena, NEW)), CORE);
    arena_done(&arena);
}

static void without_a_version_none_appears(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    assert_tree(&arena, api_event_from_core(&arena, tree(&arena, "{'message':'m'}")), "{'note':'m'}");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_to_new_keeps_everything),
        cmocka_unit_test(new_to_core_keeps_everything),
        cmocka_unit_test(without_a_version_none_appears),
    };
    return cmocka_run_group_tests_name("apiserver/event", tests, NULL, NULL);
}
