#pragma once
/* What the parser asks of strings, and how a cut string ends. Internal to this folder. */
#include "base/strbuf.h"

bool json_text_is_ascii(struct str text);

/* yajl decodes a lone low surrogate escape to the three bytes of an encoded surrogate,
 * which are not UTF-8. The answer, in `buf`, has U+FFFD there, as Go reads such escapes. */
struct str json_text_replace_surrogates(struct str text, struct strbuf *buf);

/* How many bytes of `text`, which goes on inside a string, belong to it: up to and with
 * the closing quote when *closed, else all. `escaped` carries over from call to call that
 * a backslash came last. */
size_t json_text_string_end(struct str text, bool *escaped, bool *closed);
