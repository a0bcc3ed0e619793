#pragma once
/* Bearer tokens. Pure. */
#include "base/str.h"

/* One word of visible ASCII: anything else in it could add header lines. */
bool token_is_valid(struct str text);
