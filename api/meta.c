#include "api/meta.h"
#include "base/rfc3339.h"
#include <stdarg.h>
#include <stdio.h>

static const struct json_field meta_fields[] = {
    JSON_REQUIRED_STR(struct meta, name, "name"),
    JSON_REQUIRED_STR(struct meta, ns, "namespace"),
    JSON_REQUIRED_STR(struct meta, uid, "uid"),
    JSON_REQUIRED_STR(struct meta, rv, "resourceVersion"),
    JSON_FIELD_I64(struct meta, generation, "generation"),
    JSON_FIELD_STR_MAP(struct meta, labels, "labels"),
};
const struct json_table meta_table = JSON_TABLE(struct meta, meta_fields);

static const struct json_field resources_fields[] = {
    JSON_FIELD_SCALAR(struct api_resources, cpu, "cpu", api_into_quantity),
    JSON_FIELD_SCALAR(struct api_resources, memory, "memory", api_into_quantity),
};
const struct json_table api_resources_table = JSON_TABLE(struct api_resources, resources_fields);

/* --- scalars ----------------------------------------------------------------------- */

bool api_into_text(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    struct opt_text *ret = dst;
    if (event->type != JSON_EV_STRING)
        return err_set(err, ERR_INVALID, "expected a string");
    *ret = (struct opt_text){ .set = true, .text = arena_str(arena, event->text) };
    return true;
}

/* Of duplicate keys the last wins, even if it cannot be read: hence the reset first. */
bool api_into_quantity(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    (void)arena;
    struct opt_quantity *ret = dst;
    *ret = (struct opt_quantity){ 0 };
    struct quantity value;
    if (!quantity_from_event(event, &value, err))
        return false;
    *ret = (struct opt_quantity){ .set = true, .value = value };
    return true;
}

bool api_into_time(struct arena *arena, const struct json_event *event, void *dst, struct err *err)
{
    (void)arena;
    struct opt_time *ret = dst;
    *ret = (struct opt_time){ 0 };
    struct wall_time value;
    if (event->type != JSON_EV_STRING)
        return err_set(err, ERR_INVALID, "expected a time");
    if (!rfc3339_parse(event->text, &value, err))
        return false;
    *ret = (struct opt_time){ .set = true, .value = value };
    return true;
}

/* --- amounts ----------------------------------------------------------------------- */

static __int128 clamp_nano(__int128 nano)
{
    if (nano > API_NANO_MAX)
        return API_NANO_MAX;
    return nano < -API_NANO_MAX ? -API_NANO_MAX : nano;
}

__int128 api_nano_add(__int128 a, __int128 b)
{
    return clamp_nano(a + b);
}

static bool nano_from_quantity(struct quantity quantity, __int128 *ret)
{
    __int128 nano = quantity.mantissa;
    int64_t exponent = (int64_t)quantity.scale + 9;
    if (nano == 0) {
        *ret = 0;
        return true;
    }
    bool fits = !quantity.saturated;
    for (; fits && exponent > 0; exponent--) {
        fits = nano <= API_NANO_MAX / 10 && nano >= -(API_NANO_MAX / 10);
        if (fits)
            nano *= 10;
    }
    for (; exponent < 0 && fits && (nano > 1 || nano < -1); exponent++)
        nano = nano / 10 + (nano % 10 > 0) - (nano % 10 < 0);
    *ret = fits ? clamp_nano(nano) : (nano < 0 ? -API_NANO_MAX : API_NANO_MAX);
    return fits && *ret == nano;
}

__int128 api_nano_from_quantity(struct quantity quantity)
{
    __int128 nano;
    (void)nano_from_quantity(quantity, &nano);
    return nano;
}

static void tell(const struct json_report *report, struct quantity value, const char *message,
                 const char *path_format, va_list args)
{
    if (!report || !report->mismatch)
        return;
    char path[160];
    int len = vsnprintf(path, sizeof path, path_format, args);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    quantity_write(&text, value);
    report->mismatch(report->self,
                     (struct str){ .ptr = path, .len = (size_t)min_i64(max_i64(len, 0), sizeof path - 1) },
                     strbuf_str(&text), message);
}

bool api_take_amount(const struct opt_quantity *quantity, __int128 *ret_nano,
                     const struct json_report *report, const char *path_format, ...)
{
    if (!quantity->set)
        return false;
    __int128 nano;
    bool fits = nano_from_quantity(quantity->value, &nano);
    const char *message = nano < 0 ? "negative amount" : !fits ? "amount out of range, clamped" : NULL;
    if (message) {
        va_list args;
        va_start(args, path_format);
        tell(report, quantity->value, message, path_format, args);
        va_end(args);
    }
    if (nano < 0)
        return false;
    *ret_nano = nano;
    return true;
}

struct amounts api_take_amounts(const struct api_resources *resources, const struct json_report *report,
                                const char *path)
{
    struct amounts amounts = { 0 };
    amounts.has_cpu = api_take_amount(&resources->cpu, &amounts.cpu_nano, report, "%s.cpu", path);
    amounts.has_memory = api_take_amount(&resources->memory, &amounts.memory_nano, report, "%s.memory", path);
    return amounts;
}

bool api_amounts_same(const struct amounts *a, const struct amounts *b)
{
    return a->has_cpu == b->has_cpu && a->has_memory == b->has_memory && a->cpu_nano == b->cpu_nano &&
           a->memory_nano == b->memory_nano;
}
