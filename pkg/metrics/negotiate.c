#include "metrics/metrics.h"

static const struct offer {
    enum metric_text text;
    struct str type, subtype;
    struct str versions[2]; /* what a client may call it */
    const char *content_type;
} offers[] = {
    { METRIC_TEXT_PROMETHEUS,
      STR_INIT("text"),
      STR_INIT("plain"),
      { STR_INIT("0.0.4"), STR_INIT("0.0.4") },
      "text/plain; version=0.0.4; charset=utf-8" },
    { METRIC_TEXT_OPENMETRICS,
      STR_INIT("application"),
      STR_INIT("openmetrics-text"),
      { STR_INIT("1.0.0"), STR_INIT("0.0.1") },
      "application/openmetrics-text; version=1.0.0; charset=utf-8" },
};

/* One element of an Accept header. */
struct range {
    struct str type, subtype, version;
    int quality; /* thousandths */
};

/* How well the header likes an offer. The closest range decides its quality. */
struct liking {
    int closeness; /* 0 not named, 1 by *, 2 by type, 3 by name */
    int quality;
};

/* "0", "1", "0.25" as thousandths; false for anything else. */
static bool parse_quality(struct str text, int *ret)
{
    struct str whole, fraction;
    str_cut(text, '.', &whole, &fraction);
    if ((!str_eq(whole, STR("0")) && !str_eq(whole, STR("1"))) || fraction.len > 3)
        return false;
    int quality = str_eq(whole, STR("1")) ? 1000 : 0, weight = 100;
    for (size_t i = 0; i < fraction.len; i++, weight /= 10) {
        if (fraction.ptr[i] < '0' || fraction.ptr[i] > '9')
            return false;
        quality += weight * (fraction.ptr[i] - '0');
    }
    *ret = quality;
    return quality <= 1000;
}

static struct str unquote(struct str text)
{
    bool quoted = text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    return quoted ? str_slice(text, 1, text.len - 2) : text;
}

static bool parse_range(struct str text, struct range *ret)
{
    struct str media, params;
    str_cut(text, ';', &media, &params);
    *ret = (struct range){ .quality = 1000 };
    if (!str_cut(str_trim(media), '/', &ret->type, &ret->subtype))
        return false;
    while (params.len) {
        struct str param, name, value;
        str_cut(params, ';', &param, &params);
        str_cut(param, '=', &name, &value);
        name = str_trim(name);
        value = unquote(str_trim(value));
        if (str_eq_nocase(name, STR("version")))
            ret->version = value;
        else if (str_eq_nocase(name, STR("q")) && !parse_quality(value, &ret->quality))
            return false;
    }
    return true;
}

static int closeness(const struct offer *offer, const struct range *range)
{
    struct str any = STR("*");
    if (str_eq(range->type, any))
        return str_eq(range->subtype, any) ? 1 : 0;
    if (!str_eq_nocase(range->type, offer->type))
        return 0;
    if (str_eq(range->subtype, any))
        return 2;
    bool known_version = str_empty(range->version) || str_eq(range->version, offer->versions[0]) ||
                         str_eq(range->version, offer->versions[1]);
    return str_eq_nocase(range->subtype, offer->subtype) && known_version ? 3 : 0;
}

static struct liking judge(const struct offer *offer, struct str accept)
{
    struct liking best = { 0 };
    while (accept.len) {
        struct str element;
        struct range range;
        str_cut(accept, ',', &element, &accept);
        if (!parse_range(element, &range))
            continue;
        int close = closeness(offer, &range);
        bool closer = close > best.closeness;
        if (closer || (close > 0 && close == best.closeness && range.quality > best.quality))
            best = (struct liking){ .closeness = close, .quality = range.quality };
    }
    return best;
}

const char *metric_negotiate(struct str accept, enum metric_text *ret)
{
    const struct offer *chosen = &offers[0]; /* also when nothing suits: better than 406 */
    struct liking best = judge(chosen, accept);
    for (size_t i = 1; i < ARRAY_LEN(offers); i++) {
        struct liking liking = judge(&offers[i], accept);
        bool closer = liking.quality == best.quality && liking.closeness > best.closeness;
        if (liking.quality > best.quality || (closer && liking.quality > 0)) {
            chosen = &offers[i];
            best = liking;
        }
    }
    *ret = chosen->text;
    return chosen->content_type;
}
