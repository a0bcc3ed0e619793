#include "sloconfig/admission.h"
#include "sloconfig/network.h"

/* --- keys ------------------------------------------------------------------------ */

struct admission_key {
    const struct str *key;
    void (*check)(const struct admission_key *self, struct str value, const struct admission_request *request,
                  struct findings *findings);
    enum slo_key slo; /* check_slo */
};

static struct str data_value(const struct admission_configmap *data, struct str key)
{
    for (size_t i = 0; data && i < data->count; i++)
        if (str_eq(data->items[i].key, key))
            return data->items[i].value;
    return STR_NULL;
}

/* The entries of one key, whatever they say. */
static void check_entries(const struct entry_list *list, const struct admission_request *request,
                          struct findings *findings)
{
    if (request->need_names)
        node_entries_check_names(list, findings);
    size_t before = findings->count + findings->omitted;
    node_entries_check_overlaps(list, findings);
    if (findings->count + findings->omitted == before)
        node_entries_check_nodes(list, request->nodes, request->node_count, findings);
}

static struct entry_list colocation_entries(const struct colocation_config *config, struct arena *arena)
{
    struct node_entry *items = arena_array(arena, struct node_entry, config->count);
    for (size_t i = 0; i < config->count; i++)
        items[i] = (struct node_entry){ config->entries[i].index, config->entries[i].name,
                                        config->entries[i].selector, config->entries[i].selector_json };
    return (struct entry_list){ colocation_key, "nodeConfigs", items, config->count };
}

void admission_overlaps(const struct colocation_config *config, struct findings *findings)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct entry_list list = colocation_entries(config, &arena);
    node_entries_check_overlaps(&list, findings);
}

static void check_colocation(const struct admission_key *self, struct str value,
                             const struct admission_request *request, struct findings *findings)
{
    (void)self;
    CLEANUP(colocation_config_freep) struct colocation_config *config = colocation_parse(value, findings);
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    if (!config)
        return;
    struct entry_list list = colocation_entries(config, &arena);
    check_entries(&list, request, findings);
}

static void check_slo(const struct admission_key *self, struct str value,
                      const struct admission_request *request, struct findings *findings)
{
    CLEANUP(slo_config_freep) struct slo_config *config = slo_config_parse(self->slo, value, findings);
    if (!config)
        return;
    if (self->slo == SLO_QOS)
        network_check(config, data_value(&request->data, slo_keys[SLO_SYSTEM].key), findings);
    check_entries(&config->list, request, findings);
}

static const struct admission_key keys[] = {
    { &colocation_key, check_colocation, 0 },
    { &slo_keys[SLO_THRESHOLD].key, check_slo, SLO_THRESHOLD },
    { &slo_keys[SLO_QOS].key, check_slo, SLO_QOS },
    { &slo_keys[SLO_SYSTEM].key, check_slo, SLO_SYSTEM },
    { &slo_keys[SLO_CPU_BURST].key, check_slo, SLO_CPU_BURST },
    { &slo_keys[SLO_HOST_APPS].key, check_slo, SLO_HOST_APPS },
};

static bool refuses(const struct findings *findings, size_t from)
{
    for (size_t i = from; i < findings->count; i++)
        if (findings->items[i].level != FINDING_WARNING)
            return true;
    return findings->omitted > 0;
}

bool admission_validate(const struct admission_request *request, struct findings *findings)
{
    size_t before = findings->count;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct str value = data_value(&request->data, *keys[i].key);
        bool unchanged = request->old && str_eq(value, data_value(request->old, *keys[i].key));
        if (!str_empty(value) && !unchanged)
            keys[i].check(&keys[i], value, request, findings);
    }
    return !refuses(findings, before);
}
