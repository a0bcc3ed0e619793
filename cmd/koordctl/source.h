#pragma once
/* Which ConfigMap among the inputs is the policy's: found by name, whatever its
 * namespace; a given namespace decides between several. */
#include "snapshot.h"

struct source_choice {
    struct str name;
    struct str ns; /* empty: any */
};

/* NULL in *ret when there is none. False with ERR_INVALID when several qualify. */
bool source_find(const struct snapshot *snapshot, const struct source_choice *choice,
                 const struct configmap **ret, struct err *err) MUST_CHECK;

/* The data of that ConfigMap must hold strings: where it does not, there is nothing an API
 * server would store, and nothing to judge or plan by. */
bool source_check_data(const struct snapshot *snapshot, struct str name, struct err *err) MUST_CHECK;
