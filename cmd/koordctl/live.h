#pragma once
/* A snapshot of a running cluster: lists only, nothing is written. */
#include "command.h"

/* For koordctl_env.load_live. */
bool live_load(struct koordctl_live *live, struct snapshot *snapshot, struct strbuf *err_text,
               struct err *err) MUST_CHECK;
