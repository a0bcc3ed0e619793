#pragma once
/* A decimal ratio as a whole percentage, exactly: "0.29" is 29, "0.295" is 29. */
#include "base/err.h"
#include "base/str.h"

/* Digits with an optional sign, point and exponent ("0.7", "1", "65e-2"), no blanks. False
 * with ERR_INVALID for anything else, a negative ratio, or a percentage beyond int64. */
bool ratio_to_percent(struct str text, int64_t *ret, struct err *err) MUST_CHECK;
