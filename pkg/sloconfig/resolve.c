#include "sloconfig/resolve.h"
#include "sloconfig/ratio.h"

/* The API server keeps no more annotations than this on one object, all together. */
#define ANNOTATION_MAX_BYTES ((size_t)256 * 1024)

const struct str strategy_annotation = STR_INIT("node.koordinator.sh/colocation-strategy");

static const struct ratio_label {
    struct str label;
    size_t offset; /* of a struct opt_i64 in struct strategy */
} ratio_labels[] = {
    { STR_INIT("node.koordinator.sh/cpu-reclaim-ratio"), offsetof(struct strategy, cpu_reclaim_percent) },
    { STR_INIT("node.koordinator.sh/memory-reclaim-ratio"),
      offsetof(struct strategy, memory_reclaim_percent) },
    { STR_INIT("node.koordinator.sh/mid-static-cpu-reserved-ratio"),
      offsetof(struct strategy, mid_static_cpu_percent) },
    { STR_INIT("node.koordinator.sh/mid-static-memory-reserved-ratio"),
      offsetof(struct strategy, mid_static_memory_percent) },
};

const struct colocation_entry *colocation_match(const struct colocation_config *config, struct labels labels)
{
    for (size_t i = 0; i < config->count; i++)
        if (selector_matches(&config->entries[i].selector, labels))
            return &config->entries[i];
    return NULL;
}

bool colocation_enabled(const struct colocation_config *config, const struct strategy *strategy)
{
    return config->cluster.enable.value && strategy->enable.value;
}

/* --- the annotation -------------------------------------------------------------- */

static bool ignore_annotation(struct findings *findings, struct str path, struct str value,
                              struct str message)
{
    findings_add(findings, FINDING_NODE, strategy_annotation, path, value, finding_reason_override,
                 "annotation ignored: " STR_FMT, STR_ARG(message));
    return false;
}

static bool read_annotation(struct str text, struct arena *arena, struct strategy *ret,
                            struct findings *findings)
{
    struct err err = ERR_INIT;
    const struct json *root = NULL, *bad = NULL;
    struct str path = STR_NULL;
    if (text.len > ANNOTATION_MAX_BYTES)
        return ignore_annotation(findings, STR_NULL, finding_text(arena, text), STR("is too long"));
    if (!json_parse(arena, text, NULL, &root, &err))
        return ignore_annotation(findings, STR_NULL, finding_text(arena, text), str_c(err.text));
    if (!strategy_from_json(root, arena, ret, &path, &bad, &err))
        return ignore_annotation(findings, path, finding_value(arena, bad), str_c(err.text));
    return true;
}

static bool check_annotation(const struct strategy *strategy, struct arena *arena, struct findings *findings)
{
    bool usable = true;
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_field *field = &strategy_fields[i];
        struct str rule = STR_NULL;
        if (strategy_field_in_range(field, strategy, LEVEL_CONTROLLER, arena, &rule))
            continue;
        usable = ignore_annotation(findings, strategy_field_path(field, arena),
                                   finding_value(arena, strategy_field_json(field, strategy, arena)), rule);
    }
    return usable;
}

static void warn_annotation(const struct strategy *strategy, struct arena *arena, struct findings *findings)
{
    for (size_t i = 0; i < strategy_field_count; i++) {
        const struct strategy_field *field = &strategy_fields[i];
        if (!strategy_field_is_known(field, strategy))
            findings_add(findings, FINDING_WARNING, strategy_annotation, strategy_field_path(field, arena),
                         finding_value(arena, strategy_field_json(field, strategy, arena)),
                         finding_reason_unknown, "unknown value, read as %s", field->unknown_is);
    }
}

static void apply_annotation(struct str text, struct arena *arena, struct strategy *ret,
                             struct findings *findings)
{
    struct strategy over = { 0 };
    if (!read_annotation(text, arena, &over, findings) || !check_annotation(&over, arena, findings))
        return;
    warn_annotation(&over, arena, findings);
    strategy_merge(ret, &over, arena);
}

/* --- the labels ------------------------------------------------------------------ */

static void apply_labels(struct labels labels, struct arena *arena, struct strategy *ret,
                         struct findings *findings)
{
    for (size_t i = 0; i < ARRAY_LEN(ratio_labels); i++) {
        const struct label *label = labels_find(labels, ratio_labels[i].label);
        struct opt_i64 *slot = (struct opt_i64 *)(void *)((char *)ret + ratio_labels[i].offset);
        struct err err = ERR_INIT;
        int64_t percent = 0;
        if (!label)
            continue;
        if (ratio_to_percent(label->value, &percent, &err))
            *slot = (struct opt_i64){ true, percent };
        else
            findings_add(findings, FINDING_NODE, label->key, STR_NULL, finding_text(arena, label->value),
                         finding_reason_override, "label ignored: %s", err.text);
    }
}

void colocation_resolve(const struct colocation_config *config, const struct node_overrides *node,
                        struct arena *arena, struct strategy *ret, struct findings *findings)
{
    *ret = config->cluster;
    const struct colocation_entry *entry = colocation_match(config, node->labels);
    if (entry && !entry->replaced)
        strategy_merge(ret, &entry->written, arena);
    if (node->has_annotation)
        apply_annotation(node->annotation, arena, ret, findings);
    apply_labels(node->labels, arena, ret, findings);
}
