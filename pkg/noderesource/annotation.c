#include "noderesource/annotation.h"

enum { CPU_ID_MAX = 4096 };

/* --- cpuset -------------------------------------------------------------------------- */

/* Digits only: ids in a list are written by programs. */
static bool parse_id(struct str text, size_t *ret, struct err *err)
{
    size_t id = 0;
    if (str_empty(text))
        return err_set(err, ERR_INVALID, "a CPU id is missing");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no CPU id", STR_ARG(text));
        id = id * 10 + (size_t)(text.ptr[i] - '0');
        if (id > CPU_ID_MAX)
            return err_set(err, ERR_INVALID, "CPU id \"" STR_FMT "\" is above %d", STR_ARG(text), CPU_ID_MAX);
    }
    *ret = id;
    return true;
}

static bool parse_range(struct str item, size_t *first, size_t *last, struct err *err)
{
    struct str from, to;
    if (!str_cut(item, '-', &from, &to))
        return parse_id(from, first, err) && parse_id(from, last, err);
    if (!parse_id(from, first, err) || !parse_id(to, last, err))
        return false;
    if (*first > *last)
        return err_set(err, ERR_INVALID, "range \"" STR_FMT "\" is reversed", STR_ARG(item));
    return true;
}

bool noderesource_cpuset_count(struct str list, int64_t *ret, struct err *err)
{
    bool seen[CPU_ID_MAX + 1] = { false };
    int64_t count = 0;
    bool more = !str_empty(list);
    while (more) {
        struct str item;
        size_t first = 0, last = 0;
        more = str_cut(list, ',', &item, &list);
        if (!parse_range(item, &first, &last, err))
            return err_wrap(err, "cpuset");
        for (size_t id = first; id <= last; id++) {
            count += !seen[id];
            seen[id] = true;
        }
    }
    *ret = count;
    return true;
}

/* --- amounts ------------------------------------------------------------------------- */

bool noderesource_amount_parse(const struct json_member *member, struct quantity *ret, struct err *err)
{
    static const enum json_event_type events[] = {
        [JSON_NULL] = JSON_EV_NULL,
        [JSON_NUMBER] = JSON_EV_NUMBER,
        [JSON_STRING] = JSON_EV_STRING,
    };
    const struct json *value = member->value;
    bool scalar = value->type == JSON_NULL || value->type == JSON_NUMBER || value->type == JSON_STRING;
    if (!scalar)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no quantity but of type %s",
                       STR_ARG(member->key), json_type_name(value->type));
    struct json_event event = { .type = events[value->type] };
    if (value->type != JSON_NULL)
        event.text = value->text;
    return quantity_from_event(&event, ret, err) || err_wrap(err, "\"" STR_FMT "\"", STR_ARG(member->key));
}

/* Every value must be readable, of whatever resource; cpu and memory are kept. */
static bool parse_amounts(const struct json *object, struct amounts *ret, struct err *err)
{
    struct amounts amounts = { 0 };
    if (!object || object->type == JSON_NULL) {
        *ret = amounts;
        return true;
    }
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "expected an object of quantities, got %s",
                       json_type_name(object->type));
    for (size_t i = 0; i < object->object.count; i++) {
        const struct json_member *member = &object->object.members[i];
        struct quantity quantity;
        if (!noderesource_amount_parse(member, &quantity, err))
            return false;
        if (str_eq(member->key, STR("cpu"))) {
            amounts.has_cpu = true;
            amounts.cpu_nano = api_nano_from_quantity(quantity);
        } else if (str_eq(member->key, STR("memory"))) {
            amounts.has_memory = true;
            amounts.memory_nano = api_nano_from_quantity(quantity);
        }
    }
    *ret = amounts;
    return true;
}

static void drop_negative(struct amounts *amounts)
{
    if (amounts->cpu_nano < 0)
        amounts->cpu_nano = 0;
    if (amounts->memory_nano < 0)
        amounts->memory_nano = 0;
}

/* --- the annotations ----------------------------------------------------------------- */

/* An object, or null for an empty one. */
static bool parse_object(struct arena *scratch, struct str text, const struct json **ret, struct err *err)
{
    if (!json_parse(scratch, text, NULL, ret, err))
        return false;
    if (json_is(*ret, JSON_OBJECT) || json_is(*ret, JSON_NULL))
        return true;
    return err_set(err, ERR_INVALID, "expected an object, got %s", json_type_name((*ret)->type));
}

static bool is_absent_or(const struct json *value, enum json_type type)
{
    return !value || value->type == JSON_NULL || value->type == type;
}

bool noderesource_reservation_parse(struct arena *scratch, struct str text, struct amounts *ret,
                                    struct err *err)
{
    const struct json *root;
    struct amounts amounts = { 0 };
    if (!parse_object(scratch, text, &root, err) ||
        !parse_amounts(json_get_nocase(root, STR("resources")), &amounts, err))
        return false;
    const struct json *cpus = json_get_nocase(root, STR("reservedCPUs"));
    if (!is_absent_or(cpus, JSON_STRING) ||
        !is_absent_or(json_get_nocase(root, STR("applyPolicy")), JSON_STRING))
        return err_set(err, ERR_INVALID, "reservedCPUs and applyPolicy must be strings");
    drop_negative(&amounts);
    if (!str_empty(json_str(cpus))) {
        int64_t count = 0;
        if (!noderesource_cpuset_count(json_str(cpus), &count, err))
            return err_wrap(err, "reservedCPUs");
        amounts.has_cpu = true;
        amounts.cpu_nano = (__int128)count * API_NANO_PER_UNIT;
    }
    *ret = amounts;
    return true;
}

bool noderesource_raw_allocatable_parse(struct arena *scratch, struct str text, struct amounts *ret,
                                        struct err *err)
{
    const struct json *root;
    struct amounts amounts = { 0 };
    if (!parse_object(scratch, text, &root, err) || !parse_amounts(root, &amounts, err))
        return false;
    if (amounts.cpu_nano < 0 || amounts.memory_nano < 0)
        return err_set(err, ERR_INVALID, "negative amount");
    *ret = amounts;
    return true;
}
