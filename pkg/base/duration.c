#include "base/duration.h"
#include "base/clock.h"

#define NS_PER_MINUTE (60 * NS_PER_S)
#define NS_PER_HOUR (3600 * NS_PER_S)

/* Magnitudes are unsigned: the most negative duration has no positive twin. */
#define LARGEST_NEGATIVE (UINT64_C(1) << 63)

static const struct unit {
    struct str name;
    uint64_t ns;
} units[] = {
    { STR_INIT("ns"), 1 },
    { STR_INIT("us"), 1000 },
    { STR_INIT("\xC2\xB5s"), 1000 }, /* U+00B5 micro sign */
    { STR_INIT("\xCE\xBCs"), 1000 }, /* U+03BC Greek mu */
    { STR_INIT("ms"), NS_PER_MS },
    { STR_INIT("s"), NS_PER_S },
    { STR_INIT("m"), NS_PER_MINUTE },
    { STR_INIT("h"), NS_PER_HOUR },
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(struct str s)
{
    size_t n = 0;
    while (n < s.len && is_digit(s.ptr[n]))
        n++;
    return n;
}

static bool whole_part(struct str digits, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(digits.ptr[i] - '0'), &value) ||
            value > LARGEST_NEGATIVE)
            return false;
    *ret = value;
    return true;
}

/* Go multiplies the fraction out in float64, and its rounding shows for repeating
 * fractions of large units (a third of an hour written with 19 digits is 20m exactly),
 * so the same steps are taken here. Digits beyond int64 do not count. */
static uint64_t fraction_part(struct str digits, uint64_t unit_ns)
{
    uint64_t value = 0;
    double scale = 1;
    for (size_t i = 0; i < digits.len; i++) {
        uint64_t digit = (uint64_t)(digits.ptr[i] - '0');
        if (value > (uint64_t)INT64_MAX / 10 || value * 10 + digit > LARGEST_NEGATIVE)
            break;
        value = value * 10 + digit;
        scale *= 10;
    }
    return (uint64_t)((double)value * ((double)unit_ns / scale));
}

static const struct unit *find_unit(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(units[i].name, name))
            return &units[i];
    return NULL;
}

/* One "12.5ms" off the front of *rest, added to *total. */
static bool take_term(struct str *rest, uint64_t *total)
{
    struct str whole = str_slice(*rest, 0, count_digits(*rest));
    *rest = str_slice(*rest, whole.len, rest->len);
    struct str fraction = STR_NULL;
    if (str_starts_with(*rest, STR("."))) {
        *rest = str_slice(*rest, 1, rest->len);
        fraction = str_slice(*rest, 0, count_digits(*rest));
        *rest = str_slice(*rest, fraction.len, rest->len);
    }
    if (whole.len + fraction.len == 0)
        return false;

    size_t name_len = 0;
    while (name_len < rest->len && rest->ptr[name_len] != '.' && !is_digit(rest->ptr[name_len]))
        name_len++;
    const struct unit *unit = find_unit(str_slice(*rest, 0, name_len));
    *rest = str_slice(*rest, name_len, rest->len);

    uint64_t value;
    return unit && whole_part(whole, &value) && !__builtin_mul_overflow(value, unit->ns, &value) &&
           !__builtin_add_overflow(value, fraction_part(fraction, unit->ns), &value) &&
           !__builtin_add_overflow(*total, value, total) && *total <= LARGEST_NEGATIVE;
}

static bool take_terms(struct str rest, uint64_t *total)
{
    if (str_eq(rest, STR("0")))
        return true;
    if (str_empty(rest))
        return false;
    while (rest.len)
        if (!take_term(&rest, total))
            return false;
    return true;
}

bool duration_parse(struct str text, int64_t *ret_ns, struct err *err)
{
    bool negative = str_starts_with(text, STR("-"));
    bool is_signed = negative || str_starts_with(text, STR("+"));
    uint64_t total = 0;
    if (!take_terms(is_signed ? str_slice(text, 1, text.len) : text, &total) ||
        (!negative && total > (uint64_t)INT64_MAX))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a duration such as 30s or 1h30m",
                       STR_ARG(str_slice(text, 0, 64)));
    *ret_ns = negative ? (int64_t)(0 - total) : (int64_t)total;
    return true;
}

/* "12", ".5" and the unit: value / unit_ns without trailing zeros. */
static void add_decimal(struct strbuf *out, uint64_t value, uint64_t unit_ns, const char *unit_name)
{
    strbuf_addf(out, "%llu", (unsigned long long)(value / unit_ns));
    uint64_t rest = value % unit_ns;
    if (rest)
        strbuf_addc(out, '.');
    while (rest) {
        unit_ns /= 10;
        strbuf_addc(out, (char)('0' + rest / unit_ns));
        rest %= unit_ns;
    }
    strbuf_add(out, str_c(unit_name));
}

void duration_format(struct strbuf *out, int64_t ns)
{
    uint64_t value = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        strbuf_addc(out, '-');
    if (value == 0) {
        strbuf_add(out, STR("0s"));
    } else if (value < 1000) {
        add_decimal(out, value, 1, "ns");
    } else if (value < (uint64_t)NS_PER_MS) {
        add_decimal(out, value, 1000, "\xC2\xB5s");
    } else if (value < (uint64_t)NS_PER_S) {
        add_decimal(out, value, (uint64_t)NS_PER_MS, "ms");
    } else {
        if (value >= (uint64_t)NS_PER_HOUR)
            strbuf_addf(out, "%lluh", (unsigned long long)(value / (uint64_t)NS_PER_HOUR));
        if (value >= (uint64_t)NS_PER_MINUTE)
            strbuf_addf(out, "%llum",
                        (unsigned long long)(value % (uint64_t)NS_PER_HOUR / (uint64_t)NS_PER_MINUTE));
        add_decimal(out, value % (uint64_t)NS_PER_MINUTE, (uint64_t)NS_PER_S, "s");
    }
}
