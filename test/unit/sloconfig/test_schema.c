#include "sloconfig/slo.h"
#include "support.h"

#define LS(text) "{\"resourceQOSStrategy\":{\"lsClass\":{" text "}}}"

/* From what stands in a NodeSLO's spec to what should. */
static const struct row {
    const char *name;
    const char *have;
    const char *want;
    const char *patch; /* NULL: nothing differs */
} rows[] = {
    { "diff: the same", "{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}",
      "{\"cpuBurstStrategy\":{\"policy\":\"auto\"}}", NULL },
    { "diff: one field", "{\"cpuBurstStrategy\":{\"policy\":\"auto\",\"cpuBurstPercent\":1}}",
      "{\"cpuBurstStrategy\":{\"policy\":\"none\",\"cpuBurstPercent\":1}}",
      "{\"cpuBurstStrategy\":{\"policy\":\"none\"}}" },
    { "diff: a field of ours that is not wanted goes", "{\"systemStrategy\":{\"minFreeKbytesFactor\":1}}",
      "{\"systemStrategy\":{}}", "{\"systemStrategy\":{\"minFreeKbytesFactor\":null}}" },
    { "diff: fields that we do not know stay", "{\"extensions\":{\"a\":1},\"systemStrategy\":{\"future\":1}}",
      "{\"systemStrategy\":{}}", NULL },
    { "diff: a missing object is put there", "{}", "{\"resourceQOSStrategy\":{}}",
      "{\"resourceQOSStrategy\":{}}" },
    { "diff: an object that is not wanted goes", LS("\"cpuQOS\":{\"enable\":true}"),
      "{\"resourceQOSStrategy\":{}}", "{\"resourceQOSStrategy\":{\"lsClass\":null}}" },
    { "diff: something foreign is replaced", "{\"systemStrategy\":[1]}",
      "{\"systemStrategy\":{\"minFreeKbytesFactor\":1}}",
      "{\"systemStrategy\":{\"minFreeKbytesFactor\":1}}" },
    { "diff: a spec that is no object is replaced", "[]", "{\"systemStrategy\":{}}",
      "{\"systemStrategy\":{}}" },
    { "diff: what the server fills in is no difference",
      LS("\"networkQOS\":{\"enable\":true,\"ingressRequest\":0,\"ingressLimit\":100}"),
      LS("\"networkQOS\":{\"enable\":true}"), NULL },
    { "diff: what somebody else fills in is", LS("\"networkQOS\":{\"enable\":true,\"ingressRequest\":7}"),
      LS("\"networkQOS\":{\"enable\":true}"),
      "{\"resourceQOSStrategy\":{\"lsClass\":{\"networkQOS\":{\"ingressRequest\":null}}}}" },
    { "diff: quantities by value", "{\"systemStrategy\":{\"totalNetworkBandwidth\":\"1000M\"}}",
      "{\"systemStrategy\":{\"totalNetworkBandwidth\":\"1G\"}}", NULL },
    { "diff: maps key by key", "{\"systemStrategy\":{\"schedFeatures\":{\"A\":true,\"B\":true}}}",
      "{\"systemStrategy\":{\"schedFeatures\":{\"B\":false,\"C\":true}}}",
      "{\"systemStrategy\":{\"schedFeatures\":{\"B\":false,\"C\":true,\"A\":null}}}" },
    { "diff_9: no applications and none are the same", "{}", "{\"hostApplications\":[]}", NULL },
    { "diff_9: an empty list and none are the same", "{\"hostApplications\":[]}", "{}", NULL },
    { "diff: applications that are not wanted go", "{\"hostApplications\":[{\"name\":\"a\"}]}",
      "{\"hostApplications\":[]}", "{\"hostApplications\":null}" },
    { "diff: lists are replaced whole", "{\"hostApplications\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
      "{\"hostApplications\":[{\"name\":\"a\"},{\"name\":\"c\"}]}",
      "{\"hostApplications\":[{\"name\":\"a\"},{\"name\":\"c\"}]}" },
    { "diff: items that hold more than we know are the same",
      "{\"hostApplications\":[{\"name\":\"a\",\"future\":1}]}", "{\"hostApplications\":[{\"name\":\"a\"}]}",
      NULL },
};

static void diff__row(void **state)
{
    const struct row *row = *state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct json *have = must_parse(&arena, str_c(row->have));
    const struct json *want = must_parse(&arena, str_c(row->want));

    const struct json *patch = schema_diff(&nodeslo_schema, have, want, &arena);

    assert_string_equal(as_text(&arena, patch), row->patch ? row->patch : "");
    const struct json *after = patch ? json_merge_patch(&arena, have, patch) : have;
    assert_null(schema_diff(&nodeslo_schema, after, want, &arena));
}

int main(void)
{
    TEST_ROWS(tests, rows, diff__row);
    return cmocka_run_group_tests_name("sloconfig/schema", tests, NULL, NULL);
}
