#include "base/rfc3339.h"

#define SECONDS_PER_DAY INT64_C(86400)
#define FIRST_US (INT64_C(-62135596800) * US_PER_S)             /* 0001-01-01T00:00:00Z */
#define LAST_US (INT64_C(253402300800) * US_PER_S - INT64_C(1)) /* end of 9999-12-31 */
#define DAYS_TO_1970 INT64_C(719162)                            /* from 0001-01-01 */

struct date {
    int64_t year;
    int64_t month; /* 1 to 12 */
    int64_t day;   /* from 1 */
};

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 0001-01-01 to the first of January of `year` (1 and up). */
static int64_t days_before_year(int64_t year)
{
    int64_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400;
}

static int64_t days_from_date(struct date date)
{
    int64_t days = days_before_year(date.year);
    for (int64_t month = 1; month < date.month; month++)
        days += days_in_month(date.year, month);
    return days + date.day - 1 - DAYS_TO_1970;
}

static struct date date_from_days(int64_t days)
{
    days += DAYS_TO_1970;
    struct date date = { .year = days / 366 + 1, .month = 1, .day = 1 }; /* never too late */
    while (days_before_year(date.year + 1) <= days)
        date.year++;
    days -= days_before_year(date.year);
    while (days >= days_in_month(date.year, date.month))
        days -= days_in_month(date.year, date.month++);
    date.day += days;
    return date;
}

/* Exactly `count` digits off the front. */
static bool take_digits(struct str *rest, size_t count, int64_t *ret)
{
    if (rest->len < count)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
            return false;
        value = value * 10 + (rest->ptr[i] - '0');
    }
    *rest = str_slice(*rest, count, rest->len);
    *ret = value;
    return true;
}

static bool take_byte(struct str *rest, char byte)
{
    if (rest->len == 0 || rest->ptr[0] != byte)
        return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

static bool take_date(struct str *rest, int64_t *ret_seconds)
{
    struct date date;
    if (!take_digits(rest, 4, &date.year) || !take_byte(rest, '-') || !take_digits(rest, 2, &date.month) ||
        !take_byte(rest, '-') || !take_digits(rest, 2, &date.day))
        return false;
    if (date.year < 1 || date.month < 1 || date.month > 12 || date.day < 1 ||
        date.day > days_in_month(date.year, date.month))
        return false;
    *ret_seconds = days_from_date(date) * SECONDS_PER_DAY;
    return true;
}

static bool take_clock(struct str *rest, int64_t *ret_seconds)
{
    int64_t hour, minute, second;
    if (!take_digits(rest, 2, &hour) || !take_byte(rest, ':') || !take_digits(rest, 2, &minute) ||
        !take_byte(rest, ':') || !take_digits(rest, 2, &second))
        return false;
    *ret_seconds = hour * 3600 + minute * 60 + second;
    return hour <= 23 && minute <= 59 && second <= 59;
}

/* Microseconds; `digits` tells how many digits there were, 0 for no fraction. */
static bool take_fraction(struct str *rest, int64_t *ret_us, size_t *ret_digits)
{
    *ret_us = 0;
    *ret_digits = 0;
    if (!take_byte(rest, '.'))
        return true;
    int64_t weight = US_PER_S / 10, digit;
    for (; take_digits(rest, 1, &digit); weight /= 10, ++*ret_digits)
        *ret_us += digit * weight;
    return *ret_digits > 0;
}

static bool take_offset(struct str *rest, int64_t *ret_seconds)
{
    *ret_seconds = 0;
    if (take_byte(rest, 'Z'))
        return true;
    bool west = take_byte(rest, '-');
    if (!west && !take_byte(rest, '+'))
        return false;
    int64_t hour, minute;
    if (!take_digits(rest, 2, &hour) || !take_byte(rest, ':') || !take_digits(rest, 2, &minute))
        return false;
    int64_t seconds = hour * 3600 + minute * 60;
    *ret_seconds = west ? -seconds : seconds;
    return hour <= 23 && minute <= 59;
}

static bool parse(struct str text, struct wall_time *ret, size_t *ret_digits)
{
    int64_t date, clock, us, offset;
    if (!take_date(&text, &date) || !take_byte(&text, 'T') || !take_clock(&text, &clock) ||
        !take_fraction(&text, &us, ret_digits) || !take_offset(&text, &offset) || !str_empty(text))
        return false;
    /* An offset can push the first and the last day out of the range. */
    int64_t total = (date + clock - offset) * US_PER_S + us;
    if (total < FIRST_US || total > LAST_US)
        return false;
    ret->us = total;
    return true;
}

bool rfc3339_parse(struct str text, struct wall_time *ret, struct err *err)
{
    struct wall_time time;
    size_t digits;
    if (!parse(text, &time, &digits))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a time such as 2026-07-24T08:00:00Z",
                       STR_ARG(str_slice(text, 0, 64)));
    *ret = time;
    return true;
}

bool rfc3339_parse_micro(struct str text, struct wall_time *ret, struct err *err)
{
    struct wall_time time;
    size_t digits;
    if (!parse(text, &time, &digits) || digits != 6)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a time such as 2026-07-24T08:00:00.000000Z",
                       STR_ARG(str_slice(text, 0, 64)));
    *ret = time;
    return true;
}

static void format(struct strbuf *out, struct wall_time time, bool micro)
{
    int64_t us = min_i64(max_i64(time.us, FIRST_US), LAST_US) - FIRST_US; /* counts up from 0 */
    int64_t seconds = us / US_PER_S;
    struct date date = date_from_days(seconds / SECONDS_PER_DAY - DAYS_TO_1970);
    int64_t clock = seconds % SECONDS_PER_DAY;
    strbuf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d", (int)date.year, (int)date.month, (int)date.day,
                (int)(clock / 3600), (int)(clock / 60 % 60), (int)(clock % 60));
    if (micro)
        strbuf_addf(out, ".%06d", (int)(us % US_PER_S));
    strbuf_addc(out, 'Z');
}

void rfc3339_format(struct strbuf *out, struct wall_time time)
{
    format(out, time, false);
}

void rfc3339_format_micro(struct strbuf *out, struct wall_time time)
{
    format(out, time, true);
}
