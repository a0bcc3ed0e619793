#include "sloconfig/slo.h"
#include <stdlib.h>
#include "sloconfig/colocation.h"

/* Parsing in progress. A wrong type anywhere ends it; everything else is collected. */
struct parse {
    struct slo_config *config;
    struct findings *findings;
    struct arena scratch; /* what findings copy */
};

static bool reject(struct parse *parse, struct str path, struct str value, struct str message)
{
    findings_add(parse->findings, FINDING_REJECTED, parse->config->info->key, path, value,
                 finding_reason_parse, STR_FMT, STR_ARG(message));
    return false;
}

/* The strategy in `object`; null reads as one that says nothing. */
static bool read_strategy(struct parse *parse, struct str prefix, const struct json *object,
                          const struct json **ret)
{
    struct arena *arena = &parse->config->arena;
    struct schema_fault fault;
    if (!object || json_is(object, JSON_NULL)) {
        *ret = json_new(arena, JSON_OBJECT);
        return true;
    }
    if (schema_read(parse->config->info->schema, object, arena, ret, &fault))
        return true;
    bool inside = !str_empty(prefix) && !str_empty(fault.path);
    return reject(parse,
                  arena_strf(&parse->scratch, STR_FMT "%s" STR_FMT, STR_ARG(prefix), inside ? "." : "",
                             STR_ARG(fault.path)),
                  finding_value(&parse->scratch, fault.bad), str_c(fault.err.text));
}

static void check_strategy(struct parse *parse, struct str prefix, const struct json *written,
                           const struct json *effective)
{
    struct schema_place place = { parse->config->info->key, prefix, parse->findings };
    if (parse->findings)
        schema_check(parse->config->info->schema, written, effective, &place);
}

/* --- entries --------------------------------------------------------------------- */

struct entries {
    struct node_entry *items;
    const struct json **written;
};

static bool read_all(struct parse *parse, const struct json *list, const struct entries *entries)
{
    for (size_t i = 0; i < json_count(list); i++, arena_clear(&parse->scratch)) {
        struct str path = node_entry_path(&parse->config->list, i, &parse->scratch);
        const struct json *value = list->array.items[i];
        if (!read_strategy(parse, path, value, &entries->written[i]) ||
            !node_entry_read(&parse->config->list, i, value, parse->findings, &entries->items[i]))
            return false;
    }
    return true;
}

static void check_entry(struct parse *parse, size_t index, const struct json *written)
{
    struct slo_config *config = parse->config;
    struct str path = node_entry_path(&config->list, index, &parse->scratch);
    const struct json *effective =
        config->info->replaces ? written : schema_merge(config->cluster, written, &parse->scratch);
    check_strategy(parse, path, written, effective);
}

static void keep_usable(struct parse *parse, size_t count, const struct entries *entries)
{
    struct slo_config *config = parse->config;
    for (size_t i = 0; i < count; i++, arena_clear(&parse->scratch)) {
        check_entry(parse, i, entries->written[i]);
        if (!node_entry_select(&config->list, &entries->items[i], &config->arena, parse->findings)) {
            config->skipped++;
            continue;
        }
        entries->items[config->list.count] = entries->items[i];
        entries->written[config->list.count++] = entries->written[i];
    }
    config->list.items = entries->items;
    config->written = entries->written;
}

static bool read_entries(struct parse *parse, const struct json *list)
{
    struct slo_config *config = parse->config;
    struct str name = str_c(config->info->entries);
    if (list && !json_is(list, JSON_NULL) && !json_is(list, JSON_ARRAY))
        return reject(parse, name, finding_value(&parse->scratch, list),
                      arena_strf(&parse->scratch, "must be an array, not %s", json_type_name(list->type)));
    size_t count = json_count(list);
    struct entries entries = { arena_array(&config->arena, struct node_entry, count),
                               arena_array(&config->arena, const struct json *, count) };
    if (!read_all(parse, list, &entries))
        return false;
    keep_usable(parse, count, &entries);
    return true;
}

/* --- the key --------------------------------------------------------------------- */

static bool read_root(struct parse *parse, struct str text, const struct json **ret)
{
    struct err err = ERR_INIT;
    if (text.len > COLOCATION_MAX_BYTES)
        return reject(parse, STR_NULL, finding_text(&parse->scratch, text),
                      arena_strf(&parse->scratch, "is %zu bytes long; more than %zu are not read", text.len,
                                 COLOCATION_MAX_BYTES));
    if (!json_parse(&parse->config->arena, text, NULL, ret, &err))
        return reject(parse, STR_NULL, finding_text(&parse->scratch, text), str_c(err.text));
    if (!json_is(*ret, JSON_OBJECT))
        return reject(parse, STR_NULL, finding_value(&parse->scratch, *ret),
                      arena_strf(&parse->scratch, "must be an object, not %s", json_type_name((*ret)->type)));
    return true;
}

static bool read_config(struct parse *parse, struct str text)
{
    struct slo_config *config = parse->config;
    const struct slo_key_info *info = config->info;
    struct str prefix = str_c(info->cluster);
    const struct json *root = NULL, *written = NULL;
    if (!read_root(parse, text, &root) ||
        !read_strategy(parse, prefix, info->cluster ? json_get_nocase(root, prefix) : root, &written))
        return false;
    config->cluster = schema_merge(config->cluster, written, &config->arena);
    check_strategy(parse, prefix, written, config->cluster);
    return read_entries(parse, json_get_nocase(root, str_c(info->entries)));
}

struct slo_config *slo_config_default(enum slo_key key)
{
    struct slo_config *config = mem_zalloc(sizeof *config);
    config->info = &slo_keys[key];
    config->list = (struct entry_list){ .key = config->info->key, .name = config->info->entries };
    if (!json_parse(&config->arena, str_c(config->info->default_json), NULL, &config->cluster, NULL))
        config->cluster = json_new(&config->arena, JSON_OBJECT);
    return config;
}

struct slo_config *slo_config_parse(enum slo_key key, struct str text, struct findings *findings)
{
    struct parse parse = { .config = slo_config_default(key), .findings = findings };
    if (!read_config(&parse, text)) {
        slo_config_free(parse.config);
        parse.config = NULL;
    }
    arena_done(&parse.scratch);
    return parse.config;
}

void slo_config_free(struct slo_config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    free(config);
}

/* Selectors as they were written: two spellings of one are looked at once more than needed. */
bool slo_config_equal(const struct slo_config *a, const struct slo_config *b)
{
    if (a->list.count != b->list.count || !json_equal(a->cluster, b->cluster))
        return false;
    for (size_t i = 0; i < a->list.count; i++)
        if (!json_equal(a->list.items[i].selector_json, b->list.items[i].selector_json) ||
            !json_equal(a->written[i], b->written[i]))
            return false;
    return true;
}

/* --- one node -------------------------------------------------------------------- */

const struct json *slo_config_entry(const struct slo_config *config, size_t index, struct arena *arena)
{
    return config->info->replaces ? config->written[index]
                                  : schema_merge(config->cluster, config->written[index], arena);
}

const struct json *slo_config_resolve(const struct slo_config *config, struct labels labels,
                                      struct arena *arena)
{
    size_t match = node_entry_match(&config->list, labels);
    return match < config->list.count ? slo_config_entry(config, match, arena) : config->cluster;
}
