/* The plan for people: what stands on each node, what it would become, and why. */
#include "plan.h"
#include "table.h"

enum { NODE, RESOURCE, NOW, PLANNED, CHANGE, WHY, METRIC, COLUMNS };

#define NANO_PER_UNIT INT64_C(1000000000)

struct totals {
    __int128 now[OWNED_COUNT];
    __int128 planned[OWNED_COUNT];
    bool used[OWNED_COUNT];
    size_t nodes, changed;
    size_t actions[NODEMETRIC_DELETE + 1];
    size_t slo_actions[NODESLO_DELETE + 1];
};

struct printer {
    struct arena arena;
    struct table table;
    struct totals totals;
};

/* --- cells ----------------------------------------------------------------------- */

static int64_t clamp(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static __int128 current_units(const struct noderesource_current *current)
{
    return current->set && current->readable ? current->nano / NANO_PER_UNIT : 0;
}

static __int128 planned_units(const struct noderesource_entry *entry)
{
    return entry->keep ? current_units(&entry->allocatable) : entry->planned.set ? entry->planned.value : 0;
}

static struct str value_text(struct printer *printer, enum owned_resource resource, __int128 value)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    noderesource_value_write(&text, resource, clamp(value));
    return arena_str(&printer->arena, strbuf_str(&text));
}

static struct str current_text(struct printer *printer, const struct noderesource_entry *entry)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    noderesource_current_write(&text, entry->resource, &entry->allocatable);
    return arena_str(&printer->arena, strbuf_str(&text));
}

static struct str change_text(struct printer *printer, enum owned_resource resource, __int128 change)
{
    if (change == 0)
        return STR_NULL;
    struct str text = value_text(printer, resource, change < 0 ? -change : change);
    return arena_strf(&printer->arena, "%c" STR_FMT, change < 0 ? '-' : '+', STR_ARG(text));
}

/* A small difference is a change a running manager is in no hurry to write. */
static struct str why_text(struct printer *printer, const struct noderesource_plan *plan,
                           const struct noderesource_entry *entry)
{
    const char *why = entry->bound ? entry->bound : noderesource_reason_word(entry->reason);
    bool waits = entry->write && !entry->send && plan->wait_ms >= 0;
    return arena_strf(&printer->arena, "%s%s", why, waits ? " (waits)" : "");
}

/* "kubernetes.io/mid-cpu" without what every line shares. */
static struct str short_name(enum owned_resource resource)
{
    struct str domain, name;
    return str_cut(owned_resource_names[resource], '/', &domain, &name) ? name : domain;
}

/* --- rows ------------------------------------------------------------------------ */

static struct str action_text(const struct nodemetric_plan *metric)
{
    return metric->action == NODEMETRIC_NONE ? STR_NULL : str_c(nodemetric_action_name(metric->action));
}

static void entry_row(struct printer *printer, const struct plan_node *node,
                      const struct noderesource_entry *entry, struct str action)
{
    struct totals *totals = &printer->totals;
    __int128 now = current_units(&entry->allocatable), planned = planned_units(entry);
    struct str cells[COLUMNS] = {
        [NODE] = node->name,
        [RESOURCE] = short_name(entry->resource),
        [NOW] = current_text(printer, entry),
        [PLANNED] = entry->keep          ? current_text(printer, entry)
                    : entry->planned.set ? value_text(printer, entry->resource, entry->planned.value)
                                         : STR_NULL,
        [CHANGE] = change_text(printer, entry->resource, planned - now),
        [WHY] = why_text(printer, &node->resources, entry),
        [METRIC] = action,
    };
    table_row(&printer->table, cells);
    totals->now[entry->resource] += now;
    totals->planned[entry->resource] += planned;
    totals->used[entry->resource] = true;
}

static void node_rows(struct printer *printer, const struct plan_node *node)
{
    struct totals *totals = &printer->totals;
    totals->nodes += node->exists;
    totals->changed += node->resources.write;
    totals->actions[node->metric.action]++;
    totals->slo_actions[node->slo.action]++;
    if (node->resources.count == 0) {
        struct str cells[COLUMNS] = {
            [NODE] = node->name,
            [WHY] = node->exists ? STR("nothing to manage") : STR("no such Node"),
            [METRIC] = action_text(&node->metric),
        };
        table_row(&printer->table, cells);
    }
    for (size_t i = 0; i < node->resources.count; i++)
        entry_row(printer, node, &node->resources.entries[i], i == 0 ? action_text(&node->metric) : STR_NULL);
}

static void total_rows(struct printer *printer)
{
    const struct totals *totals = &printer->totals;
    for (size_t r = 0; r < OWNED_COUNT; r++) {
        if (!totals->used[r])
            continue;
        enum owned_resource resource = (enum owned_resource)r;
        struct str cells[COLUMNS] = {
            [NODE] = STR("TOTAL"),
            [RESOURCE] = short_name(resource),
            [NOW] = value_text(printer, resource, totals->now[r]),
            [PLANNED] = value_text(printer, resource, totals->planned[r]),
            [CHANGE] = change_text(printer, resource, totals->planned[r] - totals->now[r]),
        };
        table_row(&printer->table, cells);
    }
}

/* --- around the table ------------------------------------------------------------ */

static void write_errors(struct strbuf *out, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->level != FINDING_REJECTED && finding->level != FINDING_ENTRY)
            continue;
        strbuf_add(out, STR("error: "));
        finding_write(out, finding);
        strbuf_addc(out, '\n');
    }
}

static void write_head(struct strbuf *out, const struct plan *plan)
{
    strbuf_addf(out, "Policy: %s", colocation_state_name(plan->state));
    if (plan->configured)
        strbuf_addf(out, " (ConfigMap " STR_FMT "%s" STR_FMT ")\n", STR_ARG(plan->config_ns),
                    str_empty(plan->config_ns) ? "" : "/", STR_ARG(plan->config_name));
    else
        strbuf_add(out, STR(" (no ConfigMap)\n"));
    write_errors(out, plan->findings);
    for (size_t k = 0; k < PLAN_RATIO_KEYS; k++)
        write_errors(out, plan->ratio_findings[k]);
    for (size_t k = 0; k < SLO_KEY_COUNT; k++)
        write_errors(out, slo_policy_status(plan->slo)->findings[k]);
    strbuf_addc(out, '\n');
}

static void write_tail(struct strbuf *out, const struct plan *plan, const struct totals *totals)
{
    strbuf_addf(
        out, "\nNodes: %zu, of which %zu change. NodeMetrics: %zu to create, %zu to update, %zu to delete.\n",
        totals->nodes, totals->changed, totals->actions[NODEMETRIC_CREATE],
        totals->actions[NODEMETRIC_UPDATE], totals->actions[NODEMETRIC_DELETE]);
    if (!plan->snapshot->no_nodeslos)
        strbuf_addf(out, "NodeSLOs: %zu to create, %zu to update, %zu to delete.\n",
                    totals->slo_actions[NODESLO_CREATE], totals->slo_actions[NODESLO_UPDATE],
                    totals->slo_actions[NODESLO_DELETE]);
    for (size_t i = 0; i < plan->snapshot->warning_count; i++) {
        const struct snapshot_warning *w = &plan->snapshot->warnings[i];
        strbuf_addf(out, "warning: " STR_FMT "%s" STR_FMT "%s" STR_FMT ": " STR_FMT "\n", STR_ARG(w->object),
                    str_empty(w->path) ? "" : ": ", STR_ARG(w->path), str_empty(w->value) ? "" : " = ",
                    STR_ARG(w->value), STR_ARG(w->message));
    }
    if (plan->snapshot->warnings_omitted)
        strbuf_addf(out, "warning: %zu more warnings\n", plan->snapshot->warnings_omitted);
}

void plan_table(struct strbuf *out, const struct plan *plan)
{
    static const struct str titles[COLUMNS] = {
        [NODE] = STR_INIT("NODE"),         [RESOURCE] = STR_INIT("RESOURCE"), [NOW] = STR_INIT("NOW"),
        [PLANNED] = STR_INIT("PLANNED"),   [CHANGE] = STR_INIT("CHANGE"),     [WHY] = STR_INIT("BOUND BY"),
        [METRIC] = STR_INIT("NODEMETRIC"),
    };
    struct printer printer = { 0 };
    table_init(&printer.table, &printer.arena, COLUMNS);
    table_row(&printer.table, titles);
    for (size_t i = 0; i < plan->count; i++)
        node_rows(&printer, &plan->nodes[i]);
    total_rows(&printer);
    write_head(out, plan);
    table_write(out, &printer.table);
    write_tail(out, plan, &printer.totals);
    arena_done(&printer.arena);
}
