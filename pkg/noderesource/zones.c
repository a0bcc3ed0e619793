#include "noderesource/zones.h"

#include "noderesource/annotation.h"

enum { NANO_PER_MILLI = 1000000 };

/* --- reading a topology ------------------------------------------------------------------ */

/* The NUMA node in "node-3"; else the place in the list counts. */
static int64_t zone_id(const struct json *zone, size_t index)
{
    struct str name = json_str(json_get(zone, STR("name")));
    int64_t id;
    if (str_starts_with(name, STR("node-")) && str_to_i64(str_slice(name, 5, name.len), &id) && id >= 0)
        return id;
    return (int64_t)index;
}

static const struct json *find_resource(const struct json *zone, struct str name)
{
    const struct json *list = json_get(zone, STR("resources"));
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->array.count; i++)
        if (str_eq(json_str(json_get(list->array.items[i], STR("name"))), name))
            return list->array.items[i];
    return NULL;
}

static bool read_amount(const struct json *resource, struct str field, __int128 *ret_nano)
{
    struct quantity quantity;
    struct json_member member = { .key = field, .value = json_get(resource, field) };
    if (!member.value || !noderesource_amount_parse(&member, &quantity, NULL))
        return false;
    *ret_nano = api_nano_from_quantity(quantity);
    return true;
}

struct zones zones_of(struct planning *planning)
{
    const struct nrt *nrt = planning->in->topology;
    const struct json *list = NULL;
    struct zones zones = { 0 };
    bool any = false;
    if (!nrt || !nrt->zones || !json_parse(planning->arena, istr_str(nrt->zones), NULL, &list, NULL))
        return zones;
    zones.items = arena_array(planning->arena, struct zone, json_count(list));
    for (size_t i = 0; i < json_count(list); i++) {
        struct zone *zone = &zones.items[i];
        const struct json *json = list->array.items[i];
        *zone = (struct zone){ .json = json, .id = zone_id(json, i) };
        struct amounts *capacity = &zone->capacity;
        capacity->has_cpu =
            read_amount(find_resource(json, STR("cpu")), STR("allocatable"), &capacity->cpu_nano);
        capacity->has_memory =
            read_amount(find_resource(json, STR("memory")), STR("allocatable"), &capacity->memory_nano);
        any |= capacity->has_cpu || capacity->has_memory;
    }
    zones.count = any ? json_count(list) : 0;
    return zones;
}

/* --- sharing ----------------------------------------------------------------------------- */

__int128 zones_share(__int128 nano, size_t parts)
{
    __int128 milli = (exact_max(nano, 0) + NANO_PER_MILLI - 1) / NANO_PER_MILLI;
    return (milli + (__int128)parts - 1) / (__int128)parts * NANO_PER_MILLI;
}

static void add_share(struct amounts *sum, const struct amounts *one, size_t parts)
{
    sum->cpu_nano += zones_share(one->cpu_nano, parts);
    sum->memory_nano += zones_share(one->memory_nano, parts);
}

static bool is_in(const struct zone *zone, uint32_t numa_nodes)
{
    return zone->id < 32 && numa_nodes & UINT32_C(1) << zone->id;
}

void zones_add(struct zones *zones, uint32_t numa_nodes, const struct higher *one)
{
    size_t parts = 0;
    for (size_t i = 0; i < zones->count; i++)
        parts += is_in(&zones->items[i], numa_nodes);
    bool everywhere = parts == 0;
    if (everywhere)
        parts = zones->count;
    for (size_t i = 0; i < zones->count; i++) {
        struct zone *zone = &zones->items[i];
        if (!everywhere && !is_in(zone, numa_nodes))
            continue;
        add_share(&zone->higher.request, &one->request, parts);
        add_share(&zone->higher.used, &one->used, parts);
        add_share(&zone->higher.max, &one->max, parts);
    }
}

struct batch_input zones_input(const struct zones *zones, const struct zone *zone,
                               const struct batch_input *node, bool cpu)
{
    struct batch_input input = *node;
    input.capacity = planning_pick(&zone->capacity, cpu);
    input.system_usage =
        zones_share(exact_max(node->system_usage, 0) + exact_max(node->host_used, 0), zones->count);
    input.host_used = 0;
    input.kubelet_reserved = 0;
    input.reserved_by_annotation =
        zones_share(exact_max(node->kubelet_reserved, node->reserved_by_annotation), zones->count);
    input.hp_request = planning_pick(&zone->higher.request, cpu);
    input.hp_used = planning_pick(&zone->higher.used, cpu);
    input.hp_max = planning_pick(&zone->higher.max, cpu);
    return input;
}

/* --- values ------------------------------------------------------------------------------ */

static const char *const amount_fields[] = { "capacity", "allocatable", "available" };

static struct noderesource_current current_of(const struct json *resource)
{
    struct noderesource_current current = { .set = resource != NULL };
    if (resource)
        current.readable = read_amount(resource, STR("allocatable"), &current.nano);
    return current;
}

/* In thousandths: a zone's cpu is amplified but not rounded. */
static __int128 calculate(const struct planning *planning, const struct batch_input *input, bool cpu,
                          bool *saturated)
{
    struct batch_result result = batch_calculate(input);
    __int128 nano = (__int128)result.batch * API_NANO_PER_UNIT;
    *saturated |= result.saturated;
    if (cpu && planning->normalization_hundredths > 100)
        nano = (__int128)result.batch * planning->normalization_hundredths * 10 * NANO_PER_MILLI;
    return nano;
}

static bool says(const struct json *resource, __int128 nano)
{
    for (size_t i = 0; i < ARRAY_LEN(amount_fields); i++) {
        __int128 value;
        if (!read_amount(resource, str_c(amount_fields[i]), &value) || value != nano)
            return false;
    }
    return true;
}

static void plan_value(struct planning *planning, const struct zones *zones, const struct zone *zone,
                       const struct batch_input inputs[2], struct noderesource_zone_value *value)
{
    bool cpu = value->resource == OWNED_BATCH_CPU;
    const struct json *resource = find_resource(zone->json, owned_resource_names[value->resource]);
    struct verdict verdict = planning_verdict(planning);
    value->current = current_of(resource);
    if (verdict.action == VERDICT_REMOVE) { /* nothing to lend; what never was told stays untold */
        value->planned_set = resource != NULL;
    } else {
        struct batch_input input = zones_input(zones, zone, &inputs[cpu], cpu);
        value->planned_set = true;
        value->planned_nano = calculate(planning, &input, cpu, &planning->plan->saturated);
        bool raises =
            !value->current.set || !value->current.readable || value->planned_nano > value->current.nano;
        if (verdict.action == VERDICT_CALCULATE_NO_RAISE && raises) {
            value->planned_set = value->current.set && value->current.readable;
            value->planned_nano = value->current.nano;
            return;
        }
    }
    value->write = value->planned_set && !says(resource, value->planned_nano);
}

/* --- the list to be written --------------------------------------------------------------- */

static const struct json *amount_json(struct planning *planning, const struct noderesource_zone_value *value)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(128);
    struct noderesource_current planned = { .set = true, .readable = true, .nano = value->planned_nano };
    noderesource_current_write(&text, value->resource, &planned);
    return json_new_str(planning->arena, strbuf_str(&text));
}

static void put_resource(struct planning *planning, struct json *list,
                         const struct noderesource_zone_value *value)
{
    struct arena *arena = planning->arena;
    struct str name = owned_resource_names[value->resource];
    size_t at = 0;
    while (at < list->array.count &&
           str_cmp(json_str(json_get(list->array.items[at], STR("name"))), name) < 0)
        at++;
    bool there =
        at < list->array.count && str_eq(json_str(json_get(list->array.items[at], STR("name"))), name);
    struct json *resource = there ? json_copy(arena, list->array.items[at]) : json_new(arena, JSON_OBJECT);
    json_set(arena, resource, STR("name"), json_new_str(arena, name));
    for (size_t i = 0; i < ARRAY_LEN(amount_fields); i++)
        json_set(arena, resource, str_c(amount_fields[i]), amount_json(planning, value));
    if (there) {
        list->array.items[at] = resource;
        return;
    }
    json_push(arena, list, resource);
    for (size_t i = list->array.count - 1; i > at; i--)
        list->array.items[i] = list->array.items[i - 1];
    list->array.items[at] = resource;
}

/* Without those of our names: found again in their sorted place. */
static struct json *other_resources(struct planning *planning, const struct zone *zone,
                                    const struct noderesource_zone *planned)
{
    struct json *list = json_new(planning->arena, JSON_ARRAY);
    const struct json *old = json_get(zone->json, STR("resources"));
    for (size_t i = 0; json_is(old, JSON_ARRAY) && i < old->array.count; i++) {
        struct str name = json_str(json_get(old->array.items[i], STR("name")));
        bool ours = false;
        for (size_t v = 0; v < ARRAY_LEN(planned->values); v++)
            ours |=
                planned->values[v].write && str_eq(name, owned_resource_names[planned->values[v].resource]);
        if (!ours)
            json_push(planning->arena, list, old->array.items[i]);
    }
    return list;
}

static const struct json *zone_json(struct planning *planning, const struct zone *zone,
                                    const struct noderesource_zone *planned)
{
    if (!json_is(zone->json, JSON_OBJECT))
        return zone->json;
    struct json *object = json_copy(planning->arena, zone->json);
    struct json *list = other_resources(planning, zone, planned);
    for (size_t v = 0; v < ARRAY_LEN(planned->values); v++)
        if (planned->values[v].write)
            put_resource(planning, list, &planned->values[v]);
    json_set(planning->arena, object, STR("resources"), list);
    return object;
}

enum { PATCH_MAX_BYTES = 2 * 1024 * 1024 };

/* A list is replaced whole, so somebody else's change in between must be a conflict. */
static struct str patch_text(struct planning *planning, const struct zones *zones)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(PATCH_MAX_BYTES);
    struct json *list = json_new(planning->arena, JSON_ARRAY);
    for (size_t i = 0; i < zones->count; i++)
        json_push(planning->arena, list, zone_json(planning, &zones->items[i], &planning->plan->zones[i]));
    strbuf_add(&text, STR("{\"metadata\":{\"resourceVersion\":"));
    json_write_str(&text, kube_object_rv(&planning->in->topology->object));
    strbuf_add(&text, STR("},\"zones\":"));
    json_write(&text, list);
    strbuf_addc(&text, '}');
    return text.overflow ? STR_NULL : arena_str(planning->arena, strbuf_str(&text));
}

void zones_plan(struct planning *planning, struct zones *zones, const struct batch_input inputs[2])
{
    struct noderesource_plan *plan = planning->plan;
    if (zones->count == 0 || planning_verdict(planning).action == VERDICT_KEEP)
        return;
    bool any = false, write = false;
    plan->zones = arena_array(planning->arena, struct noderesource_zone, zones->count);
    for (size_t i = 0; i < zones->count; i++) {
        struct noderesource_zone *zone = &plan->zones[i];
        zone->name = json_str(json_get(zones->items[i].json, STR("name")));
        zone->values[0].resource = OWNED_BATCH_CPU;
        zone->values[1].resource = OWNED_BATCH_MEMORY;
        for (size_t v = 0; v < ARRAY_LEN(zone->values); v++) {
            plan_value(planning, zones, &zones->items[i], inputs, &zone->values[v]);
            any |= zone->values[v].planned_set;
            write |= zone->values[v].write;
        }
    }
    plan->zone_count = any ? zones->count : 0;
    if (write)
        plan->zones_patch = patch_text(planning, zones);
}
