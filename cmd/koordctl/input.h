#pragma once
/* Objects from text: YAML or JSON, one or many, plain or in lists. */
#include "snapshot.h"

/* Larger inputs are refused. */
#define INPUT_MAX_BYTES ((size_t)1 << 30)

/* Adds every ConfigMap, Node, Pod and NodeMetric in `text`; other kinds are passed over.
 * Objects without a usable identity are left out with a warning, odd values in others are
 * read as absent with a warning. False with err: the text itself is unusable, or a
 * document is no Kubernetes object; err names `source`. */
bool input_add_text(struct snapshot *snapshot, const char *source, struct str text,
                    struct err *err) MUST_CHECK;

/* The same for a file; "-" is standard input. */
bool input_add_file(struct snapshot *snapshot, const char *path, struct err *err) MUST_CHECK;
