/* CPUNormalization and ResourceAmplification: two annotations with ratios. What cannot be
 * computed leaves what stands there, for whoever reads it has acted on it. */
#include <stdlib.h>

#include "noderesource/plan_internal.h"

static const char normalization_annotation[] = "node.koordinator.sh/cpu-normalization-ratio";
static const char amplification_annotation[] = "node.koordinator.sh/resource-amplification-ratio";
static const char enabled_label[] = "node.koordinator.sh/cpu-normalization-enabled";
static const char basic_info_annotation[] = "node.koordinator.sh/cpu-basic-info";

#define ONE_NANO INT64_C(1000000000)
#define HUNDREDTH_NANO INT64_C(10000000)
#define NORMALIZATION_MAX_NANO (5 * ONE_NANO)

static int64_t hundredths_of(int64_t nano)
{
    return nano / HUNDREDTH_NANO + (nano % HUNDREDTH_NANO * 2 >= HUNDREDTH_NANO);
}

static void write_hundredths(struct strbuf *out, int64_t hundredths)
{
    strbuf_addf(out, "%lld.%02d", (long long)(hundredths / 100), (int)(hundredths % 100));
}

/* The annotation as we or others wrote it; false when it is no number. */
static bool ratio_of_text(struct str text, int64_t *ret_nano)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct json *number;
    return json_parse(&arena, str_trim(text), NULL, &number, NULL) && ratio_nano(number, ret_nano);
}

static void keep(struct planning *planning, const char *key, const struct istr *current)
{
    if (current)
        planning_meta_is(planning_meta(planning, key, current), istr_str(current));
}

/* --- CPU normalization ----------------------------------------------------------------- */

/* What Go's ParseBool reads. */
static bool parse_bool(struct str text, bool *ret)
{
    static const struct {
        struct str text;
        bool value;
    } words[] = {
        { STR_INIT("1"), true },      { STR_INIT("t"), true },      { STR_INIT("T"), true },
        { STR_INIT("TRUE"), true },   { STR_INIT("true"), true },   { STR_INIT("True"), true },
        { STR_INIT("0"), false },     { STR_INIT("f"), false },     { STR_INIT("F"), false },
        { STR_INIT("FALSE"), false }, { STR_INIT("false"), false }, { STR_INIT("False"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!str_eq(words[i].text, text))
            continue;
        *ret = words[i].value;
        return true;
    }
    return false;
}

static bool find_enabled(const struct planning *planning, bool *ret, struct err *err)
{
    bool found;
    struct str label = node_label(planning->in->node, str_c(enabled_label), &found);
    *ret = planning->in->normalization->enable.value;
    if (!found || parse_bool(label, ret))
        return true;
    return err_set(err, ERR_INVALID, "label %s = \"" STR_FMT "\" is neither true nor false", enabled_label,
                   STR_ARG(label));
}

static bool find_cpu(struct planning *planning, struct str *ret_model, const char **ret_field,
                     struct err *err)
{
    static const char *const fields[2][2] = { { "baseRatio", "turboEnabledRatio" },
                                              { "hyperThreadEnabledRatio", "hyperThreadTurboEnabledRatio" } };
    const struct nrt *nrt = planning->in->topology;
    const struct json *info = NULL;
    if (!nrt || !nrt->cpu_basic_info)
        return err_set(err, ERR_NOT_FOUND, "no NodeResourceTopology with annotation %s tells the CPU model",
                       basic_info_annotation);
    if (!json_parse(planning->arena, istr_str(nrt->cpu_basic_info), NULL, &info, err))
        return err_wrap(err, "%s", basic_info_annotation);
    const struct json *model = json_get_nocase(info, STR("cpuModel"));
    const struct json *hyper = json_get_nocase(info, STR("hyperThreadEnabled"));
    const struct json *turbo = json_get_nocase(info, STR("turboEnabled"));
    if (!json_is(info, JSON_OBJECT) || (model && !json_is(model, JSON_STRING)) ||
        (hyper && !json_is(hyper, JSON_BOOL)) || (turbo && !json_is(turbo, JSON_BOOL)))
        return err_set(err, ERR_INVALID, "%s is malformed", basic_info_annotation);
    *ret_model = json_str(model);
    *ret_field = fields[json_bool(hyper)][json_bool(turbo)];
    return true;
}

static bool find_normalization(struct planning *planning, int64_t *ret_nano, struct err *err)
{
    const struct ratio_strategy *strategy = planning->in->normalization;
    bool enabled;
    struct str model;
    const char *field = "";
    *ret_nano = ONE_NANO;
    if (!find_enabled(planning, &enabled, err))
        return false;
    if (!enabled)
        return true;
    if (!find_cpu(planning, &model, &field, err))
        return false;
    const struct json *ratio = json_get_nocase(json_get(strategy->map, model), str_c(field));
    if (!json_is(ratio, JSON_NUMBER))
        ratio = strategy->default_ratio;
    if (!ratio)
        return err_set(err, ERR_NOT_FOUND, "no ratio for CPU model \"" STR_FMT "\", and no defaultRatio",
                       STR_ARG(model));
    if (!ratio_nano(ratio, ret_nano) || *ret_nano < ONE_NANO || *ret_nano > NORMALIZATION_MAX_NANO)
        return err_set(err, ERR_INVALID, "ratio " STR_FMT " is not between 1 and 5", STR_ARG(ratio->text));
    return true;
}

void normalization_plan(struct planning *planning)
{
    const struct istr *current = planning->in->node->cpu_normalization;
    struct err err = ERR_INIT;
    int64_t nano, old;
    if (!planning_enabled(planning))
        return;
    if (!planning->in->normalization || !find_normalization(planning, &nano, &err)) {
        if (planning->in->normalization)
            planning_tell(planning, "CPUNormalization", NULL, &err);
        keep(planning, normalization_annotation, current);
        return;
    }
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    planning->normalization_hundredths = hundredths_of(nano);
    write_hundredths(&text, planning->normalization_hundredths);
    struct noderesource_meta *meta = planning_meta(planning, normalization_annotation, current);
    planning_meta_is(meta, arena_str(planning->arena, strbuf_str(&text)));
    int64_t new = planning->normalization_hundredths *HUNDREDTH_NANO;
    if (current && ratio_of_text(istr_str(current), &old) &&
        old <= new + HUNDREDTH_NANO &&old >= new - HUNDREDTH_NANO)
        meta->send = false; /* too close to tell anybody */
}

/* --- resource amplification ------------------------------------------------------------- */

struct ratio {
    struct str resource;
    int64_t nano;
};

/* What this round's normalization makes of a core; else what the annotation says. */
static bool find_normalized(const struct planning *planning, int64_t *ret_nano, struct err *err)
{
    const struct istr *current = planning->in->node->cpu_normalization;
    *ret_nano = ONE_NANO;
    if (planning->normalization_hundredths > 0) {
        *ret_nano = planning->normalization_hundredths * HUNDREDTH_NANO;
        return true;
    }
    if (current && !ratio_of_text(istr_str(current), ret_nano))
        return err_set(err, ERR_INVALID, "annotation %s = \"" STR_FMT "\" is no number",
                       normalization_annotation, STR_ARG(istr_str(current)));
    if (*ret_nano <= 0)
        *ret_nano = ONE_NANO;
    return true;
}

static bool find_ratios(struct planning *planning, struct ratio **ret, size_t *ret_count, struct err *err)
{
    const struct ratio_strategy *strategy = planning->in->amplification;
    const struct json *map = strategy->enable.value ? strategy->map : NULL;
    struct ratio *ratios = arena_array(planning->arena, struct ratio, json_count(map) + 1);
    struct ratio *cpu = NULL;
    size_t count = 0;
    int64_t normalized;
    for (size_t i = 0; i < json_count(map); i++) {
        const struct json_member *member = &map->object.members[i];
        ratios[count] = (struct ratio){ .resource = member->key };
        if (json_is(member->value, JSON_NUMBER) && !ratio_nano(member->value, &ratios[count].nano))
            return err_set(err, ERR_INVALID, "ratio of " STR_FMT " is out of range", STR_ARG(member->key));
        if (str_eq(member->key, STR("cpu")))
            cpu = &ratios[count];
        count++;
    }
    if (!find_normalized(planning, &normalized, err))
        return false;
    __int128 product = (__int128)(cpu && cpu->nano > 0 ? cpu->nano : ONE_NANO) * normalized / ONE_NANO;
    if (product > ONE_NANO) {
        if (!cpu)
            cpu = &ratios[count++];
        *cpu = (struct ratio){ STR("cpu"), product > INT64_MAX ? INT64_MAX : (int64_t)product };
    }
    for (size_t i = 0; i < count; i++)
        if (ratios[i].nano < ONE_NANO)
            return err_set(err, ERR_INVALID, "ratio of " STR_FMT " is below 1", STR_ARG(ratios[i].resource));
    *ret = ratios;
    *ret_count = count;
    return true;
}

static int ratio_order(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;
    return str_cmp(x->resource, y->resource);
}

enum { RATIOS_MAX_BYTES = 256 * 1024 };

static struct str ratios_text(struct planning *planning, struct ratio *ratios, size_t count)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(RATIOS_MAX_BYTES);
    qsort(ratios, count, sizeof *ratios, ratio_order);
    for (size_t i = 0; i < count; i++) {
        strbuf_addc(&text, i == 0 ? '{' : ',');
        json_write_str(&text, ratios[i].resource);
        strbuf_addc(&text, ':');
        write_hundredths(&text, hundredths_of(ratios[i].nano));
    }
    strbuf_addc(&text, '}');
    return arena_str(planning->arena, strbuf_str(&text));
}

void amplification_plan(struct planning *planning)
{
    const struct istr *current = planning->in->node->amplification;
    struct ratio *ratios = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;
    if (planning_holds(planning))
        return;
    if (planning_enabled(planning) && !planning->in->amplification) {
        keep(planning, amplification_annotation, current);
        return;
    }
    if (planning_enabled(planning) && !find_ratios(planning, &ratios, &count, &err)) {
        planning_tell(planning, "ResourceAmplification", NULL, &err);
        keep(planning, amplification_annotation, current);
        return;
    }
    struct noderesource_meta *meta = planning_meta(planning, amplification_annotation, current);
    if (count > 0)
        planning_meta_is(meta, ratios_text(planning, ratios, count));
    else
        planning_meta_absent(meta);
}
