#pragma once
/* Kubernetes times: metav1.Time and metav1.MicroTime. */
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"

/* "2026-07-24T08:00:00Z": any offset and any fraction are accepted (finer than a
 * microsecond is cut off), second 60 and hour 24 are not. Years 0001 to 9999. */
bool rfc3339_parse(struct str text, struct wall_time *ret, struct err *err) MUST_CHECK;

/* Like rfc3339_parse, but exactly six fractional digits: what the API server insists
 * on in Leases and events.k8s.io. */
bool rfc3339_parse_micro(struct str text, struct wall_time *ret, struct err *err) MUST_CHECK;

/* UTC with Z, whole seconds (floored). Times outside the years 0001 to 9999 are written
 * as the nearest end of that range. */
void rfc3339_format(struct strbuf *out, struct wall_time time);
/* UTC with Z and exactly six fractional digits. */
void rfc3339_format_micro(struct strbuf *out, struct wall_time time);
