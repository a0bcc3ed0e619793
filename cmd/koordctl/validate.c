#include "validate.h"
#include "report.h"
#include "table.h"

static const struct finding_levels refusals = { {
    [FINDING_REJECTED] = true,
    [FINDING_ENTRY] = true,
    [FINDING_ADMISSION] = true,
} };

static struct admission_configmap view(const struct configmap *configmap, struct arena *arena)
{
    struct admission_data *items = arena_array(arena, struct admission_data, configmap->count);
    for (uint32_t i = 0; i < configmap->count; i++)
        items[i] = (struct admission_data){ configmap->entries[i].key, configmap->entries[i].value };
    return (struct admission_configmap){ items, configmap->count };
}

static const struct admission_node *view_nodes(const struct snapshot *snapshot, struct arena *arena)
{
    size_t count = snapshot->lists[SNAPSHOT_NODE].count;
    struct admission_node *nodes = arena_array(arena, struct admission_node, count);
    for (size_t i = 0; i < count; i++) {
        const struct node *node = node_of(snapshot_at(snapshot, SNAPSHOT_NODE, i));
        nodes[i] = (struct admission_node){ kube_object_name(&node->object), node_labels(node, arena) };
    }
    return nodes;
}

/* An old object without the policy is a mistake of the caller's, not a create. */
static bool find_old(const struct snapshot *old, const struct source_choice *choice,
                     const struct configmap **ret, struct err *err)
{
    *ret = NULL;
    if (!old)
        return true;
    return source_find(old, choice, ret, err) &&
           (*ret ||
            err_set(err, ERR_INVALID, "the old object is no ConfigMap " STR_FMT, STR_ARG(choice->name)));
}

bool validate_make(const struct snapshot *snapshot, const struct snapshot *old,
                   const struct source_choice *choice, bool need_names, struct arena *arena,
                   struct validation *ret, struct err *err)
{
    const struct configmap *configmap = NULL, *before = NULL;
    if (snapshot->lists[SNAPSHOT_CONFIGMAP].count == 0)
        return err_set(err, ERR_INVALID, "there is no ConfigMap among the inputs");
    if (!source_find(snapshot, choice, &configmap, err) || !find_old(old, choice, &before, err))
        return false;
    *ret = (struct validation){ .allowed = true, .findings = FINDINGS_INIT(arena) };
    if (!configmap)
        return true;
    struct admission_configmap old_view = before ? view(before, arena) : (struct admission_configmap){ 0 };
    struct admission_request request = {
        .data = view(configmap, arena),
        .old = before ? &old_view : NULL,
        .nodes = view_nodes(snapshot, arena),
        .node_count = snapshot->lists[SNAPSHOT_NODE].count,
        .need_names = need_names,
    };
    ret->judged = true;
    ret->allowed = admission_validate(&request, &ret->findings);
    return true;
}

const struct json *validation_to_json(const struct validation *validation, struct arena *arena)
{
    struct json *root = json_new(arena, JSON_OBJECT);
    json_set(arena, root, STR("kind"), json_new_str(arena, STR("Validation")));
    json_set(arena, root, STR("allowed"), json_new_bool(arena, validation->allowed));
    json_set(arena, root, STR("errors"), findings_to_json(&validation->findings, &refusals, arena));
    return root;
}

void validation_table(struct strbuf *out, const struct validation *validation)
{
    static const struct str titles[] = { STR_INIT("KEY"), STR_INIT("PATH"), STR_INIT("VALUE"),
                                         STR_INIT("REASON"), STR_INIT("RULE") };
    const struct findings *findings = &validation->findings;
    struct table table;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    strbuf_add(out, validation->allowed ? STR("allowed\n") : STR("refused\n"));
    if (validation->allowed)
        return;
    table_init(&table, &arena, ARRAY_LEN(titles));
    table_row(&table, titles);
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->items[i];
        struct str cells[] = { f->key, f->path, f->value, str_c(f->reason), f->message };
        if (refusals.include[f->level])
            table_row(&table, cells);
    }
    table_write(out, &table);
    if (findings->omitted)
        strbuf_addf(out, "and %zu more\n", findings->omitted);
}
