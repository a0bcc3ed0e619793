#pragma once
/* Node annotations that carry amounts. Parsing only; a malformed one is an error, and
 * whoever asked counts it as absent. */
#include "api/meta.h"
#include "base/arena.h"

/* node.koordinator.sh/reservation:
 * {"resources":{"cpu":"2","memory":"4Gi"},"reservedCPUs":"0-3,8"}. A non-empty
 * reservedCPUs replaces the cpu amount by the number of CPUs it lists. Negative amounts
 * count 0. `scratch` holds the tree. */
bool noderesource_reservation_parse(struct arena *scratch, struct str text, struct amounts *ret,
                                    struct err *err) MUST_CHECK;

/* node.koordinator.sh/raw-allocatable: {"cpu":"4","memory":"8Gi"}: allocatable before
 * amplification. A negative amount is an error. */
bool noderesource_raw_allocatable_parse(struct arena *scratch, struct str text, struct amounts *ret,
                                        struct err *err) MUST_CHECK;

/* The number of distinct CPUs in a cpuset list ("0-3,8"; "" is none). Errors: blanks,
 * signs, empty items, reversed ranges, ids above 4096. */
bool noderesource_cpuset_count(struct str list, int64_t *ret, struct err *err) MUST_CHECK;

/* A value of a resource map, as Go decodes it: a string, a bare number, or null for 0. */
bool noderesource_amount_parse(const struct json_member *member, struct quantity *ret,
                               struct err *err) MUST_CHECK;
