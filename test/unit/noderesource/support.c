#include "support.h"

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct plan_case *c = self;
    (void)value;
    (void)message;
    c->reports++;
    snprintf(c->path, sizeof c->path, STR_FMT, STR_ARG(path));
}

const struct kube_object *case_object(struct plan_case *c, const struct kube_kind *kind, struct str json)
{
    struct err err = ERR_INIT;
    void *decoded = arena_alloc(&c->arena, kind->table->size);
    if (!json_decode(&c->arena, json, kind->table, decoded, NULL, &err))
        fail_msg("%s in %s", err.text, json.ptr);
    const struct kube_object *made = kind->project(decoded, c->pool, NULL, &err);
    if (!made)
        fail_msg("%s in %s", err.text, json.ptr);
    return made;
}

#define MAP_START "\"cpu\":\"100\",\"memory\":\"200G\""

void case_node(struct plan_case *c, const char *capacity, const char *allocatable, const char *annotations)
{
    if (c->in.node)
        kube_object_unref(&c->in.node->object);
    struct str json = arena_strf(
        &c->arena,
        "{\"metadata\":{\"name\":\"node-1\",\"annotations\":{%s}},\"status\":{\"capacity\":{%s%s},"
        "\"allocatable\":{%s%s}}}",
        annotations, capacity[0] == ',' || !capacity[0] ? MAP_START : "", capacity[0] == '-' ? "" : capacity,
        allocatable[0] == ',' || !allocatable[0] ? MAP_START : "", allocatable[0] == '-' ? "" : allocatable);
    c->in.node = node_of(case_object(c, &node_kind, json));
}

void case_no_metric(struct plan_case *c)
{
    if (c->in.metric)
        kube_object_unref(&c->in.metric->object);
    c->in.metric = NULL;
}

void case_metric(struct plan_case *c, const char *status)
{
    case_no_metric(c);
    struct str json = arena_strf(&c->arena, "{\"metadata\":{\"name\":\"node-1\"},\"status\":{%s}}", status);
    c->in.metric = nodemetric_of(case_object(c, &nodemetric_kind, json));
}

void case_pod(struct plan_case *c, const char *class, const char *phase, const char *cpu, const char *memory)
{
    struct str json =
        arena_strf(&c->arena,
                   "{\"metadata\":{\"name\":\"p%zu\",\"labels\":{\"koordinator.sh/priority-class\":\"%s\"}},"
                   "\"spec\":{\"nodeName\":\"node-1\",\"containers\":[{\"resources\":{\"requests\":"
                   "{\"cpu\":\"%s\",\"memory\":\"%s\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                   c->in.pod_count, class, cpu, memory, phase);
    assert_true(c->in.pod_count < CASE_PODS);
    c->pods[c->in.pod_count++] = pod_of(case_object(c, &pod_kind, json));
}

struct opt_i64 number(int64_t value)
{
    return (struct opt_i64){ .set = true, .value = value };
}

struct opt_str text(const char *value)
{
    return (struct opt_str){ .set = true, .value = str_c(value) };
}

struct opt_decimal decimal(const char *value)
{
    struct opt_decimal made = { .set = true, .text = str_c(value) };
    assert_true(quantity_parse(str_c(value), &made.value, NULL));
    return made;
}

int case_setup(void **state)
{
    struct plan_case *c = mem_zalloc(sizeof *c);
    c->pool = intern_new();
    c->report = (struct json_report){ .mismatch = on_mismatch, .self = c };
    if (!noderesource_plugins_parse(STR("MidResource"), &c->plugins, NULL))
        return -1;
    c->strategy = (struct strategy){
        .enable = { true, true },
        .degrade_minutes = number(15),
        .metric_report_interval_s = number(60),
        .update_time_threshold_s = number(300),
        .resource_diff_threshold = decimal("0.1"),
        .mid_cpu_percent = number(100),
        .mid_memory_percent = number(100),
        .mid_unallocated_percent = number(0),
    };
    c->in = (struct noderesource_input){
        .strategy = &c->strategy,
        .cluster_enabled = true,
        .plugins = &c->plugins,
        .feed = { .live = true },
        .now = { CASE_NOW_US },
        .mono = MONO_S(1000),
        .history = &c->history,
        .report = &c->report,
        .pods = c->pods,
    };
    case_node(c, "", "", "");
    case_metric(c, CASE_STATUS);
    *state = c;
    return 0;
}

int case_teardown(void **state)
{
    struct plan_case *c = *state;
    kube_object_unref(&c->in.node->object);
    case_no_metric(c);
    for (size_t i = 0; i < c->in.pod_count; i++)
        kube_object_unref(&c->pods[i]->object);
    bool clean = intern_count(c->pool) == 0;
    if (clean)
        intern_free(c->pool);
    arena_done(&c->arena);
    free(c);
    return clean ? 0 : -1;
}

const struct noderesource_plan *case_plan(struct plan_case *c)
{
    noderesource_plan_make(&c->in, &c->arena, &c->plan);
    return &c->plan;
}

const struct noderesource_entry *case_cpu(const struct plan_case *c)
{
    assert_true(c->plan.count > 0);
    assert_int_equal(c->plan.entries[0].resource, OWNED_MID_CPU);
    return &c->plan.entries[0];
}

const struct noderesource_entry *case_memory(const struct plan_case *c)
{
    assert_true(c->plan.count > 1);
    assert_int_equal(c->plan.entries[1].resource, OWNED_MID_MEMORY);
    return &c->plan.entries[1];
}

static const struct noderesource_term *find(const struct noderesource_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->term_count; i++) {
        if (strcmp(entry->terms[i].name, name) == 0)
            return &entry->terms[i];
    }
    return NULL;
}

bool case_has_term(const struct noderesource_entry *entry, const char *name)
{
    return find(entry, name) != NULL;
}

int64_t case_term(const struct noderesource_entry *entry, const char *name)
{
    const struct noderesource_term *term = find(entry, name);
    if (!term)
        fail_msg("no term %s", name);
    return term ? term->value : 0;
}
