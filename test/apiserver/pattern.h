#pragma once
/* Patterns of schemas (RE2 syntax) on POSIX regular expressions. */
#include "base/strbuf.h"

/* Whether `text` holds a match. A pattern that POSIX cannot express matches everything:
 * the server would rather let a value pass than refuse a good one. */
bool api_pattern_matches(struct str pattern, struct str text);

/* The pattern as a POSIX extended expression, into `out`. */
void api_pattern_to_posix(struct strbuf *out, struct str pattern);
