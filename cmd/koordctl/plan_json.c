/* The plan as the documented tree. Every key has its place; order never depends on input. */
#include "plan.h"
#include "report.h"

static void set_str(struct arena *arena, struct json *object, const char *key, struct str value)
{
    json_set(arena, object, str_c(key), json_new_str(arena, value));
}

static void set_null_or(struct arena *arena, struct json *object, const char *key, const struct json *value)
{
    json_set(arena, object, str_c(key), value ? value : json_new(arena, JSON_NULL));
}

/* --- config ---------------------------------------------------------------------- */

/* Of every key about nodes, in one list. */
static void push_errors(struct json *list, const struct findings *findings,
                        const struct finding_levels *errors, struct arena *arena)
{
    const struct json *part = findings_to_json(findings, errors, arena);
    for (size_t i = 0; i < part->array.count; i++)
        json_push(arena, list, part->array.items[i]);
}

static const struct json *errors_json(const struct plan *plan, struct arena *arena)
{
    static const struct finding_levels errors = { { [FINDING_REJECTED] = true, [FINDING_ENTRY] = true } };
    struct json *list = json_new(arena, JSON_ARRAY);
    push_errors(list, plan->findings, &errors, arena);
    for (size_t k = 0; k < PLAN_RATIO_KEYS; k++)
        push_errors(list, plan->ratio_findings[k], &errors, arena);
    for (size_t k = 0; k < SLO_KEY_COUNT; k++)
        push_errors(list, slo_policy_status(plan->slo)->findings[k], &errors, arena);
    return list;
}

static const struct json *config_json(const struct plan *plan, struct arena *arena)
{
    struct json *config = json_new(arena, JSON_OBJECT);
    set_str(arena, config, "state", str_c(colocation_state_name(plan->state)));
    json_set(arena, config, STR("errors"), errors_json(plan, arena));
    set_null_or(arena, config, "clusterStrategy", plan->cluster);
    return config;
}

/* --- resources ------------------------------------------------------------------- */

/* A quantity as a string, or NULL when the key is absent or no quantity (there is a warning
 * then). */
static const struct json *current_json(enum owned_resource resource,
                                       const struct noderesource_current *current, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    if (!current->set || !current->readable)
        return NULL;
    noderesource_current_write(&text, resource, current);
    return json_new_str(arena, strbuf_str(&text));
}

static const struct json *planned_json(const struct noderesource_entry *entry, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    if (entry->keep)
        return current_json(entry->resource, &entry->allocatable, arena);
    if (!entry->planned.set)
        return NULL;
    noderesource_value_write(&text, entry->resource, entry->planned.value);
    return json_new_str(arena, strbuf_str(&text));
}

static bool same_current(const struct noderesource_current *a, const struct noderesource_current *b)
{
    return a->set == b->set && a->readable == b->readable && a->nano == b->nano;
}

static const struct json *terms_json(const struct noderesource_entry *entry, struct arena *arena)
{
    struct json *terms = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < entry->term_count; i++)
        json_set(arena, terms, str_c(entry->terms[i].name), json_new_i64(arena, entry->terms[i].value));
    return terms;
}

static const struct json *entry_json(const struct noderesource_plan *plan,
                                     const struct noderesource_entry *entry, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf reason = STRBUF_INIT(1024);
    struct json *object = json_new(arena, JSON_OBJECT);
    noderesource_explain(plan, entry, &reason);
    set_null_or(arena, object, "current", current_json(entry->resource, &entry->allocatable, arena));
    if (!same_current(&entry->allocatable, &entry->capacity))
        set_null_or(arena, object, "currentCapacity", current_json(entry->resource, &entry->capacity, arena));
    set_null_or(arena, object, "planned", planned_json(entry, arena));
    json_set(arena, object, STR("write"), json_new_bool(arena, entry->write));
    set_str(arena, object, "reason", strbuf_str(&reason));
    json_set(arena, object, STR("terms"), terms_json(entry, arena));
    return object;
}

static const struct json *resources_json(const struct noderesource_plan *plan, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    for (size_t i = 0; i < plan->count; i++)
        json_set(arena, object, owned_resource_names[plan->entries[i].resource],
                 entry_json(plan, &plan->entries[i], arena));
    return object;
}

static const struct json *zone_value_json(const struct noderesource_zone_value *value, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    struct noderesource_current planned = { value->planned_set, true, value->planned_nano };
    set_null_or(arena, object, "current", current_json(value->resource, &value->current, arena));
    set_null_or(arena, object, "planned", current_json(value->resource, &planned, arena));
    return object;
}

/* NULL when nothing is managed. */
static const struct json *zones_json(const struct noderesource_plan *plan, struct arena *arena)
{
    struct json *list = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < plan->zone_count; i++) {
        struct json *object = json_new(arena, JSON_OBJECT);
        struct json *resources = json_new(arena, JSON_OBJECT);
        for (size_t v = 0; v < ARRAY_LEN(plan->zones[i].values); v++)
            json_set(arena, resources, owned_resource_names[plan->zones[i].values[v].resource],
                     zone_value_json(&plan->zones[i].values[v], arena));
        set_str(arena, object, "name", plan->zones[i].name);
        json_set(arena, object, STR("resources"), resources);
        json_push(arena, list, object);
    }
    return plan->zone_count ? list : NULL;
}

/* What annotations or labels should be; NULL when nothing is managed. */
static const struct json *metas_json(const struct noderesource_plan *plan, bool labels, struct arena *arena)
{
    struct json *object = NULL;
    for (size_t i = 0; i < plan->meta_count; i++) {
        const struct noderesource_meta *meta = &plan->metas[i];
        if (meta->label != labels)
            continue;
        if (!object)
            object = json_new(arena, JSON_OBJECT);
        set_null_or(arena, object, meta->key,
                    meta->planned.set ? json_new_str(arena, meta->planned.value) : NULL);
    }
    return object;
}

/* --- nodes ----------------------------------------------------------------------- */

static const struct json *metric_json(const struct nodemetric_plan *metric, struct arena *arena)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)4 * 1024 * 1024);
    struct json *object = json_new(arena, JSON_OBJECT);
    const struct json *spec = NULL;
    set_str(arena, object, "action", str_c(nodemetric_action_name(metric->action)));
    if (metric->has_spec) {
        nodemetric_spec_write(&text, &metric->spec);
        if (!json_parse(arena, arena_str(arena, strbuf_str(&text)), NULL, &spec, NULL))
            spec = NULL;
    }
    set_null_or(arena, object, "spec", spec);
    return object;
}

static const struct json *slo_json(const struct nodeslo_plan *slo, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    set_str(arena, object, "action", str_c(nodeslo_action_name(slo->action)));
    set_null_or(arena, object, "spec", slo->spec);
    return object;
}

static const struct json *node_json(const struct plan_node *node, bool slos, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    set_str(arena, object, "name", node->name);
    if (node->exists)
        set_null_or(arena, object, "strategy", node->strategy);
    json_set(arena, object, STR("resources"), resources_json(&node->resources, arena));
    const struct json *annotations = metas_json(&node->resources, false, arena);
    const struct json *labels = metas_json(&node->resources, true, arena);
    const struct json *zones = zones_json(&node->resources, arena);
    if (zones)
        json_set(arena, object, STR("zones"), zones);
    if (annotations)
        json_set(arena, object, STR("annotations"), annotations);
    if (labels)
        json_set(arena, object, STR("labels"), labels);
    json_set(arena, object, STR("nodeMetric"), metric_json(&node->metric, arena));
    if (slos)
        json_set(arena, object, STR("nodeSLO"), slo_json(&node->slo, arena));
    return object;
}

static const struct json *warning_json(const struct snapshot_warning *warning, struct arena *arena)
{
    struct json *object = json_new(arena, JSON_OBJECT);
    set_str(arena, object, "object", warning->object);
    set_str(arena, object, "path", warning->path);
    set_str(arena, object, "value", warning->value);
    set_str(arena, object, "message", warning->message);
    return object;
}

static const struct json *warnings_json(const struct snapshot *snapshot, struct arena *arena)
{
    struct json *list = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < snapshot->warning_count; i++)
        json_push(arena, list, warning_json(&snapshot->warnings[i], arena));
    if (snapshot->warnings_omitted > 0) {
        struct snapshot_warning rest = { .message = arena_strf(arena, "%zu more are not listed",
                                                               snapshot->warnings_omitted) };
        json_push(arena, list, warning_json(&rest, arena));
    }
    return list;
}

const struct json *plan_to_json(const struct plan *plan, struct arena *arena)
{
    struct json *root = json_new(arena, JSON_OBJECT);
    struct json *nodes = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < plan->count; i++)
        json_push(arena, nodes, node_json(&plan->nodes[i], !plan->snapshot->no_nodeslos, arena));
    set_str(arena, root, "kind", STR("Plan"));
    json_set(arena, root, STR("config"), config_json(plan, arena));
    json_set(arena, root, STR("nodes"), nodes);
    json_set(arena, root, STR("warnings"), warnings_json(plan->snapshot, arena));
    return root;
}
