#pragma once
/* Findings as users read them in JSON. */
#include "sloconfig/finding.h"

/* Which levels to include, by enum finding_level. */
struct finding_levels {
    bool include[FINDING_WARNING + 1];
};

/* [{"key","path","value","reason","message"}] in the order found. */
const struct json *findings_to_json(const struct findings *findings, const struct finding_levels *levels,
                                    struct arena *arena);
