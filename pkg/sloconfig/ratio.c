#include "sloconfig/ratio.h"

/* More places than this move any digit out of sight or out of range. */
#define EXPONENT_MAX 1000

struct decimal {
    bool negative;
    struct str whole;
    struct str fraction;
    int64_t exponent;
};

static struct str take_digits(struct str *rest)
{
    size_t n = 0;
    while (n < rest->len && rest->ptr[n] >= '0' && rest->ptr[n] <= '9')
        n++;
    struct str digits = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return digits;
}

static bool take_byte(struct str *rest, const char *set)
{
    if (str_empty(*rest) || rest->ptr[0] == '\0' || !strchr(set, rest->ptr[0]))
        return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

static bool split(struct str text, struct decimal *ret)
{
    struct str rest = text;
    ret->negative = take_byte(&rest, "-");
    if (!ret->negative)
        take_byte(&rest, "+");
    ret->whole = take_digits(&rest);
    ret->fraction = take_byte(&rest, ".") ? take_digits(&rest) : STR_NULL;
    ret->exponent = 0;
    if (str_empty(ret->whole) && str_empty(ret->fraction))
        return false;
    if (str_empty(rest))
        return true;
    if (!take_byte(&rest, "eE"))
        return false;
    bool down = take_byte(&rest, "-");
    if (!down)
        take_byte(&rest, "+");
    struct str digits = take_digits(&rest);
    int64_t value = 0;
    if (str_empty(digits) || !str_empty(rest))
        return false;
    if (!str_to_i64(digits, &value) || value > EXPONENT_MAX)
        value = EXPONENT_MAX;
    ret->exponent = down ? -value : value;
    return true;
}

static int digit_at(const struct decimal *d, size_t i)
{
    return (i < d->whole.len ? d->whole.ptr[i] : d->fraction.ptr[i - d->whole.len]) - '0';
}

static bool is_zero(const struct decimal *d)
{
    for (size_t i = 0; i < d->whole.len + d->fraction.len; i++)
        if (digit_at(d, i) != 0)
            return false;
    return true;
}

bool ratio_to_percent(struct str text, int64_t *ret, struct err *err)
{
    struct decimal d;
    if (!split(text, &d))
        return err_set(err, ERR_INVALID, "must be a decimal number");
    if (is_zero(&d)) {
        *ret = 0;
        return true;
    }
    if (d.negative)
        return err_set(err, ERR_INVALID, "must not be negative");
    /* The percentage is made of the digits left of the point after moving it two places. */
    int64_t places = (int64_t)d.whole.len + d.exponent + 2;
    int64_t percent = 0;
    for (int64_t i = 0; i < places; i++) {
        bool given = (size_t)i < d.whole.len + d.fraction.len;
        int digit = given ? digit_at(&d, (size_t)i) : 0;
        if (__builtin_mul_overflow(percent, 10, &percent) || __builtin_add_overflow(percent, digit, &percent))
            return err_set(err, ERR_INVALID, "is too large");
    }
    *ret = percent;
    return true;
}
