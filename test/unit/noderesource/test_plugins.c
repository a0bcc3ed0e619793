#include "support.h"

static const struct row {
    const char *name;
    const char *list;
    uint32_t active; /* bit per plugin; 1 << 31: an error */
} rows[] = {
    { "plugins: the default is all", NODERESOURCE_PLUGINS_DEFAULT, 0x3f },
    { "plugins: star is all", "*", 0x3f },
    { "plugins: one by name", "BatchResource", 1u << NODERESOURCE_BATCH },
    { "plugins: all but one", "*,-MidResource", 0x3e },
    { "plugins: minus before star", "-MidResource,*", 0x3e },
    { "plugins: first mention decides", "MidResource,-MidResource", 1 },
    { "plugins: minus alone takes none", "-MidResource", 0 },
    { "plugins: empty list takes none", "", 0 },
    { "plugins: blanks and empty items are ignored", " MidResource , ,GPUDeviceResource,",
      1u << NODERESOURCE_MID | 1u << NODERESOURCE_GPU },
    { "plugins: unknown name is an error", "MidResource,Nope", 1u << 31 },
    { "plugins: unknown minus is an error", "*,-Nope", 1u << 31 },
    { "plugins: case matters", "midresource", 1u << 31 },
    { "plugins: a lone minus is an error", "-", 1u << 31 },
};

static void plugins__row(void **state)
{
    const struct row *row = *state;
    struct noderesource_plugins plugins = { .active = { [NODERESOURCE_RDMA] = true } };
    struct err err = ERR_INIT;
    bool ok = noderesource_plugins_parse(str_c(row->list), &plugins, &err);
    assert_int_equal(ok, !(row->active >> 31));
    if (!ok) {
        assert_int_equal(err.kind, ERR_INVALID);
        assert_true(plugins.active[NODERESOURCE_RDMA]);
        return;
    }
    for (size_t i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++)
        assert_int_equal(plugins.active[i], row->active >> i & 1);
}

static void plugins__only_built_ones_manage_keys(void **state)
{
    (void)state;
    struct noderesource_plugins plugins = { 0 };
    assert_int_equal(noderesource_plugins_keys(&plugins), 0);
    uint32_t want = 0;
    for (size_t i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++) {
        plugins.active[i] = true;
        if (noderesource_plugin_table[i].built)
            want |= noderesource_plugin_table[i].owns;
    }
    assert_int_equal(noderesource_plugins_keys(&plugins), want);
    assert_true(want & 1u << OWNED_MID_CPU && want & 1u << OWNED_MID_MEMORY);
}

int main(void)
{
    struct CMUnitTest tests[1 + ARRAY_LEN(rows)];
    tests[0] = (struct CMUnitTest)cmocka_unit_test(plugins__only_built_ones_manage_keys);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i + 1] =
            (struct CMUnitTest){ rows[i].name, plugins__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    return cmocka_run_group_tests_name("noderesource/plugins", tests, NULL, NULL);
}
