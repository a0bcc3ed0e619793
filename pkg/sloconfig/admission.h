#pragma once
/* Whether a ConfigMap may be written: the rules of the admission webhook, for
 * `koordctl validate` and the webhook alike.
 *
 * Keys are checked in the order of a table. A key that is empty or equal to the old
 * object's is not looked at. A refused key leaves every finding it has, not just the
 * first. */
#include "sloconfig/colocation.h"
#include "sloconfig/entry.h"

struct admission_data {
    struct str key;
    struct str value;
};

struct admission_configmap {
    const struct admission_data *items;
    size_t count;
};

struct admission_request {
    struct admission_configmap data;
    const struct admission_configmap *old; /* NULL: a create */
    const struct admission_node *nodes;
    size_t node_count;
    bool need_names; /* node entries must have unique names */
};

/* True when nothing is wrong. Otherwise `findings` gets what is, of levels
 * FINDING_REJECTED, _ENTRY and _ADMISSION; warnings come either way. */
bool admission_validate(const struct admission_request *request, struct findings *findings);

/* Node entries that could match one node together: level FINDING_ADMISSION. */
void admission_overlaps(const struct colocation_config *config, struct findings *findings);
