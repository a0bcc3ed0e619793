#include "quantity/internal.h"

const char *const quantity_si_suffixes[QUANTITY_SI_STEPS] = {
    "n", "u", "m", "", "k", "M", "G", "T", "P", "E"
};
const char *const quantity_binary_suffixes[QUANTITY_BINARY_STEPS] = { "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };

unsigned __int128 quantity_pow10(int exponent)
{
    unsigned __int128 power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

int quantity_digits(unsigned __int128 number)
{
    int digits = 0;
    for (; number > UINT64_MAX; number /= 10)
        digits++;
    for (uint64_t rest = (uint64_t)number; rest > 0; rest /= 10)
        digits++;
    return digits;
}

unsigned __int128 quantity_magnitude(__int128 number)
{
    unsigned __int128 bits = (unsigned __int128)number;
    return number < 0 ? -bits : bits;
}

unsigned __int128 quantity_shift_down(unsigned __int128 number, int64_t exponent)
{
    if (exponent > 38)
        return number > 0;
    unsigned __int128 divisor = quantity_pow10((int)exponent);
    return number / divisor + (number % divisor != 0);
}

struct quantity quantity_saturated(bool negative, uint8_t format)
{
    return (struct quantity){ .mantissa = negative ? -1 : 1, .format = format, .saturated = true };
}

/* Division of 128 bits is slow and most amounts are small. */
static void strip_zeros(unsigned __int128 *number, int32_t *scale)
{
    for (; *number > UINT64_MAX && *number % 10 == 0; *number /= 10)
        ++*scale;
    if (*number > UINT64_MAX)
        return;
    uint64_t rest = (uint64_t)*number;
    for (; rest % 10 == 0; rest /= 10)
        ++*scale;
    *number = rest;
}

struct quantity quantity_normal(struct quantity q)
{
    bool negative = q.mantissa < 0;
    if (q.saturated)
        return quantity_saturated(negative, q.format);
    if (q.mantissa == 0)
        return (struct quantity){ .format = q.format };
    if (q.scale > QUANTITY_MAGNITUDE_MAX)
        return quantity_saturated(negative, q.format);

    unsigned __int128 magnitude = quantity_magnitude(q.mantissa);
    if (q.scale < QUANTITY_NANO) {
        magnitude = quantity_shift_down(magnitude, (int64_t)QUANTITY_NANO - q.scale);
        q.scale = QUANTITY_NANO;
    }
    strip_zeros(&magnitude, &q.scale);
    int digits = quantity_digits(magnitude);
    if (digits > QUANTITY_DIGITS_MAX || digits + q.scale > QUANTITY_MAGNITUDE_MAX)
        return quantity_saturated(negative, q.format);
    q.mantissa = negative ? -(__int128)magnitude : (__int128)magnitude;
    return q;
}

struct quantity quantity_from_i64(int64_t value, enum quantity_format format)
{
    return quantity_normal((struct quantity){ .mantissa = value, .format = (uint8_t)format });
}

struct quantity quantity_from_milli(int64_t milli, enum quantity_format format)
{
    return quantity_normal((struct quantity){ .mantissa = milli, .scale = -3, .format = (uint8_t)format });
}

/* q * 10^shift, rounded away from zero. False when it had to be clamped. */
static bool to_i64(struct quantity q, int shift, int64_t *ret)
{
    q = quantity_normal(q);
    bool negative = q.mantissa < 0;
    unsigned __int128 magnitude = quantity_magnitude(q.mantissa);
    unsigned __int128 limit = (unsigned __int128)INT64_MAX + negative;
    int scale = q.scale + shift;
    bool fits = !q.saturated;

    if (scale < 0)
        magnitude = quantity_shift_down(magnitude, -scale);
    else if (quantity_digits(magnitude) + scale <= 19)
        magnitude *= quantity_pow10(scale);
    else
        fits = false;

    if (!fits || magnitude > limit) {
        *ret = negative ? INT64_MIN : INT64_MAX;
        return false;
    }
    *ret = (int64_t)(negative ? -(__int128)magnitude : (__int128)magnitude);
    return true;
}

int64_t quantity_ceil(struct quantity q)
{
    int64_t value;
    (void)to_i64(q, 0, &value);
    return value;
}

int64_t quantity_milli_ceil(struct quantity q)
{
    int64_t milli;
    (void)to_i64(q, 3, &milli);
    return milli;
}

bool quantity_fits(struct quantity q, bool scale_milli)
{
    int64_t ignored;
    return to_i64(q, scale_milli ? 3 : 0, &ignored);
}

bool quantity_is_integer(struct quantity q)
{
    q = quantity_normal(q);
    return !q.saturated && q.scale >= 0;
}

int quantity_sign(struct quantity q)
{
    if (q.saturated)
        return q.mantissa < 0 ? -1 : 1;
    return (q.mantissa > 0) - (q.mantissa < 0);
}

/* Of two positive normal values. */
static int cmp_magnitudes(struct quantity a, struct quantity b)
{
    if (a.saturated || b.saturated)
        return a.saturated - b.saturated;
    unsigned __int128 left = quantity_magnitude(a.mantissa);
    unsigned __int128 right = quantity_magnitude(b.mantissa);
    int left_top = quantity_digits(left) + a.scale;
    int right_top = quantity_digits(right) + b.scale;
    if (left_top != right_top)
        return left_top < right_top ? -1 : 1;
    /* The first digits stand at the same place, so the scales differ by less than the
     * digits there are and neither product leaves 128 bits. */
    if (a.scale > b.scale)
        left *= quantity_pow10(a.scale - b.scale);
    else
        right *= quantity_pow10(b.scale - a.scale);
    return (left > right) - (left < right);
}

int quantity_cmp(struct quantity a, struct quantity b)
{
    a = quantity_normal(a);
    b = quantity_normal(b);
    int sign = quantity_sign(a);
    if (sign != quantity_sign(b))
        return sign < quantity_sign(b) ? -1 : 1;
    return sign == 0 ? 0 : sign * cmp_magnitudes(a, b);
}

/* Both normal, neither zero nor saturated. */
static struct quantity add_finite(struct quantity a, struct quantity b)
{
    if (a.scale < b.scale) {
        struct quantity swap = a;
        a = b;
        b = swap;
    }
    /* Beyond this reach b is smaller than a and ends in a digit that no mantissa can
     * hold together with a's first one. */
    int shift = a.scale - b.scale;
    if (quantity_digits(quantity_magnitude(a.mantissa)) + shift > QUANTITY_DIGITS_MAX + 1)
        return quantity_saturated(a.mantissa < 0, a.format);
    __int128 sum = a.mantissa * (__int128)quantity_pow10(shift) + b.mantissa;
    return quantity_normal((struct quantity){ .mantissa = sum, .scale = b.scale });
}

static struct quantity add_normal(struct quantity a, struct quantity b)
{
    /* Opposite infinities: the negative one wins, because less is the safe answer. */
    if (a.saturated || b.saturated)
        return quantity_saturated((a.saturated && a.mantissa < 0) || (b.saturated && b.mantissa < 0),
                                  a.format);
    if (a.mantissa == 0)
        return b;
    if (b.mantissa == 0)
        return a;
    return add_finite(a, b);
}

struct quantity quantity_add(struct quantity a, struct quantity b)
{
    struct quantity sum = add_normal(quantity_normal(a), quantity_normal(b));
    sum.format = quantity_sign(a) == 0 ? b.format : a.format;
    return sum;
}

struct quantity quantity_neg(struct quantity q)
{
    q = quantity_normal(q);
    q.mantissa = -q.mantissa;
    return q;
}

struct quantity quantity_sub(struct quantity a, struct quantity b)
{
    return quantity_add(a, quantity_neg(b));
}
