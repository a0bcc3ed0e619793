#pragma once
/* Kubernetes amounts (resource.Quantity): exact decimals with a remembered format.
 *
 *     struct quantity q;
 *     if (!quantity_parse(STR("1.5Gi"), &q, err)) ...
 *     int64_t bytes = quantity_ceil(q);      // 1610612736
 *
 * Anything finer than 1n is rounded away from zero. What needs more than 36 significant
 * digits, or reaches 10^1000, becomes saturated: it compares as plus or minus infinity,
 * converts to the int64 limits and says so. It never wraps and never becomes 0. As
 * upstream, a text with a binary suffix is capped at 2^63-1 either way. */
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

/* Plain form: no blanks; "." or "-" without a digit is refused (upstream reads 0). */
bool quantity_parse(struct str text, struct quantity *ret, struct err *err) MUST_CHECK;
/* A JSON scalar: string (blanks at its ends trimmed), number (its text) or null (0). */
bool quantity_from_event(const struct json_event *event, struct quantity *ret, struct err *err) MUST_CHECK;

struct quantity quantity_from_i64(int64_t value, enum quantity_format format);
struct quantity quantity_from_milli(int64_t milli, enum quantity_format format);

/* Integer views, rounded away from zero as upstream's Value() and MilliValue(); clamped
 * to int64. quantity_fits tells whether ceil (scale_milli false) or milli_ceil (true)
 * came out without clamping. */
int64_t quantity_ceil(struct quantity q);
int64_t quantity_milli_ceil(struct quantity q);
bool quantity_fits(struct quantity q, bool scale_milli);
bool quantity_is_integer(struct quantity q); /* false when saturated */

int quantity_cmp(struct quantity a, struct quantity b); /* by value: 1 == 1000m */
int quantity_sign(struct quantity q);
/* The format is the first operand's; adding to zero takes over the other's. A sum that
 * cannot be held exactly is saturated; of opposite infinities the negative one wins,
 * since less is the safe answer. */
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_sub(struct quantity a, struct quantity b);
struct quantity quantity_neg(struct quantity q);

/* Canonical text: no fraction, largest suffix that keeps an integer mantissa; a binary
 * one that is no multiple of 1024 is written as decimal. At most 45 bytes; reading it
 * gives an equal value with the same text. A saturated one is written 10e999. */
void quantity_write(struct strbuf *out, struct quantity q);
