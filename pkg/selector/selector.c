#include "selector/internal.h"

struct str selector_quote(struct str text)
{
    return str_slice(text, 0, 80);
}

void selector_add_value(struct arena *arena, struct selector_values *values, struct str value)
{
    if (values->count == values->capacity) {
        size_t capacity = values->capacity > 0 ? values->capacity * 2 : 4;
        values->items = arena_grow(arena, values->items, values->capacity * sizeof *values->items,
                                   capacity * sizeof *values->items);
        values->capacity = capacity;
    }
    values->items[values->count++] = arena_str(arena, value);
}

static void push_term(struct arena *arena, struct selector_terms *terms, struct selector_term term)
{
    if (terms->count == terms->capacity) {
        size_t capacity = terms->capacity > 0 ? terms->capacity * 2 : 4;
        terms->items = arena_grow(arena, terms->items, terms->capacity * sizeof *terms->items,
                                  capacity * sizeof *terms->items);
        terms->capacity = capacity;
    }
    terms->items[terms->count++] = term;
}

static bool takes_values(enum selector_op op)
{
    return op == SELECTOR_IN || op == SELECTOR_NOT_IN;
}

bool selector_add_term(struct arena *arena, struct selector_terms *terms, struct selector_term term,
                       struct err *err)
{
    if (!label_key_valid(term.key))
        return err_set(err, ERR_INVALID, "key: \"" STR_FMT "\" is not a label key",
                       STR_ARG(selector_quote(term.key)));
    if (takes_values(term.op) && term.value_count == 0)
        return err_set(err, ERR_INVALID, "values: In and NotIn need at least one");
    if (!takes_values(term.op) && term.value_count > 0)
        return err_set(err, ERR_INVALID, "values: Exists and DoesNotExist take none, \"" STR_FMT "\" given",
                       STR_ARG(selector_quote(term.values[0])));
    for (size_t i = 0; i < term.value_count; i++)
        if (!label_value_valid(term.values[i]))
            return err_set(err, ERR_INVALID, "values[%zu]: \"" STR_FMT "\" is not a label value", i,
                           STR_ARG(selector_quote(term.values[i])));
    term.key = arena_str(arena, term.key);
    push_term(arena, terms, term);
    return true;
}

static bool has_value(const struct selector_term *term, struct str value)
{
    for (size_t i = 0; i < term->value_count; i++)
        if (str_eq(term->values[i], value))
            return true;
    return false;
}

static bool term_matches(const struct selector_term *term, struct labels labels)
{
    const struct label *label = labels_find(labels, term->key);
    switch (term->op) {
    case SELECTOR_IN:
        return label && has_value(term, label->value);
    case SELECTOR_NOT_IN:
        return !label || !has_value(term, label->value);
    case SELECTOR_EXISTS:
        return label != NULL;
    case SELECTOR_NOT_EXISTS:
        return !label;
    }
    return false;
}

bool selector_matches(const struct selector *selector, struct labels labels)
{
    if (selector->nothing)
        return false;
    for (size_t i = 0; i < selector->count; i++)
        if (!term_matches(&selector->terms[i], labels))
            return false;
    return true;
}
