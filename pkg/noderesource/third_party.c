#include "noderesource/third_party.h"

#include <stdlib.h>

#include "api/node.h"
#include "noderesource/annotation.h"

/* --- thirdPartyAllocations ------------------------------------------------------------ */

static bool add_resources(const struct json *resources, struct third_party *total, struct err *err)
{
    if (!resources || json_is(resources, JSON_NULL))
        return true;
    if (!json_is(resources, JSON_OBJECT))
        return err_set(err, ERR_INVALID, "resources must be an object");
    for (size_t i = 0; i < resources->object.count; i++) {
        const struct json_member *member = &resources->object.members[i];
        struct quantity quantity;
        if (!noderesource_amount_parse(member, &quantity, err))
            return false;
        __int128 nano = api_nano_from_quantity(quantity);
        if (nano < 0)
            continue;
        if (str_eq(member->key, owned_resource_names[OWNED_BATCH_CPU]))
            total->batch_cpu_nano = api_nano_add(total->batch_cpu_nano, nano);
        else if (str_eq(member->key, owned_resource_names[OWNED_BATCH_MEMORY]))
            total->batch_memory_nano = api_nano_add(total->batch_memory_nano, nano);
    }
    return true;
}

static bool add_allocation(const struct json *allocation, struct third_party *total, struct err *err)
{
    const struct json *priority = json_get_nocase(allocation, STR("priority"));
    if (json_is(allocation, JSON_NULL))
        return true;
    if (!json_is(allocation, JSON_OBJECT))
        return err_set(err, ERR_INVALID, "an allocation must be an object");
    if (priority && !json_is(priority, JSON_STRING) && !json_is(priority, JSON_NULL))
        return err_set(err, ERR_INVALID, "priority must be a string");
    struct third_party unused = { 0 };
    bool counts = str_eq(json_str(priority), STR("koord-batch"));
    return add_resources(json_get_nocase(allocation, STR("resources")), counts ? total : &unused, err);
}

bool noderesource_third_party_parse(struct arena *scratch, struct str text, struct third_party *ret,
                                    struct err *err)
{
    const struct json *root;
    struct third_party total = { 0 };
    if (!json_parse(scratch, text, NULL, &root, err))
        return false;
    if (!json_is(root, JSON_OBJECT) && !json_is(root, JSON_NULL))
        return err_set(err, ERR_INVALID, "expected an object, got %s", json_type_name(root->type));
    const struct json *allocations = json_get_nocase(root, STR("allocations"));
    if (allocations && !json_is(allocations, JSON_ARRAY) && !json_is(allocations, JSON_NULL))
        return err_set(err, ERR_INVALID, "allocations must be a list");
    for (size_t i = 0; json_is(allocations, JSON_ARRAY) && i < allocations->array.count; i++)
        if (!add_allocation(allocations->array.items[i], &total, err))
            return err_wrap(err, "allocations[%zu]", i);
    *ret = total;
    return true;
}

/* --- originExtendedAllocatable -------------------------------------------------------- */

static bool says(const struct json *resources, enum owned_resource resource, struct opt_i64 amount)
{
    struct quantity quantity;
    struct json_member member = { .key = owned_resource_names[resource],
                                  .value = json_get(resources, owned_resource_names[resource]) };
    if (!amount.set)
        return true;
    return member.value && noderesource_amount_parse(&member, &quantity, NULL) &&
           quantity_cmp(quantity, quantity_from_i64(amount.value, QUANTITY_DECIMAL_SI)) == 0;
}

static void put(struct arena *arena, struct json *resources, enum owned_resource resource,
                enum quantity_format format, struct opt_i64 amount)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(128);
    if (!amount.set)
        return;
    quantity_write(&text, quantity_from_i64(amount.value, format));
    json_set(arena, resources, owned_resource_names[resource], json_new_str(arena, strbuf_str(&text)));
}

static int member_order(const void *a, const void *b)
{
    const struct json_member *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* Never larger than what an annotation may be with ours added. */
enum { ORIGIN_MAX_BYTES = 512 * 1024 };

struct str noderesource_origin_text(struct arena *arena, const struct istr *current, struct opt_i64 cpu,
                                    struct opt_i64 memory)
{
    const struct json *root = NULL;
    if (current && !json_parse(arena, istr_str(current), NULL, &root, NULL))
        root = NULL;
    const struct json *old = json_get_nocase(root, STR("resources"));
    if (json_is(old, JSON_OBJECT) && says(old, OWNED_BATCH_CPU, cpu) && says(old, OWNED_BATCH_MEMORY, memory))
        return istr_str(current);
    struct json *resources = json_is(old, JSON_OBJECT) ? json_copy(arena, old) : json_new(arena, JSON_OBJECT);
    put(arena, resources, OWNED_BATCH_CPU, QUANTITY_DECIMAL_SI, cpu);
    put(arena, resources, OWNED_BATCH_MEMORY, QUANTITY_BINARY_SI, memory);
    if (resources->object.count > 1)
        qsort(resources->object.members, resources->object.count, sizeof *resources->object.members,
              member_order);
    struct json *object = json_new(arena, JSON_OBJECT);
    json_set(arena, object, STR("resources"), resources);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(ORIGIN_MAX_BYTES);
    json_write(&text, object);
    return arena_str(arena, strbuf_str(&text));
}
