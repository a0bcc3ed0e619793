#pragma once
/* Go duration strings, as metav1.Duration writes them: "5m0s", "1h30m", "1.5s".
 * "0" needs no unit; "5", "1d" and "" are errors. Units: ns us µs ms s m h. */
#include "base/err.h"
#include "base/strbuf.h"

/* Nanoseconds; the range is int64, about 292 years either way. */
bool duration_parse(struct str text, int64_t *ret_ns, struct err *err) MUST_CHECK;

/* The canonical form Go prints: "0s", "1.5s", "5m0s", "1h0m0s", "100ms". */
void duration_format(struct strbuf *out, int64_t ns);
