#pragma once
/* `koordctl validate`: whether a ConfigMap may be written, by the admission rules. */
#include "sloconfig/admission.h"
#include "source.h"

struct validation {
    bool judged; /* false: no ConfigMap of the policy's name among the inputs */
    bool allowed;
    struct findings findings; /* in the caller's arena */
};

/* Judges the ConfigMap that `choice` finds among `snapshot` (sealed), against its Nodes
 * and against the one that `choice` finds in `old` (NULL: a create). False with
 * ERR_INVALID: there is no ConfigMap at all, several qualify, or `old` lacks it. */
bool validate_make(const struct snapshot *snapshot, const struct snapshot *old,
                   const struct source_choice *choice, bool need_names, struct arena *arena,
                   struct validation *ret, struct err *err) MUST_CHECK;

/* {"kind":"Validation","allowed":...,"errors":[...]} */
const struct json *validation_to_json(const struct validation *validation, struct arena *arena);
/* For people; nothing but "allowed" when all is well. */
void validation_table(struct strbuf *out, const struct validation *validation);
