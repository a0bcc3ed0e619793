#pragma once
/* Shared by the files of this folder only. */
#include "quantity/quantity.h"

enum {
    QUANTITY_NANO = -9,            /* the finest scale kept */
    QUANTITY_DIGITS_MAX = 36,      /* significant digits; 100 times more still fits 127 bits */
    QUANTITY_MAGNITUDE_MAX = 1000, /* digits before the decimal point */
    QUANTITY_BINARY_STEPS = 6,     /* Ki Mi Gi Ti Pi Ei */
    QUANTITY_SI_STEPS = 10,        /* n u m (none) k M G T P E */
};

/* Every third power of ten from 10^-9. */
extern const char *const quantity_si_suffixes[QUANTITY_SI_STEPS];
/* Every tenth power of two from 2^10. */
extern const char *const quantity_binary_suffixes[QUANTITY_BINARY_STEPS];

/* 10^exponent for 0 <= exponent <= 38. */
unsigned __int128 quantity_pow10(int exponent);
/* Decimal digits of a number; 0 has none. */
int quantity_digits(unsigned __int128 number);
unsigned __int128 quantity_magnitude(__int128 number);

/* number / 10^exponent, rounded up; any exponent >= 0. */
unsigned __int128 quantity_shift_down(unsigned __int128 number, int64_t exponent);

struct quantity quantity_saturated(bool negative, uint8_t format);

/* The one form every value has: no trailing zeros in the mantissa, nothing finer than a
 * nano, zero with scale 0, saturation as mantissa 1 or -1. Callers may build structs by
 * hand, so every operation starts here. */
struct quantity quantity_normal(struct quantity q);
