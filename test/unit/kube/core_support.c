#include "core_support.h"

/* --- a kind ------------------------------------------------------------------------ */

struct thing_decoded {
    struct meta meta;
    struct thing_spec {
        struct str group;
        int64_t value;
    } spec;
};

static const struct json_field spec_fields[] = {
    JSON_FIELD_STR(struct thing_spec, group, "group"),
    JSON_FIELD_I64(struct thing_spec, value, "value"),
};
static const struct json_table spec_table = JSON_TABLE(struct thing_spec, spec_fields);

static const struct json_field thing_fields[] = {
    JSON_FIELD_OBJECT(struct thing_decoded, meta, "metadata", &meta_table),
    JSON_FIELD_OBJECT(struct thing_decoded, spec, "spec", &spec_table),
};
static const struct json_table thing_table = JSON_TABLE(struct thing_decoded, thing_fields);

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    (void)report;
    const struct thing_decoded *in = decoded;
    struct kube_object *object = kube_object_new(&thing_kind, sizeof(struct thing), &in->meta, pool, err);
    if (!object)
        return NULL;
    struct thing *thing = (struct thing *)(void *)object;
    thing->group = str_empty(in->spec.group) ? NULL : intern_get(pool, in->spec.group);
    thing->value = in->spec.value;
    return object;
}

static void release(struct kube_object *object)
{
    istr_unref(thing_of(object)->group);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    return thing_of(a)->group == thing_of(b)->group && thing_of(a)->value == thing_of(b)->value;
}

static const struct istr *by_group(const struct kube_object *object)
{
    return thing_of(object)->group;
}

const struct kube_kind thing_kind = {
    .group = "test.example",
    .version = "v1",
    .kind = "Thing",
    .plural = "things",
    .namespaced = true,
    .table = &thing_table,
    .project = project,
    .release = release,
    .same = same,
    .index = by_group,
};

/* --- the fixture ------------------------------------------------------------------- */

int core_setup(void **state)
{
    struct core *core = mem_zalloc(sizeof *core);
    core->pool = intern_new();
    *state = core;
    return 0;
}

int core_teardown(void **state)
{
    struct core *core = *state;
    bool leaked = intern_count(core->pool) > 0; /* a failing test leaves what it held */
    if (!leaked)
        intern_free(core->pool);
    free(core);
    return leaked ? -1 : 0;
}

struct kube_object *core_object(struct core *core, const struct kube_kind *kind, const char *json)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    void *decoded = arena_alloc(&arena, kind->table->size);
    struct kube_object *object = NULL;
    if (json_decode(&arena, str_c(json), kind->table, decoded, NULL, &err))
        object = kind->project(decoded, core->pool, NULL, &err);
    arena_done(&arena);
    if (!object)
        fail_msg("%s: %s", json, err.text);
    return object;
}

struct kube_object *core_thing(struct core *core, const char *name, const char *uid, const char *rv,
                               const char *group, int64_t value)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct thing_decoded in = {
        .meta = { .name = str_c(name), .ns = STR("ns"), .uid = str_c(uid), .rv = str_c(rv) },
        .spec = { .group = str_c(group), .value = value },
    };
    struct kube_object *object = project(&in, core->pool, NULL, &err);
    arena_done(&arena);
    if (!object)
        fail_msg("%s", err.text);
    return object;
}
