#include "quantity/internal.h"

/* An exponent nobody reaches; the sum with any text's length stays far inside int64. */
#define EXPONENT_LIMIT INT64_C(1000000000000)

/* The text cut at its joints: [sign] whole [. fraction] suffix. */
struct parts {
    bool negative;
    struct str whole;
    struct str fraction;
    struct str suffix;
};

struct unit {
    enum quantity_format format;
    int64_t exponent; /* of two for QUANTITY_BINARY_SI, else of ten */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str take_digits(struct str *rest)
{
    size_t count = 0;
    while (count < rest->len && is_digit(rest->ptr[count]))
        count++;
    struct str digits = { .ptr = rest->ptr, .len = count };
    *rest = (struct str){ .ptr = rest->ptr + count, .len = rest->len - count };
    return digits;
}

static bool take_byte(struct str *rest, char byte)
{
    if (rest->len == 0 || rest->ptr[0] != byte)
        return false;
    rest->ptr++;
    rest->len--;
    return true;
}

static bool split(struct str text, struct parts *ret)
{
    struct parts parts = { 0 };
    if (text.len == 0)
        return false;
    parts.negative = take_byte(&text, '-');
    if (!parts.negative)
        (void)take_byte(&text, '+');
    parts.whole = take_digits(&text);
    if (take_byte(&text, '.'))
        parts.fraction = take_digits(&text);
    parts.suffix = text;
    *ret = parts;
    return parts.whole.len + parts.fraction.len > 0;
}

/* The text behind "e": an optional sign and digits. */
static bool parse_exponent(struct str text, int64_t *ret)
{
    bool negative = take_byte(&text, '-');
    if (!negative)
        (void)take_byte(&text, '+');
    struct str digits = take_digits(&text);
    if (digits.len == 0 || text.len > 0)
        return false;
    int64_t exponent = 0;
    for (size_t i = 0; i < digits.len; i++)
        exponent = min_i64(exponent * 10 + (digits.ptr[i] - '0'), EXPONENT_LIMIT);
    *ret = negative ? -exponent : exponent;
    return true;
}

static bool parse_unit(struct str suffix, struct unit *ret)
{
    for (int i = 0; i < QUANTITY_SI_STEPS; i++) {
        if (str_eq(suffix, str_c(quantity_si_suffixes[i]))) {
            *ret = (struct unit){ QUANTITY_DECIMAL_SI, 3 * i + QUANTITY_NANO };
            return true;
        }
    }
    for (int i = 0; i < QUANTITY_BINARY_STEPS; i++) {
        if (str_eq(suffix, str_c(quantity_binary_suffixes[i]))) {
            *ret = (struct unit){ QUANTITY_BINARY_SI, 10 * (i + 1) };
            return true;
        }
    }
    ret->format = QUANTITY_DECIMAL_EXPONENT;
    return (take_byte(&suffix, 'e') || take_byte(&suffix, 'E')) && parse_exponent(suffix, &ret->exponent);
}

/* Significant digits gathered one by one. Zeros wait until a digit follows them, so any
 * number of trailing zeros costs nothing. */
struct digits {
    unsigned __int128 mantissa; /* without the waiting places */
    int64_t zeros;              /* places waiting */
    int count;                  /* digits of mantissa */
    bool too_many;
};

static void digits_flush(struct digits *digits)
{
    if (digits->count + digits->zeros > QUANTITY_DIGITS_MAX) {
        digits->too_many = true;
        return;
    }
    digits->mantissa *= quantity_pow10((int)digits->zeros);
    digits->count += (int)digits->zeros;
    digits->zeros = 0;
}

static void digits_push(struct digits *digits, char c)
{
    if (digits->too_many || (c == '0' && digits->count == 0))
        return;
    digits->zeros++;
    if (c == '0')
        return;
    digits_flush(digits);
    digits->mantissa += (unsigned)(c - '0');
}

/* The digits down to a nano; *dust tells of anything but zero below it. */
static struct digits gather(const struct parts *parts, int64_t exponent, bool *dust)
{
    struct digits digits = { 0 };
    int64_t weight = (int64_t)parts->whole.len - 1 + exponent; /* of the first digit */
    for (size_t i = 0; i < parts->whole.len + parts->fraction.len; i++, weight--) {
        char c = i < parts->whole.len ? parts->whole.ptr[i] : parts->fraction.ptr[i - parts->whole.len];
        if (weight >= QUANTITY_NANO)
            digits_push(&digits, c);
        else if (c != '0')
            *dust = true;
    }
    return digits;
}

static struct quantity decimal_value(const struct parts *parts, struct unit unit)
{
    bool dust = false;
    struct digits digits = gather(parts, unit.exponent, &dust);
    int64_t scale = max_i64(unit.exponent - (int64_t)parts->fraction.len, QUANTITY_NANO);
    if (dust) {
        digits_flush(&digits);
        digits.mantissa++;
    }
    scale += digits.zeros;
    uint8_t format = (uint8_t)unit.format;
    if (digits.mantissa == 0)
        return (struct quantity){ .format = format };
    if (digits.too_many || scale > QUANTITY_MAGNITUDE_MAX)
        return quantity_saturated(parts->negative, format);
    __int128 mantissa = (__int128)digits.mantissa;
    return quantity_normal((struct quantity){
        .mantissa = parts->negative ? -mantissa : mantissa, .scale = (int32_t)scale, .format = format });
}

/* The fraction times 2^exponent, exactly, by schoolbook multiplication from the last
 * digit on. The answer is the whole part, *ret_nano the rest, rounded up. */
static uint64_t multiply_fraction(struct str fraction, int exponent, uint32_t *ret_nano)
{
    uint64_t carry = 0;
    uint32_t nano = 0, unit = 1;
    bool dust = false;
    for (size_t i = 9; i > fraction.len; i--)
        unit *= 10; /* places of a short fraction that stay 0 */
    for (size_t i = fraction.len; i-- > 0;) {
        carry += (uint64_t)(fraction.ptr[i] - '0') << exponent;
        uint32_t digit = (uint32_t)(carry % 10);
        carry /= 10;
        if (i >= 9) {
            dust = dust || digit > 0;
        } else {
            nano += digit * unit;
            unit *= 10;
        }
    }
    *ret_nano = nano + dust;
    return carry;
}

static struct quantity binary_value(const struct parts *parts, struct unit unit)
{
    const __int128 nanos = 1000000000;
    unsigned __int128 whole = 0;
    /* Anything above the cap is as good as the cap, so stop growing there. */
    for (size_t i = 0; i < parts->whole.len && whole <= INT64_MAX; i++)
        whole = whole * 10 + (unsigned)(parts->whole.ptr[i] - '0');
    uint32_t nano;
    uint64_t carry = multiply_fraction(parts->fraction, (int)unit.exponent, &nano);
    whole = (whole << unit.exponent) + carry;
    if (whole > INT64_MAX || (whole == INT64_MAX && nano > 0)) {
        whole = INT64_MAX;
        nano = 0;
    }
    /* Less than one would print with a decimal suffix anyhow; upstream says so at once. */
    bool tiny = whole == 0 && nano > 0 && nano < nanos;
    __int128 mantissa = (__int128)whole * nanos + nano;
    return quantity_normal((struct quantity){
        .mantissa = parts->negative ? -mantissa : mantissa,
        .scale = QUANTITY_NANO,
        .format = tiny ? QUANTITY_DECIMAL_SI : QUANTITY_BINARY_SI,
    });
}

static bool refuse(struct str text, const char *why, struct err *err)
{
    return err_set(err, ERR_INVALID, "quantity \"" STR_FMT "\": %s", STR_ARG(str_slice(text, 0, 80)), why);
}

bool quantity_parse(struct str text, struct quantity *ret, struct err *err)
{
    struct parts parts;
    struct unit unit;
    if (!split(text, &parts))
        return refuse(text, "a number must come first", err);
    if (!parse_unit(parts.suffix, &unit))
        return refuse(text, "unknown suffix", err);
    *ret = unit.format == QUANTITY_BINARY_SI ? binary_value(&parts, unit) : decimal_value(&parts, unit);
    return true;
}

bool quantity_from_event(const struct json_event *event, struct quantity *ret, struct err *err)
{
    switch (event->type) {
    case JSON_EV_NULL:
        *ret = QUANTITY_ZERO;
        return true;
    case JSON_EV_NUMBER:
        return quantity_parse(event->text, ret, err);
    case JSON_EV_STRING:
        return quantity_parse(str_trim(event->text), ret, err);
    default:
        return err_set(err, ERR_INVALID, "quantity: must be a string or a number");
    }
}
