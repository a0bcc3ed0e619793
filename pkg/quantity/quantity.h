#pragma once
/* Kubernetes amounts (resource.Quantity): exact decimals with a remembered format.
 *
 *     struct quantity q;
 *     if (!quantity_parse(STR("1.5Gi"), &q, err)) ...
 *     int64_t bytes = quantity_ceil(q);      // 1610612736
 *
 * Anything finer than 1n is rounded away from zero on reading. A magnitude beyond
 * 10^36 or an exponent beyond reach becomes saturated: it compares as plus or minus
 * infinity, converts to the int64 limits and says so. It never wraps and never
 * becomes 0. */
#include "base/err.h"
#include "base/strbuf.h"
#include "json/event.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

struct quantity {
    __int128 mantissa;
    int32_t scale; /* value = mantissa * 10^scale */
    uint8_t format;
    bool saturated; /* the sign of mantissa tells the direction */
};

#define QUANTITY_ZERO ((struct quantity){ 0 })

/* Plain form: no blanks, a lone "." or "-" is refused. */
bool quantity_parse(struct str text, struct quantity *ret, struct err *err) MUST_CHECK;
/* A JSON scalar: string (blanks at its ends trimmed), number (its text) or null (0). */
bool quantity_from_event(const struct json_event *event, struct quantity *ret, struct err *err) MUST_CHECK;

struct quantity quantity_from_i64(int64_t value, enum quantity_format format);
struct quantity quantity_from_milli(int64_t milli, enum quantity_format format);

/* Integer views, rounded away from zero as upstream's Value() and MilliValue(); clamped
 * to int64. quantity_fits tells whether ceil (scale_milli false) or milli_ceil (true) is
 * exact in range. */
int64_t quantity_ceil(struct quantity q);
int64_t quantity_milli_ceil(struct quantity q);
bool quantity_fits(struct quantity q, bool scale_milli);
bool quantity_is_integer(struct quantity q);

int quantity_cmp(struct quantity a, struct quantity b); /* by value: 1 == 1000m */
int quantity_sign(struct quantity q);
/* The format is the first operand's; adding to zero takes over the other's. */
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_sub(struct quantity a, struct quantity b);
struct quantity quantity_neg(struct quantity q);

/* Canonical text: no fraction, largest suffix that keeps an integer mantissa. */
void quantity_write(struct strbuf *out, struct quantity q);
