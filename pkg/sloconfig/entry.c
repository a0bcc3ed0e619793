#include "sloconfig/entry.h"
#include "sloconfig/crumb.h"

struct str node_entry_path(const struct entry_list *list, size_t index, struct arena *arena)
{
    return arena_strf(arena, "%s[%zu]", list->name, index);
}

size_t node_entry_match(const struct entry_list *list, struct labels labels)
{
    size_t i = 0;
    while (i < list->count && !selector_matches(&list->items[i].selector, labels))
        i++;
    return i;
}

/* --- types ----------------------------------------------------------------------- */

struct reader {
    struct str key;
    struct findings *findings;
};

/* `value` is absent, null or of this type. */
static bool check_type(const struct reader *reader, const struct crumb *at, const struct json *value,
                       enum json_type type)
{
    if (!value || json_is(value, JSON_NULL) || json_is(value, type))
        return true;
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    findings_add(reader->findings, FINDING_REJECTED, reader->key, crumb_text(at, &scratch),
                 finding_value(&scratch, value), finding_reason_parse, "must be %s, not %s",
                 json_type_name(type), json_type_name(value->type));
    return false;
}

static bool take(const struct reader *reader, const struct crumb *at, const struct json *object,
                 struct str name, enum json_type type, const struct json **ret)
{
    struct crumb here = { .up = at, .name = name };
    *ret = json_get_nocase(object, name);
    return check_type(reader, &here, *ret, type);
}

static bool check_strings(const struct reader *reader, const struct crumb *at, const struct json *array)
{
    struct crumb values = { .up = at, .name = STR("values") };
    for (size_t i = 0; json_is(array, JSON_ARRAY) && i < array->array.count; i++) {
        struct crumb here = { .up = &values, .kind = CRUMB_INDEX, .index = i };
        if (!check_type(reader, &here, array->array.items[i], JSON_STRING))
            return false;
    }
    return true;
}

static bool check_expression(const struct reader *reader, const struct crumb *at,
                             const struct json *expression)
{
    const struct json *key = NULL, *operator= NULL, *values = NULL;
    return check_type(reader, at, expression, JSON_OBJECT) &&
           take(reader, at, expression, STR("key"), JSON_STRING, &key) &&
           take(reader, at, expression, STR("operator"), JSON_STRING, &operator) &&
           take(reader, at, expression, STR("values"), JSON_ARRAY, &values) &&
           check_strings(reader, at, values);
}

/* Only the types: what a selector says is checked when it is read, and a selector that
 * says nonsense costs one entry, not the key. */
static bool check_selector(const struct reader *reader, const struct crumb *at, const struct json *selector)
{
    const struct json *labels = NULL, *expressions = NULL;
    struct crumb in_labels = { .up = at, .name = STR("matchLabels") };
    struct crumb in_expressions = { .up = at, .name = STR("matchExpressions") };
    if (!take(reader, at, selector, in_labels.name, JSON_OBJECT, &labels) ||
        !take(reader, at, selector, in_expressions.name, JSON_ARRAY, &expressions))
        return false;
    for (size_t i = 0; json_is(labels, JSON_OBJECT) && i < labels->object.count; i++) {
        const struct json_member *member = &labels->object.members[i];
        struct crumb here = { .up = &in_labels, .kind = CRUMB_KEY, .name = member->key };
        if (!check_type(reader, &here, member->value, JSON_STRING))
            return false;
    }
    for (size_t i = 0; json_is(expressions, JSON_ARRAY) && i < expressions->array.count; i++) {
        struct crumb here = { .up = &in_expressions, .kind = CRUMB_INDEX, .index = i };
        if (!check_expression(reader, &here, expressions->array.items[i]))
            return false;
    }
    return true;
}

bool node_entry_read(const struct entry_list *list, size_t index, const struct json *value,
                     struct findings *findings, struct node_entry *ret)
{
    struct reader reader = { list->key, findings };
    struct crumb root = { .name = str_c(list->name) };
    struct crumb at = { .up = &root, .kind = CRUMB_INDEX, .index = index };
    struct crumb selector = { .up = &at, .name = STR("nodeSelector") };
    const struct json *name = NULL;
    *ret = (struct node_entry){ .index = index };
    if (!check_type(&reader, &at, value, JSON_OBJECT) ||
        !take(&reader, &at, value, STR("name"), JSON_STRING, &name) ||
        !take(&reader, &at, value, selector.name, JSON_OBJECT, &ret->selector_json) ||
        !check_selector(&reader, &selector, ret->selector_json))
        return false;
    ret->name = json_str(name);
    return true;
}

/* --- selectors ------------------------------------------------------------------- */

bool node_entry_select(const struct entry_list *list, struct node_entry *entry, struct arena *arena,
                       struct findings *findings)
{
    struct err err = ERR_INIT;
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    struct str path = arena_strf(&scratch, "%s[%zu].nodeSelector", list->name, entry->index);
    struct str shown = finding_value(&scratch, entry->selector_json);
    bool usable = selector_from_json(arena, entry->selector_json, &entry->selector, &err);
    if (!usable)
        findings_add(findings, FINDING_ENTRY, list->key, path, shown, finding_reason_invalid,
                     "entry skipped: %s", err.text);
    else if (entry->selector.nothing)
        findings_add(findings, FINDING_ADMISSION, list->key, path, shown, finding_reason_invalid,
                     "must be given: without it the entry matches no node");
    else if (entry->selector.count == 0)
        findings_add(findings, FINDING_ADMISSION, list->key, path, shown, finding_reason_invalid,
                     "must not be empty: it matches every node");
    return usable;
}
