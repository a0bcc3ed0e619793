/* Which nodes two entries of one list could match, or do. */
#include "sloconfig/entry.h"

/* How many (virtual node, entry) pairs are tried before the question counts as too big. */
#define OVERLAP_PAIRS_MAX ((size_t)10 * 1000 * 1000)

/* --- overlap --------------------------------------------------------------------- */

static size_t gcd(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The value of each term is chosen by index modulo its count, so the choices repeat after
 * the least common multiple. Beyond the limit it does not matter how far. */
static size_t virtual_count(const struct selector *selector)
{
    size_t count = selector->nothing ? 0 : 1;
    for (size_t i = 0; i < selector->count && count > 0 && count <= OVERLAP_PAIRS_MAX; i++)
        if (selector->terms[i].value_count > 0)
            count = count / gcd(count, selector->terms[i].value_count) * selector->terms[i].value_count;
    return count;
}

/* Sorted insertion; a key given twice keeps the later value. */
static void put_label(struct label *labels, size_t *count, struct str key, struct str value)
{
    size_t at = 0;
    while (at < *count && str_cmp(labels[at].key, key) < 0)
        at++;
    if (at == *count || !str_eq(labels[at].key, key)) {
        memmove(&labels[at + 1], &labels[at], (*count - at) * sizeof *labels);
        (*count)++;
    }
    labels[at] = (struct label){ key, value };
}

static struct labels virtual_node(const struct selector *selector, size_t index, struct arena *arena)
{
    struct label *labels = arena_array(arena, struct label, selector->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < selector->count; i++) {
        const struct selector_term *term = &selector->terms[i];
        if (term->value_count > 0)
            put_label(labels, &count, term->key, term->values[index % term->value_count]);
    }
    return (struct labels){ labels, count };
}

static struct str selector_path(const struct entry_list *list, const struct node_entry *entry,
                                struct arena *arena)
{
    return arena_strf(arena, "%s[%zu].nodeSelector", list->name, entry->index);
}

/* The first two entries that match. */
static size_t match_two(const struct entry_list *list, struct labels labels, size_t ret[2])
{
    size_t found = 0;
    for (size_t i = 0; i < list->count && found < 2; i++)
        if (selector_matches(&list->items[i].selector, labels))
            ret[found++] = i;
    return found;
}

static size_t pairs(const struct entry_list *list)
{
    size_t total = 0;
    for (size_t i = 0; i < list->count && total <= OVERLAP_PAIRS_MAX; i++)
        total += virtual_count(&list->items[i].selector) * list->count;
    return total;
}

static void overlaps_of(const struct entry_list *list, const struct node_entry *entry, bool *reported,
                        struct findings *findings, struct arena *scratch)
{
    size_t count = virtual_count(&entry->selector);
    for (size_t v = 0; v < count; v++, arena_clear(scratch)) {
        size_t two[2];
        if (match_two(list, virtual_node(&entry->selector, v, scratch), two) < 2 || reported[two[1]])
            continue;
        reported[two[1]] = true;
        const struct node_entry *later = &list->items[two[1]];
        findings_add(findings, FINDING_ADMISSION, list->key, selector_path(list, later, scratch),
                     finding_value(scratch, later->selector_json), finding_reason_overlap,
                     "must not overlap %s[%zu]: one node can match both", list->name,
                     list->items[two[0]].index);
    }
}

void node_entries_check_overlaps(const struct entry_list *list, struct findings *findings)
{
    if (list->count < 2)
        return;
    if (pairs(list) > OVERLAP_PAIRS_MAX) {
        findings_add(findings, FINDING_ADMISSION, list->key, str_c(list->name), STR_NULL,
                     finding_reason_invalid,
                     "has too many selectors and values to tell whether they overlap");
        return;
    }
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    CLEANUP(arena_done) struct arena flags = ARENA_INIT;
    bool *reported = arena_array(&flags, bool, list->count);
    for (size_t i = 0; i < list->count; i++)
        overlaps_of(list, &list->items[i], reported, findings, &scratch);
}

/* --- names and nodes ------------------------------------------------------------- */

static const struct node_entry *same_name_before(const struct entry_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (str_eq(list->items[i].name, list->items[at].name))
            return &list->items[i];
    return NULL;
}

void node_entries_check_names(const struct entry_list *list, struct findings *findings)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    for (size_t i = 0; i < list->count; i++, arena_clear(&scratch)) {
        const struct node_entry *entry = &list->items[i];
        struct str path = arena_strf(&scratch, "%s[%zu].name", list->name, entry->index);
        const struct node_entry *twin = str_empty(entry->name) ? NULL : same_name_before(list, i);
        struct str value = finding_value(&scratch, json_new_str(&scratch, entry->name));
        if (str_empty(entry->name))
            findings_add(findings, FINDING_ADMISSION, list->key, path, STR_NULL, finding_reason_invalid,
                         "must be given");
        else if (twin)
            findings_add(findings, FINDING_ADMISSION, list->key, path, value, finding_reason_invalid,
                         "must be unique: %s[%zu] has it too", list->name, twin->index);
    }
}

void node_entries_check_nodes(const struct entry_list *list, const struct admission_node *nodes, size_t count,
                              struct findings *findings)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    for (size_t i = 0; list->count > 1 && i < count; i++, arena_clear(&scratch)) {
        const struct admission_node *node = &nodes[i];
        size_t two[2];
        if (match_two(list, node->labels, two) < 2)
            continue;
        const struct node_entry *later = &list->items[two[1]];
        findings_add(findings, FINDING_ADMISSION, list->key, selector_path(list, later, &scratch),
                     finding_value(&scratch, later->selector_json), finding_reason_conflict,
                     "node " STR_FMT " matches %s[%zu] too", STR_ARG(node->name), list->name,
                     list->items[two[0]].index);
    }
}
