#include "yaml/scalar.h"
#include <inttypes.h>

/* --- which class a text is of --- */

static const struct {
    struct str text;
    enum kyaml_class class;
} words[] = {
    { STR_INIT(""), KYAML_NULL },          { STR_INIT("~"), KYAML_NULL },
    { STR_INIT("null"), KYAML_NULL },      { STR_INIT("Null"), KYAML_NULL },
    { STR_INIT("NULL"), KYAML_NULL },      { STR_INIT("true"), KYAML_TRUE },
    { STR_INIT("True"), KYAML_TRUE },      { STR_INIT("TRUE"), KYAML_TRUE },
    { STR_INIT("false"), KYAML_FALSE },    { STR_INIT("False"), KYAML_FALSE },
    { STR_INIT("FALSE"), KYAML_FALSE },    { STR_INIT(".inf"), KYAML_NO_NUMBER },
    { STR_INIT(".Inf"), KYAML_NO_NUMBER }, { STR_INIT(".INF"), KYAML_NO_NUMBER },
    { STR_INIT(".nan"), KYAML_NO_NUMBER }, { STR_INIT(".NaN"), KYAML_NO_NUMBER },
    { STR_INIT(".NAN"), KYAML_NO_NUMBER },
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a digit in any base up to 16, or 16. */
static unsigned digit_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

static struct str rest_of(struct str text, size_t from)
{
    return str_slice(text, from, text.len);
}

static struct str without_sign(struct str text)
{
    return text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-') ? rest_of(text, 1) : text;
}

static size_t count_digits(struct str text)
{
    size_t n = 0;
    while (n < text.len && is_digit(text.ptr[n]))
        n++;
    return n;
}

/* False unless all of `digits` is a number in this base that fits. */
static bool to_u64(struct str digits, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        unsigned digit = digit_value(digits.ptr[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return digits.len > 0;
}

/* The parts of [0-9]* ['.' [0-9]*] [e [+-] [0-9]+]. */
struct decimal {
    struct str whole, fraction, exponent; /* exponent with its letter */
    bool point;
};

static bool split_decimal(struct str text, struct decimal *ret)
{
    size_t n = count_digits(text);
    *ret = (struct decimal){ .whole = str_slice(text, 0, n) };
    text = rest_of(text, n);
    if (text.len > 0 && text.ptr[0] == '.') {
        text = rest_of(text, 1);
        n = count_digits(text);
        ret->point = true;
        ret->fraction = str_slice(text, 0, n);
        text = rest_of(text, n);
    }
    if (ret->whole.len + ret->fraction.len == 0)
        return false;
    if (text.len == 0)
        return true;
    ret->exponent = text;
    struct str digits = without_sign(rest_of(text, 1));
    return (text.ptr[0] == 'e' || text.ptr[0] == 'E') && digits.len > 0 && count_digits(digits) == digits.len;
}

enum kyaml_class kyaml_classify(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq(text, words[i].text))
            return words[i].class;
    }
    struct str digits = without_sign(text);
    struct decimal parts;
    uint64_t value;
    if (str_starts_with(digits, STR("0x")))
        return to_u64(rest_of(digits, 2), 16, &value) ? KYAML_HEX : KYAML_STRING;
    if (str_starts_with(digits, STR("0o")))
        return to_u64(rest_of(digits, 2), 8, &value) ? KYAML_OCTAL : KYAML_STRING;
    if (split_decimal(digits, &parts))
        return parts.point || parts.exponent.len > 0 ? KYAML_FLOAT : KYAML_DECIMAL;
    /* What is left of a sign may be an infinity. */
    bool infinity = digits.len < text.len && (str_eq(digits, STR(".inf")) || str_eq(digits, STR(".Inf")) ||
                                              str_eq(digits, STR(".INF")));
    return infinity ? KYAML_NO_NUMBER : KYAML_STRING;
}

/* --- its value --- */

static const char *sign_of(struct str text)
{
    return text.ptr[0] == '-' ? "-" : "";
}

static const struct json *new_number(struct arena *arena, struct str text)
{
    struct json *number = json_new(arena, JSON_NUMBER);
    number->text = text;
    return number;
}

static const struct json *based(struct arena *arena, struct str text, uint64_t value)
{
    return new_number(arena, arena_strf(arena, "%s%" PRIu64, sign_of(text), value));
}

static struct str without_zeros(struct str digits)
{
    while (digits.len > 1 && digits.ptr[0] == '0')
        digits = rest_of(digits, 1);
    return digits;
}

static const struct json *decimal(struct arena *arena, struct str text)
{
    struct str digits = without_sign(text);
    uint64_t value;
    if (digits.len > 1 && digits.ptr[0] == '0' && to_u64(digits, 8, &value))
        return based(arena, text, value);
    return new_number(arena, arena_strf(arena, "%s" STR_FMT, sign_of(text), STR_ARG(without_zeros(digits))));
}

static const struct json *floating(struct arena *arena, struct str text)
{
    struct decimal parts;
    split_decimal(without_sign(text), &parts);
    struct str whole = parts.whole.len > 0 ? without_zeros(parts.whole) : STR("0");
    return new_number(arena, arena_strf(arena, "%s" STR_FMT "%s" STR_FMT STR_FMT, sign_of(text),
                                        STR_ARG(whole), parts.fraction.len > 0 ? "." : "",
                                        STR_ARG(parts.fraction), STR_ARG(parts.exponent)));
}

bool kyaml_plain(struct arena *arena, struct str text, const struct json **ret, struct err *err)
{
    uint64_t value = 0;
    switch (kyaml_classify(text)) {
    case KYAML_STRING:
        *ret = json_new_str(arena, text);
        break;
    case KYAML_NULL:
        *ret = json_new(arena, JSON_NULL);
        break;
    case KYAML_TRUE:
        *ret = json_new_bool(arena, true);
        break;
    case KYAML_FALSE:
        *ret = json_new_bool(arena, false);
        break;
    case KYAML_DECIMAL:
        *ret = decimal(arena, text);
        break;
    case KYAML_OCTAL:
        to_u64(rest_of(without_sign(text), 2), 8, &value);
        *ret = based(arena, text, value);
        break;
    case KYAML_HEX:
        to_u64(rest_of(without_sign(text), 2), 16, &value);
        *ret = based(arena, text, value);
        break;
    case KYAML_FLOAT:
        *ret = floating(arena, text);
        break;
    case KYAML_NO_NUMBER:
        return err_set(err, ERR_INVALID, "infinity and not-a-number have no JSON form");
    }
    return true;
}
