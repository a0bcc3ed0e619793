/* Label selectors in both spellings. The first byte chooses: "{" and "n" begin JSON,
 * anything else is a query. What is accepted holds only valid keys and values, and
 * agrees with an object made to match it. */
#include "selector/selector.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_term(const struct selector_term *term)
{
    bool lists = term->op == SELECTOR_IN || term->op == SELECTOR_NOT_IN;
    check(label_key_valid(term->key) && lists == (term->value_count > 0));
    for (size_t i = 0; i < term->value_count; i++)
        check(label_value_valid(term->values[i]));
}

/* Each term alone, against the one label it speaks of. */
static void check_matching(const struct selector_term *term)
{
    struct selector selector = { .terms = term, .count = 1 };
    struct label label = { .key = term->key };
    if (term->value_count > 0)
        label.value = term->values[0];
    bool wants_it = term->op == SELECTOR_IN || term->op == SELECTOR_EXISTS;
    check(selector_matches(&selector, (struct labels){ &label, 1 }) == wants_it);
    bool wants_none = term->op == SELECTOR_NOT_IN || term->op == SELECTOR_NOT_EXISTS;
    check(selector_matches(&selector, (struct labels){ 0 }) == wants_none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str text = { .ptr = (const char *)data, .len = size };
    struct selector selector = { 0 };
    struct err err = ERR_INIT;
    const struct json *object;
    bool accepted;
    if (size > 0 && (data[0] == '{' || data[0] == 'n'))
        accepted = json_parse(&arena, text, NULL, &object, &err) &&
                   selector_from_json(&arena, object, &selector, &err);
    else
        accepted = selector_from_query(&arena, text, &selector, &err);
    check(accepted == (err.kind == ERR_NONE));
    for (size_t i = 0; accepted && i < selector.count; i++) {
        check_term(&selector.terms[i]);
        check_matching(&selector.terms[i]);
    }
    return 0;
}
