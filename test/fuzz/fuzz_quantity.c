/* Quantities, one a line: what is accepted is written within the promised length, reads
 * back equal with the same text, and takes part in arithmetic without losing its laws. */
#include "quantity/quantity.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void round_trip(struct quantity q)
{
    CLEANUP(strbuf_done) struct strbuf first = STRBUF_INIT(45);
    CLEANUP(strbuf_done) struct strbuf second = STRBUF_INIT(45);
    struct quantity again = QUANTITY_ZERO;
    quantity_write(&first, q);
    check(!first.overflow && quantity_parse(strbuf_str(&first), &again, NULL));
    check(quantity_cmp(q, again) == 0 && q.saturated == again.saturated);
    quantity_write(&second, again);
    check(str_eq(strbuf_str(&first), strbuf_str(&second)));
}

static void views(struct quantity q)
{
    int sign = quantity_sign(q);
    int64_t whole = quantity_ceil(q), milli = quantity_milli_ceil(q);
    check((whole > 0) - (whole < 0) == sign && (milli > 0) - (milli < 0) == sign);
    if (quantity_fits(q, false))
        check(quantity_cmp(quantity_from_i64(whole, QUANTITY_DECIMAL_SI), q) * sign >= 0);
    if (quantity_fits(q, true))
        check(quantity_fits(q, false) &&
              quantity_cmp(quantity_from_milli(milli, QUANTITY_BINARY_SI), q) * sign >= 0);
}

static void laws(struct quantity a, struct quantity b)
{
    struct quantity sum = quantity_add(a, b);
    check(quantity_cmp(a, b) == -quantity_cmp(b, a));
    check(quantity_cmp(sum, quantity_add(b, a)) == 0);
    check(quantity_cmp(quantity_neg(quantity_neg(a)), a) == 0);
    if (!sum.saturated)
        check(quantity_cmp(quantity_sub(sum, b), a) == 0);
    round_trip(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = { .ptr = (const char *)data, .len = size };
    struct quantity previous = QUANTITY_ZERO;
    while (rest.len > 0) {
        struct str line;
        (void)str_cut(rest, '\n', &line, &rest);
        struct json_event event = { .type = JSON_EV_STRING, .text = line };
        struct quantity q, trimmed;
        struct err err = ERR_INIT;
        bool accepted = quantity_parse(line, &q, &err);
        check(accepted == (err.kind == ERR_NONE));
        check(!accepted || quantity_from_event(&event, &trimmed, NULL));
        if (!accepted)
            continue;
        round_trip(q);
        views(q);
        laws(previous, q);
        previous = q;
    }
    return 0;
}
