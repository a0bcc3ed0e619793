#include "sloconfig/ratio_config.h"

#include <stdlib.h>

#include "api/meta.h"
#include "sloconfig/colocation.h"

const struct ratio_key normalization_key = { STR_INIT("cpu-normalization-config"), "ratioModel", true,
                                             "CPUNormalizationCfgUnmarshalFailed" };
const struct ratio_key amplification_key = { STR_INIT("resource-amplification-config"),
                                             "resourceAmplificationRatio", false,
                                             "ResourceAmplificationCfgUnmarshalFailed" };

struct parse {
    const struct ratio_key *key;
    struct ratio_config *config;
    struct findings *findings;
    struct arena scratch;
};

static bool reject(struct parse *parse, struct str path, const struct json *value, struct str message)
{
    findings_add(parse->findings, FINDING_REJECTED, parse->key->key, path,
                 finding_value(&parse->scratch, value), finding_reason_parse, STR_FMT, STR_ARG(message));
    return false;
}

static struct str join(struct parse *parse, struct str prefix, struct str name)
{
    return arena_strf(&parse->scratch, STR_FMT "%s" STR_FMT, STR_ARG(prefix), str_empty(prefix) ? "" : ".",
                      STR_ARG(name));
}

/* Absent and null read alike. */
static bool check_type(struct parse *parse, struct str path, const struct json *value, enum json_type type)
{
    if (!value || json_is(value, JSON_NULL) || json_is(value, type))
        return true;
    return reject(
        parse, path, value,
        arena_strf(&parse->scratch, "must be %s, not %s", json_type_name(type), json_type_name(value->type)));
}

static bool take(struct parse *parse, struct str prefix, const struct json *object, const char *name,
                 enum json_type type, const struct json **ret)
{
    const struct json *value = json_get_nocase(object, str_c(name));
    *ret = value && !json_is(value, JSON_NULL) ? value : NULL;
    return check_type(parse, join(parse, prefix, str_c(name)), value, type);
}

/* --- one level ---------------------------------------------------------------------- */

static bool check_model(struct parse *parse, struct str path, const struct json *model)
{
    static const char *const ratios[] = { "baseRatio", "hyperThreadEnabledRatio", "turboEnabledRatio",
                                          "hyperThreadTurboEnabledRatio" };
    const struct json *unused;
    if (!check_type(parse, path, model, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(ratios); i++)
        if (!take(parse, path, model, ratios[i], JSON_NUMBER, &unused))
            return false;
    return true;
}

static bool check_map(struct parse *parse, struct str path, const struct json *map)
{
    for (size_t i = 0; map && i < map->object.count; i++) {
        const struct json_member *member = &map->object.members[i];
        struct str at =
            arena_strf(&parse->scratch, STR_FMT "[" STR_FMT "]", STR_ARG(path), STR_ARG(member->key));
        if (parse->key->by_model ? !check_model(parse, at, member->value)
                                 : !check_type(parse, at, member->value, JSON_NUMBER))
            return false;
    }
    return true;
}

static bool read_strategy(struct parse *parse, struct str path, const struct json *object,
                          struct ratio_strategy *ret)
{
    const struct json *enable = NULL;
    struct str map = str_c(parse->key->map_name);
    if (!take(parse, path, object, "enable", JSON_BOOL, &enable) ||
        (parse->key->by_model &&
         !take(parse, path, object, "defaultRatio", JSON_NUMBER, &ret->default_ratio)) ||
        !take(parse, path, object, parse->key->map_name, JSON_OBJECT, &ret->map) ||
        !check_map(parse, join(parse, path, map), ret->map))
        return false;
    ret->enable = (struct opt_bool){ enable != NULL, json_bool(enable) };
    return true;
}

/* --- entries ------------------------------------------------------------------------ */

static bool read_entry(struct parse *parse, size_t index, const struct json *value, struct ratio_entry *ret,
                       bool *usable)
{
    struct str path = arena_strf(&parse->scratch, "nodeConfigs[%zu]", index);
    const struct json *name = NULL, *selector = NULL;
    struct err err = ERR_INIT;
    if (!check_type(parse, path, value, JSON_OBJECT) || !read_strategy(parse, path, value, &ret->written) ||
        !take(parse, path, value, "name", JSON_STRING, &name) ||
        !take(parse, path, value, "nodeSelector", JSON_OBJECT, &selector))
        return false;
    *usable = selector_from_json(&parse->config->arena, selector, &ret->selector, &err);
    if (!*usable)
        findings_add(parse->findings, FINDING_ENTRY, parse->key->key, join(parse, path, STR("nodeSelector")),
                     finding_value(&parse->scratch, selector), finding_reason_invalid, "entry skipped: %s",
                     err.text);
    return true;
}

static bool read_entries(struct parse *parse, const struct json *list)
{
    struct ratio_config *config = parse->config;
    size_t count = json_count(list);
    struct ratio_entry *entries = arena_array(&config->arena, struct ratio_entry, count);
    for (size_t i = 0; i < count; i++) {
        bool usable = false;
        if (!read_entry(parse, i, list->array.items[i], &entries[config->count], &usable))
            return false;
        if (usable)
            config->count++;
        else
            entries[config->count] = (struct ratio_entry){ 0 };
    }
    config->entries = entries;
    return true;
}

/* --- the key ------------------------------------------------------------------------ */

static bool read_config(struct parse *parse, struct str text)
{
    const struct json *root = NULL, *list = NULL;
    struct err err = ERR_INIT;
    struct str message = STR_NULL;
    if (text.len > COLOCATION_MAX_BYTES)
        message = STR("is longer than 1 MiB");
    else if (!json_parse(&parse->config->arena, text, NULL, &root, &err))
        message = str_c(err.text);
    else if (!json_is(root, JSON_OBJECT))
        message = arena_strf(&parse->scratch, "must be an object, not %s", json_type_name(root->type));
    if (!str_empty(message)) {
        findings_add(parse->findings, FINDING_REJECTED, parse->key->key, STR_NULL,
                     finding_text(&parse->scratch, text), finding_reason_parse, STR_FMT, STR_ARG(message));
        return false;
    }
    return read_strategy(parse, STR_NULL, root, &parse->config->cluster) &&
           take(parse, STR_NULL, root, "nodeConfigs", JSON_ARRAY, &list) && read_entries(parse, list);
}

struct ratio_config *ratio_config_parse(const struct ratio_key *key, struct str text,
                                        struct findings *findings)
{
    struct parse parse = { .key = key,
                           .config = mem_zalloc(sizeof(struct ratio_config)),
                           .findings = findings };
    if (!str_empty(text) && !read_config(&parse, text)) {
        ratio_config_free(parse.config);
        parse.config = NULL;
    }
    arena_done(&parse.scratch);
    return parse.config;
}

void ratio_config_free(struct ratio_config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    free(config);
}

/* --- one node ----------------------------------------------------------------------- */

static const struct json *merge_maps(const struct json *base, const struct json *over, struct arena *arena)
{
    if (!base || !over)
        return over ? over : base;
    struct json *merged = json_copy(arena, base);
    for (size_t i = 0; i < over->object.count; i++)
        json_set(arena, merged, over->object.members[i].key, over->object.members[i].value);
    return merged;
}

void ratio_config_resolve(const struct ratio_config *config, struct labels labels, struct arena *arena,
                          struct ratio_strategy *ret)
{
    *ret = config->cluster;
    for (size_t i = 0; i < config->count; i++) {
        const struct ratio_entry *entry = &config->entries[i];
        if (!selector_matches(&entry->selector, labels))
            continue;
        if (entry->written.enable.set)
            ret->enable = entry->written.enable;
        if (entry->written.default_ratio)
            ret->default_ratio = entry->written.default_ratio;
        ret->map = merge_maps(ret->map, entry->written.map, arena);
        return;
    }
}

bool ratio_nano(const struct json *number, int64_t *ret)
{
    struct quantity quantity;
    struct json_event event = { .type = JSON_EV_NUMBER };
    if (!json_is(number, JSON_NUMBER))
        return false;
    event.text = number->text;
    if (!quantity_from_event(&event, &quantity, NULL))
        return false;
    __int128 nano = api_nano_from_quantity(quantity);
    if (nano > INT64_MAX || nano < INT64_MIN)
        return false;
    *ret = (int64_t)nano;
    return true;
}
