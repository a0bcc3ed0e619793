#pragma once
/* Base64 with the standard alphabet, as kubeconfig and basic authentication use it. Pure. */
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

/* Blanks and line breaks inside are skipped; padding is required. The error does not
 * quote the text: it may be a key. */
bool base64_decode(struct arena *arena, struct str text, struct str *ret, struct err *err) MUST_CHECK;
void base64_encode(struct strbuf *out, struct str bytes);
