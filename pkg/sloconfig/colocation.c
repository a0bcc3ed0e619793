#include "sloconfig/colocation.h"
#include "sloconfig/entry.h"
#include <stdlib.h>

const struct str colocation_key = STR_INIT("colocation-config");

/* Parsing in progress. A wrong type anywhere ends it; everything else is collected. */
struct parse {
    struct colocation_config *config;
    struct findings *findings;
    struct arena scratch; /* paths and rules, which findings copy */
};

static void report(struct parse *parse, enum finding_level level, struct str path, struct str value,
                   const char *reason, struct str message)
{
    findings_add(parse->findings, level, colocation_key, path, value, reason, STR_FMT, STR_ARG(message));
}

static bool reject(struct parse *parse, struct str path, struct str value, struct str message)
{
    report(parse, FINDING_REJECTED, path, value, finding_reason_parse, message);
    return false;
}

/* --- types ----------------------------------------------------------------------- */

static bool read_strategy(struct parse *parse, struct str prefix, const struct json *object,
                          struct strategy *ret)
{
    struct err err = ERR_INIT;
    struct str path = STR_NULL;
    const struct json *bad = NULL;
    if (strategy_from_json(object, &parse->config->arena, ret, &path, &bad, &err))
        return true;
    bool inside = !str_empty(prefix) && !str_empty(path);
    return reject(
        parse,
        arena_strf(&parse->scratch, STR_FMT "%s" STR_FMT, STR_ARG(prefix), inside ? "." : "", STR_ARG(path)),
        finding_value(&parse->scratch, bad), str_c(err.text));
}

/* `value` is absent, null or of this type. */
static bool check_type(struct parse *parse, struct str path, const struct json *value, enum json_type type)
{
    if (!value || json_is(value, JSON_NULL) || json_is(value, type))
        return true;
    return reject(
        parse, path, finding_value(&parse->scratch, value),
        arena_strf(&parse->scratch, "must be %s, not %s", json_type_name(type), json_type_name(value->type)));
}

/* --- rules ----------------------------------------------------------------------- */

/* Every set field against both levels. Returns false when a controller would not act on
 * it; such fields are reported at `refused`. */
static bool check_ranges(struct parse *parse, struct str prefix, const struct strategy *strategy,
                         enum finding_level refused)
{
    bool usable = true;
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_field *field = &strategy_fields[i];
        struct arena *scratch = &parse->scratch;
        struct str rule = STR_NULL;
        bool controller = strategy_field_in_range(field, strategy, LEVEL_CONTROLLER, scratch, &rule);
        bool admission =
            controller && strategy_field_in_range(field, strategy, LEVEL_ADMISSION, scratch, &rule);
        bool known = strategy_field_is_known(field, strategy);
        usable = usable && controller;
        if (controller && admission && known)
            continue;
        struct str name = strategy_field_path(field, scratch);
        struct str path = arena_strf(scratch, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(name));
        struct str value = finding_value(scratch, strategy_field_json(field, strategy, scratch));
        if (!controller || !admission)
            report(parse, controller ? FINDING_ADMISSION : refused, path, value, finding_reason_invalid,
                   rule);
        if (!known)
            report(parse, FINDING_WARNING, path, value, finding_reason_unknown,
                   arena_strf(scratch, "unknown value, read as %s", field->unknown_is));
    }
    return usable;
}

/* --- entries --------------------------------------------------------------------- */

static const struct entry_list node_configs = { .key = STR_INIT("colocation-config"), .name = "nodeConfigs" };

/* The types of one entry; its strategy is read on the way. */
static bool read_entry(struct parse *parse, size_t index, const struct json *value,
                       struct colocation_entry *entry)
{
    struct str path = node_entry_path(&node_configs, index, &parse->scratch);
    struct node_entry common;
    entry->index = index;
    if (json_is(value, JSON_NULL)) /* Go reads it as an entry that says nothing */
        return true;
    if (!read_strategy(parse, path, value, &entry->written) ||
        !node_entry_read(&node_configs, index, value, parse->findings, &common))
        return false;
    entry->name = common.name;
    entry->selector_json = common.selector_json;
    return true;
}

/* The rules of one entry. False: it is to be left out. */
static bool check_entry(struct parse *parse, struct colocation_entry *entry)
{
    struct str path = node_entry_path(&node_configs, entry->index, &parse->scratch);
    struct str prefix = arena_strf(&parse->scratch, STR_FMT ".", STR_ARG(path));
    struct node_entry common = { .index = entry->index, .selector_json = entry->selector_json };
    entry->replaced = !check_ranges(parse, prefix, &entry->written, FINDING_ENTRY);
    bool usable = node_entry_select(&node_configs, &common, &parse->config->arena, parse->findings);
    entry->selector = common.selector;
    return usable;
}

static bool read_entries(struct parse *parse, const struct json *list)
{
    struct colocation_config *config = parse->config;
    if (!check_type(parse, STR("nodeConfigs"), list, JSON_ARRAY))
        return false;
    if (!json_is(list, JSON_ARRAY))
        return true;
    struct colocation_entry *entries =
        arena_array(&config->arena, struct colocation_entry, list->array.count);
    for (size_t i = 0; i < list->array.count; i++, arena_clear(&parse->scratch))
        if (!read_entry(parse, i, list->array.items[i], &entries[i]))
            return false;
    for (size_t i = 0; i < list->array.count; i++, arena_clear(&parse->scratch))
        if (check_entry(parse, &entries[i]))
            entries[config->count++] = entries[i];
        else
            config->skipped++;
    config->entries = entries;
    return true;
}

/* --- the key --------------------------------------------------------------------- */

static bool read_root(struct parse *parse, struct str text, const struct json **ret)
{
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    if (text.len > COLOCATION_MAX_BYTES)
        return reject(parse, STR_NULL, finding_text(&parse->scratch, text),
                      arena_strf(&parse->scratch, "is %zu bytes long; more than %zu are not read", text.len,
                                 COLOCATION_MAX_BYTES));
    if (!json_parse(&parse->config->arena, text, NULL, &root, &err))
        return reject(parse, STR_NULL, finding_text(&parse->scratch, text), str_c(err.text));
    if (!json_is(root, JSON_OBJECT))
        return reject(parse, STR_NULL, finding_value(&parse->scratch, root),
                      arena_strf(&parse->scratch, "must be an object, not %s", json_type_name(root->type)));
    *ret = root;
    return true;
}

static bool read_config(struct parse *parse, struct str text)
{
    struct colocation_config *config = parse->config;
    const struct json *root = NULL;
    if (!read_root(parse, text, &root) || !read_strategy(parse, STR_NULL, root, &config->written))
        return false;
    bool in_range = check_ranges(parse, STR_NULL, &config->written, FINDING_REJECTED);
    strategy_merge(&config->cluster, &config->written, &config->arena);
    return read_entries(parse, json_get_nocase(root, STR("nodeConfigs"))) && in_range;
}

struct colocation_config *colocation_default(void)
{
    struct colocation_config *config = mem_zalloc(sizeof *config);
    strategy_defaults(&config->cluster, &config->arena);
    return config;
}

struct colocation_config *colocation_parse(struct str text, struct findings *findings)
{
    struct parse parse = { .config = colocation_default(), .findings = findings };
    if (!str_empty(text) && !read_config(&parse, text)) {
        colocation_config_free(parse.config);
        parse.config = NULL;
    }
    arena_done(&parse.scratch);
    return parse.config;
}

void colocation_config_free(struct colocation_config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    free(config);
}

/* --- equality -------------------------------------------------------------------- */

static bool term_equal(const struct selector_term *a, const struct selector_term *b)
{
    if (!str_eq(a->key, b->key) || a->op != b->op || a->value_count != b->value_count)
        return false;
    for (size_t i = 0; i < a->value_count; i++)
        if (!str_eq(a->values[i], b->values[i]))
            return false;
    return true;
}

static bool selector_equal(const struct selector *a, const struct selector *b)
{
    if (a->nothing != b->nothing || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!term_equal(&a->terms[i], &b->terms[i]))
            return false;
    return true;
}

static bool entry_equal(const struct colocation_entry *a, const struct colocation_entry *b)
{
    return a->replaced == b->replaced && selector_equal(&a->selector, &b->selector) &&
           (a->replaced || strategy_equal(&a->written, &b->written));
}

bool colocation_config_equal(const struct colocation_config *a, const struct colocation_config *b)
{
    if (!strategy_equal(&a->cluster, &b->cluster) || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!entry_equal(&a->entries[i], &b->entries[i]))
            return false;
    return true;
}
