/* Whatever somebody pipes into `koordctl plan -f -`: read, planned and printed in every
 * form, and judged. */
#include "cmd/koordctl/input.h"
#include "cmd/koordctl/plan.h"
#include "cmd/koordctl/validate.h"
#include "yaml/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct plan *plan)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
    const struct json *tree = plan_to_json(plan, &arena);
    json_write_pretty(&out, tree);
    kyaml_write(&out, tree);
    plan_table(&out, plan);
}

static void judge(const struct snapshot *snapshot, const struct source_choice *choice)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT((size_t)16 << 20);
    struct validation validation;
    if (!validate_make(snapshot, NULL, choice, true, &arena, &validation, NULL))
        return;
    json_write(&out, validation_to_json(&validation, &arena));
    validation_table(&out, &validation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(snapshot_done) struct snapshot snapshot;
    struct plan_options options = { .config = { .name = STR("slo-controller-config") },
                                    .now = { INT64_C(1784880000) * US_PER_S } };
    struct plan plan;
    snapshot_init(&snapshot);
    if (!noderesource_plugins_parse(STR("*"), &options.plugins, NULL) ||
        !input_add_text(&snapshot, "input", (struct str){ .ptr = (const char *)data, .len = size }, NULL))
        return 0;
    snapshot_seal(&snapshot);
    judge(&snapshot, &options.config);
    if (!plan_make(&snapshot, &options, &plan, NULL))
        return 0;
    print(&plan);
    plan_done(&plan);
    return 0;
}
