#pragma once
/* libyaml's events to JSON trees. Internal to this folder. */
#include "yaml/yaml.h"

/* Like kyaml_each, with every limit set and without the size check. */
bool kyaml_compose(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                   bool (*on_document)(void *self, size_t document, const struct json *root, struct err *err),
                   void *self, struct err *err) MUST_CHECK;
