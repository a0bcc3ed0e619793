#include "sloconfig/admission.h"

/* How many (virtual node, entry) pairs are tried before the question counts as too big. */
#define OVERLAP_PAIRS_MAX ((size_t)10 * 1000 * 1000)

/* --- overlap --------------------------------------------------------------------- */

static size_t gcd(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The value of each term is chosen by index modulo its count, so the choices repeat after
 * the least common multiple. Beyond the limit it does not matter how far. */
static size_t virtual_count(const struct selector *selector)
{
    size_t count = selector->nothing ? 0 : 1;
    for (size_t i = 0; i < selector->count && count > 0 && count <= OVERLAP_PAIRS_MAX; i++)
        if (selector->terms[i].value_count > 0)
            count = count / gcd(count, selector->terms[i].value_count) * selector->terms[i].value_count;
    return count;
}

/* Sorted insertion; a key given twice keeps the later value. */
static void put_label(struct label *labels, size_t *count, struct str key, struct str value)
{
    size_t at = 0;
    while (at < *count && str_cmp(labels[at].key, key) < 0)
        at++;
    if (at == *count || !str_eq(labels[at].key, key)) {
        memmove(&labels[at + 1], &labels[at], (*count - at) * sizeof *labels);
        (*count)++;
    }
    labels[at] = (struct label){ key, value };
}

static struct labels virtual_node(const struct selector *selector, size_t index, struct arena *arena)
{
    struct label *labels = arena_array(arena, struct label, selector->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < selector->count; i++) {
        const struct selector_term *term = &selector->terms[i];
        if (term->value_count > 0)
            put_label(labels, &count, term->key, term->values[index % term->value_count]);
    }
    return (struct labels){ labels, count };
}

static struct str selector_path(const struct colocation_entry *entry, struct arena *arena)
{
    return arena_strf(arena, "nodeConfigs[%zu].nodeSelector", entry->index);
}

/* The first two entries that match. */
static size_t match_two(const struct colocation_config *config, struct labels labels, size_t ret[2])
{
    size_t found = 0;
    for (size_t i = 0; i < config->count && found < 2; i++)
        if (selector_matches(&config->entries[i].selector, labels))
            ret[found++] = i;
    return found;
}

static size_t pairs(const struct colocation_config *config)
{
    size_t total = 0;
    for (size_t i = 0; i < config->count && total <= OVERLAP_PAIRS_MAX; i++)
        total += virtual_count(&config->entries[i].selector) * config->count;
    return total;
}

static void overlaps_of(const struct colocation_config *config, const struct colocation_entry *entry,
                        bool *reported, struct findings *findings, struct arena *scratch)
{
    size_t count = virtual_count(&entry->selector);
    for (size_t v = 0; v < count; v++, arena_clear(scratch)) {
        size_t two[2];
        if (match_two(config, virtual_node(&entry->selector, v, scratch), two) < 2 || reported[two[1]])
            continue;
        reported[two[1]] = true;
        const struct colocation_entry *later = &config->entries[two[1]];
        findings_add(findings, FINDING_ADMISSION, colocation_key, selector_path(later, scratch),
                     finding_value(scratch, later->selector_json), finding_reason_overlap,
                     "must not overlap nodeConfigs[%zu]: one node can match both",
                     config->entries[two[0]].index);
    }
}

void admission_overlaps(const struct colocation_config *config, struct findings *findings)
{
    if (config->count < 2)
        return;
    if (pairs(config) > OVERLAP_PAIRS_MAX) {
        findings_add(findings, FINDING_ADMISSION, colocation_key, STR("nodeConfigs"), STR_NULL,
                     finding_reason_invalid,
                     "has too many selectors and values to tell whether they overlap");
        return;
    }
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    CLEANUP(arena_done) struct arena flags = ARENA_INIT;
    bool *reported = arena_array(&flags, bool, config->count);
    for (size_t i = 0; i < config->count; i++)
        overlaps_of(config, &config->entries[i], reported, findings, &scratch);
}

/* --- names and nodes ------------------------------------------------------------- */

static const struct colocation_entry *same_name_before(const struct colocation_config *config, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (str_eq(config->entries[i].name, config->entries[at].name))
            return &config->entries[i];
    return NULL;
}

static void check_names(const struct colocation_config *config, struct findings *findings)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    for (size_t i = 0; i < config->count; i++, arena_clear(&scratch)) {
        const struct colocation_entry *entry = &config->entries[i];
        struct str path = arena_strf(&scratch, "nodeConfigs[%zu].name", entry->index);
        const struct colocation_entry *twin = str_empty(entry->name) ? NULL : same_name_before(config, i);
        struct str value = finding_value(&scratch, json_new_str(&scratch, entry->name));
        if (str_empty(entry->name))
            findings_add(findings, FINDING_ADMISSION, colocation_key, path, STR_NULL, finding_reason_invalid,
                         "must be given");
        else if (twin)
            findings_add(findings, FINDING_ADMISSION, colocation_key, path, value, finding_reason_invalid,
                         "must be unique: nodeConfigs[%zu] has it too", twin->index);
    }
}

static void check_nodes(const struct colocation_config *config, const struct admission_request *request,
                        struct findings *findings)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    for (size_t i = 0; config->count > 1 && i < request->node_count; i++, arena_clear(&scratch)) {
        const struct admission_node *node = &request->nodes[i];
        size_t two[2];
        if (match_two(config, node->labels, two) < 2)
            continue;
        const struct colocation_entry *later = &config->entries[two[1]];
        findings_add(findings, FINDING_ADMISSION, colocation_key, selector_path(later, &scratch),
                     finding_value(&scratch, later->selector_json), finding_reason_conflict,
                     "node " STR_FMT " matches nodeConfigs[%zu] too", STR_ARG(node->name),
                     config->entries[two[0]].index);
    }
}

/* --- keys ------------------------------------------------------------------------ */

static void check_colocation(struct str value, const struct admission_request *request,
                             struct findings *findings)
{
    CLEANUP(colocation_config_freep) struct colocation_config *config = colocation_parse(value, findings);
    if (!config)
        return;
    if (request->need_names)
        check_names(config, findings);
    size_t before = findings->count + findings->omitted;
    admission_overlaps(config, findings);
    if (findings->count + findings->omitted == before)
        check_nodes(config, request, findings);
}

static const struct admission_key {
    const struct str *key;
    void (*check)(struct str value, const struct admission_request *request, struct findings *findings);
} keys[] = {
    { &colocation_key, check_colocation },
};

static struct str data_value(const struct admission_configmap *data, struct str key)
{
    for (size_t i = 0; data && i < data->count; i++)
        if (str_eq(data->items[i].key, key))
            return data->items[i].value;
    return STR_NULL;
}

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
            keys[i].check(value, request, findings);
    }
    return !refuses(findings, before);
}
