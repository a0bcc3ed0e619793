#include "quantity/internal.h"

static void add_number(struct strbuf *out, bool negative, unsigned __int128 magnitude)
{
    char digits[40];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + (int)(magnitude % 10));
        magnitude /= 10;
    } while (magnitude > 0);
    if (negative)
        digits[--start] = '-';
    strbuf_add(out, (struct str){ .ptr = digits + start, .len = sizeof digits - start });
}

/* False, with nothing written, where no binary suffix fits: what is no multiple of 1024,
 * and what a reader would cap. The decimal text is then the one that reads back to the
 * same text, where upstream's first writing ("1000000") and second ("1M") differ. */
static bool write_binary(struct strbuf *out, struct quantity q)
{
    int64_t value = quantity_ceil(q);
    if (!quantity_is_integer(q) || !quantity_fits(q, false) || value == INT64_MIN)
        return false;
    int steps = 0;
    for (; steps < QUANTITY_BINARY_STEPS && value % 1024 == 0; value /= 1024)
        steps++;
    if (steps == 0)
        return false;
    add_number(out, value < 0, quantity_magnitude(value));
    strbuf_add(out, str_c(quantity_binary_suffixes[steps - 1]));
    return true;
}

static int floor_to_three(int scale)
{
    int remainder = scale % 3;
    return scale - (remainder < 0 ? remainder + 3 : remainder);
}

/* The largest suffix is E; what is larger gets zeros while they stay few, else the
 * exponent form, so that no text is longer than about 40 digits. */
static bool write_si(struct strbuf *out, struct quantity q, int exponent)
{
    const int largest = 3 * (QUANTITY_SI_STEPS - 1) + QUANTITY_NANO;
    if (exponent > largest)
        exponent = largest;
    unsigned __int128 magnitude = quantity_magnitude(q.mantissa);
    int zeros = q.scale - exponent;
    if (quantity_digits(magnitude) + zeros > QUANTITY_DIGITS_MAX + 2)
        return false;
    add_number(out, q.mantissa < 0, magnitude * quantity_pow10(zeros));
    strbuf_add(out, str_c(quantity_si_suffixes[(exponent - QUANTITY_NANO) / 3]));
    return true;
}

static void write_decimal(struct strbuf *out, struct quantity q)
{
    int exponent = floor_to_three(q.scale);
    if (q.format != QUANTITY_DECIMAL_EXPONENT && write_si(out, q, exponent))
        return;
    add_number(out, q.mantissa < 0, quantity_magnitude(q.mantissa) * quantity_pow10(q.scale - exponent));
    if (exponent != 0)
        strbuf_addf(out, "e%d", exponent);
}

void quantity_write(struct strbuf *out, struct quantity q)
{
    q = quantity_normal(q);
    if (q.saturated)
        strbuf_add(out, q.mantissa < 0 ? STR("-10e999") : STR("10e999"));
    else if (q.mantissa == 0)
        strbuf_addc(out, '0');
    else if (q.format != QUANTITY_BINARY_SI || !write_binary(out, q))
        write_decimal(out, q);
}
