#pragma once
/* Media ranges of an Accept header. */
#include "base/str.h"

struct api_media_range {
    struct str type; /* "application/json" */
    struct str as, group, version;
};

/* Cuts the next range off *rest; false at the end. Weights are not looked at: clients of
 * Kubernetes list what they like first. */
bool api_media_next(struct str *rest, struct api_media_range *ret);
